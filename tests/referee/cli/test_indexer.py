"""The database follows the records, and its troubles cost nothing."""

import sqlite3
import subprocess
import sys
import threading

import pytest

from leaderboard import indexer, store
from leaderboard.indexer import Indexer
from leaderboard.records import read_match
from leaderboard.run_table import run_table
from leaderboard.store import read_rows
from referee.record import read_record
from referee.run.run import Run


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(indexer, "BATCH_S", 0.01)
    monkeypatch.setattr(store, "BUSY_TIMEOUT_MS", 20)


def records(folder):
    return sorted(folder.matches.glob("*.gz"))


def test_what_was_there_and_what_comes_is_indexed(make_run):
    folder = make_run(blocks=4, played=8)
    later = [(path, path.rename(folder.path / path.name)) for path in records(folder)[5:]]
    index = Indexer(folder)
    index.start()
    for path, hidden in later:
        hidden.rename(path)
        index.add(path, read_record(path))
    index.close()
    rows = read_rows(folder.database)
    assert [row.place for row in rows] == list(range(8))
    assert index.finish(run_table(Run(folder))) == ""
    connection = sqlite3.connect(folder.database)
    assert connection.execute("SELECT count(*) FROM ratings").fetchone() == (2,)
    connection.close()


def test_rows_without_a_record_leave_the_database(make_run):
    folder = make_run()
    for _ in range(2):
        index = Indexer(folder)
        index.start()
        index.close()
        assert index.finish(run_table(Run(folder))) == ""
        records(folder)[0].unlink()
    assert [row.place for row in read_rows(folder.database)] == [1, 2, 3]


def test_a_locked_database_is_caught_up_with_when_it_is_free(make_run):
    folder = make_run()
    with store.Store(folder.database):
        pass
    other = sqlite3.connect(folder.database, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    index = Indexer(folder)
    index.start()
    for path in records(folder):
        index.add(path, read_record(path))
    index.close()
    assert "locked" in index.finish(run_table(Run(folder)))
    other.execute("ROLLBACK")
    other.close()
    again = Indexer(folder)
    again.start()
    again.close()
    assert again.finish(run_table(Run(folder))) == ""
    assert len(read_rows(folder.database)) == 4


def test_a_database_that_cannot_be_made_is_told(make_run):
    folder = make_run()
    folder.database.mkdir()
    index = Indexer(folder)
    index.start()
    index.close()
    assert "crosstown.db" in index.finish(run_table(Run(folder)))


def test_an_indexer_that_was_never_started_ends(make_run):
    folder = make_run()
    index = Indexer(folder)
    index.close()
    assert index.finish(run_table(Run(folder))) == ""
    assert not folder.database.exists()


def test_a_match_that_counts_no_more_leaves_the_database(make_run):
    folder = make_run(played=4)
    index = Indexer(folder)
    index.start()
    first, *_, last = records(folder)
    index.add(last, read_record(last))
    for path in (first, last):
        path.unlink()
        index.drop(path)
    index.close()
    assert [row.place for row in read_rows(folder.database)] == [1, 2]
    assert index.finish(run_table(Run(folder))) == ""


def test_who_is_in_a_hurry_waits_for_new_records_only(make_run, monkeypatch):
    folder = make_run(played=4)
    *_, last = records(folder)
    closed = threading.Event()
    read = []

    def slow(path, anchored):
        read.append(path)
        assert closed.wait(60)
        return read_match(path, anchored)

    monkeypatch.setattr("leaderboard.index.read_match", slow)
    index = Indexer(folder)
    index.start()
    index.add(last, read_record(last))
    hurry = threading.Timer(0.1, closed.set)
    hurry.start()
    index.close(hurry=True)
    assert len(read) <= 1  # at most the one that was being read
    assert index.finish(None) == ""
    assert [row.place for row in read_rows(folder.database)] == [3]
    again = Indexer(folder)
    again.start()
    again.close()
    assert again.finish(run_table(Run(folder))) == ""
    assert [row.place for row in read_rows(folder.database)] == [0, 1, 2, 3]


IMPORTED = """
import sys
from pathlib import Path
from leaderboard.indexer import Indexer
from referee.run.folder import RunFolder

index = Indexer(RunFolder(Path(sys.argv[1])))
print("leaderboard.run_table" in sys.modules)
index.start()
index.close()
print("leaderboard.run_table" in sys.modules)
"""


def test_what_the_table_at_the_end_needs_is_imported_while_matches_are_played(make_run):
    command = [sys.executable, "-c", IMPORTED, str(make_run().path)]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    assert ran.stdout.split() == ["False", "True"]
