"""The table people read."""

from dataclasses import replace

import pytest

from leaderboard import official
from leaderboard.controls import Counted
from leaderboard.report import report_html
from leaderboard.standings import Entrant, standings, unsettled


def test_results_faults_and_times_are_counted_per_entry(make_row):
    table = standings(
        [
            make_row(0, {"ann": 1, "bob": 2}, times_us=(1000, 4000)),
            make_row(1, {"bob": 1, "ann": 1}, times_us=(2000, 3000)),
            make_row(2, {"ann": 1, "bob": 2}, faults=("", "crashed"), times_us=(2000, 8000)),
            make_row(3, {"bob": 2, "ann": 1}, faults=("move_timeout", ""), times_us=(0, 0)),
        ]
    )
    ann, bob = table
    assert (ann.rank, ann.name, ann.played, ann.won, ann.drawn, ann.lost) == (1, "ANN", 4, 3, 1, 0)
    assert (bob.rank, bob.played, bob.won, bob.drawn, bob.lost) == (2, 4, 0, 1, 3)
    assert (ann.faults, bob.faults) == ({}, {"crashed": 1, "move_timeout": 1})
    assert (ann.mean_move_ms, ann.worst_move_ms) == (1.5, 3.0)
    assert (bob.mean_move_ms, bob.worst_move_ms) == (3.5, 8.0)
    assert ann.conservative == ann.mu - 3 * ann.sigma


def test_faults_are_counted_apart_for_each_game_and_number_of_players(make_row):
    """CRA-12: a bot that dies on one board only is seen to."""
    fine = make_row(0, {"ann": 1, "bob": 2})
    crashed = make_row(1, {"ann": 1, "bob": 2, "cyd": 2}, faults=("", "crashed", ""))
    table = standings([fine, replace(crashed, game="another game")])
    bob = {(row.game, row.players): (row.faults, row.played) for row in table if row.entry_id == "bob"}
    assert bob == {(fine.game, 2): ({}, 1), ("another game", 3): ({"crashed": 1}, 1)}


def test_first_alone_wins_in_a_free_for_all_and_a_team_shares_its_win(make_row):
    free = standings([make_row(0, {"a": 1, "b": 2, "c": 2})])
    assert {row.entry_id: (row.won, row.drawn, row.lost) for row in free} == {
        "a": (1, 0, 0),
        "b": (0, 0, 1),
        "c": (0, 0, 1),
    }
    teams = standings([make_row(0, {"a": 1, "b": 3, "c": 1, "d": 3}, teams=(0, 1, 0, 1))])
    assert {row.entry_id: (row.won, row.drawn, row.lost) for row in teams}["c"] == (1, 0, 0)


def test_entrants_without_a_match_are_in_the_table_and_equal_ratings_share_a_rank():
    table = standings([], [Entrant("y", "Yak", "1"), Entrant("x", "Ape", "2")])
    assert [(row.rank, row.name, row.played, row.mean_move_ms) for row in table] == [
        (1, "Ape", 0, None),
        (1, "Yak", 0, None),
    ]
    assert table[0].mu == pytest.approx(25)


def test_two_entries_of_one_name_are_two_rows_res5(make_row):
    row = make_row(0, {"old": 1, "new": 2})
    seats = tuple(type(s)(**{n: getattr(s, n) for n in s.__dataclass_fields__} | {"name": "Same"}) for s in row.seats)
    match = type(row)(**{n: getattr(row, n) for n in row.__dataclass_fields__} | {"seats": seats})
    assert [(line.name, line.entry_id, line.won) for line in standings([match])] == [
        ("Same", "old", 1),
        ("Same", "new", 0),
    ]


def test_the_table_is_the_same_for_any_order_of_results(make_row):
    rows = [make_row(place, {"a": 1 + place % 2, "b": 2 - place % 2}) for place in range(9)]
    assert standings(rows) == standings(rows[::-1])


def test_official_ratings_that_did_not_come_to_rest_are_told(make_row, monkeypatch):
    rows = [make_row(place, {"a": 1 + place % 3 % 2, "b": 2, "c": 3 - place % 2}) for place in range(9)]
    assert all(row.settled for row in standings(rows))
    assert unsettled(standings(rows)) == ""
    monkeypatch.setattr(official, "MAX_SWEEPS", 2)
    table = standings(rows)
    assert not any(row.settled for row in table)
    assert unsettled(table) == "The official ratings of nim with 3 players did not come to rest: take them as rough."
    pooled = standings(rows, pooled=True)
    assert unsettled(pooled) == "The official ratings of all games did not come to rest: take them as rough."
    page = report_html("cup", Counted(tuple(rows)), table, total=9, made_at="today")
    assert unsettled(table) in page
