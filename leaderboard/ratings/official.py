"""The official table: TrueSkill's model, fitted to all results at once.

Expectation propagation (Minka, 2001) over a joint normal of all skills: every result stands in the belief as a normal
likelihood that keeps the moments of its true one, and all of them are matched again and again until nothing moves.
There is no order: equal results are counted, and the same counts give the same numbers.

Skills are known only relative to each other, so the table is centred: the mean over all entries with a rated match is
25, and sigma is the uncertainty of an entry against that mean. 1.96 sigma on both sides are a 95 % interval. Entries
that have not met, not even through others, have no common scale: each group of those that have is centred for itself.
With anchors, the mean of the anchors takes the place of the field's.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, combinations, pairwise, product
from statistics import NormalDist

import numpy as np

from leaderboard.ratings.anchors import ELO_PER_MU, Frame, among, centring_of, frame_of, joined, offsets_of
from leaderboard.ratings.skill import BETA, MU, SIGMA, Array, Skill, above, between, cdf, pdf
from leaderboard.records import MatchRow
from leaderboard.results import Result, groups_of, tally, tied_pairs

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

PAIR_LUCK = 2 * BETA**2
"""Variance of the difference of two performances."""

INNER_ROUNDS = 3
"""Times that the comparisons within a match are reconciled in one sweep."""

_AT_ONCE = 50_000
"""Results of more than two players that are computed together: the matrices of more would take gigabytes."""

_MARGIN_ROUNDS = 30
_ROUGH = 1e-2
_LEAST_STEP = 0.05


@dataclass(frozen=True, slots=True)
class Official:
    """Skills by entry id, centred; `draw_probability` is that of two equal entries, 0 in a game without a tie.

    `covariance` has a row per entry in the order of `skills`. `settled` is False if the numbers moved to the end.
    `groups` are those that have met: ratings of different groups cannot be compared. `spreads` are the deviations
    against the mean of the group, where there are anchors: the deviations of `skills` are against these.
    """

    skills: Mapping[str, Skill]
    covariance: Array
    draw_probability: float
    sweeps: int
    settled: bool
    groups: Sequence[frozenset[str]] = ()
    spreads: Mapping[str, float] = field(default_factory=dict)
    _places: Mapping[str, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_places", {entry: place for place, entry in enumerate(self.skills)})

    def conservative(self, entry: str) -> float:
        """mu - 3 sigma, what tables are ranked by. Also with anchors, sigma is against the mean of the group: that an
        anchor is known exactly against itself says nothing of its rank."""
        skill = self.skills[entry]
        return skill.mu - 3 * self.spreads.get(entry, skill.sigma)

    def better(self, one: str, other: str) -> float:
        """The probability that `one` is stronger than `other`; 0.5 for an entry without a rated match."""
        variance = self._variance(one, other)
        if variance <= 0:
            first, second = (self.skills.get(entry, Skill()).mu for entry in (one, other))
            fixed = one in self.skills and other in self.skills and first != second
            return float(first > second) if fixed else 0.5
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
        a, b = self._places[one], self._places[other]
        return float(self.covariance[a, a] + self.covariance[b, b] - 2 * self.covariance[a, b])


def rate(matches: Iterable[MatchRow], anchors: Mapping[str, float] | None = None) -> Official:
    """The official ratings over rated matches, in any order. `anchors` are ratings in Elo points that are fixed."""
    return rate_results(tally(matches), anchors=anchors)


def rate_results(
    results: Mapping[Result, int], tolerance: float = TOLERANCE, *, anchors: Mapping[str, float] | None = None
) -> Official:
    """The official ratings of all entries that occur in `results`; the mean of the anchors among them is 25, if there
    is one."""
    entries = sorted({entry for result in results for group in result for team in group for entry in team})
    if not entries:
        return Official({}, np.zeros((0, 0)), 0.0, 0, True)
    sites = make_sites(results, {entry: place for place, entry in enumerate(entries)})
    ties, pairs = tied_pairs(results)
    margin = _margin(min(ties / pairs, MAX_DRAW_PROBABILITY))
    fixed = among(entries, anchors or {})
    offsets = offsets_of(fixed, ELO_PER_MU)
    belief = _Belief(sites, len(entries), frame_of(entries, offsets))
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
    groups = joined(groups_of(results), fixed)
    spreads: dict[str, float] = {}
    if fixed:
        plain = centring_of(entries, groups)
        against_mean = np.sqrt(np.maximum(np.diag(plain @ belief.covariance @ plain.T), 0.0))
        spreads = dict(zip(entries, map(float, against_mean), strict=True))
    centring = centring_of(entries, groups, fixed)
    covariance = centring @ belief.covariance @ centring.T
    means = centring @ belief.mean
    for place, entry in enumerate(entries):
        if entry in offsets:  # exact, whatever digits the sums have lost
            means[place] = offsets[entry]
            covariance[place, :] = covariance[:, place] = 0.0
    deviations = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    skills = {
        entry: Skill(MU + float(mean), float(deviation))
        for entry, mean, deviation in zip(entries, means, deviations, strict=True)
    }
    return Official(skills, covariance, 2 * NormalDist().cdf(margin) - 1, belief.sweeps, settled, groups, spreads)


class PairSites:
    """All wins, or all draws, of one player against one, where everything is a single number: most results by far.
    One site per result."""

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
        self._margin = margin * math.sqrt(PAIR_LUCK)

    def sweep(self, mean: Array, covariance: Array, step: float) -> None:
        """Move every site by `step` (1: all the way) to where it matches the moments of its match."""
        gap, spread = self._difference(mean, covariance)
        precision, shift = self._message()
        # Without what this result itself has said (cavity), then with the luck of the match.
        back = 1 / (1 - spread * precision)
        middle = back * (gap - spread * shift)
        variance = back * spread + PAIR_LUCK
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
        deviation = np.sqrt(spread + PAIR_LUCK)
        return gap / deviation, math.sqrt(PAIR_LUCK) / deviation, self._times

    def _difference(self, mean: Array, covariance: Array) -> tuple[Array, Array]:
        """Mean and variance of the difference of the two skills."""
        one, other = self._one, self._other
        own = np.diag(covariance)
        return mean[one] - mean[other], own[one] + own[other] - 2 * covariance[one, other]

    def _message(self) -> tuple[Array, Array]:
        """The sites with the luck of the match integrated out."""
        inner = 1 / (1 + PAIR_LUCK * self._precision)
        return self._precision * inner, self._shift * inner


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
    sites: list[Sites | PairSites] = []
    for shape, (players, times) in sorted(shapes.items()):
        if [size for group in shape for size in group] == [1, 1]:
            sites.append(PairSites(players, times, drawn=len(shape) == 1))
            continue
        for first in range(0, len(players), _AT_ONCE):
            last = first + _AT_ONCE
            sites.append(Sites(shape, players[first:last], times[first:last]))
    return sites


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


class _Belief:
    """The joint normal of all skills."""

    def __init__(self, sites: list[Sites | PairSites], size: int, frame: Frame | None = None) -> None:
        self.sites = sites
        self.mean = np.full(size, MU)
        self.covariance = np.eye(size) * SIGMA**2
        self._frame = frame
        if frame is not None:
            self.mean, self.covariance = self._solve(np.eye(size) / SIGMA**2, np.full(size, MU / SIGMA**2))
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
        mean, covariance = self._solve(precision, shift)
        moved = np.abs(mean - self.mean).max()
        widened = np.abs(np.sqrt(np.diag(covariance)) - np.sqrt(np.diag(self.covariance))).max()
        self.mean, self.covariance = mean, covariance
        self.sweeps += 1
        return float(max(moved, widened))

    def _solve(self, precision: Array, shift: Array) -> tuple[Array, Array]:
        """Mean and covariance of the skills."""
        if self._frame is not None:
            precision, shift = self._frame.narrow(precision, shift)
        covariance = positive_inverse(precision)
        covariance = (covariance + covariance.T) / 2
        mean = covariance @ shift
        if self._frame is None:
            return mean, covariance
        matrix = self._frame.matrix
        return matrix @ mean + self._frame.offset, matrix @ covariance @ matrix.T


_WHOLE = 256
"""Matrices up to this size are inverted as they are."""


def positive_inverse(matrix: Array) -> Array:
    """The inverse of a symmetric positive definite matrix, by halves (Schur's complement): nearly all of it is products
    of matrices, which takes less than half the time of a general inverse."""
    size = len(matrix)
    if size <= _WHOLE:
        return np.asarray(np.linalg.inv(matrix), dtype=np.float64)
    half = size // 2
    corner = matrix[:half, half:]
    first = positive_inverse(matrix[:half, :half])
    across = first @ corner
    second = positive_inverse(matrix[half:, half:] - corner.T @ across)
    pull = across @ second
    made = np.empty_like(matrix)
    made[:half, :half] = first + pull @ across.T
    made[:half, half:] = -pull
    made[half:, :half] = -pull.T
    made[half:, half:] = second
    return made


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
