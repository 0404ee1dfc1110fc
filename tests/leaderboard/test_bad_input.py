"""Whatever lies in a run folder: a table, and a sentence on what does not count."""

import gzip
import os
import sqlite3
from dataclasses import replace

import pytest

from leaderboard.frames import seat_pictures
from leaderboard.index import load_index
from leaderboard.records import read_match
from leaderboard.run_table import run_table
from leaderboard.standings import standings
from leaderboard.store import Store
from referee.record import RecordWriter, SeatHeader, read_record
from referee.record.format import dumps, seal
from referee.record.reader import read_header
from referee.run.folder import RunFolder
from referee.run.participants import Participant
from referee.run.run import Run
from referee.run.seal import seal_of


@pytest.fixture
def rewritten(tmp_path, write_record):
    """rewritten(header={...}): a record whose header has these fields instead, its chain whole."""

    def make(**fields):
        path = write_record(tmp_path / "matches", 0)
        record = read_record(path)
        path.unlink()
        writer = RecordWriter(tmp_path / "matches", replace(record.header, **fields))
        for line in record.lines:
            writer.answer(line)
        return writer.close(record.footer)

    return make


@pytest.mark.parametrize("game", ["no_such_game", "../../etc", "", "toy"])
def test_a_game_that_is_not_installed_has_its_results_all_the_same(rewritten, game):
    row = read_match(rewritten(game=game, options={"strange": [1]})).row
    assert row is not None
    assert [seat.team for seat in row.seats] == [0, 1]
    assert [line.game for line in standings([row])] == [game, game]


@pytest.mark.parametrize("game", ["manhattan_traffiq", "king_of_new_york", "ticket_to_ride_new_york", "shibuya"])
def test_a_record_with_more_seats_than_its_game_has_is_shown_without_pieces(rewritten, game):
    seats = tuple(SeatHeader(name * 2, name, "1") for name in "abcdefghi")
    assert seat_pictures(read_header(rewritten(game=game, players=9, seats=seats))) == [""] * 9


def test_a_record_of_an_unknown_version_does_not_count_and_says_why(tmp_path, write_record):
    path = write_record(tmp_path / "matches", 0)
    chain, lines = "", []
    for text in gzip.decompress(path.read_bytes()).decode().splitlines():
        body = text[:-12].replace('"format":1', '"format":99')
        line, chain = seal(chain, body)
        lines.append(line)
    path.write_bytes(gzip.compress("".join(lines).encode()))
    write_record(tmp_path / "matches", 1)
    index = load_index(RunFolder(tmp_path))
    assert [row.place for row in index.rows] == [1]
    assert "format 99" in index.unusable[0].problem


@pytest.mark.parametrize("ranking", [(0, -5), (10**30, 1), (7, 7)])
def test_strange_ranks_are_only_an_order(tmp_path, write_record, ranking):
    path = write_record(tmp_path / "matches", 0)
    record = read_record(path)
    path.unlink()
    writer = RecordWriter(tmp_path / "matches", record.header)
    writer.close(replace(record.footer, ranking=ranking, decisions=0, seat_stats=()))
    made = run_table(Run(tmp_path))
    assert [row.played for row in made.rows] == [1, 1]


def test_a_locked_database_costs_time_not_the_table(tmp_path, write_record, monkeypatch):
    monkeypatch.setattr("leaderboard.store.BUSY_TIMEOUT_MS", 10)
    write_record(tmp_path / "matches", 0)
    with Store(tmp_path / "crosstown.db") as store:
        store.put(load_index(RunFolder(tmp_path)).rows)
    other = sqlite3.connect(tmp_path / "crosstown.db", isolation_level=None)
    other.execute("PRAGMA journal_mode = DELETE")
    other.execute("BEGIN EXCLUSIVE")
    assert run_table(Run(tmp_path)).matches == 1
    other.close()


@pytest.mark.parametrize("database", ["folder", "rubbish", "pipe-like"])
def test_a_database_that_cannot_be_read_costs_time_not_the_table(tmp_path, write_record, database):
    write_record(tmp_path / "matches", 0)
    if database == "folder":
        (tmp_path / "crosstown.db").mkdir()
    elif database == "rubbish":
        (tmp_path / "crosstown.db").write_bytes(os.urandom(4096))
    else:
        (tmp_path / "crosstown.db").symlink_to(tmp_path / "nowhere")
    assert run_table(Run(tmp_path)).matches == 1


def test_a_snapshot_that_is_no_table_is_not_taken(tmp_path, write_record):
    write_record(tmp_path / "matches", 0)
    mark = run_table(Run(tmp_path)).fingerprint
    for content in ("rubbish", "[]", dumps({"rows": [{"rank": 1}], "matches": 1, "caption": ""})):
        with Store(tmp_path / "crosstown.db") as store:
            store.keep_snapshot("standings", mark, seal_of("standings", mark, "", content) + content)
        made = run_table(Run(tmp_path))
        assert not made.kept
        assert len(made.rows) == 2


def test_one_bot_alone_has_a_row(tmp_path):
    run = Run(tmp_path)
    run.participants = (Participant("a", "A", "1", {}),)
    (row,) = run_table(run).rows
    assert (row.rank, row.played, row.rated) == (None, 0, False)
