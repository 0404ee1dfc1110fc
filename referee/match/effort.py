"""What the tasks of a bot did: ran, or were ready to run and waited for a processor.

From `/proc/PID/task/TID/schedstat`, for every thread of every process of the bot. It costs about ten microseconds a
thread, so it is asked for only when a decision lasts.
"""

import os
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

from referee.process.meter import read_small

MAX_TASKS = 256
"""A bot with more has nothing excused: reading them all would hold the referee up."""


@dataclass(frozen=True, slots=True)
class Effort:
    """Per task (by thread id) its time on a processor and its time in the queue for one, nanoseconds, since it began.

    Empty where the system does not tell, or the bot has too many tasks. A wait that still goes on is in it only when it
    has ended.
    """

    tasks: Mapping[int, tuple[int, int]]
    throttled_ns: int = 0
    """How long the bot's own limit on processor time kept tasks in that queue, summed over processors. Read after
    `tasks`, so that no wait is in them whose cause is not in this."""

    processes: frozenset[str] = frozenset()
    """The ids of the bot's processes, where nobody counts the time of those that came and went between two looks; empty
    where a control group does."""

    def excused_ns(self, before: "Effort", cpu_ns: int) -> int:
        """How long the bot was kept from running since `before`, at the least, by others than itself.

        While one of its tasks waits for a processor, somebody runs there: either a stranger, or another task of the
        bot, and all its other tasks together ran no longer than `cpu_ns` less what this one ran. So a bot that starts
        many threads, or ties them to one processor, has nothing excused that it caused. The task with the longest
        excuse counts; excuses are not added up, for tasks wait side by side.

        While the bot's own limit keeps it waiting nobody needs to run at all: that is taken off every wait, summed over
        processors as it is told, so that a bot with many busy tasks that has reached its limit has little excused.

        `cpu_ns` is what the whole bot used in that time, as the system tells it: also for tasks that are gone. Where it
        is not told for processes that are gone, a bot whose processes are not the same any more has nothing excused.
        """
        if not before.tasks or self.processes != before.processes:
            return 0
        return self._kept_ns(before, cpu_ns)

    def excused_at_start_ns(self, cpu_ns: int) -> int:
        """The same since the bot's first process began, whose processes come and go while it starts. `cpu_ns` is all
        that it has used."""
        return self._kept_ns(NO_EFFORT, cpu_ns)

    def _kept_ns(self, before: "Effort", cpu_ns: int) -> int:
        deltas = [
            (ran - old[0], waited - old[1])
            for task, (ran, waited) in self.tasks.items()
            for old in (before.tasks.get(task, _NEW),)
        ]
        used_ns = max(cpu_ns, sum(ran for ran, _ in deltas))
        own_ns = self.throttled_ns - before.throttled_ns
        return max([0, *(waited - (used_ns - ran) - own_ns for ran, waited in deltas)])


_NEW = (0, 0)
NO_EFFORT = Effort({})
"""The system does not tell."""


def measure_effort(root: int) -> Effort:
    """The effort of all processes below `root`, without itself."""
    return _effort(_tasks(root))


def _effort(folders: Iterator[str]) -> Effort:
    tasks: dict[int, tuple[int, int]] = {}
    processes: set[str] = set()
    for folder in folders:
        _, _, process, _, task = folder.split("/")
        processes.add(process)
        words = read_small(f"{folder}/schedstat").split()
        if len(words) >= 2:
            tasks[int(task)] = int(words[0]), int(words[1])
        if len(tasks) > MAX_TASKS:
            return NO_EFFORT
    return Effort(tasks, processes=frozenset(processes))


def state_below(root: int) -> str:
    """One letter as in `ps`: R if any task below `root` runs or is ready to, else that of the first process."""
    first = ""
    for number, folder in enumerate(_tasks(root)):
        state = _state(folder)
        if state == "R":
            return state
        first = first or state
        if number == MAX_TASKS:
            break
    return first


def ready_below(root: int) -> frozenset[int]:
    """The threads below `root` that run or are ready to."""
    return frozenset(
        int(folder.rpartition("/")[2]) for folder in islice(_tasks(root), MAX_TASKS) if _state(folder) == "R"
    )


def _state(folder: str) -> str:
    return read_small(f"{folder}/stat").rpartition(b") ")[2][:1].decode("ascii", "replace")


def _tasks(root: int) -> Iterator[str]:
    """The folder in /proc of every thread of every process below `root`, parents first."""
    waiting = deque(_children(f"/proc/{root}/task"))
    while waiting:
        folder = f"/proc/{waiting.popleft()}/task"
        yield from _threads(folder)
        waiting += _children(folder)


def _children(folder: str) -> list[str]:
    found: list[str] = []
    for thread in _threads(folder):
        found += read_small(f"{thread}/children").decode("ascii").split()
    return found


def _threads(folder: str) -> list[str]:
    try:
        return [f"{folder}/{thread}" for thread in os.listdir(folder)]  # noqa: PTH208 - names only, and often
    except OSError:
        return []
