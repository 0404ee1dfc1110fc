"""The SQLite index of match records, and its tables. Everything in it comes from the records and can be made again.

`docs/database.md` explains the tables. `PRAGMA user_version` is the version of the schema: an older file is migrated, a
newer or damaged one made again. WAL, with one writer: the holder of the run's lock.
"""

import marshal
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from operator import attrgetter
from pathlib import Path
from stat import S_ISREG
from types import TracebackType
from typing import TYPE_CHECKING, Any

from leaderboard.records import MatchRow, SeatRow
from referee.errors import ExpectedError
from referee.garbage import no_collection
from referee.record.journal import JOURNAL
from referee.record.reasons import TIMED_OUT
from referee.record.store import FileStamp
from referee.run.journal import identity_of
from referee.run.seal import Sealer

if TYPE_CHECKING:
    from sqlite_utils import Database  # only to write: it takes longer to load than to list matches
    from sqlite_utils.db import Table

SCHEMA_VERSION = 10

_READABLE = (8, 9, SCHEMA_VERSION)
"""Version 8 has no batches. In versions 8 and 9 the worst lag leaves out a decision that timed out: their batches and
snapshots are not used, nor their rows of such matches."""

RATING_COLUMNS = (
    "game",
    "players",
    "entry_id",
    "rank",
    "mu",
    "sigma",
    "elo",
    "elo_error",
    "live_mu",
    "live_sigma",
    "played",
)

_RATINGS = """
CREATE TABLE ratings (
    game TEXT NOT NULL,                 -- ratings are never pooled across games
    players INTEGER NOT NULL,           -- nor across numbers of players
    entry_id TEXT NOT NULL REFERENCES entries (entry_id),
    rank INTEGER NOT NULL,              -- by mu - 3 sigma
    mu REAL NOT NULL,                   -- the official table
    sigma REAL NOT NULL,
    elo REAL,                           -- the cross-check, and its standard error
    elo_error REAL,
    live_mu REAL,                       -- the live table
    live_sigma REAL,
    played INTEGER NOT NULL,
    PRIMARY KEY (game, players, entry_id)
) WITHOUT ROWID;
CREATE TABLE snapshots (
    name TEXT PRIMARY KEY,              -- of what was computed
    fingerprint TEXT NOT NULL,          -- of what it was computed from
    content TEXT NOT NULL               -- JSON
);
"""

_BATCHES = """
CREATE TABLE batches (
    name TEXT NOT NULL,                 -- of the archive, or of the group of files
    part TEXT NOT NULL,                 -- 'listed': what lists need; 'counted': what only tables need besides
    mark TEXT NOT NULL,                 -- of the records: without it they are looked up in `matches` again
    seal TEXT NOT NULL,
    content BLOB NOT NULL,              -- columns of the rows of these records (`leaderboard.match_table`)
    PRIMARY KEY (name, part)
);
"""

SCHEMA = (
    """
CREATE TABLE entries (
    entry_id TEXT PRIMARY KEY,          -- hash of the bot's source and options
    name TEXT NOT NULL,
    version TEXT NOT NULL
);
CREATE TABLE matches (
    match_id TEXT PRIMARY KEY,
    tournament TEXT NOT NULL,
    place INTEGER NOT NULL,             -- index in the schedule: the order in which the live table is made
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
    file_mtime_ns INTEGER NOT NULL,
    seal TEXT NOT NULL DEFAULT ''       -- of the row and its seats: without it the record is read again
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
    decisions INTEGER NOT NULL,         -- without those that the referee chose for the bot
    total_us INTEGER NOT NULL,
    worst_us INTEGER NOT NULL,
    cpu_us INTEGER NOT NULL,
    times TEXT NOT NULL DEFAULT '',     -- histogram of move times, "bucket:count ..."
    startup_us INTEGER NOT NULL DEFAULT 0, -- until Hello, of a process that was started for this match; else 0
    lag_us INTEGER NOT NULL DEFAULT 0,  -- what was not charged; total_us, worst_us and times are what was
    worst_lag_us INTEGER NOT NULL DEFAULT 0, -- of one decision
    usage TEXT NOT NULL DEFAULT '',     -- what the bot said it used of a provider: JSON of counts, or ''
    PRIMARY KEY (match_id, seat)
) WITHOUT ROWID;
CREATE INDEX seats_entry ON seats (entry_id);
"""
    + _BATCHES
    + _RATINGS
)

_READ_LATE_AGAIN = """
UPDATE matches SET file_mtime_ns = -1, seal = ''
WHERE match_id IN (SELECT match_id FROM seats WHERE fault IN ('move_timeout', 'bank_exhausted'));
"""

MIGRATIONS = {
    # The rows of version 1 have no move times. With an impossible stamp each is read from its record once more.
    1: f"""
ALTER TABLE seats ADD COLUMN times TEXT NOT NULL DEFAULT '';
UPDATE matches SET file_mtime_ns = -1;
DROP TABLE ratings;
{_RATINGS}
""",  # noqa: S608 - our own text
    # Version 2 has no start-up times.
    2: """
ALTER TABLE seats ADD COLUMN startup_us INTEGER NOT NULL DEFAULT 0;
UPDATE matches SET file_mtime_ns = -1;
""",
    3: """
ALTER TABLE seats ADD COLUMN lag_us INTEGER NOT NULL DEFAULT 0;
ALTER TABLE seats ADD COLUMN worst_lag_us INTEGER NOT NULL DEFAULT 0;
UPDATE matches SET file_mtime_ns = -1;
""",
    4: "ALTER TABLE matches ADD COLUMN seal TEXT NOT NULL DEFAULT '';",
    # The worst time of version 5 leaves out the decision that timed out.
    5: _READ_LATE_AGAIN,
    6: "ALTER TABLE seats ADD COLUMN usage TEXT NOT NULL DEFAULT '';",
    # The decisions of version 7 have those that the referee chose for a bot, which it does only after a fault.
    7: """
UPDATE matches SET file_mtime_ns = -1, seal = '' WHERE match_id IN (SELECT match_id FROM seats WHERE fault <> '');
""",
    8: _BATCHES,
    # The worst lag of version 9 leaves out the decision that timed out.
    9: _READ_LATE_AGAIN + "DELETE FROM batches; DELETE FROM snapshots;",  # noqa: S608 - our own text
}
"""From each older version to the next one."""


BUSY_TIMEOUT_MS = 2000

_REFUSED = (sqlite3.Error, OverflowError, UnicodeEncodeError)
"""How a write fails; the latter two for integers of more than 64 bits and for lone surrogates."""

NOT_SEALED = FileStamp("", -1, -1)
"""The stamp of a row that somebody else wrote or changed."""

_SEAT_COLUMNS = tuple(name for name in SeatRow._fields if name not in ("name", "version"))  # of the entry
_SEAT_COLUMNS_OF = attrgetter(*_SEAT_COLUMNS)
_MATCH_COLUMNS = tuple(name for name in MatchRow._fields if name not in ("stamp", "seats"))
_MATCH_FIELDS = attrgetter(*_MATCH_COLUMNS)


def _insert(table: str, columns: Sequence[str]) -> str:
    return f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})"  # noqa: S608 - our names


_INSERT_MATCH = _insert("matches", (*_MATCH_COLUMNS, "file_name", "file_bytes", "file_mtime_ns", "seal"))
_INSERT_SEAT = _insert("seats", ("match_id", *_SEAT_COLUMNS))


class StoreError(ExpectedError):
    """The database cannot be read or written now. Nothing is lost by it: the records have everything."""

    def __init__(self, what: str) -> None:
        super().__init__(what, "the records have everything; see whether the disk is full")


class Store:
    """The one writer's access to the database. Every method raises StoreError and changes all or nothing."""

    def __init__(self, path: Path, *, check: bool = True) -> None:
        """Opens or creates it. A damaged file, or one of another schema version, is replaced by an empty one. Without
        `check`, which reads the whole file, only damage at its beginning is seen."""
        self.path = path
        self._sealer = _sealer_for(path)
        self._db = _open_for_writing(path, check=check)

    def __enter__(self) -> "Store":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._db.close()

    @property
    def number(self) -> int:
        """How many matches there are."""
        try:
            number: int = self._db.execute("SELECT count(*) FROM matches").fetchone()[0]
        except sqlite3.Error as error:
            raise _store_error(self.path, error) from error
        return number

    def put(self, rows: Iterable[MatchRow]) -> None:
        """Insert the matches, or replace those of the same id, in one transaction."""
        rows = list(rows)
        if not rows:
            return
        entries = {seat.entry_id: (seat.entry_id, seat.name, seat.version) for row in rows for seat in row.seats}
        try:
            # `executemany`, because sqlite-utils takes four times as long for many rows.
            with self._db.atomic():
                many = self._db.conn.executemany
                many("INSERT OR IGNORE INTO entries VALUES (?, ?, ?)", entries.values())
                self._delete(row.match_id for row in rows)
                many(_INSERT_MATCH, [_match_values(row, self._sealer) for row in rows])
                many(_INSERT_SEAT, [(row.match_id, *_SEAT_COLUMNS_OF(seat)) for row in rows for seat in row.seats])
        except _REFUSED as error:
            raise _store_error(self.path, error) from error

    def keep_only(self, match_ids: Iterable[str]) -> None:
        """Remove all matches but these."""
        wanted = set(match_ids)
        try:
            with self._db.atomic():
                there = {match_id for (match_id,) in self._db.execute("SELECT match_id FROM matches")}
                self._delete(there - wanted)
        except sqlite3.Error as error:
            raise _store_error(self.path, error) from error

    def remove(self, match_ids: Iterable[str]) -> None:
        """Remove these matches, as far as they are there."""
        try:
            with self._db.atomic():
                self._delete(match_ids)
        except sqlite3.Error as error:
            raise _store_error(self.path, error) from error

    def put_ratings(self, ratings: Iterable[Mapping[str, Any]]) -> None:
        """Replace the ratings by these, each with at least the keys of `RATING_COLUMNS` (as `Standing.to_dict`), and
        forget entries without a match."""
        try:
            with self._db.atomic():
                self._db.execute("DELETE FROM ratings")
                self._table("ratings").insert_all(
                    [{name: rating[name] for name in RATING_COLUMNS} for rating in ratings],
                    pk=("game", "players", "entry_id"),
                )
                self._db.execute(
                    "DELETE FROM entries WHERE entry_id NOT IN (SELECT entry_id FROM seats)"
                    " AND entry_id NOT IN (SELECT entry_id FROM ratings)"
                )
        except _REFUSED as error:
            raise _store_error(self.path, error) from error

    def keep_snapshot(self, name: str, fingerprint: str, content: str) -> None:
        """Keep what was computed from inputs with this fingerprint, instead of what `name` had before."""
        try:
            with self._db.atomic():
                self._table("snapshots").insert(
                    {"name": name, "fingerprint": fingerprint, "content": content}, pk="name", replace=True
                )
        except _REFUSED as error:
            raise _store_error(self.path, error) from error

    def rows(self) -> list[MatchRow]:
        """All matches, by place."""
        try:
            return _read_rows(self._db.conn, self._sealer)
        except sqlite3.Error as error:
            raise _store_error(self.path, error) from error

    def _delete(self, match_ids: Iterable[str]) -> None:
        self._db.conn.executemany("DELETE FROM matches WHERE match_id = ?", [(match_id,) for match_id in match_ids])

    def _table(self, name: str) -> "Table":
        from sqlite_utils.db import Table

        table = self._db[name]
        assert isinstance(table, Table)
        return table


def read_rows(path: Path) -> list[MatchRow]:
    """All matches in the database at `path`, by place, without writing to it. StoreError if that does not work.

    A row that this user did not write about this run has a stamp that no file has, so that its record is read.
    """
    with _connected(path) as connection:
        return _read_rows(connection, _sealer_for(path))


def is_readable(path: Path) -> bool:
    """Whether there is a database of this version."""
    try:
        with _connected(path):
            return True
    except StoreError:
        return False


def find_row(path: Path, match_id: str) -> MatchRow | None:
    """One match in the database at `path`; None if it is not there. StoreError."""
    found = find_rows(path, [match_id])
    return found[0] if found else None


def find_rows(path: Path, match_ids: Sequence[str]) -> list[MatchRow]:
    """Those of these matches that are in the database at `path`, by place; as `read_rows`. StoreError."""
    where = f"WHERE match_id IN ({', '.join('?' * len(match_ids))})"
    with _connected(path) as connection:
        return _read_rows(connection, _sealer_for(path), where, match_ids)


def read_range(path: Path, first: str, last: str) -> list[MatchRow]:
    """The matches in the database at `path` with an id from `first` to `last`, by place; as `read_rows`. StoreError."""
    with _connected(path) as connection:
        return _read_rows(connection, _sealer_for(path), "WHERE match_id BETWEEN ? AND ?", (first, last))


class Batches:
    """The columns of rows that are kept in a database, batch by batch (see `leaderboard.index`). StoreError where there
    is no good database."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._sealer = Sealer("batch", identity_of(path.with_name(JOURNAL)))

    def read(self, name: str, mark: str, parts: Sequence[str]) -> list[bytes] | None:
        """These parts of a batch; None where one is missing, has another mark, or was written by somebody else."""
        found: list[bytes] = []
        with _connected(self._path) as connection:
            if _version(connection) != SCHEMA_VERSION:
                return None
            for part in parts:
                row = connection.execute(
                    "SELECT seal, content FROM batches WHERE name = ? AND part = ? AND mark = ?", (name, part, mark)
                ).fetchone()
                if row is None or type(row[1]) is not bytes or row[0] != self._seal(name, part, mark, row[1]):
                    return None
                found.append(row[1])
        return found

    def put(self, name: str, mark: str, parts: Mapping[str, bytes]) -> None:
        """Keep a batch, also beside the run's own writer."""
        rows = [(name, part, mark, self._seal(name, part, mark, content), content) for part, content in parts.items()]
        with _connected(self._path, "rw") as connection, connection:
            connection.executemany("REPLACE INTO batches VALUES (?, ?, ?, ?, ?)", rows)

    def keep_only(self, names: Iterable[str]) -> None:
        """Remove all others."""
        wanted = set(names)
        with _connected(self._path) as connection:
            there = {name for (name,) in connection.execute("SELECT DISTINCT name FROM batches")}
        if there - wanted:
            with _connected(self._path, "rw") as connection, connection:
                connection.executemany("DELETE FROM batches WHERE name = ?", [(name,) for name in there - wanted])

    def _seal(self, name: str, part: str, mark: str, content: bytes) -> str:
        return self._sealer.seal_of(marshal.dumps((name, part, mark), 0) + content)


def read_snapshot(path: Path, name: str, fingerprint: str) -> str | None:
    """What was kept under `name`, if it was computed from inputs with this fingerprint. StoreError."""
    with _connected(path) as connection:
        if _version(connection) != SCHEMA_VERSION:
            return None
        found = connection.execute(
            "SELECT content FROM snapshots WHERE name = ? AND fingerprint = ?", [name, fingerprint]
        ).fetchone()
    return None if found is None else str(found[0])


def put_snapshot(path: Path, name: str, fingerprint: str, content: str) -> None:
    """As `Store.keep_snapshot`, also beside the run's own writer. StoreError where there is no good database."""
    with _connected(path, "rw") as connection, connection:
        connection.execute("REPLACE INTO snapshots VALUES (?, ?, ?)", [name, fingerprint, content])


@contextmanager
def _connected(path: Path, mode: str = "ro") -> Iterator[sqlite3.Connection]:
    uri = f"{path.resolve().as_uri()}?mode={mode}"
    readable = _READABLE if mode == "ro" else (SCHEMA_VERSION,)
    try:
        _check_ordinary(path)
        connection = sqlite3.connect(uri, uri=True, timeout=BUSY_TIMEOUT_MS / 1000)
        try:
            if (version := _version(connection)) not in readable:
                raise StoreError(f"{path} has schema version {version}, not {SCHEMA_VERSION}")
            yield connection
        finally:
            connection.close()
    except _REFUSED as error:
        raise _store_error(path, error) from error


def _check_ordinary(path: Path) -> None:
    """StoreError for a pipe in the place of the database or its journal: SQLite would wait for it without end."""
    for name in (path, path.with_name(f"{path.name}-journal")):
        with suppress(OSError):  # there is none, or SQLite says what is wrong
            if not S_ISREG(name.stat().st_mode):
                raise StoreError(f"{name} is not an ordinary file")


def _open_for_writing(path: Path, *, check: bool) -> "Database":
    _check_ordinary(path)
    try:
        db = _connect(path)
        try:
            version = _version(db.conn)
            if version == 0 and not db.table_names():
                _create(db)
                return db
            while version in MIGRATIONS:
                _script(db, MIGRATIONS[version], version + 1)
                version = _version(db.conn)
            good = version == SCHEMA_VERSION
            if good and (not check or db.execute("PRAGMA quick_check").fetchone()[0] == "ok"):
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


def _connect(path: Path) -> "Database":
    from sqlite_utils import Database

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


def _create(db: "Database") -> None:
    _script(db, SCHEMA, SCHEMA_VERSION)


def _script(db: "Database", script: str, version: int) -> None:
    """Run it, and set the version, all or nothing."""
    db.conn.executescript(f"BEGIN IMMEDIATE; {script} PRAGMA user_version = {version}; COMMIT;")


def _version(connection: sqlite3.Connection) -> int:
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    return version


def _store_error(path: Path, error: Exception) -> StoreError:
    return StoreError(f"database {path}: {error}")


def _sealer_for(database: Path) -> Sealer:
    return Sealer("match", identity_of(database.with_name(JOURNAL)))


def _match_values(row: MatchRow, sealer: Sealer) -> tuple[Any, ...]:
    stamp = row.stamp
    values = (*_MATCH_FIELDS(row), stamp.name, stamp.size_bytes, stamp.mtime_ns)
    return (*values, sealer.seal_of(_sealed_part(values, row.seats)))


def _sealed_part(values: tuple[Any, ...], seats: Sequence[SeatRow]) -> bytes:
    """The same for equal values: version 0 does not depend on which texts are one object. An empty `usage`, the last
    field of a seat, is left out: so the seals of version 6, which had none, hold."""
    return marshal.dumps((values, tuple([seat[:] if seat[-1] else seat[:-1] for seat in seats])), 0)  # plain tuples


def _read_rows(
    connection: sqlite3.Connection, sealer: Sealer, only: str = "", wanted: Sequence[str] = ()
) -> list[MatchRow]:
    """All matches, or those of a condition on `match_id` with these values."""
    who = {
        entry_id: (name, version)
        for entry_id, name, version in connection.execute("SELECT entry_id, name, version FROM entries")
    }
    with no_collection():
        # Rows are cut, not unpacked into names, which takes longer than SQLite does.
        seats: dict[str, list[SeatRow]] = {}
        for row in connection.execute(
            "SELECT match_id, seat, entry_id, team, rank, points, fault,"  # noqa: S608 - our names
            f" decisions, total_us, worst_us, cpu_us, times, startup_us, lag_us, worst_lag_us, usage FROM seats {only}"
            " ORDER BY match_id, seat",
            wanted,
        ):
            seat = SeatRow._make(row[1:3] + who[row[2]] + row[3:])
            if of_match := seats.get(row[0]):
                of_match.append(seat)
            else:
                seats[row[0]] = [seat]
        rows: list[MatchRow] = []
        facts = len(_MATCH_COLUMNS)
        older = _version(connection) != SCHEMA_VERSION
        for row in connection.execute(
            f"SELECT {', '.join(_MATCH_COLUMNS)}, file_name, file_bytes, file_mtime_ns, seal FROM matches {only}"  # noqa: S608
            " ORDER BY place, match_id",
            wanted,
        ):
            seated = seats.get(row[0], [])
            good = row[-1] == sealer.seal_of(_sealed_part(row[:-1], seated))
            good = good and not (older and any(seat.fault in TIMED_OUT for seat in seated))
            stamp = FileStamp(*row[facts:-1]) if good else NOT_SEALED
            rows.append(MatchRow._make((*row[:facts], stamp, tuple(seated))))
        return rows
