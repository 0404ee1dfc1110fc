"""The resources a bot process may use, and the memory that this machine can give to all bots of a run together.

A bot whose limit is above what is left could fill the machine, or the control group around the referee, whenever it is
about to lose: the kernel then ends some process, and the match is void. So the limits of all bots that play at once fit
into the memory there is, less a reserve for the referee.
"""

import os
import resource
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeAlias

from referee.process.cgroup import memory_limit
from referee.schedule.spec import DEFAULTS

Holder: TypeAlias = Literal["group", "sandbox", "process", "none"]
"""What holds a limit: a control group, all processes of the bot together; its sandbox, the same; the kernel, each
process for itself; nothing."""


@dataclass(frozen=True, slots=True)
class ProcessLimits:
    """`max_output_bytes` is per stream: half for the head, half for the tail.

    `start_timeout_s` covers guardian, sandbox and exec, not the bot's own start-up. `kill_timeout_s` is how long the
    end of a process tree may take before the guardian itself is given up. `linger_s` is what descendants get after the
    bot itself has exited (none, in a sandbox). `rlimits` are (name, value) pairs such as ("cpu", 60), for the bot and
    its descendants.

    None below is no limit. `memory_bytes`, `processes` (threads count) and `cores` hold for all processes of the bot
    together where the host has control groups for us; without, memory holds for each process, and processes only in a
    sandbox. `disk_bytes` is the private /tmp of a sandbox. `open_files` and `file_bytes` hold for each process.
    """

    max_output_bytes: int = DEFAULTS.max_output_bytes
    start_timeout_s: float = 10.0
    kill_timeout_s: float = 5.0
    linger_s: float = 0.0
    rlimits: tuple[tuple[str, int], ...] = field(default=())
    memory_bytes: int | None = None
    processes: int | None = None
    open_files: int | None = None
    disk_bytes: int | None = None
    file_bytes: int | None = None
    cores: float | None = None

    def __post_init__(self) -> None:
        """ValueError for a negative number or an unknown resource."""
        if min(self.max_output_bytes, self.start_timeout_s, self.kill_timeout_s, self.linger_s) < 0:
            raise ValueError(f"process limits must not be negative: {self}")
        resources = (self.memory_bytes, self.processes, self.open_files, self.disk_bytes, self.file_bytes, self.cores)
        if any(value is not None and value <= 0 for value in resources):
            raise ValueError(f"process limits on resources must be above 0: {self}")
        for name, value in self.rlimits:
            if not hasattr(resource, f"RLIMIT_{name.upper()}") or value < 0:
                raise ValueError(f"unknown or negative resource limit {name}={value}")


def holders(*, strict: bool, controllers: Iterable[str]) -> dict[str, Holder]:
    """By the names of limits in tournament files what holds each, with these controllers of control groups for us."""
    groups = frozenset(controllers)
    alone: Holder = "sandbox" if strict else "none"
    return {
        "memory_mib": "group" if "memory" in groups else "process",
        "processes": "group" if "pids" in groups else alone,
        "open_files": "process",
        "disk_mib": alone,
        "file_size_mib": "process",
        "cores": "group" if "cpu" in groups else "none",
    }


RESERVE_MIB = 128
"""For the runner, and as much for each worker."""

LEAST_MIB = 64
"""With less, no bot starts."""


@dataclass(frozen=True, slots=True)
class Room:
    """What all processes of ours may use together, and what says so."""

    mib: int
    source: str


@dataclass(frozen=True, slots=True)
class Share:
    """What each of `bots` processes may have that play at once, at tables of `workers`."""

    room: Room
    workers: int
    bots: int

    @property
    def mib(self) -> int:
        return max(0, self.room.mib - RESERVE_MIB * (self.workers + 1)) // max(1, self.bots)

    @property
    def is_enough(self) -> bool:
        return self.mib >= LEAST_MIB

    def lowered_words(self, step: str) -> str:
        """The sentence for the organiser where the limits of the file are higher; `step` gives bots more."""
        return f"memory_mib is lowered to {self.mib}, so that all limits together fit: {self.words()}; {step}"

    def words(self) -> str:
        """For a sentence."""
        reserve = RESERVE_MIB * (self.workers + 1)
        return f"{self.room.source} has {self.room.mib} MiB, the referee keeps {reserve}, {self.bots} bots play at once"


_MOST_TCP_SHARE = 8
"""More than this part of the memory is not kept for TCP, however much the system may give it."""


def memory_room(root: Path = Path("/")) -> Room:
    """The memory of this machine, or the limit of a control group that we are in, whichever is smaller.

    What the system allows TCP is not for bots: one can fill it with connections that nobody accepts, which count for
    no control group.
    """
    page = os.sysconf("SC_PAGE_SIZE")
    mib = (page * os.sysconf("SC_PHYS_PAGES")) >> 20
    machine = Room(mib, "this machine")
    with suppress(OSError, ValueError, IndexError):
        tcp_mib = int((root / "proc/sys/net/ipv4/tcp_mem").read_text().split()[2]) * page >> 20
        machine = Room(mib - min(tcp_mib, mib // _MOST_TCP_SHARE), "this machine, without what TCP may take,")
    limit = memory_limit(root)
    if limit is None or limit[0] >> 20 >= machine.mib:
        return machine
    return Room(limit[0] >> 20, f"the control group of the referee ({limit[1]})")
