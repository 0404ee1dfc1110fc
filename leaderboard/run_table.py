"""The standings of one run folder: kept in the database with a fingerprint of all they come from, or computed."""

import json
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from leaderboard.controls import Counted, apply_controls
from leaderboard.index import TableIndex, load_index, read_table
from leaderboard.match_table import table_of
from leaderboard.ratings.live import LiveTable
from leaderboard.ratings.registry import MODELS
from leaderboard.records import MatchRow
from leaderboard.schedule_view import NO_TABLE, FormatTable, ScheduleView, view_schedule
from leaderboard.standings import Entrant, Pool, Standing, rate_pools, standings
from leaderboard.store import Store, StoreError, put_snapshot, read_snapshot
from referee.errors import BusyError, TournamentError
from referee.run.lock import RunLock
from referee.run.run import Run
from referee.run.seal import SEAL_CHARS, is_sealed, seal_of

COMPUTED_BY = 17
"""Goes up when the same records give another table."""

WORTH_KEEPING_S = 1.0
"""What takes longer is kept in the database for the next who asks."""

_NAME = "standings"
_LIVE = "live"


@dataclass(frozen=True, slots=True)
class RunTable:
    """Standings, the number of matches they count, what must be said of them, the fingerprint of their inputs, and the
    format's own table.

    `kept`: they were taken from the database. `annulled` matches have a record and do not count. `live` are live tables
    to go on from when matches are added. `run` is the identity of the run.
    """

    rows: tuple[Standing, ...]
    matches: int
    caption: str
    fingerprint: str
    kept: bool
    format_table: FormatTable = NO_TABLE
    annulled: int = 0
    live: Mapping[Pool, LiveTable] = field(default_factory=dict)
    run: str = ""


NO_STANDINGS = RunTable((), 0, "", "", kept=False)


def run_table(
    run: Run,
    *,
    pooled: bool = False,
    faultless: bool = False,
    anchors: Mapping[str, float] | None = None,
    database: Path | None = None,
    keep: bool = False,
    read: TableIndex | None = None,
) -> RunTable:
    """The standings of a run as of now, from its database if they are kept there. `faultless` leaves out every match
    with a fault. `anchors`, in Elo points by entry id, take the place of those of the run.

    With `keep` a table that took long to compute is kept; while a runner is at work, only the live table, which the
    next call goes on from. With `database`, that one is read instead of the run's, and nothing is kept. With
    `read`, which is what the records say, no database is used.
    """
    started_s = time.monotonic()
    where = database or run.folder.database
    known = entrants(run)
    fixed = run.rating_anchors if anchors is None else anchors
    mark = run.records.fingerprint(
        COMPUTED_BY,
        list(MODELS),
        known,
        tuple(run.controls),
        run.schedule_id,
        pooled,
        faultless,
        sorted(fixed.items()),
        sorted(run.provider_voids.items()),
        run.undecided,
    )
    try:
        text = read_snapshot(where, _NAME, mark) if read is None and where.exists() else None
    except StoreError:
        text = None
    if text is not None and (kept := _parse(text, mark, run.journal.identity)) is not None:
        return kept
    index = read or read_table(run.folder, where)
    counted, view = counted_rows(run, index.rows)
    counted = replace(without_faults(counted) if faultless else counted, anchors=fixed)
    ordinary = not (pooled or faultless)
    ratings = rate_pools(
        counted.rows,
        pooled=pooled,
        kept=kept_live(where, run.journal.identity) if ordinary and read is None else {},
        settled=index.settled,
        approvals=counted.approvals,
        anchors=counted.anchors,
    )
    rows = standings(counted, known, pooled=pooled, ratings=ratings)
    live = {pool: found.settled for pool, found in ratings.items()} if ordinary else {}
    made = RunTable(
        tuple(rows),
        len(counted.rows),
        counted.caption(),
        mark,
        False,
        view.table,
        counted.annulled,
        live,
        run.journal.identity,
    )
    ordinary = ordinary and anchors is None
    if keep and database is None and ordinary and time.monotonic() - started_s > WORTH_KEEPING_S:
        with suppress(TournamentError, StoreError):
            try:
                with RunLock(run.folder.lock, wait_s=0), Store(where, check=False) as store:  # it was just read
                    keep_table(store, made)
            except BusyError:
                keep_live(where, made.live, made.run)
    return made


def entrants(run: Run) -> list[Entrant]:
    """All who entered, those without a match and those who were added later too."""
    return [Entrant(bot.entry_id, bot.name, bot.version, bot.games) for bot in run.participants]


def counted_matches(run: Run, *, faultless: bool = False) -> Counted:
    """The matches of a run that count, each as a row."""
    counted, _ = counted_rows(run, load_index(run.folder).rows)
    return without_faults(counted) if faultless else counted


def counted_table(run: Run, *, faultless: bool = False) -> Counted:
    """The same as columns."""
    counted, _ = counted_rows(run, read_table(run.folder).rows)
    return without_faults(counted) if faultless else counted


def counted_rows(run: Run, rows: Sequence[MatchRow]) -> tuple[Counted, ScheduleView]:
    """The same of matches that were read already, and what the schedule says of them."""
    view = view_schedule(run, rows)
    return with_notes(apply_controls(rows, run.controls, view.missed), run), view


def with_notes(counted: Counted, run: Run) -> Counted:
    """The same with what the journal of the run says of its bots besides control events."""
    notes = {**(counted.notes or {})}
    for entry_id, number in run.provider_voids.items():
        attempts = "1 attempt was" if number == 1 else f"{number} attempts were"
        said = f"{attempts} void because it got no answer from its provider"
        notes[entry_id] = f"{notes[entry_id]}; {said}" if entry_id in notes else said
    return replace(counted, notes=notes, anchors=run.rating_anchors, undecided=run.undecided)


def _sealed(name: str, mark: str, run: str, content: str) -> str:
    return seal_of(name, mark, run, content) + content


def _opened(text: str | None, name: str, mark: str, run: str) -> str | None:
    """What was kept for this run by this user; None for anything else."""
    if text is None:
        return None
    seal, content = text[:SEAL_CHARS], text[SEAL_CHARS:]
    return content if is_sealed(seal, name, mark, run, content) else None


def _parse(text: str, mark: str, run: str) -> RunTable | None:
    """A table that was kept; None where someone else wrote it."""
    content = _opened(text, _NAME, mark, run)
    if content is None:
        return None
    try:
        kept = json.loads(content)
        rows = tuple(Standing.from_dict(row) for row in kept["rows"])
        own = FormatTable(**kept["format_table"])
        matches, annulled = int(kept["matches"]), int(kept["annulled"])
        return RunTable(rows, matches, str(kept["caption"]), mark, True, own, annulled, run=run)
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
    text = json.dumps(content, separators=(",", ":"))
    store.keep_snapshot(_NAME, table.fingerprint, _sealed(_NAME, table.fingerprint, table.run, text))
    if table.live:
        store.keep_snapshot(_LIVE, str(COMPUTED_BY), _live_text(table.live, table.run))


def kept_live(database: Path, run: str) -> dict[Pool, LiveTable]:
    """The live tables that were kept; none where the database cannot be read, or somebody else wrote them."""
    try:
        text = read_snapshot(database, _LIVE, str(COMPUTED_BY)) if database.exists() else None
    except StoreError:
        text = None
    content = _opened(text, _LIVE, str(COMPUTED_BY), run)
    return {} if content is None else _parse_live(content)


def keep_live(database: Path, live: Mapping[Pool, LiveTable], run: str) -> None:
    """Keep live tables while a run goes on, which has the only `Store`. StoreError."""
    put_snapshot(database, _LIVE, str(COMPUTED_BY), _live_text(live, run))


def _live_text(live: Mapping[Pool, LiveTable], run: str) -> str:
    text = json.dumps([[*pool, table.to_dict()] for pool, table in live.items()], separators=(",", ":"))
    return _sealed(_LIVE, str(COMPUTED_BY), run, text)


def _parse_live(text: str) -> dict[Pool, LiveTable]:
    try:
        return {(str(game), int(players)): LiveTable.from_dict(table) for game, players, table in json.loads(text)}
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError):
        return {}


def without_faults(counted: Counted) -> Counted:
    """The same without the matches in which a seat faulted."""
    rows = table_of(counted.rows)
    return replace(counted, rows=rows.only(~rows.have_fault))
