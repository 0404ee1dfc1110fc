"""What happened in a pool of matches, counted on blocks.

The matches of a block share their seed, so their results hang together: seats swapped on the same luck. An error that
is computed as if they were independent is too wide or too narrow. Scores are therefore taken per block first, and
errors from how the blocks differ (with two seats and two matches this is the pentanomial model of chess testing).

A *score* is the share of the other teams that were beaten, ties as a half: 1 for the winner, 0 for the last.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from statistics import NormalDist, median

import numpy as np

from leaderboard import times
from leaderboard.match_table import MatchTable, Numbers, pairs_of, signatures, table_of
from leaderboard.ratings.official import INTERVAL_95, Official
from leaderboard.ratings.skill import Array
from leaderboard.records import MatchRow
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
    table = table_of(matches)
    _, block = signatures(*(table.column(name) for name in ("tournament", "game", "block")))
    sizes = np.bincount(block)
    seats = table.seat_numbers
    scores = _scores(table)
    blocks = block[table.match_of_seat]
    return Statistics(
        matches=len(table),
        blocks=len(sizes),
        whole_blocks=int((sizes == sizes.max()).sum()) if sizes.size else 0,
        draws=len(table.shared) / len(table) if len(table) else None,
        seats=_blocked(seats, blocks, scores),
        cross=_cross(table, block),
        entries=_entries(table, blocks, scores),
        reasons=_reasons(table),
    )


def _reasons(table: MatchTable) -> dict[str, int]:
    """How often matches ended for each reason: the most frequent first, and of equally frequent ones the first one."""
    if not len(table):
        return {}
    named = np.argsort(np.argsort(np.array(table.texts, dtype=np.object_)))  # tournaments in the order of their names
    order = np.lexsort((table.column("place"), named[table.column("tournament")]))
    reasons, first, number = np.unique(table.column("reason")[order], return_index=True, return_counts=True)
    found = sorted(zip(-number, first, reasons, strict=True))
    return {table.texts[reason]: int(-times) for times, _, reason in found}


def _scores(table: MatchTable) -> Array:
    """The score of each seat."""
    scores = np.full(len(table.numbers["who"]), 0.5)
    for _, seats in table.by_players():
        teams, ranks = table.column("team")[seats], table.column("rank")[seats]
        first, number = signatures(*teams.T, *ranks.T)
        each = [_scores_of(teams[match].tolist(), ranks[match].tolist()) for match in first]
        if seats.size:
            scores[seats] = np.array(each)[number]
    return scores


def _scores_of(teams: Sequence[int], ranks: Sequence[int]) -> list[float]:
    """Per seat the share of the other teams that its team finished before, ties as a half; 0.5 without another."""
    ranked = dict(zip(teams, ranks, strict=True))
    scores = []
    for team, rank in zip(teams, ranks, strict=True):
        others = [ranked[other] for other in ranked if other != team]
        beaten = sum(1.0 if rank < other else 0.5 if rank == other else 0.0 for other in others)
        scores.append(beaten / len(others) if others else 0.5)
    return scores


def residuals(matches: Sequence[MatchRow], official: Official, group: str = "day") -> list[Residual]:
    """Two-team results by `group` ("day" or "tournament") against the official ratings, the strangest first.

    Only matches of one entry against one, both rated; the expectation includes the uncertainty of the ratings, and
    draws count as a half.
    """
    table = table_of(matches)
    found: dict[str, list[float]] = defaultdict(lambda: [0, 0.0, 0.0])
    normal = NormalDist()
    for which, seats in table.by_players():
        if seats.shape[1] != 2:
            continue
        teams, ranks, entries = (
            column[seats] for column in (table.column("team"), table.column("rank"), table.seat_entries)
        )
        apart = (teams[:, 0] != teams[:, 1]) & (entries[:, 0] != entries[:, 1])
        ends = np.sign(ranks[:, 1] - ranks[:, 0]) + 1
        keys = table.column(group)[which]
        columns = [keys[apart], *entries[apart].T, ends[apart]]
        first, number = signatures(*columns)
        for match, several in zip(first, np.bincount(number).tolist(), strict=True):
            key, one, other, end = (int(column[match]) for column in columns)
            one_entry, other_entry = table.entries[one], table.entries[other]
            if one_entry not in official.skills or other_entry not in official.skills:
                continue
            expected = normal.cdf(official.gap(one_entry, other_entry))
            strength = 1 if expected >= 0.5 else -1  # seen from the favourite: seats change sides within a block
            total = found[table.texts[key]]
            total[0] += several
            total[1] += several * (end / 2 - expected) * strength
            total[2] += several * expected * (1 - expected)
    made = [
        Residual(key, int(number), float(difference / math.sqrt(max(variance, 1e-12))))
        for key, (number, difference, variance) in found.items()
    ]
    return sorted(made, key=lambda item: (-abs(item.z), item.group))


def _blocked(cell: Numbers, block: Numbers, values: Array) -> dict[int, Score]:
    """By cell, ascending, the mean of its values; its error from the differences between blocks, each weighing what it
    has."""
    size = int(block.max()) + 1 if block.size else 1
    parts, number = np.unique(cell * size + block, return_inverse=True)
    totals, numbers = np.bincount(number, values), np.bincount(number)
    cells, place = np.unique(parts // size, return_inverse=True)
    counts, blocks = np.bincount(place, numbers), np.bincount(place)
    means = np.bincount(place, totals) / counts
    squares = np.bincount(place, (totals - numbers * means[place]) ** 2)
    found = {}
    for one, count, mean, square, several in zip(
        cells.tolist(), counts.tolist(), means.tolist(), squares.tolist(), blocks.tolist(), strict=True
    ):
        error = None
        if several > 1:
            one_more = max(mean, 1 - mean) / (several + 1)
            error = max(math.sqrt(square * several / (several - 1)) / count, one_more)
        found[one] = Score(mean, error, several)
    return found


def _cross(table: MatchTable, block: Numbers) -> dict[tuple[str, str], Versus]:
    """Each entry against each that it has met, by cells: the number of one, times all, and that of the other."""
    all_entries = len(table.entries)
    columns = {name: table.column(name) for name in ("team", "rank", "points", "scored")} | {
        "entry": table.seat_entries
    }
    parts: list[tuple[Numbers, Numbers, Numbers, Numbers, Numbers]] = []
    for which, seats in table.by_players():
        for one, other in permutations(range(seats.shape[1]), 2):
            mine, theirs = ({name: column[seats[:, seat]] for name, column in columns.items()} for seat in (one, other))
            met = (mine["team"] != theirs["team"]) & (mine["entry"] != theirs["entry"])
            parts.append(
                (
                    (mine["entry"] * all_entries + theirs["entry"])[met],
                    block[which][met],
                    np.sign(theirs["rank"] - mine["rank"])[met],
                    (mine["points"] - theirs["points"])[met],
                    (mine["scored"] & theirs["scored"])[met],
                )
            )
    if not parts:
        return {}
    cell, blocks, end, margin, scored = map(np.concatenate, zip(*parts, strict=True))
    scores = _blocked(cell, blocks, (end + 1) / 2)
    cells, place = np.unique(cell, return_inverse=True)
    drawn, won = np.bincount(place, end == 0), np.bincount(place, end == 1)
    played, known, margins = np.bincount(place), np.bincount(place, scored), np.bincount(place, margin * scored)
    return {
        (table.entries[pair // all_entries], table.entries[pair % all_entries]): Versus(
            won=int(won[number]),
            drawn=int(drawn[number]),
            lost=int(played[number] - won[number] - drawn[number]),
            score=scores[pair],
            margin=float(margins[number] / known[number]) if known[number] else None,
        )
        for number, pair in enumerate(cells.tolist())
    }


def _entries(table: MatchTable, blocks: Numbers, scores: Array) -> dict[str, EntryFacts]:
    """By entry, sorted. `blocks` and `scores` are per seat."""
    entries = table.seat_entries
    played = np.bincount(np.unique(np.stack((entries, table.match_of_seat)), axis=1)[0], minlength=len(table.entries))
    most = int(table.numbers["players"].max()) if len(table) else 1
    by_seat: dict[int, dict[int, Score]] = defaultdict(dict)
    for cell, score in _blocked(entries * most + table.seat_numbers, blocks, scores).items():
        by_seat[cell // most][cell % most] = score
    faults: dict[int, dict[str, int]] = defaultdict(dict)
    faulty = table.seats_where("fault", is_fault)
    for entry, fault, number in pairs_of(entries[faulty], table.column("fault")[faulty]):
        faults[entry][table.texts[fault]] = number
    moves: dict[int, Counter[int]] = defaultdict(Counter)
    for entry, text, number in pairs_of(entries, table.column("times")):
        times.add(moves[entry], table.counted_texts[text], number)
    started = np.flatnonzero(table.numbers["startup_us"])
    startups: dict[int, list[int]] = defaultdict(list)
    for entry, took_us in zip(entries[started].tolist(), table.column("startup_us")[started].tolist(), strict=True):
        startups[entry].append(took_us)
    found = {
        table.entries[entry]: EntryFacts(
            entry_id=table.entries[entry],
            matches=int(played[entry]),
            faults=dict(sorted(faults[entry].items())),
            move_ms={percent: times.percentile_ms(moves[entry], percent) for percent in times.PERCENTILES},
            by_seat=by_seat[entry],
            startups_us=tuple(startups[entry]),
        )
        for entry in np.flatnonzero(played).tolist()
    }
    return dict(sorted(found.items()))
