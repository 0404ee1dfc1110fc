"""Measures CPU time and memory of the processes of one bot, cheaply: a few microseconds each time."""

import os
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from referee.process.processes import processes

MOST_TASKS = 64
"""So many threads are asked for their delay, the oldest of each process first: a bot with more costs no more."""

_MOST_FILES = 16  # kept open per bot; the referee has others to open
_TREE_AGE_NS = 20_000_000
"""After this time it is asked again which processes there are."""
_MOST_TREE_AGE_NS = 200_000_000
"""After this time they are listed again, even if the system says that no process has begun since."""
_THROTTLED_UNITS_NS = {b"throttled_time": 1, b"throttled_usec": 1000}  # version 1 and 2


class Meter:
    """All that is below `root`, a guardian: the bot, its children and what double-forked. Owns a few open files."""

    def __init__(self, root: int, cpu: tuple[Path, int] | None = None, throttle: Path | None = None) -> None:
        """`cpu`, where there is one: the file of a control group, and what its first number is to be multiplied by to
        be nanoseconds. `throttle`: the file of one that has a line "throttled_time" or "throttled_usec"."""
        self._root = root
        self.counts_all = cpu is not None
        """Whether `cpu_ns` has the time of processes, too, that came and went between two looks."""
        self._cpu_file: int | None = None
        self._cpu_unit = 1
        if cpu is not None:
            self._cpu_file, self._cpu_unit = os.open(cpu[0], os.O_RDONLY), cpu[1]
        try:
            self._throttle_file = None if throttle is None else os.open(throttle, os.O_RDONLY)
        except OSError:
            if self._cpu_file is not None:
                os.close(self._cpu_file)
            raise
        self._throttled_ns = 0
        self._pids: tuple[int, ...] = ()
        self._looked_ns = self._listed_ns = -_MOST_TREE_AGE_NS
        self._newest = b""
        self._settled = False
        """Whether the processes were listed once more since `_newest` was new: a process has its id a moment before it
        is in a list."""
        self._cpu_ns: dict[int, int] = {}
        self._delay_ns: dict[int, int] = {}
        self._files: dict[int, int] = {}

    def cpu_ns(self) -> int:
        """User and system time of all processes; without a control group, of the dead what was seen last."""
        if self._cpu_file is not None:
            with suppress(OSError, ValueError, IndexError):
                self._cpu_ns = {0: int(os.pread(self._cpu_file, 64, 0).split()[self._cpu_unit != 1]) * self._cpu_unit}
            return sum(self._cpu_ns.values())
        for pid in self._members():
            try:
                # The kernel's id for the CPU clock of a process, as clock_getcpuclockid(3) makes it.
                self._cpu_ns[pid] = time.clock_gettime_ns((~pid << 3) | 2)
            except OSError:
                continue
        return sum(self._cpu_ns.values())

    def throttled_ns(self) -> int:
        """How long a limit on the processor time of the whole bot kept it from running, summed over processors; 0 if it
        has none. The system counts it when it is over, before any task of the bot runs again."""
        if self._throttle_file is not None:
            with suppress(OSError, ValueError):
                for line in os.pread(self._throttle_file, 4096, 0).splitlines():
                    name, _, value = line.partition(b" ")
                    if name in _THROTTLED_UNITS_NS:
                        self._throttled_ns = int(value) * _THROTTLED_UNITS_NS[name]
        return self._throttled_ns

    def run_delay_ns(self) -> int:
        """How long the threads seen so far were ready to run and did not get a processor, summed.

        A wait that still goes on is counted when it ends.
        """
        for pid, task in self._tasks():
            delay_ns = self._read_delay(pid, task)
            if delay_ns is not None:
                self._delay_ns[task] = delay_ns
        return sum(self._delay_ns.values())

    def look(self) -> tuple[int, ...]:
        """The processes as they are now, parents first."""
        self._pids = tuple(_below(self._root))
        self._looked_ns = self._listed_ns = time.monotonic_ns()
        return self._pids

    def close(self) -> None:
        """The sums seen last stay."""
        for file in (self._cpu_file, self._throttle_file):
            if file is not None:
                os.close(file)
        self._cpu_file = self._throttle_file = None
        while self._files:
            os.close(self._files.popitem()[1])
        self._pids = ()
        self._looked_ns = 1 << 62

    def _members(self) -> tuple[int, ...]:
        now_ns = time.monotonic_ns()
        if now_ns - self._looked_ns < _TREE_AGE_NS:
            return self._pids
        newest = newest_process()
        if newest != self._newest or not newest:
            self._newest, self._settled = newest, False
        elif not self._settled:
            self._settled = True
        elif now_ns - self._listed_ns < _MOST_TREE_AGE_NS:
            self._looked_ns = now_ns
            return self._pids
        return self.look()

    def _tasks(self) -> Iterator[tuple[int, int]]:
        """(process, thread), at most `MOST_TASKS`."""
        left = MOST_TASKS
        for pid in self._members():
            try:
                names = os.listdir(f"/proc/{pid}/task")  # noqa: PTH208 - a tenth of the cost
            except OSError:
                continue
            for name in names[:left]:
                yield pid, int(name)
            left -= len(names)
            if left <= 0:
                return

    def _read_delay(self, pid: int, task: int) -> int | None:
        file = self._files.get(task)
        try:
            if file is not None:
                return int(os.pread(file, 128, 0).split()[1])
            file = os.open(f"/proc/{pid}/task/{task}/schedstat", os.O_RDONLY | os.O_CLOEXEC)
        except (OSError, IndexError, ValueError):
            if file is not None:
                os.close(self._files.pop(task))
            return None
        try:
            return int(os.read(file, 128).split()[1])
        except (OSError, IndexError, ValueError):  # gone, or a kernel without schedstat
            return None
        finally:
            if len(self._files) < _MOST_FILES:
                self._files[task] = file
            else:
                os.close(file)


def newest_process() -> bytes:
    """The id of the process or thread that has begun last on this machine; empty where the system does not tell.

    To list the processes of a bot takes ten times as long, or more, and finds no other ones while this is the same.
    """
    return read_small("/proc/sys/kernel/ns_last_pid", 32)


def read_small(path: str, most: int = 65536) -> bytes:
    """A file of /proc that one read gets whole; empty if it cannot be read."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        return os.read(file, most)
    except OSError:
        return b""
    finally:
        os.close(file)


def _below(root: int) -> Iterator[int]:
    waiting = [root]
    seen = {root}
    while waiting:
        pid = waiting.pop(0)
        for child in _children(pid):
            if child not in seen:
                seen.add(child)
                waiting.append(child)
                yield child


def _children(pid: int) -> Iterable[int]:
    if not HAS_CHILDREN:
        return [child for child, place in processes().items() if place[0] == pid]
    try:
        tasks = os.listdir(f"/proc/{pid}/task")  # noqa: PTH208
    except OSError:
        return []
    found: list[int] = []
    for task in tasks:
        try:
            file = os.open(f"/proc/{pid}/task/{task}/children", os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            continue
        data = b""
        try:
            while part := os.read(file, 65536):
                data += part
        except OSError:
            pass
        finally:
            os.close(file)
        found += map(int, data.split())
    return found


HAS_CHILDREN = os.path.exists(f"/proc/self/task/{os.getpid()}/children")  # noqa: PTH110 - CONFIG_PROC_CHILDREN
