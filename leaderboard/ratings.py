"""Online TrueSkill: one pass over the results in schedule order.

Bots are fixed programs, so tau is 0: skill does not drift. The draw probability is taken from the results themselves.
Ratings depend on nothing but the results and their places, so the order in which matches finish changes nothing.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise, permutations, product

from trueskill import BETA, MU, SIGMA, Rating, TrueSkill

from leaderboard.records import MatchRow

MAX_DRAW_PROBABILITY = 0.99
"""With 1 the margin within which a match is a draw would be infinite."""

MANY_TIED = 3
"""Tied teams up to which all their orders are rated: six have 720, which take seconds for one match."""

FAR = 30.0
"""Standard deviations from which on the tail is computed by its asymptotic series: the package's own error function
underflows near 38 (FloatingPointError), the series is exact to 1e-8 there."""


@dataclass(frozen=True, slots=True)
class Skill:
    """A belief about the strength of an entry: mean and standard deviation."""

    mu: float = MU
    sigma: float = SIGMA

    @property
    def conservative(self) -> float:
        """mu - 3 sigma: what tables are ranked by."""
        return self.mu - 3 * self.sigma


class GuardedTrueSkill(TrueSkill):  # type: ignore[misc]  # the package has no types
    """TrueSkill with the default backend, whose corrections stay finite and within bounds at any gap.

    Up to `FAR` the numbers are the package's own.
    """

    def v_win(self, diff: float, draw_margin: float) -> float:
        x = diff - draw_margin
        if x > FAR:
            return 0.0
        return -x * _mills(x) if x < -FAR else float(super().v_win(diff, draw_margin))

    def w_win(self, diff: float, draw_margin: float) -> float:
        x = diff - draw_margin
        if x > FAR:
            return 0.0
        return 1 - _tail_variance(x) if x < -FAR else float(super().w_win(diff, draw_margin))

    def v_draw(self, diff: float, draw_margin: float) -> float:
        near = draw_margin - abs(diff)
        if near < -FAR:
            # The mean of what is left between the margins: close to the near one, but never past the middle.
            shift = min(-near * _mills(near) + near, draw_margin)
            return math.copysign(near - shift, -diff)
        return float(super().v_draw(diff, draw_margin))

    def w_draw(self, diff: float, draw_margin: float) -> float:
        near = draw_margin - abs(diff)
        if near < -FAR:
            return 1 - min(_tail_variance(near), draw_margin**2 / 3)
        return float(super().w_draw(diff, draw_margin))


def _mills(x: float) -> float:
    """Pdf over cdf of the standard normal at x << 0, divided by -x."""
    y = 1 / (x * x)
    return 1 / (1 - y + 3 * y**2 - 15 * y**3)


def _tail_variance(x: float) -> float:
    """Variance of the standard normal given that it is below x << 0."""
    y = 1 / (x * x)
    return y - 6 * y**2 + 50 * y**3


def draw_probability(matches: Iterable[MatchRow]) -> float:
    """The share of ties among teams next to each other in the rankings; with two teams, the share of draws.

    0 without a tie: only then does no update need a margin.
    """
    ties = pairs = 0
    for match in matches:
        ranks = [rank for rank, _ in _teams(match)]
        pairs += len(ranks) - 1
        ties += sum(a == b for a, b in pairwise(ranks))
    return min(ties / pairs, MAX_DRAW_PROBABILITY) if pairs else 0.0


def rate(matches: Iterable[MatchRow]) -> dict[str, Skill]:
    """The skill of every entry id after all matches, applied by place."""
    ordered = sorted(matches, key=lambda match: (match.place, match.match_id))
    environment = GuardedTrueSkill(beta=BETA, tau=0.0, draw_probability=draw_probability(ordered))
    skills: dict[str, Skill] = {}
    for match in ordered:
        teams = _teams(match)
        if len(teams) < 2 or _plays_itself(match):
            continue
        groups = [tuple(skills.get(entry_id, Skill()) for entry_id in members) for _, members in teams]
        after = rate_teams(environment, groups, [rank for rank, _ in teams])
        for (_, members), group in zip(teams, after, strict=True):
            skills.update(zip(members, group, strict=True))
    return skills


def rate_teams(
    environment: TrueSkill, groups: Sequence[tuple[Skill, ...]], ranks: Sequence[int]
) -> list[tuple[Skill, ...]]:
    """The skills after one match. `ranks` ascend; equal ones are ties.

    The package chains teams in the order given, so that among three and more a tie would favour one side of it; the
    result is the mean over orders of the tied teams in which everyone stands everywhere equally often.
    """
    orders = list(_orders(groups, ranks)) if len(groups) > 2 else [tuple(range(len(groups)))]
    sums = [[[0.0, 0.0] for _ in group] for group in groups]
    for order in orders:
        rated = environment.rate(
            [tuple(Rating(skill.mu, skill.sigma) for skill in groups[team]) for team in order],
            ranks=[ranks[team] for team in order],
        )
        for team, group in zip(order, rated, strict=True):
            for total, rating in zip(sums[team], group, strict=True):
                total[0] += rating.mu
                total[1] += rating.sigma**2
    count = len(orders)
    return [tuple(Skill(mu / count, math.sqrt(square / count)) for mu, square in group) for group in sums]


def _orders(groups: Sequence[tuple[Skill, ...]], ranks: Sequence[int]) -> Iterable[tuple[int, ...]]:
    ties = [list(group) for _, group in groupby(range(len(ranks)), key=lambda team: ranks[team])]
    for choice in product(*(_orders_of_tied(groups, tied) for tied in ties)):
        yield tuple(team for part in choice for team in part)


def _orders_of_tied(groups: Sequence[tuple[Skill, ...]], tied: list[int]) -> list[tuple[int, ...]]:
    """All orders of a few; of many the rotations there and back, from an order that no seat decides."""
    if len(tied) <= MANY_TIED:
        return list(permutations(tied))
    ring = sorted(tied, key=lambda team: [(skill.mu, skill.sigma) for skill in groups[team]])
    rotations = [tuple(ring[start:] + ring[:start]) for start in range(len(ring))]
    return rotations + [order[::-1] for order in rotations]


def _teams(match: MatchRow) -> list[tuple[int, tuple[str, ...]]]:
    """(rank, entry ids) per team, best first; ties in seat order."""
    members: dict[int, list[str]] = {}
    ranks: dict[int, int] = {}
    for seat in match.seats:
        members.setdefault(seat.team, []).append(seat.entry_id)
        ranks[seat.team] = seat.rank
    return sorted(((ranks[team], tuple(ids)) for team, ids in members.items()), key=lambda item: item[0])


def _plays_itself(match: MatchRow) -> bool:
    """A match in which an entry sits twice says nothing about it."""
    ids = [seat.entry_id for seat in match.seats]
    return len(set(ids)) < len(ids)
