"""Ticket to Ride: plan the cheapest routes that complete the tickets, collect for them, claim them; then score on."""

from collections.abc import Iterator, Sequence
from random import Random

from crosstown_proto.v1 import ticket_to_ride_new_york_pb2 as pb
from picking import best
from ticket_to_ride_plan import TAXI, Network, Route, read_network

STOP, DRAW, TAKE, DRAW_TICKETS, CLAIM, KEEP = 2, 3, 4, 5, 6, 7
PLANNED_WORTH = 4.0
"""Of a claimed route that the plan needs, over its points."""
TAXI_COST = 0.3
"""Of paying with a taxi, which goes with every colour."""
BLIND_WORTH = 0.45
"""Of an unseen card: it may be the one, or a taxi."""
FACE_UP_TAXI_WORTH = 1.2
"""Of a face-up taxi, for which one does without a second card."""
TAXIS_FOR_TICKETS = 6
"""With fewer taxis left, new tickets are too dangerous."""


def choose(seen: pb.Observation, legal: pb.LegalActions, seat: int, rng: Random) -> int:
    """Index of the action to take."""
    network = read_network(seen, seat)
    if KEEP in legal.kind:
        held = list(seen.tickets)
        return best(
            [worth_of_tickets(network, held + [ticket for ticket in pair if ticket]) for pair in offers(legal)], rng
        )
    plan = network.plan(seen.tickets)
    worths = []
    for kind, card, number, taxis in zip(legal.kind, legal.card, legal.number, legal.other, strict=True):
        if kind == CLAIM:
            worths.append(worth_of_claim(network, plan, number, card, taxis, seen))
        elif kind == TAKE:
            worths.append(worth_of_card(network, plan, card, seen.hand))
        elif kind == DRAW:
            worths.append(BLIND_WORTH)
        elif kind == DRAW_TICKETS:
            worths.append(worth_of_new_tickets(network, plan, seen))
        else:
            worths.append(0.0)
    return best(worths, rng)


def offers(legal: pb.LegalActions) -> Iterator[tuple[int, int]]:
    return zip(legal.number, legal.other, strict=True)


def worth_of_tickets(network: Network, tickets: Sequence[int]) -> float:
    """Points of the tickets, less what the taxis for them are worth elsewhere; those out of reach count against."""
    plan = network.plan(tickets)
    points = sum(network.tickets[ticket - 1].points * (1 if network.joined(ticket, plan) else -1) for ticket in tickets)
    return points - 0.6 * sum(route.length for route in plan)


def worth_of_claim(
    network: Network, plan: Sequence[Route], number: int, card: int, taxis: int, seen: pb.Observation
) -> float:
    """A route of the plan at once; others when the plan is done or the match is about to end."""
    route = network.routes[number - 1]
    worth = route.points + network.new_attractions(route) - TAXI_COST * taxis
    if route in plan:
        return PLANNED_WORTH + worth
    spare = seen.taxis[network.seat] - sum(step.length for step in plan)
    hurry = seen.last_turns > 0
    if not hurry and (plan or route.length > spare or route.length == 1):
        return -1.0
    wanted = sum(min(need, seen.hand[card - 1]) for need in [shortage(plan, card)])
    return worth - (0 if hurry else wanted)


def worth_of_card(network: Network, plan: Sequence[Route], card: int, hand: Sequence[int]) -> float:
    """How much a face-up card helps."""
    if card == TAXI:
        return FACE_UP_TAXI_WORTH if plan else 0.5
    missing = shortage(plan, card) - hand[card - 1]
    if missing > 0:
        return 1.0 + 0.2 / missing
    grays = [route.length for route in plan if not route.card] or ([] if plan else [2])
    if grays:
        # For gray routes the colour of which most are there.
        return 0.5 + 0.1 * min(hand[card - 1], max(grays)) if hand[card - 1] < max(grays) + 2 else 0.2
    return 0.2 if plan else 0.4 + 0.1 * min(hand[card - 1], network.longest_open(card))


def shortage(plan: Sequence[Route], card: int) -> int:
    """Cards of this colour that the plan asks for."""
    return sum(route.length for route in plan if route.card == card)


def worth_of_new_tickets(network: Network, plan: Sequence[Route], seen: pb.Observation) -> float:
    """Good when all is done and there is time for more."""
    fewest = min(taxis for seat, taxis in enumerate(seen.taxis) if seat not in seen.left)
    if plan or seen.last_turns or seen.taxis[network.seat] < TAXIS_FOR_TICKETS or fewest < TAXIS_FOR_TICKETS:
        return -1.0
    return 2.5
