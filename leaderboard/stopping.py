"""The rule by which a run stops when its ranking is solid, or precise enough; and how much is left until then.

It looks at whole blocks in schedule order, at numbers of blocks that do not depend on results: how many tables there
are, which match ends first, and where a run was interrupted, change nothing.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from statistics import NormalDist
from typing import Any

from leaderboard.ratings.elo import strengths
from leaderboard.ratings.official import INTERVAL_95, rate_results
from leaderboard.records import MatchRow
from leaderboard.results import Result, Team
from leaderboard.standings import Pool
from referee.run.run import Run
from referee.schedule.formats.api import BlockResult, MatchScore
from referee.schedule.progress import ScheduleProgress
from referee.schedule.stopping import StopWhen, rule_in_force

STEP = 0.05
"""The next look comes after this share of more blocks: each look fits all results."""

_LEVEL = 0.1
"""Standard deviations between two bots below which nothing can be said of how many matches tell them apart."""


@dataclass(frozen=True, slots=True)
class Outlook:
    """How far a run is by its rule. `matches` are those that it rests on; `left` is an estimate of how many more it
    takes, None where nothing can be said. `why` is the worst of what is not enough yet."""

    when: str
    solid: bool
    matches: int
    left: int | None
    why: str

    @property
    def sentence(self) -> str:
        if self.solid:
            return f"{self.when}: reached after {self.matches} matches"
        left = "no estimate yet" if self.left is None else f"about {self.left} more matches, if results go on like this"
        return f"{self.when}: {self.why}; {left}"

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {**asdict(self), "sentence": self.sentence}


class StoppingRule:
    """Called with every complete block in schedule order; True when the run may stop. A block that is not after the
    last one begins the schedule again."""

    def __init__(self, when: StopWhen, names: Sequence[str]) -> None:
        """`names` of the bots by their numbers; one that joins later has none."""
        self._when = when
        self._names = names
        self._begin()

    def _begin(self) -> None:
        self._number = -1
        self._results: dict[Pool, Counter[Result]] = {}
        self._numbers: dict[str, int] = {}
        self._present: dict[str, tuple[int, ...]] = {}
        self._blocks = self._matches = 0
        self._next = 1
        self._seen: Outlook | None = None
        self._last: Outlook | None = None

    def __call__(self, block: BlockResult) -> bool:
        if block.number <= self._number:
            self._begin()
        self._number = block.number
        for match in block.matches:
            self._add(match)
        if block.matches:
            self._present[block.matches[0].game] = block.present
        self._blocks += 1
        self._seen = None
        if self._blocks < self._next:
            return False
        self._next = max(self._blocks + 1, math.ceil(self._blocks * (1 + STEP)))
        self._last = self.outlook
        return self._last.solid

    def said(self) -> str:
        """How far it was at the last look; '' before the first one."""
        return "" if self._last is None else self._last.sentence

    @property
    def outlook(self) -> Outlook:
        """By all blocks so far."""
        if self._seen is None:
            self._seen = self._look()
        return self._seen

    def _add(self, match: MatchScore) -> None:
        self._numbers |= dict(zip(match.entries, match.bots, strict=True))
        self._matches += 1
        if (result := result_of_score(match)) is not None:
            self._results.setdefault((match.game, len(match.bots)), Counter())[result] += 1

    def _look(self) -> Outlook:
        """The worst of all tables decides, apart from those all of whose bots have left."""
        worst: tuple[float, int | None, str] = (1.0, 0, "")
        pools = [(pool, results) for pool, results in sorted(self._results.items()) if self._present[pool[0]]]
        for pool, results in pools:
            found = self._look_at(results, self._present[pool[0]])
            words = f"{found[2]} in {pool[0]} with {pool[1]}" if len(self._results) > 1 and found[2] else found[2]
            worst = min(worst, (found[0], found[1], words), key=lambda one: one[0])
        if not pools:
            worst = (0.0, None, "no bot is left" if self._results else "no block is complete yet")
        share, left, why = worst
        return Outlook(str(self._when), share >= 1, self._matches, left, why)

    def _look_at(self, results: Mapping[Result, int], in_run: tuple[int, ...]) -> tuple[float, int | None, str]:
        """How much of what is wanted there is in one table (1: all), how many matches are left, and what is missing."""
        here = {entry for result in results for group in result for team in group for entry in team}
        present = {entry for entry in here if self._numbers[entry] in in_run}
        if missing := set(in_run) - {self._numbers[entry] for entry in present}:
            return 0.0, None, f"'{self._called(min(missing))}' has no complete block yet"
        if self._when.kind == "ranking":
            return self._ranking(results, present)
        return self._precision(results, present)

    def _ranking(self, results: Mapping[Result, int], present: set[str]) -> tuple[float, int | None, str]:
        official = rate_results(results)
        if sum(not group.isdisjoint(present) for group in official.groups) > 1:
            return 0.0, None, "not all bots have met, directly or through others"
        order = sorted(present, key=lambda entry: (-official.conservative(entry), self._numbers[entry]))
        wanted = NormalDist().inv_cdf(self._when.value / 100)
        gaps = [(official.better(one, other), one, other) for one, other in pairwise(order)]
        if not gaps:
            return 1.0, 0, ""
        least, one, other = min(gaps, key=lambda gap: gap[0])
        z = NormalDist().inv_cdf(min(max(least, 1e-12), 1 - 1e-12))
        why = f"'{self._name(one)}' is stronger than '{self._name(other)}' with {least:.0%}"
        # An error falls with the root of the number of matches.
        left = math.ceil(self._matches * ((wanted / z) ** 2 - 1)) if z > _LEVEL else None
        return (1.0 if z >= wanted else max(z, 0.0) / wanted), left, why

    def _precision(self, results: Mapping[Result, int], present: set[str]) -> tuple[float, int | None, str]:
        found = strengths(results)
        error, entry = max((INTERVAL_95 * found[entry].sigma, entry) for entry in present)
        share = self._when.value / error if error else 1.0
        left = math.ceil(self._matches * (1 / share**2 - 1))
        return min(share, 1.0), left, f"the Elo of '{self._name(entry)}' is known to +-{error:.0f}"

    def _name(self, entry: str) -> str:
        return self._called(self._numbers[entry])

    def _called(self, number: int) -> str:
        return self._names[number] if number < len(self._names) else f"bot {number + 1}"


def result_of_score(match: MatchScore) -> Result | None:
    """What a match of the schedule says, as `leaderboard.results.result_of` says it of a record."""
    members: dict[int, list[str]] = {}
    ranks: dict[int, int] = {}
    for entry, team, rank in zip(match.entries, match.teams, match.ranking, strict=True):
        members.setdefault(team, []).append(entry)
        ranks[team] = rank
    if len(members) < 2 or len(set(match.entries)) < len(match.entries):
        return None
    by_rank: dict[int, list[Team]] = {}
    for team, entries in members.items():
        by_rank.setdefault(ranks[team], []).append(tuple(sorted(entries)))
    return tuple(tuple(sorted(by_rank[rank])) for rank in sorted(by_rank))


def outlook_of(run: Run, rows: Sequence[MatchRow]) -> Outlook | None:
    """How far a run is by its rule, by these rated matches; None for a run without a rule."""
    when, _ = rule_in_force(run.controls)
    if when is None:
        return None
    rule = StoppingRule(when, [seat.name for seat in run.schedule_config.participants])

    def note(block: BlockResult) -> None:
        if block.complete and not progress.schedule.beyond(block.place):
            rule(block)

    progress = ScheduleProgress(run.schedule_config, run.controls, rows, note)
    for _ in progress:
        pass
    return rule.outlook
