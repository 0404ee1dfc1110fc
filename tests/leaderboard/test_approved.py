"""Ratings where some owners are not approved: their matches move nobody but themselves."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from leaderboard.controls import Counted, apply_controls
from leaderboard.ratings.approved import approved_parts, parts_of, rate_parted
from leaderboard.ratings.live import LiveTable, continue_live
from leaderboard.ratings.official import rate
from leaderboard.records import MatchRow
from leaderboard.standings import rate_pools, standings
from referee.ladder.beliefs import Beliefs
from referee.record.journal import Approvals, Control, approvals_of, unapproved_among

Row = Callable[..., MatchRow]
NEVER: Approvals = {"eve": [(0, False)], "mal": [(0, False)]}


@pytest.fixture
def honest(make_row: Row) -> list[MatchRow]:
    """ann beats bob twice of three times, and cleo once of two."""
    results = [("ann", "bob"), ("bob", "ann"), ("ann", "bob"), ("cleo", "ann"), ("ann", "cleo"), ("bob", "cleo")]
    return [make_row(place, {winner: 1, loser: 2}) for place, (winner, loser) in enumerate(results)]


def thrown(make_row: Row, honest: list[MatchRow], number: int = 20) -> list[MatchRow]:
    """The same, and then eve loses to ann so many times, and wins against bob."""
    more = [
        make_row(len(honest) + place, {"ann": 1, "eve": 2} if place % 2 else {"eve": 1, "bob": 2})
        for place in range(number)
    ]
    return [*honest, *more]


def test_who_is_approved_keeps_the_rating_to_the_last_bit(make_row: Row, honest: list[MatchRow]) -> None:
    rows = thrown(make_row, honest)
    official, before = rate_parted(rows, NEVER), rate(honest)
    live = LiveTable().continued(rows, NEVER)
    for name in ("ann", "bob", "cleo"):
        assert official.skills[name] == before.skills[name]
        assert live.skills[name] == LiveTable().continued(honest).skills[name]
    assert official.better("ann", "bob") == before.better("ann", "bob")
    assert rate(rows).skills["ann"].mu > before.skills["ann"].mu + 1  # the control: without the rule it is lifted


def test_who_is_not_approved_is_rated_on_the_same_scale(make_row: Row, honest: list[MatchRow]) -> None:
    wins = [make_row(len(honest) + place, {"eve": 1, "ann": 2}) for place in range(10)]
    official = rate_parted([*honest, *wins], NEVER)
    assert official.skills["eve"].mu > official.skills["ann"].mu
    assert official.skills["eve"].sigma < 25 / 3
    assert 0.5 < official.better("eve", "ann") < 1
    losses = [make_row(len(honest) + place, {"ann": 1, "eve": 2}) for place in range(10)]
    assert rate_parted([*honest, *losses], NEVER).skills["eve"].mu < official.skills["eve"].mu


def test_who_is_not_approved_is_not_moved_by_others_who_are_not(make_row: Row, honest: list[MatchRow]) -> None:
    """At a table with somebody who is approved, that is; where nobody is, the match counts as it is."""
    table = {"mal": 1, "ann": 2, "eve": 3}
    rows = [*honest, make_row(6, table), make_row(7, table)]
    apart = [*honest, make_row(6, {"mal": 1, "ann": 2}), make_row(7, {"mal": 1, "ann": 2})]
    assert LiveTable().continued(rows, NEVER).skills["mal"] == LiveTable().continued(apart, NEVER).skills["mal"]
    alone = [make_row(0, {"mal": 1, "eve": 2})]
    assert LiveTable().continued(alone, NEVER).skills["mal"].mu > 25
    assert rate_parted(alone, NEVER).skills == rate(alone).skills


def test_a_table_of_several_counts_for_each_without_the_others(make_row: Row) -> None:
    match = make_row(0, {"mal": 1, "ann": 2, "eve": 3, "bob": 4})
    parts = {
        tuple(sorted(moved)): [seat.entry_id for seat in part.seats]
        for moved, part in parts_of(match, frozenset({"mal", "eve"}))
    }
    assert parts == {
        ("ann", "bob"): ["ann", "bob"],
        ("mal",): ["mal", "ann", "bob"],
        ("eve",): ["ann", "eve", "bob"],
    }
    assert parts_of(match, frozenset()) == [(frozenset({"ann", "bob", "eve", "mal"}), match)]
    assert [len(part.seats) for part in approved_parts([match], NEVER)] == [2]


def test_an_approval_holds_from_its_place_on(make_row: Row, honest: list[MatchRow]) -> None:
    rows = thrown(make_row, honest, 4)
    late: Approvals = {"eve": [(0, False), (8, True)]}
    assert [unapproved_among(["eve"], place, late) for place in (7, 8)] == [{"eve"}, frozenset()]
    live = LiveTable().continued(rows, late)
    counted = LiveTable().continued([*honest, *rows[8:]])
    assert live.skills["ann"].mu != LiveTable().continued(honest).skills["ann"].mu
    assert live.skills["bob"].mu != counted.skills["bob"].mu  # eve's own rating is from all of her matches
    again: Approvals = {"eve": [(0, False), (8, True), (9, False)]}
    assert LiveTable().continued(rows, again) != live


def test_a_live_table_that_was_kept_is_continued_only_under_the_same_approvals(
    make_row: Row, honest: list[MatchRow]
) -> None:
    rows = thrown(make_row, honest)
    kept, whole = continue_live(rows, None, 10, NEVER)
    assert continue_live(rows, kept, 10, NEVER) == (kept, whole)
    assert kept.fits(rows, NEVER)
    other: Approvals = {"eve": [(0, False), (8, True)]}
    assert not kept.fits(rows, other)
    assert continue_live(rows, kept, 10, other)[1] == LiveTable().continued(rows, other)
    assert LiveTable.from_dict(kept.to_dict()) == kept


def test_without_anybody_to_approve_nothing_is_another_number(honest: list[MatchRow]) -> None:
    assert rate_parted(honest, {}).skills == rate(honest).skills
    assert LiveTable().continued(honest, {}).digest == LiveTable().continued(honest).digest
    assert approved_parts(honest, {}) is honest


def test_the_journals_controls_reach_the_tables(make_row: Row, honest: list[MatchRow]) -> None:
    rows = thrown(make_row, honest)
    controls = [Control("unapproved", 6, entry_id="eve"), Control("approved", 20, entry_id="eve")]
    counted = apply_controls(rows, controls)
    assert counted.approvals == {"eve": [(6, False), (20, True)]} == approvals_of(controls)
    ratings = rate_pools(counted.rows, approvals=counted.approvals)
    (pool,) = ratings.values()
    table = {row.entry_id: row for row in standings(counted)}
    assert table["ann"].mu == pool.official.skills["ann"].mu
    plain = {row.entry_id: row for row in standings(replace(counted, approvals={}))}
    assert plain["ann"].mu != table["ann"].mu
    assert table["eve"].played == 20
    assert isinstance(counted, Counted)


def test_matchmaking_believes_the_same(make_row: Row, honest: list[MatchRow]) -> None:
    rows = thrown(make_row, honest)
    beliefs, plain = Beliefs(), Beliefs()
    for name in ("ann", "bob", "cleo", "eve"):
        beliefs.joined(name, name)
        plain.joined(name, name)
    for row in rows:
        entries, ranking = [seat.entry_id for seat in row.seats], [seat.rank for seat in row.seats]
        beliefs.apply(entries, (0, 1), ranking, frozenset({"eve"} & set(entries)))
        if row in honest:
            plain.apply(entries, (0, 1), ranking)
    for name in ("ann", "bob", "cleo"):
        assert beliefs.known[name] == plain.known[name]
    assert beliefs.known["eve"].matches == 20
    assert beliefs.known["eve"].mu != 25
