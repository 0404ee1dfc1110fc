"""Keeps the database up with the records while a run goes on, from a thread of its own."""

import queue
import threading
import time
from pathlib import Path

from leaderboard.index import load_index
from leaderboard.records import MatchRow, read_match
from leaderboard.run_table import RunTable, keep_table
from leaderboard.store import Store, StoreError

BATCH_S = 0.5
_BATCH_ROWS = 500


class Indexer:
    """One writer. A database that is locked, full or broken costs nothing but the index: the rows wait and are tried
    again, and what is missing at the end is made up for by the next run from the records."""

    def __init__(self, matches: Path, database: Path) -> None:
        self._matches = matches
        self._database = database
        self._records: queue.Queue[Path | None] = queue.Queue()
        self._waiting: list[MatchRow] = []
        self._store: Store | None = None
        self._synced = False
        self._problem = ""
        self._thread = threading.Thread(target=self._work, name="indexer")

    def start(self) -> None:
        """Begin with what is there already. Harmless when it has begun."""
        if self._thread.ident is None:
            self._thread.start()

    def add(self, record: Path) -> None:
        """A record that counts now. Returns at once."""
        self._records.put(record)

    def close(self) -> None:
        """Write what is left, and wait for it."""
        if self._thread.is_alive():
            self._records.put(None)
            self._thread.join()

    def finish(self, table: RunTable) -> str:
        """After `close`: keep the table. Returns what is wrong with the database, '' if nothing."""
        try:
            if self._store is not None and not self._problem:
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

    def _gather(self) -> bool:
        """Records of about `BATCH_S`; False when there will be no more."""
        deadline = time.monotonic() + BATCH_S
        for _ in range(_BATCH_ROWS):
            try:
                record = self._records.get(timeout=max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                return True
            if record is None:
                return False
            if (row := read_match(record).row) is not None:
                self._waiting.append(row)
        return True

    def _write(self) -> None:
        try:
            if self._store is None:
                self._store = Store(self._database)
            if not self._synced:
                self._sync(self._store)
            if self._waiting:
                self._store.put(self._waiting)
        except StoreError as error:
            self._problem = str(error)
            return
        self._waiting.clear()
        self._problem = ""

    def _sync(self, store: Store) -> None:
        """Bring the database to what the records say."""
        index = load_index(self._matches, self._database)
        if index.stale:
            store.keep_only(row.match_id for row in index.rows)
            store.put(index.rows)
        self._synced = True
