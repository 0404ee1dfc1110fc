"""What `crosstown run` prints: progress, and how a run ended."""

import math
import os
import shlex
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol, Self

from leaderboard.indexer import Indexer
from referee.cli.errors import ExitCode
from referee.cli.output import console, duration, print_json, print_standings
from referee.errors import PlatformError
from referee.process.busy import BusyMeter
from referee.process.entry import is_built
from referee.record import Record
from referee.run.folder import RunFolder, is_renamed, title_of
from referee.run.luck import known_words, read_secrets
from referee.run.machines import ClusterState
from referee.run.run import Run
from referee.run.status import PlayedMatch, Status, end_status, write_status
from referee.schedule.spec import MatchSpec
from referee.texts import one_line, plural, toml_text, with_seats
from referee.tournament.config import Tournament, plays_elsewhere
from referee.tournament.confine import Confinement
from referee.tournament.early import Early
from referee.tournament.entrants import changed_since, lacks_bots, load_tournament, sources_needed
from referee.tournament.joining import joining, with_added
from referee.tournament.play import choose_run, play_run
from referee.tournament.progress import Decide, Reached, Summary, after
from referee.tournament.resources import available_cores, split_cores, too_many_threads
from referee.tournament.steering import Steering

if TYPE_CHECKING:  # tables take long to import, so a run imports them when its first matches are played
    from rich.console import Console, RenderableType
    from rich.progress import Progress

    from leaderboard.run_table import RunTable
    from leaderboard.standings import Standing
    from referee.cluster.peers import Peer


LINE_EVERY_S = 10.0

LOOK_EVERY_S = 1.0
"""How often it is seen what is played, and what the machine is busy with."""

MOST_SHOWN = 4
"""Matches in play that are named."""


class Records(Protocol):
    """Who keeps up with the records that count."""

    def start(self) -> None: ...

    def add(self, path: Path, record: Record) -> None: ...

    def drop(self, path: Path) -> None: ...


class ProgressReport:
    """The runner's observer. Shows where the run stands, and hands on which records count and which no more."""

    def __init__(
        self,
        title: str,
        records: Records,
        *,
        quiet: bool = False,
        outlook: Callable[[], str] | None = None,
        folder: RunFolder | None = None,
    ) -> None:
        """`outlook` says how far the run is by a rule that may stop it. `folder`: where pages find what is played."""
        self._title = title
        self._outlook = outlook or (lambda: "")
        self._records = records
        self._quiet = quiet
        self._bar: Progress | None = None
        self._task: Any = None
        self._start = self._at = Reached(0, 0, 0)
        self._began_s = self._said_s = time.monotonic()
        self._has_begun = False
        self._folder = folder
        self._gaps = Gaps()
        self._meter = BusyMeter()
        self._looked_s = -LOOK_EVERY_S
        self._status = Status()
        self._since: dict[str, float] = {}
        self._machines = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()
        if self._folder is not None:
            end_status(self._folder)

    @cached_property
    def _console(self) -> "Console":
        return console(stderr=True)

    def starting(self, confinement: Confinement, lowered: str) -> None:
        self._records.start()
        if confinement.warning or confinement.unseen or confinement.grants or confinement.opened:
            _tell_confinement(self._console, confinement, quiet=self._quiet)
        if lowered and not self._quiet:
            self._console.print(one_line(lowered), markup=False)

    def begun(self, at: Reached) -> None:
        self._at = at
        done, total = at.done, at.total
        self._said_s = time.monotonic()
        self._gaps.begin(self._said_s)
        if not self._has_begun:
            self._start, self._began_s, self._has_begun = at, self._said_s, True
        if done and done < total:
            self.note(f"going on: {_of(at, done)} matches are there")
        if self._quiet or not self._console.is_terminal or done + at.off == total or self._bar is not None:
            return
        from rich.progress import BarColumn, Progress, TextColumn
        from rich.text import Text

        report = self

        class Shown(Progress):
            """With a line below it on what is played now."""

            def get_renderables(self) -> Iterator["RenderableType"]:
                yield self.make_tasks_table(self.tasks)
                if words := report.now():
                    yield Text(one_line(words), no_wrap=True, overflow="ellipsis")

        self._bar = Shown(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TextColumn("{task.fields[number]}", markup=False),
            TextColumn("{task.fields[pace]}", markup=False),
            console=self._console,
        )
        settled = done + at.off
        self._task = self._bar.add_task(self._title, total=total, completed=settled, number=_of(at, settled), pace="")
        self._bar.start()

    def reached(self, at: Reached) -> None:
        self._gaps.note(at.done + at.off - self._at.done - self._at.off, time.monotonic())
        self._at = at
        self._show()

    def playing(self, specs: Collection[MatchSpec], held: bool) -> None:
        """The matches in play. Called some times a second."""
        now_s = time.monotonic()
        if now_s < self._looked_s + LOOK_EVERY_S:
            return
        self._looked_s = now_s
        if held:  # what passes until the run goes on says nothing about its matches
            self._gaps.begin(now_s)
        self._since = {spec.match_id: self._since.get(spec.match_id, time.time()) for spec in specs}
        busy = self._meter.look()
        left = self._left()
        self._status = Status(
            held,
            None if left is None else left[0],
            None if left is None else left[1],
            self._at.at_most,
            tuple(
                PlayedMatch(
                    spec.match_id, spec.game, tuple(seat.name for seat in spec.seats), self._since[spec.match_id]
                )
                for spec in specs
            ),
            self._status.machine if busy is None else busy.words,
        )
        if self._folder is not None:
            write_status(self._folder, self._status)
        self._show()

    def _left(self) -> tuple[float, float | None] | None:
        return self._gaps.left(self._at.total - self._at.done - self._at.off)

    def now(self) -> str:
        """What is played now, and what the machine is busy with."""
        playing = self._status.playing
        shown = [" - ".join(one.names) for one in playing[:MOST_SHOWN]]
        more = [f"{len(playing) - MOST_SHOWN} more"] if len(playing) > MOST_SHOWN else []
        parts = ["paused"] if self._status.held else []
        parts += [f"now: {', '.join([*shown, *more])}"] if playing else []
        return "; ".join([*parts, *([self._status.machine] if self._status.machine else [])])

    def machines(self, state: ClusterState) -> None:
        """Those of the cluster that plays."""
        self._machines = str(state)
        self._show()

    def rated(self, path: Path, record: Record) -> None:
        self._records.add(path, record)

    def revoked(self, record: Path) -> None:
        self._records.drop(record)

    def note(self, sentence: str) -> None:
        if not self._quiet:
            self._console.print(one_line(sentence), markup=False)

    @property
    def elapsed_s(self) -> float:
        """Since the first match was handed out."""
        return time.monotonic() - self._began_s

    def pace(self) -> str:
        """Rate, time left, what is not tried again, and the machines of a cluster: '9.8 matches/s, 3.2 s left, 4 given
        up; 3 machines, 24 of 30 slots in use'."""
        return "; ".join(filter(None, (self._rate(), self._machines)))

    def _rate(self) -> str:
        at, elapsed_s = self._at, max(self.elapsed_s, 1e-9)
        played = at.done - self._start.done
        left = self._left()
        if played <= 0 or left is None:
            return ""
        left_s, error_s = left
        off = f", {at.off} given up" if at.off else ""
        most = "at most " if at.at_most else ""
        return f"{played / elapsed_s:.1f} matches/s, {most}{left_words(left_s, error_s)} left{off}"

    def _show(self) -> None:
        if self._bar is not None:
            done = self._at.done + self._at.off
            number = _of(self._at, done)
            pace = "; ".join(part for part in (self.pace(), self._outlook()) if part)
            self._bar.update(self._task, total=self._at.total, completed=done, number=number, pace=pace)
        elif time.monotonic() - self._said_s >= LINE_EVERY_S:
            self._said_s = time.monotonic()
            pace = f", {pace}" if (pace := self.pace()) else ""
            outlook = f"; {outlook}" if (outlook := self._outlook()) else ""
            self.note(f"{self._title}: {_of(self._at, self._at.done)} matches{pace}{outlook}")
            if now := self.now():
                self.note(f"    {now}")


@dataclass(slots=True)
class Gaps:
    """The times from one result to the next, and what follows from them for those that are to come."""

    number: int = 0
    mean_s: float = 0.0
    squares: float = 0.0
    """The sum of the squared distances from the mean."""
    last_s: float = 0.0

    def begin(self, now_s: float) -> None:
        """The next gap begins now."""
        self.last_s = now_s

    def note(self, results: int, now_s: float) -> None:
        """So many results have come since the last."""
        if results <= 0:
            return
        gap_s = (now_s - self.last_s) / results
        self.last_s = now_s
        for _ in range(results):
            self.number += 1
            distance = gap_s - self.mean_s
            self.mean_s += distance / self.number
            self.squares += distance * (gap_s - self.mean_s)

    def left(self, results: int) -> tuple[float, float | None] | None:
        """How many seconds so many results take, and two standard deviations of that: of the sum of as many gaps, and
        of their mean, which is known from few; None for that while there is one gap. None before there is one."""
        if not self.number:
            return None
        if self.number == 1:
            return results * self.mean_s, None
        variance = self.squares / (self.number - 1)
        return results * self.mean_s, 2 * math.sqrt(variance * results * (1 + results / self.number))


def left_words(left_s: float, error_s: float | None) -> str:
    """A time with its error, as far as that is known: '3.2 s ± 0.4 s'."""
    return duration(left_s) if error_s is None else f"{duration(left_s)} ± {duration(error_s)}"


def _of(at: Reached, number: int) -> str:
    return f"{number} of {'at most ' if at.at_most else ''}{at.total}"


def _tell_confinement(notes: "Console", confinement: Confinement, *, quiet: bool) -> None:
    """Before the first match: a warning always, grants unless `quiet`."""
    if confinement.warning:
        notes.print(f"warning: {confinement.warning}", markup=False, style="bold")
    for name, paths in confinement.unseen.items():
        listed = ", ".join(toml_text(str(path)) for path in paths)
        sentence = (
            f"warning: 'run' of '{name}' names {', '.join(map(str, paths))}, which its sandbox does not show to it;"
            f" grant it in the tournament file, in its [[bots]]: read = [{listed}]"
        )
        notes.print(one_line(sentence), markup=False, style="bold")
    for name, sandbox in confinement.grants.items():
        if unset := [variable for variable in sandbox.env if variable not in os.environ]:
            sentence = (
                f"warning: the tournament file grants {', '.join(unset)} to '{name}', and the environment here does not"
                " have it; export it, or take it out of env if the bot does not need it"
            )
            notes.print(one_line(sentence), markup=False, style="bold")
    for name, sandbox in () if quiet else confinement.grants.items():
        notes.print(one_line(f"sandbox of '{name}': {sandbox}"), markup=False)
    for name, program in () if quiet else confinement.opened.items():
        notes.print(
            one_line(f"sandbox of '{name}': shows {program} and its libraries, for its bot.toml says so"), markup=False
        )


_MOST_FAULTS = 10
"""Last faults that are printed when a run ends."""


@dataclass(frozen=True, slots=True)
class Played:
    """One run of the command: the bots that played last, how it went, the table after it, and what is wrong with the
    database or ''."""

    tournament: Tournament
    summary: Summary
    table: "RunTable"
    elapsed_s: float
    problem: str


def play_tournament(
    tournament: Tournament,
    out: Path,
    workers: int,
    *,
    pin: bool,
    new: bool,
    as_json: bool,
    quiet: bool,
    accept_weaker: bool = False,
    secret: Path | None = None,
    head_file: Path | None = None,
    scheduler: "Peer | None" = None,
    early: Early | None = None,
) -> ExitCode:
    """Play what is missing and print the outcome; `accept_weaker`: also with a weaker sandbox than before. `early`:
    what has been started already. Raises TournamentError."""
    elsewhere = scheduler is not None and plays_elsewhere(tournament.config)
    tournament, folder = choose_run(tournament, out, new=new, elsewhere=elsewhere)
    if not quiet:
        tell_left_out(tournament)
        tell_changed(tournament, folder)
        tell_kept(tournament, folder)
        if is_renamed(folder, tournament.config.name):
            console(stderr=True).print(one_line(f"this run is in {folder.path}, and continues there"), markup=False)

    def with_joined() -> Tournament:
        """The tournament with the bots that joined its run, and those that have come back since it was read."""
        nonlocal tournament
        file, profile = tournament.config.path, tournament.config.sandbox.profile
        run = Run(folder)
        come_back = lacks_bots(tournament, [bot for bot in run.participants if not bot.joined])
        needed = sources_needed(tournament.config, run.participants) if come_back else []
        needed += [(bot.folder, bot.sandbox.profile or profile) for bot in joining(run.journal)]
        if not elsewhere and not all(is_built(*source) for source in needed):
            from referee.cli.building import build_missing

            build_missing(needed, out, file, begun=True, accept_weaker=accept_weaker)
        if come_back:
            tournament = load_tournament(file, run.participants, elsewhere=elsewhere)
        return with_added(tournament, run.journal, elsewhere=elsewhere)

    first = with_joined()
    cores = available_cores()
    sets = split_cores(workers, cores) if pin else ()
    if scheduler is None and (crowded := too_many_threads(first, workers, len(cores))):
        console(stderr=True).print(f"warning: {crowded}", markup=False)
    when = tournament.config.stop_when
    rule = None
    if when is not None:
        from leaderboard.stopping import StoppingRule

        rule = StoppingRule(when, [entry.name for entry in tournament.entries])
    try:
        played = play(
            first,
            folder,
            workers,
            again=with_joined,
            quiet=quiet or as_json,
            decide=rule,
            outlook=None if rule is None else rule.said,
            cores=sets,
            accept_weaker=accept_weaker,
            secret=secret,
            head_file=head_file,
            scheduler=scheduler,
            early=early,
            table_if_stopped=as_json,
        )
    except PlatformError as error:
        if not new or not Run(folder).begun:
            raise
        step = f"{error.next_step}; but without --new, which would begin another run beside {folder.path}"
        raise PlatformError(str(error), step) from error
    tournament = played.tournament
    if as_json:
        print_json(_outcome(folder, played))
    elif not quiet:
        _tell(tournament, _go_on(tournament, out), folder, played)
    tell_problem(played)
    return _code(played.summary)


def play(
    tournament: Tournament,
    folder: RunFolder,
    workers: int,
    *,
    quiet: bool,
    decide: Decide | None = None,
    outlook: Callable[[], str] | None = None,
    cores: Sequence[Sequence[int]] = (),
    accept_weaker: bool = False,
    secret: Path | None = None,
    head_file: Path | None = None,
    scheduler: "Peer | None" = None,
    again: Callable[[], Tournament] | None = None,
    early: Early | None = None,
    table_if_stopped: bool = True,
) -> Played:
    """Play what is missing in `folder`, until `decide` says it is enough, and keep the database up with it. `outlook`
    says how far that is. `secret`: a file with the secrets of the luck. `scheduler`: of the cluster to play on, None
    for this machine. `again` loads the tournament with the bots that have joined since; without it the run takes no
    orders while it is played. `early`: what has been started already. Without `table_if_stopped` the table of a run
    that was stopped before its end is empty, and nobody waits until the database has caught up with the records of
    earlier runs of the command. Raises TournamentError."""
    given = given_secrets(secret)
    hidden = [secret] if secret else []
    indexer = Indexer(folder)

    def go_on(tournament: Tournament, steering: Steering) -> Summary:
        """Play until all is played, or bots are needed that were not started."""
        if scheduler is None:
            return play_run(
                tournament,
                folder,
                workers,
                report,
                decide=decide,
                cores=cores,
                accept_weaker=accept_weaker,
                secrets=() if steering.sessions else given,
                hidden=hidden,
                head_file=head_file,
                steering=steering,
                early=early,
            )
        from referee.cluster.play import play_on_cluster

        return play_on_cluster(
            tournament,
            folder,
            scheduler,
            report,
            decide=decide,
            accept_weaker=accept_weaker,
            secrets=() if steering.sessions else given,
            hidden=hidden,
            head_file=head_file,
            steering=steering,
        )

    fixed = "" if again is not None else "this run compares two bots"
    title = title_of(folder, tournament.config.name)
    hurry = True  # as it stays where an error ends the run
    with ProgressReport(title, indexer, quiet=quiet, outlook=outlook, folder=folder) as report:
        try:
            with Steering(folder, fixed=fixed, on_playing=report.playing) as steering:
                if again is not None and lacks_bots(tournament, Run(folder).participants):
                    tournament = again()  # of what was decided after it was read, and before the lock was taken
                summary = go_on(tournament, steering)
                while summary.changed and again is not None:
                    tournament = again()
                    summary = after(summary, go_on(tournament, steering))
            indexer.start()  # nothing was left to play, but the database may be behind the records
            hurry = summary.stopped and not summary.complete and not table_if_stopped
        finally:
            elapsed_s = report.elapsed_s
            indexer.close(hurry=hurry)
    from leaderboard.run_table import NO_STANDINGS, run_table

    if hurry:
        return Played(tournament, summary, NO_STANDINGS, elapsed_s, indexer.finish(None))
    table = run_table(Run(folder))
    return Played(tournament, summary, table, elapsed_s, indexer.finish(table))


def given_secrets(file: Path | None) -> tuple[bytes, ...]:
    """The secrets that the user gives, if any, after saying what that means. UsageError."""
    if file is None:
        return ()
    found = read_secrets(file)
    console(stderr=True).print(one_line(f"note: {known_words(file)}"), markup=False)
    return found


def tell_changed(tournament: Tournament, folder: RunFolder) -> None:
    """That another version lies where a bot that has left came from: it is not in this run."""
    for name, path in changed_since(tournament, Run(folder).participants):
        words = shlex.join(["crosstown", "add", str(folder.path), str(path)])
        console(stderr=True).print(
            one_line(f"'{name}' has left this run, and what is in {path} now is not in it; to let it join: {words}"),
            markup=False,
        )


def tell_left_out(tournament: Tournament) -> None:
    """Which bots of the file do not take part, and why."""
    for one in tournament.left_out:
        console(stderr=True).print(one_line(f"warning: {one.sentence}"), markup=False, style="bold")


def tell_kept(tournament: Tournament, folder: RunFolder) -> None:
    """That a bot plays on as it was when the run began, though its folder is not what it was."""
    named = {entry.id: bot.folder for bot, entry in zip(tournament.config.bots, tournament.entries, strict=False)}
    for entry in tournament.kept:
        place, what, step = entry.folder, "is gone", ""
        if named[entry.id].is_symlink() and named[entry.id].exists():
            place, what = named[entry.id], "leads elsewhere"
        elif place.exists():
            what = "has changed"
        if place.exists():
            words = shlex.join(["crosstown", "add", str(folder.path), str(place), "--name"])
            step = f"; to play what is there now: --new, or {words} NAME"
        sentence = f"{place} {what} since this run began; '{entry.name}' plays on as it was then{step}"
        console(stderr=True).print(one_line(f"warning: {sentence}"), markup=False, style="bold")


def tell_problem(played: Played) -> None:
    if played.problem:
        console(stderr=True).print(
            f"note: the database is behind the records ({played.problem}); nothing is lost, the next run makes up"
            " for it",
            markup=False,
        )


def placings(tournament: Tournament, summary: Summary) -> list[dict[str, object]]:
    """The format's own table as plain values, best first."""
    return [
        {"rank": row.rank, "name": tournament.entries[row.bot].name, "entry_id": tournament.entries[row.bot].id}
        | dict(row.columns)
        for row in summary.placings
    ]


def print_placings(tournament: Tournament, summary: Summary, notes: Sequence[str] = ()) -> None:
    """The format's own table, if it has one; `notes` explain its figures."""
    rows = placings(tournament, summary)
    if not rows:
        return
    from leaderboard.schedule_view import FormatTable
    from referee.cli.standings_pages import print_format_table

    print_format_table(FormatTable(tournament.config.format, rows, notes=notes))


def _code(summary: Summary) -> ExitCode:
    if summary.stopped and not summary.complete:
        return ExitCode.INTERRUPTED
    if summary.given_up:
        return ExitCode.ORGANISER
    return ExitCode.FAILED if summary.set_aside or not summary.complete else ExitCode.OK


def _go_on(tournament: Tournament, out: Path) -> str:
    """The command that takes this run up again: not with --new, which would begin another."""
    elsewhere = [] if out == Path("runs") else ["--out", str(out)]
    return shlex.join(["crosstown", "run", str(tournament.config.path), *elsewhere])


def _tell(tournament: Tournament, go_on: str, folder: RunFolder, played: Played) -> None:
    from leaderboard.index import load_index
    from leaderboard.standings import CAPTION
    from leaderboard.stopping import outlook_of

    summary, table, elapsed_s = played.summary, list(played.table.rows), played.elapsed_s
    notes = console(stderr=True)
    there = summary.found + summary.played
    if summary.played:
        pace = f"{plural(summary.played, 'match')} in {duration(elapsed_s)} ({summary.played / elapsed_s:.1f}/s)"
        again = f", {plural(summary.void, 'attempt')} did not count" if summary.void else ""
        notes.print(f"{pace}{again}; everything is in {folder.path}", markup=False)
    elif summary.complete and there:
        annulled = f" ({played.table.annulled} annulled)" if played.table.annulled else ""
        notes.print(f"all {plural(there, 'match')} were there already{annulled}, in {folder.path}", markup=False)
    if not summary.stopped or summary.complete:
        print_standings(table, " ".join(part for part in (CAPTION, played.table.caption) if part))
        print_placings(tournament, summary, played.table.format_table.notes)
    if summary.cancelled:
        notes.print(f"{plural(summary.cancelled, 'match')} cancelled: entries that are out, or annulled", markup=False)
    for name in summary.set_aside:
        notes.print(
            one_line(
                f"'{name}' was disqualified for its faults: its matches that were not played are cancelled; to let it"
                f" play on: {shlex.join(['crosstown', 'reinstate', str(folder.path), name])}"
            ),
            markup=False,
        )
    if not there and not summary.stopped and not summary.given_up:
        notes.print(one_line(_nothing_played(folder, go_on)), markup=False, style="bold")
    for line in _fault_lines(folder, table):
        notes.print(one_line(line), markup=False)
    if summary.decided:
        notes.print("the run was decided before its schedule ended", markup=False)
    if tournament.config.stop_when is not None and (seen := outlook_of(Run(folder), load_index(folder).rows)):
        notes.print(one_line(f"stop_when: {seen.sentence}"), markup=False)
    if summary.complete:
        return
    if summary.stopped:
        most = "at most " if summary.at_most else ""
        notes.print(f"stopped after {there} of {most}{summary.total} matches; to continue: {go_on}", markup=False)
        return
    for match in summary.given_up[:10]:
        why = with_seats(match.detail, match.names)
        notes.print(one_line(f"missing: match {match.match_id}: {match.reason}: {why}"), markup=False)
    notes.print(
        f"{summary.missing} of {summary.total} matches could not be played (see {folder.void} and"
        f" {folder.worker_log}); when the cause is mended, try them again: {go_on}",
        markup=False,
    )


def _nothing_played(folder: RunFolder, go_on: str) -> str:
    """Why a run has ended without a match, and what to do."""
    out = [bot for bot in Run(folder).participants if bot.out]
    if not out:
        return "no match was played: all are annulled; to play one again: crosstown annul RUN MATCH --replay"
    names = ", ".join(f"'{bot.name}'" for bot in out)
    back = "; ".join(shlex.join(["crosstown", "reinstate", str(folder.path), bot.entry_id]) for bot in out)
    return (
        f"no match was played: there is none without a bot that is out of the run ({names}); to let it play: {back};"
        f" then: {go_on}"
    )


def _fault_lines(folder: RunFolder, table: "Sequence[Standing]") -> list[str]:
    """Why bots failed: their last faults, and the command that shows each."""
    failing = {(row.entry_id, reason) for row in table for reason in row.faults}
    if not failing:
        return []
    from leaderboard.evidence import last_faults
    from leaderboard.index import load_index

    rows = load_index(folder).rows
    faults = [fault for fault in last_faults(rows, folder.records) if (fault.entry_id, fault.reason) in failing]
    lines = []
    for fault in faults[:_MOST_FAULTS]:
        printed = f": {fault.lines[-1].strip()}" if fault.lines else ""
        lines.append(
            f"'{fault.name}' {fault.reason} in {plural(fault.matches, 'match')}; the last: {fault.said}{printed}"
        )
        show = shlex.join(["crosstown", "matches", "show", str(folder.matches / fault.record)])
        lines.append(f"    {fault.advice}" if fault.advice else f"    to see why: {show}")
    if len(faults) > _MOST_FAULTS:
        lines.append(
            f"{len(faults) - _MOST_FAULTS} more kinds of faults: crosstown report {shlex.quote(str(folder.path))}"
        )
    return lines


def _outcome(folder: RunFolder, played: Played) -> dict[str, object]:
    from leaderboard.standings import apart

    tournament, summary, table = played.tournament, played.summary, played.table
    own = placings(tournament, summary)
    return {
        "folder": str(folder.path),
        "total": summary.total,
        "found": summary.found,
        "played": summary.played,
        "void": summary.void,
        "cancelled": summary.cancelled,
        "missing": summary.missing,
        "set_aside": list(summary.set_aside),
        "decided": summary.decided,
        "left_out": [asdict(one) for one in tournament.left_out],
        "failed_starts": [asdict(start) for start in Run(folder).failed_starts.values()],
        "given_up": [
            {"match": item.match_id, "place": item.place, "reason": item.reason, "detail": item.detail}
            for item in summary.given_up
        ],
        "stopped": summary.stopped,
        "placings": own,
        "placings_notes": list(table.format_table.notes) if own else [],
        "elapsed_s": round(played.elapsed_s, 3),
        "database_problem": played.problem,
        "standings": [row.to_dict() for row in table.rows],
        "apart": apart(table.rows),
        "caption": table.caption,
    }
