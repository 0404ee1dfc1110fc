"""What becomes of a position when a seat leaves, reckoned a second time from the JSON of a state.

It knows what lies where after the elimination, and what is asked next: the same as before, unless that was asked of the
seat that left or the position says otherwise now. Nothing of the engine is used but its dictionary, the names of the
cards and the names of the questions.
"""

from collections.abc import Sequence
from copy import deepcopy
from typing import Any

NOBODY, OFF_BOARD, NO_SPACE, MANHATTAN = 7, 5, 6, 0
SURE = (
    *("life", "vp", "energy", "where", "berth", "out", "keep", "web", "jinx", "carapace", "trophies", "lost", "claims"),
    *("discards", "superstar", "statue", "web_left", "jinx_left", "carapace_left", "extra", "deaths", "left", "dice"),
    *("units", "tops", "market", "deck", "bonus", "hit", "rerolls", "rides", "force", "roll", "dashed"),
)
"""What is compared where the same question is asked as before the leaving."""


def bits(cards: int) -> set[int]:
    return {place for place in range(cards.bit_length()) if cards >> place & 1}


def left_behind(table: dict[str, Any], seat: int, names: Sequence[str]) -> dict[str, Any]:
    """The table without the monster, before anybody is asked anything."""
    new = deepcopy(table)
    new["left"] |= 1 << seat
    if table["out"][seat]:
        return new
    new["deaths"] = table["deaths"] + 1
    new["out"][seat] = new["deaths"]
    for name in ("life", "vp", "energy", "hit", "absorbed", "keep"):
        new[name][seat] = 0
    new["where"][seat], new["berth"][seat] = OFF_BOARD, NO_SPACE
    for name in ("web", "jinx", "carapace"):
        new[name + "_left"] += table[name][seat]
        new[name][seat] = 0
    new["discards"] |= table["keep"][seat]
    for goal in ("superstar", "statue"):
        if table[goal] == seat:
            new[goal] = NOBODY
    for unit in range(3):
        new["lost"][unit] += table["trophies"][3 * seat + unit]
        new["trophies"][3 * seat + unit] = 0
    new["claims"] = [claim for claim in table["claims"] if claim != seat]
    new["extra"] = [turn for turn in table["extra"] if turn // 2 != seat]
    inside = [other for other, borough in enumerate(new["where"]) if borough == MANHATTAN]
    if len(inside) == 1 and new["berth"][inside[0]] >= 3:
        new["berth"][inside[0]] -= 3
    if rolling(table) and table["active"] != seat:
        new["rerolls"] = rerolls(new, names)
    return new


def rolling(table: dict[str, Any]) -> bool:
    """Whether dice are being rolled: the step that ends the roll (number 6) is still to come."""
    return any(task[0] == 6 for task in table["agenda"])


def owned(table: dict[str, Any], names: Sequence[str], card: str) -> bool:
    """Whether anybody has this card."""
    return any(names[place] == card for keep in table["keep"] for place in bits(keep))


def rerolls(table: dict[str, Any], names: Sequence[str]) -> int:
    """Two, less one for each Web token while Webspinner lies before somebody, less those used."""
    tokens = table["web"][table["active"]] if owned(table, names, "webspinner") else 0
    return max(0, 2 - tokens - table["roll"])


def room(table: dict[str, Any]) -> bool:
    """Whether a monster in its Move step must enter Manhattan."""
    living = table["out"].count(0)
    return table["where"].count(MANHATTAN) < (2 if living >= 5 else 1)


def next_question(table: dict[str, Any], new: dict[str, Any], asked: tuple[int, str], seat: int) -> Any:
    """Who is asked what next, if it can be said without playing on; None if not.

    `table` is the position before seat `seat` leaves, `new` the one after.
    """
    who, kind = asked
    if table["out"][seat]:
        return asked
    if new["out"].count(0) == 1:
        return "over"
    inside = [other for other, borough in enumerate(new["where"]) if borough == MANHATTAN]
    if len(inside) == 2 and new["out"].count(0) < 5:
        return max(inside, key=lambda other: new["berth"][other]), "leave"
    if who == seat or kind == "leave":
        return None
    if kind == "move" and room(new):
        return "entered"
    if kind == "pay":
        return None
    return asked
