"""What happened in a pool of matches, counted on blocks.

The matches of a block share their seed, so their results hang together: seats swapped on the same luck. An error that
is computed as if they were independent is too wide or too narrow. Scores are therefore taken per block first, and
errors from how the blocks differ (with two seats and two matches this is the pentanomial model of chess testing).

A *score* is the share of the other teams that were beaten, ties as a half: 1 for the winner, 0 for the last.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import NormalDist, median
from typing import NamedTuple

from leaderboard import times
from leaderboard.ratings.official import INTERVAL_95, Official
from leaderboard.records import MatchRow, SeatRow
from referee.record.reasons import is_fault


@dataclass(frozen=True, slots=True)
class Score:
    """A mean score and its standard error over `blocks`; the error is None where fewer than two say nothing of it.

    It is never taken for less than as if one more block had gone the other way: six wins of six are no proof that a
    bot always wins.
    """

    mean: float
    error: float | None
    blocks: int

    @property
    def interval(self) -> tuple[float, float] | None:
        """95 %, by the normal approximation, within 0 to 1."""
        if self.error is None:
            return None
        return max(0.0, self.mean - INTERVAL_95 * self.error), min(1.0, self.mean + INTERVAL_95 * self.error)


@dataclass(slots=True)
class Versus:
    """One entry against another, seen from the first: matches won, drawn and lost, score and mean margin in points.

    With more than two teams a match is won by the one that ranks before the other. `margin` is None where the game's
    points are unknown (a fault ended the match) or were never given.
    """

    won: int = 0
    drawn: int = 0
    lost: int = 0
    score: Score | None = None
    margin: float | None = None

    @property
    def played(self) -> int:
        return self.won + self.drawn + self.lost


@dataclass(frozen=True, slots=True)
class EntryFacts:
    """Faults by reason, move times in milliseconds by percentile, score per seat, start-up times of its processes."""

    entry_id: str
    matches: int
    faults: Mapping[str, int]
    move_ms: Mapping[int, float | None]
    by_seat: Mapping[int, Score]
    startups_us: Sequence[int] = ()

    @property
    def startups(self) -> str:
        """The start-up times in words; '' without any."""
        if not self.startups_us:
            return ""
        number, worst_s = len(self.startups_us), max(self.startups_us) / 1e6
        if number == 1:
            return f"its program was started once, in {worst_s:.2f} s"
        usual_s = median(self.startups_us) / 1e6
        return f"its program was started {number} times, in {usual_s:.2f} s (median), at worst {worst_s:.2f} s"


@dataclass(frozen=True, slots=True)
class Residual:
    """Results of one group of matches (a day, a tournament) against what the ratings expect: `z` is the difference in
    standard deviations. Beyond 3 something about the group, not the bots, decided results."""

    group: str
    matches: int
    z: float


@dataclass(frozen=True, slots=True)
class Statistics:
    """All of it, over the matches of one pool. `draws` is the share of matches without a single best team.

    `blocks` are blocks of which at least one match was rated, `whole_blocks` those with as many as the largest has.
    """

    matches: int
    blocks: int
    whole_blocks: int
    draws: float | None
    seats: Mapping[int, Score]
    cross: Mapping[tuple[str, str], Versus]
    entries: Mapping[str, EntryFacts]
    reasons: Mapping[str, int]


def statistics(matches: Sequence[MatchRow]) -> Statistics:
    """Count everything. `matches` in any order."""
    ordered = sorted(matches, key=lambda match: (match.tournament, match.place, match.match_id))
    numbers: dict[tuple[str, str, int], int] = {}
    played = [_Played(m, numbers.setdefault(block_of(m), len(numbers)), _scores(m)) for m in ordered]
    sizes = Counter(one.block for one in played)
    drawn = sum(len({seat.team for seat in match.seats if seat.rank == 1}) > 1 for match in ordered)
    seats: dict[int, _Blocked] = defaultdict(_Blocked)
    for one in played:
        for seat, score in zip(one.match.seats, one.scores, strict=True):
            seats[seat.seat].add(one.block, score)
    return Statistics(
        matches=len(ordered),
        blocks=len(sizes),
        whole_blocks=Counter(sizes.values())[max(sizes.values(), default=0)],
        draws=drawn / len(ordered) if ordered else None,
        seats={seat: blocked.score() for seat, blocked in sorted(seats.items())},
        cross=_cross(played),
        entries=_entries(played),
        reasons=dict(Counter(match.reason for match in ordered).most_common()),
    )


class _Played(NamedTuple):
    """A match, the number of its block, and the score of each seat."""

    match: MatchRow
    block: int
    scores: Sequence[float]


_BY_RANKS = ((1.0, 0.0), (0.5, 0.5), (0.0, 1.0))
"""The scores of two, by whether the second ranks behind, beside or before the first."""


def _scores(match: MatchRow) -> Sequence[float]:
    seats = match.seats
    if len(seats) == 2 and seats[0].team != seats[1].team:  # most matches by far
        one, other = seats[0].rank, seats[1].rank
        return _BY_RANKS[0 if one < other else 1 if one == other else 2]
    return [score_of(match, seat) for seat in seats]


def block_of(match: MatchRow) -> tuple[str, str, int]:
    """Matches that share it share their seed."""
    return match.tournament, match.game, match.block


def score_of(match: MatchRow, seat: SeatRow) -> float:
    """The share of the other teams that the seat's team finished before, ties as a half; 0.5 without another."""
    others = {other.team: other.rank for other in match.seats if other.team != seat.team}
    if not others:
        return 0.5
    return sum(1.0 if seat.rank < rank else 0.5 if seat.rank == rank else 0.0 for rank in others.values()) / len(others)


def residuals(matches: Iterable[MatchRow], official: Official, group: str = "day") -> list[Residual]:
    """Two-team results by `group` ("day" or "tournament") against the official ratings, the strangest first.

    Only matches of one entry against one, both rated; the expectation includes the uncertainty of the ratings, and
    draws count as a half.
    """
    found: dict[str, list[tuple[float, float]]] = defaultdict(list)
    normal = NormalDist()
    for match in matches:
        if len(match.seats) != 2 or match.seats[0].team == match.seats[1].team:
            continue
        one, other = (seat.entry_id for seat in match.seats)
        if one not in official.skills or other not in official.skills or one == other:
            continue
        expected = normal.cdf(official.gap(one, other))
        key = match.created_at[:10] if group == "day" else match.tournament
        strength = 1 if expected >= 0.5 else -1  # seen from the favourite: seats change sides within a block
        difference = (score_of(match, match.seats[0]) - expected) * strength
        found[key].append((difference, expected * (1 - expected)))
    made = [
        Residual(key, len(parts), sum(d for d, _ in parts) / math.sqrt(max(sum(v for _, v in parts), 1e-12)))
        for key, parts in found.items()
    ]
    return sorted(made, key=lambda item: (-abs(item.z), item.group))


@dataclass(slots=True)
class _Blocked:
    """Scores, kept per block."""

    sums: dict[int, list[float]] = field(default_factory=dict)

    def add(self, block: int, value: float) -> None:
        total = self.sums.get(block)
        if total is None:
            self.sums[block] = [value, 1]
        else:
            total[0] += value
            total[1] += 1

    def score(self) -> Score:
        """The mean over all matches; its error from the differences between blocks, each weighing what it has."""
        count = sum(number for _, number in self.sums.values())
        mean = sum(total for total, _ in self.sums.values()) / count
        blocks = len(self.sums)
        if blocks < 2:
            return Score(mean, None, blocks)
        square = sum((total - number * mean) ** 2 for total, number in self.sums.values())
        one_more = max(mean, 1 - mean) / (blocks + 1)
        return Score(mean, max(math.sqrt(square * blocks / (blocks - 1)) / count, one_more), blocks)


def _cross(played: Sequence[_Played]) -> dict[tuple[str, str], Versus]:
    table: dict[tuple[str, str], Versus] = defaultdict(Versus)
    scores: dict[tuple[str, str], _Blocked] = defaultdict(_Blocked)
    margins: dict[tuple[str, str], list[int]] = defaultdict(list)
    for match, block, _ in played:
        for seat in match.seats:
            for other in match.seats:
                pair = seat.entry_id, other.entry_id
                if other.team == seat.team or pair[0] == pair[1]:
                    continue
                cell = table[pair]
                if seat.rank < other.rank:
                    cell.won += 1
                elif seat.rank == other.rank:
                    cell.drawn += 1
                else:
                    cell.lost += 1
                value = 1.0 if seat.rank < other.rank else 0.5 if seat.rank == other.rank else 0.0
                scores[pair].add(block, value)
                if seat.points is not None and other.points is not None:
                    margins[pair].append(seat.points - other.points)
    for pair, cell in table.items():
        cell.score = scores[pair].score()
        cell.margin = sum(margins[pair]) / len(margins[pair]) if margins[pair] else None
    return dict(table)


def _entries(ordered: Sequence[_Played]) -> dict[str, EntryFacts]:
    played: Counter[str] = Counter()
    faults: dict[str, Counter[str]] = defaultdict(Counter)
    histograms: dict[str, Counter[str]] = defaultdict(Counter)
    seats: dict[str, dict[int, _Blocked]] = defaultdict(lambda: defaultdict(_Blocked))
    startups: dict[str, list[int]] = defaultdict(list)
    for match, block, scores in ordered:
        played.update({seat.entry_id for seat in match.seats})
        for seat, score in zip(match.seats, scores, strict=True):
            if is_fault(seat.fault):
                faults[seat.entry_id][seat.fault] += 1
            if seat.startup_us:
                startups[seat.entry_id].append(seat.startup_us)
            histograms[seat.entry_id][seat.times] += 1
            seats[seat.entry_id][seat.seat].add(block, score)
    moves: dict[str, Counter[int]] = {}
    for entry, texts in histograms.items():
        moves[entry] = Counter()
        for text, number in texts.items():
            times.add(moves[entry], text, number)
    return {
        entry: EntryFacts(
            entry_id=entry,
            matches=played[entry],
            faults=dict(sorted(faults[entry].items())),
            move_ms={percent: times.percentile_ms(moves[entry], percent) for percent in times.PERCENTILES},
            by_seat={seat: blocked.score() for seat, blocked in sorted(seats[entry].items())},
            startups_us=tuple(startups[entry]),
        )
        for entry in sorted(played)
    }
