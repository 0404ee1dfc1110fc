"""The table people read."""

from dataclasses import replace

import pytest

from leaderboard.controls import Counted
from leaderboard.ratings import official
from leaderboard.ratings.registry import MODELS
from leaderboard.ratings.skill import Skill
from leaderboard.report import report_html
from leaderboard.standings import Entrant, Standing, apart, by_live_rating, standings, unsettled
from leaderboard.statistics import statistics


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
    table = standings([fine, crashed._replace(game="another game")])
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


def test_entrants_without_a_match_are_in_the_table_without_a_rank_or_a_rating():
    table = standings([], [Entrant("y", "Yak", "1"), Entrant("x", "Ape", "2")])
    assert [(row.rank, row.name, row.played, row.mean_move_ms) for row in table] == [
        (None, "Ape", 0, None),
        (None, "Yak", 0, None),
    ]
    assert {(row.mu, row.sigma, row.conservative, row.low, row.high, row.elo, row.live_mu) for row in table} == {
        (None,) * 7
    }


def test_equal_ratings_share_a_rank(make_row):
    table = standings([make_row(0, {"a": 1, "b": 2}), make_row(1, {"b": 1, "a": 2})], [Entrant("c", "C", "1")])
    assert [(row.rank, row.name) for row in table] == [(1, "A"), (1, "B"), (None, "C")]


def test_ratings_that_differ_by_rounding_alone_share_a_rank_and_stand_by_name(make_row):
    a, b = standings([make_row(0, {"a": 1, "b": 2}), make_row(1, {"b": 1, "a": 2})])
    rows = [replace(a, live_mu=25.0 - 4e-15, live_sigma=2.5), replace(b, live_mu=25.0 + 4e-15, live_sigma=2.5 + 4e-16)]
    assert [(row.rank, row.name) for row in by_live_rating(rows)] == [(1, "A"), (1, "B")]


def test_equal_ratings_on_both_sides_of_a_rounded_place_share_a_rank(make_row):
    a, b = standings([make_row(0, {"a": 1, "b": 2}), make_row(1, {"b": 1, "a": 2})])
    middle = next(
        number for step in range(1000) if round(number := 25 + (2 * step + 1) * 5e-10, 9) != round(number + 4e-15, 9)
    )
    rows = [replace(a, live_mu=middle, live_sigma=2.5), replace(b, live_mu=middle + 4e-15, live_sigma=2.5)]
    assert {row.rank for row in by_live_rating(rows)} == {1}


def two_groups(make_row):
    """a beats b, three times; c beats d, and d beats e, once each; f has a match against itself alone."""
    rows = [make_row(place, {"a": 1, "b": 2}) for place in range(3)]
    rows += [make_row(3, {"c": 1, "d": 2}), make_row(4, {"d": 1, "e": 2})]
    return [*rows, mirror_of(make_row(5, {"f": 1, "g": 2}))]


def mirror_of(row):
    """The first of two bots on both seats."""
    first, second = row.seats
    return row._replace(seats=(first, second._replace(entry_id=first.entry_id, name=first.name)))


def test_groups_that_never_met_are_ranked_apart(make_row):
    table = standings(two_groups(make_row))
    assert [(row.group, row.rank, row.name) for row in table] == [
        (1, 1, "C"),
        (1, 2, "D"),
        (1, 3, "E"),
        (2, 1, "A"),
        (2, 2, "B"),
        (None, None, "F"),
    ]
    assert [row.better is None for row in table] == [False, False, True, False, True, True]
    for group in (1, 2):
        rows = [row for row in table if row.group == group]
        assert sum(row.mu for row in rows) / len(rows) == pytest.approx(25), "each has its own scale"
        assert sum(row.elo for row in rows) == pytest.approx(0, abs=1e-6)
    assert apart(table) == (
        "Not all bots have met (nim with 2 players: 2 groups): each group is ranked separately, and the ratings of"
        " different groups cannot be compared."
    )
    live = by_live_rating(table)
    assert [(row.group, row.rank) for row in live] == [(row.group, row.rank) for row in table]


def test_a_group_is_rated_as_if_the_others_were_not_there(make_row):
    rows = two_groups(make_row)
    alone = {row.entry_id: row for row in standings(rows[:3])}
    for row in standings(rows):
        if row.group == 2:
            own = alone[row.entry_id]
            assert (row.mu, row.sigma) == pytest.approx((own.mu, own.sigma), rel=1e-4)
            assert (row.elo, row.elo_error) == pytest.approx((own.elo, own.elo_error), rel=1e-4)


def test_bots_that_met_through_others_are_one_group(make_row):
    table = standings([make_row(0, {"a": 1, "b": 2}), make_row(1, {"c": 1, "b": 2}), make_row(2, {"c": 1, "d": 2})])
    assert {row.group for row in table} == {1}
    assert apart(table) == ""


def test_a_mirror_match_counts_once_and_is_neither_won_nor_lost(make_row):
    rows = [make_row(0, {"a": 1, "b": 2}), mirror_of(make_row(1, {"a": 1, "b": 2}, times_us=(3000, 5000)))]
    row = next(row for row in standings(rows) if row.entry_id == "a")
    assert (row.played, row.won, row.drawn, row.lost, row.mirrors) == (2, 1, 0, 0, 1)
    assert row.worst_move_ms == 5, "its moves are its own on both seats"
    assert next(row for row in standings(rows[:1]) if row.entry_id == "a").mu == row.mu


def test_an_interval_is_never_nothing_however_one_sided_the_results(make_row):
    rows = [make_row(place, {"a": 1, "b": 2} if place % 2 else {"b": 2, "a": 1}) for place in range(6)]
    found = statistics(rows)
    scores = [*found.seats.values(), *(cell.score for cell in found.cross.values())]
    scores += [score for facts in found.entries.values() for score in facts.by_seat.values()]
    assert found.cross["a", "b"].score.error == pytest.approx(1 / 4)
    assert all(score.error > 0.1 for score in scores)
    for row in standings(rows):
        assert row.high - row.low > 1
        assert row.elo_error > 10


def test_two_entries_of_one_name_are_two_rows_res5(make_row):
    row = make_row(0, {"old": 1, "new": 2})
    match = row._replace(seats=tuple(seat._replace(name="Same") for seat in row.seats))
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


def test_a_model_that_is_added_to_the_registry_has_a_column(make_row, monkeypatch):
    """Share of matches won, as a model."""

    def shares(matches, _anchors):
        won = [next(seat.entry_id for seat in match.seats if seat.rank == 1) for match in matches]
        return {entry: Skill(won.count(entry) / len(won), 0.25) for entry in "ab"}

    monkeypatch.setitem(MODELS, "share", shares)
    rows = [make_row(0, {"a": 1, "b": 2}), make_row(1, {"b": 2, "a": 1})]
    table = standings(rows, [Entrant("c", "C", "1")])
    assert [row.more for row in table] == [
        {"share": {"mu": 1.0, "sigma": 0.25}},
        {"share": {"mu": 0.0, "sigma": 0.25}},
        {},
    ]
    assert [Standing.from_dict(row.to_dict()) for row in table] == table
    page = report_html("cup", Counted(tuple(rows)), table, total=2, made_at="today")
    assert "<th>share</th>" in page
    assert "<td>1.00</td>" in page


def test_to_resign_is_counted_as_lost_and_as_no_fault(make_row):
    table = standings([make_row(0, {"a": 1, "b": 2}, faults=["", "resigned"])])
    assert [(row.entry_id, row.lost, dict(row.faults)) for row in table] == [("a", 0, {}), ("b", 1, {})]
