"""How an observation lies in a flat array, and how an array becomes features for a network."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

BASE = 100
"""A count that may be larger than an int8 is two numbers: hundreds, then the rest."""
MOST = 127

Rows = npt.NDArray[np.int8]
Floats = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Field:
    """A group of numbers of an observation with one meaning.

    `low` and `high` are the least and the greatest value. A value of -1 in a field whose lowest value is -1 means that
    there is none: on the wire the field is absent. `kind` is 'number' (larger is more), or 'category' (a name or an
    identity, to be shown to a network as one flag per value).
    """

    name: str
    meaning: str
    size: int
    low: int
    high: int
    kind: str = "number"
    names: tuple[str, ...] = ()
    """Of the values of a category, from `low` on."""
    over: int = 0
    """Number of equal parts, one for each seat (or each of the two teams), one after another; 0: no such parts."""
    holds: int = 0
    """Values name one of this number of seats (or teams); 0: they name none."""
    holds_from: int = 0
    """The value that names seat 0."""
    holds_step: int = 1
    """Values per seat."""


def number(name: str, meaning: str, high: int, size: int = 1, low: int = 0, over: int = 0) -> Field:
    """A field of counts. Values above 127 are shown as 127."""
    return Field(name, meaning, size, low, min(high, MOST), over=over)


def large(name: str, meaning: str) -> Field:
    """A count from 0 to 12,799 in two numbers."""
    return Field(name, f"{meaning} Two numbers: hundreds, then the rest.", 2, 0, MOST)


def flags(name: str, meaning: str, size: int = 1, over: int = 0) -> Field:
    """A field of yes (1) and no (0)."""
    return Field(name, meaning, size, 0, 1, over=over)


def category(name: str, meaning: str, low: int, high: int, size: int = 1, over: int = 0) -> Field:
    """A field of identities."""
    return Field(name, meaning, size, low, high, "category", over=over)


def named(name: str, meaning: str, names: Sequence[str]) -> Field:
    """One of these names, numbered from 1 as on the wire; 0 is an empty first name."""
    return Field(name, meaning, 1, 0 if not names[0] else 1, len(names) - (not names[0]), "category", tuple(names))


def seat(name: str, meaning: str, seats: int, low: int = 0, high: int | None = None, size: int = 1) -> Field:
    """A seat; values below 0 and above the seats name no seat."""
    return Field(name, meaning, size, low, seats - 1 if high is None else high, "category", holds=seats)


def owner(name: str, meaning: str, seats: int, size: int, step: int = 1) -> Field:
    """0 for no seat, else 1 + seat (or 1 + `step` * seat + a number below `step`)."""
    return Field(name, meaning, size, 0, seats * step, "category", holds=seats, holds_from=1, holds_step=step)


@dataclass(frozen=True, slots=True)
class Layout:
    """The fields of an array, one after another. The first one is the viewer's seat."""

    fields: tuple[Field, ...]

    @property
    def size(self) -> int:
        """How many numbers an observation has."""
        return sum(field.size for field in self.fields)

    def starts(self) -> list[int]:
        """Per field its first place."""
        found, at = [], 0
        for field in self.fields:
            found.append(at)
            at += field.size
        return found

    def slice_of(self, name: str) -> slice:
        """Where the field of this name lies. KeyError if there is none."""
        for field, start in zip(self.fields, self.starts(), strict=True):
            if field.name == name:
                return slice(start, start + field.size)
        raise KeyError(f"there is no field '{name}'; there are: {', '.join(field.name for field in self.fields)}")

    def low(self) -> Rows:
        """Per number its least value."""
        return np.concatenate([np.full(field.size, field.low, np.int8) for field in self.fields])

    def high(self) -> Rows:
        """Per number its greatest value."""
        return np.concatenate([np.full(field.size, field.high, np.int8) for field in self.fields])


class Features:
    """Turns observations into `float32` numbers from about -1 to 1 for a network.

    Numbers are divided by their greatest value. A category becomes one flag for each of its values. Seats (and teams)
    are counted from the viewer, so that one network plays all seats: the viewer's own part comes first, and where a
    value names a seat, 0 is the viewer's own.
    """

    def __init__(self, layout: Layout, players: int) -> None:
        self._layout = layout
        fields = list(zip(layout.fields, layout.starts(), strict=True))
        self._order = np.stack([self._rotated(fields, viewer) for viewer in range(players)])
        self._shifts = [(np.arange(start, start + field.size), field) for field, start in fields[1:] if field.holds]
        numbers = [(field, start) for field, start in fields if field.kind == "number"]
        self._numbers = np.concatenate([np.arange(start, start + field.size) for field, start in numbers])
        self._scale = np.concatenate(
            [np.full(field.size, 1 / max(abs(field.low), field.high, 1), np.float32) for field, _ in numbers]
        )
        by_range: dict[tuple[int, int], list[npt.NDArray[np.intp]]] = {}
        for field, start in fields[1:]:
            if field.kind == "category":
                places = np.arange(start, start + field.size)
                by_range.setdefault((field.low, field.high), []).append(places)
        self._categories = [
            (np.concatenate(places), np.arange(low, high + 1, dtype=np.int8))
            for (low, high), places in by_range.items()
        ]
        self.size = len(self._numbers) + sum(len(places) * len(values) for places, values in self._categories)
        """How many features there are."""

    @staticmethod
    def _rotated(fields: list[tuple[Field, int]], viewer: int) -> npt.NDArray[np.intp]:
        """Per number the place it is taken from."""
        parts = []
        for field, start in fields:
            places = np.arange(start, start + field.size)
            if field.over:
                places = np.roll(places.reshape(field.over, -1), -(viewer % field.over), axis=0).ravel()
            parts.append(places)
        return np.concatenate(parts)

    def __call__(self, observations: Rows) -> Floats:
        """Of (n, layout.size) observations the (n, size) features."""
        viewers = observations[:, 0].astype(np.intp)
        turned = np.take_along_axis(observations, self._order[viewers], axis=1)
        for places, field in self._shifts:
            values = turned[:, places].astype(np.intp) - field.holds_from
            held, rest = np.divmod(values, field.holds_step)
            known = (values >= 0) & (held < field.holds)
            moved = (held - viewers[:, None]) % field.holds * field.holds_step + rest
            turned[:, places] = np.where(known, moved, values) + field.holds_from
        parts = [turned[:, self._numbers].astype(np.float32) * self._scale]
        for members, range_ in self._categories:
            parts.append((turned[:, members, None] == range_).reshape(len(turned), -1).astype(np.float32))
        return np.concatenate(parts, axis=1)
