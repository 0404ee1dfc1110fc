"""One process's access to `ladder.db`: SQLite in WAL mode, written from one thread, read from any.

Readers have their own connections and do not wait for writers. The server and the runner each have one of these on the
same file. A change happens wholly or not at all, and outlives a loss of power once it was confirmed.
"""

import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

from sqlite_utils import Database
from sqlite_utils.db import Table

from leaderboard.web.hand_ins import HandInRefused, Refusal
from referee.errors import PlatformError
from referee.ladder.names import seen_as
from referee.ladder.schema import MIGRATIONS, SCHEMA, SCHEMA_VERSION

BUSY_TIMEOUT_S = 5.0
"""How long a write waits for another program that holds the database."""

_MOST_DAYS = 3650
OWNER_ONLY = 0o600
"""The mode of files that have secrets in them."""

_FULL = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR)
_HELD = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)

T = TypeVar("T")


def utc_now() -> datetime:
    """The usual clock."""
    return datetime.now(UTC)


class LadderDatabase:
    """Methods raise HandInRefused with UNAVAILABLE where the file cannot be read or written now. They wait for the
    disk: none belongs on an event loop."""

    def __init__(self, path: Path, clock: Callable[[], datetime] = utc_now) -> None:
        """Opens or creates it, and migrates an older one. PlatformError for a file that is damaged, newer, or cannot be
        opened: it is never replaced."""
        self.path = path
        self._clock = clock
        self._local = threading.local()
        self._readers: list[_Reader] = []
        self._lock = threading.Lock()
        self._open = True
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="ladder.db")
        try:
            self._db = self._writer.submit(_open, path).result()
        except BaseException:
            self._writer.shutdown()
            raise

    def close(self) -> None:
        """Waits for calls of other threads, such as those that cancelled tasks have left behind; calls that come later
        are refused. A second one does nothing."""
        with self._lock:
            if not self._open:
                return
            self._open = False
            closing = self._writer.submit(self._db.close)
        for reader in self._readers:
            with reader.lock:
                reader.connection.close()
        closing.result()
        self._writer.shutdown()

    def write(self, change: Callable[[Database], T]) -> T:
        """What `change` returns, after it was carried out in one transaction; what it raises, after nothing was."""
        with self._lock:
            if not self._open:
                raise _closed()
            changing = self._writer.submit(self._transaction, change)
        return changing.result()

    def _transaction(self, change: Callable[[Database], T]) -> T:
        with _refusing(self.path):
            # Not sqlite-utils' own `atomic`, which takes the lock with the first write: after what was read.
            self._db.conn.execute("BEGIN IMMEDIATE")
            try:
                result = change(self._db)
                self._commit()
            except BaseException:
                if self._db.conn.in_transaction:
                    self._db.conn.execute("ROLLBACK")
                raise
            return result

    def _commit(self) -> None:
        self._db.conn.execute("COMMIT")

    def rows(self, sql: str, *values: Any) -> list[sqlite3.Row]:
        """All that a query finds."""
        with self._reading() as connection:
            return connection.execute(sql, values).fetchall()

    def row(self, sql: str, *values: Any) -> sqlite3.Row | None:
        """The first that a query finds."""
        with self._reading() as connection:
            found: sqlite3.Row | None = connection.execute(sql, values).fetchone()
            return found

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        with _refusing(self.path):
            reader = self._reader()
            with reader.lock:
                if not self._open:
                    raise _closed()
                yield reader.connection

    def _reader(self) -> "_Reader":
        """One for each thread that reads."""
        known: _Reader | None = getattr(self._local, "reader", None)
        if known is None:
            with self._lock:
                if not self._open:
                    raise _closed()
                uri = f"{self.path.resolve().as_uri()}?mode=ro"
                connection = sqlite3.connect(uri, uri=True, timeout=BUSY_TIMEOUT_S, check_same_thread=False)
                connection.row_factory = sqlite3.Row
                known = _Reader(connection)
                self._readers.append(known)
            self._local.reader = known
        return known

    def now(self) -> str:
        """The time as it is written."""
        return as_text(self._clock())

    def before(self, days: int) -> str:
        """The time so many days ago."""
        return as_text(self._clock() - timedelta(days=days))

    def after(self, days: int | None) -> str:
        """The time in so many days, '' for None. UNUSABLE for a number out of its range."""
        if days is None:
            return ""
        if not 1 <= days <= _MOST_DAYS:
            raise HandInRefused(Refusal.UNUSABLE, f"{days} days", f"give a number from 1 to {_MOST_DAYS}")
        return as_text(self._clock() + timedelta(days=days))

    def in_time(self, later: timedelta) -> str:
        """The time so much later."""
        return as_text(self._clock() + later)

    def is_past(self, moment: str) -> bool:
        """Whether it is gone by. '' never is."""
        return bool(moment) and self._clock() >= datetime.fromisoformat(moment)

    def is_within(self, moment: str, seconds: float) -> bool:
        """Whether it is less than so many seconds from now, before or after."""
        return bool(moment) and abs((self._clock() - datetime.fromisoformat(moment)).total_seconds()) < seconds


@dataclass(frozen=True, slots=True)
class _Reader:
    """The connection of one thread. Python ends with a segmentation fault where a connection is closed while another
    thread reads from it: who uses it, or closes it, has the lock."""

    connection: sqlite3.Connection
    lock: threading.Lock = field(default_factory=threading.Lock)


def _closed() -> HandInRefused:
    what = "the ladder is ending; nothing was changed"
    return HandInRefused(Refusal.UNAVAILABLE, what, "try again in a minute", retry_after_s=30)


def as_text(moment: datetime) -> str:
    """In UTC, ISO 8601 with a Z."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def find(db: Database, sql: str, *values: Any) -> sqlite3.Row | None:
    """The first that a query finds, inside a change."""
    cursor = db.execute(sql, values)
    cursor.row_factory = sqlite3.Row
    found: sqlite3.Row | None = cursor.fetchone()
    return found


def insert(db: Database, table: str, values: Mapping[str, Any]) -> int:
    """The id of the new row."""
    made = db[table]
    assert isinstance(made, Table)
    made.insert(dict(values))
    return int(db.execute("SELECT last_insert_rowid()").fetchone()[0])


@contextmanager
def _refusing(path: Path) -> Iterator[None]:
    """Errors of the database as refusals. Whatever was to be changed is not."""
    try:
        yield
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if code in _HELD:
            what, step = "another program holds the ladder's database", "try again in a minute"
        elif code in _FULL:
            what, step = "the disk of the ladder's database is full, or fails", "tell the organiser to free some space"
        else:
            what, step = f"the ladder's database cannot be used ({error})", f"tell the organiser to look at {path.name}"
        raise HandInRefused(Refusal.UNAVAILABLE, f"{what}; nothing was changed", step, retry_after_s=30) from error


def _open(path: Path) -> Database:
    try:
        # For its owner alone: it has hashes of secrets. What SQLite keeps beside it gets the same rights.
        with suppress(FileExistsError):
            # One that is there is not opened here: closing it would end the locks that SQLite holds on it for this
            # process, and another process could then take away the log that this one still writes to.
            os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, OWNER_ONLY))
        if path.is_file():
            path.chmod(OWNER_ONLY)
        connection = sqlite3.connect(path, timeout=BUSY_TIMEOUT_S, isolation_level=None)
        connection.create_function("seen_as", 1, seen_as, deterministic=True)
        db = Database(connection, execute_plugins=False)
        try:
            _prepare(db, path)
        except BaseException:
            db.close()
            raise
        return db
    except OSError as error:
        what = f"{path} cannot be opened ({error.strerror})"
        raise PlatformError(what, "check its folder, its rights and the disk") from None
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if code == sqlite3.SQLITE_NOTADB or code == sqlite3.SQLITE_CORRUPT:
            what, step = f"{path} is damaged ({error})", "restore it from a backup; nothing in it was changed"
        elif code in _HELD:
            what, step = f"another program holds {path}", "end it, and start again"
        else:
            what, step = f"{path} cannot be opened ({error})", "check its folder, its rights and the disk"
        raise PlatformError(what, step) from None


def _prepare(db: Database, path: Path) -> None:
    _use_wal(db)
    db.execute("PRAGMA synchronous = FULL")  # what was confirmed to a client outlives a loss of power
    db.execute("PRAGMA foreign_keys = ON")
    version = _version(db)
    if version == 0 and not db.table_names():
        _script_(db, SCHEMA, version, SCHEMA_VERSION)
    while (version := _version(db)) in MIGRATIONS:
        _script_(db, MIGRATIONS[version], version, version + 1)
    if version != SCHEMA_VERSION:
        raise PlatformError(
            f"{path} has version {version} of the ladder's tables, and this Crosstown knows {SCHEMA_VERSION}",
            "use a Crosstown as new as the one that wrote it",
        )
    found = db.execute("PRAGMA quick_check").fetchone()[0]
    if found != "ok":
        raise PlatformError(f"{path} is damaged ({found})", "restore it from a backup; nothing in it was changed")


def _use_wal(db: Database) -> None:
    """SQLite itself does not wait where two processes change the mode of a new file at once."""
    end_s = time.monotonic() + BUSY_TIMEOUT_S
    while True:
        try:
            db.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF not in _HELD or time.monotonic() >= end_s:
                raise
            time.sleep(0.01)
        else:
            return


def _version(db: Database) -> int:
    return int(db.execute("PRAGMA user_version").fetchone()[0])


def _script_(db: Database, script: str, before: int, version: int) -> None:
    """Run it where the version was `before`, and set the version, all or nothing. Of two processes that start at once
    the second finds it done."""
    try:
        db.conn.executescript(f"BEGIN IMMEDIATE; {script} PRAGMA user_version = {version}; COMMIT;")
    except sqlite3.OperationalError:
        if db.conn.in_transaction:
            db.conn.execute("ROLLBACK")
        if _version(db) == before:
            raise
