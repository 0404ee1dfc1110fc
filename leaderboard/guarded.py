"""TrueSkill's numbers after one match: exact corrections at any gap, and ties that favour nobody.

The trueskill package, which tests compare this with, raises FloatingPointError from gaps of about 230 on, chains tied
teams in the order given, so that the one in the middle comes out differently from those beside it (sublee/trueskill,
issues 13 and 63), and takes some ten times as long.
"""

import math
from collections.abc import Iterable, Sequence
from itertools import groupby, pairwise, permutations, product
from statistics import NormalDist

from leaderboard.chain import messages
from leaderboard.skill import BETA, Skill

FAR = 30.0
"""Standard deviations from which on tails are computed by their asymptotic series."""

MANY_TIED = 3
"""Tied teams up to which all their orders are rated: six have 720, which take seconds for one match."""

_NARROW = 1e-3
_NORMAL = NormalDist()


def above(x: float) -> tuple[float, float]:
    """V and W of a win: x is the expected difference less the margin, in standard deviations."""
    if x < -FAR:
        y = 1 / (x * x)
        return -x / (1 - y + 3 * y**2 - 15 * y**3), 1 - (y - 6 * y**2 + 50 * y**3)
    v = _pdf(x) / _cdf(x)
    return v, min(max(v * (v + x), 0.0), 1 - 1e-15)


def within(difference: float, margin: float) -> tuple[float, float]:
    """V and W of a draw: the expected difference and the margin, in standard deviations."""
    low, high = -margin - abs(difference), margin - abs(difference)
    if high > -FAR and 2 * margin > _NARROW:
        mass = _cdf(high) - _cdf(low)
        mean = (_pdf(low) - _pdf(high)) / mass
        variance = 1 + (low * _pdf(low) - high * _pdf(high)) / mass - mean * mean
        variance = min(max(variance, 1e-12), 1.0)
    else:  # the density is as good as exponential over the window
        q = max(-(high if high < -FAR else (low + high) / 2) * margin, 1e-9)
        shift = q / 3 if q < 1e-2 else 1 / math.tanh(q) - 1 / q
        spread = 1 / 3 if q < 1e-2 else 1 / q**2 - 1 / math.sinh(min(q, 300.0)) ** 2
        mean = (low + high) / 2 + margin * shift
        variance = max(margin**2 * spread, 1e-300)
    return math.copysign(mean, -difference), 1 - variance


def rate_teams(
    groups: Sequence[tuple[Skill, ...]], ranks: Sequence[int], draw_probability: float, beta: float = BETA
) -> list[tuple[Skill, ...]]:
    """The skills after one match. `ranks` ascend; equal ones are ties. `draw_probability` is that of two equal players.

    A chain goes through the teams in some order, so that among three and more a tie would favour one side of it; the
    result is the mean over orders of the tied teams in which everyone stands everywhere equally often.
    """
    sizes = [len(group) for group in groups]
    luck = beta * beta
    means = [sum(skill.mu for skill in group) for group in groups]
    variances = [sum(skill.sigma**2 for skill in group) + luck * len(group) for group in groups]
    priors = [(1 / variance, mean / variance) for mean, variance in zip(means, variances, strict=True)]
    margin = _NORMAL.inv_cdf((1 + draw_probability) / 2) * beta
    cuts = [within if one == other else _won for one, other in pairwise(ranks)]
    orders = list(_orders(groups, ranks)) if len(groups) > 2 else [tuple(range(len(groups)))]
    sums = [[[0.0, 0.0] for _ in group] for group in groups]
    for order in orders:
        margins = [margin * math.sqrt(sizes[one] + sizes[other]) for one, other in pairwise(order)]
        said = messages([priors[team] for team in order], margins, cuts)
        for team, (pi, tau) in zip(order, said, strict=True):
            # What is said of the team, shared by its players in proportion to what is not known of them.
            weight = pi / (1 + pi * variances[team]) if pi > 0 else 0.0
            moved = weight * (tau / pi - means[team]) if pi > 0 else 0.0
            for total, skill in zip(sums[team], groups[team], strict=True):
                own = skill.sigma**2
                total[0] += skill.mu + own * moved
                total[1] += own * (1 - own * weight)
    count = len(orders)
    return [tuple(Skill(mu / count, math.sqrt(square / count)) for mu, square in group) for group in sums]


def rate_two(winner: Skill, loser: Skill, margin: float, beta: float, *, drawn: bool) -> tuple[Skill, Skill]:
    """The same for one player against one, in closed form. `margin` in points of skill; neither won if `drawn`."""
    one, other = winner.sigma**2, loser.sigma**2
    c = math.sqrt(2 * beta**2 + one + other)
    gap = (winner.mu - loser.mu) / c
    v, w = within(gap, margin / c) if drawn else above(gap - margin / c)
    return (
        Skill(winner.mu + one / c * v, math.sqrt(one * (1 - one / c**2 * w))),
        Skill(loser.mu - other / c * v, math.sqrt(other * (1 - other / c**2 * w))),
    )


def _won(difference: float, margin: float) -> tuple[float, float]:
    return above(difference - margin)


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


def _cdf(x: float) -> float:
    return math.erfc(-x * math.sqrt(0.5)) / 2


def _pdf(x: float) -> float:
    return math.exp(-x * x / 2) / math.sqrt(2 * math.pi)
