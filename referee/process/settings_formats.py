"""Settings of package managers without what they hold of credentials, format by format.

Each takes the texts of the same file of the machine and of the user, in this order, and returns one that has both, the
user's before the machine's. A text that cannot be read is left out as a whole: what is in it, nobody knows.
"""

import re
import tomllib
from collections.abc import Sequence
from configparser import Error, RawConfigParser
from datetime import date, time
from io import StringIO
from json import dumps
from xml.etree import ElementTree

SECRET = re.compile(r"token|secret|passw|passphrase|credential|_?auth|api_?key|private_?key", re.IGNORECASE)
"""What a name has in it that speaks of a secret."""

_KEY_LINE = re.compile(r"(?:.*:)?key(?:\[\])?", re.IGNORECASE)
# npm's private key, whole in one line, for all registries or for one.
_MAVEN = frozenset({"servers", "username", "localRepository"})
# The last is a place that a build does not have.


def lines(texts: Sequence[str]) -> str:
    """`key = value` on a line each, as go and npm have them, without comments; the last of a key counts."""
    kept = []
    for text in texts:
        for line in text.splitlines():
            key, _, _ = line.partition("=")
            name = key.strip().strip("\"'")
            if name and not name.startswith(("#", ";")) and not SECRET.search(name) and not _KEY_LINE.fullmatch(name):
                kept.append(f"{line}\n")
    return "".join(kept)


def ini(texts: Sequence[str]) -> str:
    """As pip has them, without comments."""
    merged = RawConfigParser(strict=False, default_section="")
    merged.optionxform = str  # type: ignore[assignment, method-assign]
    for text in texts:
        one = RawConfigParser(strict=False, default_section="")
        try:
            one.read_string(text)
        except Error:
            continue
        for section in one.sections():
            if not merged.has_section(section):
                merged.add_section(section)
            for key, value in one.items(section):
                if not SECRET.search(key):
                    merged.set(section, key, value)
    written = StringIO()
    merged.write(written)
    return written.getvalue()


def toml(texts: Sequence[str]) -> str:
    """As cargo has them; of tables that several have, all keys."""
    merged: dict[str, object] = {}
    written = ""
    for text in texts:
        try:
            both = _over(merged, _open(tomllib.loads(text)))
            written = "".join(f"{_toml(key)} = {_toml(value)}\n" for key, value in both.items())
        except (ValueError, RecursionError):  # no TOML, a number of thousands of digits, tables without end
            continue
        merged = both
    return written


def _open(value: object) -> dict[str, object]:
    assert isinstance(value, dict)
    return {key: _open_any(each) for key, each in value.items() if not SECRET.search(key)}


def _open_any(value: object) -> object:
    if isinstance(value, dict):
        return _open(value)
    return [_open_any(each) for each in value] if isinstance(value, list) else value


def _over(below: dict[str, object], above: dict[str, object]) -> dict[str, object]:
    merged = {**below, **above}
    for key, value in above.items():
        other = below.get(key)
        if isinstance(value, dict) and isinstance(other, dict):
            merged[key] = _over(other, value)
    return merged


def _toml(value: object) -> str:
    match value:
        case str():
            return dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
        case bool():
            return str(value).lower()
        case dict():
            return "{" + ", ".join(f"{_toml(key)} = {_toml(each)}" for key, each in value.items()) + "}"
        case list():
            return "[" + ", ".join(map(_toml, value)) + "]"
        case date() | time():
            return value.isoformat()
        case _:
            return str(value)


def maven(texts: Sequence[str]) -> str:
    """Maven's settings; of mirrors, proxies and profiles of the same id the user's."""
    merged: ElementTree.Element | None = None
    for text in reversed(texts):
        try:
            # The organiser's own files, never a bot's.
            found = _plain(ElementTree.fromstring(text))  # noqa: S314
            ElementTree.tostring(found)
        except (ElementTree.ParseError, ValueError, RecursionError):  # no XML, or elements without end
            continue
        if merged is None:
            merged = found
        else:
            _add(merged, found)
    return "" if merged is None else ElementTree.tostring(merged, encoding="unicode") + "\n"


def _plain(element: ElementTree.Element) -> ElementTree.Element:
    """Without secrets, at any depth, without attributes, and without the namespace, which Maven does not ask for."""
    made = ElementTree.Element(_name(element))
    made.text = element.text
    made.extend([_plain(child) for child in element if not (_name(child) in _MAVEN or SECRET.search(_name(child)))])
    return made


def _name(element: ElementTree.Element) -> str:
    return element.tag.rpartition("}")[2]


def _add(merged: ElementTree.Element, below: ElementTree.Element) -> None:
    for child in below:
        mine = merged.find(child.tag)
        if mine is None:
            merged.append(child)
            continue
        known = {each.findtext("id") for each in mine} - {None}
        mine.extend(each for each in child if each.findtext("id") not in known)
