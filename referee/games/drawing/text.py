"""Text in a drawing: what comes from outside is cleaned, cut and escaped."""

import unicodedata
from collections.abc import Collection, Sequence
from functools import lru_cache

from referee.games.drawing.look import Look

_UNSEEN = frozenset(("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"))
_MARKS = frozenset(("Mn", "Me", "Mc"))
_MARKS_IN_A_ROW = 2
_LONGEST_NAME = 64
_WIDTHS = {
    0.191: "'",
    0.222: "ijl",
    0.26: "|",
    0.278: " !,./:;I[\\]ft",
    0.333: "()-`r",
    0.334: "{}",
    0.355: '"',
    0.389: "*",
    0.469: "^",
    0.5: "Jcksvxyz",
    0.556: "#$0123456789?L_abdeghnopqu",
    0.584: "+<=>~",
    0.611: "FTZ",
    0.667: "&ABEKPSVXY",
    0.722: "CDHNRUw",
    0.778: "GOQ",
    0.833: "Mm",
    0.889: "%",
    0.944: "W",
    1.0: "\u2026",
    1.015: "@",
}
_EMS = {char: ems for ems, chars in _WIDTHS.items() for char in chars}
"""Widths of Helvetica, which Arial and Liberation Sans share."""
_WIDE, _OTHER, _BOLD = 1.05, 0.8, 1.08
_ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;"})


def escaped(content: str) -> str:
    """Safe between tags and inside quoted attributes. The characters must be ones that XML can hold."""
    return content.translate(_ESCAPES)


@lru_cache(maxsize=1024)
def cleaned(name: str) -> str:
    """One line of characters that are seen: control, direction and unassigned ones become U+FFFD, and of marks
    piled on one letter two stay. At most 64 characters."""
    kept: list[str] = []
    marks = 0
    for char in name[: 4 * _LONGEST_NAME]:
        category = unicodedata.category(char)
        marks = marks + 1 if category in _MARKS else 0
        if marks <= _MARKS_IN_A_ROW:
            kept.append("\ufffd" if category in _UNSEEN else char)
    return "".join(kept)[:_LONGEST_NAME].strip()


def width_of(content: str, size: float, *, bold: bool = False) -> float:
    """About how wide a text is."""
    ems = 0.0
    for char in content:
        if char in _EMS:
            ems += _EMS[char]
        elif unicodedata.east_asian_width(char) in "WF":
            ems += _WIDE
        elif unicodedata.category(char) not in _MARKS:
            ems += _OTHER
    return ems * size * (_BOLD if bold else 1)


@lru_cache(maxsize=4096)
def cut(content: str, size: float, width: float, *, bold: bool = False) -> str:
    """As much as fits, with an ellipsis if that is not all."""
    if width_of(content, size, bold=bold) <= width:
        return content
    for end in range(len(content) - 1, 0, -1):
        shorter = content[:end].rstrip() + "\u2026"
        if width_of(shorter, size, bold=bold) <= width:
            return shorter
    return "\u2026"


def over_headline(points: Sequence[int], left: Collection[int]) -> str:
    """The headline of a finished match, with the most points of the seats that did not leave. `points` are by seat."""
    stayed = [number for seat, number in enumerate(points) if seat not in left]
    if not stayed:
        return "The match is over"
    return f"The match is over; most points{' of those who stayed' if left else ''}: {max(stayed)}"


def seat_name(look: Look, seat: int, default: str = "") -> str:
    """The cleaned name of who plays the seat; without one `default`, and without that 'Seat 1'."""
    name = cleaned(look.names[seat]) if seat < len(look.names) else ""
    return name or default or f"Seat {seat + 1}"
