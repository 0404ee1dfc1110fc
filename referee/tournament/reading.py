"""Reads values out of a parsed TOML file; whatever does not fit is a ConfigError with its line."""

import csv
import io
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NoReturn

from referee.errors import ConfigError
from referee.process.manifest import INTEGER_BOUND
from referee.record.files import read_ordinary
from referee.texts import shown_toml

_HEADER = re.compile(r"\s*(\[\[?)([^\[\]]+)\]\]?\s*(?:#.*)?$")
_KEY = re.compile(r"""\s*((?:[A-Za-z0-9_-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[A-Za-z0-9_-]+|"[^"]*"|'[^']*'))*)\s*=""")
_MULTILINE = ('"""', "'''")

Key = tuple[str | int, ...]


def find_line(text: str, *path: str | int) -> int | None:
    """The line (from 1) of the deepest part of `path` that is written out; None if no part of it is.

    `path` is keys and positions, such as ("bots", 1, "path") for the key `path` of the second [[bots]].
    """
    best: tuple[int, int] | None = None
    for number, here in _written(text):
        depth = _common(here, path)
        whole = depth == len(here) or (depth == len(path) and isinstance(here[depth], int))  # or a list's first table
        if whole and (best is None or depth > best[0]):
            best = depth, number
    return None if best is None else best[1]


def _written(text: str) -> Iterator[tuple[int, Key]]:
    """Line and full path of every table header and key."""
    table: Key = ()
    counts: dict[Key, int] = {}
    quote = ""
    # Not `splitlines`: to TOML, and to every editor, U+2028 and form feeds end no line.
    for number, line in enumerate(text.replace("\r\n", "\n").split("\n"), start=1):
        if quote:
            quote = "" if quote in line else quote
            continue
        quote = next((mark for mark in _MULTILINE if line.count(mark) % 2), "")
        if header := _HEADER.match(line):
            names = _split(header[2])
            table = _resolve(names, counts, is_array=header[1] == "[[")
            yield number, table
        elif key := _KEY.match(line):
            yield number, table + _split(key[1])


def _resolve(names: Key, counts: dict[Key, int], *, is_array: bool) -> Key:
    """The path of a header, with the position in each array of tables it passes."""
    here: Key = ()
    for place, name in enumerate(names):
        here += (name,)
        if is_array and place == len(names) - 1:
            counts[here] = counts.get(here, -1) + 1
        if here in counts:
            here += (counts[here],)
    return here


def _split(dotted: str) -> Key:
    parts = re.findall(r"""[A-Za-z0-9_-]+|"[^"]*"|'[^']*'""", dotted)
    return tuple(part.strip("\"'") for part in parts)


def _common(here: Key, path: Key) -> int:
    depth = 0
    for one, other in zip(here, path, strict=False):
        if one != other:
            break
        depth += 1
    return depth


MAX_DEPTH = 20
MOST_MIB = 16
"""Of a tournament file and the like."""
_SHOWN_BITS = 160
_TOO_BIG = "a number with more than 64 bits"
_PLACE = re.compile(r"\s*\(at (?:line (\d+), column \d+|end of document)\)$")


class TomlFile:
    """The text of one file, its values, and where they stand. `path` is as the user gave it."""

    def __init__(self, path: Path, values: Mapping[str, Any] | None = None, *, kind: str = "tournament file") -> None:
        """Reads and parses; or takes `values` that somebody gave in the form of the file. `kind` is for messages.
        ConfigError."""
        self.path = path
        self.text = ""
        self.homes: Callable[[], Mapping[str, str]] = dict
        """By key, in words where it belongs: for those that are written somewhere else."""
        if values is not None:
            self.values: Mapping[str, Any] = values
            self._check_extent()
            return
        try:
            self.text = read_ordinary(path, MOST_MIB << 20).decode("utf-8").removeprefix("\ufeff")
        except UnicodeDecodeError as error:
            line = error.object[: error.start].count(b"\n") + 1
            raise ConfigError(path, line, "the file is not UTF-8 text", "save it as UTF-8") from None
        except FileNotFoundError:
            raise ConfigError(path, None, "no such file", f"check the path, or write a {kind} there") from None
        except OSError as error:
            what = "is a folder, not a file" if path.is_dir() else f"cannot be read ({error.strerror})"
            example = ", such as tournaments/first.toml" if kind == "tournament file" else ""
            raise ConfigError(path, None, what, f"name a {kind}{example}") from None
        try:
            self.values = tomllib.loads(self.text)
            self._check_extent()
        except tomllib.TOMLDecodeError as error:
            place = _PLACE.search(str(error))
            line = int(place[1]) if place and place[1] else max(1, self.text.count("\n") + 1)
            what = _PLACE.sub("", str(error))
            raise ConfigError(path, line, f"not TOML: {what}", "correct this line") from None
        except RecursionError:
            raise ConfigError(path, None, "the file is nested too deeply", "write it flat") from None
        except ValueError:  # from the interpreter's limit on decimal digits; it does not say where
            raise ConfigError(path, None, f"it has {_TOO_BIG}", "correct it") from None

    def _check_extent(self) -> None:
        """ConfigError for what every later message would stumble over: endless numbers, endless nesting."""
        waiting: list[tuple[tuple[str | int, ...], Any]] = [((), self.values)]
        while waiting:
            key, value = waiting.pop()
            if isinstance(value, int) and not -INTEGER_BOUND <= value < INTEGER_BOUND:
                number = f": {show(value)}" if value.bit_length() < _SHOWN_BITS else ""
                self.fail(key, f"'{dotted(*key)}' has {_TOO_BIG}{number}", "correct it")
            if isinstance(value, dict | list) and len(key) == MAX_DEPTH:
                self.fail(key, f"'{dotted(*key[:2])}' is nested too deeply", "write it flat")
            if isinstance(value, dict):
                waiting += [((*key, name), inner) for name, inner in value.items()]
            elif isinstance(value, list):
                waiting += [((*key, place), inner) for place, inner in enumerate(value)]

    def with_value(self, key: str, value: Any) -> "TomlFile":
        """The same file with another value at its top, where what is written stands as before."""
        made = copy(self)
        made.values = {**self.values, key: value}
        return made

    def fail(self, key: Sequence[str | int], what: str, next_step: str) -> NoReturn:
        """Raise the ConfigError about `key`, the way to a value, such as ("clock", "move_s")."""
        raise ConfigError(self.path, self.line(*key), what, next_step)

    def line(self, *key: str | int) -> int | None:
        """Where `key`, or the nearest table around it, is written."""
        return find_line(self.text, *key)

    def check_keys(self, table: Sequence[str | int], given: Mapping[str, Any], known: Sequence[str]) -> None:
        """ConfigError for the first key that is not among `known`."""
        for key in given:
            if key in known:
                continue
            place = (*table, key)
            if home := self.homes().get(key):
                what = f"'{dotted(*place)}' is in the wrong place: '{key}' belongs {home}"
                self.fail(place, what, f"move it, or remove it; {_listed(known, 'the keys here are')}")
            self.fail(place, f"unknown key '{dotted(*place)}'", suggest(key, known, "the keys here are"))

    def table(self, *key: str | int) -> Mapping[str, Any]:
        value = self.get(*key)
        if value is None:
            return {}
        if not isinstance(value, dict):
            self.fail(key, f"'{dotted(*key)}' must be a table, not {show(value)}", f"begin it with [{dotted(*key)}]")
        return value

    def text_at(self, *key: str | int, required: bool = False, default: str | None = None, example: str) -> str:
        value = self.get(*key)
        if value is None:
            if not required:
                return default or ""
            self.fail(key, f"the key '{dotted(*key)}' is missing", f"add a line such as {example}")
        if value == "":
            step = f"write, for instance, {example}" + ("" if required else ", or leave the line out")
            self.fail(key, f"'{dotted(*key)}' is empty", step)
        if not isinstance(value, str):
            self.fail(key, f"'{dotted(*key)}' must be a text, not {show(value)}", f"write, for instance, {example}")
        if "\0" in value:
            self.fail(key, f"'{dotted(*key)}' has a zero byte in it", "remove it")
        return value

    def integer(self, *key: str | int, minimum: int, maximum: int, default: int | None = None, example: str) -> int:
        value = self.get(*key)
        if value is None:
            if default is not None:
                return default
            self.fail(key, f"the key '{dotted(*key)}' is missing", f"add a line such as {example}")
        if not isinstance(value, int) or isinstance(value, bool) or not minimum <= value <= maximum:
            self.fail(
                key,
                f"'{dotted(*key)}' must be an integer from {minimum} to {maximum}, not {show(value)}",
                f"write, for instance, {example}",
            )
        return value

    def get(self, *key: str | int) -> Any:
        """The value itself, None where there is none."""
        value: Any = self.values
        for part in key:
            if isinstance(value, list) and isinstance(part, int):
                value = value[part]
            elif isinstance(value, dict):
                value = value.get(str(part))
            else:
                return None
        return value


def dotted(*key: str | int) -> str:
    """A way to a value as people write it: bots[2].path (counted from 1)."""
    text = ""
    for part in key:
        text += f"[{part + 1}]" if isinstance(part, int) else f".{part}" if text else part
    return text


def toml_value(text: str) -> Any:
    """A value as a tournament file has it, such as 3, true or "a text"; the text itself where it is no such value."""
    try:
        read = tomllib.loads(f"value = {text}")
    except (ValueError, RecursionError):  # numbers of thousands of digits are no TOMLDecodeError
        return text
    return read["value"] if set(read) == {"value"} and "\n" not in text else text


def read_text(path: Path, most_mib: int = 64) -> str:
    """A text file that people wrote, in UTF-8; some editors and spreadsheets begin it with a byte order mark. OSError
    or UnicodeDecodeError."""
    text = read_ordinary(path, most_mib << 20).decode("utf-8").removeprefix("\ufeff")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def cell_separator(text: str) -> str:
    """Between the cells of CSV: spreadsheets in many languages write semicolons."""
    head = text.lstrip().partition("\n")[0]
    return ";" if ";" in head and "," not in head else ","


def csv_rows(path: Path, text: str) -> list[tuple[int, list[str]]]:
    """Line and cells, without white space around them, of each row that is not blank. ConfigError for what is not CSV,
    such as a quote without an end, which takes all further rows into its cell."""
    last = "end of the file"  # a row of ours, which such a quote takes in as well
    lines = io.StringIO(f"{text}\n{last}", newline="")
    reader = csv.reader(lines, delimiter=cell_separator(text), skipinitialspace=True)
    rows: list[tuple[int, list[str]]] = []
    line = 1  # where a row begins; a cell may go on over several lines
    try:
        for row in reader:
            rows.append((line, [cell.strip() for cell in row]))
            line = reader.line_num + 1
    except csv.Error as error:
        raise ConfigError(path, line, f"not CSV: {error}", "correct this line") from None
    line, cells = rows.pop()
    if cells != [last]:
        raise ConfigError(
            path, line, "not CSV: a quote in this row has no end", 'close it; write a quote in a cell as ""'
        )
    return [(line, cells) for line, cells in rows if any(cells)]


def show(value: object) -> str:
    """A value as TOML would have it, cut to a length for messages, without control characters."""
    text = shown_toml(value)
    return text if len(text) <= 60 else text[:57] + "..."


def suggest(word: str, known: Sequence[str], lead: str) -> str:
    """What to do about an unknown word: the nearest known one, or all of them."""
    near = get_close_matches(word.lower(), known, n=1, cutoff=0.55)
    return f"did you mean '{near[0]}'?" if near else _listed(known, lead)


def _listed(known: Sequence[str], lead: str) -> str:
    return f"{lead}: {', '.join(known) or 'none'}"
