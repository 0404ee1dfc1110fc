"""The live table: the trueskill package applied match after match in schedule order. Provisional: order alone can move
a bot.

Bots are fixed programs, so tau is 0: skill does not drift. Ratings depend on nothing but the results and their places,
whatever order matches finish in. A table can be kept and continued (`to_dict`): its digest tells which matches are in
it, so a table with a match that is annulled or changed since is not continued.

The draw probability of a match is the share of ties so far, its own included, begun with `PRIOR_TIES` in
`PRIOR_PAIRS`: nothing that comes later changes what was applied.

An entry that bears the name of an earlier one is a new version of it: it begins with that one's mu as it is then and
with a sigma widened by `WIDENING`.
"""

import math
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from trueskill import Rating, TrueSkill

from leaderboard.controls import unapproved_in
from leaderboard.match_table import MatchTable, places_of, sketched
from leaderboard.ratings.approved import parts_of
from leaderboard.ratings.skill import BETA, MU, SIGMA, WIDENING, Skill, above, between
from leaderboard.records import MatchRow
from leaderboard.results import Result, Team, result_of
from referee.record.journal import ALL_APPROVED, Approvals

METHOD = "online TrueSkill in schedule order, tau 0: provisional, the order of matches moves it"

PRIOR_TIES, PRIOR_PAIRS = 1.0, 10.0
"""TrueSkill's default of 10 %, worth ten comparisons."""

POINTS = 200
"""Most points of a way: evenly over its matches, and the last one."""

WIDE, NARROW = 10.0, 0.03
"""In standard deviations: the gap beyond which, and the margin of a draw below which, the package is not used."""


class GuardedTrueSkill(TrueSkill):  # type: ignore[misc]  # the package has no types
    """The package, with the corrections of `normal` where its own have lost their digits: it raises FloatingPointError
    from gaps of about 38 standard deviations on, and for a draw in a narrow margin the variance comes out wrong, even
    negative, much earlier."""

    def v_win(self, diff: float, draw_margin: float) -> float:
        x = diff - draw_margin
        return float(super().v_win(diff, draw_margin) if abs(x) < WIDE else _win(x)[0])

    def w_win(self, diff: float, draw_margin: float) -> float:
        x = diff - draw_margin
        return float(super().w_win(diff, draw_margin) if abs(x) < WIDE else _win(x)[1])

    def v_draw(self, diff: float, draw_margin: float) -> float:
        return float(super().v_draw(diff, draw_margin) if _near(diff, draw_margin) else _draw(diff, draw_margin)[0])

    def w_draw(self, diff: float, draw_margin: float) -> float:
        return float(super().w_draw(diff, draw_margin) if _near(diff, draw_margin) else _draw(diff, draw_margin)[1])


class Point(NamedTuple):
    """An entry after one of its matches; `place` is the match's index in the schedule."""

    place: int
    mu: float
    sigma: float


@dataclass(slots=True)
class Way:
    """An entry's way through its matches: every `stride`th point, and the last one."""

    count: int = 0
    stride: int = 1
    kept: list[Point] = field(default_factory=list)
    last: Point | None = None

    def add(self, point: Point) -> None:
        """One more match. Of too many points every other is dropped."""
        if self.count % self.stride == 0:
            self.kept.append(point)
            if len(self.kept) == POINTS:
                self.kept, self.stride = self.kept[::2], 2 * self.stride
        self.count, self.last = self.count + 1, point

    @property
    def points(self) -> list[Point]:
        return self.kept if self.last is None or self.kept[-1:] == [self.last] else [*self.kept, self.last]


@dataclass(slots=True)
class LiveTable:
    """The ratings after the first `applied` matches of one game and number of players.

    `bearers` has per name the entry that bore it last; `digest` tells which matches were applied, with which results.
    """

    skills: dict[str, Skill] = field(default_factory=dict)
    ways: dict[str, Way] = field(default_factory=dict)
    bearers: dict[str, str] = field(default_factory=dict)
    ties: float = PRIOR_TIES
    pairs: float = PRIOR_PAIRS
    applied: int = 0
    digest: str = ""

    def fits(self, matches: Sequence[MatchRow], approvals: Approvals) -> bool:
        """Whether `matches`, in schedule order, begin with those that were applied, under the same approvals."""
        return self.applied <= len(matches) and _digest("", matches[: self.applied], approvals) == self.digest

    def continued(self, matches: Sequence[MatchRow], approvals: Approvals = ALL_APPROVED) -> "LiveTable":
        """This table with the matches after the first `applied` of these, in schedule order, applied too."""
        new = matches[self.applied :]
        ways = {entry: Way(way.count, way.stride, way.kept[:], way.last) for entry, way in self.ways.items()}
        made = LiveTable(dict(self.skills), ways, dict(self.bearers), self.ties, self.pairs)
        made.applied, made.digest = len(matches), _digest(self.digest, new, approvals)
        environment = GuardedTrueSkill(mu=MU, sigma=SIGMA, beta=BETA, tau=0.0)
        for match in sketched(new):
            made._apply(environment, match, unapproved_in(match, approvals))
        return made

    def _apply(self, environment: GuardedTrueSkill, match: MatchRow, unapproved: frozenset[str]) -> None:
        parts = [(moved, result) for moved, row in parts_of(match, unapproved) if (result := result_of(row))]
        if not parts and result_of(match) is None:
            return
        names = {seat.entry_id: seat.name for seat in match.seats}
        for entry in sorted(names):
            if entry not in self.skills:
                self.skills[entry] = self._first_skill(names[entry])
        for entry, name in names.items():
            self.bearers[name] = entry
        for moved, result in parts:
            if len(unapproved) in (0, len(names)) or not moved & unapproved:
                teams = [team for group in result for team in group]
                self.pairs += len(teams) - 1
                self.ties += len(teams) - len(result)
        environment.draw_probability = self.ties / self.pairs
        before = dict(self.skills) if unapproved else self.skills
        for moved, result in parts:
            after = rate_match(environment, result, before)
            self.skills |= {entry: after[entry] for entry in moved if entry in after}
        for entry in sorted(entry for moved, _ in parts for entry in moved):
            skill = self.skills[entry]
            if entry not in self.ways:
                self.ways[entry] = Way()
            self.ways[entry].add(Point(match.place, skill.mu, skill.sigma))

    def _first_skill(self, name: str) -> Skill:
        before = self.skills.get(self.bearers.get(name, ""))
        if before is None:
            return Skill()
        return Skill(before.mu, min(SIGMA, math.hypot(before.sigma, WIDENING)))

    def to_dict(self) -> dict[str, Any]:
        """For JSON; floats keep all their bits."""
        return {
            "skills": {entry: [skill.mu, skill.sigma] for entry, skill in self.skills.items()},
            "ways": {entry: [way.count, way.stride, way.kept, way.last] for entry, way in self.ways.items()},
            "bearers": self.bearers,
            "ties": self.ties,
            "pairs": self.pairs,
            "applied": self.applied,
            "digest": self.digest,
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "LiveTable":
        """Inverse of `to_dict`. TypeError, ValueError, KeyError or AttributeError for what is no such table."""
        rest = dict(values)
        rest["skills"] = {entry: Skill(float(mu), float(sigma)) for entry, (mu, sigma) in rest["skills"].items()}
        rest["ways"] = {
            entry: Way(int(count), max(1, int(stride)), [Point(*point) for point in kept], Point(*last))
            for entry, (count, stride, kept, last) in rest["ways"].items()
        }
        rest["applied"], rest["bearers"] = int(rest["applied"]), dict(rest["bearers"])
        return cls(**rest)


def rate_match(environment: TrueSkill, result: Result, skills: Mapping[str, Skill]) -> dict[str, Skill]:
    """The skills of all players after one match.

    The package compares each team with the next one in a chain, so that teams that tie would come out differently by
    where they stand in it. The result is the mean over orders in which every team that ties stands everywhere equally
    often.
    """
    sums: dict[str, list[float]] = {}
    count = 0
    ranks = [rank for rank, group in enumerate(result) for _ in group]
    for order in _orders(result, skills):
        count += 1
        groups = [tuple(Rating(skills[entry].mu, skills[entry].sigma) for entry in team) for team in order]
        for team, after in zip(order, environment.rate(groups, ranks), strict=True):
            for entry, rating in zip(team, after, strict=True):
                total = sums.setdefault(entry, [0.0, 0.0])
                total[0] += rating.mu
                total[1] += rating.sigma**2
    return {entry: Skill(mu / count, math.sqrt(square / count)) for entry, (mu, square) in sums.items()}


def rate_live(matches: Iterable[MatchRow]) -> LiveTable:
    """The live table of the rated matches of one game and number of players, in any order."""
    return LiveTable().continued(in_order(matches))


def continue_live(
    matches: Iterable[MatchRow],
    kept: LiveTable | None,
    settled: int,
    approvals: Approvals = ALL_APPROVED,
) -> tuple[LiveTable, LiveTable]:
    """The table of matches with a place below `settled`, to be kept, and the table of all.

    `kept` is such a table of before: only what follows it is applied, unless one of its matches is gone or changed.
    """
    ordered = in_order(matches)
    start = kept if kept is not None and kept.fits(ordered, approvals) else LiveTable()
    before = bisect_left(places_of(ordered), settled)
    prefix = start.continued(ordered[:before], approvals) if before > start.applied else start
    return prefix, prefix.continued(ordered, approvals)


def in_order(matches: Iterable[MatchRow]) -> Sequence[MatchRow]:
    """By their places in the schedule."""
    if isinstance(matches, MatchTable):
        return matches
    return sorted(matches, key=lambda match: (match.place, match.match_id))


def _orders(result: Result, skills: Mapping[str, Skill]) -> Iterator[list[Team]]:
    """Orders of the teams in which each team that ties stands everywhere equally often among those it ties with."""
    if sum(map(len, result)) == 2:
        yield [team for group in result for team in group]  # a chain of two is symmetric
        return
    for parts in product(*(_rotations(group, skills) for group in result)):
        yield [team for part in parts for team in part]


def _rotations(group: tuple[Team, ...], skills: Mapping[str, Skill]) -> list[tuple[Team, ...]]:
    """All rotations, there and back, from an order that neither seat nor name decides: of up to three, all orders."""
    ring = sorted(group, key=lambda team: [(skills[entry].mu, skills[entry].sigma) for entry in team])
    there = [(*ring[start:], *ring[:start]) for start in range(len(ring))]
    return list(dict.fromkeys(there + [order[::-1] for order in there]))


def _near(diff: float, margin: float) -> bool:
    """Whether the package is good for a draw."""
    return abs(diff) - margin < WIDE and margin > NARROW


def _win(x: float) -> tuple[float, float]:
    v, w = above(np.array([x]))
    return v[0], w[0]


def _draw(diff: float, margin: float) -> tuple[float, float]:
    mean, variance = between(np.array([-margin - diff]), np.array([margin - diff]))
    return mean[0], 1 - variance[0]


def _digest(before: str, matches: Iterable[MatchRow], approvals: Approvals) -> str:
    """Of `before` and what each match says, and who of it was not approved."""
    for said in matches.said() if isinstance(matches, MatchTable) and not approvals else _said(matches, approvals):
        before = blake2b(f"{before}{said}".encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
    return before


def _said(matches: Iterable[MatchRow], approvals: Approvals) -> Iterator[str]:
    """As `MatchTable.said`, and who was not approved."""
    for match in sketched(matches):
        unapproved = unapproved_in(match, approvals)
        said = match.match_id, match.place, [(seat.entry_id, seat.name, seat.team, seat.rank) for seat in match.seats]
        yield f"{sorted(unapproved) if unapproved else ''}{said}"
