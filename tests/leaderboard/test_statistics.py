"""Counts, scores on blocks, margins, faults, move times."""

from collections import Counter

import pytest

from leaderboard.ratings.official import rate
from leaderboard.statistics import residuals, statistics
from leaderboard.times import add, histogram, percentile_ms


def test_the_cross_table_has_both_views_of_every_pair(make_row):
    rows = [
        make_row(0, {"a": 1, "b": 2}),
        make_row(1, {"b": 1, "a": 1}),
        make_row(2, {"a": 1, "b": 2}, faults=("", "crashed")),
        make_row(3, {"b": 1, "a": 2}),
    ]
    cross = statistics(rows).cross
    ab, ba = cross["a", "b"], cross["b", "a"]
    assert (ab.won, ab.drawn, ab.lost) == (2, 1, 1)
    assert (ba.won, ba.drawn, ba.lost) == (1, 1, 2)
    assert ab.score.mean == pytest.approx(0.625)
    assert ab.margin == pytest.approx((1 + 0 - 1) / 3), "the match that a fault ended has no points"


def test_everyone_of_a_free_for_all_meets_everyone_and_team_mates_do_not(make_row):
    cross = statistics([make_row(0, {"a": 1, "b": 2, "c": 2})]).cross
    assert (cross["a", "c"].won, cross["b", "c"].drawn, cross["c", "a"].lost) == (1, 1, 1)
    teams = statistics([make_row(0, {"a": 1, "b": 3, "c": 1, "d": 3}, teams=(0, 1, 0, 1))]).cross
    assert ("a", "c") not in teams


def test_errors_come_from_blocks_not_from_matches_rat12(make_row):
    """Luck that decides both matches of a block leaves less evidence than as many independent ones would; luck that
    seats share out evenly leaves no more error than one block that went the other way would."""
    same_side = [make_row(place, {"a": 1 + place // 2 % 2, "b": 2 - place // 2 % 2}) for place in range(40)]
    error = statistics(same_side).cross["a", "b"].score
    assert (error.mean, error.blocks) == (0.5, 20)
    assert error.error == pytest.approx(0.5 / 19**0.5, rel=1e-6)
    shared = [make_row(place, {"a": 1 + place % 2, "b": 2 - place % 2}) for place in range(40)]
    assert statistics(shared).cross["a", "b"].score.error == pytest.approx(0.5 / 21)
    assert statistics(same_side[:2]).cross["a", "b"].score.error is None
    assert statistics(same_side).whole_blocks == 20


def test_the_seat_advantage_is_per_seat(make_row):
    rows = [make_row(place, {"a": 1, "b": 2} if place % 2 else {"b": 1, "a": 2}) for place in range(8)]
    found = statistics(rows)
    assert {seat: score.mean for seat, score in found.seats.items()} == {0: 1.0, 1: 0.0}
    assert found.entries["a"].by_seat[0].mean == 1.0
    assert found.draws == 0


def test_a_mirror_match_is_one_match_of_its_bot(make_row):
    row = make_row(0, {"a": 1, "b": 2})
    first, second = row.seats
    found = statistics([row._replace(seats=(first, second._replace(entry_id="a")))])
    assert (found.matches, found.entries["a"].matches, dict(found.cross)) == (1, 1, {})


def test_faults_and_reasons_are_counted(make_row):
    found = statistics([make_row(0, {"a": 1, "b": 2}, faults=("", "crashed")), make_row(1, {"a": 1, "b": 1})])
    assert found.entries["b"].faults == {"crashed": 1}
    assert found.draws == 0.5


def test_nothing_played_is_no_error():
    found = statistics([])
    assert (found.matches, found.draws, found.cross, found.seats) == (0, None, {}, {})


@pytest.mark.parametrize(
    ("times_us", "percent", "expected_ms"),
    [([1000] * 99 + [500_000], 50, 1.0), ([1000] * 99 + [500_000], 99, 1.0), ([1000] * 90 + [500_000] * 10, 99, 500.0)],
)
def test_percentiles_of_move_times_are_right_to_5_percent(times_us, percent, expected_ms):
    total = Counter()
    for part in (times_us[:40], times_us[40:]):
        add(total, histogram(part))
    assert percentile_ms(total, percent) == pytest.approx(expected_ms, rel=0.05)


def test_unknown_times_are_left_out():
    assert histogram([-1, -1]) == ""
    assert percentile_ms({}, 50) is None
    assert histogram([0, 1, 1]) == "0:1 1:2"


def test_a_day_whose_results_do_not_fit_stands_out_rat16(make_row):

    usual = [make_row(place, {"a": 1, "b": 2} if place % 10 else {"a": 2, "b": 1}) for place in range(200)]
    odd = [
        make_row(place, {"a": 1, "b": 2} if place % 2 else {"a": 2, "b": 1})._replace(created_at="2026-02-02T00:00:00Z")
        for place in range(200, 240)
    ]
    first, second = residuals([*usual, *odd], rate([*usual, *odd]))
    assert (first.group, first.matches) == ("2026-02-02", 40)
    assert first.z < -3
    assert abs(second.z) < 3


def test_start_up_times_are_those_of_processes_started_for_a_match(make_row):
    rows = []
    for place, took_us in enumerate((400_000, 0, 8_000_000)):
        row = make_row(place, {"a": 1, "b": 2})
        rows.append(row._replace(seats=(row.seats[0]._replace(startup_us=took_us), row.seats[1])))
    found = statistics(rows)
    assert found.entries["a"].startups == "its program was started 2 times, in 4.20 s (median), at worst 8.00 s"
    assert found.entries["b"].startups == ""
