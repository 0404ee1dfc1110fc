"""The database is an index: derived, replaceable, all or nothing."""

import os
import sqlite3
from contextlib import nullcontext

import pytest

from leaderboard.index import load_index
from leaderboard.store import (
    RATING_COLUMNS,
    SCHEMA_VERSION,
    Batches,
    Store,
    StoreError,
    find_row,
    put_snapshot,
    read_rows,
    read_snapshot,
)
from referee.run.folder import RunFolder


def test_rows_come_back_as_they_were_put(tmp_path, make_row):
    rows = [make_row(place, {"ann": 1, "bob": 2, "cyd": 3}, teams=(0, 1, 0)) for place in range(5)]
    with Store(tmp_path / "crosstown.db") as store:
        store.put(reversed(rows))
        assert store.rows() == rows
    assert read_rows(tmp_path / "crosstown.db") == rows


def test_putting_a_match_again_replaces_it(tmp_path, make_row):
    with Store(tmp_path / "crosstown.db") as store:
        store.put([make_row(0, {"ann": 1, "bob": 2})])
        store.put([make_row(0, {"ann": 2, "bob": 1})])
        (row,) = store.rows()
    assert [seat.rank for seat in row.seats] == [2, 1]


def test_an_error_half_way_leaves_nothing_of_the_batch(tmp_path, make_row):
    broken = make_row(1, {"ann": 1, "bob": 2})
    broken = broken._replace(seats=(broken.seats[0], broken.seats[0]))
    with Store(tmp_path / "crosstown.db") as store:
        with pytest.raises(StoreError):
            store.put([make_row(0, {"ann": 1, "bob": 2}), broken])
        assert store.rows() == []


@pytest.mark.parametrize("strange", [{"decisions": 1 << 70}, {"detail": "\ud800"}])
def test_a_value_that_no_database_takes_is_an_error_like_any_other(tmp_path, make_row, strange):
    with Store(tmp_path / "crosstown.db") as store:
        with pytest.raises(StoreError):
            store.put([make_row(0, {"ann": 1, "bob": 2}), make_row(1, {"ann": 1, "bob": 2})._replace(**strange)])
        assert store.rows() == []


def test_matches_that_are_not_wanted_leave_with_their_seats(tmp_path, make_row):
    with Store(tmp_path / "crosstown.db") as store:
        store.put([make_row(place, {"ann": 1, "bob": 2}) for place in range(4)])
        store.keep_only(["m000001-00000000", "m000003-00000000"])
        assert [row.place for row in store.rows()] == [1, 3]
    connection = sqlite3.connect(tmp_path / "crosstown.db")
    assert connection.execute("SELECT count(*) FROM seats").fetchone() == (4,)
    connection.close()


@pytest.mark.parametrize("content", [b"", b"not a database at all, but long enough to be looked at" * 100])
def test_an_empty_or_damaged_file_is_replaced(tmp_path, make_row, content):
    path = tmp_path / "crosstown.db"
    path.write_bytes(content)
    with Store(path) as store:
        store.put([make_row(0, {"ann": 1, "bob": 2})])
    assert len(read_rows(path)) == 1


def test_a_file_of_a_newer_schema_version_is_replaced(tmp_path, make_row):
    path = tmp_path / "crosstown.db"
    with Store(path) as store:
        store.put([make_row(0, {"ann": 1, "bob": 2})])
    connection = sqlite3.connect(path)
    connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
    connection.close()
    with pytest.raises(StoreError, match="schema version"):
        read_rows(path)
    with Store(path) as store:
        assert store.rows() == []


VERSION_1 = """
CREATE TABLE entries (entry_id TEXT PRIMARY KEY, name TEXT NOT NULL, version TEXT NOT NULL);
CREATE TABLE matches (
    match_id TEXT PRIMARY KEY, tournament TEXT NOT NULL, place INTEGER NOT NULL, block INTEGER NOT NULL,
    game TEXT NOT NULL, rules_version INTEGER NOT NULL, reason TEXT NOT NULL, detail TEXT NOT NULL,
    decisions INTEGER NOT NULL, wall_us INTEGER NOT NULL, seed TEXT NOT NULL, state_hash TEXT NOT NULL,
    created_at TEXT NOT NULL, file_name TEXT NOT NULL, file_bytes INTEGER NOT NULL, file_mtime_ns INTEGER NOT NULL
);
CREATE INDEX matches_place ON matches (place);
CREATE TABLE seats (
    match_id TEXT NOT NULL REFERENCES matches (match_id) ON DELETE CASCADE, seat INTEGER NOT NULL,
    entry_id TEXT NOT NULL REFERENCES entries (entry_id), team INTEGER NOT NULL, rank INTEGER NOT NULL,
    points INTEGER, fault TEXT NOT NULL, decisions INTEGER NOT NULL, total_us INTEGER NOT NULL,
    worst_us INTEGER NOT NULL, cpu_us INTEGER NOT NULL, PRIMARY KEY (match_id, seat)
) WITHOUT ROWID;
CREATE INDEX seats_entry ON seats (entry_id);
CREATE TABLE ratings (
    entry_id TEXT PRIMARY KEY REFERENCES entries (entry_id), mu REAL NOT NULL, sigma REAL NOT NULL,
    played INTEGER NOT NULL
);
INSERT INTO entries VALUES ('annann', 'ann', '1'), ('bobbob', 'bob', '1');
INSERT INTO ratings VALUES ('annann', 30.0, 2.0, 1);
PRAGMA user_version = 1;
"""


def test_a_file_of_version_1_is_migrated_and_its_rows_read_again(tmp_path, write_record):
    record = write_record(tmp_path / "matches", 0)
    connection = sqlite3.connect(tmp_path / "crosstown.db")
    connection.executescript(VERSION_1)
    stat = record.stat()
    values = ("m000000-00000000", "cup", 0, 0, "nim", 1, "normal", "", 1, 2000, "00", "cd", "2026", record.name)
    marks = ",".join("?" * 16)
    connection.execute(f"INSERT INTO matches VALUES ({marks})", (*values, stat.st_size, stat.st_mtime_ns))
    connection.execute("INSERT INTO seats VALUES ('m000000-00000000',0,'annann',0,1,NULL,'',1,9,9,9)")
    connection.execute("INSERT INTO seats VALUES ('m000000-00000000',1,'bobbob',1,2,NULL,'',1,9,9,9)")
    connection.commit()
    connection.close()
    with pytest.raises(StoreError, match="schema version 1"):
        read_rows(tmp_path / "crosstown.db")
    with Store(tmp_path / "crosstown.db") as store:
        assert [row.match_id for row in store.rows()] == ["m000000-00000000"]
    index = load_index(RunFolder(tmp_path))
    assert index.stale
    assert index.rows[0].seats[0].times != ""


def test_one_match_is_found_by_its_id(tmp_path, make_row):
    rows = [make_row(place, {"ann": 1, "bob": 2}) for place in range(4)]
    with Store(tmp_path / "crosstown.db") as store:
        store.put(rows)
    assert find_row(tmp_path / "crosstown.db", rows[2].match_id) == rows[2]
    assert find_row(tmp_path / "crosstown.db", "m9") is None


def test_a_snapshot_counts_only_with_its_fingerprint(tmp_path):
    with Store(tmp_path / "crosstown.db") as store:
        store.keep_snapshot("table", "abc", "[1]")
        store.keep_snapshot("table", "def", "[2]")
    assert read_snapshot(tmp_path / "crosstown.db", "table", "def") == "[2]"
    assert read_snapshot(tmp_path / "crosstown.db", "table", "abc") is None
    assert read_snapshot(tmp_path / "crosstown.db", "other", "def") is None


def test_references_are_kept(tmp_path, make_row):
    with Store(tmp_path / "crosstown.db") as store:
        store.put([make_row(0, {"ann": 1, "bob": 2})])
        with pytest.raises(StoreError, match="FOREIGN KEY"):
            store.put_ratings([dict.fromkeys(RATING_COLUMNS, 1) | {"entry_id": "nobody"}])


def test_a_locked_database_is_an_error_and_is_not_thrown_away(tmp_path, make_row, monkeypatch):
    path = tmp_path / "crosstown.db"
    monkeypatch.setattr("leaderboard.store.BUSY_TIMEOUT_MS", 10)
    with Store(path) as store:
        store.put([make_row(0, {"ann": 1, "bob": 2})])
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreError, match="locked"):
            store.put([make_row(1, {"ann": 1, "bob": 2})])
        other.execute("ROLLBACK")
        other.close()
        store.put([make_row(1, {"ann": 1, "bob": 2})])
        assert len(store.rows()) == 2


def test_a_path_with_spaces_umlauts_and_url_signs_works(tmp_path, make_row):
    path = tmp_path / "Büro 100% #1?" / "x.db"
    path.parent.mkdir()
    with Store(path) as store:
        store.put([make_row(0, {"ann": 1, "bob": 2})])
    assert len(read_rows(path)) == 1


def test_the_index_is_the_same_with_and_without_the_database(tmp_path, write_record):
    for place in range(6):
        write_record(tmp_path / "matches", place, (1, 2) if place % 2 else (2, 1))
    write_record(tmp_path / "matches", 6, status="void", reason="start_failed")
    write_record(tmp_path / "matches", 7, status=None)
    fresh = load_index(RunFolder(tmp_path))
    assert fresh.stale
    assert sorted(found.status for found in fresh.unusable) == ["unfinished", "void"]
    with Store(tmp_path / "crosstown.db") as store:
        store.put(fresh.rows)
    again = load_index(RunFolder(tmp_path))
    assert again.rows == fresh.rows
    assert not again.stale


def test_the_record_wins_over_the_database(tmp_path, write_record):
    matches = tmp_path / "matches"
    for place in range(3):
        write_record(matches, place)
    with Store(tmp_path / "crosstown.db") as store:
        store.put(load_index(RunFolder(tmp_path)).rows)
    (matches / "m000000-00000000.jsonl.gz").unlink()
    changed = matches / "m000001-00000000.jsonl.gz"
    changed.unlink()
    write_record(matches, 1, (2, 1), reason="crashed")
    write_record(matches, 3)
    index = load_index(RunFolder(tmp_path))
    assert [row.place for row in index.rows] == [1, 2, 3]
    assert [seat.rank for seat in index.rows[0].seats] == [2, 1]
    assert index.stale


def test_a_damaged_database_loses_nothing(tmp_path, write_record):
    write_record(tmp_path / "matches", 0)
    (tmp_path / "crosstown.db").write_bytes(b"rubbish" * 1000)
    assert len(load_index(RunFolder(tmp_path)).rows) == 1


@pytest.mark.parametrize(("version", "fault"), [(5, "move_timeout"), (7, "illegal_action")])
def test_only_matches_whose_times_were_wrong_in_a_version_are_read_again(tmp_path, make_row, version, fault):
    late = make_row(0, {"ann": 1, "bob": 2})
    late = late._replace(seats=(late.seats[0], late.seats[1]._replace(fault=fault)))
    rows = [late, make_row(1, {"ann": 1, "bob": 2})]
    path = tmp_path / "crosstown.db"
    with Store(path) as store:
        store.put(rows)
    connection = sqlite3.connect(path)
    connection.execute("DROP TABLE batches")
    if version < 7:
        connection.execute("ALTER TABLE seats DROP COLUMN usage")
    connection.execute(f"PRAGMA user_version = {version}")
    connection.close()
    with Store(path) as store:
        first, second = store.rows()
        assert first.stamp != rows[0].stamp
        assert second.stamp == rows[1].stamp


@pytest.mark.parametrize("check", [False, True])
def test_a_file_is_read_whole_only_to_be_checked(tmp_path, make_row, monkeypatch, check):
    path = tmp_path / "crosstown.db"
    with Store(path) as store:
        store.put([make_row(0, {"ann": 1, "bob": 2})])
    said: list[str] = []
    connect = sqlite3.connect

    def noting(*args, **more):
        connection = connect(*args, **more)
        connection.set_trace_callback(said.append)
        return connection

    monkeypatch.setattr("leaderboard.store.sqlite3.connect", noting)
    with Store(path, check=check) as store:
        assert len(store.rows()) == 1
    assert any("quick_check" in statement for statement in said) == check


@pytest.mark.parametrize("name", ["crosstown.db", "crosstown.db-journal"])
def test_a_pipe_in_the_place_of_the_database_is_refused_at_once(tmp_path, name):
    path = tmp_path / "crosstown.db"
    Store(path).close()
    (tmp_path / name).unlink(missing_ok=True)
    os.mkfifo(tmp_path / name)
    with pytest.raises(StoreError, match=f"{name} is not an ordinary file"):
        read_rows(path)
    with pytest.raises(StoreError, match=f"{name} is not an ordinary file"):
        Store(path)


def test_nothing_is_kept_in_a_database_of_an_older_version_that_would_not_be_read_there(tmp_path):
    """Each command kept it again."""
    path = tmp_path / "crosstown.db"
    Store(path).close()
    batches = Batches(path)
    for version in (9, SCHEMA_VERSION):
        connection = sqlite3.connect(path)
        connection.execute(f"PRAGMA user_version = {version}")
        connection.close()
        with nullcontext() if version == SCHEMA_VERSION else pytest.raises(StoreError, match="schema version 9"):
            put_snapshot(path, "table", "mark", "{}")
        with nullcontext() if version == SCHEMA_VERSION else pytest.raises(StoreError, match="schema version 9"):
            batches.put("batch", "mark", {"listed": b"1"})
        assert (read_snapshot(path, "table", "mark") is not None) == (version == SCHEMA_VERSION)
        assert (batches.read("batch", "mark", ["listed"]) is not None) == (version == SCHEMA_VERSION)
