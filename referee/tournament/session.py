"""One run of the command from lock to unlock: take the folder, see what is there, play the rest."""

import asyncio
import signal
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from referee.errors import PlatformError
from referee.event_loop import run_loop
from referee.garbage import no_collection
from referee.record.journal import (
    LEAVING,
    Control,
    anchors_of,
    choices_of_people,
    departures,
    forgiven_faults,
    in_force,
    provider_voids,
)
from referee.record.store import Records
from referee.run.anchors import AnchorKeeper
from referee.run.decisions import length_words, next_place
from referee.run.folder import RunFolder, check_configuration, lengthening
from referee.run.journal import BOT_DEFAULTS, CREATED, FORMAT, RATINGS, Journal, JournalText, identity_of, read_journal
from referee.run.lock import RunLock
from referee.run.luck import SecretKeeper, begin, take_up
from referee.run.machine_facts import most_memory_words
from referee.run.run import Run
from referee.schedule.config import ScheduleConfig, digest
from referee.schedule.formats.api import Extent
from referee.schedule.schedule import Schedule, known_matches
from referee.schedule.seeds import MatchSeeds
from referee.schedule.spec import MatchSpec
from referee.schedule.stopping import rule_in_force
from referee.texts import one_line, plural, shown_toml
from referee.tournament.attempts import Attempts, attempts_of, memory_voids
from referee.tournament.breaker import Breaker
from referee.tournament.config import Tournament, too_few_copies
from referee.tournament.executor import Executor
from referee.tournament.identity import config_of, describe, loose_settings
from referee.tournament.machine import (
    EVENT,
    Machine,
    MachineWatch,
    check_sandboxes,
    machine_changes,
    profiles_in,
)
from referee.tournament.progress import Decide, Reached, RunProgress, Summary, after
from referee.tournament.remembered import Remembering, read_remembered
from referee.tournament.runner import Observer, Runner
from referee.tournament.sections import BreakerConfig
from referee.tournament.steering import Steering

MAX_LEAD = 100_000
"""Matches beyond the first one that is not settled that may be begun: bounds memory, holds nobody up."""

DECIDING_LEAD = 64
"""The same where a stopping rule may make all of them superfluous."""

MakeExecutor = Callable[[int, int], Executor]
"""(matches to play, file descriptor of the lock) -> executor."""

STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def run_session(
    tournament: Tournament,
    folder: RunFolder,
    make_executor: MakeExecutor,
    observer: Observer,
    decide: Decide | None = None,
    secrets: Sequence[bytes] = (),
    *,
    machine: Machine | None = None,
    elsewhere: bool = False,
    accept_weaker: bool = False,
    head_file: Path | None = None,
    on_found: Callable[[MatchSpec], None] = lambda _spec: None,
    steering: Steering | None = None,
    most_memory: Callable[[int], int] | None = None,
) -> Summary:
    """Take the run in `folder` up, or begin it, and play until all is played or a signal says stop.

    `decide` is asked about every complete block in schedule order, found ones too, and ends the run when it says True:
    what is in play then finishes, is recorded under `matches/void`, and changes neither verdict nor table.

    `secrets` are those of the luck, by epoch, to be used instead of random ones. `machine` is what comes from this
    machine: changes since the run was played last, and while it goes on, are told and kept in the journal. A weaker
    sandbox is refused unless `accept_weaker`. `elsewhere`: other machines play, too, of which records alone say what
    they have. `head_file` is where the head of the journal is written as well, from here on.
    `on_found` is called for matches that were played before, as in `RunProgress`. `most_memory` says what no bot may
    exceed on this machine where so many matches are missing, in MiB, 0 where the limits of the file hold; None: it is
    not the same for all matches.
    `steering` holds the lock, and has the orders that are taken; without it none are. After an order that needs bots
    which were not started the summary says `changed`: call this again, with these bots.

    BusyError, ChangedError, JournalError, UsageError or PlatformError; what was played is kept in every case.
    """
    machine = machine or {}
    folder.make()
    with ExitStack() as stack:
        lock_fd = stack.enter_context(RunLock(folder.lock)).fd if steering is None else steering.lock_fd
        text, journal, keeper = _open_run(stack, folder, tournament, observer, secrets, machine)
        when, before = tournament.config.stop_when, rule_in_force(text.controls)[0]
        if when != before:
            journal.control(Control("stopping", next_place(folder), by="file", reason=str(when or "")))
            if text.created is not None:
                observer.note(_changed_since(_change("stop_when", str(before or ""), str(when or ""))))
                text = read_journal(folder.journal)
        if when is not None and decide is not None:
            decide = _from_place(decide, rule_in_force(text.controls)[1])
        if head_file is not None:
            journal.write_head_to(head_file)
        elif text.created is None:
            journal.write_head()
        anchors = AnchorKeeper(journal, anchors_of(text.events).digests)
        files = folder.records.tidy()
        if lost := anchors.miss(folder, files):
            observer.note(_lost(lost))

        def on_control(control: Control) -> None:
            journal.control(control)
            if control.kind == "breaker":
                observer.note(f"'{control.name}' is disqualified from here on: {control.reason}")

        remembering = stack.enter_context(Remembering(folder.path, identity_of(folder.journal)))

        def progress_of(text: JournalText, anchors: AnchorKeeper, files: Records) -> RunProgress:
            progress = open_progress(
                config_of(tournament) if text.created is None else Run(folder, text).schedule_config,
                tournament.config.breaker,
                folder,
                keeper.seeds,
                text.controls,
                attempts_of(text.events),
                on_control,
                observer.revoked,
                anchors,
                decide,
            )
            remembering.flush()
            progress.remembered = read_remembered(folder.path, identity_of(folder.journal))
            progress.on_judged = remembering.note
            progress.on_found = on_found
            with no_collection():
                progress.take(files)
            return progress

        progress = progress_of(text, anchors, files)
        first = progress.next()
        if first is not None:
            progress.put_back(first)
            _meet_machine(journal, text, folder, tournament, observer, machine, accept_weaker=accept_weaker)
            _meet_settings(journal, text, tournament, observer)
        anchors.flush()
        watch = MachineWatch({**text.machine, **machine})
        if elsewhere:
            watch.recall(folder.records)
        session = _Session(
            tournament,
            folder,
            make_executor,
            observer,
            lock_fd,
            journal,
            keeper,
            steering,
            progress_of,
            watch,
            most_memory,
        )
        summary = session.go_on(text, progress)
        try:
            journal.write_head()
        except PlatformError as error:
            observer.note(f"warning: {error}")
        return summary


def _open_run(
    stack: ExitStack,
    folder: RunFolder,
    tournament: Tournament,
    observer: Observer,
    secrets: Sequence[bytes],
    machine: Machine,
) -> tuple[JournalText, Journal, SecretKeeper]:
    """The run as it was found, or, of one that had begun, as it is with what the tournament file has changed since;
    its journal, open to be gone on with, and its luck. Needs the lock."""
    text = read_journal(folder.journal)
    description = describe(tournament)
    error = check_configuration(folder, text, description)
    if error is not None:
        raise error
    seed = tournament.config.seed
    if text.created is None:
        keeper = begin(folder.secrets, seed, secrets)
        journal = stack.enter_context(Journal(folder.journal, text))
        _create(journal, tournament, keeper, machine)
        return text, journal, keeper
    keeper = take_up(folder.secrets, text, seed, secrets)
    journal = stack.enter_context(Journal(folder.journal, text))
    if longer := lengthening(text, description):
        journal.control(Control("extended", next_place(folder), by="file", length=longer))
        observer.note(f"extended, as the tournament file is longer than before: {length_words(longer)}")
        text = read_journal(folder.journal)
    text = _annul_mirrors(journal, text, folder, tournament, observer)
    if tournament.rating_anchors != text.rating_anchors:
        journal.append(RATINGS, anchor=tournament.rating_anchors)
        names = {entry.id: entry.name for entry in tournament.entries}
        before, now = (
            ", ".join(f"{names.get(entry_id, entry_id)} = {elo:g}" for entry_id, elo in anchors.items())
            for anchors in (text.rating_anchors, tournament.rating_anchors)
        )
        observer.note(_changed_since(_change("ratings.anchor", before, now)))
    return text, journal, keeper


def _from_place(decide: Decide, since: int) -> Decide:
    """The same rule, which may stop the run only from this place on: it has seen what came before."""
    return lambda block: decide(block) and block.place >= since


def open_progress(
    config: ScheduleConfig,
    breaker_config: BreakerConfig,
    folder: RunFolder,
    seeds: MatchSeeds,
    controls: Sequence[Control],
    attempts: Mapping[str, Attempts],
    on_control: Callable[[Control], None],
    on_revoked: Callable[[Path], None],
    anchors: AnchorKeeper,
    decide: Decide | None = None,
) -> RunProgress:
    """The progress of a run, whose records are not taken yet. Needs the lock."""
    breaker = Breaker(breaker_config)
    breaker.forgive(forgiven_faults(controls))
    choices = choices_of_people(controls)
    controls = in_force(controls)
    for control in controls:
        if control.kind in LEAVING:
            breaker.left(control.entry_id, control.place)
        elif control.kind == "returned":
            breaker.returned(control.entry_id, control.place)
    return RunProgress(
        folder=folder,
        schedule=Schedule(config, controls, seeds=seeds, keep_blocks=decide is not None),
        breaker=breaker,
        on_control=on_control,
        on_revoked=on_revoked,
        anchors=anchors,
        decide=decide,
        verdicts={control.match_id: control for control in controls if control.match_id},
        failed_starts={match_id: past.failed_starts for match_id, past in attempts.items()},
        choices=choices,
        lead=MAX_LEAD if decide is None else DECIDING_LEAD,
    )


@dataclass(frozen=True, slots=True)
class _Session:
    """What stays while the run is played, however often it is taken up with what was ordered."""

    tournament: Tournament
    folder: RunFolder
    make_executor: MakeExecutor
    observer: Observer
    lock_fd: int
    journal: Journal
    keeper: SecretKeeper
    steering: Steering | None
    progress_of: Callable[[JournalText, AnchorKeeper, Records], RunProgress]
    watch: MachineWatch
    most_memory: Callable[[int], int] | None

    def go_on(self, text: JournalText, progress: RunProgress) -> Summary:
        order = "" if self.steering is None else self.steering.taken_up()
        first = progress.next()
        if text.created is not None and (first is not None or progress.moved):
            self._resumed(progress, order)
        if first is None:
            return self._end(text, progress)
        progress.put_back(first)
        self.keeper.commit(self.folder.secrets, self.journal)
        missing = max(1, self.extent().most - progress.found)
        executor = self.make_executor(missing, self.lock_fd)
        if self.most_memory is not None:
            self._meet_memory(text, self.most_memory(missing), begun=bool(progress.found))
        return run_loop(self._run(executor, text, progress))

    def extent(self) -> Extent:
        return Run(self.folder, brief=True).extent

    def _resumed(self, progress: RunProgress, order: str) -> None:
        more = {"order": order} if order else {}
        moved = [path.name for path in progress.moved]
        self.journal.append("resumed", rated=progress.found, set_aside=moved, **more)
        if progress.moved:
            self.observer.note(_moved(progress.moved))

    def _meet_memory(self, text: JournalText, most_mib: int, *, begun: bool) -> None:
        """Keep what no bot may exceed, and tell it if there are matches that were played with another limit."""
        before = text.most_memory_mib
        if most_mib == before:
            return
        change = f"most memory of a bot: {most_memory_words(before)} -> {most_memory_words(most_mib)}"
        self.journal.append(EVENT, machine={}, changes=[change] if begun else [], most_memory_mib=most_mib)
        if begun:
            self.observer.note(_changed_since(change))

    def _end(self, text: JournalText, progress: RunProgress) -> Summary:
        """Of a run of which nothing is left to play."""
        total = progress.schedule.counted - progress.cancelled
        self.observer.begun(Reached(total, progress.found, 0))
        self.keeper.reveal(self.journal)
        # A run that was killed after its last record, but before it could say so, ends here.
        if not text.events or text.events[-1].kind != "finished" or self.journal.lines > len(text.events):
            self.journal.append("finished", rated=progress.found, missing=total - progress.found)
        return Summary(
            total,
            progress.found,
            0,
            0,
            (),
            progress.cancelled,
            stopped=False,
            complete=True,
            set_aside=progress.names_set_aside,
            decided=progress.schedule.decided,
            placings=tuple(progress.schedule.placings),
        )

    def _runner(self, executor: Executor, text: JournalText, progress: RunProgress) -> Runner:
        return Runner(
            progress,
            self.folder,
            executor,
            self.journal,
            self.observer,
            self.extent,
            attempts_of(text.events),
            memory_voids(text.events),
            provider_voids(text.events),
            self.keeper,
            self.tournament.processes.copies,
            self.steering,
            self.watch,
        )

    async def _run(self, executor: Executor, text: JournalText, progress: RunProgress) -> Summary:
        stop = asyncio.Event()

        def on_signal() -> None:
            if stop.is_set():
                executor.kill()
                return
            stop.set()
            self.observer.note("stopping: matches in progress get a few seconds; once more ends them at once")

        loop = asyncio.get_running_loop()
        heard = [number for number in STOP_SIGNALS if signal.getsignal(number) is not signal.SIG_IGN]  # nohup's, say
        for number in heard:
            loop.add_signal_handler(number, on_signal)
        try:
            async with executor:
                summary = await self._runner(executor, text, progress).run(stop)
                while summary.changed and self.steering is not None and not self.steering.needs_bots:
                    text, progress = self._taken_up(self.steering)
                    then = await self._runner(executor, text, progress).run(stop)
                    summary = after(summary, then)
                if self.steering is not None:
                    self.steering.goes_on = summary.changed
                return summary
        except PlatformError as error:
            with suppress(PlatformError):  # the disk may be the very trouble
                progress.anchors.flush()
                self.journal.append("stopped", why=str(error))
            raise
        finally:
            for number in heard:
                loop.remove_signal_handler(number)

    def _taken_up(self, steering: Steering) -> tuple[JournalText, RunProgress]:
        """The run with what was ordered, while its bots go on running. Nothing is in play."""
        text = read_journal(self.folder.journal)
        anchors = AnchorKeeper(self.journal, anchors_of(text.events).digests)
        progress = self.progress_of(text, anchors, self.folder.records.tidy())
        self._resumed(progress, steering.taken_up())
        anchors.flush()
        return text, progress


def _annul_mirrors(
    journal: Journal, text: JournalText, folder: RunFolder, tournament: Tournament, observer: Observer
) -> JournalText:
    """The journal with an annulment of each match against itself that a bot cannot begin, as it takes fewer seats at a
    time. No run can begin with such a bot, but older versions began some."""
    config, gone = tournament.config, departures(text.controls)
    seats_at_once = {
        entry.id: bot.copies if bot.remote is None else 1
        for entry, bot in zip(tournament.entries, tournament.bots, strict=True)
        if entry.id not in gone and too_few_copies(bot, config.settings, config.players)
    }
    run = Run(folder, text)
    if not seats_at_once or run.finished:
        return text
    done = {*folder.records.paths(), *(control.match_id for control in in_force(text.controls))}
    annulled: Counter[str] = Counter()
    for spec in known_matches(run.schedule_config, controls=text.controls):
        bot, seats = spec.seats[0], len(spec.seats)
        at_once = seats_at_once.get(bot.entry_id, seats)
        if at_once < seats and spec.match_id not in done and all(seat.entry_id == bot.entry_id for seat in spec.seats):
            why = f"it takes {at_once} of the {plural(seats, 'seat')}"
            match_id, out = spec.match_id, tuple(gone)
            journal.control(Control("annulled", spec.place, match_id=match_id, by="rule", reason=why, out=out))
            annulled[f"of '{bot.name}' against itself, as {why}"] += 1
    for what, number in annulled.items():
        observer.note(f"annulled: {plural(number, 'match')} {what}")
    return read_journal(folder.journal) if annulled else text


def _moved(paths: Sequence[Path]) -> str:
    """What the user is told of records that were set aside."""
    some = ", ".join(path.name for path in paths[:3]) + (", ..." if len(paths) > 3 else "")
    count = "1 record that does not count was" if len(paths) == 1 else f"{len(paths)} records that do not count were"
    return f"{count} set aside in {paths[0].parent}: {some}; what is missing is played again"


def _lost(match_ids: Sequence[str]) -> str:
    """What the user is told of matches whose records are gone."""
    some = ", ".join(match_ids[:3]) + (", ..." if len(match_ids) > 3 else "")
    who = "1 match that counted has" if len(match_ids) == 1 else f"{len(match_ids)} matches that counted have"
    return f"{who} no record any more: {some}; what is missing is played again"


def _meet_machine(
    journal: Journal,
    text: JournalText,
    folder: RunFolder,
    tournament: Tournament,
    observer: Observer,
    machine: Machine,
    *,
    accept_weaker: bool,
) -> None:
    """Tell what this machine has otherwise than the run had it, and keep that. ChangedError for a weaker sandbox."""
    if text.created is None:
        return
    known = text.machine
    before = {**profiles_in(folder.records, machine.keys() - known.keys()), **known}
    found = machine_changes(before, machine, {entry.id: entry.name for entry in tournament.entries})
    check_sandboxes(found, accept=accept_weaker)
    news = {entry_id: facts for entry_id, facts in machine.items() if known.get(entry_id) != facts}
    if news:
        journal.append(EVENT, machine=news, changes=[str(change) for change in found])
    for change in found:
        observer.note(_changed_since(str(change)))


def _meet_settings(journal: Journal, text: JournalText, tournament: Tournament, observer: Observer) -> None:
    """Tell what of the file changes how matches are played and may change, and keep that."""
    before, now = text.settings, loose_settings(tournament)
    if text.created is None or before == now:
        return
    before = now if before is None else before  # only an older version has played
    names = [name for name in {**before, **now} if before.get(name) != now.get(name)]
    changes = [_change(name, before.get(name), now.get(name)) for name in names]
    journal.append(EVENT, machine={}, changes=changes, settings=now)
    for change in changes:
        observer.note(_changed_since(change))


def _change(what: str, before: object, now: object) -> str:
    return f"{what}: {_shown(before)} -> {_shown(now)}"


def _shown(value: object) -> str:
    if isinstance(value, float):
        return f"{value:g}"
    return str(value or "none") if value is None or isinstance(value, str) else shown_toml(value)


def _changed_since(change: str) -> str:
    return one_line(f"changed since this run was played last: {change}")


def _create(journal: Journal, tournament: Tournament, keeper: SecretKeeper, machine: Machine) -> None:
    description = describe(tournament)
    journal.append(
        CREATED,
        format=FORMAT,
        hash=digest(description),
        configuration=description,
        file=str(tournament.config.path.resolve()),
        folders=[str(entry.folder) if entry.argv else "" for entry in tournament.entries],
        contents=[entry.content for entry in tournament.entries],
        machine=machine,
        settings=loose_settings(tournament),
        commitment=keeper.commitment,
        **({RATINGS: {"anchor": tournament.rating_anchors}} if tournament.rating_anchors else {}),
        **{BOT_DEFAULTS: dict(tournament.config.bot_defaults)},
        **({"left_out": [asdict(one) for one in tournament.left_out]} if tournament.left_out else {}),
    )
