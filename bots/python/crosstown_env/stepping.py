"""Matches that are stepped together, and the arrays in which their positions lie."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from math import prod
from random import Random
from typing import Any

import numpy as np
import numpy.typing as npt

from crosstown_env.actions import PACKED, PACKED_BYTES
from crosstown_env.table import Setup, Table
from referee.games.api import IllegalAction
from referee.garbage import no_collection

_ALIGN = 64


@dataclass(frozen=True)
class Columns:
    """One row per match. After a step they say what the seat that is asked next sees."""

    observations: npt.NDArray[np.int8]
    """What that seat sees: see `Arrays.layout`."""
    masks: npt.NDArray[np.int8]
    """1 for each number of a legal action."""
    seats: npt.NDArray[np.int8]
    """The seat that is asked."""
    samples: npt.NDArray[np.int32]
    """One of the legal actions, each with the same probability: for random play and exploration."""
    actions: npt.NDArray[np.int32]
    """What was chosen: `step` copies its argument there."""
    rewards: npt.NDArray[np.float32]
    """Per seat what the last step has earned it."""
    dones: npt.NDArray[np.bool_]
    """Whether the last step ended a match. If so, the row shows the first position of the next match already."""
    ranks: npt.NDArray[np.int8]
    """Per seat its rank in the match that ended; 0 where none did."""
    lengths: npt.NDArray[np.int32]
    """The decisions of the match that ended; 0 where none did."""


def _shapes(setup: Setup, n: int) -> dict[str, tuple[tuple[int, ...], Any]]:
    size, actions, players = setup.arrays.layout.size, setup.arrays.actions.size, setup.players
    return {
        "observations": ((n, size), np.int8),
        "masks": ((n, actions), np.int8),
        "seats": ((n,), np.int8),
        "samples": ((n,), np.int32),
        "actions": ((n,), np.int32),
        "rewards": ((n, players), np.float32),
        "dones": ((n,), np.bool_),
        "ranks": ((n, players), np.int8),
        "lengths": ((n,), np.int32),
    }


def bytes_for(setup: Setup, n: int) -> int:
    """The size of a buffer for the columns of `n` matches."""
    return sum(_room(shape, kind) for shape, kind in _shapes(setup, n).values())


def columns_in(buffer: Any, setup: Setup, n: int) -> Columns:
    """The columns of `n` matches in a buffer."""
    made, at = {}, 0
    for name, (shape, kind) in _shapes(setup, n).items():
        made[name] = np.ndarray(shape, kind, buffer, at)
        at += _room(shape, kind)
    return Columns(**made)


def _room(shape: tuple[int, ...], kind: Any) -> int:
    return -(-prod(shape) * int(np.dtype(kind).itemsize) // _ALIGN) * _ALIGN


def part_of(columns: Columns, first: int, count: int) -> Columns:
    """The rows of some of the matches."""
    names = [field.name for field in fields(Columns)]
    parts: Mapping[str, Any] = {name: getattr(columns, name)[first : first + count] for name in names}
    return Columns(**parts)


class Stepper:
    """Plays the matches of some rows. The luck of a match follows from the seed and its place among all matches."""

    def __init__(self, setup: Setup, columns: Columns, first: int) -> None:
        self._setup, self._columns, self._first = setup, columns, first
        self._count = len(columns.seats)
        self._rows = memoryview(columns.observations).cast("B")  # type: ignore[arg-type]
        self._masks = columns.masks.reshape(-1)
        self._starts = np.arange(self._count) * columns.masks.shape[1]
        """Per match the place of its mask in `_masks`."""
        self._marked = np.zeros(0, np.intp)
        """The places in `_masks` that are 1."""
        self._tables: list[Table] = []
        self._lengths = [0] * self._count

    def reset(self, seed: int) -> None:
        """Begin all matches."""
        with no_collection():
            self._reset(seed)

    def step(self) -> None:
        """Do what `actions` says. ValueError, and no match has been stepped, if an action is illegal."""
        with no_collection():  # matches hold no cycles, and the collector would look at all of them over and over
            self._step()

    def _reset(self, seed: int) -> None:
        setup, first = self._setup, self._first
        self._tables = [Table(setup, Random(f"{seed}/{number}")) for number in range(first, first + self._count)]
        self._lengths = [0] * self._count
        columns = self._columns
        columns.rewards[:], columns.dones[:], columns.ranks[:], columns.lengths[:] = 0, False, 0, 0
        self._show()

    def _step(self) -> None:
        columns, lengths = self._columns, self._lengths
        actions = columns.actions
        self._check(actions)
        columns.dones[:], columns.ranks[:], columns.lengths[:] = False, 0, 0
        earned = []
        for place, (table, action) in enumerate(zip(self._tables, actions.tolist(), strict=True)):
            try:
                table.answer_legal(action)
            except IllegalAction as error:  # the mask was changed from outside
                raise ValueError(f"match {self._first + place}: {error}") from None
            earned.append(table.earned)
            lengths[place] += 1
            if table.over:
                columns.dones[place] = True
                columns.ranks[place] = table.state.ranking()
                columns.lengths[place] = lengths[place]
                lengths[place] = 0
                table.start(table.rng)
        columns.rewards[:] = earned
        self._show()

    def _check(self, actions: npt.NDArray[np.int32]) -> None:
        """ValueError if an action is illegal."""
        inside = (actions >= 0) & (actions < self._columns.masks.shape[1])
        allowed = inside & (self._masks[self._starts + np.where(inside, actions, 0)] == 1)
        for place in np.flatnonzero(~allowed).tolist():
            table = self._tables[place]
            try:
                table.check(table.seat, int(actions[place]))
            except ValueError as error:
                raise ValueError(f"match {self._first + place}: {error}") from None

    def _show(self) -> None:
        """Fill in what the seats see that are asked next, and may do."""
        columns, tables, masks = self._columns, self._tables, self._masks
        states, seats = [table.state for table in tables], [table.seat for table in tables]
        columns.seats[:] = seats
        # One thing for all matches, then the next: code stays in the caches of the processor.
        self._rows[:] = b"".join(map(self._setup.arrays.row, states, seats))
        legal = list(map(self._setup.arrays.numbers, states, seats))
        counts = np.array([len(numbers) for numbers in legal]) // PACKED_BYTES
        numbers = np.frombuffer(b"".join(legal), PACKED)
        draws = np.array([table.rng.random() for table in tables])
        columns.samples[:] = numbers[np.cumsum(counts) - counts + (draws * counts).astype(np.intp)]
        masks[self._marked] = 0
        self._marked = np.repeat(self._starts, counts) + numbers
        masks[self._marked] = 1
