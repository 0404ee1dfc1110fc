"""The table of a run folder as commands need it: who entered, what was decided, and what will not be played."""

import time
from contextlib import suppress
from pathlib import Path

from leaderboard.run_table import RunTable, keep_live, keep_table, run_table
from leaderboard.standings import Entrant
from leaderboard.store import Store, StoreError
from referee.cli.run_account import looking
from referee.cli.runs import Run
from referee.errors import BusyError, TournamentError
from referee.record.journal import FailedStart, failed_starts
from referee.run.decisions import known_bots
from referee.run.journal import JournalText
from referee.run.lock import RunLock
from referee.schedule.spec import Limits

WORTH_KEEPING_S = 1.0
"""What takes longer is kept in the database for the next who asks."""


def table_of(run: Run, *, pooled: bool = False, faultless: bool = False, database: Path | None = None) -> RunTable:
    """Standings of a run as of now. Keeps them if they took long; while a runner is at work, only the live table, which
    the next call goes on from.

    With `database`, that one is asked instead of the run's, and nothing is kept.
    """
    started_s = time.monotonic()
    made = run_table(
        run.folder.matches,
        database or run.folder.database,
        entrants_of(run.journal),
        run.journal.controls,
        looking(run.journal),
        plan=plan_of(run.journal),
        pooled=pooled,
        faultless=faultless,
    )
    if database is None and not (made.kept or pooled or faultless) and time.monotonic() - started_s > WORTH_KEEPING_S:
        with suppress(TournamentError, StoreError):
            try:
                with RunLock(run.folder.lock, wait_s=0), Store(run.folder.database) as store:
                    keep_table(store, made)
            except BusyError:
                keep_live(run.folder.database, made.live)
    return made


def plan_of(text: JournalText) -> str:
    """What schedule a run has, apart from controls and results; '' before it has begun."""
    return "" if text.created is None else f"{text.created.fields['hash']} {text.configuration['blocks']}"


def entrants_of(text: JournalText) -> list[Entrant]:
    """All who entered, those without a match and those who were added later too."""
    return [Entrant(bot.entry_id, bot.name, bot.version) for bot in known_bots(text)]


def failed_starts_of(text: JournalText) -> dict[str, FailedStart]:
    """The bots of a run that did not start at least once, by entry id."""
    return failed_starts(text.events, {bot.entry_id: bot.name for bot in known_bots(text)})


def startup_limits(text: JournalText) -> dict[str, float]:
    """By entry id, how many seconds each bot of the file has to say Hello; one that joined later has what all have."""
    if text.created is None:
        return {}
    of_all = float(text.configuration.get("limits", {}).get("startup_s", Limits().startup_s))
    own = {bot["entry_id"]: bot.get("clock", {}).get("startup_s") for bot in text.configuration["bots"]}
    return {bot.entry_id: float(own.get(bot.entry_id) or of_all) for bot in known_bots(text)}
