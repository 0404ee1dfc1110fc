"""The table of a run folder as commands need it: who entered, what was decided, and what will not be played."""

import time
from contextlib import suppress
from pathlib import Path

from leaderboard.index import listing
from leaderboard.run_table import RunTable, keep_table, run_table
from leaderboard.standings import Entrant
from leaderboard.store import Store, StoreError
from referee.cli.runs import Run
from referee.record.control import LEAVING
from referee.tournament.config import Tournament
from referee.tournament.controls import known_bots, with_added
from referee.tournament.entrants import load_tournament
from referee.tournament.errors import TournamentError
from referee.tournament.folder import RunFolder
from referee.tournament.formats.registry import get_format
from referee.tournament.identity import describe, digest
from referee.tournament.journal import JournalText
from referee.tournament.lock import RunLock
from referee.tournament.walk import Walk

WORTH_KEEPING_S = 1.0
"""What takes longer is kept in the database for the next who asks."""


def table_of(run: Run, *, pooled: bool = False, faultless: bool = False, database: Path | None = None) -> RunTable:
    """Standings of a run as of now. Keeps them if they took long and no runner is at work: there is one writer.

    With `database`, that one is asked instead of the run's, and nothing is kept.
    """
    started_s = time.monotonic()
    made = run_table(
        run.folder.matches,
        database or run.folder.database,
        entrants_of(run.journal),
        run.journal.controls,
        missed_matches(run.folder, run.journal),
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


def entrants_of(text: JournalText) -> list[Entrant]:
    """All who entered, those without a match and those who were added later too."""
    return [Entrant(bot.entry_id, bot.name, bot.version) for bot in known_bots(text)]


def missed_matches(folder: RunFolder, text: JournalText) -> list[tuple[str, ...]]:
    """The entries of each match that will not be played because one of them has left and loses what it misses.

    The schedule comes from the tournament file, so nothing is missed where that is gone or was changed, or where the
    format pairs by results and leaves out who has left.
    """
    lost = {control.entry_id for control in text.controls if control.kind in LEAVING and control.choice == "losses"}
    tournament = _tournament_of(text) if lost else None
    if tournament is None or get_format(tournament.config.format).uses_results:
        return []
    there = listing(folder.matches)
    walk = Walk(tournament, text.controls)
    missed: list[tuple[str, ...]] = []
    while (spec := walk.next()) is not None:
        out = {seat.entry_id for seat in walk.out(spec)}
        if out & lost and spec.match_id not in there:
            missed.append(tuple(seat.entry_id for seat in spec.seats))
        walk.settle(spec)
        for _ in walk.in_order():
            pass
    return missed


def _tournament_of(text: JournalText) -> Tournament | None:
    """The tournament as its file and folders have it now; None where that is not what the run began with."""
    created = text.created
    if created is None or "file" not in created.fields:
        return None
    try:
        tournament = load_tournament(Path(created.fields["file"]), known_bots(text))
        if digest(describe(tournament)) != created.fields["hash"]:
            return None
        return with_added(tournament, text)
    except TournamentError:
        return None
