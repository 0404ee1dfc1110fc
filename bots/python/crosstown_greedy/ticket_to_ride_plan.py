"""The map as one seat sees it, and the cheapest way to complete tickets on it.

Routes and locations are positions in the box, tickets are numbers: 7 is T07.
"""

import json
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from heapq import heappop, heappush
from itertools import permutations

from referee.games.ticket_to_ride_new_york import GAME
from referee.games.ticket_to_ride_new_york.actions import CARD_INDEX

GRAY = -1
FREE = -1
"""The owner of a route nobody has claimed."""
MOST_ORDERED = 3
"""Tickets whose order is tried out in every way."""
EASE_OF_GRAY = 0.2


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


@dataclass(frozen=True, eq=False)
class Network:
    """What is claimed and what can be. The same object for the same facts, see `network_of`."""

    box: Box
    owned: frozenset[int]
    open: frozenset[int]
    """Routes that nobody has claimed and this seat may."""
    taxis: int

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
        points = 0
        for number in tickets:
            ticket = self.ticket(number)
            way = self._way(ticket, self.owned.union(plan))
            if way is not None and self.length_of(plan) + self.length_of(way) <= self.taxis:
                plan += way
                points += ticket.points
        return points, plan

    def _way(self, ticket: Ticket, free: frozenset[int]) -> list[int] | None:
        """The cheapest open routes that join the ends of a ticket, `free` ones costing nothing."""
        start, end = ticket.ends
        queue: list[tuple[float, int, int, int]] = [(0.0, start, -1, -1)]
        came: dict[int, tuple[int, int]] = {}
        while queue:
            cost, place, route, before = heappop(queue)
            if place in came:
                continue
            came[place] = (route, before)
            if place == end:
                return self._traced(came, end, free)
            for route, there in self.box.roads[place]:
                if there in came:
                    continue
                if route in free:
                    heappush(queue, (cost, there, route, place))
                elif route in self.open:
                    step = self.box.routes[route]
                    price = step.length - (EASE_OF_GRAY if step.color == GRAY else 0.0)
                    heappush(queue, (cost + price, there, route, place))
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
        routes = self.box.routes
        touched = {place for own in self.owned for place in routes[own].ends}
        return sum([place in self.box.attractions and place not in touched for place in routes[route].ends])


@lru_cache(maxsize=4096)
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


@lru_cache(maxsize=4096)
def plan_of(network: Network, tickets: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(network.plan(tickets))


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
    )


def twin_of(number: int, doubles: Sequence[str | None]) -> int:
    name = doubles[number]
    halves = [other for other, named in enumerate(doubles) if name is not None and named == name and other != number]
    return halves[0] if halves else -1
