"""The board as SVG: a headline, the boroughs, the dice, the cards, the seats."""

from collections.abc import Sequence
from typing import Any

from referee.games.api import Action
from referee.games.drawing.look import Look
from referee.games.drawing.parts import WIDTH, moved, picture, text
from referee.games.drawing.spots import spots_of
from referee.games.drawing.text import seat_name
from referee.games.king_of_new_york import actions as act
from referee.games.king_of_new_york import events as ev
from referee.games.king_of_new_york.names import (
    BOROUGHS,
    FACES,
    MANHATTAN,
    MONSTERS,
    NOBODY,
    NOWHERE,
    ZONE_COUNT,
    ZONES,
)
from referee.games.king_of_new_york.observation import Observation
from referee.games.king_of_new_york.view_boroughs import MAP_HEIGHT, borough_parts, title
from referee.games.king_of_new_york.view_icons import monster
from referee.games.king_of_new_york.view_table import CARDS_HEIGHT, DICE_HEIGHT, card_parts, dice_parts, seat_parts

_HEAD, _GAP = 28, 3
_QUESTIONS = {
    "place": "place the monster",
    "before_roll": "roll, or act before",
    "dice": "keep or reroll",
    "convert": "turn dice by cards?",
    "hail": "hail cabs?",
    "resolve": "resolve a face",
    "destroy": "destroy what?",
    "move": "move?",
    "buy": "buy?",
    "flee": "flee Manhattan?",
    "leave": "leave Manhattan",
    "respond": "respond to the damage",
    "pay": "how to pay?",
    "push": "push a Unit?",
    "discard": "discard a card",
    "photo": "name a monster",
    "trade": "points into energy?",
}


def draw(observation: Observation, look: Look, revealed: Sequence[Any] = ()) -> str:
    """See `Drawing.draw`. The game has no secrets, so `revealed` adds nothing."""
    o = observation
    spots = spots_of((action_places(o, action) for action in look.legal), look)
    dice = _HEAD + MAP_HEIGHT
    cards = dice + DICE_HEIGHT
    y = cards + CARDS_HEIGHT
    seats = []
    for seat in range(o.setting.players):
        content, height = seat_parts(o, seat, look, spots)
        seats.append(moved(0, y, content))
        y += height + _GAP
    headline = _headline(o, look)
    sign = o.asked if o.asked != NOBODY else o.active if not o.reason else o.winner
    return picture(
        WIDTH,
        y + 1,
        title=f"King of New York. {headline}",
        description=_description(o, look),
        look=look,
        spots=spots,
        content=[
            monster(18, 15, sign, 9) if sign != NOBODY else "",
            text(36, 18, headline, size=11.5, css="ink b", width=WIDTH - 40),
            moved(0, _HEAD, "".join(borough_parts(o, spots))),
            moved(0, dice, "".join(dice_parts(o, _notes(o), spots))),
            moved(0, cards, "".join(card_parts(o, spots))),
            *seats,
        ],
    )


def _headline(o: Observation, look: Look) -> str:
    if o.reason:
        won = "nobody has won" if o.winner == NOBODY else f"{seat_name(look, o.winner, MONSTERS[o.winner])} has won"
        return f"The match is over: {won} ({o.reason.replace('_', ' ')})"
    turn = f"turn {o.turn} of seat {o.active}"
    if o.asked == NOBODY:
        return f"{turn}; chance decides"
    question = _QUESTIONS.get(o.question, o.question.replace("_", " "))
    return f"{seat_name(look, o.asked, MONSTERS[o.asked])}: {question}; {turn}"


def _notes(o: Observation) -> list[str]:
    """What the roll and the turn are about."""
    now = o.turn_state
    notes = [f"rerolls left {now.rerolls}" if any(now.dice) or any(now.bonus) else "no dice to resolve"]
    if now.force:
        notes.append(f"destruction left {now.force}" + (" (Units only)" if now.units_only else ""))
    if now.rides:
        notes.append(f"Subway moves left {now.rides}")
    if o.cards.claims:
        notes.append(f"next Keep card: seat {', '.join(map(str, o.cards.claims))}")
    if o.cards.extra:
        notes.append(f"extra turns: seat {', '.join(str(turn >> 1) for turn in o.cards.extra)}")
    return notes


def place_words(o: Observation, seat: int) -> str:
    """Where a monster is."""
    where = o.seats.where[seat]
    if o.holdings.out[seat]:
        return "out"
    if where == NOWHERE:
        return "not placed"
    if where == MANHATTAN:
        berth = o.seats.berth[seat]
        return f"{ZONES[berth % ZONE_COUNT].title()} Manhattan, {'5-6' if berth >= ZONE_COUNT else '2-4'}"
    return title(BOROUGHS[where])


def _description(o: Observation, look: Look) -> str:
    seats = o.seats
    return " ".join(
        f"Seat {seat}, {seat_name(look, seat, MONSTERS[seat])}: {seats.life[seat]} life, {seats.vp[seat]} points, "
        f"{seats.energy[seat]} energy, {place_words(o, seat)}."
        for seat in range(o.setting.players)
    )


def action_places(observation: Observation, action: Action) -> tuple[str, ...]:
    """See `Drawing.action_places`."""
    o = observation
    match action:
        case (
            act.Place(borough)
            | act.Move(borough)
            | act.Dash(borough)
            | act.Ride(borough)
            | act.Flee(borough)
            | act.Leave(borough)
            | act.Redirect(borough)
        ):
            return (f"borough:{borough}",)
        case act.Push(unit, borough):
            return (f"unit:{BOROUGHS[o.seats.where[o.asked]]}-{unit}", f"borough:{borough}")
        case act.DestroyBuilding(stack):
            return (f"stack:{stack}",)
        case act.DestroyUnit(borough, unit):
            return (f"unit:{borough}-{unit}",)
        case act.Resolve(face) | act.Remove(face):
            return (f"die:{face}",)
        case act.Swap(die, _):
            return (f"die:{die}",)
        case act.Reroll(counts):
            return tuple(f"die:{face}" for face, count in zip(FACES, counts, strict=True) if count)
        case act.Buy(card):
            return (f"card:{card}",)
        case act.Scavenge():
            return ("discards",)
        case act.Sweep():
            return ("sweep",)
        case act.Photo(seat):
            return (f"seat:{seat}",)
        case act.Discard() | act.Shed():
            return (f"seat:{o.asked}",)
    return ()


def event_places(payload: Any) -> tuple[str, ...]:
    """See `Drawing.event_places`."""
    match payload:
        case ev.TileShown(stack) | ev.BuildingDestroyed(_, stack):
            return (f"stack:{stack}",)
        case ev.CardShown(_, card):
            return (f"card:{card}",)
        case ev.Added(_, face) | ev.Resolved(_, face):
            return (f"die:{face}",)
        case ev.UnitDestroyed(_, borough, unit):
            return (f"unit:{borough}-{unit}",)
        case ev.UnitPushed(_, unit, left, borough):
            return (f"unit:{left}-{unit}", f"unit:{borough}-{unit}")
        case ev.Placed(_, borough) | ev.Moved(_, borough) | ev.SouvenirPlaced(_, borough):
            return (f"borough:{borough}",)
        case ev.Gained(seat) | ev.Hurt(seat) | ev.Eliminated(seat) | ev.Bought(seat) | ev.TokensChanged(seat):
            return (f"seat:{seat}",)
    return ()
