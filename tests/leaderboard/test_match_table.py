"""Matches as columns say the same as their records, whatever has become of these, and are kept until one changes."""

import os
import random
import sqlite3
from collections.abc import Sequence
from contextlib import nullcontext
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path

import pytest

from leaderboard import index as index_module
from leaderboard.controls import apply_controls
from leaderboard.index import Index, TableIndex, load_index, read_columns, read_table
from leaderboard.indexer import rebuild_database
from leaderboard.match_list import Filter, list_matches, select_matches
from leaderboard.match_table import columns_of, table_of, unpacked
from leaderboard.records import MatchRow
from leaderboard.report import report_html
from leaderboard.schedule_view import ScheduleView
from leaderboard.standings import rate_pools, standings
from leaderboard.store import Store
from referee.record.journal import COUNTED
from referee.record.reader import read_record
from referee.run.folder import RunFolder
from referee.run.journal import CREATED, FORMAT, Journal, JournalText
from referee.run.run import Run

NAMES = ("ann", "bob", "cyd", "dot")
CONFIGURATION = {"name": "cup", "format": "round-robin", "bots": [], "games": [], "blocks": 1, "settings": {}}

FILTERS = (
    Filter(bots=("ann",)),
    Filter(bots=("ann", "cyd")),
    Filter(bots=("bobbo",)),
    Filter(bots=("nobody",)),
    Filter(game="nim"),
    Filter(game="chess"),
    Filter(reason="crashed"),
    Filter(reason="normal"),
    Filter(reason="cancelled"),
    Filter(reason="start_failed"),
    Filter(tournament="cup"),
    Filter(bots=("dot",), reason="crashed", game="nim"),
    Filter(since=datetime(2026, 1, 1, tzinfo=UTC)),
    Filter(until=datetime(2026, 1, 1, tzinfo=UTC)),
)


@pytest.fixture
def run(tmp_path: Path, write_record, monkeypatch: pytest.MonkeyPatch) -> RunFolder:
    """Matches of all kinds: packed ones and files; annulled, judged again, void, cancelled, going on, damaged; one that
    is not the one that counted, and a bot whose matches are all annulled."""
    monkeypatch.setattr(index_module, "BATCH_FILES", 7)
    monkeypatch.setattr(index_module, "_WORTH_KEEPING", 1)
    made = RunFolder(tmp_path / "cup")
    made.make()
    luck = random.Random(5)
    digests = {}
    for place in range(40):
        status = {7: "void", 11: "cancelled", 39: None}.get(place, "rated")
        reason = {7: "start_failed", 11: "cancelled"}.get(place, "crashed" if place % 5 == 0 else "normal")
        ranking = luck.choice([(1, 2), (2, 1), (1, 1)])
        path = write_record(made.matches, place, ranking, status, reason, luck.sample(NAMES, 2))
        digests[read_record(path).header.match_id] = read_record(path).digest
    digests["m000021-00000000"] = "0" * 64
    controls = (
        ("annulled", {"match_id": "m000003-00000000"}),
        ("rejudged", {"match_id": "m000004-00000000", "ranking": [2, 1]}),
        ("rejudged", {"match_id": "m000025-00000000", "ranking": [1, 1]}),
        ("withdrawn", {"entry_id": "dotdot", "name": "dot", "choice": "annul"}),
    )
    with Journal(made.journal, JournalText()) as journal:
        journal.append(CREATED, format=FORMAT, hash="x", configuration=CONFIGURATION)
        journal.append(COUNTED, matches=digests)
        for kind, fields in controls:
            journal.append(kind, place=0, **fields)
    packed = [f"m{place:06d}-00000000" for place in range(3, 20)]
    made.records.pack(packed[:9], lambda _id, _data: True)
    made.records.pack(packed[9:], lambda _id, _data: True)
    (made.matches / "m000030-00000000.jsonl.gz").write_bytes(b"damaged")
    with Store(made.database) as store:
        store.put(load_index(made).rows)
    return made


def both(run: RunFolder, wanted: Filter, most: int | None) -> None:
    paths = list(run.records.paths().values())
    assert select_matches([run.path], wanted, most) == list_matches(paths, wanted, most)


@pytest.mark.parametrize("most", [3, 1000, None])
def test_a_list_from_the_database_is_the_one_from_the_records(run: RunFolder, most: int | None) -> None:
    for wanted in FILTERS:
        both(run, wanted, most)


@pytest.mark.parametrize("wanted", [FILTERS[1], FILTERS[6]], ids=str)
def test_whatever_changes_a_record_changes_the_list(run: RunFolder, write_record, wanted: Filter) -> None:
    both(run, wanted, 5)
    first, last = run.records.find("m000001-00000000"), run.records.find("m000038-00000000")
    assert first is not None
    assert last is not None
    first.write_bytes(first.read_bytes()[:-9])
    both(run, wanted, 5)
    last.unlink()
    both(run, wanted, 5)
    run.records.set_aside(run.matches / "m000008-00000000.jsonl.gz", "reopened")
    both(run, wanted, 5)
    write_record(run.matches, 41, (2, 1), names=("ann", "cyd"))
    both(run, wanted, 5)
    write_record(run.matches, 4, (2, 1), names=("dot", "cyd"))  # beside the packed one
    both(run, wanted, 5)
    archive = next((run.matches / "packed").iterdir())
    os.utime(archive, ns=(1, 1))
    both(run, wanted, 5)


@pytest.mark.parametrize(
    "change", ["DELETE FROM matches", "UPDATE seats SET entry_id = 'annann'", "DROP TABLE batches"]
)
@pytest.mark.parametrize("kept", [False, True])
def test_a_database_that_somebody_changed_hides_nothing(run: RunFolder, change: str, kept: bool) -> None:
    if kept:
        list(read_columns(run))
    with sqlite3.connect(run.database) as connection:
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("INSERT OR IGNORE INTO entries VALUES ('annann', 'ann', '1')")
        connection.execute(change)
    both(run, Filter(bots=("ann",)), 5)
    both(run, Filter(bots=("bob",)), 5)


def test_columns_under_another_name_or_with_another_content_are_not_used(run: RunFolder) -> None:
    list(read_columns(run))
    with sqlite3.connect(run.database) as connection:
        names = [name for (name,) in connection.execute("SELECT name FROM batches WHERE part = 'listed' ORDER BY name")]
        connection.execute("UPDATE batches SET name = 'x' || name")
        for one, other in zip(names, names[1:] + names[:1], strict=True):
            connection.execute("UPDATE batches SET name = ? WHERE name = ?", (other, f"x{one}"))
    both(run, Filter(bots=("ann",)), None)
    with sqlite3.connect(run.database) as connection:
        connection.execute("UPDATE batches SET content = zeroblob(9) WHERE name LIKE 'files%'")
    both(run, Filter(bots=("ann",)), None)


def test_only_records_that_are_listed_are_read(run: RunFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = Filter(bots=("ann",), reason="normal")
    expected = select_matches([run.path], wanted, 2)
    read: list[str] = []

    def counting(path: Path):
        read.append(path.name[:7])
        return read_record(path)

    monkeypatch.setattr("leaderboard.match_list.read_record", counting)
    monkeypatch.setattr("leaderboard.index.read_match", None)
    monkeypatch.setattr("leaderboard.index.read_range", None)
    assert select_matches([run.path], wanted, 2) == expected
    listed = {row["match"][:7] for row in expected[0]}
    without_row = {"m000007", "m000011", "m000021", "m000030", "m000039"}
    assert listed <= set(read) <= listed | without_row


def test_a_table_of_columns_has_the_rows_of_the_index(run: RunFolder) -> None:
    index = load_index(run)
    for _ in range(2):
        table = read_table(run)
        assert tuple(table.rows) == index.rows
        assert [table.rows[number] for number in range(len(index.rows))] == list(index.rows)
        assert tuple(table.rows[3:9]) == index.rows[3:9]
        assert {item.path for item in table.unusable} == {item.path for item in index.unusable}
        assert table.settled == index.settled


def test_only_rows_that_are_asked_for_are_made(run: RunFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    list(read_columns(run))
    monkeypatch.setattr("leaderboard.index.read_range", None)
    table = read_table(run)
    asked: list[int] = []
    found = index_module.find_rows
    monkeypatch.setattr("leaderboard.index.find_rows", lambda path, ids: asked.append(len(ids)) or found(path, ids))
    assert len(table.rows) == 35
    assert not asked
    list(islice(table.rows[10:12], 2))
    assert asked == [2]


def test_a_database_of_schema_8_is_read_without_the_records(run: RunFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = load_index(run).rows
    with sqlite3.connect(run.database) as connection:
        connection.executescript("DROP TABLE batches; PRAGMA user_version = 8;")
    read: list[str] = []
    found = index_module.read_match
    monkeypatch.setattr(
        "leaderboard.index.read_match", lambda path, anchored: read.append(path.name[:7]) or found(path, anchored)
    )
    assert tuple(read_table(run).rows) == rows
    assert set(read) == {"m000007", "m000011", "m000021", "m000030", "m000039"}
    with Store(run.database) as store:
        assert store.rows() == list(rows)
    list(read_columns(run))
    with sqlite3.connect(run.database) as connection:
        assert connection.execute("SELECT count(*) FROM batches").fetchone()[0]


def test_columns_are_the_same_after_they_were_kept(make_row) -> None:
    rows = [make_row(place, {"ann": 1, "bob": 2, "cyd": 2}, faults=("", "crashed", "")) for place in range(300)]
    columns = columns_of(rows, ["other"])
    kept = unpacked(*columns.packed())
    assert (kept.ids, kept.created, kept.names, kept.others) == (columns.ids, columns.created, {}, ["other"])
    assert (kept.bots, kept.texts, kept.counted_texts) == (columns.bots, columns.texts, columns.counted_texts)
    assert kept.numbers.keys() == columns.numbers.keys()
    assert all((kept.numbers[name] == column).all() for name, column in columns.numbers.items())
    assert unpacked(columns.packed()[0], None).numbers.keys() < columns.numbers.keys()


def test_numbers_that_no_honest_record_has_do_not_stop_a_table(make_row) -> None:
    row = make_row(2**70, {"ann": 1, "bob": -(2**70)})
    assert len(table_of([row])) == 1


def page(run: RunFolder, index: Index | TableIndex) -> str:
    counted = apply_controls(index.rows, Run(run).controls)
    ratings = rate_pools(counted.rows, settled=index.settled)
    table = standings(counted, ratings=ratings)
    return report_html("cup", counted, table, total=40, made_at="", unusable=index.unusable, ratings=ratings)


def test_a_report_from_columns_is_the_one_from_rows(run: RunFolder) -> None:
    expected = page(run, load_index(run))
    for _ in range(2):
        assert page(run, read_table(run)) == expected


def test_a_report_makes_rows_only_for_the_matches_that_it_lists(
    run: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = load_index(run).rows
    listed = {row.match_id for row in rows if "crashed" in row.faults} | {row.match_id for row in rows[-2:]}
    list(read_columns(run))
    monkeypatch.setattr("leaderboard.report.MOST_MATCHES", 2)
    monkeypatch.setattr("leaderboard.index.read_range", None)
    monkeypatch.setattr("leaderboard.index.read_rows", None)
    made: set[str] = set()
    found = index_module.find_rows

    def noting(path: Path, ids: Sequence[str]) -> list[MatchRow]:
        made.update(ids)
        return found(path, ids)

    monkeypatch.setattr("leaderboard.index.find_rows", noting)
    index = read_table(run)
    counted = apply_controls(index.rows, Run(run).controls)
    ratings = rate_pools(counted.rows)
    assert not made, "ratings need what columns have"
    table = standings(counted, ratings=ratings)
    report_html("cup", counted, table, total=40, made_at="", ratings=ratings)
    assert made <= listed


def test_the_database_of_a_rebuild_is_made_batch_by_batch(run: RunFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("leaderboard.index.read_rows", None)
    monkeypatch.setattr("leaderboard.indexer.RunLock", lambda _path: nullcontext())
    monkeypatch.setattr("leaderboard.run_table.view_schedule", lambda _run, _rows: ScheduleView())
    put: list[int] = []
    once = Store.put
    monkeypatch.setattr(Store, "put", lambda store, rows: put.append(len(rows)) or once(store, rows))
    assert len(rebuild_database(Run(run)).rows) == 35
    assert max(put) <= 9
    monkeypatch.undo()
    assert not load_index(run).stale
