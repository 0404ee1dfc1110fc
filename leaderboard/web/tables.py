"""What the pages of a run show, computed when a record came or something was decided, and kept until then.

A long computation goes on in a thread of its own. Until it ends, readers are shown what was computed before.
"""

import logging
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from threading import Condition, Lock, Thread

from starlette.exceptions import HTTPException
from starlette.requests import Request

from leaderboard.comparison import Compared, comparison_of
from leaderboard.controls import Counted, apply_controls, paired_rows
from leaderboard.index import Index, load_index
from leaderboard.match_table import table_of
from leaderboard.ratings.live import LiveTable, Way
from leaderboard.records import MatchRow, ReadMatch, SeatRow
from leaderboard.report import PoolReport, pool_report
from leaderboard.results import is_person, outcome_for
from leaderboard.run_table import kept_live, with_notes
from leaderboard.schedule_view import Ahead, FormatTable, Pairing, ScheduleView
from leaderboard.standings import Pool, Standing, pools_of, rate_pools, standings
from leaderboard.web.facts import FactsOf, RunFacts, facts_of
from leaderboard.web.watching import why_not_watched
from referee.record import RecordError
from referee.record.reader import read_header
from referee.record.store import match_id_of
from referee.run.folder import RunFolder
from referee.run.journal import identity_of
from referee.texts import one_line

QUICK_S = 1.0
"""A computation that took less the last time is waited for."""

AGAIN_S = 10.0
"""After a computation that failed it is tried again so much later."""

PATIENCE_S = 5.0
"""How long a page waits for the first computation of all."""

DECIDED = (
    "Matches were annulled or judged again, or bots have left or come since: all ratings are being computed again, and"
    " these are the tables of before."
)


@dataclass(frozen=True, slots=True)
class EntryMatch:
    """One match of an entry, and its seats there: several in a match against itself."""

    row: MatchRow
    seats: tuple[SeatRow, ...]

    @property
    def seat(self) -> SeatRow:
        """Its first one."""
        return self.seats[0]

    @property
    def fault(self) -> str:
        """Its first fault; '' for none."""
        return next((seat.fault for seat in self.seats if seat.fault), "")


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class RunTables:
    """All that is counted of one run. `known` are the ids of all records there were, `listed` the matches that may be
    looked at, `paired` also those that count for pairings alone, `entries` those of each entry, the last first,
    `rounds` the round of each match in formats of rounds, `seating` its table and stage, and `bearers` the entries of
    each name as it is shown. `warnings` say what is wrong with the journal or the records as a whole. `live` are the
    live tables that the next computation goes on from, which end before the first match that has no result; `ways` have
    the live ratings after all matches. `compared` is how a comparison stands."""

    facts: RunFacts
    counted: Counted
    table: Sequence[Standing]
    pools: Sequence[PoolReport]
    unusable: Sequence[ReadMatch]
    format_table: FormatTable
    ahead: Ahead
    warnings: tuple[str, ...]
    known: frozenset[str]
    listed: Sequence[MatchRow]
    paired: Sequence[MatchRow]
    entries: Mapping[str, Sequence[EntryMatch]]
    bearers: Mapping[str, frozenset[str]]
    games: Sequence[str]
    reasons: Sequence[str]
    rounds: Mapping[str, int]
    view: ScheduleView
    seating: Mapping[str, Pairing]
    live: Mapping[Pool, LiveTable]
    ways: Mapping[Pool, Mapping[str, Way]]
    compared: Compared | None = None

    def recent(self, entry_id: str, pool: Pool, number: int = 5) -> list[tuple[MatchRow, str]]:
        """The last matches of an entry in a pool, the last first, and what each was for it."""
        played = (match.row for match in self.entries.get(entry_id, ()))
        wanted = (row for row in played if (row.game, len(row.seats)) == pool)
        return [(row, outcome_for(row, entry_id)) for row in islice(wanted, number)]


def tables_of(request: Request, run: RunFolder) -> RunTables:
    """The tables of a run; 503 while they are computed for the first time, and a browser then looks again."""
    tables: Tables = request.app.state.tables
    try:
        return tables.of(run)
    except TablesBusy:
        again = {"Retry-After": "2", "Refresh": "2"}
        raise HTTPException(503, "The tables of this run are being computed. Please wait.", again) from None


class TablesBusy(Exception):
    """The tables of this run are computed for the first time, which takes longer than anybody should wait."""


@dataclass(slots=True)
class _Shelf:
    """What is kept of one run."""

    turn: Condition = field(default_factory=Condition)
    facts: tuple[object, RunFacts] | None = None
    tables: RunTables | None = None
    changed: object = None
    rows: Mapping[str, MatchRow] | None = None
    busy: bool = False
    decided: bool = False
    number: int = 0
    took_s: float = 0.0
    rested_s: float = 0.0
    made_s: float = 0.0
    error: Exception | None = None


class Tables:
    """The tables of all runs below one folder, each computed once per change, and at most half of the time."""

    def __init__(self, facts: FactsOf | None = None, *, hide_live: bool = False) -> None:
        """Matches of blocks that are not complete are listed if they may be watched; with `hide_live` none is. `facts`
        are taken instead of those of the journals."""
        self._facts = facts
        self._hide_live = hide_live
        self._shelves: dict[Path, _Shelf] = {}
        self._lock = Lock()

    def of(self, run: RunFolder) -> RunTables:
        """The tables as they are now, or, where a new computation takes long or fails, as they were before the last
        changes.

        TablesBusy if there are none yet.
        """
        shelf = self._shelf(run)
        with shelf.turn:
            changed = run.changed()
            if shelf.tables is None or shelf.changed != changed:
                self._begin(run, shelf)
                patience_s = PATIENCE_S if shelf.tables is None else QUICK_S if shelf.took_s < QUICK_S else 0.0
                shelf.turn.wait_for(lambda: not shelf.busy, patience_s)
                if shelf.changed != changed and not shelf.busy and patience_s:  # a record came in the meantime
                    self._begin(run, shelf)
                    shelf.turn.wait_for(lambda: not shelf.busy, patience_s)
            if shelf.tables is not None:
                return shelf.tables
            if shelf.error is not None:
                raise shelf.error
            raise TablesBusy

    def kept(self, run: RunFolder) -> tuple[object, RunTables] | None:
        """The tables somebody has asked for, and as of which change of the run; waits for nothing, and has them brought
        up to date."""
        with self._lock:
            shelf = self._shelves.get(run.path)
        if shelf is None or shelf.tables is None:
            return None
        self.number(run)
        with shelf.turn:
            return shelf.changed, shelf.tables

    def facts(self, run: RunFolder) -> RunFacts:
        """What the journal says of a run, without anything that has to be computed from its records."""
        shelf = self._shelf(run)
        changed = run.changed()
        with shelf.turn:
            if shelf.facts is None or shelf.facts[0] != changed:
                shelf.facts = changed, self._read_facts(run, shelf.facts)
            return shelf.facts[1]

    def _read_facts(self, run: RunFolder, before: tuple[object, RunFacts] | None) -> RunFacts:
        return facts_of(run.path, before and before[1]) if self._facts is None else self._facts(run.path)

    def keep_only(self, runs: Iterable[RunFolder]) -> None:
        """Forget all other runs: their folders are gone."""
        there = {run.path for run in runs}
        with self._lock:
            for path in self._shelves.keys() - there:
                del self._shelves[path]

    def number(self, run: RunFolder) -> int:
        """Another one when the tables are others. Has them brought up to date, without waiting."""
        shelf = self._shelf(run)
        changed = run.changed()
        with shelf.turn:
            if shelf.tables is None or shelf.changed != changed:
                self._begin(run, shelf)
            return shelf.number

    def trouble(self, run: RunFolder) -> str:
        """Why the tables are older than the run: new ones cannot be computed, or all is computed again because of what
        was decided. '' where they are not, or only new matches are being added."""
        shelf = self._shelf(run)
        with shelf.turn:
            if shelf.error is None:
                return DECIDED if shelf.decided else ""
            age_s = time.monotonic() - shelf.made_s
            why = one_line(f"{type(shelf.error).__name__}: {shelf.error}")
            return f"These are the tables of {age_s / 60:.0f} minutes ago: new ones cannot be computed ({why})."

    def _shelf(self, run: RunFolder) -> _Shelf:
        with self._lock:
            return self._shelves.setdefault(run.path, _Shelf())

    def _begin(self, run: RunFolder, shelf: _Shelf) -> None:
        if not shelf.busy and time.monotonic() >= shelf.rested_s:
            shelf.busy = True
            Thread(target=self._compute, args=(run, shelf), name=f"tables of {run.name}", daemon=True).start()

    def _compute(self, run: RunFolder, shelf: _Shelf) -> None:
        started_s = time.monotonic()
        changed = run.changed()
        made: RunTables | None = None
        error: Exception | None = None
        rows = shelf.rows
        try:
            index = load_index(run, rows)
            rows = {row.match_id: row for row in index.rows}
            facts_changed = run.changed()
            facts = self._read_facts(run, shelf.facts)
            with shelf.turn:
                shelf.facts = facts_changed, facts  # the same journal is not kept twice
                before = shelf.tables
                shelf.decided = before is not None and before.facts.controls != facts.controls
            live = kept_live(run.database, identity_of(run.journal)) if before is None else before.live
            made = _tables(run, index, facts, live, hide_live=self._hide_live)
        except Exception as problem:  # raised in the caller
            error = problem
            logging.getLogger(__name__).exception("the tables of %s cannot be computed", run.name)
        with shelf.turn:
            shelf.took_s = time.monotonic() - started_s
            shelf.rested_s = 0.0 if shelf.took_s < QUICK_S else started_s + 2 * shelf.took_s
            shelf.tables, shelf.error, shelf.rows = made or shelf.tables, error, rows
            shelf.changed = changed
            if error is None:
                shelf.made_s = started_s
            else:
                shelf.changed, shelf.rested_s = None, max(shelf.rested_s, time.monotonic() + AGAIN_S)
            shelf.busy = shelf.decided = False
            shelf.number += 1
            shelf.turn.notify_all()


def _tables(
    run: RunFolder, index: Index, facts: RunFacts, live: Mapping[Pool, LiveTable], *, hide_live: bool
) -> RunTables:
    view, warnings = facts.view(index.rows)
    ahead = view.ahead
    counted = apply_controls(index.rows, facts.controls, view.missed)
    counted = counted if facts.run is None else with_notes(counted, facts.run)
    facts = facts.without(counted.annulled)
    columns = replace(counted, rows=table_of(counted.rows))
    ratings = rate_pools(
        columns.rows, kept=live, settled=index.settled, approvals=counted.approvals, anchors=counted.anchors
    )
    table = standings(columns, facts.entrants, ratings=ratings)
    pools = [pool_report(key, matches, table, ratings[key]) for key, matches in pools_of(columns.rows).items()]
    pools = [pool for pool in pools if pool.rows]  # two people alone have no table
    paired = paired_rows(index.rows, facts.controls)
    shown = {row.match_id for row in paired if _may_be_listed(run, row, facts, ahead, hide_live=hide_live)}
    listed = tuple(row for row in counted.rows if row.match_id in shown)
    known = frozenset(row.match_id for row in index.rows) | {match_id_of(item.path) for item in index.unusable}
    entries: dict[str, list[EntryMatch]] = {}
    bearers: dict[str, set[str]] = {}
    for row in reversed(listed):
        for entry_id in dict.fromkeys(seat.entry_id for seat in row.seats if not is_person(row, seat)):
            own = tuple(seat for seat in row.seats if seat.entry_id == entry_id)
            entries.setdefault(entry_id, []).append(EntryMatch(row, own))
    for found in entries.values():
        for name in {match.seat.name for match in found}:
            bearers.setdefault(one_line(name), set()).add(found[0].seat.entry_id)
    names = {name: frozenset(found) for name, found in sorted(bearers.items())}
    games = sorted({row.game for row in listed})
    reasons = sorted({reason for row in listed for reason in (row.reason, *row.faults) if reason})
    return RunTables(
        facts,
        counted,
        table,
        pools,
        index.unusable,
        view.table,
        ahead,
        (*facts.warnings, *warnings),
        known,
        listed,
        tuple(row for row in paired if row.match_id in shown),
        entries,
        names,
        games,
        reasons,
        view.rounds,
        view,
        view.seating,
        {pool: found.settled for pool, found in ratings.items()},
        {pool: found.live.ways for pool, found in ratings.items()},
        None if facts.run is None or not facts.known else comparison_of(facts.run, index.rows),
    )


def _may_be_listed(run: RunFolder, row: MatchRow, facts: RunFacts, ahead: Ahead, *, hide_live: bool) -> bool:
    """Whether a match that is over may be looked at already."""
    if not ahead.is_open(row.game, row.block):
        return True
    if hide_live:
        return False
    if not facts.known:  # nothing more is played under a journal that cannot be used
        return True
    try:
        return not why_not_watched(read_header(run.records.at(row.stamp)), facts.open_bots)
    except RecordError:  # the file is gone or damaged
        return False
