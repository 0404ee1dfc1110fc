"""Text that a bot or a file brought in, made fit for a terminal or a page. Escaping for HTML is the page's own work."""

import json
import re
from collections.abc import Callable, Iterable, Sequence
from datetime import date, time

MOST = 2000
"""Characters of one text that are shown; the record has all of it."""


def clean(text: object, most: int = MOST) -> str:
    """Control, format and direction characters are written out as escapes; lines are kept; the rest is cut."""
    whole = str(text)
    shown = whole[:most]
    if not shown.isprintable():  # most texts are
        shown = "".join(
            char if char.isprintable() or char == "\n" else char.encode("unicode_escape").decode("ascii")
            for char in shown
        )
    return shown if len(whole) <= most else f"{shown}... ({len(whole) - most} more characters)"


def one_line(text: object, most: int = MOST) -> str:
    """The same, with line ends written out."""
    return clean(text, most).replace("\n", "\\n")


def toml_text(text: str) -> str:
    """The text as a string of TOML, whose escapes are those of JSON but for pairs of surrogates."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


_BARE = re.compile(r"[A-Za-z0-9_-]+")
"""A key that TOML has without quotes."""


def shown_toml(value: object) -> str:
    """A value of a TOML file for messages, as its author knows it: true, 2026-11-30, { depth = 3 }. In ASCII, with
    texts in single quotes."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, list):
        return f"[{', '.join(map(shown_toml, value))}]"
    if isinstance(value, dict):
        inside = [f"{key if _BARE.fullmatch(key) else ascii(key)} = {shown_toml(one)}" for key, one in value.items()]
        return f"{{ {', '.join(inside)} }}" if inside else "{}"
    return ascii(value)


def with_seats(text: str, names: Sequence[str]) -> str:
    """A sentence of the referee for a terminal: "seat 0", or "seat 0 (mine)", is "mine (seat 1)"."""
    return replace_seats(
        text, names, lambda seat: f"{names[seat]} (seat {seat + 1})" if seat < len(names) else f"seat {seat + 1}"
    )


def replace_seats(text: str, names: Sequence[str], shown: Callable[[int], str]) -> str:
    """The sentence in which each seat is what `shown` makes of its number, which is from 0."""
    known = "|".join(re.escape(one) for one in names)
    return re.sub(rf"\bseat (\d{{1,3}})\b(?: \((?:{known})\))?", lambda found: shown(int(found[1])), text)


_PLACE = r"/(?:[0-9a-f]{32}|[0-9a-f]{16}/\d{1,9})/bot/"
_STORED = re.compile(rf'(?<=File ")[^"\n]{{1,1000}}?{_PLACE}|(?:/[^/\s"\'()]{{1,255}}){{1,20}}{_PLACE}')
"""The folder that a bot plays from: a copy of its own or a build, whose path says nothing to its author."""

_FOLDERS = re.compile(r"(?<![\w/.])(?:file://)?/(?!/)(?:[^/\s\"'()]{1,255}/)*(?=[^/\s])")
"""Of a whole path, not of an address or a fraction."""

_MISSING = re.compile(r"^ModuleNotFoundError: No module named '([^'\n]{1,200})'", re.MULTILINE)


def without_store(printed: str) -> str:
    """The text in which the bot's files have their paths in the bot's folder, not in the store of versions."""
    return _STORED.sub("", printed)


def without_folders(text: str) -> str:
    """The text in which whole paths are the names of their files alone: strangers need not know where things are."""
    return _FOLDERS.sub("", text)


def missing_package(printed: str) -> str:
    """What to do about the module that a Python bot did not find; '' if it printed no such error."""
    found = _MISSING.findall(printed)
    if not found:
        return ""
    return (
        f"the bot has no module '{one_line(found[-1])}': if that is a package, write its name on the index into"
        " requirements.txt in the bot's folder, which counts if 'run' in bot.toml has {python}; if it is the bot's own"
        " file, see that it is in that folder"
    )


def plural(number: int, word: str) -> str:
    """'1 match', '2 matches'."""
    if number == 1:
        return f"1 {word}"
    return f"{number} {word}es" if word.endswith(("ch", "s", "x")) else f"{number} {word}s"


def listed(words: Iterable[str]) -> str:
    """'ann', 'ann and bob', 'ann, bob and eve'; '' for none."""
    *others, last = tuple(words) or ("",)
    return f"{', '.join(others)} and {last}" if others else last
