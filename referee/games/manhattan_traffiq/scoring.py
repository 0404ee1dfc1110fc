"""Points and ranks."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from referee.games.manhattan_traffiq.rules import TraffiqState


def scores(state: "TraffiqState") -> tuple[int, ...]:
    """Per seat the points of its vehicles on the map: a truck 2, a taxi 1."""
    parked = state.parked
    return tuple([len(parked[2 * seat]) + 2 * len(parked[2 * seat + 1]) for seat in range(state.players)])


def ranking(state: "TraffiqState") -> tuple[int, ...]:
    """More points rank better; seats that left rank last, the first to leave at the very end."""
    points = scores(state)
    keys: list[tuple[int, ...]] = []
    for seat in range(state.players):
        if seat in state.left:
            keys.append((0, state.left.index(seat)))
            continue
        vehicles = len(state.parked[2 * seat]) + len(state.parked[2 * seat + 1])
        keys.append((1, points[seat], vehicles if state.rules.more_vehicles_rank else 0))
    return _ranks(keys)


def _ranks(keys: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    return tuple(1 + sum(other > key for other in keys) for key in keys)
