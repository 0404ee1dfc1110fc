"""How ratings came to be what they are: the live table's numbers along the schedule."""

from collections.abc import Iterable
from dataclasses import dataclass

from leaderboard.live import rate_live
from leaderboard.records import MatchRow
from leaderboard.skill import Skill

POINTS = 200
"""At most so many per entry, evenly over its matches; the last one is always there."""


@dataclass(frozen=True, slots=True)
class Point:
    """An entry after one of its matches; `place` is the match's index in the schedule."""

    place: int
    mu: float
    sigma: float


def history(matches: Iterable[MatchRow], points: int = POINTS) -> dict[str, list[Point]]:
    """Per entry its way through the matches of one pool, in schedule order. A new version's way begins at its own first
    match; the old version's stays."""
    found: dict[str, list[Point]] = {}

    def watch(match: MatchRow, skills: dict[str, Skill]) -> None:
        for entry in {seat.entry_id for seat in match.seats}:
            if entry in skills:
                skill = skills[entry]
                found.setdefault(entry, []).append(Point(match.place, skill.mu, skill.sigma))

    rate_live(matches, watch)
    return {entry: _thinned(way, points) for entry, way in sorted(found.items())}


def _thinned(way: list[Point], points: int) -> list[Point]:
    if len(way) <= points:
        return way
    return [way[round(step * (len(way) - 1) / (points - 1))] for step in range(points)]
