"""What the pages of a run show that only its journal knows."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any, TypeAlias

from leaderboard.completeness import gaps_of, lost_words
from leaderboard.controls import departure_words
from leaderboard.records import MatchRow
from leaderboard.run_table import entrants
from leaderboard.schedule_view import UNKNOWN_AHEAD, ScheduleView, view_schedule
from leaderboard.standings import Entrant
from leaderboard.titles import division_title, game_title, in_words, option_words
from leaderboard.web.watching import open_bots
from referee.errors import ExpectedError, JournalError, TournamentError
from referee.games.registry import UnknownGame, get_game
from referee.record import RecordError
from referee.record.journal import Control, FailedStart
from referee.record.reader import read_header
from referee.run.folder import SINGLE, RunFolder, check_no_records
from referee.run.journal import JournalText, read_on
from referee.run.participants import Participant
from referee.run.run import Run
from referee.schedule.formats.ladder import NAME as LADDER
from referee.schedule.formats.registry import UnknownFormat, get_format
from referee.texts import listed, plural

NO_TOURNAMENT = "no tournament"
"""The state of a folder of single matches."""

_TRIED = 10
"""Records whose headers are read to find out what they are of."""

_SHOWN_CHANGES = 5
"""Changes of the machine that pages of a division name."""

_NAMED = 3
"""Bots that a sentence on cancelled matches names."""

_WITHOUT = (
    "Standings are of all the records that lie here: who entered, what organisers decided and how many matches were"
    " planned is not known"
)


@dataclass(frozen=True, slots=True)
class RunFacts:
    """`total`: matches the run wants, None where that is unknown; `at_most` if it may come to fewer. `shown` are facts
    for people, by name; `warnings` are sentences on what is wrong with the journal, or changed while the run went on.
    `failed_starts`, and `startup_s`, which is how long a bot may take to start, are by entry id. `cancelled` is a
    sentence on the matches that are not played since a bot left, '' for none.

    `run` has an empty journal where that of the run cannot be used. `word` is the state of a run that has not begun, or
    of which that is not known; `known`: whether it is known which blocks of its schedule are open. `open_bots`: see
    `watching.open_bots`.
    """

    title: str = ""
    total: int | None = None
    at_most: bool = False
    entrants: Sequence[Entrant] = ()
    controls: Sequence[Control] = ()
    shown: Mapping[str, Any] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    failed_starts: Mapping[str, FailedStart] = field(default_factory=dict)
    startup_s: Mapping[str, float] = field(default_factory=dict)
    cancelled: str = ""
    run: Run | None = None
    word: str = ""
    known: bool = True
    open_bots: tuple[str, ...] = ()

    def without(self, annulled: int) -> "RunFacts":
        """The same where so many matches have a record and do not count."""
        return self if self.total is None else replace(self, total=self.total - annulled)

    def all_over(self) -> bool:
        """Whether no block can be open: the run is finished, or is no tournament."""
        return self.word == NO_TOURNAMENT or (self.known and self.run is not None and self.run.finished)

    def state(self) -> str:
        """In a word, whether the run goes on now."""
        return self.word or ("" if self.run is None else self.run.state)

    def is_held(self) -> bool:
        """Whether the runner at work was told to begin no match."""
        return self.run is not None and self.run.begun and self.run.held

    def view(self, rows: Sequence[MatchRow]) -> tuple[ScheduleView, tuple[str, ...]]:
        """What the schedule says of the run with these rated matches, and sentences on what is wrong with them."""
        if self.run is None or not self.known:
            return (ScheduleView() if self.known else ScheduleView(ahead=UNKNOWN_AHEAD)), ()
        said: tuple[str, ...] = ()
        if self.run.finished and len(rows) < self.run.total and (lost := gaps_of(self.run).lost):
            said = (f"{lost_words(Path(self.run.folder.path.name), lost)}.",)
        return view_schedule(self.run, rows, look_ahead=True), said


FactsOf: TypeAlias = Callable[[Path], RunFacts]


def facts_of(folder: Path, before: RunFacts | None = None) -> RunFacts:
    """The facts of a run folder. Never raises: what cannot be read is left out, and `warnings` say why.

    `before` are those of an earlier moment, if there are any: then only what the journal has got since is read.
    """
    try:
        known = None if before is None or before.run is None else before.run.journal
        run = Run(folder, read_on(RunFolder(folder).journal, known))
        if not run.begun:
            return _without_journal(run)
        if before is not None and before.run is not None and run.grown_from(before.run):
            extent = run.extent
            return replace(
                before,
                total=extent.most,
                at_most=extent.least != extent.most,
                cancelled=_cancelled(run, extent.most),
                run=run,
            )
        extent = run.extent
        return RunFacts(
            title=_title(run),
            total=extent.most,
            at_most=extent.least != extent.most,
            entrants=entrants(run),
            controls=run.controls,
            shown={"format": run.configuration["format"]},
            failed_starts=run.failed_starts,
            startup_s=run.startup_limits_s,
            warnings=_shown_changes(run),
            cancelled=_cancelled(run, extent.most),
            run=run,
            open_bots=open_bots(run),
        )
    except (ExpectedError, OSError, AttributeError, LookupError, TypeError, ValueError) as error:
        next_step = f": {error.next_step}" if isinstance(error, ExpectedError) else ""
        said = f"{error}{next_step}".replace(f"{folder.parent}/", "")
        return _unknown(folder, f"The journal cannot be used: {said}. {_WITHOUT}.", "journal damaged")


def _shown_changes(run: Run) -> tuple[str, ...]:
    """What changed on the machine; of a ladder, which may see many changes in its life, the last ones."""
    changes = run.machine_changes
    more = len(changes) - _SHOWN_CHANGES
    if more <= 0 or run.configuration["format"] != LADDER:
        return tuple(changes)
    return (*changes[-_SHOWN_CHANGES:], f"{plural(more, 'earlier change')} like these")


def _cancelled(run: Run, total: int) -> str:
    number, entries = run.cancelled
    if not number:
        return ""
    words = departure_words(run.controls)
    why = [words[entry] for entry in entries if entry in words]
    more = len(why) - _NAMED
    because = listed([*why[:_NAMED], *([f"{plural(more, 'other bot')} left"] if more > 0 else [])])
    were = "was" if number == 1 else "were"
    return (
        f"{total + number} matches were planned; {number} of them {were} cancelled, because {because}."
        " The numbers of cancelled matches are missing from the lists."
    )


def _title(run: Run) -> str:
    """What people call the run."""
    if run.configuration["format"] != LADDER:
        return run.title
    game = run.configuration["games"][0]
    return division_title(run.title, game["game"], game["players"])


def _without_journal(run: Run) -> RunFacts:
    path = run.folder.path
    if not run.folder.journal.exists() and not _was_run(run):  # matches without a tournament
        return RunFacts("Single matches" if path.name == SINGLE else path.name, run=run, word=NO_TOURNAMENT)
    try:
        check_no_records(run.folder)
    except TournamentError as error:
        said = f"{error}: {error.next_step}".replace(f"{path.parent}/", "")
        return _unknown(path, f"The journal is lost: {said}. {_WITHOUT}.", "journal lost")
    return RunFacts(path.name, run=run, word="not begun", known=False)


def _unknown(folder: Path, warning: str, state: str) -> RunFacts:
    """Of what was played, what of the schedule is open is not known."""
    run = Run(folder, JournalText())
    return RunFacts(folder.name, warnings=(warning,), run=run, word=state, known=False)


def _was_run(run: Run) -> bool:
    """Whether what lies there is of a tournament: by what a record says that can be read."""
    with suppress(RecordError):  # of an archive
        for record in islice(run.records.paths().values(), _TRIED):
            with suppress(RecordError):
                return read_header(record).tournament != SINGLE
    return run.folder.lock.exists()


_SETTINGS = {
    "mirrors": "Matches of a bot against itself",
    "same_seeds": "All groups of bots on the same dice and cards",
}
"""Settings of formats whose own names do not tell a visitor what they are."""

_LIMITS = {
    "first_move_s": "First move",
    "move_s": "Move",
    "bank_s": "Bank",
    "increment_s": "Increment",
    "total_s": "Whole match",
    "startup_s": "Start of a bot",
}
"""Limits of time that people ask for; the journal has all."""


def signature_of(facts: RunFacts) -> dict[str, str]:
    """When, by which key and how far the run was signed; nothing of one that is not. Whether it has changed since is
    not looked at: that takes a look at all of it, as `crosstown matches verify` does."""
    with suppress(JournalError):
        signed = None if facts.run is None else facts.run.signature
        return {} if signed is None or not signed.holds else signed.shown
    return {}


def settings_of(facts: RunFacts) -> list[tuple[str, str]]:
    """What the tournament file says, by name, for people; of options those that differ from the game's default."""
    run = facts.run
    if run is None or not run.begun:
        return []
    made = run.configuration
    found = [("Format", in_words(str(made["format"])))]
    found += [
        (_SETTINGS.get(name) or in_words(name).capitalize(), words)
        for name, value in made.get("settings", {}).items()
        if (words := _setting_words(value))
    ]
    blocks = f"{made['blocks']} {_per(str(made['format']))}".rstrip()
    found.append(
        ("Blocks", f"{blocks}; a block is a set of matches with the same dice and cards, in which bots change seats")
    )
    for game in made.get("games", ()):
        players = listed(map(str, game["players"]))
        changed = _changed_options(game["game"], game.get("options", {}))
        found.append(("Game", f"{game_title(game['game'])}, {players} players" + (f"; {changed}" if changed else "")))
    limits = made.get("limits", {})
    found += [(f"{words}, limit", f"{limits[name]:g} s") for name, words in _LIMITS.items() if limits.get(name)]
    faults = made.get("faults", {})
    if faults:
        strikes = faults.get("strikes", 0)
        after = f"; the first {plural(strikes, 'fault')} of a bot in a match {'is' if strikes == 1 else 'are'} forgiven"
        found.append(("After a fault", in_words(str(faults.get("policy", ""))) + (after if strikes else "")))
    if faults.get("provider_errors") == "void":
        found.append(("Provider errors", "the match is void and played again, at most five times for one bot"))
    breaker = made.get("breaker", {})
    if breaker.get("enabled"):
        often = "or in more than a tenth of its last 50 matches once it has played 20"
        found.append(("Disqualified", f"after faults in {breaker['in_a_row']} matches in a row, {often}"))
    found.append(("Bots", ", ".join(map(_bot_words, run.participants))))
    return found


def _setting_words(value: object) -> str:
    """The value of a setting of a format: lists and tables, such as those of stages, too. '' for what is not set."""
    if value is None:
        return ""
    if isinstance(value, Mapping):
        flat = {**value, **value["settings"]} if isinstance(value.get("settings"), Mapping) else value
        parts = {name: _inner_words(one) for name, one in flat.items() if name != "settings"}
        return ", ".join(f"{in_words(str(name))} {words}" for name, words in parts.items() if words)
    if isinstance(value, list | tuple):
        between = ", " if all(isinstance(one, str) for one in value) else "; "
        return between.join(map(_inner_words, value))
    return option_words(value)


def _inner_words(value: object) -> str:
    """Inside of another value a text is a name, as a rule, and stays as it is."""
    return value if isinstance(value, str) else _setting_words(value)


def _bot_words(bot: Participant) -> str:
    parts = [f"version {bot.version}", *(["joined later"] if bot.joined else []), *(["has left"] if bot.out else [])]
    return f"{bot.name} ({', '.join(parts)})"


def _per(style: str) -> str:
    """What blocks are counted for, such as "per group"."""
    try:
        return get_format(style).per
    except UnknownFormat:
        return ""


def _changed_options(game_id: str, options: Mapping[str, Any]) -> str:
    try:
        game = get_game(game_id)
    except UnknownGame:
        return ""
    usual = {option.name: option.default for option in game.options}
    changed = {name: value for name, value in options.items() if name in usual and value != usual[name]}
    return ", ".join(f"{name} {option_words(value)}" for name, value in changed.items())
