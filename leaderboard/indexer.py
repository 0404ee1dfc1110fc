"""Keeps the database up with the records: while a run goes on, from a thread of its own; or makes it again."""

import queue
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from leaderboard.index import TableIndex, keep_columns, read_batches, read_table
from leaderboard.records import MatchRow, match_of
from leaderboard.store import Store, StoreError
from referee.errors import TournamentError
from referee.record.reader import Record
from referee.record.store import FileStamp, match_id_of
from referee.run.folder import RunFolder
from referee.run.lock import RunLock
from referee.run.run import Run

if TYPE_CHECKING:
    from leaderboard.run_table import RunTable

BATCH_S = 0.5
_BATCH_ROWS = 500


class _HurriedError(Exception):
    """Nobody wants to wait for the records of earlier runs of the command."""


class Indexer:
    """One writer. A database that is locked, full or broken costs nothing but the index: the rows wait and are tried
    again, and what is missing at the end is made up for by the next run from the records."""

    def __init__(self, run: RunFolder) -> None:
        self._run = run
        self._records: queue.Queue[tuple[Path, Record | None] | None] = queue.Queue()
        self._waiting: dict[str, MatchRow] = {}
        self._dropped: set[str] = set()
        self._store: Store | None = None
        self._synced = False
        self._hurried = threading.Event()
        self._problem = ""
        self._thread = threading.Thread(target=self._work, name="indexer")

    def start(self) -> None:
        """Begin with what exists already. Harmless when it has begun."""
        if self._thread.ident is None:
            self._thread.start()

    def add(self, path: Path, record: Record) -> None:
        """A record that counts now and lies at `path`. Returns at once."""
        self._records.put((path, record))

    def drop(self, path: Path) -> None:
        """What lay here counts no more. Returns at once."""
        self._records.put((path, None))

    def close(self, *, hurry: bool = False) -> None:
        """Write what is left, and wait for it. With `hurry` records of earlier runs of the command that the database
        lacks, which may be very many, are left to the next run."""
        if hurry:
            self._hurried.set()
        if self._thread.is_alive():
            self._records.put(None)
            self._thread.join()

    def finish(self, table: "RunTable | None") -> str:
        """After `close`: keep the table, if there is one. Returns what is wrong with the database, '' if nothing."""
        from leaderboard.run_table import keep_table

        try:
            if table is not None and self._store is not None and not self._problem:
                keep_table(self._store, table)
        except StoreError as error:
            self._problem = str(error)
        if self._store is not None:
            self._store.close()
        return self._problem

    def _work(self) -> None:
        more = True
        while more:
            more = self._gather()
            self._write()

            # Needed at the end. It takes long, so it is done while matches are played.
            import leaderboard.run_table  # noqa: F401

    def _gather(self) -> bool:
        """Records of about `BATCH_S`; False when there will be no more."""
        deadline = time.monotonic() + BATCH_S
        for _ in range(_BATCH_ROWS):
            try:
                news = self._records.get(timeout=max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                return True
            if news is None:
                return False
            self._note(*news)
        return True

    def _note(self, path: Path, record: Record | None) -> None:
        match_id = match_id_of(path)
        self._waiting.pop(match_id, None)
        self._dropped.discard(match_id)
        if record is None:
            self._dropped.add(match_id)
            return
        with suppress(OSError):  # it was set aside since
            if (row := match_of(record, FileStamp.of(path)).row) is not None:
                self._waiting[match_id] = row

    def _write(self) -> None:
        try:
            if self._store is None:
                self._store = Store(self._run.database)
            if not self._synced:
                with suppress(_HurriedError):
                    self._sync(self._store)
            if self._dropped:
                self._store.remove(self._dropped)
            if self._waiting:
                self._store.put(self._waiting.values())
        except StoreError as error:
            self._problem = str(error)
            return
        self._waiting.clear()
        self._dropped.clear()
        self._problem = ""

    def _sync(self, store: Store) -> None:
        """Bring the database to what the records say."""
        self._check()
        number = 0
        for found in read_batches(self._run, check=self._check):
            self._check()
            store.put(found.read)
            number += len(found.rows)
        if store.number != number:
            store.keep_only(row.match_id for found in read_batches(self._run, check=self._check) for row in found.rows)
        self._synced = True

    def _check(self) -> None:
        if self._hurried.is_set():
            raise _HurriedError


def rebuild_database(run: Run) -> TableIndex:
    """Make the database again from the records. The old one is replaced only when the new one is complete. StoreError,
    BusyError."""
    from leaderboard.run_table import keep_table, run_table

    database = run.folder.database
    fresh = database.with_name(f".{database.name}.new")
    with RunLock(run.folder.lock):
        _remove(fresh)
        try:
            with Store(fresh) as store:
                for found in read_batches(run.folder, fresh):
                    store.put(found.rows)
                    keep_columns(fresh, found)
                keep_table(store, run_table(run, database=fresh))
            _remove(database)
            fresh.replace(database)
        finally:
            _remove(fresh)
    return read_table(run.folder)


def forget_match(run: Run, match_id: str) -> None:
    """Take the row of a match that counts no more out of the database. Where that does not work now, the next run of
    the command does it."""
    database = run.folder.database
    if database.exists():
        with suppress(StoreError, TournamentError), RunLock(run.folder.lock), Store(database, check=False) as store:
            store.remove([match_id])


def _remove(database: Path) -> None:
    for suffix in ("", "-wal", "-shm"):
        database.with_name(database.name + suffix).unlink(missing_ok=True)
