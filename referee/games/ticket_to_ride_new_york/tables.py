"""Everything that stays the same during a match, worked out once: board, actions, their events, look-up tables."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeAlias

from referee.games.api import DATA_OPTION, Decision, Event, PlayersError
from referee.games.ticket_to_ride_new_york import events as ev
from referee.games.ticket_to_ride_new_york.actions import (
    CARD_INDEX,
    CARDS,
    COLORS,
    TAXI,
    Claim,
    Keep,
    Take,
    ticket_id,
)
from referee.games.ticket_to_ride_new_york.box import check_data, default_data
from referee.games.ticket_to_ride_new_york.options import OPTIONS, Rules, read_rules

PLAYER_COUNTS = (2, 3, 4)
START_HAND = 2
TICKETS_OFFERED = 2
ROW = 5
FLUSH_TAXIS = 3
"""A full row with this many taxis is flushed."""
LAST_TAXIS = 2
"""A seat with this many taxis or fewer at the end of its turn brings the last turns."""

GRAY = -1
NO_TWIN = -1

PaymentTable: TypeAlias = tuple[tuple[tuple[Claim, ...], ...], ...]
"""Indexed by cards of the colour and by taxi cards in hand."""


@dataclass(frozen=True, slots=True)
class Route:
    """`a` and `b` are positions of locations; `color` a position in CARDS or GRAY; `twin` the other half or NO_TWIN."""

    a: int
    b: int
    length: int
    color: int
    twin: int
    points: int


@dataclass(frozen=True, slots=True)
class Ticket:
    """`a` and `b` are positions of locations."""

    a: int
    b: int
    points: int


@dataclass(frozen=True, slots=True)
class ClaimPlan:
    """What a claim costs: `paid` cards of kind `color` and `taxis` taxi cards. `events` are by seat."""

    route: int
    color: int
    paid: int
    taxis: int
    length: int
    events: tuple[Event, ...]


@dataclass(frozen=True, slots=True)
class Tables:
    """One box under one set of options for one number of players."""

    players: int
    options: Mapping[str, Any]
    rules: Rules
    box_text: str
    """JSON of a replaced box, "" for the shipped one."""
    locations: tuple[str, ...]
    attractions: tuple[bool, ...]
    routes: tuple[Route, ...]
    lengths: tuple[int, ...]
    """Of the routes."""
    tickets: tuple[Ticket, ...]
    ticket_numbers: Mapping[str, int]
    cards: tuple[int, ...]
    taxis: int
    claim_rows: tuple[tuple[int, int, Any], ...]
    """Per route its length, color, and PaymentTable; for gray one PaymentTable per colour, without taxis alone."""
    taxi_claims: tuple[tuple[Claim, ...], ...]
    """Per route the payment in taxis alone."""
    plans: Mapping[Claim, ClaimPlan]
    takes: tuple[Take, ...]
    take_index: Mapping[Take, int]
    keeps: Mapping[tuple[int, ...], tuple[Keep, ...]]
    """By numbers of the offered tickets, ascending: all, then each alone."""
    asked: Mapping[str, tuple[tuple[Decision, ...], ...]]
    drawn: tuple[tuple[Event, ...], ...]
    """By seat and card."""
    taken: tuple[tuple[Event, ...], ...]
    turned_up: tuple[Event, ...]


def tables_for(players: int, options: Mapping[str, Any]) -> Tables:
    """From full, resolved options. Raises PlayersError, OptionError, DataError."""
    if players not in PLAYER_COUNTS:
        raise PlayersError(f"ticket_to_ride_new_york is for 2 to 4 players, not {players}")
    data = options.get(DATA_OPTION)
    text = None if data is None else json.dumps(data, sort_keys=True)
    return _build(players, tuple((option.name, options[option.name]) for option in OPTIONS), text)


@lru_cache(maxsize=32)
def _build(players: int, chosen: tuple[tuple[str, Any], ...], data_text: str | None) -> Tables:
    options = dict(chosen)
    rules = read_rules(options)
    if data_text is not None:
        options[DATA_OPTION] = json.loads(data_text)
    board = _board(data_text)
    box, routes, claims = board.box, board.routes, board.claims
    codes = [entry["code"] for entry in box["locations"]]
    tickets = tuple(
        Ticket(codes.index(entry["from"]), codes.index(entry["to"]), entry["points"]) for entry in box["tickets"]
    )
    seats = range(players)
    takes = tuple(Take(name) for name in CARDS)
    return Tables(
        players=players,
        options=options,
        rules=rules,
        box_text=data_text or "",
        locations=tuple(codes),
        attractions=tuple(entry["attraction"] for entry in box["locations"]),
        routes=routes,
        lengths=tuple(route.length for route in routes),
        tickets=tickets,
        ticket_numbers={entry["id"]: number for number, entry in enumerate(box["tickets"], start=1)},
        cards=board.cards,
        taxis=box["taxis"],
        claim_rows=board.claim_rows,
        taxi_claims=tuple((claims[place, TAXI, route.length],) for place, route in enumerate(routes)),
        plans={
            claim: ClaimPlan(
                place,
                color,
                routes[place].length - taxis,
                taxis,
                routes[place].length,
                tuple(Event(ev.RouteClaimed(seat, claim.route, claim.card, taxis)) for seat in seats),
            )
            for (place, color, taxis), claim in claims.items()
        },
        takes=takes,
        take_index={take: index for index, take in enumerate(takes)},
        keeps=_keeps(len(tickets)),
        asked={
            kind: tuple((Decision(seat, kind),) for seat in seats)
            for kind in ("turn", "second_card", "keep_tickets", "starting_tickets")
        },
        drawn=tuple(
            tuple(Event(ev.CardDrawn(seat, ""), {seat: ev.CardDrawn(seat, name)}) for name in CARDS) for seat in seats
        ),
        taken=tuple(tuple(Event(ev.CardTaken(seat, name)) for name in CARDS) for seat in seats),
        turned_up=tuple(Event(ev.CardTurnedUp(name)) for name in CARDS),
    )


@dataclass(frozen=True, slots=True)
class _Board:
    """What follows from the box alone: the costly part, shared by all options and player counts."""

    box: Mapping[str, Any]
    routes: tuple[Route, ...]
    cards: tuple[int, ...]
    claims: Mapping[tuple[int, int, int], Claim]
    """By route, kind of card and number of taxis."""
    claim_rows: tuple[tuple[int, int, PaymentTable | tuple[PaymentTable, ...]], ...]


@lru_cache(maxsize=8)
def _board(data_text: str | None) -> _Board:
    """Raises DataError."""
    box = default_data() if data_text is None else json.loads(data_text)
    check_data(box)
    routes = _routes(box, [entry["code"] for entry in box["locations"]])
    cards = tuple(box["cards"][name] for name in CARDS)
    claims = {
        (place, color, taxis): Claim(box["routes"][place]["id"], CARDS[color], taxis)
        for place, route in enumerate(routes)
        for color, taxis in _payments(route)
    }
    rows = tuple(_claim_row(place, route, claims, cards) for place, route in enumerate(routes))
    return _Board(box, routes, cards, claims, rows)


def _routes(box: Mapping[str, Any], codes: list[str]) -> tuple[Route, ...]:
    doubles = [entry["double"] for entry in box["routes"]]
    return tuple(
        Route(
            a=codes.index(entry["from"]),
            b=codes.index(entry["to"]),
            length=entry["length"],
            color=CARD_INDEX.get(entry["color"], GRAY),
            twin=next(
                (
                    other
                    for other, name in enumerate(doubles)
                    if name is not None and name == entry["double"] and other != place
                ),
                NO_TWIN,
            ),
            points=box["route_points"][str(entry["length"])],
        )
        for place, entry in enumerate(box["routes"])
    )


def _payments(route: Route) -> list[tuple[int, int]]:
    """All (kind of card, taxis) that can ever pay for the route; taxis alone count once."""
    colors = range(COLORS) if route.color == GRAY else (route.color,)
    mixed = [(color, taxis) for color in colors for taxis in range(route.length)]
    return [*mixed, (TAXI, route.length)]


def _claim_row(
    place: int, route: Route, claims: Mapping[tuple[int, int, int], Claim], cards: tuple[int, ...]
) -> tuple[int, int, PaymentTable | tuple[PaymentTable, ...]]:
    def table(color: int, alone: bool) -> PaymentTable:
        return tuple(
            tuple(
                tuple(
                    claims[place, color, taxis]
                    for taxis in range(route.length)
                    if route.length - taxis <= held and taxis <= wild
                )
                + ((claims[place, TAXI, route.length],) if alone and route.length <= wild else ())
                for wild in range(cards[TAXI] + 1)
            )
            for held in range(cards[color] + 1)
        )

    if route.color == GRAY:
        return route.length, GRAY, tuple(table(color, alone=False) for color in range(COLORS))
    return route.length, route.color, table(route.color, alone=True)


def _keeps(count: int) -> dict[tuple[int, ...], tuple[Keep, ...]]:
    single = {number: Keep((ticket_id(number),)) for number in range(1, count + 1)}
    keeps: dict[tuple[int, ...], tuple[Keep, ...]] = {(one,): (keep,) for one, keep in single.items()}
    for one in single:
        for two in range(one + 1, count + 1):
            keeps[one, two] = (Keep((ticket_id(one), ticket_id(two))), single[one], single[two])
    return keeps
