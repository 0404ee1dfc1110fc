"""The standings of one run folder: kept in the database with a fingerprint of all they come from, or computed."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from leaderboard.account import NO_TABLE, Account, FormatTable, Look, no_account
from leaderboard.controls import Counted, apply_controls
from leaderboard.index import fingerprint, load_index
from leaderboard.ratings.live import LiveTable
from leaderboard.ratings.registry import MODELS
from leaderboard.records import MatchRow
from leaderboard.standings import Entrant, Pool, Standing, rate_pools, standings
from leaderboard.store import Store, StoreError, put_snapshot, read_snapshot
from referee.record.journal import Control

COMPUTED_BY = 8
"""Goes up when the same records give another table."""

_NAME = "standings"
_LIVE = "live"


@dataclass(frozen=True, slots=True)
class RunTable:
    """Standings, the number of matches they count, what must be said of them, the fingerprint of their inputs, and the
    format's own table.

    `kept`: they were taken from the database. `annulled` matches have a record and do not count. `live` are live tables
    to go on from when matches are added.
    """

    rows: tuple[Standing, ...]
    matches: int
    caption: str
    fingerprint: str
    kept: bool
    format_table: FormatTable = NO_TABLE
    annulled: int = 0
    live: Mapping[Pool, LiveTable] = field(default_factory=dict)


def run_table(
    matches: Path,
    database: Path,
    entrants: Sequence[Entrant],
    controls: Sequence[Control] = (),
    look: Look = no_account,
    *,
    plan: str = "",
    pooled: bool = False,
    faultless: bool = False,
) -> RunTable:
    """The table of the records in `matches`. Reads only. `faultless` leaves out every match with a fault.

    `look` is asked only when nothing is kept; what it computes with, besides records and controls, is named by `plan`.
    """
    mark = fingerprint(matches, COMPUTED_BY, list(MODELS), entrants, controls, plan, pooled, faultless)
    try:
        text = read_snapshot(database, _NAME, mark) if database.exists() else None
    except StoreError:
        text = None
    if text is not None and (kept := _parse(text, mark)) is not None:
        return kept
    index = load_index(matches, database)
    counted, account = counted_rows(index.rows, controls, look)
    counted = without_faults(counted) if faultless else counted
    ordinary = not (pooled or faultless)
    ratings = rate_pools(
        counted.rows,
        pooled=pooled,
        kept=kept_live(database) if ordinary else {},
        settled=index.settled,
    )
    rows = standings(counted, entrants, pooled=pooled, ratings=ratings)
    live = {pool: found.settled for pool, found in ratings.items()} if ordinary else {}
    return RunTable(
        tuple(rows), len(counted.rows), counted.caption(), mark, False, account.table, counted.annulled, live
    )


def counted_matches(
    matches: Path, database: Path, controls: Sequence[Control], look: Look, *, faultless: bool = False
) -> tuple[Counted, Account]:
    """The matches that count of the records in `matches`, and what the schedule says of them. Reads only."""
    counted, account = counted_rows(load_index(matches, database).rows, controls, look)
    return without_faults(counted) if faultless else counted, account


def counted_rows(rows: Sequence[MatchRow], controls: Sequence[Control], look: Look) -> tuple[Counted, Account]:
    """The same of matches that were read already."""
    account = look(rows)
    return apply_controls(rows, controls, account.missed), account


def _parse(text: str, mark: str) -> RunTable | None:
    """A table that was kept; None where someone else wrote it."""
    try:
        kept = json.loads(text)
        rows = tuple(Standing.from_dict(row) for row in kept["rows"])
        own = FormatTable(**kept["format_table"])
        return RunTable(rows, int(kept["matches"]), str(kept["caption"]), mark, True, own, int(kept["annulled"]))
    except (ValueError, TypeError, KeyError, OverflowError, RecursionError):
        return None


def keep_table(store: Store, table: RunTable) -> None:
    """Keep a table for the next who asks, and its ratings for those who ask in SQL. StoreError."""
    rows = [row.to_dict() for row in table.rows]
    content = {
        "rows": rows,
        "matches": table.matches,
        "caption": table.caption,
        "annulled": table.annulled,
        "format_table": asdict(table.format_table),
    }
    store.put_ratings(row for row in rows if row["mu"] is not None)
    store.keep_snapshot(_NAME, table.fingerprint, json.dumps(content, separators=(",", ":")))
    if table.live:
        store.keep_snapshot(_LIVE, str(COMPUTED_BY), _live_text(table.live))


def kept_live(database: Path) -> dict[Pool, LiveTable]:
    """The live tables that were kept; none where the database cannot be read, or somebody else wrote them."""
    try:
        text = read_snapshot(database, _LIVE, str(COMPUTED_BY)) if database.exists() else None
    except StoreError:
        text = None
    return {} if text is None else _parse_live(text)


def keep_live(database: Path, live: Mapping[Pool, LiveTable]) -> None:
    """Keep live tables while a run goes on, which has the only `Store`. StoreError."""
    put_snapshot(database, _LIVE, str(COMPUTED_BY), _live_text(live))


def _live_text(live: Mapping[Pool, LiveTable]) -> str:
    return json.dumps([[*pool, table.to_dict()] for pool, table in live.items()], separators=(",", ":"))


def _parse_live(text: str) -> dict[Pool, LiveTable]:
    try:
        return {(str(game), int(players)): LiveTable.from_dict(table) for game, players, table in json.loads(text)}
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError):
        return {}


def without_faults(counted: Counted) -> Counted:
    """The same without the matches in which a seat faulted."""
    clean: list[MatchRow] = [row for row in counted.rows if not any(seat.fault for seat in row.seats)]
    return Counted(tuple(clean), counted.annulled, counted.rejudged, counted.notes, counted.forfeits)
