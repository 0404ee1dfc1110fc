"""Dependencies point one way: each package may import only what is listed for it here."""

import ast
import subprocess
import sys
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

PACKAGES = {
    "referee": ROOT / "referee",
    "leaderboard": ROOT / "leaderboard",
    "crosstown_bot": ROOT / "bots" / "python" / "crosstown_bot",
    "crosstown_bridge": ROOT / "bots" / "python" / "crosstown_bridge",
    "crosstown_env": ROOT / "bots" / "python" / "crosstown_env",
    "crosstown_greedy": ROOT / "bots" / "python" / "crosstown_greedy",
}

# From the most to the least specific; the first entry that a module's name starts with governs it.
ALLOWED = {
    "referee.games.api": set(),
    "referee.games.keyed": {"referee.games.api"},
    "referee.games.drawing": {"referee.games.api", "referee.games.drawing"},
    "referee.games.registry": {"referee.games.api", "referee.games.openspiel", "referee.errors"},
    "referee.games.conformance": {"referee.games", "referee.errors"},
    "referee.games": {"referee.games.api", "referee.games.drawing", "crosstown_proto"},
    "referee.process": {
        "referee.process",
        "referee.schedule.spec",  # the defaults of limits
        "referee.errors",
        "referee.folders",
        "referee.texts",
    },
    "referee.record": {"referee.record", "referee.games", "referee.errors", "referee.texts"},
    "referee.schedule": {
        "referee.schedule",
        "referee.record.journal",
        "referee.games",
        "referee.errors",
        "referee.texts",
    },
    "referee.run": {
        "referee.run",
        "referee.schedule",
        "referee.record",
        "referee.process.fact_names",
        "referee.process.manifest",  # which names would be taken for each other
        "referee.errors",
        "referee.folders",
        "referee.garbage",
        "referee.texts",
    },
    "referee.wire": {
        "referee.wire",
        "referee.addresses",
        "referee.errors",
        "referee.lazy_exports",
        "referee.folders",
        "referee.games",
        "referee.schedule.spec",  # the defaults of limits
        "crosstown_proto",
    },
    "referee.match": {
        "referee.match",
        "referee.wire",
        "referee.process",
        "referee.record",
        "referee.schedule.spec",
        "referee.games",
        "referee.lazy_exports",
    },
    "referee.compliance": {
        "referee.compliance",
        "referee.folders",
        "referee.schedule.spec",  # the limits that a drill keeps
        "referee.wire",
        "referee.process",
        "referee.games",
        "crosstown_proto",
        "referee.texts",
    },
    "referee.tournament": {
        "referee.event_loop",
        "referee.garbage",
        "referee.tournament",
        "referee.errors",
        "referee.folders",
        "referee.texts",
        "referee.match",
        "referee.run",
        "referee.schedule",
        "referee.wire.public_address",  # addresses and certificates, no streams
        "referee.wire.tokens",  # how long one may be
        "referee.process",
        "referee.record",
        "referee.games",
    },
    "referee.ladder": {
        "referee.event_loop",
        "referee.garbage",
        "referee.ladder",
        "leaderboard.ratings.skill",  # the scale of ratings
        "leaderboard.titles",
        "leaderboard.web.hand_ins",  # values and a protocol, which the store and what takes hand-ins fill
        "leaderboard.web.metrics",  # the same, for monitoring
        "leaderboard.web.people",  # the same for accounts
        "referee.tournament",
        "referee.errors",
        "referee.folders",
        "referee.texts",
        "referee.compliance",
        "referee.match",
        "referee.run",
        "referee.schedule",
        "referee.wire.public_address",  # addresses and certificates, no streams
        "referee.process",
        "referee.record",
        "referee.games",
    },
    "referee.cli": {"referee", "leaderboard", "crosstown_bridge", "crosstown_env", "crosstown_proto"},
    "referee.cluster.arrivals": {"referee.addresses", "referee.wire.patience"},  # timers, no streams
    "referee.cluster.peers": {"referee.errors", "referee.wire.public_address"},
    "referee.cluster": {
        "referee.cluster",
        "referee.event_loop",
        "referee.tournament",
        "referee.errors",
        "referee.folders",
        "referee.texts",
        "referee.match.result",
        "referee.run",
        "referee.schedule",
        "referee.process",
        "referee.record",
    },
    "referee.addresses": set(),
    "referee.event_loop": set(),
    "referee.errors": set(),
    "referee.lazy_exports": set(),
    "referee.garbage": set(),
    "referee.texts": set(),
    "referee.folders": {"referee.errors"},
    "referee": {"referee"},
    "leaderboard": {
        "leaderboard",
        "referee.addresses",
        "referee.garbage",
        "referee.run",
        "referee.schedule",
        "referee.record",
        "referee.games",
        "referee.errors",
        "referee.folders",
        "referee.texts",
    },
    "crosstown_bot": {"crosstown_bot", "crosstown_proto"},
    "crosstown_bridge": {"crosstown_bridge", "crosstown_bot"},
    "crosstown_env": {"crosstown_env", "crosstown_greedy", "referee.games", "referee.garbage"},
    "crosstown_greedy": {"crosstown_greedy", "referee.games"},
}

THIRD_PARTY = {
    "referee.games.openspiel": {"google", "pyspiel"},
    "referee.games.api.compiling": {"mypy_extensions"},
    "referee.games": {"google"},  # codecs: DecodeError and the types of messages
    "referee.record": set(),
    "referee.schedule.formats.matching": {"networkx"},
    "referee.process": set(),
    "referee.wire": {"google", "hpack"},
    "referee.match": {"google"},
    "referee.compliance": {"google"},
    "referee.run.signing": {"cryptography"},
    "referee.ladder.names": {"confusable_homoglyphs"},
    "referee.ladder.passwords": {"pwdlib"},
    "referee.ladder.providers": {"authlib", "joserfc", "requests"},
    "referee.ladder": {"numpy", "sqlite_utils"},
    "referee.cluster.peers": set(),
    "referee.cluster.certificates": {"cryptography"},
    "referee.cluster": {"dask", "distributed"},
    "referee.cli.listening": {"starlette", "uvicorn"},
    "referee.cli.person": {"google"},  # messages shown as JSON, back into bytes
    "referee.cli": {"typer", "click", "rich"},
    "leaderboard.web.connections": {"h11", "uvicorn"},
    "leaderboard.web.improbable": {"numpy"},
    "leaderboard.web.metrics": {"prometheus_client"},
    "leaderboard.web.v1.loading": {"fastapi", "starlette"},
    "leaderboard.web.v1": {"fastapi", "pydantic", "starlette"},
    "leaderboard.web.rates": {"limits"},
    "leaderboard.web": {"jinja2", "markdown_it", "markupsafe", "starlette"},
    "leaderboard": {"jinja2", "markupsafe", "numpy", "sqlite_utils", "trueskill"},
    "crosstown_bot": {"grpc", "google"},
    "crosstown_bridge": {"google"},
    "crosstown_env.multi_agent": {"gymnasium", "numpy", "pettingzoo"},
    "crosstown_env.single_agent": {"gymnasium", "numpy"},
    "crosstown_env": {"numpy"},
    "crosstown_greedy": set(),
}

OURS = {
    "referee",
    "leaderboard",
    "crosstown_proto",
    "crosstown_bot",
    "crosstown_bridge",
    "crosstown_env",
    "crosstown_greedy",
}


def modules() -> list[tuple[str, Path]]:
    found = []
    for package, folder in PACKAGES.items():
        for path in sorted(folder.rglob("*.py")):
            parts = [package, *path.relative_to(folder).with_suffix("").parts]
            found.append((".".join(part for part in parts if part != "__init__"), path))
    return found


def imports(path: Path) -> set[str]:
    """Full names of the modules that a file imports, at the top or inside functions."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            names.add(node.module or "")
    return names


def within(name: str, prefix: str) -> bool:
    return name == prefix or name.startswith(prefix + ".")


def rule_for(module: str) -> str:
    return next(prefix for prefix in ALLOWED if within(module, prefix))


def own_game(module: str) -> str:
    """`referee.games.<id>` for a module of a game: a game may import itself."""
    return ".".join(module.split(".")[:3])


@pytest.mark.parametrize(("module", "path"), modules(), ids=lambda value: value if isinstance(value, str) else "")
def test_a_module_imports_only_what_its_layer_may(module: str, path: Path) -> None:
    prefix = rule_for(module)
    allowed = ALLOWED[prefix] | ({own_game(module)} if within(module, "referee.games") else set())
    for name in sorted(imports(path)):
        top = name.split(".")[0]
        if top in OURS:
            assert any(within(name, one) for one in allowed), f"{module} imports {name}; {prefix} may not"
        elif top not in sys.stdlib_module_names:
            parties = next((value for key, value in THIRD_PARTY.items() if within(module, key)), set())
            assert top in parties, f"{module} imports {name}; {prefix} may not"


@pytest.mark.parametrize(
    "package", sorted(path.name for path in (ROOT / "referee" / "games").iterdir() if (path / "__init__.py").exists())
)
def test_the_modules_of_a_game_import_each_other_in_no_circle(package: str) -> None:
    """Nor do they under TYPE_CHECKING. `from package import module` counts as an import of the module."""
    own = {name: path for name, path in modules() if within(name, f"referee.games.{package}")}
    graph: dict[str, set[str]] = {}
    for module, path in own.items():
        graph[module] = set()
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom):
                names = [f"{node.module}.{alias.name}" for alias in node.names]
                graph[module] |= {name if name in own else node.module for name in names} & set(own)
    list(TopologicalSorter(graph).static_order())  # raises CycleError, which names the circle


OUTSIDE = {"time", "datetime", "os", "socket", "subprocess", "threading", "asyncio", "secrets", "uuid"}


def test_the_rules_have_no_clock_and_no_process() -> None:
    for module, path in modules():
        if within(module, "referee.games") and not within(module, "referee.games.conformance"):
            assert not imports(path) & OUTSIDE, f"{module} imports {imports(path) & OUTSIDE}"


def test_the_schedule_has_no_clock_no_process_and_no_file() -> None:
    forbidden = OUTSIDE | {"pathlib", "io", "tempfile", "random"}
    for module, path in modules():
        if within(module, "referee.schedule"):
            assert not imports(path) & forbidden, f"{module} imports {imports(path) & forbidden}"


def imported_files(module: str, path: Path, known: set[str]) -> set[str]:
    """The modules among `known` that a file imports, also under TYPE_CHECKING."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            inner = {f"{node.module}.{alias.name}" for alias in node.names} & known
            found |= inner or {node.module}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return (found & known) - {module}


def games() -> list[str]:
    return sorted(path.parent.name for path in (ROOT / "referee" / "games").glob("*/game.py"))


@pytest.mark.parametrize("game", games())
def test_the_files_of_a_game_import_one_another_in_one_direction(game: str) -> None:
    paths = {name: path for name, path in modules() if within(name, f"referee.games.{game}")}
    left = {name: imported_files(name, path, set(paths)) for name, path in paths.items()}
    while free := [name for name, needed in left.items() if not needed & set(left)]:
        for name in free:
            del left[name]
    assert not left, f"a circle of imports among {', '.join(sorted(left))}"


PLAYS_HERE = {
    "bot_check",
    "bot_checks",
    "building",
    "confining",
    "connect",
    "ladder_process",
    "one_match",
    "person",
    "play_host",
    "remote",
    "runner_process",
}
"""Modules of the command line that build or run bots, or play matches, on this machine."""


def test_the_command_line_parses_calls_the_library_and_prints() -> None:
    """What it shows of runs comes through `Run`, the leaderboard and the runner: it starts nothing, and opens no
    database. `match_pages` waits for the lines of a match that goes on."""
    doing = {"asyncio", "threading", "subprocess", "multiprocessing", "sqlite3", "sqlite_utils"}
    inside = (
        "referee.match",
        "referee.wire",
        "leaderboard.store",
        "referee.tournament.runner",
        "referee.tournament.local",
    )
    allowed = {"referee.match.rejudge", "referee.wire.public_address"}
    for module, path in modules():
        name = module.rpartition(".")[2]
        if not within(module, "referee.cli") or name in PLAYS_HERE:
            continue
        found = imports(path) & doing - ({"threading"} if name == "match_pages" else set())
        found |= {one for one in imports(path) - allowed if any(within(one, other) for other in inside)}
        assert not found, f"{module} imports {found}"


FOR_TYPES_ALONE = {
    "leaderboard.store": "commands that only read the database do without the library that writes it",
    "referee.process.guardian": "one process for each bot, which starts without `typing` and `collections.abc`",
    "referee.process.processes": "the guardian imports it",
    "referee.process.trees": "the guardian imports it",
    "referee.cli.app": "a run has started something before it, other commands have not",
    "referee.cli.bots": "`crosstown COMMAND --help` imports it",
    "referee.cli.cluster": "`crosstown COMMAND --help` imports it",
    "referee.cli.compare": "`crosstown COMMAND --help` imports it",
    "referee.cli.games": "`crosstown COMMAND --help` imports it",
    "referee.cli.run": "`crosstown COMMAND --help` imports it",
    "referee.cli.ladder": "`crosstown COMMAND --help` imports it",
    "referee.cli.run_commands": "`crosstown COMMAND --help` imports it",
    "referee.cli.standings": "`crosstown COMMAND --help` imports it",
    "referee.cli.submit": "`crosstown COMMAND --help` imports it",
    "referee.cli.web": "`crosstown COMMAND --help` imports it",
    "referee.cli.listening": "the web framework takes as long to load as the rest of the command",
    "referee.cli.output": "commands that print JSON do without rich",
    "referee.cli.run_pages": "commands that print JSON do without rich, and a run begins without numpy",
    "referee.cli.run_preview": "commands that print JSON do without rich, and `run` without what it alone needs",
    "leaderboard.indexer": "a run begins without numpy",
    "leaderboard.index": "a run begins without numpy",
    "leaderboard.match_list": "a list of the last matches does without numpy",
    "referee.cli.find": "a list of matches does without what a run needs to be played",
    "referee.cli.match_rows": "a list of matches does without what a run needs to be played",
    "referee.match": "a runner has results, and nothing of what plays",
    "referee.match.seat": "a runner needs no streams",
    "referee.wire": "a runner needs addresses and certificates, no streams",
    "referee.tournament.early": "the first worker starts before anything else is imported",
    "referee.tournament.worker_process": "the first worker starts before anything else is imported",
    "referee.tournament.confine": "a worker starts without what reads tournament files",
    "referee.tournament.remote": "a worker starts without what reads tournament files",
    "referee.run.run": "the library of signatures takes as long to load as everything else of a run",
    "leaderboard.web.v1.loading": "FastAPI takes half a second to load",
    "referee.games.api.compiling": "a tool of the compiler, which a user need not have",
}
"""Modules that import something under TYPE_CHECKING, and why they do not simply import it."""


def is_for_types(node: ast.stmt) -> bool:
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def test_only_what_starts_fast_imports_for_types_alone() -> None:
    found = {module for module, path in modules() if any(map(is_for_types, ast.parse(path.read_text()).body))}
    found = {module for module in found if module.split(".")[0] in ("referee", "leaderboard")}  # an SDK stands alone
    assert found == set(FOR_TYPES_ALONE)


def test_what_the_help_imports_is_what_is_said_to_be_imported_for_it() -> None:
    of_commands = {module for module, why in FOR_TYPES_ALONE.items() if "--help" in why}
    for words, imported in (("", of_commands), ("['--help']", set())):
        program = f"import sys, referee.cli.app as cli; cli.make_app({words}); print(*sys.modules)"
        ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
        assert of_commands & set(ran.stdout.split()) == imported


@pytest.mark.parametrize(
    ("program", "needless"),
    [
        (
            "import referee.cli.run, referee.cli.run_pages, referee.tournament.entrants",
            (
                *("cryptography", "distributed", "google", "hpack", "http.client", "numpy", "rich", "starlette"),
                *("trueskill", "leaderboard.forecast", "leaderboard.run_table", "referee.match.table"),
                *("referee.process.build", "referee.wire.session"),
            ),
        ),
        (
            "import referee.tournament.worker",
            (
                *("configparser", "http.client", "numpy", "rich", "sqlite3", "typer", "xml.etree"),
                *("referee.process.build_settings", "referee.run", "referee.schedule.formats"),
                *("referee.tournament.config", "referee.tournament.sections"),
            ),
        ),
        (
            "from referee.cli.app import make_app; make_app()",
            (
                *("asyncio", "email", "importlib.metadata", "numpy", "rich", "sqlite3", "ssl", "tomllib"),
                *("leaderboard", "referee.process", "referee.record", "referee.run", "referee.tournament"),
            ),
        ),
    ],
    ids=["a run", "its workers", "the help of any command"],
)
def test_a_run_begins_without_what_it_needs_later_or_not_at_all(program: str, needless: tuple[str, ...]) -> None:
    command = [sys.executable, "-c", f"import sys; {program}; print(*sys.modules)"]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    assert not set(needless) & set(ran.stdout.split())


@pytest.mark.slow
def test_no_imports_form_a_circle_not_even_for_types() -> None:
    """Imports inside of functions are left out: they happen when all modules are there."""
    paths = dict(modules())
    graph: dict[str, set[str]] = {}
    for module, path in paths.items():
        graph[module] = set()
        body = ast.parse(path.read_text()).body
        for node in [*body, *(inner for outer in body if is_for_types(outer) for inner in outer.body)]:
            if isinstance(node, ast.ImportFrom):
                names = {f"{node.module}.{alias.name}" for alias in node.names}
                graph[module] |= (names & set(paths)) or {node.module or ""}
            elif isinstance(node, ast.Import):
                graph[module] |= {alias.name for alias in node.names}
        graph[module] = (graph[module] & set(paths)) - {module}
    list(TopologicalSorter(graph).static_order())  # raises CycleError, which names the circle
