"""What the pages of a run show, computed when a record came or something was decided, and kept until then."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any, TypeAlias

from leaderboard.account import NO_TABLE, FormatTable, Look, no_account
from leaderboard.controls import Counted, apply_controls
from leaderboard.index import load_index
from leaderboard.records import MatchRow, ReadMatch, SeatRow
from leaderboard.report import PoolReport, pool_report
from leaderboard.standings import Entrant, Standing, pools_of, standings
from leaderboard.web.places import RunPlace
from referee.record.control import Control


@dataclass(frozen=True, slots=True)
class RunFacts:
    """What only the tournament knows of a run. `total`: matches it wants, at most; None where that is unknown.
    `shown` are facts for people, by name."""

    title: str = ""
    total: int | None = None
    entrants: Sequence[Entrant] = ()
    controls: Sequence[Control] = ()
    look: Look = no_account
    shown: Mapping[str, Any] = field(default_factory=dict)


Facts: TypeAlias = Callable[[Path], RunFacts]
"""Of a run folder. Never raises: what cannot be read is left out, and `shown` says why."""


def no_facts(folder: Path) -> RunFacts:
    """For folders of records without a tournament."""
    return RunFacts(folder.name)


@dataclass(frozen=True, slots=True)
class RunTables:
    """All that is counted of one run."""

    facts: RunFacts
    counted: Counted
    table: Sequence[Standing]
    pools: Sequence[PoolReport]
    unusable: Sequence[ReadMatch]
    format_table: FormatTable = NO_TABLE


@dataclass(frozen=True, slots=True)
class EntryMatch:
    """One match of an entry, and its seat there."""

    row: MatchRow
    seat: SeatRow


class Tables:
    """The tables of all runs below one folder, each computed once per change."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._kept: dict[Path, tuple[object, RunTables]] = {}
        self._lock = Lock()

    def of(self, run: RunPlace) -> RunTables:
        with self._lock:
            changed = run.changed()
            kept = self._kept.get(run.path)
            if kept is not None and kept[0] == changed:
                return kept[1]
            made = _tables(run, self._facts(run.path))
            self._kept[run.path] = (changed, made)
            return made


def entry_matches(tables: RunTables, entry_id: str) -> list[EntryMatch]:
    """The matches of an entry that count, the last first."""
    return [EntryMatch(row, seat) for row in reversed(tables.counted.rows) for seat in row.seats
            if seat.entry_id == entry_id]  # fmt: skip


def _tables(run: RunPlace, facts: RunFacts) -> RunTables:
    index = load_index(run.matches, run.database)
    account = facts.look(index.rows)
    counted = apply_controls(index.rows, facts.controls, account.missed)
    table = standings(counted, facts.entrants)
    pools = [pool_report(key, matches, table) for key, matches in pools_of(counted.rows).items()]
    return RunTables(facts, counted, table, pools, index.unusable, account.table)
