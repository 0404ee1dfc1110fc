"""Anchors: entries whose rating is fixed, to which all others are relative.

One anchor is only another zero: the differences between ratings are those without it. Several also fix the differences
between themselves, so their skills are one unknown: skills = matrix @ unknowns + offset.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from leaderboard.ratings.skill import BETA, Array

ELO = 400 / math.log(10)
"""Elo points per unit of the natural logarithm of the odds."""

ELO_PER_MU = 4 * ELO / math.sqrt(2 * math.pi) / (math.sqrt(2) * BETA)
"""How many Elo points one point of mu is: both change the chance to win by the same between equals."""


@dataclass(frozen=True, slots=True)
class Frame:
    """What is unknown of the skills of several entries when the differences between some of them are fixed."""

    matrix: Array
    offset: Array

    def narrow(self, precision: Array, shift: Array) -> tuple[Array, Array]:
        """Natural parameters of the unknowns, from those of the skills."""
        return self.matrix.T @ precision @ self.matrix, self.matrix.T @ (shift - precision @ self.offset)


def among(entries: Sequence[str], anchors: Mapping[str, float]) -> dict[str, float]:
    """The anchors that occur, by entry id, in the order of `entries`."""
    return {entry: anchors[entry] for entry in entries if entry in anchors}


def offsets_of(anchors: Mapping[str, float], points: float) -> dict[str, float]:
    """How far each anchor is above their mean, in units of so many `points`."""
    mean = math.fsum(anchors.values()) / len(anchors) if anchors else 0.0
    return {entry: (value - mean) / points for entry, value in anchors.items()}


def frame_of(entries: Sequence[str], offsets: Mapping[str, float]) -> Frame | None:
    """None where no difference is fixed."""
    if len(offsets) < 2:
        return None
    free = [entry for entry in entries if entry not in offsets]
    matrix = np.zeros((len(entries), 1 + len(free)))
    column = {entry: place for place, entry in enumerate(free, start=1)}
    for row, entry in enumerate(entries):
        matrix[row, column.get(entry, 0)] = 1.0
    return Frame(matrix, np.array([offsets.get(entry, 0.0) for entry in entries]))


def joined(groups: Sequence[frozenset[str]], anchors: Mapping[str, float]) -> list[frozenset[str]]:
    """The groups of entries that have a common scale: those with an anchor have it through the anchors."""
    tied = [group for group in groups if not group.isdisjoint(anchors)]
    if len(tied) < 2:
        return list(groups)
    made = [frozenset().union(*tied), *(group for group in groups if group.isdisjoint(anchors))]
    return sorted(made, key=lambda found: (-len(found), min(found)))


def centring_of(
    entries: Sequence[str], groups: Sequence[frozenset[str]], anchors: Mapping[str, float] | None = None
) -> Array:
    """The matrix that takes from every entry the mean of its group, or that of the anchors in its group."""
    number = {entry: place for place, group in enumerate(groups) for entry in group}
    member = np.array([[number[entry] == place for place in range(len(groups))] for entry in entries], dtype=np.float64)
    known = member
    if anchors:
        fixed = member * np.array([[entry in anchors] for entry in entries])
        known = np.where(fixed.any(axis=0), fixed, member)
    centring: Array = np.eye(len(entries)) - member @ (known / known.sum(axis=0)).T
    return centring
