"""What the machine is busy with: this process and all below it, or others."""

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from referee.process.processes import processes

_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Busy:
    """Shares of all `cores`, from 0 to 1: what this process and those below it used, and what others did."""

    cores: int
    own: float
    others: float
    memory_used_mib: int
    memory_mib: int

    @property
    def words(self) -> str:
        """For people."""
        used, there = self.memory_used_mib / 1024, self.memory_mib / 1024
        return (
            f"{self.cores} cores: {self.own:.0%} this run, {self.others:.0%} other programs;"
            f" memory: {used:.1f} of {there:.1f} GiB"
        )


class BusyMeter:
    """Looks at the machine, from one call to the next."""

    def __init__(self, proc: Path = Path("/proc"), time_s: Callable[[], float] = time.monotonic) -> None:
        self._proc = proc
        self._time_s = time_s
        self._before: tuple[float, float, dict[int, float]] | None = None

    def look(self) -> Busy | None:
        """Since the last call; None at the first, and where the kernel does not say it."""
        try:
            cores, busy_s = self._machine()
            own = {pid: used for pid in self._family() if (used := self._used_s(pid)) is not None}
            used_mib, there_mib = self._memory()
        except (OSError, ValueError, LookupError):
            return None
        now_s = self._time_s()
        before, self._before = self._before, (now_s, busy_s, own)
        if before is None or now_s <= before[0]:
            return None
        whole_s = (now_s - before[0]) * cores
        # A process that has ended since took time that nobody can tell any more; it counts for others.
        own_s = sum(max(0.0, used - before[2].get(pid, 0.0)) for pid, used in own.items())
        share = min(1.0, own_s / whole_s)
        return Busy(cores, share, max(0.0, min(1.0, (busy_s - before[1]) / whole_s) - share), used_mib, there_mib)

    def _machine(self) -> tuple[int, float]:
        """How many cores there are, and for how long they were busy."""
        lines = (self._proc / "stat").read_text().splitlines()
        numbers = list(map(int, lines[0].split()[1:9]))
        idle = numbers[3] + numbers[4]
        return sum(line.startswith("cpu") for line in lines) - 1, (sum(numbers) - idle) / _TICKS

    def _memory(self) -> tuple[int, int]:
        found = dict(line.split(":") for line in (self._proc / "meminfo").read_text().splitlines())
        there, free = (int(found[name].split()[0]) // 1024 for name in ("MemTotal", "MemAvailable"))
        return there - free, there

    def _family(self) -> set[int]:
        below: dict[int, list[int]] = {}
        for pid, place in processes().items():
            below.setdefault(place[0], []).append(pid)
        found, waiting = {os.getpid()}, [os.getpid()]
        while waiting:
            new = [pid for pid in below.get(waiting.pop(), ()) if pid not in found]
            found.update(new)
            waiting.extend(new)
        return found

    def _used_s(self, pid: int) -> float | None:
        try:
            fields = (self._proc / str(pid) / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            return None
        return (int(fields[11]) + int(fields[12])) / _TICKS
