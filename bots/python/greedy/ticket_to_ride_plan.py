"""The map as one seat sees it, and the cheapest way to complete tickets on it."""

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cache
from heapq import heappop, heappush
from itertools import permutations
from typing import Any

from crosstown_proto.v1 import ticket_to_ride_new_york_pb2 as pb

from referee.games.ticket_to_ride_new_york import GAME

COLORS = ("red", "orange", "green", "blue", "black", "pink")
TAXI = 7
MOST_ORDERED = 3
"""Tickets whose order is tried out in every way."""
EASE_OF_GRAY = 0.2


@dataclass(frozen=True)
class Route:
    number: int
    ends: tuple[str, str]
    length: int
    card: int
    """The card it is paid with as in Card; 0: any one colour."""
    points: int


@dataclass(frozen=True)
class Ticket:
    ends: tuple[str, str]
    points: int


@dataclass(frozen=True)
class Network:
    """What is claimed and what can be."""

    seat: int
    routes: Sequence[Route]
    tickets: Sequence[Ticket]
    attractions: Collection[str]
    owned: Collection[Route]
    open: Collection[Route]
    """Routes that nobody has claimed and this seat may."""
    taxis: int

    def plan(self, tickets: Sequence[int]) -> list[Route]:
        """Open routes that complete tickets (numbers), cheap together; tickets out of reach are given up."""
        wanted = [ticket for ticket in tickets if not self.joined(ticket, ())]
        wanted.sort(key=lambda ticket: -self.tickets[ticket - 1].points)
        orders = permutations(wanted[:MOST_ORDERED])
        plans = [self._plan_in_order([*order, *wanted[MOST_ORDERED:]]) for order in orders]
        return max(plans, key=lambda found: (found[0], -sum(route.length for route in found[1])))[1]

    def _plan_in_order(self, tickets: Sequence[int]) -> tuple[int, list[Route]]:
        """Points of what is completed, and the routes for it."""
        plan: list[Route] = []
        points = 0
        for ticket in tickets:
            way = self._way(self.tickets[ticket - 1], plan)
            if way is not None and sum(route.length for route in (*plan, *way)) <= self.taxis:
                plan += way
                points += self.tickets[ticket - 1].points
        return points, plan

    def _way(self, ticket: Ticket, plan: Sequence[Route]) -> list[Route] | None:
        """The cheapest open routes that join the ends of a ticket, what is owned or planned costing nothing."""
        free = {*self.owned, *plan}
        queue: list[tuple[float, int, str, list[Route]]] = [(0.0, 0, ticket.ends[0], [])]
        done = set()
        count = 0
        while queue:
            cost, _, place, way = heappop(queue)
            if place == ticket.ends[1]:
                return [route for route in way if route not in free]
            if place in done:
                continue
            done.add(place)
            for route in (*free, *self.open):
                if place in route.ends:
                    step = 0.0 if route in free else route.length - (0.0 if route.card else EASE_OF_GRAY)
                    count += 1
                    there = route.ends[1] if place == route.ends[0] else route.ends[0]
                    heappush(queue, (cost + step, count, there, [*way, route]))
        return None

    def joined(self, ticket: int, plan: Sequence[Route]) -> bool:
        """Whether a ticket (number) is completed, once the plan is carried out."""
        start, end = self.tickets[ticket - 1].ends
        places = {start}
        grown = True
        while grown:
            reached = {place for route in (*self.owned, *plan) if places & set(route.ends) for place in route.ends}
            grown = not reached <= places
            places |= reached
        return end in places

    def new_attractions(self, route: Route) -> int:
        """Attractions at its ends that no own route touches yet."""
        touched = {place for own in self.owned for place in own.ends}
        return len((set(route.ends) - touched) & set(self.attractions))

    def longest_open(self, card: int) -> int:
        """Length of the longest route that can be paid in this colour."""
        return max((route.length for route in self.open if route.card in (0, card)), default=0)


def read_network(seen: pb.Observation, seat: int) -> Network:
    box = json.loads(seen.box) if seen.box else shipped_box()
    routes = read_routes(box)
    owners = dict(zip(routes, seen.owner, strict=True))
    mine = {route for route, owner in owners.items() if owner == 1 + seat}
    doubles = {(entry["double"], routes[place]) for place, entry in enumerate(box["routes"]) if entry["double"]}
    return Network(
        seat=seat,
        routes=routes,
        tickets=[Ticket((entry["from"], entry["to"]), entry["points"]) for entry in box["tickets"]],
        attractions={entry["code"] for entry in box["locations"] if entry["attraction"]},
        owned=sorted(mine, key=lambda route: route.number),
        open=[
            route
            for route, owner in owners.items()
            if not owner and not closed_double(route, doubles, owners, 1 + seat, seen.players)
        ],
        taxis=seen.taxis[seat],
    )


def closed_double(
    route: Route, doubles: Collection[tuple[str, Route]], owners: dict[Route, int], me: int, players: int
) -> bool:
    """Whether the other half of a double route closes this one: with two players always, else if it is one's own."""
    names = {name for name, half in doubles if half == route}
    others = [owners[half] for name, half in doubles if name in names and half != route]
    return any(owner == me or (owner and players == 2) for owner in others)


@cache
def shipped_box() -> dict[str, Any]:
    return GAME.default_data()


def read_routes(box: dict[str, Any]) -> list[Route]:
    return [
        Route(
            number=number,
            ends=(entry["from"], entry["to"]),
            length=entry["length"],
            card=0 if entry["color"] == "gray" else 1 + COLORS.index(entry["color"]),
            points=box["route_points"][str(entry["length"])],
        )
        for number, entry in enumerate(box["routes"], 1)
    ]
