"""The SQLite index of match records. Everything in it comes from the records and can be made again from them.

    matches   one row per rated match            entries   one row per entry (source and options of a bot)
    seats     one row per seat of a match        ratings   the standings as they were when the run last ended

`PRAGMA user_version` is the version of this schema; a file of another version is made anew. WAL, one writer.
"""

import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import Any

from sqlite_utils import Database
from sqlite_utils.db import Table

from leaderboard.records import FileStamp, MatchRow, SeatRow

SCHEMA_VERSION = 1
BUSY_TIMEOUT_MS = 2000

_SCHEMA = """
CREATE TABLE entries (
    entry_id TEXT PRIMARY KEY,          -- hash of the bot's source and options
    name TEXT NOT NULL,
    version TEXT NOT NULL
);
CREATE TABLE matches (
    match_id TEXT PRIMARY KEY,
    tournament TEXT NOT NULL,
    place INTEGER NOT NULL,             -- index in the schedule: the order in which ratings are applied
    block INTEGER NOT NULL,             -- matches of one block share a seed
    game TEXT NOT NULL,
    rules_version INTEGER NOT NULL,
    reason TEXT NOT NULL,               -- why it ended
    detail TEXT NOT NULL,
    decisions INTEGER NOT NULL,
    wall_us INTEGER NOT NULL,
    seed TEXT NOT NULL,
    state_hash TEXT NOT NULL,
    created_at TEXT NOT NULL,
    file_name TEXT NOT NULL,            -- the record in matches/
    file_bytes INTEGER NOT NULL,
    file_mtime_ns INTEGER NOT NULL
);
CREATE INDEX matches_place ON matches (place);
CREATE TABLE seats (
    match_id TEXT NOT NULL REFERENCES matches (match_id) ON DELETE CASCADE,
    seat INTEGER NOT NULL,
    entry_id TEXT NOT NULL REFERENCES entries (entry_id),
    team INTEGER NOT NULL,
    rank INTEGER NOT NULL,              -- 1 is the best, ties share
    points INTEGER,                     -- the game's own; NULL where a fault ended the match
    fault TEXT NOT NULL,                -- reason, or '' for none
    decisions INTEGER NOT NULL,
    total_us INTEGER NOT NULL,
    worst_us INTEGER NOT NULL,
    cpu_us INTEGER NOT NULL,
    PRIMARY KEY (match_id, seat)
) WITHOUT ROWID;
CREATE INDEX seats_entry ON seats (entry_id);
CREATE TABLE ratings (
    entry_id TEXT PRIMARY KEY REFERENCES entries (entry_id),
    mu REAL NOT NULL,
    sigma REAL NOT NULL,
    played INTEGER NOT NULL
);
"""

_REFUSED = (sqlite3.Error, OverflowError, UnicodeEncodeError)
"""How a write fails; the latter two for integers of more than 64 bits and for lone surrogates."""

_MATCH_COLUMNS = tuple(name for name in MatchRow.__dataclass_fields__ if name not in ("stamp", "seats"))


class StoreError(Exception):
    """The database cannot be read or written now. Nothing is lost by it: the records have everything."""


class Store:
    """The one writer's access to the database. Every method raises StoreError and changes all or nothing."""

    def __init__(self, path: Path) -> None:
        """Opens or creates it. A damaged file, or one of another schema version, is replaced by an empty one."""
        self.path = path
        self._db = _open_for_writing(path)

    def __enter__(self) -> "Store":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._db.close()

    def put(self, rows: Iterable[MatchRow]) -> None:
        """Insert the matches, or replace those of the same id, in one transaction."""
        rows = list(rows)
        entries = {
            s.entry_id: {"entry_id": s.entry_id, "name": s.name, "version": s.version} for r in rows for s in r.seats
        }
        try:
            # `with db.conn` is no transaction over sqlite-utils' inserts; `atomic` is.
            with self._db.atomic():
                self._table("entries").insert_all(entries.values(), replace=False, ignore=True, pk="entry_id")
                for row in rows:
                    self._table("matches").delete_where("match_id = ?", [row.match_id])
                self._table("matches").insert_all([_match_values(row) for row in rows], pk="match_id")
                self._table("seats").insert_all(
                    [_seat_values(row.match_id, seat) for row in rows for seat in row.seats], pk=("match_id", "seat")
                )
        except _REFUSED as error:
            raise _store_error(self.path, error) from error

    def keep_only(self, match_ids: Iterable[str]) -> None:
        """Remove all matches but these."""
        wanted = set(match_ids)
        try:
            with self._db.atomic():
                for (match_id,) in list(self._db.execute("SELECT match_id FROM matches")):
                    if match_id not in wanted:
                        self._table("matches").delete_where("match_id = ?", [match_id])
        except sqlite3.Error as error:
            raise _store_error(self.path, error) from error

    def put_ratings(self, ratings: Iterable[Mapping[str, Any]]) -> None:
        """Replace the ratings by these: entry_id, mu, sigma, played."""
        try:
            with self._db.atomic():
                self._db.execute("DELETE FROM ratings")
                self._table("ratings").insert_all([dict(rating) for rating in ratings], pk="entry_id")
        except sqlite3.Error as error:
            raise _store_error(self.path, error) from error

    def rows(self) -> list[MatchRow]:
        """All matches, by place."""
        try:
            return _read_rows(self._db.conn)
        except sqlite3.Error as error:
            raise _store_error(self.path, error) from error

    def _table(self, name: str) -> Table:
        table = self._db[name]
        assert isinstance(table, Table)
        return table


def read_rows(path: Path) -> list[MatchRow]:
    """All matches in the database at `path`, by place, without writing to it. StoreError if that does not work."""
    uri = f"{path.resolve().as_uri()}?mode=ro"
    try:
        connection = sqlite3.connect(uri, uri=True, timeout=BUSY_TIMEOUT_MS / 1000)
        try:
            if _version(connection) != SCHEMA_VERSION:
                raise StoreError(f"{path} has another schema version")
            return _read_rows(connection)
        finally:
            connection.close()
    except sqlite3.Error as error:
        raise _store_error(path, error) from error


def _open_for_writing(path: Path) -> Database:
    try:
        db = _connect(path)
        try:
            version = _version(db.conn)
            if version == 0:
                _create(db)
                return db
            if version == SCHEMA_VERSION and db.execute("PRAGMA quick_check").fetchone()[0] == "ok":
                return db
        except sqlite3.OperationalError:
            db.close()
            raise  # locked, full or not writable: no reason to throw the file away
        except sqlite3.DatabaseError:
            pass
        db.close()
        for suffix in ("", "-wal", "-shm"):
            path.with_name(path.name + suffix).unlink(missing_ok=True)
        db = _connect(path)
        _create(db)
        return db
    except (sqlite3.Error, OSError) as error:
        raise _store_error(path, error) from error


def _connect(path: Path) -> Database:
    # The runner writes from a thread of its own, one at a time.
    connection = sqlite3.connect(path, timeout=BUSY_TIMEOUT_MS / 1000, check_same_thread=False)
    db = Database(connection, execute_plugins=False)
    try:
        db.execute("PRAGMA foreign_keys = ON")
        db.execute("PRAGMA synchronous = NORMAL")
        db.execute("PRAGMA journal_mode = WAL")
    except sqlite3.OperationalError:
        db.close()
        raise
    except sqlite3.DatabaseError:
        pass  # not a database: found out, and replaced, by the caller's next step
    return db


def _create(db: Database) -> None:
    db.conn.executescript(f"BEGIN; {_SCHEMA} PRAGMA user_version = {SCHEMA_VERSION}; COMMIT;")


def _version(connection: sqlite3.Connection) -> int:
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    return version


def _store_error(path: Path, error: Exception) -> StoreError:
    return StoreError(f"database {path}: {error}")


def _match_values(row: MatchRow) -> dict[str, Any]:
    values = {name: getattr(row, name) for name in _MATCH_COLUMNS}
    stamp = row.stamp
    return values | {"file_name": stamp.name, "file_bytes": stamp.size_bytes, "file_mtime_ns": stamp.mtime_ns}


def _seat_values(match_id: str, seat: SeatRow) -> dict[str, Any]:
    values = asdict(seat)
    del values["name"], values["version"]  # they stand with the entry
    return {"match_id": match_id, **values}


def _read_rows(connection: sqlite3.Connection) -> list[MatchRow]:
    seats: dict[str, list[SeatRow]] = {}
    for match_id, *values in connection.execute(
        "SELECT match_id, seat, entry_id, name, version, team, rank, points, fault,"
        " decisions, total_us, worst_us, cpu_us FROM seats JOIN entries USING (entry_id) ORDER BY match_id, seat"
    ):
        seats.setdefault(match_id, []).append(SeatRow(*values))
    rows: list[MatchRow] = []
    stamped = "file_name, file_bytes, file_mtime_ns"
    for *values, name, size, mtime in connection.execute(
        f"SELECT {', '.join(_MATCH_COLUMNS)}, {stamped} FROM matches ORDER BY place, match_id"  # noqa: S608 - our names
    ):
        fields: dict[str, Any] = dict(zip(_MATCH_COLUMNS, values, strict=True))
        seated = tuple(seats.get(fields["match_id"], ()))
        rows.append(MatchRow(**fields, stamp=FileStamp(name, size, mtime), seats=seated))
    return rows
