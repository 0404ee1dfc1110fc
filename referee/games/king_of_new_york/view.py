"""The position as text, and sentences for actions and events."""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from referee.games.king_of_new_york.actions import KingAction
from referee.games.king_of_new_york.box import default_data, shipped_card_ids
from referee.games.king_of_new_york.events import KingEvent
from referee.games.king_of_new_york.names import (
    BOROUGHS,
    FACES,
    GOALS,
    MANHATTAN,
    MONSTERS,
    NO_CARD,
    NO_TILE,
    NOBODY,
    NOWHERE,
    STACKS_PER_BOROUGH,
    UNIT_KINDS,
    UNITS,
    ZONE_COUNT,
    ZONES,
)
from referee.games.king_of_new_york.observation import Observation
from referee.games.king_of_new_york.sentences import ACTION_SENTENCES, EVENT_SENTENCES
from referee.games.king_of_new_york.view_drawing import action_places, draw, event_places

__all__ = ["action_places", "describe_action", "describe_event", "draw", "event_places", "text_board"]

_WIDTH = 80


@cache
def card_titles() -> dict[str, str]:
    """Titles by card id, from the data shipped."""
    return {card["id"]: card["name"] for card in default_data()["cards"]}


def text_board(o: Observation) -> str:
    """Seats, boroughs, market and dice, in at most 80 columns."""
    lines = [_headline(o), "", *_seat_lines(o), "", *_borough_lines(o), "", *_card_lines(o)]
    lines += _turn_lines(o)
    return "\n".join(line.rstrip() for line in lines)


def _headline(o: Observation) -> str:
    if o.reason:
        winner = "nobody" if o.winner == NOBODY else f"seat {o.winner}, {MONSTERS[o.winner]},"
        return f"King of New York is over: {winner} has won ({words(o.reason)})"
    asked = "chance decides" if o.asked == NOBODY else f"seat {o.asked} is asked: {words(o.question)}"
    return f"King of New York, turn {o.turn} of seat {o.active}; {asked}"


def _seat_lines(o: Observation) -> list[str]:
    lines = ["seat monster      life VP energy  place                tokens, trophies, goals"]
    for seat in range(o.setting.players):
        place = _place(o, seat)
        mark = ">" if seat == o.active else " "
        seats = o.seats
        line = f"{mark}{seat}   {MONSTERS[seat]:<12}{seats.life[seat]:>5}{seats.vp[seat]:>3}{seats.energy[seat]:>7}"
        head = f"{line}   {place:<21}"
        lines += _wrapped(head, _belongings(o, seat), len(head)) or [head]
        lines += _wrapped("      keeps ", [card_titles()[card] for card in cards_of(o.holdings.keep[seat])], 12)
    return lines


def _place(o: Observation, seat: int) -> str:
    where = o.seats.where[seat]
    if o.holdings.out[seat]:
        return f"out (event {o.holdings.out[seat]})"
    if where == NOWHERE:
        return "not placed"
    if where == MANHATTAN:
        berth = o.seats.berth[seat]
        return f"{ZONES[berth % ZONE_COUNT].title()} Manhattan, {'5-6' if berth >= ZONE_COUNT else '2-4'}"
    return words(BOROUGHS[where]).title()


def _belongings(o: Observation, seat: int) -> list[str]:
    held = o.holdings
    found = [
        f"{count} {name}"
        for name, count in (("web", held.web[seat]), ("jinx", held.jinx[seat]), ("carapace", held.carapace[seat]))
        if count
    ]
    for unit, name in enumerate(UNITS):
        if held.trophies[seat * UNIT_KINDS + unit]:
            found.append(f"{held.trophies[seat * UNIT_KINDS + unit]} {name}")
    for goal, holder in zip(GOALS, (o.cards.superstar, o.cards.statue), strict=True):
        if holder == seat:
            found.append(words(goal).title().replace(" Of ", " of "))
    return found


def _borough_lines(o: Observation) -> list[str]:
    lines = ["borough       stacks: top building (dice to destroy it) + tiles below"]
    for borough, name in enumerate(BOROUGHS):
        first = borough * STACKS_PER_BOROUGH
        stacks = "".join(f"{_stack(o, stack):<22}" for stack in range(first, first + STACKS_PER_BOROUGH))
        mark = "*" if o.board.souvenirs >> borough & 1 else " "
        lines.append(f"{words(name).title():<13}{mark}{stacks}")
        units = [_units(o, borough, unit) for unit in range(UNIT_KINDS) if o.board.units[borough * UNIT_KINDS + unit]]
        lines += _wrapped("              Units ", units, 20)
    if o.board.souvenirs:
        lines.append("* has a Souvenir token")
    lines += _wrapped("gives ", _rewards(o), 6)
    unseen = [f"{count} {o.setting.tile_names[tile - 1]}" for tile, count in enumerate(o.board.pool) if count]
    return lines + _wrapped("covered ", unseen, 8)


def _rewards(o: Observation) -> list[str]:
    """What each building gives and becomes, and each Unit with the dice it takes."""
    s = o.setting
    buildings = [
        f"{words(name.removesuffix(f'_{dice}'))}({dice}) {_reward(vp, energy, life)} then {UNITS[unit]}"
        for name, dice, vp, energy, life, unit in zip(
            s.tile_names, s.tile_durability, s.tile_vp, s.tile_energy, s.tile_life, s.tile_units, strict=True
        )
    ]
    units = [
        f"{name}({dice}) {_reward(vp, energy, life)}"
        for name, dice, vp, energy, life in zip(
            UNITS, s.unit_durability, s.unit_vp, s.unit_energy, s.unit_life, strict=True
        )
    ]
    return buildings + units


def _reward(vp: int, energy: int, life: int) -> str:
    parts = [f"{amount} {what}" for amount, what in ((vp, "VP"), (energy, "energy"), (life, "life")) if amount]
    return " ".join(parts) or "nothing"


def _units(o: Observation, borough: int, unit: int) -> str:
    count, fresh = (values[borough * UNIT_KINDS + unit] for values in (o.board.units, o.board.fresh))
    return f"{count} {UNITS[unit]}" + (f" ({fresh} new)" if fresh else "")


def _stack(o: Observation, stack: int) -> str:
    tile = o.board.tops[stack]
    if tile == NO_TILE:
        return f"{stack:>2} -"
    durability = o.setting.tile_durability[tile - 1]
    name = words(o.setting.tile_names[tile - 1].removesuffix(f"_{durability}"))[:11]
    return f"{stack:>2} {name}({durability})+{o.board.covered[stack]}"


def _card_lines(o: Observation) -> list[str]:
    cards = o.cards
    market = [
        f"{card_titles()[shipped_card_ids()[card]]} ({o.setting.card_costs[card]})" if card != NO_CARD else "-"
        for card in cards.market
    ]
    lines = _wrapped("market ", market, 7)
    lines.append(f"deck {cards.deck.bit_count()} cards, discards {cards.discards.bit_count()}")
    lines.append(f"supply {cards.web_left} web, {cards.jinx_left} jinx, {cards.carapace_left} carapace")
    lines += _wrapped("discards ", [card_titles()[card] for card in cards_of(cards.discards)], 9)
    if cards.claims:
        lines.append("the next Keep card goes to seat " + ", ".join(map(str, cards.claims)))
    if cards.extra:
        lines.append("extra turns: seat " + ", ".join(str(turn >> 1) for turn in cards.extra))
    return lines


def _turn_lines(o: Observation) -> list[str]:
    now = o.turn_state
    lines = []
    if any(now.dice) or any(now.bonus):
        lines += [f"dice: {counted(now.dice)}", f"rerolls left {now.rerolls}"]
    if any(now.bonus):
        lines.append(f"added: {counted(now.bonus)}")
    if now.force:
        lines.append(f"Destruction left to use: {now.force}" + (" (Units only)" if now.units_only else ""))
    if any(now.hit):
        hits = [f"seat {seat} {points}" for seat, points in enumerate(now.hit) if points]
        lines.append("damage about to land: " + ", ".join(hits))
    if now.rides:
        lines.append(f"Subway moves left: {now.rides}")
    return lines


def _wrapped(head: str, items: Sequence[str], indent: int) -> list[str]:
    """Items with commas, broken before the right edge; nothing for no items."""
    lines: list[str] = []
    line = head
    for place, item in enumerate(items):
        part = item + ("," if place + 1 < len(items) else "")
        if len(line) + len(part) > _WIDTH:
            lines.append(line)
            line = " " * indent
        line += part + " "
    return [*lines, line] if items else []


def cards_of(mask: int) -> list[str]:
    """The ids of a set of cards."""
    return [card for number, card in enumerate(shipped_card_ids()) if mask >> number & 1]


def words(name: str) -> str:
    """An identifier as words."""
    return name.replace("_", " ")


def counted(counts: Sequence[int]) -> str:
    """Faces with their counts."""
    return ", ".join(f"{count} {face}" for face, count in zip(FACES, counts, strict=True) if count) or "none"


def describe_action(action: KingAction) -> str:
    """The action in one sentence."""
    return _sentence(ACTION_SENTENCES[action.KIND], action)


def describe_event(payload: KingEvent) -> str:
    """The event in one sentence."""
    return _sentence(EVENT_SENTENCES[payload.KIND], payload)


def _sentence(template: str | Callable[[Any], str], value: Any) -> str:
    if not isinstance(template, str):
        return template(value)
    return template.format(**{name: _shown(name, getattr(value, name)) for name in type(value).__dataclass_fields__})


def _shown(name: str, part: Any) -> str:
    if name == "card":
        return card_titles()[part]
    if name == "counts":
        return counted(part)
    if name in ("borough", "left"):
        return words(part).title()
    if name == "cause":
        return card_titles().get(part, words(part))
    return words(str(part)) if isinstance(part, str) else str(part)
