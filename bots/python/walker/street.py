"""How far it is from any field to a goal, counted in moves, on 64-bit boards (field x + 8*y is bit 1 << field)."""

from collections.abc import Iterable, Sequence

BOARD = (1 << 64) - 1
WEST = 0x0101010101010101
EAST = WEST << 7
BLACK = frozenset((1, 2))
ROUND = frozenset((1, 3))
FAR = 9
"""Moves to a goal that cannot be reached on the streets as they are."""


def mask(fields: Iterable[int]) -> int:
    """The board with these fields set."""
    board = 0
    for field in fields:
        board |= 1 << field
    return board


def flood(seed: int, area: int) -> int:
    """The part of `area` that is joined with `seed`, orthogonally."""
    reached = seed & area
    while True:
        grown = reached | reached << 8 | reached >> 8 | (reached & ~EAST) << 1 | (reached & ~WEST) >> 1
        grown &= area
        if grown == reached:
            return reached
        reached = grown


class Streets:
    """The laid fields and what they look like. `looks` has 64 values as in the Observation message."""

    def __init__(self, looks: Sequence[int]) -> None:
        black = mask(field for field, look in enumerate(looks) if look in BLACK)
        round_ = mask(field for field, look in enumerate(looks) if look in ROUND)
        laid = mask(field for field, look in enumerate(looks) if look)
        self._areas = (black, laid & ~black, round_, laid & ~round_)

    def reach(self, start: int, taken: int) -> int:
        """Fields that a pedestrian on `start` (one bit) can walk to past the `taken` ones, `start` included."""
        reached = start
        for area in self._areas:
            if area & start:
                reached |= flood(start, area & ~taken | start)
        return reached

    def moves_to(self, goals: int, stops: int, taken: int) -> list[int]:
        """Layers of fields: layer n holds those from which `goals` is n moves away.

        Only `stops` may be stood on between moves; `taken` fields are in nobody's layer.
        """
        parts = [part for area in self._areas for part in _parts(area & ~taken)]
        layers = [goals]
        seen = frontier = goals
        while frontier and len(layers) < FAR:
            near = 0
            for part in parts:
                if part & frontier:
                    near |= part
            near &= ~seen
            layers.append(near)
            seen |= near
            frontier = near & stops
        return layers


def _parts(area: int) -> list[int]:
    parts = []
    while area:
        part = flood(area & -area, area)
        parts.append(part)
        area ^= part
    return parts


def distance(layers: Sequence[int], fields: int) -> int:
    """Moves from the nearest of `fields` to the goals that `layers` lead to; FAR if there is no way."""
    for moves, layer in enumerate(layers):
        if layer & fields:
            return moves
    return FAR
