"""A seat leaves: its claims stay and block, its cards and tickets are out of play, the others play on."""

from typing import TYPE_CHECKING

from referee.games.api import Event, IllegalAction
from referee.games.ticket_to_ride_new_york.events import SeatLeft
from referee.games.ticket_to_ride_new_york.stages import (
    DEAL_TICKETS,
    HANDS,
    LOT,
    OVER,
    REFILL,
    STARTING_TICKETS,
    THEN_END,
    THEN_TICKETS,
)
from referee.games.ticket_to_ride_new_york.tickets import NONE_OPEN

if TYPE_CHECKING:
    from referee.games.ticket_to_ride_new_york.rules import State


def leave(state: "State", seat: int) -> list[Event]:
    """The seat is out for good. IllegalAction if it has left already or the match is over."""
    if state.stage == OVER:
        raise IllegalAction("the match is over")
    if not 0 <= seat < state.tables.players or seat in state.left:
        raise IllegalAction(f"seat {seat} is not in play")
    state._legal = None
    events = [Event(SeatLeft(seat))]
    number = state.open_offers[seat]
    if number != NONE_OPEN:
        state.kept[seat] = sorted([*state.kept[seat], *state.tickets.offered(number)])
        state.tickets.close_offer(number, 0)
        state.open_offers[seat] = NONE_OPEN
    ends = len(state.left) + 2 >= state.tables.players
    if state.last_turns and _still_to_move(state, seat):
        state.last_turns -= 1
        ends = ends or not state.last_turns
    state.left.append(seat)
    if ends:
        state.finish(events)
    else:
        _go_on_without(state, seat, events)
    return events


def _still_to_move(state: "State", seat: int) -> bool:
    """Whether one of the last turns belongs to this seat."""
    order = [(state.turn_seat + step) % state.tables.players for step in range(state.tables.players)]
    return seat in [other for other in order if other not in state.left][: state.last_turns]


def _go_on_without(state: "State", seat: int, events: list[Event]) -> None:
    stage = state.stage
    before_turns = stage in (LOT, HANDS, DEAL_TICKETS, STARTING_TICKETS) or (
        stage == REFILL and state.after_row == THEN_TICKETS
    )
    if before_turns:
        if seat == state.first_seat and stage != LOT:
            state.first_seat = state.turn_seat = _next_in_play(state, seat)
        if stage == HANDS:
            state.deal_hands(events)
        elif stage == DEAL_TICKETS:
            state.deal_tickets(events)
    elif seat != state.turn_seat:
        if state.passed and state.everybody_passed():
            state.finish(events)
    elif stage == REFILL:
        state.after_row = THEN_END
    else:
        state.to_draw = 0
        state.end_turn(events)


def _next_in_play(state: "State", seat: int) -> int:
    players = state.tables.players
    return next((seat + step) % players for step in range(1, players) if (seat + step) % players not in state.left)
