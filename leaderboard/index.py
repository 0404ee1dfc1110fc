"""All matches of a run folder: from the database where it is up to date, from the records where it is not.

Rows are read one by one (`load_index`), or as columns (`read_table`, `read_columns`), which is much quicker where there
are many. Columns are made of the rows of a batch of records: an archive, or some thousand files. They are kept in the
database, and taken from there as long as none of these records has changed.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from leaderboard.records import MatchRow, ReadMatch, read_match
from leaderboard.store import Batches, StoreError, find_rows, read_range, read_rows
from referee.record.format import RecordError
from referee.record.journal import Anchors, read_anchors
from referee.record.store import Batch, FileStamp, record_name
from referee.run.folder import RunFolder

if TYPE_CHECKING:
    from leaderboard.match_table import Columns, MatchTable

STRAGGLING = 1000
"""A match that as many later ones have overtaken was given up or cancelled, rather than is still being played."""

BATCH_FILES = 8192
"""Records with a file of their own in a batch."""

_WORTH_KEEPING = 1000
"""Rows of a smaller batch are quickly made columns of again."""


@dataclass(frozen=True, slots=True)
class Index:
    """`rows` are the rated matches by place; `unusable` what else lies there and does not count.

    `stale`: the database did not have exactly these rows; `read` are those that it lacked. `settled`: the place of the
    first match without a result; of matches that more than `STRAGGLING` later ones have overtaken none is waited for.
    """

    rows: tuple[MatchRow, ...]
    unusable: tuple[ReadMatch, ...]
    stale: bool
    read: tuple[MatchRow, ...] = ()

    @property
    def settled(self) -> int:
        return settled_place([row.place for row in self.rows])


def settled_place(places: Sequence[int]) -> int:
    """See `Index.settled`. `places` are those of the rated matches, ascending."""
    gap = next((place for place, found in enumerate(places) if found != place), len(places))
    return max(gap, int(places[-STRAGGLING])) if len(places) >= STRAGGLING else gap


class _Reader:
    """Finds the rows of records. The digests of the journal are read once, when the first record is."""

    def __init__(self, run: RunFolder, check: Callable[[], None] = lambda: None) -> None:
        self._run = run
        self._check = check

    @cached_property
    def _anchors(self) -> Anchors:
        return read_anchors(self._run.journal)

    def read(self, match_id: str, path: Path) -> ReadMatch:
        """What the record says."""
        self._check()
        return read_match(path, self._anchors.digests.get(match_id, ""))

    def rows_of(
        self, stamps: Mapping[str, FileStamp], known: Mapping[str, MatchRow]
    ) -> tuple[list[MatchRow], list[MatchRow], list[ReadMatch]]:
        """The rows of these records by place, those of them that had to be read, and what else there is."""
        rows: list[MatchRow] = []
        read: list[MatchRow] = []
        unusable: list[ReadMatch] = []
        for match_id, stamp in stamps.items():
            row = known.get(match_id)
            if row is None or row.stamp != stamp:
                found = self.read(match_id, self._run.records.at(stamp))
                if found.row is None:
                    unusable.append(found)
                    continue
                row = found.row
                read.append(row)
            rows.append(row)
        rows.sort(key=lambda row: (row.place, row.match_id))
        return rows, read, unusable


def load_index(
    run: RunFolder,
    known: Mapping[str, MatchRow] | None = None,
    database: Path | None = None,
    *,
    check: Callable[[], None] = lambda: None,
) -> Index:
    """What the records of a run say. Reads only; never fails because of the database.

    The database (that of the run, or another one) only saves time: its row counts if the record's file is unchanged. A
    record that is read counts if it is the one that the journal has a digest of, or if the journal has none of that
    match. `known` are rows of before, by match id, to be used instead of the database. `check` is called before each
    record that is read; it may raise what shall end this.
    """
    database = database or run.database
    if known is None:
        try:
            known = {row.match_id: row for row in read_rows(database)} if database.exists() else {}
        except StoreError:
            known = {}
    rows, read, unusable = _Reader(run, check).rows_of(run.records.stamps(), known)
    return Index(tuple(rows), tuple(unusable), bool(read) or len(known) != len(rows), tuple(read))


@dataclass(frozen=True, slots=True)
class TableIndex:
    """As `Index`, with the rows as columns."""

    rows: "MatchTable"
    unusable: tuple[ReadMatch, ...]

    @property
    def settled(self) -> int:
        return settled_place(self.rows.numbers["place"].tolist())


def read_table(run: RunFolder, database: Path | None = None) -> TableIndex:
    """As `load_index`, but the rows are columns, of which a row is made where one is asked for."""
    from leaderboard.match_table import columns_of, joined

    reader = _Reader(run)
    unusable: list[ReadMatch] = []

    def parts() -> Iterator["Columns"]:
        for columns in read_columns(run, database):
            yield columns
            again = [reader.read(record_name(path), path) for path in map(run.records.folder.joinpath, columns.others)]
            unusable.extend(found for found in again if found.row is None)
            yield columns_of([found.row for found in again if found.row is not None])

    return TableIndex(joined(parts(), _fetcher(run, database or run.database)), tuple(unusable))


@dataclass(frozen=True, slots=True)
class BatchRows:
    """The rows of a batch of records by place, those of them that the database lacked, and what else there is."""

    batch: Batch
    rows: Sequence[MatchRow]
    read: Sequence[MatchRow]
    unusable: Sequence[ReadMatch]


def read_batches(
    run: RunFolder, database: Path | None = None, *, check: Callable[[], None] = lambda: None
) -> Iterator[BatchRows]:
    """As `load_index`, batch by batch, so that the rows of one batch at a time are there."""
    reader = _Reader(run, check)
    for batch in run.records.batches(BATCH_FILES):
        stamps = batch.stamps()
        yield BatchRows(batch, *reader.rows_of(stamps, _known(database or run.database, stamps)))


def keep_columns(database: Path, found: BatchRows) -> "Columns":
    """The columns of a batch, which are kept in the database if that is worth it and can be done."""
    from leaderboard.match_table import columns_of

    columns = columns_of(found.rows, [item.path.name for item in found.unusable])
    if len(found.rows) >= _WORTH_KEEPING:
        with suppress(StoreError):
            parts = dict(zip(_PARTS, columns.packed(), strict=True))
            Batches(database).put(found.batch.name, found.batch.mark, parts)
    return columns


def read_columns(run: RunFolder, database: Path | None = None, *, listed: bool = False) -> Iterator["Columns"]:
    """The rated matches of each batch of records; with `listed` only the columns that lists need. What the database
    lacks is read from its rows, or from records, and is kept there if it can be. RecordError if an archive is damaged.
    """
    where = database or run.database
    kept = Batches(where)
    reader = _Reader(run)
    names: list[str] = []
    made = False
    for batch in run.records.batches(BATCH_FILES):
        names.append(batch.name)
        if (columns := _kept(kept, batch, listed=listed)) is not None:
            yield columns
            continue
        stamps = batch.stamps()
        made = True
        yield keep_columns(where, BatchRows(batch, *reader.rows_of(stamps, _known(where, stamps))))
    if made:
        with suppress(StoreError):
            kept.keep_only(names)


_PARTS = ("listed", "counted")


def _kept(kept: Batches, batch: Batch, *, listed: bool) -> "Columns | None":
    from leaderboard.match_table import unpacked

    try:
        parts = kept.read(batch.name, batch.mark, _PARTS[:1] if listed else _PARTS)
    except StoreError:
        return None
    return None if parts is None else unpacked(parts[0], None if listed else parts[1])


def _known(database: Path, stamps: Mapping[str, FileStamp]) -> dict[str, MatchRow]:
    """The rows that the database has of these records, and perhaps of others."""
    if not stamps:
        return {}
    try:
        return {row.match_id: row for row in read_range(database, min(stamps), max(stamps))}
    except StoreError:
        return {}


def table_of_read(run: RunFolder, parts: Iterable["Columns"]) -> TableIndex:
    """The same of records that were read already. Rows that are asked for are read from records, whatever the database
    says."""
    from leaderboard.match_table import joined

    return TableIndex(joined(parts, _fetcher(run, None)), ())


def _fetcher(run: RunFolder, database: Path | None) -> Callable[[Sequence[tuple[str, str]]], Iterable[MatchRow]]:
    """Finds rows by match id and file name: in the database if there is one, or in their records. RecordError if a
    record is gone or damaged since its columns were made."""
    reader = _Reader(run)

    def fetch(wanted: Sequence[tuple[str, str]]) -> Iterator[MatchRow]:
        try:
            rows = [] if database is None else find_rows(database, [match_id for match_id, _ in wanted])
            known = {row.match_id: row for row in rows}
        except StoreError:
            known = {}
        for match_id, name in wanted:
            path = run.records.folder / name
            row = known.get(match_id)
            try:
                fits = row is not None and row.stamp == FileStamp.of(path)
            except OSError as error:
                raise RecordError(f"{path}: {error.strerror}", "run the command again") from error
            if row is None or not fits:
                found = reader.read(record_name(path), path)
                if found.row is None:
                    raise RecordError(f"{path}: {found.problem}", "run the command again")
                row = found.row
            yield row

    return fetch
