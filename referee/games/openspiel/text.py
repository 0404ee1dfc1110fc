"""OpenSpiel's texts in plain characters: it writes some with card symbols, colours for a terminal, and tabs."""

import re
import unicodedata

_ESCAPES = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_KEPT = re.compile(r"[^ -~\u2500-\u25ff]")
_WORDS = {
    "\u2660": "S",
    "\u2665": "H",
    "\u2666": "D",
    "\u2663": "C",
    "\u2190": "<-",
    "\u2192": "->",
    "\t": "    ",
}
_RANKS = {"ACE": "A", "TEN": "T", "JACK": "J", "KNIGHT": "N", "QUEEN": "Q", "KING": "K"} | {
    word: str(number)
    for number, word in enumerate(("TWO", "THREE", "FOUR", "FIVE", "SIX", "SEVEN", "EIGHT", "NINE"), start=2)
}
_CARD = re.compile(r"PLAYING CARD ([A-Z]+) OF ([A-Z]+)")


def plain(text: str) -> str:
    """The text on its lines, in ASCII and box characters, without blanks at the ends of lines or empty last lines."""
    if text.isascii() and "\x1b" not in text and "\t" not in text and "\r" not in text:
        cleaned = text
    else:
        cleaned = _KEPT.sub(_replaced, _ESCAPES.sub("", text.replace("\n", "\x00"))).replace("\x00", "\n")
    return "\n".join(line.rstrip() for line in cleaned.rstrip().split("\n"))


def _replaced(found: re.Match[str]) -> str:
    character = found[0]
    if character == "\x00":
        return character
    if character in _WORDS:
        return _WORDS[character]
    name = unicodedata.name(character, "")
    if card := _CARD.fullmatch(name):
        return f"{card[2][0]}{_RANKS.get(card[1], '?')}"
    return "#" if name.startswith("PLAYING CARD") else "?"
