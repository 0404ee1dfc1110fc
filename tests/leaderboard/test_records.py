"""What counts as a match, and what is only a file."""

import csv
import io
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from leaderboard.export.whole_run import _write_csv as write_run_csv
from leaderboard.index import load_index
from leaderboard.machines import machine_rows
from leaderboard.match_list import rows_of
from leaderboard.records import MatchRow, read_match, read_matches
from leaderboard.standings import Standing, standings
from leaderboard.statistics import statistics
from leaderboard.store import Store
from leaderboard.web.csv_files import standings_csv
from referee.record import RecordWriter, SeatStats, read_record
from referee.record.journal import Control
from referee.record.times import seat_times
from referee.run.folder import RunFolder


def test_a_complete_rated_record_becomes_a_row(tmp_path, write_record):
    path = write_record(tmp_path, 7, (2, 1))
    found = read_match(path)
    assert found.status == "rated"
    row = found.row
    assert row is not None
    assert (row.match_id, row.place, row.block, row.game) == ("m000007-00000000", 7, 3, "nim")
    assert [(seat.entry_id, seat.name, seat.rank, seat.points, seat.team) for seat in row.seats] == [
        ("annann", "ann", 2, 7, 0),
        ("bobbob", "bob", 1, 8, 1),
    ]
    assert (row.seats[0].decisions, row.seats[0].total_us, row.seats[0].worst_us) == (1, 1500, 1500)
    assert row.stamp.size_bytes == path.stat().st_size


def read_twice(folder: Path) -> Iterator[tuple[tuple[MatchRow, ...], Standing]]:
    """The rows of a run, as read from its records and then from its database, each with ann's row of the standings."""
    for _ in range(2):
        index = load_index(RunFolder(folder.parent))
        with Store(folder.parent / "crosstown.db") as store:
            store.put(index.rows)
        [ann] = [row for row in standings(index.rows) if row.name == "ann"]
        yield index.rows, ann


def test_time_that_was_the_machines_is_not_shown_as_the_bots(tmp_path, write_record):
    """A machine that was suspended for a minute in the middle of a decision: the time beside it says so."""
    folder = tmp_path / "matches"
    write_record(folder, 0, lag_us=66_000_000)
    for rows, ann in read_twice(folder):
        assert (ann.mean_move_ms, ann.worst_move_ms) == (1.5, 1.5)
        assert (ann.mean_lag_ms, ann.worst_lag_ms) == (66_000, 66_000)
        [facts] = [facts for facts in statistics(rows).entries.values() if facts.entry_id == ann.entry_id]
        assert facts.move_ms[99] == pytest.approx(1.5, rel=0.05)


def test_tables_of_machines_and_csv_files_have_charged_times_and_the_lag_beside_them(tmp_path, write_record):
    folder = tmp_path / "matches"
    write_record(folder, 0, lag_us=66_000_000)
    run = RunFolder(folder.parent)
    [machine] = machine_rows(SimpleNamespace(folder=run, controls=(), journal=SimpleNamespace(events=())))
    assert (machine.decisions, machine.worst_us, machine.lag_us) == (1, 1500, 66_000_000)
    assert machine.mean_move_ms == 1.5
    assert machine.lag_share == pytest.approx(1, abs=0.001)
    index = load_index(run)
    table = list(csv.DictReader(io.StringIO(standings_csv(standings(index.rows)).body.decode())))
    assert {row["name"]: row["worst_lag_ms"] for row in table} == {"ann": "66000.0", "bob": ""}
    write_run_csv(index.rows, {}, tmp_path / "cup.csv")
    [match] = csv.DictReader((tmp_path / "cup.csv").read_text().splitlines())
    assert (match["total_us_0"], match["lag_us_0"]) == ("1500", "66000000")


@pytest.mark.parametrize(
    "control",
    [
        lambda row: Control("annulled", 2, match_id=row.match_id),
        lambda row: Control("withdrawn", 2, entry_id=row.seats[0].entry_id, choice="annul"),
    ],
    ids=["match", "bot"],
)
def test_annulled_matches_do_not_count_in_the_table_of_machines(tmp_path, write_record, control):
    """`crosstown cluster machines` had more matches than the tables of the run."""
    folder = tmp_path / "matches"
    write_record(folder, 0)
    [row] = load_index(RunFolder(tmp_path)).rows
    made = SimpleNamespace(folder=RunFolder(tmp_path), journal=SimpleNamespace(events=()))
    [before] = machine_rows(SimpleNamespace(**vars(made), controls=()))
    [after] = machine_rows(SimpleNamespace(**vars(made), controls=(control(row),)))
    assert (before.matches, before.void) == (1, 0)
    assert (after.matches, after.void, after.decisions) == (0, 1, 0)


def test_what_the_referee_chose_for_a_bot_is_no_decision_of_the_bot(tmp_path, write_record):
    """It takes no time, and would halve the mean."""
    folder = tmp_path / "matches"
    path = write_record(folder, 0, choices=9)
    for rows, ann in read_twice(folder):
        assert (ann.mean_move_ms, ann.worst_move_ms) == (1.5, 1.5)
        assert rows[0].seats[0].decisions == 1
    [machine] = machine_rows(
        SimpleNamespace(folder=RunFolder(tmp_path), controls=(), journal=SimpleNamespace(events=()))
    )
    assert (machine.decisions, machine.mean_move_ms) == (1, 1.5)
    [listed] = rows_of([path])
    assert (listed["seats"][0]["decisions"], listed["seats"][0]["charged_us"]) == (1, 1500)
    assert seat_times(read_record(path).lines, 2)[0].mean_charged_ms == 1.5


def test_a_fault_is_told_with_its_seat_and_leaves_no_points(tmp_path, write_record):
    row = read_match(write_record(tmp_path, 0, (1, 2), reason="crashed")).row
    assert row is not None
    assert [seat.fault for seat in row.seats] == ["", "crashed"]
    assert [seat.points for seat in row.seats] == [None, None]
    assert row.reason == "crashed"


@pytest.mark.parametrize(
    ("status", "reason"), [("void", "start_failed"), ("void", "platform_fault"), ("cancelled", "cancelled")]
)
def test_void_and_cancelled_matches_have_no_row(tmp_path, write_record, status, reason):
    found = read_match(write_record(tmp_path, 0, status=status, reason=reason))
    assert (found.status, found.row) == (status, None)


def test_a_record_without_a_footer_is_unfinished(tmp_path, write_record):
    assert read_match(write_record(tmp_path, 0, status=None)).status == "unfinished"


def test_a_record_cut_anywhere_never_counts_and_never_raises(tmp_path, write_record):
    whole = write_record(tmp_path / "a", 0, status=None).read_bytes()
    for cut in range(len(whole)):
        path = tmp_path / "m000000-00000000.jsonl"
        path.write_bytes(whole[:cut])
        found = read_match(path)
        assert (found.status, found.row) == ("unfinished", None), cut


def test_a_closed_record_cut_anywhere_is_damaged(tmp_path, write_record):
    whole = write_record(tmp_path / "a", 0).read_bytes()
    for cut in range(len(whole)):
        path = tmp_path / "m000000-00000000.jsonl.gz"
        path.write_bytes(whole[:cut])
        assert read_match(path).status == "damaged", cut


@pytest.mark.parametrize("field", ["returns", "faults", "seat_stats"])
def test_a_footer_that_forgets_a_seat_is_damaged(tmp_path, write_record, field):
    path = write_record(tmp_path, 0, (2, 1))
    record = read_record(path)
    path.unlink()
    full = {"returns": (1, 0), "faults": ({"reason": "crashed"}, None), "seat_stats": (SeatStats(), SeatStats())}
    writer = RecordWriter(tmp_path, record.header)
    found = read_match(writer.close(replace(record.footer, **{field: full[field][:1]})))
    assert (found.status, found.row) == ("damaged", None)
    assert field in found.problem


def test_all_matches_of_a_run_are_read_in_order(tmp_path, write_record):
    for place, status in ((2, "rated"), (0, "rated"), (1, None)):
        write_record(tmp_path / "cup" / "matches", place, status=status)
    for folder in (tmp_path / "cup", tmp_path / "cup" / "matches"):
        assert [found.status for found in read_matches(folder)] == ["rated", "unfinished", "rated"]
        assert [found.row.place for found in read_matches(folder) if found.row] == [0, 2]
    assert list(read_matches(tmp_path / "none")) == []
