"""What each table gets of this machine: its cores, and how much memory each bot may have at most."""

import os
import sys
from collections.abc import Sequence

from referee.errors import PlatformError, UsageError
from referee.process.limits import LEAST_MIB, Room, Share
from referee.tournament.config import Tournament

THREADS_OPTION = "threads"
"""A bot that computes with several threads says so in an option of this name."""

_PIN = "import os, sys; os.sched_setaffinity(0, map(int, sys.argv[1].split(','))); os.execv(sys.argv[2], sys.argv[2:])"


def split_cores(workers: int, cores: Sequence[int]) -> list[tuple[int, ...]]:
    """Disjoint sets of equal size, one for each worker; what does not divide is left to the runner. UsageError."""
    size = len(cores) // workers
    if size == 0:
        raise UsageError(
            f"--pin gives each worker cores of its own; there are {workers} workers and {len(cores)} cores",
            f"use fewer workers: --workers {len(cores)}, or leave --pin out",
        )
    ordered = sorted(cores)
    return [tuple(ordered[number * size : (number + 1) * size]) for number in range(workers)]


def pinned(command: Sequence[str], cores: Sequence[int]) -> tuple[str, ...]:
    """The command, bound to these cores before it is executed, so that every thread and child of it is."""
    return (sys.executable, "-I", "-S", "-c", _PIN, ",".join(map(str, cores)), *command)


def too_many_threads(tournament: Tournament, workers: int, cores: int) -> str:
    """A sentence if tables could ask for more cores than there are, else ''. At each table one bot thinks at a time,
    but for those that ponder."""
    started = [entry for entry in tournament.entries if entry.argv]
    threads = max((_threads(entry.options.get(THREADS_OPTION)) for entry in started), default=1)
    if workers * threads <= cores:
        return ""
    each = "1 thread" if threads == 1 else f"up to {threads} threads"
    return f"{workers} workers with {each} each share {cores} cores: bots wait for each other; use fewer --workers"


def available_cores() -> list[int]:
    """The cores this process may use."""
    return sorted(os.sched_getaffinity(0))


def _threads(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 1


def share_memory(tournament: Tournament, workers: int, room: Room) -> tuple[int, str]:
    """The most that a bot may have, in MiB, and a sentence for the organiser if that is less than the file allows.

    PlatformError if no bot could start with it.
    """
    config = tournament.config
    seats = max((players for game in config.games for players in game.players), default=2)
    tables = workers + (config.remote is not None)
    share = Share(room, tables, tables * seats)
    if not share.is_enough:
        raise PlatformError(
            f"each bot could have {share.mib} MiB of memory, and needs {LEAST_MIB} MiB: {share.words()}",
            "use fewer --workers, or give the referee more memory",
        )
    wanted = [config.limits.with_clock(bot.clock).memory_mib for bot in tournament.bots]
    if all(0 < mib <= share.mib for mib in wanted):
        return share.mib, ""
    step = "use fewer --workers for more" if workers > 1 else "give the referee more memory"
    return share.mib, share.lowered_words(step)
