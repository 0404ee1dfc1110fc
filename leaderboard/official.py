"""The official table: TrueSkill's model, fitted to all results at once.

Expectation propagation (Minka, 2001) over a joint normal of all skills: every result stands in the belief as a normal
likelihood that keeps the moments of its true one, and all of them are matched again and again until nothing moves.
There is no order: equal results are counted, and the same counts give the same numbers.

Skills are known only relative to each other, so the table is centred: the mean over all entries with a rated match is
25, and sigma is the uncertainty of an entry against that mean. 1.96 sigma on both sides are a 95 % interval. Entries
that have not met, not even through others, have no common scale: each group of those that have is centred for itself.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from leaderboard.gauss import Array, cdf, pdf
from leaderboard.pair_sites import PairSites
from leaderboard.records import MatchRow
from leaderboard.results import Result, groups_of, tally, tied_pairs
from leaderboard.sites import Sites, make_sites
from leaderboard.skill import BETA, MU, SIGMA, Skill

INTERVAL_95 = NormalDist().inv_cdf(0.975)

METHOD = (
    "TrueSkill's model over all rated matches at once (expectation propagation): no order, tau 0;"
    " mu is relative to the field's mean of 25"
)

TOLERANCE = 1e-6
"""Change of any mean or standard deviation in one sweep below which nothing moves any more."""

MAX_SWEEPS = 2000
MAX_DRAW_PROBABILITY = 0.99
"""With 1 the margin within which a match is a draw would be infinite."""

_MARGIN_ROUNDS = 30
_ROUGH = 1e-2
_LEAST_STEP = 0.05


@dataclass(frozen=True, slots=True)
class Official:
    """Skills by entry id, centred; `draw_probability` is that of two equal entries, 0 in a game without a tie.

    `covariance` has a row per entry in the order of `skills`. `settled` is False if the numbers moved to the end.
    `groups` are those that have met: ratings of different groups cannot be compared.
    """

    skills: Mapping[str, Skill]
    covariance: Array
    draw_probability: float
    sweeps: int
    settled: bool
    groups: Sequence[frozenset[str]] = ()

    def better(self, one: str, other: str) -> float:
        """The probability that `one` is stronger than `other`; 0.5 for an entry without a rated match."""
        variance = self._variance(one, other)
        if variance <= 0:
            return 0.5
        return NormalDist().cdf((self.skills[one].mu - self.skills[other].mu) / math.sqrt(variance))

    def gap(self, one: str, other: str) -> float:
        """How far `one` is expected to perform above `other` in a match, both rated, in standard deviations: the
        uncertainty of their skills and the luck of both."""
        deviation = math.sqrt(self._variance(one, other) + 2 * BETA**2)
        return (self.skills[one].mu - self.skills[other].mu) / deviation

    def _variance(self, one: str, other: str) -> float:
        """Of the difference of the skills; 0 where one of them is not rated."""
        if one not in self.skills or other not in self.skills:
            return 0.0
        order = list(self.skills)
        a, b = order.index(one), order.index(other)
        return float(self.covariance[a, a] + self.covariance[b, b] - 2 * self.covariance[a, b])


def rate(matches: Iterable[MatchRow]) -> Official:
    """The official ratings over rated matches, in any order."""
    return rate_results(tally(matches))


def rate_results(results: Mapping[Result, int], tolerance: float = TOLERANCE) -> Official:
    """The official ratings of all entries that occur in `results`."""
    entries = sorted({entry for result in results for group in result for team in group for entry in team})
    if not entries:
        return Official({}, np.zeros((0, 0)), 0.0, 0, True)
    sites = make_sites(results, {entry: place for place, entry in enumerate(entries)})
    ties, pairs = tied_pairs(results)
    margin = _margin(min(ties / pairs, MAX_DRAW_PROBABILITY))
    belief = _Belief(sites, len(entries))
    settled = belief.settle(margin, tolerance if not ties else _ROUGH)
    margins = [margin]
    for _ in range(_MARGIN_ROUNDS if ties else 0):
        margins.append(_matching_margin(belief, ties, margin))
        change = abs(margins[-1] - margins[-2])
        margin = margins[-1] if len(margins) % 3 else _aitken(*margins[-3:])
        margins[-1] = margin
        settled = belief.settle(margin, max(tolerance, min(_ROUGH, change / 10)))
        if change < tolerance:
            break
    groups = groups_of(results)
    centring = centring_of(entries, groups)
    covariance = centring @ belief.covariance @ centring
    means = centring @ belief.mean
    deviations = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    skills = {
        entry: Skill(MU + float(mean), float(deviation))
        for entry, mean, deviation in zip(entries, means, deviations, strict=True)
    }
    return Official(skills, covariance, 2 * NormalDist().cdf(margin) - 1, belief.sweeps, settled, groups)


def centring_of(entries: Sequence[str], groups: Sequence[frozenset[str]]) -> Array:
    """The matrix that takes from every entry the mean of its group."""
    number = {entry: place for place, group in enumerate(groups) for entry in group}
    member = np.array([[number[entry] == place for place in range(len(groups))] for entry in entries], dtype=np.float64)
    centring: Array = np.eye(len(entries)) - (member / member.sum(axis=0)) @ member.T
    return centring


class _Belief:
    """The joint normal of all skills."""

    def __init__(self, sites: list[Sites | PairSites], size: int) -> None:
        self.sites = sites
        self.mean = np.full(size, MU)
        self.covariance = np.eye(size) * SIGMA**2
        self.sweeps = 0
        self._step = 1.0

    def settle(self, margin: float, tolerance: float) -> bool:
        """Sweep until nothing moves. Steps get smaller when the movement does not."""
        for group in self.sites:
            group.set_margin(margin)
        last_change = math.inf
        while self.sweeps < MAX_SWEEPS:
            change = self._sweep(self._step)
            if change < tolerance:
                return True
            if change > 0.95 * last_change and self._step > _LEAST_STEP:
                self._step *= 0.7
            last_change = change
        return False

    def _sweep(self, step: float) -> float:
        """The largest change of a mean or a standard deviation."""
        for group in self.sites:
            group.sweep(self.mean, self.covariance, step)
        precision = np.eye(len(self.mean)) / SIGMA**2
        shift = np.full(len(self.mean), MU / SIGMA**2)
        for group in self.sites:
            group.add_to(precision, shift)
        covariance = np.linalg.inv(precision)
        covariance = (covariance + covariance.T) / 2
        mean = covariance @ shift
        moved = np.abs(mean - self.mean).max()
        widened = np.abs(np.sqrt(np.diag(covariance)) - np.sqrt(np.diag(self.covariance))).max()
        self.mean, self.covariance = mean, covariance
        self.sweeps += 1
        return float(max(moved, widened))


def _margin(draw_probability: float) -> float:
    """Of two equal entries, in standard deviations of the luck between them."""
    return NormalDist().inv_cdf((1 + draw_probability) / 2)


def _aitken(first: float, second: float, third: float) -> float:
    """Where a sequence that converges in equal proportions ends, but no further than ten of its last steps."""
    one, other = second - first, third - second
    if one == 0 or not -0.9 < other / one < 0.9:
        return third
    return third + other * (other / one) / (1 - other / one)


def _matching_margin(belief: _Belief, ties: int, margin: float) -> float:
    """The margin under which as many ties are expected as there were, from a guess: Newton's method, kept in bounds.

    The share of draws alone would be too small a margin wherever the field is not of equal strength.
    """
    found = [group.meetings(belief.mean, belief.covariance) for group in belief.sites]
    gap, luck, times = (np.concatenate(parts) for parts in zip(*found, strict=True))
    low, high = 0.0, _margin(MAX_DRAW_PROBABILITY)
    for _ in range(60):
        above, below = margin * luck - gap, -margin * luck - gap
        excess = float(times @ (cdf(above) - cdf(below))) - ties
        low, high = (low, margin) if excess > 0 else (margin, high)
        slope = float(times @ (luck * (pdf(above) + pdf(below))))
        better = margin - excess / slope if slope > 0 else -1.0
        if not low < better < high:
            better = (low + high) / 2
        if abs(better - margin) < 1e-10:
            break
        margin = better
    return margin
