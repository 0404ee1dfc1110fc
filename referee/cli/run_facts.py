"""What the pages of `crosstown web` are told of a run: what its journal says, and what its schedule."""

from collections.abc import Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path

from leaderboard.records import MatchRow, match_files
from leaderboard.web.tables import NOTHING_AHEAD, UNKNOWN_AHEAD, Ahead, Coming, Outlook, RunFacts
from referee.cli.completeness import gaps_of, lost_words
from referee.cli.run_account import State, watched_account
from referee.cli.run_tables import entrants_of, failed_starts_of, plan_of, startup_limits
from referee.cli.runs import SINGLE, STATES, Run, finish_of
from referee.errors import TournamentError
from referee.record import RecordError
from referee.record.reader import read_header
from referee.run.folder import RunFolder, check_no_records, title_of
from referee.run.journal import read_journal
from referee.run.lock import is_run
from referee.schedule.formats.registry import UnknownFormat
from referee.schedule.spec import MatchSpec
from referee.tournament.machine import changed_in

_SHOWN = 20
"""Coming matches."""

_AT_ONCE = 1000
"""Beyond the last result no more than so many matches go on."""

_TRIED = 10
"""Records that are asked what they are of."""

_WITHOUT = (
    "Standings are of all the records that lie here: who entered, what organisers decided and how many matches were"
    " planned is not known"
)


def facts_of(folder: Path) -> RunFacts:
    """What the journal of a run says of it."""
    place = RunFolder(folder)
    try:
        text = read_journal(place.journal)
        if text.created is None:
            return _without_journal(place)
        run = Run(place, text)
        extent = run.extent
        return RunFacts(
            title=title_of(place, str(run.configuration["name"])),
            total=extent.most,
            at_most=extent.least != extent.most,
            entrants=entrants_of(text),
            controls=text.controls,
            look=lambda rows: _outlook(run, rows),
            plan=plan_of(text),
            shown={"format": run.configuration["format"]},
            state=lambda: _state(run),
            failed_starts=failed_starts_of(text),
            startup_s=startup_limits(text),
            warnings=tuple(changed_in(text)),
        )
    except (TournamentError, RecordError, OSError, AttributeError, LookupError, TypeError, ValueError) as error:
        next_step = f": {error.next_step}" if isinstance(error, TournamentError) else ""
        said = f"{error}{next_step}".replace(f"{folder.parent}/", "")
        return _unknown(place, f"The journal cannot be used: {said}. {_WITHOUT}.", "journal damaged")


def _without_journal(place: RunFolder) -> RunFacts:
    if not place.journal.exists() and not _was_run(place):  # matches without a tournament
        return RunFacts(place.path.name, state=lambda: "no tournament")
    try:
        check_no_records(place)
    except TournamentError as error:
        said = f"{error}: {error.next_step}".replace(f"{place.path.parent}/", "")
        return _unknown(place, f"The journal is lost: {said}. {_WITHOUT}.", "journal lost")
    return RunFacts(place.path.name, look=lambda rows: Outlook(ahead=UNKNOWN_AHEAD), state=lambda: "not begun")


def _unknown(place: RunFolder, warning: str, state: str) -> RunFacts:
    """Of what was played, what of the schedule is open is not known."""
    return RunFacts(
        place.path.name,
        look=lambda rows: Outlook(ahead=UNKNOWN_AHEAD),
        warnings=(warning,),
        state=lambda: state,
    )


def _was_run(place: RunFolder) -> bool:
    """Whether what lies there is of a tournament: by what a record says that can be read."""
    for record in islice(match_files(place.matches).values(), _TRIED):
        with suppress(RecordError):
            return read_header(record).tournament != SINGLE
    return place.lock.exists()


def _state(run: Run) -> str:
    if finish_of(run.journal) is not None:
        return "finished"
    if is_run(run.folder.lock):
        return "going on"
    last = next(line.kind for line in reversed(run.journal.events) if line.kind in STATES)
    return "stopped" if last == "stopped" else "cut off"


def _outlook(run: Run, rows: Sequence[MatchRow]) -> Outlook:
    """One walk through the schedule: the table of the format, the next matches that wait for a result, and all blocks
    that have begun without being complete."""
    text = run.journal
    try:
        if finish_of(text) is not None:
            lost = gaps_of(run.folder).lost if len(rows) < run.total else 0
            said = (f"{lost_words(RunFolder(Path(run.folder.path.name)), lost)}.",) if lost else ()
            return Outlook(watched_account(text, rows), NOTHING_AHEAD, said)
        ahead = _Ahead(max((row.place for row in rows), default=-1))
        account = watched_account(text, rows, ahead.take)
    except UnknownFormat:  # a plug-in that is gone since
        return Outlook(ahead=NOTHING_AHEAD if finish_of(text) is not None else UNKNOWN_AHEAD)
    return Outlook(account, Ahead(ahead.coming, frozenset(ahead.waiting)))


class _Ahead:
    """Gathers what is ahead from a walk through the schedule of a run whose last result is at the place `last`."""

    def __init__(self, last: int) -> None:
        self.coming: list[Coming] = []
        self.waiting: set[tuple[str, int]] = set()
        self._last = last

    def take(self, spec: MatchSpec, state: State) -> bool:
        """Whether there may be more."""
        if state != "open":
            return True
        self.waiting.add((spec.game, spec.block))
        if len(self.coming) < _SHOWN:
            names = tuple(seat.name for seat in spec.seats)
            self.coming.append(Coming(spec.match_id, spec.place, spec.block, spec.game, names))
            return True
        return spec.place <= self._last + _AT_ONCE
