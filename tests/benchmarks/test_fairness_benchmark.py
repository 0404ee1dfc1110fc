"""What the benchmark of fairness counts: per seat, honest ones beside guilty ones apart, and nothing left out."""

import pytest

from benchmarks.fairness import Guilty, Honest, Level, tables, upper
from referee.match import EndReason, MatchResult
from referee.match.result import Fault, SeatStats
from referee.record.reasons import status_of

R = EndReason


def result(reason: EndReason, *faults: EndReason | None, first_decisions: int = 10) -> MatchResult:
    """Of two seats, the second with 9 decisions."""
    return MatchResult(
        match_id="m1",
        status=status_of(reason),
        reason=reason,
        detail="",
        ranking=(),
        returns=(),
        faults=tuple(None if fault is None else Fault(seat, fault, "") for seat, fault in enumerate(faults)),
        seat_stats=(SeatStats(first_decisions), SeatStats(9)),
        decisions=first_decisions + 9,
        wall_s=1.0,
        state_hash="",
    )


NORMAL = result(R.NORMAL, None, None)
FIRST_LATE = result(R.MOVE_TIMEOUT, R.MOVE_TIMEOUT, None)
SECOND_LATE = result(R.MOVE_TIMEOUT, None, R.MOVE_TIMEOUT)
SECOND_LATE_EARLY = result(R.MOVE_TIMEOUT, None, R.MOVE_TIMEOUT, first_decisions=2)
BOTH_LATE = result(R.EVERYONE_FAULTED, R.MOVE_TIMEOUT, R.BANK_EXHAUSTED)
FIRST_SUSPECT = result(R.SUSPECT_TIMEOUT, R.SUSPECT_TIMEOUT, None)
SECOND_SUSPECT_EARLY = result(R.SUSPECT_TIMEOUT, None, R.SUSPECT_TIMEOUT, first_decisions=2)
FIRST_CRASHED = result(R.CRASHED, R.CRASHED, None)
REFEREE_FAILED = result(R.PLATFORM_FAULT, None, None, first_decisions=0)


@pytest.mark.parametrize(
    ("match", "decisions", "false", "suspect", "other"),
    [
        (NORMAL, 19, 0, 0, 0),
        (FIRST_LATE, 19, 1, 0, 0),
        (BOTH_LATE, 19, 2, 0, 0),
        (FIRST_SUSPECT, 0, 0, 1, 0),
        (FIRST_CRASHED, 19, 0, 0, 1),
        (REFEREE_FAILED, 0, 0, 0, 0),
    ],
)
def test_each_honest_seat_counts(match: MatchResult, decisions: int, false: int, suspect: int, other: int) -> None:
    honest = Honest()
    honest.count(match, (0, 1))
    assert (honest.decisions, honest.false, honest.suspect, honest.other) == (decisions, false, suspect, other)


@pytest.mark.parametrize(
    ("match", "became", "decisions", "false", "suspect"),
    [
        (FIRST_LATE, "charged", 9, 0, 0),
        (BOTH_LATE, "charged", 9, 1, 0),
        (SECOND_LATE, "got_away", 9, 1, 0),
        (SECOND_LATE_EARLY, "unjudged", 9, 1, 0),
        (FIRST_SUSPECT, "suspect", 0, 0, 0),
        (SECOND_SUSPECT_EARLY, "unjudged", 0, 0, 1),
        (NORMAL, "got_away", 9, 0, 0),
        (FIRST_CRASHED, "got_away", 9, 0, 0),
        (REFEREE_FAILED, "unjudged", 0, 0, 0),
    ],
)
def test_an_honest_seat_beside_a_guilty_one_counts_too(
    match: MatchResult, became: str, decisions: int, false: int, suspect: int
) -> None:
    guilty, beside = Guilty(), Honest()
    guilty.count(match)
    beside.count(match, (1,))
    assert getattr(guilty, became) == guilty.matches == 1
    assert (beside.decisions, beside.false, beside.suspect) == (decisions, false, suspect)


def test_the_tables_have_a_column_of_their_own_for_honest_bots_beside_guilty_ones() -> None:
    level = Level(4)
    for match in (NORMAL, FIRST_LATE, FIRST_SUSPECT):
        level.honest.count(match, (0, 1))
    for match in (SECOND_LATE_EARLY, BOTH_LATE):
        level.guilty["sleeps"].count(match)
        level.beside.count(match, (1,))
    lines = list(tables([level]))
    assert lines[2] == "| 4 | 38 | 1 | 26315.8 | 124838.5 | 1 | 0 | 18 | 2 | 0 | 0 |"
    assert lines[6] == "| 4 | sleeps | 2 | 1 | 0 | 0 | 1 |"
    assert len({line.count("|") for line in lines[:3]}) == len({line.count("|") for line in lines[4:10]}) == 1


def test_the_nodes_of_bots_that_search_are_told_with_their_spread_and_beside_the_control() -> None:
    level = Level(2)
    level.nodes["connects_elsewhere"] = [[90, 100], [110, 100]]
    level.nodes["connects"] = [[80, 120], [90, 90], []]
    lines = list(tables([level]))[-2:]
    assert lines == [
        "| 2 | connects_elsewhere | 4 | 100 | 92 to 108 | 95 to 105 | 100.0% |",
        "| 2 | connects | 4 | 90 | 82 to 112 | 90 to 100 | 90.0% |",
    ]


@pytest.mark.parametrize(("count", "bound"), [(0, 2.996), (1, 4.744), (2, 6.296), (10, 16.962)])
def test_the_bound_is_that_of_a_poisson_count(count: int, bound: float) -> None:
    """Half the 95 % points of chi-square with 2 n + 2 degrees of freedom."""
    assert upper(count) == pytest.approx(bound, abs=0.001)
