"""States from states, dictionaries and observations, and dictionaries from states."""

from collections.abc import Mapping, Sequence
from random import Random
from typing import TYPE_CHECKING, Any

from referee.games.ticket_to_ride_new_york.market import Market
from referee.games.ticket_to_ride_new_york.observation import Observation
from referee.games.ticket_to_ride_new_york.stages import AFTER_ROW
from referee.games.ticket_to_ride_new_york.tables import NO_TWIN
from referee.games.ticket_to_ride_new_york.tickets import OPEN, TicketDeck
from referee.games.ticket_to_ride_new_york.worlds import sample_world

if TYPE_CHECKING:
    from referee.games.ticket_to_ride_new_york.rules import State


def set_from_state(copy: "State", state: "State") -> None:
    """Make `copy` equal to `state` and independent of it."""
    copy.tables = state.tables
    copy.stage = state.stage
    copy.after_row = state.after_row
    copy.second = state.second
    copy.to_draw = state.to_draw
    copy.turn_seat = state.turn_seat
    copy.first_seat = state.first_seat
    copy.last_turns = state.last_turns
    copy.left = state.left[:]
    copy.passed = state.passed[:]
    copy.market = state.market.clone()
    copy.tickets = state.tickets.clone()
    copy.hands = [hand[:] for hand in state.hands]
    copy.hand_sizes = state.hand_sizes[:]
    copy.taxis = state.taxis[:]
    copy.owner = state.owner[:]
    copy.available = [routes[:] for routes in state.available]
    copy.kept = [tickets[:] for tickets in state.kept]
    copy.open_offers = state.open_offers[:]
    copy.known = state.known[:]
    copy.debts = state.debts[:]
    copy.refusals = state.refusals[:]
    copy._legal = state._legal


def state_dict(state: "State") -> dict[str, Any]:
    """The whole state as JSON values."""
    return {
        "players": state.tables.players,
        "options": dict(state.tables.options),
        "stage": state.stage,
        "after_row": state.after_row,
        "second": state.second,
        "to_draw": state.to_draw,
        "turn_seat": state.turn_seat,
        "first_seat": state.first_seat,
        "last_turns": state.last_turns,
        "left": state.left[:],
        "passed": state.passed[:],
        "market": state.market.to_dict(),
        "tickets": state.tickets.to_dict(),
        "hands": [hand[:] for hand in state.hands],
        "taxis": state.taxis[:],
        "owner": state.owner[:],
        "kept": [tickets[:] for tickets in state.kept],
        "open_offers": state.open_offers[:],
        "known": state.known[:],
        "debts": list(state.debts),
        "refusals": list(state.refusals),
    }


def set_from_dict(state: "State", data: Mapping[str, Any]) -> None:
    """Make a new state what `state_dict` wrote."""
    for name in ("stage", "after_row", "second", "to_draw", "turn_seat", "first_seat", "last_turns"):
        setattr(state, name, data[name])
    for name in ("left", "passed", "taxis", "open_offers", "known"):
        setattr(state, name, list(data[name]))
    state.debts = bytearray(data["debts"])
    state.refusals = bytearray(data["refusals"])
    state.market = Market.from_dict(data["market"])
    state.tickets = TicketDeck.from_dict(data["tickets"])
    state.hands = [list(hand) for hand in data["hands"]]
    state.hand_sizes = [sum(hand) for hand in state.hands]
    state.kept = [list(tickets) for tickets in data["kept"]]
    _set_owners(state, data["owner"])


def set_from_observation(state: "State", seen: Observation, rng: Random) -> None:
    """Make a new state one that fits what the viewer has seen, the rest drawn anew."""
    world = sample_world(state.tables, seen, rng)
    state.stage = seen.stage
    second, state.to_draw, after_row, _ = world.ledger.moment
    state.second = bool(second)
    state.after_row = AFTER_ROW[after_row]
    state.turn_seat = seen.turn_seat
    state.first_seat = seen.first_seat
    state.last_turns = seen.last_turns
    state.left = list(seen.left)
    state.passed = list(seen.passed)
    state.market = world.market
    state.tickets = world.tickets
    state.hands = world.hands
    state.taxis = list(seen.taxis)
    state.hand_sizes = list(seen.hand_sizes)
    state.known = list(seen.known)
    state.debts = bytearray(world.ledger.debts)
    state.refusals = bytearray(world.ledger.refusals)
    for number, seat in enumerate(state.tickets.seats):
        if state.tickets.states[number] == OPEN:
            state.open_offers[seat] = number
        else:
            returned = state.tickets.returned[number]
            state.kept[seat] += [ticket for ticket in state.tickets.offered(number) if ticket != returned]
    for kept in state.kept:
        kept.sort()
    _set_owners(state, seen.owner)


def _set_owners(state: "State", owner: Sequence[int]) -> None:
    """The routes and what follows from them: `available` as `close_route` leaves it after all these claims."""
    state.owner = list(owner)
    free = []
    for place, route in enumerate(state.tables.routes):
        if owner[place] < 0:
            free.append((place, owner[route.twin] if route.twin != NO_TWIN else -1))
    two = state.tables.players == 2
    state.available = [
        [place for place, twin_owner in free if twin_owner < 0 or not (two or twin_owner == seat)]
        for seat in range(state.tables.players)
    ]
