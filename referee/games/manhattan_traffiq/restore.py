"""States made from a dictionary and from an observation."""

from collections.abc import Iterable, Mapping
from random import Random
from typing import Any

from referee.games.api import DataError
from referee.games.manhattan_traffiq.actions import VEHICLES
from referee.games.manhattan_traffiq.competing import contests
from referee.games.manhattan_traffiq.observation import Observation
from referee.games.manhattan_traffiq.rules import TraffiqState
from referee.games.manhattan_traffiq.seeing import redistribute


def from_dict(data: Mapping[str, Any]) -> TraffiqState:
    """Inverse of `serial.to_dict`. DataError if it describes no position."""
    try:
        return _from_dict(data)
    except (KeyError, IndexError, TypeError, ValueError) as error:
        raise DataError(f"state: {type(error).__name__} {error}; expected the form of to_dict()") from error


def _from_dict(data: Mapping[str, Any]) -> TraffiqState:
    state = TraffiqState(data["players"], data["options"])
    numbers = state.tables.kind_number
    state.phase, state.start, state.seat = data["phase"], data["start"], data["seat"]
    state.used, state.turns, state.idle = data["used"], data["turns"], data["idle"]
    state.final, state.owed, state.left = data["final"], tuple(data["owed"]), tuple(data["left"])
    _lay_map(state, data["tiles"], data["vehicles"])
    state.hands = [[numbers[name] for name in hand] for hand in data["hands"]]
    state.stock = [data["stock"].get(name, 0) for name in state.tables.kinds]
    state.stock_left = sum(state.stock)
    state.unlaid = bytearray(state.stock)
    for hand in state.hands:
        for kind in hand:
            state.unlaid[kind] += 1
    _open_questions(state, data["open_vertices"], data["spot"])
    return state


def from_observation(seen: Observation, options: Mapping[str, Any], rng: Random) -> TraffiqState:
    """A state that looks like `seen` to its viewer; the tiles it cannot see are dealt by `rng`."""
    state = TraffiqState(seen.facts.players, options)
    tables = state.tables
    state.phase, state.start, state.seat = seen.phase, seen.facts.start_seat, seen.turn_seat
    state.used, state.turns, state.idle = seen.used, seen.turns, seen.idle_turns
    state.final, state.owed, state.left = seen.final_round, seen.owed, seen.facts.left
    _lay_map(
        state,
        [(tile.x, tile.y, tile.face) for tile in seen.map.tiles],
        [(it.x, it.y, it.seat, it.vehicle) for it in seen.fleet.standing],
    )
    first = {(x, y) for x, y, _ in tables.layout}
    for tile in seen.map.tiles:
        if (tile.x, tile.y) not in first:
            state.stock[tables.face_kind[tile.face]] -= 1
    state.unlaid = bytearray(state.stock)
    for seat, names in enumerate(seen.hands):
        state.hands[seat] = [tables.kind_number[name] for name in names]
        for kind in state.hands[seat]:
            state.stock[kind] -= 1
    unseen = [kind for kind, count in enumerate(state.stock) for _ in range(count)]
    for seat, size in enumerate(seen.hand_sizes):  # any tiles will do: they are dealt anew
        missing = size - len(state.hands[seat])
        for kind in unseen[:missing]:
            state.hands[seat].append(kind)
            state.stock[kind] -= 1
        del unseen[:missing]
    state.stock_left = seen.stock
    redistribute(state, seen.viewer, rng)
    _open_questions(state, seen.open_vertices, seen.spot)
    return state


def _lay_map(state: TraffiqState, tiles: Iterable[Any], vehicles: Iterable[Any]) -> None:
    tables, city = state.tables, state.city
    for x, y, face in tiles:
        if tables.index(x, y) not in city.faces:
            city.lay(tables.index(x, y), face)
    for x, y, seat, vehicle in vehicles:
        piece = 2 * seat + VEHICLES.index(vehicle)
        vertex = tables.index(x, y)
        state.pieces[vertex] = piece
        state.parked[piece] = sorted([*state.parked[piece], vertex])
        state.supply[piece] -= 1


def _open_questions(state: TraffiqState, open_vertices: Iterable[Any], spot: Any) -> None:
    state.open_vertices = tuple(state.tables.index(x, y) for x, y in open_vertices)
    if spot is not None:
        state.spot = state.tables.index(*spot)
        state.contests = contests(state.city, state.spot, state.pieces, state.seat, state.rules)
