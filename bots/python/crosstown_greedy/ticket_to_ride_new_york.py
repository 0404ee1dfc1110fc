"""Ticket to Ride: plan the cheapest routes that complete the tickets, collect for them, claim them; then score on."""

from collections.abc import Sequence
from typing import Any

from crosstown_greedy.ticket_to_ride_plan import Network, Plan, network_of, plan_of
from referee.games.ticket_to_ride_new_york.actions import (
    CARD_INDEX,
    ROUTE_NUMBERS,
    TAXI,
    TICKET_NUMBERS,
    Answer,
    Claim,
    Draw,
    DrawTickets,
    Keep,
    Take,
)
from referee.games.ticket_to_ride_new_york.observation import Observation

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


def observe(state: Any, seat: int) -> Observation:
    """Without the ledger."""
    seen: Observation = state.table(seat)
    return seen


def worths(seen: Observation, legal: Sequence[Answer], seat: int) -> list[float]:
    """Points, about, that each action is good for."""
    network = network_of(seen.box, seen.holders(), seat, seen.players, seen.taxis[seat])
    plan = plan_of(network, seen.tickets)
    hurry = seen.last_turns > 0
    claims: dict[str, tuple[float, int] | None] = {}
    found = []
    for action in legal:
        if isinstance(action, Claim):
            # There are many ways to pay for one route.
            if action.route not in claims:
                claims[action.route] = claim_of(network, plan, ROUTE_NUMBERS[action.route] - 1, hurry)
            claim = claims[action.route]
            found.append(-1.0 if claim is None else claim[0] + (claim[1] - TAXI_COST * action.taxis))
        elif isinstance(action, Take):
            found.append(worth_of_card(plan, CARD_INDEX[action.card], seen.hand))
        elif isinstance(action, Draw):
            found.append(BLIND_WORTH)
        elif isinstance(action, DrawTickets):
            found.append(worth_of_new_tickets(plan, seen, seat))
        elif isinstance(action, Keep):
            found.append(worth_of_tickets(network, seen.tickets, action))
        else:
            found.append(0.0)
    return found


def worth_of_tickets(network: Network, held: tuple[int, ...], keep: Keep) -> float:
    """Points of the tickets, less what the taxis for them are worth elsewhere; those out of reach count against."""
    tickets = (*held, *[TICKET_NUMBERS[name] for name in keep.tickets])
    plan = plan_of(network, tickets).routes
    points = sum(network.ticket(ticket).points * (1 if network.joined(ticket, plan) else -1) for ticket in tickets)
    return points - 0.6 * network.length_of(plan)


def claim_of(network: Network, plan: Plan, number: int, hurry: bool) -> tuple[float, int] | None:
    """What the plan gains from a route, and its points; None if it is not to be claimed now.

    Routes of the plan at once; others when the plan is done or the match is about to end.
    """
    route = network.box.routes[number]
    planned = number in plan.routes
    if not planned and not hurry and (plan.routes or route.length > network.taxis or route.length == 1):
        return None
    return PLANNED_WORTH if planned else 0.0, route.points + network.new_attractions(number)


def worth_of_card(plan: Plan, card: int, hand: Sequence[int]) -> float:
    """How much a face-up card helps."""
    if card == TAXI:
        return FACE_UP_TAXI_WORTH if plan.routes else 0.5
    missing = plan.cards[card] - hand[card]
    if missing > 0:
        return 1.0 + 0.2 / missing
    grays = plan.grays or ([] if plan.routes else [2])
    if grays:
        # For gray routes the colour of which most are there.
        return 0.5 + 0.1 * min(hand[card], max(grays)) if hand[card] < max(grays) + 2 else 0.2
    return 0.2


def worth_of_new_tickets(plan: Plan, seen: Observation, seat: int) -> float:
    """Good when all is done and there is time for more."""
    fewest = min(taxis for other, taxis in enumerate(seen.taxis) if other not in seen.left)
    if plan.routes or seen.last_turns or seen.taxis[seat] < TAXIS_FOR_TICKETS or fewest < TAXIS_FOR_TICKETS:
        return -1.0
    return 2.5
