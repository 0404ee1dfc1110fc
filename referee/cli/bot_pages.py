"""Behind `crosstown bots new` and `list`: kits to copy, and what is printed of bots."""

import json
import os
import re
import shlex
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from difflib import get_close_matches
from pathlib import Path

import referee
from referee.cli.find import failed_starts_in
from referee.cli.output import console, print_json, print_table, table
from referee.errors import ExpectedError, PlatformError, UsageError, without_middle
from referee.folders import cache_folder
from referee.process.entry import EntryError, NotBuiltError, ids_with, load_entry, source_id
from referee.process.manifest import (
    BUILD_OUTPUT,
    FILE_NAME,
    BotNameError,
    Manifest,
    ManifestError,
    OptionValue,
    check_name,
    load_manifest,
)
from referee.process.packages import read_requirements
from referee.process.paths import is_folder
from referee.process.sources import PROTO, copy_protos, read_sources
from referee.run.journal import read_brief
from referee.run.participants import participants_of
from referee.texts import one_line


@dataclass(frozen=True, slots=True)
class Found:
    """A bot below a folder. `state` is "ready", "built", "not built" or "broken"; `problem` says why it cannot play.

    `failed_start`: why it did not start in the last run that it failed in, with the last lines that it printed.
    """

    folder: str
    name: str
    version: str
    games: tuple[str, ...]
    entry: str
    state: str
    problem: str
    failed_start: str = ""


def find_bots(folders: Sequence[Path], out: Path) -> list[Found]:
    """Every folder with a bot.toml, by path, and what the runs in `out` tell of its starts. UsageError for a folder
    that does not exist."""
    for folder in folders:
        if not folder.is_dir():
            raise UsageError(f"{folder} is not a folder", "say where your bots are: crosstown bots list FOLDER")
    newest = sorted(failed_starts_in(None, out), key=lambda found: found[1].when)
    starts = {
        start.entry_id: "\n".join([f"in {folder.path}: {start.lines[0]}", *start.lines[1:]]) for folder, start in newest
    }
    entered: list[Mapping[str, OptionValue]] = []
    for run, start in newest:
        options = {bot.entry_id: bot.options for bot in participants_of(read_brief(run.journal))}
        entered += [one for one in [options.get(start.entry_id)] if one and one not in entered]
    bots = [_found(path) for folder in folders for path in sorted(_manifests(folder))]
    return [
        replace(bot, failed_start="\n".join(starts[one] for one in _ids_of(bot, entered) if one in starts))
        for bot in bots
    ]


def _ids_of(bot: Found, entered: Sequence[Mapping[str, OptionValue]]) -> list[str]:
    """The ids of a bot with its own options, and with those with which a bot was entered in a run."""
    ids = [bot.entry]
    if bot.entry and entered:
        with suppress(ManifestError, EntryError):
            ids += ids_with(Path(bot.folder), entered)
    return list(dict.fromkeys(ids))


def print_bots(bots: Sequence[Found], *, as_json: bool) -> None:
    if as_json:
        print_json({"bots": [asdict(bot) for bot in bots]})
        return
    from rich.text import Text

    out = console()
    made = table(
        [
            ("bot", "left"),
            ("version", "left"),
            ("games", "left"),
            ("entry", "left"),
            ("state", "left"),
            ("folder", "left"),
        ],
        plain=not out.is_terminal,
    )
    for bot in bots:
        cells = (bot.name, bot.version, ", ".join(bot.games), bot.entry, bot.state, bot.folder)
        made.add_row(*(Text(one_line(cell)) for cell in cells))
    print_table(out, made)
    for bot in bots:
        if bot.problem:
            out.print(Text(f"{one_line(bot.folder)}: {one_line(bot.problem)}"))
        for line in bot.failed_start.splitlines():
            out.print(Text(one_line(line)))


_MOST_DEPTH = 64
"""How far below a folder bots are looked for: a path of the system ends somewhere."""


def _manifests(folder: Path, depth: int = 0) -> Iterator[Path]:
    """Not below hidden folders or what builds made. A folder that this user may not read is one, to be told so."""
    if not os.access(folder, os.R_OK | os.X_OK):
        yield folder
        return
    if os.path.lexists(folder / FILE_NAME):
        yield folder
    if depth > _MOST_DEPTH:
        return
    for inside in folder.iterdir():
        if (
            is_folder(inside)
            and not inside.is_symlink()
            and not inside.name.startswith(".")
            and inside.name not in BUILD_OUTPUT
        ):
            yield from _manifests(inside, depth + 1)


def _found(folder: Path) -> Found:
    try:
        manifest = load_manifest(folder)
    except (ManifestError, OSError) as error:
        problem = error.sentence if isinstance(error, ManifestError) else str(error)
        return Found(str(folder), folder.name, "", (), "", "broken", problem)
    try:
        entry = load_entry(folder, built_in=None if manifest.build else folder.resolve())  # a list keeps no copies
        state, problem, entry_id = "built" if entry.builds else "ready", "", entry.id
    except NotBuiltError as error:
        state, problem, entry_id = "not built", f"{error.sentence}{_failed_build(folder, manifest)}", ""
    except (ManifestError, EntryError, BotNameError, PlatformError) as error:
        state, problem, entry_id = "broken", error.sentence, ""
    return Found(str(folder), manifest.name, manifest.version, manifest.games, entry_id, state, problem)


def _failed_build(folder: Path, manifest: Manifest) -> str:
    """How the last build of a bot as it is now failed, as the end of a sentence; '' if it did not, or was not tried."""
    with suppress(ExpectedError, OSError):
        requirements = read_requirements(folder, manifest)
        ids = [requirements.id] if requirements else []
        ids += [source_id(folder, manifest, read_sources(folder, manifest))] if manifest.build else []
        for place in (cache_folder() / one for one in ids):
            homes = [home for home in place.iterdir() if home.name.isdecimal()] if place.is_dir() else []
            last = max(homes, key=lambda home: int(home.name), default=place)
            if (last / "log.txt").is_file() and not (last / "bot").exists():  # a failed build leaves its log alone
                lines = (last / "log.txt").read_text(errors="replace").split("\n")
                said = next((line for line in reversed(lines) if line.strip()), "it printed nothing")
                return f"; its last build failed: {without_middle(said.strip(), 300, 200, 100)} ({last / 'log.txt'})"
    return ""


_INSTALLED = Path(referee.__file__).parent / "kits"
_CHECKOUT = Path(referee.__file__).parents[1]

KITS = {
    "python": "bots/python/random",
    "go": "bots/go",
    "rust": "bots/rust",
    "java": "bots/java",
    "typescript": "bots/typescript",
    "cpp": "bots/cpp",
    "bash": "bots/bridge/bash",
    "perl": "bots/bridge/perl",
    "c": "bots/bridge/c",
    "llm": "bots/bridge/llm",
}
"""Languages by the word after `--lang`, and the folder of each."""


def kit_folder(language: str) -> Path:
    """The folder of a kit. KeyError for a language without one."""
    path = KITS[language]
    installed = _INSTALLED / path.removeprefix("bots/")
    return installed if installed.is_dir() else _CHECKOUT / path


def copy_kit(language: str, target: Path) -> None:
    """A kit as its author begins with it: sources alone, no build output. KeyError, FileExistsError or OSError."""
    shutil.copytree(
        kit_folder(language), target, ignore=shutil.ignore_patterns(".*", "__pycache__", "*.pyc", *BUILD_OUTPUT)
    )


def begin(name: str, language: str, at: Path) -> tuple[Path, bool]:
    """The new folder, and whether its bot must be built. UsageError, BotNameError, PlatformError or OSError."""
    inside, slash, last = name.rstrip("/").rpartition("/")
    if slash and last not in ("", ".", ".."):
        words = ["crosstown", "bots", "new", last, "--lang", language, "--in", str(at / (inside or "/"))]
        raise UsageError(f"'{name}' is a name and a place", f"give them separately: {shlex.join(words)}")
    check_name(name)
    if "/" in name or name in (".", ".."):
        raise UsageError(f"'{name}' is also the name of a folder", "choose a name without '/'")
    if language not in KITS:
        near = get_close_matches(language, KITS, n=1)
        raise UsageError(
            f"there is no kit for '{language}'",
            f"did you mean {near[0]}?" if near else f"take one of: {', '.join(KITS)}",
        )
    folder = at / name
    if folder.exists():
        raise UsageError(f"{folder} exists already", "choose another name, or another place with --in")
    try:
        copy_kit(language, folder)
        manifest = folder / FILE_NAME
        text, count = re.subn(
            r"^name = .*$",
            lambda _: f"name = {json.dumps(name, ensure_ascii=False)}",
            manifest.read_text("utf-8"),
            flags=re.M,
        )
        assert count == 1, f"{manifest} has {count} lines that begin with 'name ='"
        manifest.write_text(text, encoding="utf-8")
        builds = bool(load_manifest(folder).build)
        if builds:
            copy_protos(folder / PROTO)
    except shutil.Error as error:  # one for all files, without a number
        shutil.rmtree(folder, ignore_errors=True)
        reason = re.sub(r"^\[Errno \d+\] (.*?)(: '.*)?$", r"\1", str(error.args[0][-1][-1]))
        step = f"see whether {at} can be written and has space, then run the same command again"
        raise PlatformError(f"cannot write {folder}: {reason}", step) from None
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return folder, builds
