"""Ends the processes that a killed guardian could not end.

The bot itself dies by its parent-death signal. Processes that it double-forked become children of the nearest
subreaper. Workers and the runner are subreapers: they have a `ChildReaper` and sweep after a lost guardian or worker.
`end_marked` finds descendants anywhere, as long as they kept their environment. Nothing is found by its program's name,
and processes of other runs on this machine are never touched.
"""

import os
import signal
import time
from collections.abc import Callable, Collection
from functools import partial

from referee.process.processes import (
    PR_SET_PDEATHSIG,
    become_subreaper,
    children,
    descendants,
    prctl,
    processes,
    stop_then_kill,
    targets,
)

_PAUSE_S = 0.002


def wake_when_parent_dies() -> None:
    """Continue this process when its parent dies, even if it was stopped, so that it can notice. Raises OSError."""
    prctl(PR_SET_PDEATHSIG, signal.SIGCONT)


def sweep_orphans(keep: Collection[int], *, timeout_s: float = 2.0) -> int:
    """Kill every child of this process that is not in `keep`, with its descendants.

    `keep` must name all children this process has started itself (guardians, workers); call it in the thread that
    starts them. Returns how many were killed; what cannot die within `timeout_s` is left.
    """
    spare = frozenset(keep)

    def reap_mine() -> None:
        for pid in children(os.getpid()):
            if pid not in spare:
                reap(pid)

    return _end(partial(descendants, spare), reap_mine, timeout_s)


class ChildReaper:
    """The children that this process has started, all of which must be added; every other child is an orphan.

    It makes this process a subreaper for good, so it is for processes of our own only: workers and the runner. Use it
    in the thread that starts the children.
    """

    def __init__(self) -> None:
        """Raises OSError."""
        become_subreaper()
        self._own: set[int] = set()

    def add(self, pid: int) -> None:
        self._own.add(pid)

    def discard(self, pid: int) -> None:
        """Forget a child that has been reaped: its process id may be used again."""
        self._own.discard(pid)

    def tidy(self) -> bool:
        """Reap dead orphans. Return whether living ones remain."""
        for pid in children(os.getpid()):
            if pid not in self._own:
                reap(pid)
        return any(pid not in self._own for pid in children(os.getpid()))

    def sweep(self) -> int:
        """Kill all orphans with their descendants and return how many were killed. Blocks for milliseconds."""
        return sweep_orphans(self._own)


def end_marked(*variables: str, timeout_s: float = 2.0) -> int:
    """Kills every process whose environment has all `variables` ("NAME=value"), except this one. Returns how many.

    One of them must be a secret or a path of one bot alone: this looks at all processes of the machine.
    """
    wanted = {variable.encode() for variable in variables}
    seen: set[int] = set()

    def find() -> set[int]:
        there = processes()
        environments = {pid: _environment(pid) for pid in there if pid != os.getpid()}
        found = {pid for pid, environment in environments.items() if wanted <= environment}
        if not found:  # one that is just executing a program has no environment for a moment
            time.sleep(_PAUSE_S)
            found = {
                pid for pid, environment in environments.items() if not environment and wanted <= _environment(pid)
            }
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
    """As given at its exec; empty while that is going on, for a zombie, and for what may not be read."""
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:  # noqa: PTH123 - a thousand times, perhaps
            return set(file.read().split(b"\0")) - {b""}
    except OSError:
        return set()


def reap(pid: int) -> None:
    """Reap a dead child. Does nothing for a living process or one that is not a child."""
    try:
        os.waitpid(pid, os.WNOHANG)
    except ChildProcessError:
        return


__all__ = ["ChildReaper", "become_subreaper", "end_marked", "reap", "sweep_orphans", "wake_when_parent_dies"]
