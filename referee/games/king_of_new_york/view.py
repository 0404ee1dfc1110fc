"""The position as text, and actions and events as sentences."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import Any, TypeAlias

from referee.games.api import Selection, seat_name
from referee.games.king_of_new_york.actions import DestroyBuilding, KingAction, Reroll
from referee.games.king_of_new_york.constants import (
    BOROUGHS,
    FACES,
    GOALS,
    MONSTERS,
    NO_CARD,
    NO_SEAT,
    NO_TILE,
    QUESTION_NAMES,
    STACKS_PER_BOROUGH,
    UNIT_KINDS,
    UNITS,
)
from referee.games.king_of_new_york.drawing import (
    action_places,
    begun,
    cards_of,
    draw,
    ending_words,
    event_places,
    place_name,
    printed_cards,
    question_words,
    seat_sign,
    title,
    turn_words,
)
from referee.games.king_of_new_york.events import KingEvent
from referee.games.king_of_new_york.observation import Observation, Setting

__all__ = [
    "action_places",
    "action_sentence",
    "dealt",
    "draw",
    "event_places",
    "event_sentence",
    "points",
    "questions",
    "seat_sign",
    "selection",
    "text_board",
    "turn_begins",
]

Sentence: TypeAlias = str | Callable[["Teller", Any], str]
"""A template over the fields of an action or event, or a function where the wording depends on their values."""

_WIDTH = 80


def selection(o: Observation, legal: Sequence[KingAction]) -> Selection | None:
    """The dice to roll again, chosen one by one; see `Selection`."""
    rolls = {index: action.counts for index, action in enumerate(legal) if isinstance(action, Reroll)}
    if len(rolls) < 2:
        return None
    places = tuple(f"die:{face}" for face in FACES)
    return Selection("Dice to keep", "Roll again", FACES, places, o.turn_state.dice, rolls)


def text_board(o: Observation, names: Sequence[str] = ()) -> str:
    """Seats, boroughs, market and dice, in at most 80 columns."""
    lines = [*_headline(o, names), "", *_seat_lines(o, names), "", *_borough_lines(o), "", *_card_lines(o, names)]
    lines += _turn_lines(o, names)
    return "\n".join(line.rstrip() for line in lines)


def _headline(o: Observation, names: Sequence[str]) -> list[str]:
    if o.reason:
        who = f"{seat_name(names, o.winner_seat)}, {MONSTERS[o.winner_seat]}," if o.winner_seat != NO_SEAT else "nobody"
        line = f"King of New York is over: {who} has won ({ending_words(o.reason)})"
    else:
        asked = (
            "chance decides"
            if o.asked_seat == NO_SEAT
            else f"{seat_name(names, o.asked_seat)} is asked: {question_words(o.question)}"
        )
        line = f"King of New York, {turn_words(o, seat_name(names, o.active_seat))}; {asked}"
    return wrap(line, _WIDTH, subsequent_indent="  ", break_on_hyphens=False)


def _seat_lines(o: Observation, names: Sequence[str]) -> list[str]:
    """With `names` they stand where else the monsters do, which differ in name only."""
    lines = [f"seat {'name' if names else 'monster':<12} life VP energy  place                tokens, trophies, goals"]
    for seat in range(o.setting.players):
        place = f"out (event {o.holdings.out[seat]})" if o.holdings.out[seat] else place_name(o, seat)
        mark = ">" if seat == o.active_seat and begun(o) else " "
        who = names[seat][:12] if seat < len(names) else MONSTERS[seat]
        seats = o.seats
        line = f"{mark}{seat}   {who:<12}{seats.life[seat]:>5}{seats.vp[seat]:>3}{seats.energy[seat]:>7}"
        head = f"{line}   {place:<21}"
        lines += _wrapped(head, _belongings(o, seat), len(head)) or [head]
        lines += _wrapped("      keeps ", _card_names(o.holdings.keep_cards[seat]), 12)
    return lines


def _card_names(cards: int) -> list[str]:
    return [printed_cards()[card]["name"] for card in cards_of(cards)]


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
    for goal, holder in zip(GOALS, (o.cards.superstar_seat, o.cards.statue_seat), strict=True):
        if holder == seat:
            found.append(title(goal))
    return found


def _borough_lines(o: Observation) -> list[str]:
    lines = ["borough       stacks: top building (dice to destroy it) + tiles below"]
    for borough, name in enumerate(BOROUGHS):
        first = borough * STACKS_PER_BOROUGH
        stacks = "".join(f"{_stack(o, stack):<22}" for stack in range(first, first + STACKS_PER_BOROUGH))
        mark = "*" if o.board.souvenirs >> borough & 1 else " "
        lines.append(f"{title(name):<13}{mark}{stacks}")
        units = [_units(o, borough, unit) for unit in range(UNIT_KINDS) if o.board.units[borough * UNIT_KINDS + unit]]
        lines += _wrapped("              Units ", units, 20)
    if o.board.souvenirs:
        lines.append("* has a Souvenir token")
    lines += _wrapped("gives ", _rewards(o), 6)
    unseen = [
        f"{count} {_building(o.setting.tile_names[tile - 1], o.setting.tile_durability[tile - 1])}"
        f"({o.setting.tile_durability[tile - 1]})"
        for tile, count in enumerate(o.board.unseen)
        if count
    ]
    return lines + _wrapped("covered ", unseen, 8)


def _rewards(o: Observation) -> list[str]:
    """What each building gives and becomes, and each Unit with the dice it takes."""
    s = o.setting
    buildings = [
        f"{_building(name, dice)}({dice}) {_reward(vp, energy, life)} then {UNITS[unit]}"
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
    count, fresh = (values[borough * UNIT_KINDS + unit] for values in (o.board.units, o.board.fresh_units))
    return f"{count} {UNITS[unit]}" + (f" ({fresh} new)" if fresh else "")


def _building(name: str, durability: int) -> str:
    """A kind of building without the dice that destroy it, which its id ends with."""
    return _words(name.removesuffix(f"_{durability}"))


def _stack(o: Observation, stack: int) -> str:
    tile = o.board.tops[stack]
    if tile == NO_TILE:
        return f"{stack:>2} -"
    durability = o.setting.tile_durability[tile - 1]
    name = _building(o.setting.tile_names[tile - 1], durability)[:11]
    return f"{stack:>2} {name}({durability})+{o.board.covered[stack]}"


def _card_lines(o: Observation, names: Sequence[str]) -> list[str]:
    cards = o.cards
    market = [
        "-" if card == NO_CARD else f"{_card_names(1 << card)[0]} ({o.setting.card_costs[card]})"
        for card in cards.market
    ]
    lines = _wrapped("market ", market, 7)
    lines.append(f"deck {cards.deck.bit_count()} cards, discards {cards.discards.bit_count()}")
    lines.append(f"supply {cards.web_left} web, {cards.jinx_left} jinx, {cards.carapace_left} carapace")
    lines += _wrapped("discards ", _card_names(cards.discards), 9)
    if cards.claims:
        lines.append("the next Keep card goes to " + ", ".join(seat_name(names, seat) for seat in cards.claims))
    if cards.extra_turns:
        lines.append("extra turns: " + ", ".join(seat_name(names, turn >> 1) for turn in cards.extra_turns))
    return lines


def _turn_lines(o: Observation, names: Sequence[str]) -> list[str]:
    now = o.turn_state
    lines = []
    if any(now.dice) or any(now.bonus):
        lines += [f"dice: {_counted(now.dice)}", f"rerolls left {now.rerolls}"]
    if any(now.bonus):
        lines.append(f"added: {_counted(now.bonus)}")
    if now.force:
        lines.append(f"Destruction left to use: {now.force}" + (" (Units only)" if now.units_only else ""))
    if any(now.hit):
        hits = [f"{seat_name(names, seat)} {points}" for seat, points in enumerate(now.hit) if points]
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


def _words(name: str) -> str:
    """An identifier as words."""
    return name.replace("_", " ")


def _counted(counts: Sequence[int]) -> str:
    """Faces with their counts."""
    return ", ".join(f"{count} {face}" for face, count in zip(FACES, counts, strict=True) if count) or "none"


# Sentences


@dataclass(frozen=True, slots=True)
class Teller:
    """What a sentence is told with, beside the action or event itself."""

    setting: Setting
    names: Sequence[str]

    def who(self, seat: int) -> str:
        return seat_name(self.names, seat)

    def tile(self, name: str) -> str:
        """A building with the dice that destroy it."""
        names = self.setting.tile_names
        durability = self.setting.tile_durability[names.index(name)] if name in names else 0
        return f"{_building(name, durability)} ({durability})"

    def shown(self, name: str, part: Any) -> str:
        """The value of a field in a sentence."""
        if name == "seat":
            return self.who(part)
        if name == "counts":
            return _counted(part)
        if name in ("borough", "left"):
            return title(part)
        if name == "tile":
            return self.tile(part)
        if name == "stack":
            return f"{_ORDINALS[part % STACKS_PER_BOROUGH]} stack of {title(BOROUGHS[part // STACKS_PER_BOROUGH])}"
        return _cause(part) if isinstance(part, str) else str(part)


_ORDINALS = ("first", "second", "third")


def action_sentence(action: KingAction, observation: Observation, names: Sequence[str] = ()) -> str:
    """The action as an order."""
    teller = Teller(observation.setting, names)
    if isinstance(action, DestroyBuilding):
        top = observation.board.tops[action.stack]
        what = f"the {teller.tile(observation.setting.tile_names[top - 1])}" if top != NO_TILE else "the building"
        return f"Destroy {what} on the {teller.shown('stack', action.stack)}"
    return _sentence(ACTION_SENTENCES[action.KIND], action, teller)


def event_sentence(payload: KingEvent, observation: Observation, names: Sequence[str] = ()) -> str:
    """The event as a sentence."""
    return _sentence(EVENT_SENTENCES[payload.KIND], payload, Teller(observation.setting, names))


def points(observation: Observation) -> tuple[int, ...]:
    """Per seat its victory points."""
    return observation.seats.vp


dealt = {"tile_shown": "building", "card_shown": "market card"}
"""What chance deals in numbers, by the KIND of the event."""

turn_begins = "turn_began"
"""The KIND of the event with which a turn begins."""

questions = {kind: question_words(kind) for kind in QUESTION_NAMES}
"""What a decision asks, by its kind."""


def _sentence(template: Sentence, value: Any, teller: Teller) -> str:
    if not isinstance(template, str):
        return template(teller, value)
    return template.format(
        **{name: teller.shown(name, getattr(value, name)) for name in type(value).__dataclass_fields__}
    )


def _cause(cause: str) -> str:
    """A card or a goal by its name, anything else in words."""
    if cause in printed_cards():
        return str(printed_cards()[cause]["name"])
    return title(cause) if cause in GOALS else _words(cause)


def _hail(teller: Teller, action: Any) -> str:
    return "Add the Destruction of Hailing Cabs, for Units only" if action.use else "Do not hail cabs"


def _absorb(teller: Teller, action: Any) -> str:
    return f"Pay for {action.energy} of the damage with energy" if action.energy else "Take all the damage"


def _turn_began(teller: Teller, event: Any) -> str:
    return f"{teller.who(event.seat)} begins {'an extra' if event.extra else 'its'} turn"


def _gained(teller: Teller, event: Any) -> str:
    verb = "gains" if event.amount > 0 else "loses"
    what = "VP" if event.what == "vp" else event.what
    return f"{teller.who(event.seat)} {verb} {abs(event.amount)} {what} ({_cause(event.cause)})"


def _hurt(teller: Teller, event: Any) -> str:
    paid = f", {event.absorbed} of it paid with energy" if event.absorbed else ""
    return f"{teller.who(event.seat)} takes {event.amount} damage ({_cause(event.cause)}){paid}"


def _tokens(teller: Teller, event: Any) -> str:
    count = abs(event.amount)
    tokens = f"{count} {event.token} token{'' if count == 1 else 's'}"
    return f"{teller.who(event.seat)} {'gets' if event.amount > 0 else 'loses'} {tokens}"


def _moved(teller: Teller, event: Any) -> str:
    zone = ("lower ", "midtown ", "upper ")[event.space % 3] if event.borough == "manhattan" else ""
    place = title(zone + event.borough)
    return f"{teller.who(event.seat)} {_MOVE_VERBS[event.reason]} {place}"


_MOVE_VERBS = {
    "move": "moves to",
    "forced": "has to move to",
    "dash": "dashes to",
    "ride": "rides the subway to",
    "flee": "flees to",
    "leave": "has to leave Manhattan for",
    "advance": "advances to",
    "turn_end": "ends its turn in",
}


def _bought(teller: Teller, event: Any) -> str:
    card = _cause(event.card)
    if event.origin == "free":
        return f"{teller.who(event.seat)} gets {card} for free"
    source = " out of the discards" if event.origin == "discards" else ""
    return f"{teller.who(event.seat)} buys {card} for {event.cost} energy{source}"


def _goal_moved(teller: Teller, event: Any) -> str:
    goal = "Superstar" if event.goal == "superstar" else "the Statue of Liberty"
    if event.seat < 0:
        return f"{goal} goes back to the table"
    source = "" if event.previous < 0 else f" from {teller.who(event.previous)}"
    return f"{teller.who(event.seat)} takes {goal}{source}"


def _finished(teller: Teller, event: Any) -> str:
    winner = "nobody" if event.winner < 0 else teller.who(event.winner)
    return f"the match is over: {winner} wins ({ending_words(event.reason)})"


def _resolved(teller: Teller, event: Any) -> str:
    removed = f", {event.removed} of them to take off tokens" if event.removed else ""
    return f"{teller.who(event.seat)} resolves {event.amount} {event.face}{removed}"


ACTION_SENTENCES: Mapping[str, Sentence] = {
    "pass": "Go on",
    "keep": "Keep all dice",
    "stay": "Stay",
    "place": "Start in {borough}",
    "reroll": "Roll again: {counts}",
    "convert": "Make the dice show {energy} energy, {attack} attack, {heart} heart",
    "swap": "Give up a celebrity die and turn a die from {die} to {to}",
    "give_up": "Give up a celebrity die",
    "hail": _hail,
    "resolve": "Resolve {face}",
    "remove": "Resolve {face}, taking off {tokens} tokens",
    "redirect": "Use the destruction in {borough}",
    "destroy_unit": "Destroy a {unit} in {borough}",
    "move": "Move to {borough}",
    "dash": "Move to {borough} before rolling",
    "ride": "Ride the subway to {borough}",
    "flee": "Flee to {borough}",
    "leave": "Leave Manhattan for {borough}",
    "push": "Push a {unit} into {borough}",
    "buy": "Buy {card}",
    "scavenge": "Buy {card} out of the discard pile",
    "sweep": "Sweep the market",
    "discard": "Discard {card}",
    "photo": "Take a photo of {seat}",
    "trade": "Turn {energy} of the lost VP into energy and heal with the others",
    "absorb": _absorb,
    "pay": "Pay {life} of the cost with life",
    "shed": "Discard Carapace and heal with its tokens",
}
EVENT_SENTENCES: Mapping[str, Sentence] = {
    "tile_shown": "a {tile} comes up on the {stack}",
    "card_shown": "{card} comes into the market",
    "reshuffled": "the discard pile of {cards} cards becomes the deck",
    "start_rolled": "{seat} rolls {attacks} attack for the first turn",
    "start_player": "{seat} has the first turn",
    "turn_began": _turn_began,
    "rerolled": "{seat} rerolls {counts}",
    "rolled": "{seat} rolls {counts}",
    "converted": "{seat} turns dice to {counts}",
    "added": "{seat} adds {amount} {face} ({cause})",
    "resolved": _resolved,
    "gained": _gained,
    "hurt": _hurt,
    "defence_rolled": "{seat} rolls {face} against Antimatter Pellets",
    "tokens_changed": _tokens,
    "souvenir_placed": "{seat} puts a Souvenir token into {borough}",
    "building_destroyed": "{seat} destroys the {tile} on the {stack}",
    "unit_destroyed": "{seat} destroys a {unit} in {borough}",
    "unit_pushed": "{seat} pushes a {unit} from {left} into {borough}",
    "placed": "{seat} starts in {borough}",
    "moved": _moved,
    "shifted": "{seat} moves over to the track 2-4",
    "stayed": "{seat} does not flee",
    "bought": _bought,
    "swept": "{seat} sweeps the market",
    "card_lost": "{seat} loses {card}",
    "extra_turn": "{seat} will have an extra turn ({cause})",
    "goal_moved": _goal_moved,
    "eliminated": "{seat} is out ({cause})",
    "withdrew": "{seat} leaves the match",
    "finished": _finished,
}
