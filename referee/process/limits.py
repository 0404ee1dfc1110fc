"""What a bot process may use, and how long its start and end may take."""

import resource
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

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

    max_output_bytes: int = 65536
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
