"""`bot.toml`: what a bot folder says about itself, and which names a bot may have."""

import os
import re
import stat
import tomllib
import unicodedata
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeAlias

from referee.errors import ExpectedError
from referee.texts import shown_toml

MAX_CODE_POINTS = 64

_REFUSED = {
    "Cc": "a control character",
    "Cf": "an invisible or direction-changing format character",
    "Cs": "a surrogate",
    "Co": "a private-use character",
    "Cn": "an unassigned character",
    "Zl": "a line separator",
    "Zp": "a paragraph separator",
}
# Letters and marks by category, yet drawn as nothing: Hangul fillers, Khmer inherent vowels, the empty Braille cell,
# the grapheme joiner. (Unicode: Default_Ignorable_Code_Point, and U+2800.)
_BLANK = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
# Cyrillic and Greek letters drawn like Latin ones, lower case after folding; capitals that differ are added below.
_FOREIGN = str.maketrans(
    "аеорсухѕіјһԁԛԝүѵοαιυνκρτβμηχγ",
    "aeopcyxsijhdqwyvoaivvkptbunxy",
)
_FOREIGN_CAPITALS = str.maketrans(
    "АВЕЅІЈКМНОРСТУХΑΒΕΖΗΙΚΜΝΟΡΤΥΧ",  # noqa: RUF001 - the point of this table
    "ABESIJKMHOPCTYXABEZHIKMNOPTYX",
)
_SAME_STROKE = str.maketrans("I1|0", "lllO")


class BotNameError(ExpectedError):
    """Not a name for a bot. The message says which character or length is wrong."""


def check_name(name: str) -> str:
    """The name in NFC. BotNameError unless it is 1 to 64 visible code points without white space at its ends."""
    normal = unicodedata.normalize("NFC", name)
    if not 1 <= len(normal) <= MAX_CODE_POINTS:
        told = f"a bot's name has 1 to {MAX_CODE_POINTS} characters, this one has {len(normal)}"
        raise BotNameError(told, f"choose {'a shorter one' if normal else 'one'}")
    if normal != normal.strip():
        raise BotNameError(f"the bot's name {normal!a} starts or ends with white space", "remove it")
    for place, character in enumerate(normal, 1):
        problem = _problem(character)
        if problem is not None:
            code = f"U+{ord(character):04X}"
            raise BotNameError(f"the bot's name {normal!a} has {problem} ({code}) at place {place}", "remove it")
    if unicodedata.combining(normal[0]):
        raise BotNameError(f"the bot's name {normal!a} starts with a combining mark", "begin with a letter or digit")
    return normal


def _problem(character: str) -> str | None:
    if character in _BLANK or _is_selector(character):
        return "a character that is drawn as nothing"
    category = unicodedata.category(character)
    if category == "Zs" and character != " ":
        return "a space that is not the ordinary one"
    return _REFUSED.get(category)


def _is_selector(character: str) -> bool:
    """Variation selectors: marks without a look of their own."""
    return "\ufe00" <= character <= "\ufe0f" or "\U000e0100" <= character <= "\U000e01ef" or character in "᠋᠌᠍᠏"


def clashes(one: str, other: str) -> bool:
    """Whether people would take one name for the other: same but for case, width, accents' encoding, invisible
    characters or spacing, or drawn alike (Cyrillic or Greek letters for Latin ones, `1`, `I` and `l`, `0` and `O`).
    """
    return any(mine == theirs for mine, theirs in zip(look_alike_keys(one), look_alike_keys(other), strict=True))


def look_alike_keys(name: str) -> tuple[str, str]:
    """Two names clash if their first keys, or their second ones, are the same: for names that are looked up."""
    return _folded(name), _drawn(name)


def _folded(name: str) -> str:
    wide = unicodedata.normalize("NFKC", name)
    seen = "".join(character for character in wide if character == " " or _problem(character) is None)
    return " ".join(unicodedata.normalize("NFKC", seen.casefold()).split())


def _drawn(name: str) -> str:
    latin = unicodedata.normalize("NFKC", name).translate(_FOREIGN_CAPITALS)
    return _folded(latin.translate(_SAME_STROKE)).translate(_FOREIGN)


FILE_NAME = "bot.toml"
ANY_GAME = "*"
"""Among `games`: the bot plays any."""
PYTHON = "{python}"
"""The word of an argv that stands for the referee's own interpreter."""

BUILD_OUTPUT = frozenset({"bin", "build", "dist", "node_modules", "obj", "target"})
"""What compilers and package managers write; no part of the sources where the manifest names a build command."""

OptionValue: TypeAlias = str | int | bool

_REQUIRED = ("name", "version", "games", "run")
_OPTIONAL = ("fetch", "build", "toolchain", "options")
_EXAMPLES = {
    "name": 'name = "My bot"',
    "version": 'version = "1"',
    "games": 'games = ["*"]',
    "run": 'run = ["{python}", "bot.py"]',
    "fetch": 'fetch = ["go", "mod", "download"]',
    "build": 'build = ["make"]',
    "toolchain": 'toolchain = ["go", "version"]',
}
_GAME_ID = re.compile(r"\*|([a-z][a-z0-9_]*/)?[a-z0-9][a-z0-9_]*", re.ASCII)
MAX_VERSION = 64
_MOST_BYTES = 1 << 16
_MOST_WORDS = 1000
"""Of a command: what makes the sandbox takes 9,000 in all."""
_MOST_DOTS = 1000
"""Of a line: reading a key with so many takes milliseconds, and a hundred times that with ten times as many."""
_NO_KEY = re.compile(
    r'''#[^\n]*|"""(?:\\.|[^\\])*?(?:"""(?!")|\\?\Z)|\'{3}.*?(?:\'{3}(?!\')|\Z)'''
    r"""|"(?:\\[^\n]|[^"\\\n])*"?|\'[^\'\n]*\'?""",
    re.DOTALL,
)
"""Comments and strings, in which dots are text. A string without an end goes on to the end of its line, or of the text:
to look for another one behind each of its quotes would take seconds."""
INTEGER_BOUND = 1 << 63


class ManifestError(ExpectedError):
    """A bot folder that cannot be used. The sentence names the file, the line where known, and what was expected."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """The checked content of `bot.toml`. `games` are game ids, or "*" for any game.

    `run`, `fetch`, `build` and `toolchain` are argv lists for a process in the bot's folder; all but `run` may be
    empty. `build` makes the program; `fetch` brings what it needs, before; `toolchain` prints a
    version that is kept with what was built. `options` are the bot's own options with their defaults.
    """

    name: str
    version: str
    games: tuple[str, ...]
    run: tuple[str, ...]
    build: tuple[str, ...] = ()
    fetch: tuple[str, ...] = ()
    toolchain: tuple[str, ...] = ()
    options: Mapping[str, OptionValue] = field(default_factory=dict)


def plays(games: Collection[str], game: str) -> bool:
    """Whether a bot that names these games plays this one; a bot that names none plays any."""
    return not games or ANY_GAME in games or game in games


def load_manifest(folder: Path) -> Manifest:
    """Reads and checks `folder/bot.toml`. Raises ManifestError."""
    path = folder / FILE_NAME
    try:
        what = "" if stat.S_ISDIR(folder.stat().st_mode) else "is not a folder"
    except PermissionError as error:
        what = f"cannot be read ({error.strerror})"
    except OSError:
        what = "does not exist"
    if what:
        raise ManifestError(f"{folder}: {what}", f"a bot is a folder with a {FILE_NAME} in it")
    try:
        text = _read(folder, path).decode("utf-8-sig")
    except FileNotFoundError:
        example = ", ".join(_EXAMPLES[key] for key in _REQUIRED)
        raise ManifestError(f"{path}: no such file", f"write one, the least is: {example}") from None
    except OSError as error:
        raise ManifestError(f"{path}: cannot be read ({error.strerror})", "check what it is and its rights") from None
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise ManifestError(f"{path}:{line}: not UTF-8 text", "save the file as UTF-8") from None
    return parse_manifest(text, path)


def _read(folder: Path, path: Path) -> bytes:
    """A bot's author may lay anything there: a link to a private file, a pipe, a device without end.
    Raises ManifestError or OSError."""
    real = Path(os.path.realpath(path))
    if not real.is_relative_to(os.path.realpath(folder)):
        raise ManifestError(f"{path}: links to {real}, outside of the bot's folder", "copy it in")
    # Not waiting for the other end of a pipe; what became a link just now is not followed.
    number = os.open(real, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        if not stat.S_ISREG(os.fstat(number).st_mode):
            raise ManifestError(f"{path}: is not a file", "write one")
        with os.fdopen(number, "rb", closefd=False) as file:
            content = file.read(_MOST_BYTES + 1)
    finally:
        os.close(number)
    if len(content) > _MOST_BYTES:
        raise ManifestError(f"{path}: has more than {_MOST_BYTES >> 10} KiB", "write what the bot needs, and no more")
    return content


def parse_manifest(text: str, path: Path) -> Manifest:
    """The manifest in `text`; `path` is for messages only. Raises ManifestError."""
    bare = _NO_KEY.sub(lambda match: "\n" * match[0].count("\n"), text)
    for number, line in enumerate(bare.split("\n"), 1):
        if line.count(".") > _MOST_DOTS:
            raise ManifestError(f"{path}:{number}: a key of more than {_MOST_DOTS} parts", "write it flat")
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise _syntax_error(text, path, error) from None
    except ValueError:  # from the interpreter's limit on decimal digits
        raise ManifestError(f"{path}: a number is too long: it has thousands of digits", "correct it") from None
    except RecursionError:
        raise ManifestError(f"{path}: nested too deeply", "write it flat") from None
    return _Checker(text, path, table).manifest()


def _syntax_error(text: str, path: Path, error: tomllib.TOMLDecodeError) -> ManifestError:
    place = re.search(r"\(at line (\d+), column (\d+)\)", str(error))
    line = int(place[1]) if place else text.count("\n") + 1
    what = re.sub(r"\s*\(at [^)]*\)$", "", str(error))
    return ManifestError(f"{path}:{line}: not TOML ({what})", "correct this line")


class _Checker:
    """Checks one parsed file key by key; knows where each key stands."""

    def __init__(self, text: str, path: Path, table: dict[str, Any]) -> None:
        self._lines = text.split("\n")  # to TOML, and to every editor, U+2028 and form feeds end no line
        self._path = path
        self._table = table

    def manifest(self) -> Manifest:
        known = _REQUIRED + _OPTIONAL
        for key in self._table:
            if key not in known:
                near = get_close_matches(key.lower(), known, n=1, cutoff=0.5)
                advice = f"did you mean '{near[0]}'?" if near else f"known keys: {', '.join(known)}"
                raise self._error(key, f"unknown key '{key}'", advice)
        for key in _REQUIRED:
            if key not in self._table:
                raise ManifestError(f"{self._path}: the key '{key}' is missing", f"add a line like {_EXAMPLES[key]}")
        for key in ("fetch", "toolchain"):
            if key in self._table and "build" not in self._table:
                raise self._error(key, f"'{key}' is for bots that are built", f"add a line like {_EXAMPLES['build']}")
        return Manifest(
            name=self._name(),
            version=self._version(),
            games=self._games(),
            run=self._argv("run"),
            build=self._argv("build") if "build" in self._table else (),
            fetch=self._argv("fetch") if "fetch" in self._table else (),
            toolchain=self._argv("toolchain") if "toolchain" in self._table else (),
            options=MappingProxyType(self._options()),
        )

    def _name(self) -> str:
        try:
            return check_name(self._text("name"))
        except BotNameError as error:
            raise self._error("name", f"'name': {error}", error.next_step) from None

    def _version(self) -> str:
        version = self._text("version")
        if not version.isprintable() or version != version.strip() or len(version) > MAX_VERSION:
            raise self._error(
                "version",
                f"'version' must be 1 to {MAX_VERSION} printable characters without outer spaces, not {version!a}",
                f"write, for instance, {_EXAMPLES['version']}",
            )
        return version

    def _text(self, key: str) -> str:
        value = self._table[key]
        if value == "":
            raise self._error(key, f"'{key}' is empty", f"write {_EXAMPLES[key]}")
        if not isinstance(value, str):
            raise self._error(key, f"'{key}' must be a text, not {_show(value)}", f"write {_EXAMPLES[key]}")
        return value

    def _words(self, key: str) -> list[str]:
        value = self._table[key]
        if value == [] or (isinstance(value, list) and "" in value):
            what = "has an empty word" if value else "is empty"
            raise self._error(key, f"'{key}' {what}", f"write {_EXAMPLES[key]}")
        if not isinstance(value, list) or not all(isinstance(word, str) for word in value):
            raise self._error(key, f"'{key}' must be a list of texts, not {_show(value)}", f"write {_EXAMPLES[key]}")
        return value

    def _argv(self, key: str) -> tuple[str, ...]:
        words = self._words(key)
        if any("\0" in word for word in words):
            raise self._error(key, f"'{key}' has a word with a zero byte in it", "remove it")
        if len(words) > _MOST_WORDS:
            raise self._error(key, f"'{key}' has {len(words)} words, at most {_MOST_WORDS} are taken", "use a script")
        return tuple(words)

    def _games(self) -> tuple[str, ...]:
        games = self._words("games")
        for game in games:
            if not _GAME_ID.fullmatch(game):
                what = f"'games' must hold game ids such as shibuya, or \"*\", not {game!a}"
                raise self._error("games", what, "crosstown games list shows the ids")
        return tuple(games)

    def _options(self) -> dict[str, OptionValue]:
        options = self._table.get("options", {})
        if not isinstance(options, dict):
            raise self._error("options", f"'options' must be a table, not {_show(options)}", "begin it with [options]")
        for name, value in options.items():
            if not is_option_value(value):
                what = f"option '{name}' must be a text, an integer or true/false, not {_show(value)}"
                raise self._error(name, what, "correct the value", "options")
        return options

    def _error(self, key: str, what: str, next_step: str, table: str = "") -> ManifestError:
        line = self._line_of(key, table)
        return ManifestError(f"{self._path}{'' if line is None else f':{line}'}: {what}", next_step)

    def _line_of(self, key: str, table: str) -> int | None:
        """The line where a key, or a table of that name, begins; None if it is written in some rarer way."""
        path = f"{table}.{key}" if table else key
        assignment = re.compile(rf"""\s*(["']?){re.escape(key)}\1\s*[=.]""")
        inside = ""
        for number, line in enumerate(self._lines, 1):
            text = line.strip()
            if text.startswith("[") and "]" in text:
                inside = re.sub(r"""["'\s]""", "", text.lstrip("[").partition("]")[0])
                if f"{inside}.".startswith(f"{path}."):
                    return number
            elif inside == table and assignment.match(line):
                return number
        return None


def is_option_value(value: object) -> bool:
    """Whether a bot of any language can be handed this: a text, a 64-bit integer or a truth value."""
    if isinstance(value, int):
        return -INTEGER_BOUND <= value < INTEGER_BOUND
    return isinstance(value, str)


def _show(value: object) -> str:
    try:
        text = shown_toml(value)
    except (ValueError, RecursionError):  # a number of thousands of digits, tables without end
        return f"this {type(value).__name__}, which is too long to show"
    return text if len(text) <= 60 else text[:57] + "..."
