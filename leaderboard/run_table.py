"""The standings of one run folder: kept in the database with a fingerprint of all they come from, or computed."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from leaderboard.controls import Counted, apply_controls
from leaderboard.index import fingerprint, load_index
from leaderboard.records import MatchRow
from leaderboard.standings import Entrant, Standing, standings
from leaderboard.store import Store, StoreError, read_snapshot
from referee.record.control import Control

COMPUTED_BY = 1
"""Goes up when the same records give another table."""

_NAME = "standings"


@dataclass(frozen=True, slots=True)
class RunTable:
    """Standings, the number of matches they count, what must be said of them, and the fingerprint of their inputs.

    `kept`: they were taken from the database.
    """

    rows: tuple[Standing, ...]
    matches: int
    caption: str
    fingerprint: str
    kept: bool


def run_table(
    matches: Path,
    database: Path,
    entrants: Sequence[Entrant],
    controls: Sequence[Control] = (),
    missed: Iterable[Sequence[str]] = (),
    *,
    pooled: bool = False,
    faultless: bool = False,
) -> RunTable:
    """The table of the records in `matches`. Reads only. `faultless` leaves out every match with a fault."""
    misses = [tuple(entries) for entries in missed]
    mark = fingerprint(matches, COMPUTED_BY, entrants, controls, misses, pooled, faultless)
    try:
        text = read_snapshot(database, _NAME, mark) if database.exists() else None
    except StoreError:
        text = None
    if text is not None and (kept := _parse(text, mark)) is not None:
        return kept
    counted = apply_controls(load_index(matches, database).rows, controls, misses)
    if faultless:
        counted = without_faults(counted)
    rows = standings(counted, entrants, pooled=pooled)
    return RunTable(tuple(rows), len(counted.rows), counted.caption(), mark, False)


def _parse(text: str, mark: str) -> RunTable | None:
    """A table that was kept; None where someone else wrote it."""
    try:
        kept = json.loads(text)
        rows = tuple(Standing(**row) for row in kept["rows"])
        return RunTable(rows, int(kept["matches"]), str(kept["caption"]), mark, True)
    except (ValueError, TypeError, KeyError):
        return None


def keep_table(store: Store, table: RunTable) -> None:
    """Keep a table for the next who asks, and its ratings for those who ask in SQL. StoreError."""
    rows = [row.to_dict() for row in table.rows]
    content = {"rows": rows, "matches": table.matches, "caption": table.caption}
    store.put_ratings(row for row in rows if row["played"])
    store.keep_snapshot(_NAME, table.fingerprint, json.dumps(content, separators=(",", ":")))


def without_faults(counted: Counted) -> Counted:
    """The same without the matches in which a seat faulted."""
    clean: list[MatchRow] = [row for row in counted.rows if not any(seat.fault for seat in row.seats)]
    return Counted(tuple(clean), counted.annulled, counted.rejudged, counted.notes, counted.forfeits)
