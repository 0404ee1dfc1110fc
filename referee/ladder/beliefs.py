"""Matchmaking's estimate of the strength of each version while the ladder runs: TrueSkill, match after match as they
end. The tables have the same model in schedule order (`leaderboard.ratings.live`); this one costs microseconds a match.

A version begins with the mu that the version before has then, and with a sigma widened by `WIDENING`.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from statistics import NormalDist

from leaderboard.ratings.skill import BETA, MU, SIGMA, WIDENING

DRAWS = 0.1
"""Share of draws that is expected."""

_LEAST = 0.01
"""No match leaves less than this share of a variance."""

_ROOT_OF_2 = math.sqrt(2)
_ROOT_OF_TAU = math.sqrt(2 * math.pi)


@dataclass(slots=True)
class Belief:
    """Mean and standard deviation, and the rated matches behind them."""

    mu: float = MU
    sigma: float = SIGMA
    matches: int = 0


@dataclass(slots=True)
class Beliefs:
    """By entry id. `bearers` has by name the version that bore it last."""

    known: dict[str, Belief] = field(default_factory=dict)
    bearers: dict[str, str] = field(default_factory=dict)

    def joined(self, entry_id: str, name: str) -> None:
        """A version is there, known before or not."""
        before = self.known.get(self.bearers.get(name, ""))
        if entry_id not in self.known:
            sigma = SIGMA if before is None else min(SIGMA, math.hypot(before.sigma, WIDENING))
            self.known[entry_id] = Belief(MU if before is None else before.mu, sigma)
        self.bearers[name] = entry_id

    def apply(
        self,
        entries: Sequence[str],
        teams: Sequence[int],
        ranking: Sequence[int],
        unapproved: frozenset[str] = frozenset(),
    ) -> None:
        """One match, per seat. For each entry it counts as if the others of `unapproved` had not been at the table, as
        in the tables (`leaderboard.ratings.approved`)."""
        if len(entries) == 2 and not unapproved and entries[0] != entries[1] and teams[0] != teams[1]:
            self._duel(entries, ranking)
            return
        prior = {entry_id: (self.known[entry_id].mu, self.known[entry_id].sigma ** 2) for entry_id in entries}
        approved = prior.keys() - unapproved if unapproved else frozenset[str]()
        if not approved:
            self._apply(entries, teams, ranking, prior, prior)
            return
        for moved in (approved, *({entry} for entry in sorted(unapproved))):
            seats = [seat for seat, entry in enumerate(entries) if entry in approved | moved]
            own = [entries[seat] for seat in seats]
            if len(set(own)) > 1:
                self._apply(own, [teams[seat] for seat in seats], [ranking[seat] for seat in seats], moved, prior)

    def _duel(self, entries: Sequence[str], ranking: Sequence[int]) -> None:
        """What `_apply` does with two bots against each other, which most matches are, to the last bit."""
        first, second = sorted(zip(ranking, entries, strict=True))
        above, below = self.known[first[1]], self.known[second[1]]
        above_variance, below_variance = above.sigma**2, below.sigma**2
        variance = above_variance + below_variance + 2 * BETA**2
        deviation = math.sqrt(variance)
        gap = (above.mu - below.mu) / deviation
        margin = _margin(2) / deviation
        v, w = _draw(gap, margin) if first[0] == second[0] else _win(gap - margin)
        for belief, own, sign in ((above, above_variance, 1.0), (below, below_variance, -1.0)):
            belief.mu += sign * own / deviation * v
            belief.sigma = math.sqrt(own * max(_LEAST, 1 - own / variance * w))
            belief.matches += 1

    def _apply(
        self,
        entries: Sequence[str],
        teams: Sequence[int],
        ranking: Sequence[int],
        moved: Iterable[str],
        prior: Mapping[str, tuple[float, float]],
    ) -> None:
        """Each team is compared with the next one in the ranking, as in TrueSkill's chain. `prior`: mean and variance
        before the match."""
        members: dict[int, list[str]] = {}
        ranks: dict[int, int] = {}
        for entry_id, team, rank in zip(entries, teams, ranking, strict=True):
            members.setdefault(team, []).append(entry_id)
            ranks[team] = min(rank, ranks.get(team, rank))
        order = sorted(members, key=lambda team: (ranks[team], sorted(members[team])))
        shift = dict.fromkeys(entries, 0.0)
        left = dict.fromkeys(entries, 1.0)
        for better, worse in pairwise(order):
            above, below = members[better], members[worse]
            seats = len(above) + len(below)
            variance = sum(prior[entry_id][1] for entry_id in (*above, *below)) + seats * BETA**2
            deviation = math.sqrt(variance)
            gap = (sum(prior[one][0] for one in above) - sum(prior[one][0] for one in below)) / deviation
            margin = _margin(seats) / deviation
            v, w = _draw(gap, margin) if ranks[better] == ranks[worse] else _win(gap - margin)
            for side, sign in ((above, 1.0), (below, -1.0)):
                for entry_id in side:
                    own = prior[entry_id][1]
                    shift[entry_id] += sign * own / deviation * v
                    left[entry_id] *= max(_LEAST, 1 - own / variance * w)
        for entry_id in moved:
            mu, variance = prior[entry_id]
            belief = self.known[entry_id]
            belief.mu = mu + shift[entry_id]
            belief.sigma = math.sqrt(variance * left[entry_id])
            belief.matches += 1


@cache
def _margin(seats: int) -> float:
    """The difference of performances within which a match is a draw."""
    return NormalDist().inv_cdf((1 + DRAWS) / 2) * math.sqrt(seats) * BETA


def _win(x: float) -> tuple[float, float]:
    if x < -8:  # far out the ratio is a straight line
        return -x, 1.0
    v = _density(x) / _cdf(x)
    return v, v * (v + x)


def _draw(gap: float, margin: float) -> tuple[float, float]:
    size = abs(gap)
    mass = _cdf(margin - size) - _cdf(-margin - size)
    if mass < 1e-12:
        return (margin - size) * math.copysign(1.0, gap), 1.0
    inner, outer = margin - size, -margin - size
    v = (_density(outer) - _density(inner)) / mass
    w = v * v + (inner * _density(inner) - outer * _density(outer)) / mass
    return v * math.copysign(1.0, gap), w


def _density(x: float) -> float:
    return math.exp(-x * x / 2) / _ROOT_OF_TAU


def _cdf(x: float) -> float:
    return math.erfc(-x / _ROOT_OF_2) / 2
