"""Where in a TOML text a key stands: the standard parser does not tell."""

import re
from collections.abc import Iterator

_HEADER = re.compile(r"\s*(\[\[?)\s*([^\[\]]+?)\s*\]\]?\s*(?:#.*)?$")
_KEY = re.compile(r"""\s*((?:[A-Za-z0-9_-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[A-Za-z0-9_-]+|"[^"]*"|'[^']*'))*)\s*=""")
_MULTILINE = ('"""', "'''")

Path = tuple[str | int, ...]


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


def _written(text: str) -> Iterator[tuple[int, Path]]:
    """Line and full path of every table header and key."""
    table: Path = ()
    counts: dict[Path, int] = {}
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


def _resolve(names: Path, counts: dict[Path, int], *, is_array: bool) -> Path:
    """The path of a header, with the position in each array of tables it passes."""
    here: Path = ()
    for place, name in enumerate(names):
        here += (name,)
        if is_array and place == len(names) - 1:
            counts[here] = counts.get(here, -1) + 1
        if here in counts:
            here += (counts[here],)
    return here


def _split(dotted: str) -> Path:
    parts = re.findall(r"""[A-Za-z0-9_-]+|"[^"]*"|'[^']*'""", dotted)
    return tuple(part.strip("\"'") for part in parts)


def _common(here: Path, path: Path) -> int:
    depth = 0
    for one, other in zip(here, path, strict=False):
        if one != other:
            break
        depth += 1
    return depth
