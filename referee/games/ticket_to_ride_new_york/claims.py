"""Claiming routes: which are open, what can pay for them, and what payments tell."""

from typing import TYPE_CHECKING

from referee.games.api import IllegalAction
from referee.games.ticket_to_ride_new_york.actions import COLORS, TAXI, Answer, Claim
from referee.games.ticket_to_ride_new_york.market import KINDS
from referee.games.ticket_to_ride_new_york.tables import GRAY, NO_TWIN, ClaimPlan

if TYPE_CHECKING:
    from referee.games.ticket_to_ride_new_york.rules import State


def add_claims(state: "State", seat: int, answers: list[Answer]) -> None:
    """Append all claims of the seat, by route, colour and taxis, taxis alone last."""
    rows, alone = state.tables.claim_rows, state.tables.taxi_claims
    hand = state.hands[seat]
    wild = hand[TAXI]
    longest = min(state.taxis[seat], max(hand[:COLORS]) + wild)
    held = [color for color in range(COLORS) if hand[color]]
    for place in state.available[seat]:
        length, color, table = rows[place]
        if length > longest:
            continue
        if color != GRAY:
            answers += table[hand[color]][wild]
            continue
        for gray_color in held:
            answers += table[gray_color][hand[gray_color]][wild]
        if length <= wild:
            answers += alone[place]


def check_claim(state: "State", seat: int, action: Claim) -> ClaimPlan:
    """What the claim costs. IllegalAction if the route is closed to the seat or the payment is not to be had."""
    try:
        plan = state.tables.plans.get(action)
    except TypeError:  # a field that cannot be hashed
        plan = None
    if plan is None:
        raise IllegalAction(f"{action!r} does not name a route and a way to pay for it")
    if plan.route not in state.available[seat]:
        raise IllegalAction(f"route {action.route} is closed to seat {seat}")
    if plan.length > state.taxis[seat]:
        raise IllegalAction(f"route {action.route} takes {plan.length} taxis, seat {seat} has {state.taxis[seat]}")
    hand = state.hands[seat]
    if hand[plan.color] < plan.paid or hand[TAXI] < plan.taxis:
        raise IllegalAction(f"seat {seat} has not the cards for {action!r}")
    return plan


def close_route(state: "State", seat: int, place: int) -> None:
    """The seat has claimed the route at `place`: nobody can again, and its twin is closed as double routes go."""
    twin = state.tables.routes[place].twin
    for other, routes in enumerate(state.available):
        if place in routes:
            routes.remove(place)
        if twin != NO_TWIN and (other == seat or state.tables.players == 2) and twin in routes:
            routes.remove(twin)


def pay(state: "State", seat: int, card: int, count: int) -> None:
    """Discard cards of the hand; keep account of what everybody knows of it."""
    state.hands[seat][card] -= count
    state.hand_sizes[seat] -= count
    state.market.discard(card, count)
    place = KINDS * seat + card
    known = state.known[place]
    if known >= count:
        state.known[place] = known - count
    else:
        state.known[place] = 0
        state.debts.extend((seat, card + 1, count - known, len(state.market.owners)))


def note_refusal(state: "State", seat: int) -> None:
    """A forced pass tells all that the seat cannot pay for any route open to it."""
    owners = state.market.owners
    unseen = owners.count(seat)
    # What its hand held beside its unseen draws; fewer than nothing where it paid such draws.
    base = state.known[KINDS * seat : KINDS * (seat + 1)]
    for at in range(0, len(state.debts), 4):
        if state.debts[at] == seat:
            base[state.debts[at + 1] - 1] -= state.debts[at + 2]
    limits = [unseen] * COLORS
    for place in state.available[seat]:
        length, color, _ = state.tables.claim_rows[place]
        if length <= state.taxis[seat]:
            for paying in range(COLORS) if color == GRAY else (color,):
                limits[paying] = min(limits[paying], length - 1 - base[paying] - base[TAXI])
    if min(limits) < unseen:
        state.refusals.extend((seat, len(owners), *limits))
