"""The matches of a run in one file: replays in a zip, lines of JSON, rows of CSV, or a database."""

import csv
import io
import json
import os
import sqlite3
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from leaderboard.controls import Rulings
from leaderboard.export.cells import cell
from leaderboard.export.document import match_document
from leaderboard.export.page import replay_page
from leaderboard.index import load_index
from leaderboard.match_list import Filter
from leaderboard.records import MatchRow
from leaderboard.run_table import counted_rows
from leaderboard.schedule_view import Pairing, view_schedule
from leaderboard.store import Store, StoreError
from referee.errors import PlatformError
from referee.folders import temporary_beside
from referee.record import Record, RecordError, read_record
from referee.record.narration import EVERYTHING
from referee.run.folder import output_file
from referee.run.run import Run
from referee.texts import plural

FORMATS: Final = {".zip": "html", ".jsonl": "jsonl", ".csv": "csv", ".db": "sqlite", ".sqlite": "sqlite"}
"""By the ending of a file."""

_HEADS: Final = ("match_id", "place", "block")
_PAIRING_HEADS: Final = ("stage", "round", "table")
"""Empty where the format does not pair round by round."""
_MORE_HEADS: Final = ("game", "created_at", "reason", "detail", "decisions", "wall_us")
_SEAT_HEADS: Final = ("entry_id", "name", "version", "rank", "fault", "total_us", "lag_us")


@dataclass(frozen=True, slots=True)
class Exported:
    """How many matches are in the file, and why others are not."""

    matches: int
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Chosen:
    """What is to be exported. `seating`: where each match sits, of a format that pairs round by round, by match id.
    `open` matches are wanted, too, and may not be shown yet."""

    rows: Sequence[MatchRow]
    seating: Mapping[str, Pairing]
    open: int = 0

    @property
    def left_out(self) -> tuple[str, ...]:
        """Why some are not among them."""
        if not self.open:
            return ()
        seed = "its seed" if self.open == 1 else "their seeds"
        return (f"{plural(self.open, 'match')}: further matches are to be played with {seed}",)


def chosen(run: Run, wanted: Filter) -> Chosen:
    """The matches of a run that count, are wanted, and may be shown: none of a block that is not complete."""
    index = load_index(run.folder)
    counted, view = counted_rows(run, index.rows)
    ahead = view_schedule(run, index.rows, look_ahead=True).ahead
    found = [row for row in counted.rows if wanted.takes_row(row)]
    rows = [row for row in found if not ahead.is_open(row.game, row.block)]
    return Chosen(rows, view.seating, len(found) - len(rows))


def write_run(
    run: Run, matches: Chosen, file: Path, style: str, report: Callable[[int], None] = lambda _done: None
) -> Exported:
    """Write what is `chosen` to `file` as one of `FORMATS`. UsageError, PlatformError; the file is then as before."""
    rows, seating = matches.rows, matches.seating
    try:
        with _replacing(file) as made:
            match style:
                case "html":
                    done = _write_zip(run, rows, seating, made, report)
                case "jsonl":
                    done = _write_lines(run, rows, made, report)
                case "csv":
                    done = _write_csv(rows, seating, made)
                case _:
                    done = _write_database(rows, seating, made)
        return replace(done, left_out=(*matches.left_out, *done.left_out))
    except OSError as error:
        raise PlatformError(f"cannot write {file}: {error.strerror}", "name another file") from error
    except (StoreError, sqlite3.Error) as error:
        raise PlatformError(str(error), "name another file") from error


@contextmanager
def _replacing(file: Path) -> Iterator[Path]:
    """A file to write, which takes the place of `file` once it is complete. UsageError if that is no ordinary file."""
    file = output_file(file, "name another file")
    made = temporary_beside(file)
    try:
        yield made
        made.replace(file)
    finally:
        for suffix in ("", "-wal", "-shm"):
            with suppress(OSError):
                made.with_name(made.name + suffix).unlink()


def _records(
    run: Run, rows: Iterable[MatchRow], left_out: list[str], report: Callable[[int], None]
) -> Iterator[tuple[MatchRow, Record]]:
    for done, row in enumerate(rows):
        report(done)
        try:
            yield row, read_record(run.records.at(row.stamp))
        except RecordError as error:
            left_out.append(f"{row.match_id}: {error}")


def _write_zip(
    run: Run, rows: Sequence[MatchRow], seating: Mapping[str, Pairing], made: Path, report: Callable[[int], None]
) -> Exported:
    left_out: list[str] = []
    rulings, number = Rulings(run.controls), 0
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for row, record in _records(run, rows, left_out, report):
            ruled = rulings.about(row.match_id, row.seats)
            # A page is compressed inside: what is left is hardly worth the time.
            archive.writestr(f"{row.match_id}.html", replay_page(record, [EVERYTHING], ruled=ruled), zipfile.ZIP_STORED)
            number += 1
        archive.writestr("matches.csv", _csv_of(rows, seating))
    return Exported(number, tuple(left_out))


def _write_lines(run: Run, rows: Sequence[MatchRow], made: Path, report: Callable[[int], None]) -> Exported:
    left_out: list[str] = []
    number = 0
    with made.open("w", encoding="ascii") as file:
        for row, record in _records(run, rows, left_out, report):
            ranking = [seat.rank for seat in row.seats]
            file.write(json.dumps({**match_document(record), "counts_with": ranking}, separators=(",", ":")) + "\n")
            number += 1
        _sync(file)
    return Exported(number, tuple(left_out))


def _write_csv(rows: Sequence[MatchRow], seating: Mapping[str, Pairing], made: Path) -> Exported:
    with made.open("w", encoding="utf-8", newline="") as file:
        file.write(_csv_of(rows, seating))
        _sync(file)
    return Exported(len(rows))


def _csv_of(rows: Sequence[MatchRow], seating: Mapping[str, Pairing]) -> str:
    """A row for each match, with as many columns of seats as the largest match has."""
    seats = max((len(row.seats) for row in rows), default=0)
    text = io.StringIO()
    writer = csv.writer(text)
    seat_heads = [f"{head}_{seat}" for seat in range(seats) for head in _SEAT_HEADS]
    writer.writerow([*_HEADS, *_PAIRING_HEADS, *_MORE_HEADS, *seat_heads])
    for row in rows:
        at = seating.get(row.match_id)
        values = [getattr(row, head) for head in _HEADS]
        values += [None, None, None] if at is None else [at.stage, at.round, at.table or None]
        values += [getattr(row, head) for head in _MORE_HEADS]
        values += [getattr(seat, head) for seat in row.seats for head in _SEAT_HEADS]
        writer.writerow(map(cell, values))
    return text.getvalue()


_PAIRINGS = """CREATE TABLE pairings (
    match_id TEXT PRIMARY KEY REFERENCES matches (match_id),
    stage TEXT NOT NULL,
    round INTEGER NOT NULL,
    table_number INTEGER
)"""


def _write_database(rows: Sequence[MatchRow], seating: Mapping[str, Pairing], made: Path) -> Exported:
    """The tables of `crosstown.db`, see docs/database.md, and one that says where each match was paired."""
    with Store(made) as store:
        store.put(rows)
    paired = [(row.match_id, seating[row.match_id]) for row in rows if row.match_id in seating]
    with closing(sqlite3.connect(made)) as database:  # one file, which needs no others beside it
        database.execute("PRAGMA journal_mode = DELETE")
        with database:
            database.execute(_PAIRINGS)
            places = [(match_id, at.stage, at.round, at.table or None) for match_id, at in paired]
            database.executemany("INSERT INTO pairings VALUES (?, ?, ?, ?)", places)
    return Exported(len(rows))


def _sync(file: io.TextIOWrapper) -> None:
    file.flush()
    os.fsync(file.fileno())
