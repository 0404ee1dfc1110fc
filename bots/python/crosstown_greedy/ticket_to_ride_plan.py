"""The map as one seat sees it, and the cheapest way to complete tickets on it.

Routes and locations are positions in the box, tickets are numbers: 7 is T07.
"""

import json
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from heapq import heappop, heappush
from itertools import permutations

from referee.games.ticket_to_ride_new_york import GAME
from referee.games.ticket_to_ride_new_york.actions import CARD_INDEX, CARDS

GRAY = -1
FREE = -1
"""The owner of a route nobody has claimed."""
MOST_ORDERED = 3
"""Tickets whose order is tried out in every way."""
EASE_OF_GRAY = 0.2
MOST_WAYS = 8
"""Kept of one ticket and free routes."""
MOST_KEPT = 4096
"""Answers of a kind."""


@dataclass(frozen=True)
class Route:
    ends: tuple[int, int]
    length: int
    color: int
    """Position in CARDS, or GRAY: any one colour."""
    points: int
    twin: int
    """The other half of a double route, or -1."""


@dataclass(frozen=True)
class Ticket:
    ends: tuple[int, int]
    points: int


@dataclass(frozen=True)
class Box:
    routes: Sequence[Route]
    tickets: Sequence[Ticket]
    attractions: Collection[int]
    roads: Sequence[Sequence[tuple[int, int]]]
    """Per location its routes, each with where it leads."""
    prices: Sequence[float]
    """Per route its length, a little less if it is gray."""
    ways: dict[tuple[int, frozenset[int]], list[tuple[frozenset[int], Sequence[int] | None]]]
    """By ticket and free routes, the cheapest ways that are known, each with the routes that were open."""


@dataclass(frozen=True, eq=False)
class Network:
    """What is claimed and what can be. The same object for the same facts, see `network_of`."""

    box: Box
    owned: frozenset[int]
    open: frozenset[int]
    """Routes that nobody has claimed and this seat may."""
    taxis: int

    @cached_property
    def touched(self) -> Collection[int]:
        """The locations at the ends of own routes."""
        routes = self.box.routes
        return {place for own in self.owned for place in routes[own].ends}

    def ticket(self, number: int) -> Ticket:
        return self.box.tickets[number - 1]

    def plan(self, tickets: Sequence[int]) -> list[int]:
        """Open routes that complete tickets, cheap together; tickets out of reach are given up."""
        wanted = [ticket for ticket in tickets if not self.joined(ticket, ())]
        wanted.sort(key=lambda ticket: -self.ticket(ticket).points)
        orders = permutations(wanted[:MOST_ORDERED])
        plans = [self._plan_in_order([*order, *wanted[MOST_ORDERED:]]) for order in orders]
        return max(plans, key=lambda found: (found[0], -self.length_of(found[1])))[1]

    def _plan_in_order(self, tickets: Sequence[int]) -> tuple[int, list[int]]:
        """Points of what is completed, and the routes for it."""
        plan: list[int] = []
        points = length = 0
        for number in tickets:
            way = self._way(number, self.owned.union(plan))
            if way is None:
                continue
            longer = length + self.length_of(way)
            if longer <= self.taxis:
                plan += way
                length = longer
                points += self.ticket(number).points
        return points, plan

    def _way(self, ticket: int, free: frozenset[int]) -> Sequence[int] | None:
        """The cheapest open routes that join the ends of a ticket, `free` ones costing nothing."""
        ways = self.box.ways
        known = ways.get((ticket, free))
        if known is None:
            if len(ways) == MOST_KEPT:
                ways.clear()
            known = ways[ticket, free] = []
        for was_open, way in known:
            # Without routes that are not part of it, the cheapest way is still the cheapest.
            if self.open <= was_open and (way is None or self.open.issuperset(way)):
                return way
        way = self._search(self.ticket(ticket), free)
        if len(known) == MOST_WAYS:
            del known[0]
        known.append((self.open, way))
        return way

    def _search(self, ticket: Ticket, free: frozenset[int]) -> list[int] | None:
        start, end = ticket.ends
        roads, prices, is_open = self.box.roads, self.box.prices, self.open
        queue: list[tuple[float, int, int, int]] = [(0.0, start, -1, -1)]
        came: dict[int, tuple[int, int]] = {}
        while queue:
            cost, place, route, before = heappop(queue)
            if place in came:
                continue
            came[place] = (route, before)
            if place == end:
                return self._traced(came, end, free)
            for route, there in roads[place]:
                if there in came:
                    continue
                if route in free:
                    heappush(queue, (cost, there, route, place))
                elif route in is_open:
                    heappush(queue, (cost + prices[route], there, route, place))
        return None

    def _traced(self, came: dict[int, tuple[int, int]], end: int, free: frozenset[int]) -> list[int]:
        way = []
        route, place = came[end]
        while place >= 0:
            if route not in free:
                way.append(route)
            route, place = came[place]
        return way

    def joined(self, ticket: int, plan: Iterable[int]) -> bool:
        """Whether a ticket is completed, once the plan is carried out."""
        start, end = self.ticket(ticket).ends
        mine = self.owned.union(plan)
        places = [start]
        for place in places:
            places += [there for route, there in self.box.roads[place] if route in mine and there not in places]
        return end in places

    def length_of(self, routes: Iterable[int]) -> int:
        return sum([self.box.routes[route].length for route in routes])

    def new_attractions(self, route: int) -> int:
        """Attractions at its ends that no own route touches yet."""
        attractions, touched = self.box.attractions, self.touched
        return sum([place in attractions and place not in touched for place in self.box.routes[route].ends])


@dataclass(frozen=True, eq=False)
class Plan:
    """Open routes that complete tickets, and what they ask for."""

    routes: tuple[int, ...]
    cards: Sequence[int]
    """Per kind of card how many of its colour."""
    grays: Sequence[int]
    """The lengths of the gray routes."""


@lru_cache(maxsize=MOST_KEPT)
def network_of(box_text: str, owner: tuple[int, ...], seat: int, players: int, taxis: int) -> Network:
    """From the fields of an observation."""
    box = read_box(box_text)
    return Network(
        box=box,
        owned=frozenset([route for route, who in enumerate(owner) if who == seat]),
        open=frozenset(
            [
                number
                for number, route in enumerate(box.routes)
                if owner[number] == FREE and (route.twin < 0 or twin_allows(owner[route.twin], seat, players))
            ]
        ),
        taxis=taxis,
    )


@lru_cache(maxsize=MOST_KEPT)
def plan_of(network: Network, tickets: tuple[int, ...]) -> Plan:
    found, routes = tuple(network.plan(tickets)), network.box.routes
    cards = [0] * len(CARDS)
    for number in found:
        if routes[number].color != GRAY:
            cards[routes[number].color] += routes[number].length
    return Plan(found, cards, [routes[number].length for number in found if routes[number].color == GRAY])


def twin_allows(owner: int, seat: int, players: int) -> bool:
    """Whether the other half of a double route leaves this one open: with two players never, else if it is not own."""
    return owner == FREE or (players > 2 and owner != seat)


@lru_cache(maxsize=8)
def read_box(text: str) -> Box:
    """From JSON; the shipped box for an empty text."""
    box = json.loads(text) if text else GAME.default_data()
    places = {entry["code"]: place for place, entry in enumerate(box["locations"])}
    doubles = [entry["double"] for entry in box["routes"]]
    routes = [
        Route(
            ends=(places[entry["from"]], places[entry["to"]]),
            length=entry["length"],
            color=CARD_INDEX.get(entry["color"], GRAY),
            points=box["route_points"][str(entry["length"])],
            twin=twin_of(number, doubles),
        )
        for number, entry in enumerate(box["routes"])
    ]
    roads: list[list[tuple[int, int]]] = [[] for _ in places]
    for number, route in enumerate(routes):
        start, end = route.ends
        roads[start].append((number, end))
        roads[end].append((number, start))
    return Box(
        routes=routes,
        tickets=[Ticket((places[entry["from"]], places[entry["to"]]), entry["points"]) for entry in box["tickets"]],
        attractions={place for place, entry in enumerate(box["locations"]) if entry["attraction"]},
        roads=roads,
        prices=[route.length - (EASE_OF_GRAY if route.color == GRAY else 0.0) for route in routes],
        ways={},
    )


def twin_of(number: int, doubles: Sequence[str | None]) -> int:
    name = doubles[number]
    halves = [other for other, named in enumerate(doubles) if name is not None and named == name and other != number]
    return halves[0] if halves else -1
