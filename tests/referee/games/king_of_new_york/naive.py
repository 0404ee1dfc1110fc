"""Damage, and what a leaving seat changes, worked out a second time by other means: from the JSON of a state.

Nothing of the engine is used but the dictionary of a state, the names of cards and questions, and the events of a
resolution. What is asked after a seat has left is the same as before, unless that seat was asked or the position says
otherwise now.
"""

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

UNIT_KINDS = 3
NOBODY, OFF_BOARD, NO_SPACE, MANHATTAN = 7, 5, 6, 0
SURE = (
    *("life", "vp", "energy", "where", "berth", "out", "keep", "web", "jinx", "carapace", "trophies", "lost", "claims"),
    *("discards", "superstar", "statue", "web_left", "jinx_left", "carapace_left", "extra", "deaths", "left", "dice"),
    *("units", "tops", "market", "deck", "bonus", "hit", "rerolls", "rides", "force", "roll", "dashed"),
)
"""What is compared where the same question is asked as before the leaving."""

# Damage


@dataclass(frozen=True)
class Monster:
    """One seat as the reckoning needs it."""

    seat: int
    life: int
    vp: int
    energy: int
    borough: int
    cards: frozenset[str]


def monsters(table: Mapping[str, Any], names: Sequence[str]) -> dict[int, Monster]:
    """The living, by seat."""
    found = {}
    for seat, event in enumerate(table["out"]):
        if event == 0:
            owned = bin(table["keep"][seat])[:1:-1]
            found[seat] = Monster(
                seat,
                table["life"][seat],
                table["vp"][seat],
                table["energy"][seat],
                table["where"][seat],
                frozenset(names[place] for place, bit in enumerate(owned) if bit == "1"),
            )
    return found


def claw_hits(table: Mapping[str, Any], names: Sequence[str], attacker: int, spent: int) -> dict[int, set[int]]:
    """Per monster attacked the damage it may take: two values where Antimatter Pellets let it roll a die."""
    alive = monsters(table, names)
    me = alive[attacker]
    on_dice, added = table["dice"][1], table["bonus"][1]
    strength = on_dice + added - spent
    if strength < 1 or (on_dice == 0 and not table["options"]["added_claws_attack_alone"]):
        return {}
    in_manhattan = {seat for seat, monster in alive.items() if monster.borough == 0}
    attacked = set(alive) - in_manhattan if attacker in in_manhattan else set(in_manhattan)
    if "fireball" in me.cards and (attacked or table["options"]["fireball_when_manhattan_empty"]):
        attacked |= {seat for seat, monster in alive.items() if monster.borough == me.borough}
    hits = {}
    for seat in attacked - {attacker}:
        points = strength
        if "tesla_antennae" in me.cards and alive[seat].life > me.life:
            points += 1
        if "shadow_double" in me.cards:
            points += points
        hits[seat] = {points, points + points} if "antimatter_pellets" in me.cards else {points}
    return hits


def ouch_hits(table: Mapping[str, Any], names: Sequence[str], roller: int) -> dict[int, set[int]]:
    """Per monster hurt by the Units the damage it takes."""
    alive = monsters(table, names)
    count = table["dice"][5] + table["bonus"][5]
    hits = {}
    for seat, monster in alive.items():
        meant = seat == roller or count >= 3 or (count == 2 and monster.borough == alive[roller].borough)
        if not meant:
            continue
        units = []
        for place, amount in enumerate(table["units"]):
            if place // UNIT_KINDS == monster.borough:
                units += [place % UNIT_KINDS] * amount
        points = len(units)
        if "bulletproof" in monster.cards and (seat == roller or table["options"]["bulletproof_any_ouch"]):
            points -= 1
        if points > 0:
            hits[seat] = {points}
    return hits


def check(
    table: Mapping[str, Any],
    names: Sequence[str],
    seat: int,
    expected: Mapping[int, set[int]],
    payloads: Sequence[Any],
    claws: bool,
) -> None:
    """Compare the events of one resolution with what was expected of it."""
    alive = monsters(table, names)
    hurt = {event.seat: event for event in payloads if event.KIND == "hurt"}
    assert set(hurt) == set(expected), (hurt, expected)
    for victim, event in hurt.items():
        assert event.amount in expected[victim], (event, expected)
        assert 0 <= event.absorbed <= event.amount
    shed = {event.seat for event in payloads if event.KIND == "card_lost" and event.card == "carapace"}
    dead = set()
    for victim, event in hurt.items():
        if victim not in shed and alive[victim].life <= event.amount - event.absorbed:
            dead.add(victim)
    fallen = {event.seat for event in payloads if event.KIND == "eliminated"}
    assert dead <= fallen
    assert fallen - dead <= shed
    first = table["active"]
    clockwise = sorted(hurt, key=lambda victim: (victim - first) % len(table["out"]))
    assert [event.seat for event in payloads if event.KIND == "hurt"] == clockwise
    if claws:
        check_consequences(table, alive, seat, [victim for victim in clockwise if victim not in fallen], payloads)


def check_consequences(
    table: Mapping[str, Any],
    alive: Mapping[int, Monster],
    attacker: int,
    survivors: Sequence[int],
    payloads: Sequence[Any],
) -> None:
    """Tokens, lost VP and drained energy of the survivors of an attack."""
    mine = alive[attacker].cards
    for card, token, supply in (("webspinner", "web", "web_left"), ("curse", "jinx", "jinx_left")):
        changes = [event for event in payloads if event.KIND == "tokens_changed" and event.token == token]
        given = [event.seat for event in changes if event.amount > 0]
        # Tokens that claws of this very roll have taken off went back to the supply first.
        left = table[supply] - sum(event.amount for event in changes[:1] if event.amount < 0 and event.seat == attacker)
        assert given == (list(survivors)[:left] if card in mine else [])
    lost = [event.seat for event in payloads if event.KIND == "gained" and event.cause == "trash_thrower"]
    assert lost == ([seat for seat in survivors if alive[seat].vp > 0] if "trash_thrower" in mine else [])
    drained = {event.seat: event.amount for event in payloads if event.KIND == "gained" and event.cause == "drain"}
    drainer = next((seat for seat in survivors if "drain" in alive[seat].cards), None)
    amount = 0 if drainer is None else min(2, alive[attacker].energy)
    assert drained == ({drainer: amount, attacker: -amount} if amount else {})
    burnt = [event.seat for event in payloads if event.KIND == "gained" and event.cause == "phoenix_blood"]
    assert burnt == [seat for seat in survivors if "phoenix_blood" in alive[seat].cards]


# Leaving


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
