"""The same as `leaderboard.sites` for one player against one, where everything is a single number: most results by
far."""

import math

import numpy as np

from leaderboard.gauss import Array, above, between
from leaderboard.skill import BETA

LUCK = 2 * BETA**2
"""Variance of the difference of two performances."""


class PairSites:
    """All wins, or all draws, of one player against one. One site per result."""

    def __init__(self, players: list[list[int]], times: list[int], *, drawn: bool) -> None:
        """`players`: per result the indices of both, the winner first."""
        self._one, self._other = np.array(players).T
        self._times = np.array(times, dtype=np.float64)
        self._drawn = drawn
        self._margin = 0.0
        self._precision = np.zeros(len(players))
        self._shift = np.zeros(len(players))

    def set_margin(self, margin: float) -> None:
        """In standard deviations of the luck in a match."""
        self._margin = margin * math.sqrt(LUCK)

    def sweep(self, mean: Array, covariance: Array, step: float) -> None:
        """Move every site by `step` (1: all the way) to where it matches the moments of its match."""
        gap, spread = self._difference(mean, covariance)
        precision, shift = self._message()
        # Without what this result itself has said (cavity), then with the luck of the match.
        back = 1 / (1 - spread * precision)
        middle = back * (gap - spread * shift)
        variance = back * spread + LUCK
        deviation = np.sqrt(variance)
        if self._drawn:
            moved, rest = between((-self._margin - middle) / deviation, (self._margin - middle) / deviation)
            target = np.maximum(1 / rest - 1, 0.0) / variance
        else:
            moved, taken = above((middle - self._margin) / deviation)
            target = taken / (1 - taken) / variance
        after = middle + deviation * moved
        self._precision += step * (target - self._precision)
        self._shift += step * (after * (target + 1 / variance) - middle / variance - self._shift)

    def add_to(self, precision: Array, shift: Array) -> None:
        """Add what all results together say of the skills to the natural parameters of their joint normal."""
        size = len(shift)
        site_precision, site_shift = self._message()
        weight = np.bincount(self._one * size + self._other, self._times * site_precision, size * size)
        met = weight.reshape(size, size)
        met = met + met.T
        precision -= met
        precision[np.diag_indices(size)] += met.sum(axis=1)
        pull = self._times * site_shift
        shift += np.bincount(self._one, pull, size) - np.bincount(self._other, pull, size)

    def meetings(self, mean: Array, covariance: Array) -> tuple[Array, Array, Array]:
        """As `Sites.meetings`."""
        gap, spread = self._difference(mean, covariance)
        deviation = np.sqrt(spread + LUCK)
        return gap / deviation, math.sqrt(LUCK) / deviation, self._times

    def _difference(self, mean: Array, covariance: Array) -> tuple[Array, Array]:
        """Mean and variance of the difference of the two skills."""
        one, other = self._one, self._other
        own = np.diag(covariance)
        return mean[one] - mean[other], own[one] + own[other] - 2 * covariance[one, other]

    def _message(self) -> tuple[Array, Array]:
        """The sites with the luck of the match integrated out."""
        inner = 1 / (1 + LUCK * self._precision)
        return self._precision * inner, self._shift * inner
