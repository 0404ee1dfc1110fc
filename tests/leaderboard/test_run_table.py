"""The standings of a run folder: the same with and without the database, and kept until anything changes."""

import os

import pytest

from leaderboard.controls import Missed
from leaderboard.index import Index, load_index
from leaderboard.ratings import live
from leaderboard.ratings.live import LiveTable
from leaderboard.run_table import COMPUTED_BY, keep_live, keep_table, kept_live, run_table
from leaderboard.schedule_view import ScheduleView
from leaderboard.standings import CAPTION, Entrant, by_live_rating, standings
from leaderboard.store import Store, StoreError
from referee.record.journal import Control
from referee.run.folder import RunFolder
from referee.run.journal import JournalText
from referee.run.participants import Participant
from referee.run.run import Run
from referee.run.seal import seal_of

PARTICIPANTS = (Participant("annann", "ann", "1", {}), Participant("bobbob", "bob", "1", {}))
ENTRANTS = tuple(Entrant(bot.entry_id, bot.name, bot.version) for bot in PARTICIPANTS)


@pytest.fixture
def run_folder(tmp_path, write_record):
    for place in range(6):
        write_record(tmp_path / "matches", place, (1, 2) if place % 3 else (2, 1))
    return tmp_path


def table(folder, *controls, missed=(), **options):
    run = Run(folder, JournalText((), controls))
    run.participants = PARTICIPANTS
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("leaderboard.run_table.view_schedule", lambda run, rows: ScheduleView(missed))
        return run_table(run, **options)


def keep(folder):
    with Store(folder / "crosstown.db") as store:
        store.put(load_index(RunFolder(folder)).rows)
        keep_table(store, table(folder))


def test_a_kept_table_is_the_computed_one(run_folder):
    computed = table(run_folder)
    assert not computed.kept
    keep(run_folder)
    kept = table(run_folder)
    assert kept.kept
    assert (kept.rows, kept.matches, kept.caption) == (computed.rows, computed.matches, computed.caption)


@pytest.mark.parametrize("change", ["add", "remove", "touch", "control", "void"])
def test_anything_that_changes_is_seen(run_folder, write_record, change):
    keep(run_folder)
    some = run_folder / "matches" / "m000002-00000000.jsonl.gz"
    controls = ()
    if change == "add":
        write_record(run_folder / "matches", 6)
    elif change == "remove":
        some.unlink()
    elif change == "touch":
        os.utime(some, ns=(1, 1))
    elif change == "void":
        some.unlink()
        write_record(run_folder / "matches", 2, status="void", reason="start_failed")
    else:
        controls = (Control("annulled", 0, match_id="m000002-00000000"),)
    made = table(run_folder, *controls)
    assert not made.kept
    assert made.matches == {"add": 7, "touch": 6}.get(change, 5)


def test_annulled_matches_and_entries_do_not_count_and_the_table_says_so(run_folder):
    made = table(run_folder, Control("annulled", 0, match_id="m000002-00000000"))
    assert [row.played for row in made.rows] == [5, 5]
    assert "1 match was annulled." in made.caption
    made = table(run_folder, Control("disabled", 3, entry_id="bobbob", choice="annul"))
    assert [row.played for row in made.rows] == [0, 0]
    assert {row.name: row.note for row in made.rows} == {"ann": "", "bob": "disabled: all its matches are annulled"}


def test_a_withdrawn_entry_that_keeps_its_matches_keeps_its_rating(run_folder):
    before = {row.name: row.mu for row in table(run_folder).rows}
    made = table(run_folder, Control("withdrawn", 3, entry_id="bobbob", choice="keep"))
    assert {row.name: row.mu for row in made.rows} == before
    assert [row.note for row in made.rows if row.name == "bob"] == ["withdrawn: its matches count"]


def test_missed_matches_are_lost_but_never_rated(run_folder):
    before = {row.name: (row.mu, row.lost) for row in table(run_folder).rows}
    control = Control("withdrawn", 6, entry_id="bobbob", choice="losses")
    made = table(run_folder, control, missed=[Missed("nim", 2, ("annann", "bobbob"))] * 2)
    after = {row.name: (row.mu, row.lost) for row in made.rows}
    assert after["bob"] == (before["bob"][0], before["bob"][1] + 2)
    assert after["ann"] == before["ann"]
    assert "scored as lost, and not rated" in made.caption


def test_a_rejudged_match_has_the_new_ranking(run_folder):
    made = table(run_folder, Control("rejudged", 0, match_id="m000001-00000000", ranking=(2, 1)))
    assert {row.name: row.won for row in made.rows} == {"ann": 3, "bob": 3}
    assert "1 match was judged again." in made.caption


def test_faultless_leaves_out_what_a_fault_decided(run_folder, write_record):
    write_record(run_folder / "matches", 6, (1, 2), reason="crashed")
    assert table(run_folder).matches == 7
    assert table(run_folder, faultless=True).matches == 6


def test_games_and_player_counts_are_rated_apart_unless_asked(make_row):

    rows = [make_row(0, {"a": 1, "b": 2}), make_row(1, {"a": 2, "b": 1})._replace(game="go")]
    rows.append(make_row(2, {"a": 1, "b": 2, "c": 3}))
    assert [(row.game, row.players, row.name) for row in standings(rows)] == [
        ("go", 2, "B"),
        ("go", 2, "A"),
        ("nim", 2, "A"),
        ("nim", 2, "B"),
        ("nim", 3, "A"),
        ("nim", 3, "B"),
        ("nim", 3, "C"),
    ]
    assert [(row.game, row.played) for row in standings(rows, pooled=True)] == [("*", 3), ("*", 3), ("*", 1)]


def test_the_method_stands_by_the_numbers():
    assert "expectation propagation" in CAPTION
    assert "mu - 3 sigma" in CAPTION


def test_the_live_order_is_by_the_live_numbers(make_row):
    rows = [make_row(place, {"a": 1 + place % 2, "b": 2 - place % 2, "c": 3}) for place in range(9)]
    ranked = by_live_rating(standings(rows, [Entrant("d", "D", "1")]))
    assert [row.rank for row in ranked] == [1, 2, 3, None]
    assert [row.mu for row in ranked[:3]] == [row.live_mu for row in ranked[:3]]
    assert ranked[:3] == sorted(ranked[:3], key=lambda row: -row.conservative)
    assert (ranked[3].name, ranked[3].mu) == ("D", None)


@pytest.mark.parametrize("kind", ["none", "empty", "void", "unfinished"])
def test_a_run_without_a_rated_match_has_its_entrants_unrated(tmp_path, write_record, kind):
    (tmp_path / "matches").mkdir()
    if kind == "void":
        write_record(tmp_path / "matches", 0, status="void", reason="start_failed")
    if kind == "unfinished":
        write_record(tmp_path / "matches", 0, status=None)
    made = table(tmp_path)
    assert [(row.name, row.played, row.rated, row.rank) for row in made.rows] == [
        ("ann", 0, False, None),
        ("bob", 0, False, None),
    ]


def test_nobody_and_nothing_is_an_empty_table(tmp_path):
    assert run_table(Run(tmp_path)).rows == ()


@pytest.fixture
def applied(monkeypatch):
    """A list that grows by one for each match that is rated for the live table."""
    found = []
    rate_match = live.rate_match
    monkeypatch.setattr(live, "rate_match", lambda *words: found.append(1) or rate_match(*words))
    return found


def test_the_live_table_goes_on_from_what_was_kept(run_folder, write_record, applied):
    keep(run_folder)
    for place in (6, 8):
        write_record(run_folder / "matches", place, (2, 1))
    applied.clear()
    made = table(run_folder)
    assert len(applied) == 2
    assert {pool: kept.applied for pool, kept in made.live.items()} == {("nim", 2): 7}, "match 7 may still come"
    keep_live(run_folder / "crosstown.db", made.live, made.run)
    write_record(run_folder / "matches", 7, (2, 1))
    applied.clear()
    made = table(run_folder)
    assert len(applied) == 2
    (run_folder / "crosstown.db").unlink()
    assert table(run_folder).rows == made.rows


def test_after_an_annulment_every_match_is_rated_again(run_folder, applied):
    keep(run_folder)
    applied.clear()
    annulment = Control("annulled", 0, match_id="m000002-00000000")
    made = table(run_folder, annulment)
    assert len(applied) == 5
    (run_folder / "crosstown.db").unlink()
    assert table(run_folder, annulment).rows == made.rows


def test_tables_of_other_matches_neither_use_nor_keep_the_live_table(run_folder, applied):
    keep(run_folder)
    applied.clear()
    assert table(run_folder, faultless=True).live == {}
    assert table(run_folder, pooled=True).live == {}
    assert len(applied) == 12


@pytest.mark.parametrize(
    "content",
    ["", "[]", "{}", "[1]", '[["nim",2,{}]]', '[["nim",2,{"skills":{},"ways":{"a":[1,1,[],null]}}]]', "[[[]]]"],
)
def test_a_kept_live_table_that_somebody_else_wrote_is_made_anew(run_folder, content, applied):
    wanted = table(run_folder).rows
    keep(run_folder)
    with Store(run_folder / "crosstown.db") as store:
        store.keep_snapshot("live", str(COMPUTED_BY), seal_of("live", str(COMPUTED_BY), "", content) + content)
        store.keep_snapshot("standings", "", "")
    applied.clear()
    assert table(run_folder).rows == wanted
    assert len(applied) == 6


def test_a_live_table_can_be_kept_beside_the_writer_of_the_run(run_folder):
    keep(run_folder)
    made = table(run_folder)
    with Store(run_folder / "crosstown.db") as store:
        keep_live(run_folder / "crosstown.db", {("go", 2): LiveTable(applied=3)}, "")
        store.put(load_index(RunFolder(run_folder)).rows)
    assert kept_live(run_folder / "crosstown.db", "")["go", 2].applied == 3
    assert table(run_folder).rows == made.rows
    with pytest.raises(StoreError):
        keep_live(run_folder / "none.db", {}, "")
    assert not (run_folder / "none.db").exists()


def test_a_match_that_a_thousand_have_overtaken_is_not_waited_for(make_row):
    rows = tuple(make_row(place, {"a": 1, "b": 2}) for place in range(1100) if place != 50)
    assert Index(rows[:100], (), False).settled == 50
    assert Index(rows, (), False).settled == 100
    assert Index((), (), False).settled == 0
