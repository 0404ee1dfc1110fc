"""Each run in one line: what the list of all runs shows of it. Little is kept of each, however many there are."""

import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from threading import Condition, Thread

from leaderboard.run_table import run_table
from leaderboard.schedule_view import FormatTable
from leaderboard.standings import Standing, rating_words
from leaderboard.titles import game_title, pool_title
from leaderboard.web.tables import QUICK_S, Tables
from referee.run.folder import RunFolder
from referee.run.journal import JournalText
from referee.run.run import Run

OLD_S = 5.0
"""What was known so long ago is not shown of a run that has changed, if it can be computed soon."""


@dataclass(frozen=True, slots=True)
class Leader:
    """Who is first; `where` says of which game and number of players, '' where there is one alone. `rating` is such as
    "32.1 ± 2.0"."""

    entry_id: str
    name: str
    where: str
    rating: str = ""


@dataclass(frozen=True, slots=True)
class Glance:
    """Matches that count, and who leads by them: by the format's own table where it has one, else by the ratings, in
    each group of bots that have met. Who is not rated leads nothing.

    `problem` says why that is unknown; `annulled` matches have a record and do not count. `games` are titles, and
    `last` is when the newest record came, as records write times.
    """

    played: int = 0
    leaders: tuple[Leader, ...] = ()
    problem: str = ""
    annulled: int = 0
    games: tuple[str, ...] = ()
    last: str = ""


@dataclass(frozen=True, slots=True)
class _Kept:
    changed: object
    glance: Glance
    made_s: float
    again_s: float
    """When it may be computed again: at most half of the time is spent on that."""


class Glances:
    """Glances at many runs, computed one after another in one thread, and again when a run has changed."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables
        self._kept: dict[Path, _Kept] = {}
        self._busy = False
        self._turn = Condition()

    def of(self, runs: Sequence[RunFolder]) -> dict[str, Glance]:
        """What is known of these runs, which are all there are, by name; of one that has just changed, as it was
        before. Waits for a moment if there is one of which nothing is known yet, or that has changed and was not looked
        at for `OLD_S`: the last visitor may have come yesterday."""
        changed = {run.path: run.changed() for run in runs}
        until_s = time.monotonic() + QUICK_S
        with self._turn:
            self._kept = {path: kept for path, kept in self._kept.items() if path in changed}
            while True:
                now_s = time.monotonic()
                wanted = [run for run in runs if self._is_old(run.path, changed[run.path], now_s)]
                if wanted and not self._busy:
                    self._busy = True
                    Thread(target=self._compute, args=(wanted,), name="glances", daemon=True).start()
                awaited = any(now_s >= self._shown_until_s(run.path) for run in wanted)
                if not (awaited and self._turn.wait_for(lambda: not self._busy, until_s - now_s)):
                    break
            return {run.name: self._kept[run.path].glance for run in runs if run.path in self._kept}

    def _is_old(self, path: Path, changed: object, now_s: float) -> bool:
        kept = self._kept.get(path)
        return kept is None or (kept.changed != changed and now_s >= kept.again_s)

    def _shown_until_s(self, path: Path) -> float:
        kept = self._kept.get(path)
        return 0.0 if kept is None else kept.made_s + OLD_S

    def _compute(self, runs: Iterable[RunFolder]) -> None:
        try:
            for run in runs:
                started_s = time.monotonic()
                changed, made = self._glance(run)
                ended_s = time.monotonic()
                with self._turn:
                    self._kept[run.path] = _Kept(changed, made, ended_s, 2 * ended_s - started_s)
        finally:
            with self._turn:
                self._busy = False
                self._turn.notify_all()

    def _glance(self, run: RunFolder) -> tuple[object, Glance]:
        """As of which change of the run, and what there is to tell."""
        changed = run.changed()
        try:
            if self._tables.kept(run) is not None:
                self._tables.of(run)  # which waits for a moment if the run has changed
            if (kept := self._tables.kept(run)) is not None:
                as_of, known = kept
                counted = known.counted
                return as_of, _seen(run, len(counted.rows), known.table, known.format_table, counted.annulled)
            found = run_table(self._tables.facts(run).run or Run(run, JournalText()))
        except Exception as error:  # one run must not hide the others; its own page has the whole story
            return changed, Glance(problem=type(error).__name__)
        return changed, _seen(run, found.matches, found.rows, found.format_table, found.annulled)


def _seen(run: RunFolder, played: int, rows: Sequence[Standing], own: FormatTable, annulled: int) -> Glance:
    games = tuple(dict.fromkeys(game_title(row.game) for row in rows if row.game))
    last = ""
    if played:
        with suppress(OSError):
            written = run.journal if run.journal.exists() else run.matches  # records may be packed later
            last = datetime.fromtimestamp(written.stat().st_mtime, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return Glance(played, _leaders(rows, own), "", annulled, games, last)


def _leaders(rows: Sequence[Standing], own: FormatTable) -> tuple[Leader, ...]:
    rated = {row.entry_id for row in rows if row.rated}
    if own.rows:
        return tuple(
            Leader(row["entry_id"], row["name"], "")
            for row in own.rows
            if row["rank"] == 1 and row["entry_id"] in rated
        )
    first = [row for row in rows if row.rated and row.rank == 1]
    pools = {(row.game, row.players) for row in first}
    groups = {row.group for row in first}
    return tuple(
        Leader(
            row.entry_id,
            row.name,
            ", ".join(
                (
                    *((pool_title(row.game, row.players),) if len(pools) > 1 else ()),
                    *((f"group {row.group}",) if len(groups) > 1 else ()),
                )
            ),
            rating_words(row),
        )
        for row in first
    )
