"""The README of a game as rules for people: what the game is about, its rules, and what only authors of bots need."""

import re
from dataclasses import dataclass
from typing import Final

_FOR_AUTHORS: Final = frozenset(
    {
        "box",
        "chance",
        "data",
        "decisions",
        "decisions and actions",
        "endless flushes",
        "every match ends",
        "files",
        "how long a match can be",
        "luck and secrets",
        "readings of our own",
        "reconstructions",
        "replacing the data",
        "sources",
    }
)
"""Sections about the program and its sources."""

_ELSEWHERE: Final = frozenset({"cards", "options"})
"""Sections with what the page of a game shows in sections of its own."""

_HEADING = re.compile(r"^(?=#{1,2} )", re.MULTILINE)
_CODE = re.compile(r"^[A-Z]\d{1,2}: | \([A-Z]\d{1,2}\)(?=\.)")
"""The number of a rule in a table of the README."""


@dataclass(frozen=True, slots=True)
class RulesText:
    """Markdown: the first paragraph, the rules of play, and the rest, which is for authors of bots."""

    about: str
    rules: str
    more: str


def rules_text(readme: str) -> RulesText:
    """The parts of the README of a game."""
    parts = [part for part in _HEADING.split(readme) if part.strip()]
    first = parts.pop(0) if parts and not parts[0].startswith("## ") else ""
    _, _, first = first.partition("\n") if first.startswith("# ") else ("", "", first)
    about, _, rest = first.strip().partition("\n\n")
    marks = [text for text in rest.split("\n\n") if text.startswith("A mark says")]
    box = [text for text in rest.split("\n\n") if text.strip() and text not in marks]
    sections: dict[bool, list[str]] = {False: [], True: []}
    for part in parts:
        title = part.partition("\n")[0].lstrip("# ").strip().lower()
        if title not in _ELSEWHERE:
            sections[title in _FOR_AUTHORS].append(part)
    sections[False][:0] = [f"{text.strip()}\n" for text in marks]  # before the rules that bear them
    if box:
        sections[False].append("## Where these rules come from\n\n" + "\n\n".join(box).strip() + "\n")
    return RulesText(" ".join(about.split()), "\n".join(sections[False]), "\n".join(sections[True]))


def option_sentence(doc: str) -> str:
    """What an option does, for people, who count seats from 1.

    "Off:" and "On:" say when that is so; beside a value they read as if they were the value.
    """
    shown = re.sub(r"\bseat (\d+)\b", lambda found: f"seat {int(found[1]) + 1}", _CODE.sub("", doc))
    shown = re.sub(r"^(On|Off): ", lambda found: f"If {found[1].lower()}: ", shown)
    return re.sub(r"; (on|off): ", r"; if \1: ", shown)
