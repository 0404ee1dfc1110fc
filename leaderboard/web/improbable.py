"""Results between the bots of two owners that their ratings make improbable: one person may have both accounts."""

import math
from collections.abc import Mapping
from itertools import combinations
from statistics import NormalDist
from typing import Final

from leaderboard.ratings.skill import BETA
from leaderboard.web.hand_ins import Entry
from leaderboard.web.people import Suspicion
from leaderboard.web.tables import RunTables

LEAST_MATCHES: Final = 8
DEVIATIONS: Final = 4.0
"""So far from what the ratings expect that honest owners get there once in 30,000 pairs."""

MOST: Final = 50


def improbable_results(division: str, tables: RunTables, entries: Mapping[str, Entry]) -> list[Suspicion]:
    """The most improbable first. Each pair of seats of a match counts for itself."""
    skills = {
        (row.game, row.players, row.entry_id): (row.mu, row.sigma)
        for row in tables.table
        if row.mu is not None and row.sigma is not None
    }
    sums: dict[tuple[str, str], list[float]] = {}
    bots: dict[tuple[str, str], set[str]] = {}
    for row in tables.counted.rows:
        for one, other in combinations(row.seats, 2):
            first, second = entries.get(one.entry_id), entries.get(other.entry_id)
            if first is None or second is None or first.house or second.house or first.owner == second.owner:
                continue
            mine = skills.get((row.game, len(row.seats), one.entry_id))
            theirs = skills.get((row.game, len(row.seats), other.entry_id))
            if mine is None or theirs is None or one.team == other.team:
                continue
            points = 1.0 if one.rank < other.rank else 0.5 if one.rank == other.rank else 0.0
            gap = (mine[0] - theirs[0]) / math.sqrt(2 * BETA**2 + mine[1] ** 2 + theirs[1] ** 2)
            expected = NormalDist().cdf(gap)
            pair = (first.owner, second.owner)
            if pair[0] > pair[1]:
                pair, points, expected = pair[::-1], 1 - points, 1 - expected
            found = sums.setdefault(pair, [0.0, 0.0, 0.0, 0.0])
            found[0] += 1
            found[1] += points
            found[2] += expected
            found[3] += expected * (1 - expected)
            bots.setdefault(pair, set()).update((first.bot, second.bot))
    made = []
    for pair, (matches, points, expected, variance) in sums.items():
        deviations = abs(points - expected) / math.sqrt(max(variance, 1e-9))
        if matches >= LEAST_MATCHES and deviations >= DEVIATIONS:
            what = (
                f"in {division}, the bots of {pair[0]} got {points:g} of {matches:g} points against those of {pair[1]};"
                f" their ratings let expect {expected:.1f}"
            )
            made.append((deviations, Suspicion(what, pair, tuple(sorted(bots[pair])))))
    return [found for _, found in sorted(made, key=lambda one: -one[0])[:MOST]]
