"""Results of one shape as arrays: what one sweep of expectation propagation needs of them.

A result of the TrueSkill model (Herbrich, Minka and Graepel, 2006): every player performs with normal luck of
standard deviation beta around the own skill, a team performs with the sum, and who wins performs better by more than
a margin. Teams that tie are within the margin of each other, every pair of them, and each of them is beyond the
margin of each team of the next rank. Without ties, and with two teams, this is the chain of the paper; a chain through
teams that tie would treat them differently by where they stand in it, this treats all of them alike.
"""

from collections.abc import Mapping, Sequence
from itertools import accumulate, combinations, pairwise, product

import numpy as np

from leaderboard.gauss import Array, above, between
from leaderboard.pair_sites import PairSites
from leaderboard.results import Result
from leaderboard.skill import BETA

INNER_ROUNDS = 3
"""Times that the comparisons within a match are reconciled in one sweep."""


class Sites:
    """All results with the same numbers of players and the same ties. One site per comparison of two teams.

    A site stands for one comparison as a normal likelihood of the difference of performances, exp(shift * d -
    precision * d^2 / 2). A result that came about `times` times has one set of sites, which counts so often.
    """

    def __init__(self, shape: Sequence[Sequence[int]], players: list[list[int]], times: list[int]) -> None:
        """`shape`: per rank the sizes of its teams. `players`: per result the indices of its players in that order."""
        sizes = [size for group in shape for size in group]
        tied, won = _comparisons(shape)
        differences, players_of = _rows(sizes, tied + won)
        self._meetings, self._meeting_players = _rows(sizes, list(combinations(range(len(sizes)), 2)))
        self._players = np.array(players)
        self._times = np.array(times, dtype=np.float64)
        self._differences = differences
        self._ties = np.array([True] * len(tied) + [False] * len(won))
        self._luck = differences @ differences.T * BETA**2
        self._unit = np.sqrt(players_of) * BETA
        self._identity = np.eye(len(differences))
        self._margin = 0.0
        self._precision = np.zeros((len(players), len(differences)))
        self._shift = np.zeros_like(self._precision)

    def set_margin(self, margin: float) -> None:
        """In standard deviations of the luck in a comparison."""
        self._margin = margin

    def sweep(self, mean: Array, covariance: Array, step: float) -> None:
        """Move every site by `step` (1: all the way) to where it matches the moments of its comparison."""
        expected = mean[self._players] @ self._differences.T
        spread = self._spread(covariance)
        precision, shift = self._message()
        # Without what this result itself has said (cavity), then with the luck of the match.
        back = _inverse(self._identity - spread @ precision)
        prior_mean = _times(back, expected - _times(spread, shift))
        prior = back @ spread + self._luck
        for _ in range(INNER_ROUNDS if len(self._differences) > 1 else 1):
            onward = _inverse(self._identity + prior * self._precision[:, None, :])
            posterior = np.einsum("uij,ujk->uik", onward, prior)
            posterior_mean = _times(onward, prior_mean + _times(prior, self._shift))
            variance = np.einsum("ujj->uj", posterior)
            cavity = np.maximum(1 / variance - self._precision, 1e-12)
            target = self._match((posterior_mean / variance - self._shift) / cavity, 1 / cavity)
            self._precision += step * (target[0] - self._precision)
            self._shift += step * (target[1] - self._shift)

    def add_to(self, precision: Array, shift: Array) -> None:
        """Add what all results together say of the skills to the natural parameters of their joint normal."""
        size = len(shift)
        site_precision, site_shift = self._message()
        seats, columns = self._players, self._differences
        squares = self._times[:, None, None] * (columns.T @ site_precision @ columns)
        flat = (seats[:, :, None] * size + seats[:, None, :]).ravel()
        precision += np.bincount(flat, weights=squares.ravel(), minlength=size * size).reshape(size, size)
        sums = self._times[:, None] * (site_shift @ columns)
        shift += np.bincount(seats.ravel(), weights=sums.ravel(), minlength=size)

    def meetings(self, mean: Array, covariance: Array) -> tuple[Array, Array, Array]:
        """Of every two teams that met: the expected difference of their performances and its luck, both in its standard
        deviations (the uncertainty of skills included), and how often they met with this result."""
        expected = mean[self._players] @ self._meetings.T
        joint = covariance[self._players[:, :, None], self._players[:, None, :]]
        variance = np.einsum("ji,uik,jk->uj", self._meetings, joint, self._meetings, optimize=True)
        luck = np.sqrt(self._meeting_players) * BETA
        deviation = np.sqrt(variance + luck**2)
        times = np.repeat(self._times, len(self._meetings))
        share: Array = luck / deviation
        return (expected / deviation).ravel(), share.ravel(), times

    def _spread(self, covariance: Array) -> Array:
        seats = self._players
        joint = covariance[seats[:, :, None], seats[:, None, :]]
        spread: Array = self._differences @ joint @ self._differences.T
        return spread

    def _message(self) -> tuple[Array, Array]:
        """The sites with the luck of the match integrated out: precision and shift over the differences of skills."""
        inner = _inverse(self._identity + self._luck * self._precision[:, None, :])
        return self._precision[:, :, None] * inner, np.einsum("uji,uj->ui", inner, self._shift)

    def _match(self, mean: Array, variance: Array) -> tuple[Array, Array]:
        """Precision and shift of the site under which a normal difference keeps the moments that the outcome gives."""
        margin = self._margin * self._unit
        deviation = np.sqrt(variance)
        precision = np.empty_like(variance)
        moved = np.empty_like(variance)
        won, tied = ~self._ties, self._ties
        if won.any():
            v, w = above((mean[:, won] - margin[won]) / deviation[:, won])
            precision[:, won] = w / (1 - w) / variance[:, won]
            moved[:, won] = mean[:, won] + deviation[:, won] * v
        if tied.any():
            low, high = (-margin[tied] - mean[:, tied]), (margin[tied] - mean[:, tied])
            middle, rest = between(low / deviation[:, tied], high / deviation[:, tied])
            precision[:, tied] = np.maximum(1 / rest - 1, 0.0) / variance[:, tied]
            moved[:, tied] = mean[:, tied] + deviation[:, tied] * middle
        return precision, moved * (precision + 1 / variance) - mean / variance


def make_sites(results: Mapping[Result, int], place: Mapping[str, int]) -> list[Sites | PairSites]:
    """The results by shape. `place`: the index of every entry. The same for any order of `results`."""
    shapes: dict[tuple[tuple[int, ...], ...], tuple[list[list[int]], list[int]]] = {}
    for result in sorted(results):
        shape = tuple(tuple(len(team) for team in group) for group in result)
        players, times = shapes.setdefault(shape, ([], []))
        players.append([place[entry] for group in result for team in group for entry in team])
        times.append(results[result])
    return [
        PairSites(players, times, drawn=len(shape) == 1)
        if [size for group in shape for size in group] == [1, 1]
        else Sites(shape, players, times)
        for shape, (players, times) in sorted(shapes.items())
    ]


def _comparisons(shape: Sequence[Sequence[int]]) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """Pairs of teams that must be within the margin of each other, and pairs of which the first must be beyond it."""
    groups: list[list[int]] = []
    for group in shape:
        first = sum(map(len, groups))
        groups.append(list(range(first, first + len(group))))
    tied = [pair for group in groups for pair in combinations(group, 2)]
    won = [pair for better, worse in pairwise(groups) for pair in product(better, worse)]
    return tied, won


def _rows(sizes: Sequence[int], pairs: Sequence[tuple[int, int]]) -> tuple[Array, Array]:
    """Per pair of teams +1 and -1 for the players of the one and the other, and how many players they have."""
    starts = [0, *accumulate(sizes)]
    rows = np.zeros((len(pairs), starts[-1]))
    for row, (one, other) in zip(rows, pairs, strict=True):
        row[starts[one] : starts[one + 1]] = 1
        row[starts[other] : starts[other + 1]] = -1
    return rows, np.abs(rows).sum(axis=1)


def _inverse(matrices: Array) -> Array:
    if matrices.shape[-1] == 1:
        return 1 / matrices
    return np.asarray(np.linalg.inv(matrices), dtype=np.float64)


def _times(matrices: Array, vectors: Array) -> Array:
    applied: Array = np.einsum("uij,uj->ui", matrices, vectors)
    return applied
