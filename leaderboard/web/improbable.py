"""Results between the bots of two owners that fit neither's other results: one person may have both accounts.

The bots of two owners are judged by what they did against everybody else. A rating that has the results in question in
it would explain them.
"""

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from heapq import nlargest
from itertools import permutations
from statistics import NormalDist
from typing import Final, TypeAlias

import numpy as np

from leaderboard.ratings.skill import BETA, MU, SIGMA, Skill
from leaderboard.records import MatchRow
from leaderboard.web.hand_ins import Entry
from leaderboard.web.people import Suspicion
from leaderboard.web.tables import RunTables

LEAST_MATCHES: Final = 8
DEVIATIONS: Final = 4.0
"""So far from what is expected honest owners get once in 15,000 pairs."""

_WORTH_A_LOOK: Final = 1.5
_MOST: Final = 50
"""Pairs of owners, those whose results their ratings make least probable, that are judged by their other results."""

_HALVINGS: Final = 24
_ERFC: Final = np.frompyfunc(math.erfc, 1, 1)
_NORMAL: Final = NormalDist()

Pair: TypeAlias = tuple[str, str]


@dataclass(frozen=True, slots=True)
class _Meeting:
    """What an entry got against another one in one match. `pool` is the number of players."""

    entry: str
    other: str
    pool: tuple[str, int]
    points: float


def improbable_results(division: str, tables: RunTables, entries: Mapping[str, Entry]) -> list[Suspicion]:
    """The most improbable first. Each pair of seats of a match counts for itself; house bots are nobody's."""
    skills = {
        (row.game, row.players, row.entry_id): Skill(row.mu, row.sigma)
        for row in tables.table
        if row.mu is not None and row.sigma is not None
    }
    of_entry: dict[str, list[_Meeting]] = {}
    of_pair: dict[Pair, list[_Meeting]] = {}
    for meeting in _meetings(tables.counted.rows):
        if (*meeting.pool, meeting.other) not in skills or (*meeting.pool, meeting.entry) not in skills:
            continue
        of_entry.setdefault(meeting.entry, []).append(meeting)
        one, other = entries.get(meeting.entry), entries.get(meeting.other)
        if one is not None and other is not None and one.owner and other.owner and one.owner < other.owner:
            of_pair.setdefault((one.owner, other.owner), []).append(meeting)
    rated = [
        (deviations, pair)
        for pair, found in of_pair.items()
        if len(found) >= LEAST_MATCHES and (deviations := _deviations(found, skills)[0]) >= _WORTH_A_LOOK
    ]
    made = []
    for _, pair in nlargest(_MOST, rated):
        found = of_pair[pair]
        own: dict[tuple[str, int, str], Skill] = {}
        for game, players, entry in {(*m.pool, name) for m in found for name in (m.entry, m.other)}:
            against = pair[1] if entries[entry].owner == pair[0] else pair[0]
            rest = [
                meeting
                for meeting in of_entry[entry]
                if meeting.pool == (game, players)
                and (meeting.other not in entries or entries[meeting.other].owner != against)
            ]
            own[game, players, entry] = _strength(rest, skills)
        deviations, points, expected = _deviations(found, own)
        if deviations >= DEVIATIONS:
            bots = {entries[name].bot for meeting in found for name in (meeting.entry, meeting.other)}
            what = (
                f"in {division}, the bots of {pair[0]} got {points:g} of {len(found)} points against those of"
                f" {pair[1]}, where their results against others let expect {expected:.1f}"
            )
            made.append((deviations, Suspicion(what, pair, tuple(sorted(bots)))))
    return [found for _, found in sorted(made, key=lambda one: -one[0])]


def _meetings(rows: Iterable[MatchRow]) -> Iterator[_Meeting]:
    """Each pair of seats, from both sides."""
    for row in rows:
        for one, other in permutations(row.seats, 2):
            if one.team != other.team and one.entry_id != other.entry_id:
                points = 1.0 if one.rank < other.rank else 0.5 if one.rank == other.rank else 0.0
                yield _Meeting(one.entry_id, other.entry_id, (row.game, len(row.seats)), points)


def _deviations(found: list[_Meeting], skills: Mapping[tuple[str, int, str], Skill]) -> tuple[float, float, float]:
    """How many standard deviations the points are from those expected; the points, and what was expected."""
    points = expected = variance = 0.0
    slopes: dict[tuple[str, int, str], float] = {}
    for meeting in found:
        one, other = (*meeting.pool, meeting.entry), (*meeting.pool, meeting.other)
        gap = (skills[one].mu - skills[other].mu) / math.sqrt(2 * BETA**2)
        chance = _NORMAL.cdf(gap)
        points += meeting.points
        expected += chance
        variance += chance * (1 - chance)
        slope = _NORMAL.pdf(gap) / math.sqrt(2 * BETA**2)
        slopes[one] = slopes.get(one, 0.0) + slope
        slopes[other] = slopes.get(other, 0.0) + slope
    variance += sum((slope * skills[key].sigma) ** 2 for key, slope in slopes.items())
    return abs(points - expected) / math.sqrt(max(variance, 1e-9)), points, expected


def _strength(found: list[_Meeting], skills: Mapping[tuple[str, int, str], Skill]) -> Skill:
    """How strong an entry is by these results against opponents whose skills are known: where they are most probable,
    and the width there."""
    others = [skills[(*meeting.pool, meeting.other)] for meeting in found]
    mus = np.array([other.mu for other in others])
    spreads = np.sqrt(2 * BETA**2 + np.array([other.sigma for other in others]) ** 2)
    points = np.array([meeting.points for meeting in found])

    def slope(mu: float) -> float:
        gaps = (mu - mus) / spreads
        chances = np.clip(np.asarray(_ERFC(-gaps / math.sqrt(2)), np.float64) / 2, 1e-12, 1 - 1e-12)
        densities = np.exp(-(gaps**2) / 2) / (math.sqrt(2 * math.pi) * spreads)
        told = densities * (points / chances - (1 - points) / (1 - chances))
        return (MU - mu) / SIGMA**2 + float(told.sum())

    low, high = MU - 8 * SIGMA, MU + 8 * SIGMA
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if slope(middle) > 0 else (low, middle)
    step = SIGMA / 100
    curvature = (slope(low - step) - slope(low + step)) / (2 * step)
    return Skill(low, 1 / math.sqrt(max(curvature, 1 / SIGMA**2)))
