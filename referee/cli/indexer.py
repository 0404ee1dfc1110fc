"""Keeps the database up with the records while a run goes on, from a thread of its own."""

import queue
import threading
import time
from pathlib import Path

from leaderboard.index import load_index
from leaderboard.records import MatchRow, match_id_of, read_match
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
        self._records: queue.Queue[tuple[Path, bool] | None] = queue.Queue()
        self._waiting: dict[str, MatchRow] = {}
        self._dropped: set[str] = set()
        self._store: Store | None = None
        self._synced = False
        self._problem = ""
        self._thread = threading.Thread(target=self._work, name="indexer")

    def start(self) -> None:
        """Begin with what exists already. Harmless when it has begun."""
        if self._thread.ident is None:
            self._thread.start()

    def add(self, record: Path) -> None:
        """A record that counts now. Returns at once."""
        self._records.put((record, True))

    def drop(self, record: Path) -> None:
        """What lay here counts no more. Returns at once."""
        self._records.put((record, False))

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
                news = self._records.get(timeout=max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                return True
            if news is None:
                return False
            self._note(*news)
        return True

    def _note(self, record: Path, counts: bool) -> None:
        match_id = match_id_of(record.name)
        self._waiting.pop(match_id, None)
        self._dropped.discard(match_id)
        if not counts:
            self._dropped.add(match_id)
        elif (row := read_match(record).row) is not None:
            self._waiting[match_id] = row

    def _write(self) -> None:
        try:
            if self._store is None:
                self._store = Store(self._database)
            if not self._synced:
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
        index = load_index(self._matches, self._database)
        if index.stale:
            store.keep_only(row.match_id for row in index.rows)
            store.put(index.rows)
        self._synced = True
