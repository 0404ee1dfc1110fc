"""What `crosstown bots list` shows."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from referee.cli.output import console, print_json, print_table, table
from referee.cli.record_files import failed_starts_in
from referee.errors import UsageError
from referee.process.entry import EntryError, NotBuiltError, load_entry
from referee.process.manifest import BUILD_OUTPUT, FILE_NAME, BotNameError, ManifestError, load_manifest
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
    bots = [_found(path) for folder in folders for path in sorted(_manifests(folder))]
    return [replace(bot, failed_start=starts.get(bot.entry, "")) for bot in bots]


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


def _manifests(folder: Path) -> Iterator[Path]:
    """Not below hidden folders or what builds made."""
    if (folder / FILE_NAME).is_file():
        yield folder
    for inside in folder.iterdir():
        if (
            inside.is_dir()
            and not inside.is_symlink()
            and not inside.name.startswith(".")
            and inside.name not in BUILD_OUTPUT
        ):
            yield from _manifests(inside)


def _found(folder: Path) -> Found:
    try:
        manifest = load_manifest(folder)
    except (ManifestError, OSError) as error:
        return Found(str(folder), folder.name, "", (), "", "broken", str(error))
    try:
        entry = load_entry(folder, built_in=None if manifest.build else folder.resolve())  # a list keeps no copies
        state, problem, entry_id = "built" if entry.builds else "ready", "", entry.id
    except NotBuiltError as error:
        state, problem, entry_id = "not built", str(error), ""
    except (ManifestError, EntryError, BotNameError) as error:
        state, problem, entry_id = "broken", str(error), ""
    return Found(str(folder), manifest.name, manifest.version, manifest.games, entry_id, state, problem)
