"""Where paid cards came from that nobody had seen a seat get: places for them among its unseen draws.

A *unit* is one such card: (seat, number of the card, end), drawn before position `end`. It takes one of the seat's
draws and one card of that layer's pool. With one layer any place will do; with several, one seat's choice can leave
none to another's, so what has fewest choices is placed first, and taken back if the rest does not fit.
"""

from bisect import bisect_left, bisect_right, insort
from collections.abc import Sequence
from random import Random
from typing import TypeAlias

Unit: TypeAlias = tuple[int, int, int]

_QUICK_TRIES = 3
_STEPS = 300
"""Of one search, before it starts again in another order."""
_SEARCHES = 400


class _Board:
    """What is placed so far, by seat and layer; which of the draws a unit takes is left open."""

    def __init__(self, owners: bytes, starts: Sequence[int], pools: Sequence[Sequence[int]], open_at: set[int]) -> None:
        self.layers = len(pools)
        self.starts = starts
        self.pools = [list(pool) for pool in pools]
        self.draws: dict[tuple[int, int], list[int]] = {}
        for layer in range(self.layers):
            for at in range(starts[layer], starts[layer + 1]):
                if at in open_at:
                    self.draws.setdefault((owners[at], layer), []).append(at)
        self.ends: dict[tuple[int, int], list[int]] = {place: [] for place in self.draws}

    def choices(self, unit: Unit) -> list[int]:
        """The layers that can take the unit."""
        seat, card, end = unit
        return [
            layer
            for layer in range(self.layers)
            if self.starts[layer] < end and self.pools[layer][card - 1] and self._has_room(seat, layer, end)
        ]

    def _has_room(self, seat: int, layer: int, end: int) -> bool:
        """Whether one more unit leaves draws enough for all: the k-th to end needs k draws before its end."""
        draws = self.draws.get((seat, layer))
        if draws is None:
            return False
        ends = self.ends[seat, layer]
        rank = bisect_right(ends, end)
        return bisect_left(draws, end) > rank and all(
            bisect_left(draws, ends[later]) >= later + 2 for later in range(rank, len(ends))
        )

    def put(self, unit: Unit, layer: int) -> None:
        seat, card, end = unit
        self.pools[layer][card - 1] -= 1
        insort(self.ends[seat, layer], end)

    def take_back(self, unit: Unit, layer: int) -> None:
        seat, card, end = unit
        self.pools[layer][card - 1] += 1
        self.ends[seat, layer].remove(end)

    def free(self, seat: int) -> dict[int, int]:
        """Per layer the seat's draws that no unit takes yet."""
        return {
            layer: len(draws) - len(self.ends[owner, layer])
            for (owner, layer), draws in self.draws.items()
            if owner == seat
        }


def place_units(
    units: Sequence[Unit],
    owners: bytes,
    starts: Sequence[int],
    pools: Sequence[Sequence[int]],
    open_at: set[int],
    rng: Random,
) -> list[tuple[int, Unit]] | None:
    """Per unit a position of `open_at`; None if no places were found.

    `starts` are the positions where the layers begin, and the end; `pools` seven counts per layer.
    """
    by_end = sorted(units, key=lambda unit: unit[2])
    for _ in range(_QUICK_TRIES):
        placed = _quick(by_end, _Board(owners, starts, pools, open_at), rng)
        if placed is not None:
            return placed
    for _ in range(_SEARCHES):
        board = _Board(owners, starts, pools, open_at)
        layers = _search(units, board, rng)
        if layers is not None:
            return _at_positions(layers, board, rng)
    return None


def _quick(units: Sequence[Unit], board: _Board, rng: Random) -> list[tuple[int, Unit]] | None:
    """Anywhere, those that end first before the others."""
    layers: list[tuple[Unit, int]] = []
    for unit in units:
        choices = board.choices(unit)
        if not choices:
            return None
        layer = choices[0] if len(choices) == 1 else rng.choice(choices)
        board.put(unit, layer)
        layers.append((unit, layer))
    return _at_positions(layers, board, rng)


def _at_positions(layers: Sequence[tuple[Unit, int]], board: _Board, rng: Random) -> list[tuple[int, Unit]]:
    """Any of the seat's draws there before the end, those that end first before the others: so there is always one."""
    placed: list[tuple[int, Unit]] = []
    left = {place: draws[:] for place, draws in board.draws.items()}
    for unit, layer in sorted(layers, key=lambda entry: entry[0][2]):
        draws = left[unit[0], layer]
        placed.append((draws.pop(int(rng.random() * bisect_left(draws, unit[2]))), unit))
    return placed


def _search(units: Sequence[Unit], board: _Board, rng: Random) -> list[tuple[Unit, int]] | None:
    """Depth first."""
    left = list(units)
    placed: list[tuple[Unit, int]] = []
    steps = 0

    def go_on() -> bool:
        nonlocal steps
        if not left:
            return True
        branches = _fewest(left, board)
        rng.shuffle(branches)
        for unit, layer in branches:
            steps += 1
            if steps > _STEPS:
                return False
            board.put(unit, layer)
            left.remove(unit)
            placed.append((unit, layer))
            if go_on():
                return True
            placed.pop()
            left.append(unit)
            board.take_back(unit, layer)
        return False

    return placed if go_on() else None


def _fewest(left: Sequence[Unit], board: _Board) -> list[tuple[Unit, int]]:
    """The unit, or the draws that some unit has to take, with the fewest choices; the choices."""
    kinds = sorted(set(left))
    choices = {unit: board.choices(unit) for unit in kinds}
    best = min(([(unit, layer) for layer in layers] for unit, layers in choices.items()), key=len)
    for seat in sorted({unit[0] for unit in kinds}):
        free = board.free(seat)
        waiting = sum(unit[0] == seat for unit in left)
        for layer, count in sorted(free.items()):
            if count and waiting > sum(free.values()) - count:
                here = [(unit, layer) for unit in kinds if unit[0] == seat and layer in choices[unit]]
                if len(here) < len(best):
                    best = here
    return best
