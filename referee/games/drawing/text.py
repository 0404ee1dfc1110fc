"""Text in a drawing: what comes from outside is cleaned, cut and escaped."""

import unicodedata
from functools import lru_cache

from referee.games.drawing.look import Look

_UNSEEN = frozenset(("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"))
_MARKS = frozenset(("Mn", "Me", "Mc"))
_MARKS_IN_A_ROW = 2
_LONGEST_NAME = 64
_NARROW = frozenset("fijlrtI .,:;!|'()[]-/")
_BROAD = frozenset("mwMW@%&OQG")
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


def width_of(content: str, size: float) -> float:
    """About how wide a text is in a common sans-serif font, rather too much than too little."""
    ems = 0.0
    for char in content:
        if char in _NARROW:
            ems += 0.36
        elif char in _BROAD:
            ems += 0.9
        elif char.isupper():
            ems += 0.72
        elif char.isascii():
            ems += 0.58
        elif unicodedata.east_asian_width(char) in "WF":
            ems += 1.05
        elif unicodedata.category(char) not in _MARKS:
            ems += 0.8
    return ems * size


@lru_cache(maxsize=4096)
def cut(content: str, size: float, width: float) -> str:
    """As much as fits, with an ellipsis if that is not all."""
    if width_of(content, size) <= width:
        return content
    for end in range(len(content) - 1, 0, -1):
        shorter = content[:end].rstrip() + "\u2026"
        if width_of(shorter, size) <= width:
            return shorter
    return "\u2026"


def seat_name(look: Look, seat: int, default: str = "") -> str:
    """The cleaned name of who plays the seat; without one `default`, and without that 'Seat 0'."""
    name = cleaned(look.names[seat]) if seat < len(look.names) else ""
    return name or default or f"Seat {seat}"
