"""The bots of a tournament file: [[bots]] with patterns, what [bot_defaults] says of each, and a list of entries (CSV).

Where things lie on the disk is looked at only to find the folders of a pattern; what is in them is read later.
"""

import fnmatch
import os
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from referee.errors import ConfigError
from referee.process.paths import is_folder, is_there
from referee.schedule.spec import Limits
from referee.tournament.bot_sections import (
    BOT_KEYS,
    PROCESS_KEYS,
    SANDBOX_BOT_KEYS,
    BotConfig,
    RemoteConfig,
    check_grants,
    read_bot,
    read_bot_sandbox,
    read_copies,
    read_fresh,
)
from referee.tournament.reading import TomlFile, csv_rows, dotted, read_text, show, suggest, toml_value
from referee.tournament.sections import check_clock, read_clock, read_resources

DEFAULT_KEYS = ("options", "clock", "limits", *SANDBOX_BOT_KEYS, *PROCESS_KEYS)
"""What [bot_defaults] may say: all but what tells one bot from another."""

ON_BAD_ENTRY = ("refuse", "skip")

_TABLES = ("options", "clock", "limits")
_TEXTS = ("path", "copy_of", "name", "club", "sandbox", "token_env", "token_file", "version")
_LISTS = ("env", "read", "devices")
_WILDCARDS = "*?["


@dataclass(frozen=True, slots=True)
class LeftOut:
    """An entry that does not take part: its folder, name or row, why, and what to do."""

    entry: str
    why: str
    next_step: str

    @property
    def sentence(self) -> str:
        return f"left out: {self.entry}: {self.why}; {self.next_step}"


@dataclass(frozen=True, slots=True)
class BotList:
    """All bots that the file names; `skip`: bad ones are left out, as `left_out` are already. `defaults` are
    those of [bot_defaults], for bots that join later."""

    bots: tuple[BotConfig, ...]
    skip: bool
    left_out: tuple[LeftOut, ...]
    defaults: Mapping[str, Any]


def read_bots(file: TomlFile, limits: Limits, remote: RemoteConfig | None, begun: Collection[Path] = ()) -> BotList:
    """Raises ConfigError; in a list of entries a bad row is left out instead if the file says so. `begun` are the
    folders with which the run of this file began: patterns find them even if they are gone."""
    listed = file.values.get("bots", [])
    if not isinstance(listed, list) or not all(isinstance(bot, dict) for bot in listed):
        file.fail(("bots",), f"'bots' must be a list of tables, not {show(listed)}", "begin each bot with [[bots]]")
    skip = _read_on_bad_entry(file)
    defaults = read_defaults(file, limits)
    merged = file.with_value("bots", [with_defaults(given, defaults) for given in listed])
    read = [read_bot(merged, limits, remote, place, given) for place, given in enumerate(merged.values["bots"])]
    patterns = [_pattern(file, bot, begun) for bot in read]
    named = {
        _real(bot.folder) for bot, (_, marks) in zip(read, patterns, strict=True) if bot.remote is None and not marks
    }
    bots = [
        one
        for bot, (base, marks) in zip(read, patterns, strict=True)
        for one in _found(file, bot, base, marks, named, begun)
    ]
    rows, left_out = _read_list(file, limits, remote, defaults, skip=skip)
    return BotList((*bots, *rows), skip, left_out, defaults)


def check_granted(file: TomlFile, bot: BotConfig) -> None:
    """ConfigError for a path or a device that this bot is granted, and that is not there."""
    if bot.entry_list is None:
        check_grants(file, ("bots", bot.place), bot.sandbox)
        return
    try:
        check_grants(TomlFile(bot.entry_list, {}), ("bots", 0), bot.sandbox)
    except ConfigError as error:
        raise _of_row(error, bot.line) from None


def places_of(folder: Path) -> tuple[Path, Path]:
    """Where a folder lies, and where it lay if its last part is a link only now."""
    return _real(folder), _real(folder.parent) / folder.name


def fits_pattern(base: Path, marks: tuple[str, ...], folder: Path) -> bool:
    """Whether the pattern of these `marks` would find `folder` below `base`. The folder need not be there any more."""
    parts = folder.parts[-len(marks) :]
    return (
        len(folder.parts) > len(marks)
        and _real(base) == Path(*folder.parts[: -len(marks)])
        and all(fnmatch.fnmatchcase(part, mark) for part, mark in zip(parts, marks, strict=True))
    )


def _pattern(file: TomlFile, bot: BotConfig, begun: Collection[Path]) -> tuple[Path, tuple[str, ...]]:
    """The folder in front of the first wildcard that the path of the bot has, and the parts of the path from there on;
    none without a wildcard. A folder that is there, or was when the run began, may have such marks in its name, as may
    those around the file."""
    base = file.path.parent
    written = "" if bot.remote is not None or bot.copy_of else str(file.get("bots", bot.place, "path"))
    parts = Path(written).parts
    for place, part in enumerate(parts):
        here = base / part
        is_marked = any(mark in part for mark in _WILDCARDS) and not is_there(here)
        if is_marked and not any(folder.is_relative_to(_real(here)) for folder in begun):
            return base, parts[place:]
        base = here
    return base, ()


def _read_on_bad_entry(file: TomlFile) -> bool:
    word = file.text_at("on_bad_entry", default=ON_BAD_ENTRY[0], example='on_bad_entry = "skip"')
    if word not in ON_BAD_ENTRY:
        what = f"'on_bad_entry' must be {' or '.join(ON_BAD_ENTRY)}, not {show(word)}"
        file.fail(("on_bad_entry",), what, 'write on_bad_entry = "skip" to leave bad entries out')
    return word == "skip"


def read_defaults(file: TomlFile, limits: Limits) -> Mapping[str, Any]:
    """What [bot_defaults] says, checked as far as it can be without a bot: its options are its own. ConfigError."""
    where = ("bot_defaults",)
    given = file.table(*where)
    file.check_keys(where, given, DEFAULT_KEYS)
    file.table(*where, "options")
    check_clock(file, (*where, "clock"), limits, read_clock(file, (*where, "clock"), limits))
    read_resources(file, (*where, "limits"))
    read_fresh(file, *where)
    read_copies(file, where)
    granted = read_bot_sandbox(file, where)
    check_grants(file, where, granted)
    return {**given, "read": list(granted.read)} if granted.read else given


def with_defaults(given: Mapping[str, Any], defaults: Mapping[str, Any]) -> dict[str, Any]:
    """A bot's own keys over the defaults, in its tables key by key. Of a remote bot the clock alone is ours."""
    if "copy_of" in given:
        return dict(given)
    fitting = {key: defaults[key] for key in ("clock",) if key in defaults} if given.get("remote") else defaults
    merged = {**fitting, **given}
    for key in _TABLES:
        if isinstance(given.get(key), dict) and isinstance(fitting.get(key), dict):
            merged[key] = {**fitting[key], **given[key]}
    return merged


def _found(
    file: TomlFile, bot: BotConfig, base: Path, marks: tuple[str, ...], named: set[Path], begun: Collection[Path]
) -> Iterator[BotConfig]:
    """The bot itself, or one for each folder that its pattern finds and no other [[bots]] names, in order of names;
    after them those that it found when the run began, and that are gone."""
    if not marks:
        yield bot
        return
    key, here = ("bots", bot.place, "path"), file.path.parent
    written = str(file.get(*key))
    if bot.name is not None:
        what = f"'{dotted('bots', bot.place, 'name')}' is one name, and the path {show(written)} is for several bots"
        file.fail(("bots", bot.place, "name"), what, "take the name away: each bot has that of its bot.toml")
    if "**" in written:
        file.fail(key, f"'{dotted(*key)}' has '**' in it", "write a * for each level of folders, such as students/*")
    found = [folder for folder in base.glob("/".join(marks)) if is_folder(folder)]
    folders = sorted(folder for folder in found if not any(part[0] == "." for part in folder.relative_to(base).parts))
    there = {place for folder in folders for place in places_of(folder)}
    folders += [folder for folder in begun if folder not in there and fits_pattern(base, marks, folder)]
    if not folders:
        what = f"'{dotted(*key)}': no folder fits the pattern {show(written)}"
        file.fail(key, what, f"correct it; it begins at {here.resolve()}")
    for folder in folders:
        if _real(folder) not in named:
            yield replace(bot, folder=folder, pattern=marks)


# The list of entries: a row for each bot, a column for each key of [[bots]], such as path, name or options.depth


def _read_list(
    file: TomlFile,
    limits: Limits,
    remote: RemoteConfig | None,
    defaults: Mapping[str, Any],
    *,
    skip: bool,
) -> tuple[list[BotConfig], tuple[LeftOut, ...]]:
    named = file.text_at("entries", example='entries = "class.csv"')
    if not named:
        return [], ()
    path = file.path.parent / named
    bots: list[BotConfig] = []
    left_out: list[LeftOut] = []
    for place, (line, cells) in enumerate(_rows(file, path)):
        try:
            given = with_defaults(_values(path, line, cells), defaults)
            sections = {"bots": [given]} | {key: file.values[key] for key in ("remote",) if key in file.values}
            bot = read_bot(TomlFile(path, sections), limits, remote, 0, given)
        except ConfigError as error:
            wrong = _of_row(error, line)
            if not skip:
                raise wrong from None
            left_out.append(LeftOut(f"{path}:{line}", wrong.what, wrong.next_step))
        else:
            bots.append(replace(bot, line=line, place=place, entry_list=path))
    return bots, tuple(left_out)


def _rows(file: TomlFile, path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    """Line and cells that are not empty of each row, by column. ConfigError for a list that cannot be read."""
    key = ("entries",)
    try:
        text = read_text(path)
    except OSError as error:
        file.fail(key, f"'entries': {path} cannot be read ({error.strerror})", "give its path from this file")
    except UnicodeDecodeError:
        file.fail(key, f"'entries': {path} is not UTF-8 text", "save it as CSV in UTF-8")
    columns: list[str] = []
    rows = csv_rows(path, text)
    for line, cells in rows:
        if not columns:
            columns = _columns(path, line, cells)
        elif any(cells[len(columns) :]):
            yield line, {"": f"the row has {len(cells)} cells, and there are {len(columns)} columns"}
        else:
            yield line, {name: cell for name, cell in zip(columns, cells, strict=False) if cell}
    if not rows:
        raise ConfigError(path, None, "the list of entries is empty", "begin it with a line of columns, such as path")
    if len(rows) == 1:
        raise ConfigError(path, rows[0][0], "the list of entries has columns and no rows", "write a row for each bot")


def _columns(path: Path, line: int, names: list[str]) -> list[str]:
    for name in names:
        table, dot, inner = name.partition(".")
        known = inner if dot and table in _TABLES else name in BOT_KEYS and name not in _TABLES
        if not known or names.count(name) > 1:
            keys = [key for key in BOT_KEYS if key not in _TABLES] + [f"{key}.NAME" for key in _TABLES]
            twice = f"the column '{name}' is there twice" if known else f"unknown column {show(name)}"
            step = "take one of them away" if known else suggest(name, keys, "the columns are")
            raise ConfigError(path, line, twice, step)
    return names


def _values(path: Path, line: int, cells: Mapping[str, str]) -> dict[str, Any]:
    """A row in the form of a [[bots]]. ConfigError for one that has more cells than there are columns."""
    if "" in cells:
        raise ConfigError(path, line, cells[""], 'put quotes around a cell that has a comma in it: "a, b"')
    given: dict[str, Any] = {}
    for name, cell in cells.items():
        table, dot, inner = name.partition(".")
        if dot:
            given.setdefault(table, {})[inner] = toml_value(cell)
        elif name in _LISTS and not isinstance(toml_value(cell), list):
            given[name] = [cell]
        else:
            given[name] = cell if name in _TEXTS else toml_value(cell)
    return given


def _of_row(error: ConfigError, line: int | None) -> ConfigError:
    """What is wrong in a row, which is the first [[bots]] to those who read it."""
    what = error.what.replace("bots[1].", "").replace("'bots[1]'", "the row")
    return ConfigError(error.path, line, what, error.next_step.replace("add a line such as", "write, for instance,"))


def _real(folder: Path) -> Path:
    return Path(os.path.realpath(folder))
