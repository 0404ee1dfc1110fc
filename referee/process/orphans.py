"""Second line, for when a guardian was killed: ends what it can end no more.

The bot itself dies by its parent-death signal. What it had double-forked becomes a child of the nearest subreaper, so
workers and the runner have a `Household`, and sweep after a lost guardian or worker. `end_marked` finds descendants
wherever they went, as long as they kept the environment they were given. Nothing ever goes by name, and nothing that
another run on this machine has started is touched.
"""

import os
import signal
import time
from collections.abc import Callable, Collection
from functools import partial

from referee.process.child import PR_SET_PDEATHSIG, prctl
from referee.process.processes import become_subreaper, children, descendants, processes, stop_then_kill, targets

_PAUSE_S = 0.002


def wake_when_parent_dies() -> None:
    """Even if somebody has stopped it, this process then goes on, and can see that it is alone. Raises OSError."""
    prctl(PR_SET_PDEATHSIG, signal.SIGCONT)


def sweep_orphans(keep: Collection[int], *, timeout_s: float = 2.0) -> int:
    """Kills every child of this process that is not in `keep`, with all below it; `keep` and what is below it stay.

    `keep` must name all children this process has started itself (guardians, workers); call it in the thread that
    starts them. Returns how many were killed; what cannot die within `timeout_s` is left.
    """
    spare = frozenset(keep)

    def reap_mine() -> None:
        for pid in children(os.getpid()):
            if pid not in spare:
                reap(pid)

    return _end(partial(descendants, spare), reap_mine, timeout_s)


class Household:
    """The children a process has started itself, and must all `add`; every other child it has is an orphan.

    Making one makes this process a subreaper, for good: only for processes that are ours alone, as workers and the
    runner are. To be used in the thread that starts the children.
    """

    def __init__(self) -> None:
        """Raises OSError."""
        become_subreaper()
        self._own: set[int] = set()

    def add(self, pid: int) -> None:
        self._own.add(pid)

    def discard(self, pid: int) -> None:
        """A child that has been reaped: its number may come again."""
        self._own.discard(pid)

    def tidy(self) -> bool:
        """Takes note of orphans that are dead. Returns whether some are not."""
        for pid in children(os.getpid()):
            if pid not in self._own:
                reap(pid)
        return any(pid not in self._own for pid in children(os.getpid()))

    def sweep(self) -> int:
        """Kills all orphans, with all below them. Blocks for milliseconds; returns how many were killed."""
        return sweep_orphans(self._own)


def end_marked(*variables: str, timeout_s: float = 2.0) -> int:
    """Kills every process whose environment has all `variables` ("NAME=value"), except this one. Returns how many.

    One of them must be a secret or a path of one bot alone: this looks at all processes of the machine.
    """
    wanted = {variable.encode() for variable in variables}
    seen: set[int] = set()

    def find() -> set[int]:
        there = processes()
        found = {pid for pid in there if pid != os.getpid() and wanted <= _environment(pid)}
        seen.update(found)
        return targets(found, there)

    def reap_seen() -> None:
        for pid in seen:
            reap(pid)

    return _end(find, reap_seen, timeout_s)


def _end(find: Callable[[], set[int]], reap_found: Callable[[], None], timeout_s: float) -> int:
    end_s = time.monotonic() + timeout_s
    killed: set[int] = set()
    while fresh := stop_then_kill(find):
        killed |= fresh
        if time.monotonic() >= end_s:
            break
        reap_found()
        time.sleep(_PAUSE_S)
    return sum(target > 0 for target in killed)


def _environment(pid: int) -> set[bytes]:
    """As given at its exec; empty for a zombie and for what may not be read."""
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:  # noqa: PTH123 - a thousand times, perhaps
            return set(file.read().split(b"\0"))
    except OSError:
        return set()


def reap(pid: int) -> None:
    """Takes note of a child's death. Harmless for what is not our child or not dead yet."""
    try:
        os.waitpid(pid, os.WNOHANG)
    except ChildProcessError:
        return


__all__ = ["Household", "become_subreaper", "end_marked", "reap", "sweep_orphans", "wake_when_parent_dies"]
