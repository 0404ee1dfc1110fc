"""One run of the command from lock to unlock: take the folder, see what is there, play the rest."""

import asyncio
import signal
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path

from referee.tournament.config import Tournament
from referee.tournament.errors import PlatformError
from referee.tournament.executor import Executor
from referee.tournament.folder import RunFolder, check_configuration
from referee.tournament.identity import describe, digest
from referee.tournament.journal import CREATED, FORMAT, Journal, JournalText, read_journal
from referee.tournament.lock import RunLock
from referee.tournament.records import COUNTS, close_if_live, record_files, set_aside, why_not
from referee.tournament.runner import Observer, Runner, Summary
from referee.tournament.schedule import count, schedule

MakeExecutor = Callable[[int, int], Executor]
"""(matches to play, file descriptor of the lock) -> executor."""

STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@dataclass(frozen=True, slots=True)
class Found:
    """What a run folder holds: places of the schedule that count, and files that were set aside."""

    done: set[int]
    set_aside: list[Path]


def run_session(tournament: Tournament, folder: RunFolder, make_executor: MakeExecutor, observer: Observer) -> Summary:
    """Take the run in `folder` up, or begin it, and play until all is played or a signal says stop.

    BusyError, ChangedError, JournalError or PlatformError; what was played is kept in every case.
    """
    folder.make()
    with ExitStack() as stack:
        lock = stack.enter_context(RunLock(folder.lock))
        text = read_journal(folder.journal)
        error = check_configuration(folder, text, describe(tournament))
        if error is not None:
            raise error
        journal = stack.enter_context(Journal(folder.journal, text))
        found = take_stock(folder, tournament)
        _open(journal, text, tournament, found)
        missing = count(tournament) - len(found.done)
        if missing == 0:
            observer.begun(count(tournament), len(found.done))
            return Summary(count(tournament), len(found.done), 0, 0, (), 0, stopped=False)
        return asyncio.run(_run(tournament, folder, make_executor(missing, lock.fd), journal, observer, found.done))


def take_stock(folder: RunFolder, tournament: Tournament) -> Found:
    """See which records count; everything else in `matches/` is set aside. Needs the lock."""
    files = record_files(folder)
    done: set[int] = set()
    moved: list[Path] = []
    for spec in schedule(tournament) if files else ():
        path = files.pop(spec.match_id, None)
        if path is None:
            continue
        why = why_not(path, spec)
        if why == COUNTS:
            close_if_live(path)
            done.add(spec.place)
        else:
            moved.append(set_aside(folder, path, why))
        if not files:
            break
    moved += [set_aside(folder, path, "foreign") for path in files.values()]
    return Found(done, moved)


def _open(journal: Journal, text: JournalText, tournament: Tournament, found: Found) -> None:
    description = describe(tournament)
    if text.created is None:
        journal.append(
            CREATED,
            format=FORMAT,
            hash=digest(description),
            configuration=description,
            file=str(tournament.config.path.resolve()),
            folders=[str(entry.folder) for entry in tournament.entries],
        )
    elif len(found.done) < count(tournament) or found.set_aside:
        journal.append("resumed", rated=len(found.done), set_aside=[path.name for path in found.set_aside])


async def _run(
    tournament: Tournament,
    folder: RunFolder,
    executor: Executor,
    journal: Journal,
    observer: Observer,
    done: set[int],
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
            return await Runner(tournament, folder, executor, journal, observer, done).run(stop)
    except PlatformError as error:
        with suppress(PlatformError):  # the disk may be the very trouble
            journal.append("stopped", why=str(error))
        raise
    finally:
        for number in heard:
            loop.remove_signal_handler(number)
