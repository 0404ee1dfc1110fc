"""Homes, temporary folders and folders of sockets are found in one place, `referee/folders.py`."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.architecture.test_imports import modules

ONE_PLACE = "referee.folders"

FOR_FILES = {
    "referee.process.checkup": "the folder of a program that is tried in the sandbox",
    "referee.ladder.collect": "clones of repositories",
    "referee.cli.compare": "the draft of a tournament file",
    "referee.cli.connect": "the certificates that a bot trusts",
    "referee.cli.one_match": "the manifests of people's seats",
    "referee.cli.play_host": "the manifests and pipes of people's seats",
    "referee.cluster.serving": "files that Dask's worker keeps; it listens on TCP",
}
"""Modules that make a temporary folder without saying where, each with what is in it: no socket, whose path has to be
short, and nothing that another process looks for."""

SOCKETS_ELSEWHERE = {
    "referee.wire.listener": "binds in the folder that `referee.wire.server` gives it",
    "referee.process.fetch_relay": "runs in the sandbox of a build, where the referee's socket is mounted",
    "referee.process.seccomp": "knows the number of the family alone",
}
"""Modules with sockets of Unix that do not ask for a folder for them."""

VARIABLES = {"TMPDIR", "HOME", "XDG_RUNTIME_DIR", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "CROSSTOWN_CACHE"}
OURS = [pytest.param(name, path, id=name) for name, path in modules() if name.startswith(("referee", "leaderboard"))]


def asked_of_the_system(tree: ast.AST) -> Iterator[str]:
    """What a module asks that only the one place may ask: where temporary files are, homes, and their variables."""
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(attr="gettempdir" | "gettempdirb" | "expanduser" as name):
                yield name
            case ast.Call(func=ast.Attribute(attr="home"), args=[]):
                yield "home"
            case ast.ImportFrom(module="tempfile", names=names):
                yield from (alias.name for alias in names if alias.name.startswith("gettempdir"))
            case ast.Subscript(value=ast.Attribute(attr="environ"), slice=ast.Constant(name)) if name in VARIABLES:
                yield str(name)
            case ast.Call(
                func=ast.Attribute(value=ast.Attribute(attr="environ"), attr="get"), args=[ast.Constant(name), *_]
            ) if name in VARIABLES:
                yield str(name)


def makes_temporary(tree: ast.AST) -> bool:
    """Whether it makes a temporary folder or file wherever these are; not in a folder of its own."""
    makers = {"mkdtemp", "mkstemp", "TemporaryDirectory", "NamedTemporaryFile", "TemporaryFile"}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        # also as in to_thread(tempfile.mkdtemp, dir=...)
        words = {ast.unparse(word).rpartition(".")[2] for word in (node.func, *node.args[:1])}
        if words & makers and not any(keyword.arg == "dir" for keyword in node.keywords):
            return True
    return False


def names(tree: ast.AST) -> set[str]:
    return {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)} | {
        node.id for node in ast.walk(tree) if isinstance(node, ast.Name)
    }


@pytest.mark.parametrize(("name", "path"), OURS)
def test_only_one_place_asks_where_homes_and_temporary_files_are(name: str, path: Path) -> None:
    if name != ONE_PLACE:
        assert list(asked_of_the_system(ast.parse(path.read_text(encoding="utf-8")))) == []


def test_temporary_folders_without_a_place_have_files_alone() -> None:
    trees = {name: ast.parse(path.read_text(encoding="utf-8")) for name, path in modules()}
    made = {
        name for name, tree in trees.items() if name.startswith(("referee", "leaderboard")) and makes_temporary(tree)
    }
    assert made == set(FOR_FILES)
    assert [name for name in FOR_FILES if names(trees[name]) & {"AF_UNIX", "make_socket_folder"}] == []


def test_who_listens_on_a_socket_of_unix_has_its_folder_from_the_one_place() -> None:
    trees = {name: ast.parse(path.read_text(encoding="utf-8")) for name, path in modules()}
    sockets = {name for name, tree in trees.items() if names(tree) & {"AF_UNIX", "_AF_UNIX", "start_unix_server"}}
    asking = {name for name, tree in trees.items() if "make_socket_folder" in names(tree)}
    assert sockets - asking == set(SOCKETS_ELSEWHERE)
    assert asking - {ONE_PLACE} == {
        "referee.wire.server",
        "referee.process.fetch_proxy",
        "referee.compliance.scripted_referee",
        "referee.tournament.local",
    }


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("tempfile.gettempdir()", ["gettempdir"]),
        ("from tempfile import gettempdir", ["gettempdir"]),
        ("Path(text).expanduser()", ["expanduser"]),
        ("Path.home()", ["home"]),
        ("entry.home / name", []),
        ('os.environ["HOME"]', ["HOME"]),
        ('os.environ.get("TMPDIR", "/tmp")', ["TMPDIR"]),
        ('os.environ.get("PATH")', []),
    ],
)
def test_a_module_that_asks_for_itself_is_found(source: str, found: list[str]) -> None:
    assert list(asked_of_the_system(ast.parse(source))) == found


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ('tempfile.mkdtemp(prefix="a")', True),
        ("TemporaryDirectory()", True),
        ("asyncio.to_thread(tempfile.mkdtemp)", True),
        ("tempfile.mkdtemp(dir=store)", False),
        ('asyncio.to_thread(tempfile.mkdtemp, prefix="a", dir=scratch)', False),
    ],
)
def test_a_temporary_folder_without_a_place_is_found(source: str, found: bool) -> None:
    assert makes_temporary(ast.parse(source)) == found
