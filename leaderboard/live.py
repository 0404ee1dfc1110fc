"""The live table: TrueSkill applied match after match in schedule order. Provisional: order alone can move a bot.

Bots are fixed programs, so tau is 0: skill does not drift. Ratings depend on nothing but the results and their places,
whatever order matches finish in; a match that comes late is put in its place and what follows it is applied again.

The draw probability of a match is the share of ties so far, its own included, begun with `PRIOR_TIES` in
`PRIOR_PAIRS`: nothing that comes later changes what was applied.

An entry that bears the name of an earlier one is a new version of it: it begins with that one's mu as it is then and
with a sigma widened by `WIDENING`.
"""

import math
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from statistics import NormalDist

from leaderboard.guarded import rate_teams, rate_two
from leaderboard.records import MatchRow
from leaderboard.results import Result, result_of
from leaderboard.skill import BETA, SIGMA, Skill

METHOD = "online TrueSkill in schedule order, tau 0: provisional, the order of matches moves it"

PRIOR_TIES, PRIOR_PAIRS = 1.0, 10.0
"""TrueSkill's default of 10 %, worth ten comparisons."""

WIDENING = SIGMA / 2
SNAPSHOT_EVERY = 1024

_NORMAL = NormalDist()


@dataclass(slots=True)
class _State:
    skills: dict[str, Skill] = field(default_factory=dict)
    bearers: dict[str, str] = field(default_factory=dict)
    """Per name the entry that bore it last."""
    ties: float = PRIOR_TIES
    pairs: float = PRIOR_PAIRS

    def copy(self) -> "_State":
        return _State(dict(self.skills), dict(self.bearers), self.ties, self.pairs)


Watcher = Callable[[MatchRow, dict[str, Skill]], None]
"""Told after each applied match, with the skills of all entries (to be read, not kept)."""


class LiveTable:
    """One pool's live ratings. `update` applies what is new; the numbers are those of a pass over all of it."""

    def __init__(self) -> None:
        self._state = _State()
        self._applied: list[tuple[int, str, Result | None]] = []
        self._snapshots: list[tuple[int, _State]] = [(0, _State())]

    @property
    def skills(self) -> dict[str, Skill]:
        return dict(self._state.skills)

    def update(self, matches: Iterable[MatchRow], watch: Watcher | None = None) -> int:
        """Bring the table to exactly these matches; returns how many had to be applied. `watch` sees those."""
        ordered = sorted(matches, key=lambda match: (match.place, match.match_id))
        keys = [(match.place, match.match_id, result_of(match)) for match in ordered]
        common = _common(self._applied, keys)
        if common < len(self._applied):
            common = self._rewind(common)
        for index in range(common, len(ordered)):
            if index % SNAPSHOT_EVERY == 0 and index > self._snapshots[-1][0]:
                self._snapshots.append((index, self._state.copy()))
            result = keys[index][2]
            if result is not None:
                _apply(self._state, ordered[index], result)
            if watch is not None:
                watch(ordered[index], self._state.skills)
        self._applied = keys
        return len(ordered) - common

    def _rewind(self, index: int) -> int:
        """Go back to the last snapshot at or before `index`; returns where that is."""
        last = bisect_right([at for at, _ in self._snapshots], index) - 1
        del self._snapshots[last + 1 :]
        at, state = self._snapshots[last]
        self._state = state.copy()
        return at


def rate_live(matches: Iterable[MatchRow], watch: Watcher | None = None) -> dict[str, Skill]:
    """The live ratings over rated matches of one pool, in any order."""
    table = LiveTable()
    table.update(matches, watch)
    return table.skills


def _apply(state: _State, match: MatchRow, result: Result) -> None:
    teams = [team for group in result for team in group]
    state.pairs += len(teams) - 1
    state.ties += len(teams) - len(result)
    names = {seat.entry_id: seat.name for seat in match.seats}
    for entry in sorted(names):
        if entry not in state.skills:
            state.skills[entry] = _first_skill(state, entry, names[entry])
    for entry, name in names.items():
        state.bearers[name] = entry
    draw = state.ties / state.pairs
    if len(teams) == 2 and len(teams[0]) == len(teams[1]) == 1:
        margin = _NORMAL.inv_cdf((1 + draw) / 2) * math.sqrt(2) * BETA
        (one,), (other,) = teams
        state.skills[one], state.skills[other] = rate_two(
            state.skills[one], state.skills[other], margin, BETA, drawn=len(result) == 1
        )
        return
    groups = [tuple(state.skills[entry] for entry in team) for team in teams]
    ranks = [rank for rank, group in enumerate(result) for _ in group]
    for team, after in zip(teams, rate_teams(groups, ranks, draw), strict=True):
        state.skills.update(zip(team, after, strict=True))


def _first_skill(state: _State, entry: str, name: str) -> Skill:
    before = state.skills.get(state.bearers.get(name, ""))
    if before is None:
        return Skill()
    return Skill(before.mu, min(SIGMA, math.hypot(before.sigma, WIDENING)))


def _common(one: Sequence[object], other: Sequence[object]) -> int:
    """Length of the common beginning."""
    shorter = min(len(one), len(other))
    return next((place for place in range(shorter) if one[place] != other[place]), shorter)
