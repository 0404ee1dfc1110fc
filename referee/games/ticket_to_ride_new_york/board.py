"""The board of one box: locations, routes and tickets, every claim that can pay for a route, and who is connected.

It follows from the box data alone, so matches share it, whatever their options and numbers of players.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, NamedTuple, TypeAlias

from referee.games.api import Event
from referee.games.ticket_to_ride_new_york.actions import (
    CARD_INDEX,
    CARDS,
    COLORS,
    TAXI,
    Claim,
    Draw,
    DrawTickets,
    Keep,
    Pass,
    Stop,
    Take,
    ticket_id,
)
from referee.games.ticket_to_ride_new_york.data import check_data, default_data
from referee.games.ticket_to_ride_new_york.events import RouteClaimed

PLAYER_COUNTS: Final = (2, 3, 4)

GRAY: Final = -1
NO_TWIN: Final = -1

PaymentTable: TypeAlias = tuple[tuple[tuple[Claim, ...], ...], ...]
"""Indexed by cards of the colour and by taxi cards in hand."""


@dataclass(frozen=True, slots=True)
class Location:
    """`x` and `y` are thousandths of the board from its upper left corner, for drawing only."""

    code: str
    name: str
    attraction: bool
    x: int
    y: int


@dataclass(frozen=True, slots=True)
class Route:
    """`a` and `b` are positions of locations; `color` a position in CARDS or GRAY; `twin` the other half or NO_TWIN."""

    a: int
    b: int
    length: int
    color: int
    twin: int
    points: int

    @property
    def color_name(self) -> str:
        return "gray" if self.color == GRAY else CARDS[self.color]


@dataclass(frozen=True, slots=True)
class Ticket:
    """`a` and `b` are positions of locations."""

    a: int
    b: int
    points: int


@dataclass(frozen=True, slots=True)
class Payment:
    """What a claim costs: `paid` cards of kind `color` and `taxis` taxi cards. `events` are by seat."""

    route: int
    color: int
    paid: int
    taxis: int
    length: int
    events: tuple[Event, ...]


class Words(NamedTuple):
    """What legal lists are made of: actions, or in arrays their numbers."""

    nothing: Any
    """Passing."""
    stop: Any
    draw: Any
    draw_tickets: Any
    takes: Sequence[Any]
    """By kind of card."""
    claim_rows: Sequence[tuple[int, int, Any]]
    """Per route its length, color, and PaymentTable; for gray one PaymentTable per colour, without taxis alone."""
    taxi_claims: Sequence[Sequence[Any]]
    """Per route the payment in taxis alone."""
    keeps: Mapping[tuple[int, ...], Sequence[Any]]
    """By numbers of the offered tickets, ascending: all, then each alone."""


@dataclass(frozen=True, slots=True)
class Board:
    """Routes and locations are positions in these tuples; tickets are numbers from 1."""

    box_text: str
    """JSON of a replaced box, "" for the shipped one."""
    locations: tuple[Location, ...]
    routes: tuple[Route, ...]
    tickets: tuple[Ticket, ...]
    cards: tuple[int, ...]
    """Seven counts: all transportation cards."""
    taxis: int
    """How many each seat has to place."""
    payments: Mapping[Claim, Payment]
    words: Words
    """The actions."""

    def networks(self, owner: Sequence[int], seat: int) -> list[int]:
        """Per location a label: equal for two locations if and only if routes of `seat` join them.

        `owner` is per route the seat that claimed it, or -1.
        """
        label = list(range(len(self.locations)))
        for route, holder in zip(self.routes, owner, strict=True):
            if holder == seat and label[route.a] != label[route.b]:
                old, new = label[route.a], label[route.b]
                label = [new if mark == old else mark for mark in label]
        return label

    def map_points(self, owner: Sequence[int], seat: int) -> tuple[int, int]:
        """What a seat's routes score, and the attractions at their ends."""
        own = [route for route, holder in zip(self.routes, owner, strict=True) if holder == seat]
        ends = {end for route in own for end in (route.a, route.b)}
        return sum(route.points for route in own), sum(self.locations[end].attraction for end in ends)

    def completed(self, owner: Sequence[int], seat: int, number: int) -> bool:
        """Whether routes of `seat` join the two locations of the ticket with this number."""
        ticket, label = self.tickets[number - 1], self.networks(owner, seat)
        return label[ticket.a] == label[ticket.b]


@lru_cache(maxsize=8)
def board_of(box_text: str) -> Board:
    """From the JSON of a replaced box, or "" for the shipped one. Raises DataError."""
    box = json.loads(box_text) if box_text else default_data()
    check_data(box)
    codes = [entry["code"] for entry in box["locations"]]
    routes = _routes(box, codes)
    cards = tuple(box["cards"][name] for name in CARDS)
    claims = {
        (place, color, taxis): Claim(box["routes"][place]["id"], CARDS[color], taxis)
        for place, route in enumerate(routes)
        for color, taxis in _payments(route)
    }
    return Board(
        box_text=box_text,
        locations=tuple(
            Location(entry["code"], entry["name"], entry["attraction"], entry["x"], entry["y"])
            for entry in box["locations"]
        ),
        routes=routes,
        tickets=tuple(
            Ticket(codes.index(entry["from"]), codes.index(entry["to"]), entry["points"]) for entry in box["tickets"]
        ),
        cards=cards,
        taxis=box["taxis"],
        words=Words(
            nothing=Pass(),
            stop=Stop(),
            draw=Draw(),
            draw_tickets=DrawTickets(),
            takes=tuple(Take(name) for name in CARDS),
            claim_rows=tuple(_claim_row(place, route, claims, cards) for place, route in enumerate(routes)),
            taxi_claims=tuple((claims[place, TAXI, route.length],) for place, route in enumerate(routes)),
            keeps=_keeps(len(box["tickets"])),
        ),
        payments={
            claim: Payment(
                place,
                color,
                routes[place].length - taxis,
                taxis,
                routes[place].length,
                tuple(Event(RouteClaimed(seat, claim.route, claim.card, taxis)) for seat in range(PLAYER_COUNTS[-1])),
            )
            for (place, color, taxis), claim in claims.items()
        },
    )


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
