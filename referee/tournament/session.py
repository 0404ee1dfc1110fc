"""One run of the command from lock to unlock: take the folder, see what is there, play the rest."""

import asyncio
import signal
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import asdict
from pathlib import Path

from referee.errors import PlatformError
from referee.event_loop import run_loop
from referee.garbage import no_collection
from referee.record.journal import LEAVING, Control, anchors_of, forgiven_faults, in_force
from referee.run.anchors import AnchorKeeper
from referee.run.decisions import length_words, next_place
from referee.run.folder import RunFolder, check_configuration, lengthening
from referee.run.journal import CREATED, FORMAT, RATINGS, Journal, JournalText, read_journal
from referee.run.judging import Judged
from referee.run.lock import RunLock
from referee.run.luck import SecretKeeper, begin, take_up
from referee.run.run import Run
from referee.schedule.config import ScheduleConfig, digest
from referee.schedule.formats.api import Extent
from referee.schedule.schedule import Schedule
from referee.schedule.seeds import MatchSeeds
from referee.texts import one_line
from referee.tournament.attempts import Attempts, attempts_of, memory_voids
from referee.tournament.breaker import Breaker
from referee.tournament.config import Tournament
from referee.tournament.executor import Executor
from referee.tournament.identity import config_of, describe
from referee.tournament.machine import EVENT, Machine, check_sandboxes, known_machine, machine_changes
from referee.tournament.progress import Decide, Reached, RunProgress, Summary
from referee.tournament.remembered import Remembering, read_remembered
from referee.tournament.runner import Observer, Runner
from referee.tournament.sections import BreakerConfig

MAX_LEAD = 100_000
"""Matches beyond the first one that is not settled that may be begun: bounds memory, holds nobody up."""

DECIDING_LEAD = 64
"""The same where a stopping rule may make all of them superfluous."""

MakeExecutor = Callable[[int, int], Executor]
"""(matches to play, file descriptor of the lock) -> executor."""

OnJudged = Callable[[str, Path, Judged], None]
"""(match id, its record, what it is)"""

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
    accept_weaker: bool = False,
    head_file: Path | None = None,
    on_judged: OnJudged = lambda _match_id, _record, _judged: None,
) -> Summary:
    """Take the run in `folder` up, or begin it, and play until all is played or a signal says stop.

    `decide` is asked about every complete block in schedule order, found ones too, and ends the run when it says True:
    what is in play then finishes, is recorded under `matches/void`, and changes neither verdict nor table.

    `secrets` are those of the luck, by epoch, to be used instead of random ones. `machine` is what comes from this
    machine: changes since the run was played last are told and kept in the journal. A weaker sandbox is refused unless
    `accept_weaker`. `head_file` is where the head of the journal is written as well, from here on.
    `on_judged` is called for each record that counts, those that are found first.

    BusyError, ChangedError, JournalError, UsageError or PlatformError; what was played is kept in every case.
    """
    machine = machine or {}
    folder.make()
    with ExitStack() as stack:
        lock = stack.enter_context(RunLock(folder.lock))
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
        else:
            keeper = take_up(folder.secrets, text, seed, secrets)
            journal = stack.enter_context(Journal(folder.journal, text))
            if longer := lengthening(text, description):
                control = Control("extended", next_place(folder), by="file", length=longer)
                journal.control(control)
                observer.note(f"extended, as the tournament file is longer than before: {length_words(longer)}")
                text = read_journal(folder.journal)
            if tournament.rating_anchors != text.rating_anchors:
                journal.append(RATINGS, anchor=tournament.rating_anchors)
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

        attempts = attempts_of(text.events)
        progress = open_progress(
            config_of(tournament) if text.created is None else Run(folder, text).schedule_config,
            tournament.config.breaker,
            folder,
            keeper.seeds,
            text.controls,
            attempts,
            on_control,
            observer.revoked,
            anchors,
            decide,
            on_judged,
        )
        progress.remembered = read_remembered(folder.path)
        progress.on_judged = stack.enter_context(Remembering(folder.path)).note
        with no_collection():
            progress.take(files)
        first = progress.next()
        if first is not None:
            progress.put_back(first)
            _meet_machine(journal, text, tournament, observer, machine, accept_weaker=accept_weaker)
        anchors.flush()
        summary = _go_on(tournament, folder, make_executor, observer, lock, journal, text, progress, attempts, keeper)
        try:
            journal.write_head()
        except PlatformError as error:
            observer.note(f"warning: {error}")
        return summary


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
    on_judged: OnJudged = lambda _match_id, _record, _judged: None,
) -> RunProgress:
    """The progress of a run, whose records are not taken yet. Needs the lock."""
    breaker = Breaker(breaker_config)
    breaker.forgive(forgiven_faults(controls))
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
        lead=MAX_LEAD if decide is None else DECIDING_LEAD,
        on_judged=on_judged,
    )


def _go_on(
    tournament: Tournament,
    folder: RunFolder,
    make_executor: MakeExecutor,
    observer: Observer,
    lock: RunLock,
    journal: Journal,
    text: JournalText,
    progress: RunProgress,
    attempts: dict[str, Attempts],
    keeper: SecretKeeper,
) -> Summary:
    first = progress.next()
    if text.created is not None and (first is not None or progress.moved):
        journal.append("resumed", rated=progress.found, set_aside=[path.name for path in progress.moved])
    if progress.moved:
        observer.note(_moved(progress.moved))
    if first is None:
        total = progress.schedule.counted - progress.cancelled
        observer.begun(Reached(total, progress.found, 0))
        keeper.reveal(journal)
        # A run that was killed after its last record, but before it could say so, ends here.
        if not text.events or text.events[-1].kind != "finished" or journal.lines > len(text.events):
            journal.append("finished", rated=progress.found, missing=total - progress.found)
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
    progress.put_back(first)
    keeper.commit(folder.secrets, journal)

    def extent() -> Extent:
        return Run(folder).extent

    executor = make_executor(max(1, extent().most - progress.found), lock.fd)
    runner = Runner(
        progress,
        folder,
        executor,
        journal,
        observer,
        extent,
        attempts,
        memory_voids(text.events),
        keeper,
        tournament.processes.copies,
    )
    return run_loop(_run(runner, executor, journal, progress.anchors, observer))


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
    tournament: Tournament,
    observer: Observer,
    machine: Machine,
    *,
    accept_weaker: bool,
) -> None:
    """Tell what this machine has otherwise than the run had it, and keep that. ChangedError for a weaker sandbox."""
    if text.created is None:
        return
    known = known_machine(text)
    found = machine_changes(known, machine, {entry.id: entry.name for entry in tournament.entries})
    check_sandboxes(found, accept=accept_weaker)
    news = {entry_id: facts for entry_id, facts in machine.items() if known.get(entry_id) != facts}
    if news:
        journal.append(EVENT, machine=news, changes=[str(change) for change in found])
    for change in found:
        observer.note(one_line(f"changed since this run was played last: {change}"))


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
        commitment=keeper.commitment,
        **({RATINGS: {"anchor": tournament.rating_anchors}} if tournament.rating_anchors else {}),
        **({"left_out": [asdict(one) for one in tournament.left_out]} if tournament.left_out else {}),
    )


async def _run(
    runner: Runner, executor: Executor, journal: Journal, anchors: AnchorKeeper, observer: Observer
) -> Summary:
    stop = asyncio.Event()

    def on_signal() -> None:
        if stop.is_set():
            executor.kill()
            return
        stop.set()
        observer.note("stopping: matches in progress get a few seconds; once more ends them at once")

    loop = asyncio.get_running_loop()
    heard = [number for number in STOP_SIGNALS if signal.getsignal(number) is not signal.SIG_IGN]  # nohup's, say
    for number in heard:
        loop.add_signal_handler(number, on_signal)
    try:
        async with executor:
            return await runner.run(stop)
    except PlatformError as error:
        with suppress(PlatformError):  # the disk may be the very trouble
            anchors.flush()
            journal.append("stopped", why=str(error))
        raise
    finally:
        for number in heard:
            loop.remove_signal_handler(number)
