"""The table of a run folder as commands need it: who entered, what was decided, and what will not be played."""

import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from leaderboard.index import listing
from leaderboard.run_table import RunTable, keep_table, run_table
from leaderboard.standings import Entrant
from leaderboard.store import Store, StoreError
from referee.cli.runs import Run
from referee.record.control import Control
from referee.tournament.errors import TournamentError
from referee.tournament.lock import RunLock

WORTH_KEEPING_S = 1.0
"""What takes longer is kept in the database for the next who asks."""


def table_of(run: Run, *, pooled: bool = False, faultless: bool = False, database: Path | None = None) -> RunTable:
    """Standings of a run as of now. Keeps them if they took long and no runner is at work: there is one writer.

    With `database`, that one is asked instead of the run's, and nothing is kept.
    """
    started_s = time.monotonic()
    controls = run.journal.controls
    made = run_table(
        run.folder.matches,
        database or run.folder.database,
        entrants_of(run),
        controls,
        missed_matches(run, controls),
        pooled=pooled,
        faultless=faultless,
    )
    if database is None and not (made.kept or pooled or faultless) and time.monotonic() - started_s > WORTH_KEEPING_S:
        with (
            suppress(TournamentError, StoreError),
            RunLock(run.folder.lock, wait_s=0),
            Store(run.folder.database) as store,
        ):
            keep_table(store, made)
    return made


def entrants_of(run: Run) -> list[Entrant]:
    """All who entered, those without a match too."""
    return [Entrant(bot["entry_id"], bot["name"], bot["version"]) for bot in run.configuration["bots"]]


def missed_matches(run: Run, controls: Sequence[Control]) -> list[tuple[str, ...]]:
    """The entries of each match that will not be played because one of them has left and loses what it misses.

    The schedule comes from the tournament file, so nothing is missed where that is gone or was changed, or where the
    format pairs by results and leaves out who has left.
    """
    lost = {control.entry_id: control.place for control in controls if control.choice == "losses"}
    if not lost:
        return []
    from referee.tournament.entrants import load_tournament
    from referee.tournament.identity import describe, digest
    from referee.tournament.schedule import schedule

    created = run.journal.created
    assert created is not None
    try:
        tournament = load_tournament(Path(created.fields["file"]))
    except TournamentError:
        return []
    if digest(describe(tournament)) != created.fields["hash"]:
        return []
    there = listing(run.folder.matches)
    missed: list[tuple[str, ...]] = []
    for spec in schedule(tournament):
        entries = tuple(seat.entry_id for seat in spec.seats)
        if spec.match_id not in there and any(spec.place >= lost[entry] for entry in entries if entry in lost):
            missed.append(entries)
    return missed
