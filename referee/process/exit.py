"""How a bot ended."""

import contextlib
import signal as signals
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Exit:
    """How the bot itself ended: with a code, or by a signal.

    `cpu_us` is user and system time of the bot and those of its children that it waited for; None if unknown.
    `peak_memory_bytes` is the most that it held at once: all its processes together where the host lets us count that,
    else its largest process. `out_of_memory`: the kernel killed it, or a process of it, at its own memory limit.
    `machine_out_of_memory`: the kernel killed it though it was never at its limit, because the machine, or a control
    group around the referee's own, had no memory left. Without a control group this is a guess: it was killed, and the
    kernel has taken some process of the machine for want of memory since the bot began.
    `guardian_lost`: somebody killed the guardian, which took the bot with it. What the bot had started is then found
    by its token; a process that has hidden that is ended by the sweep of an `orphans.Household`, where there is one.
    """

    code: int | None
    signal: int | None
    cpu_us: int | None = None
    guardian_lost: bool = False
    out_of_memory: bool = False
    peak_memory_bytes: int | None = None
    machine_out_of_memory: bool = False

    def __str__(self) -> str:
        if self.guardian_lost:
            return "killed together with its guardian"
        if self.out_of_memory:
            return "killed at its memory limit"
        if self.machine_out_of_memory:
            return "killed by the kernel, because the machine had no memory left"
        if self.signal is None:
            return f"exit code {self.code}"
        with contextlib.suppress(ValueError):
            return f"killed by {signals.Signals(self.signal).name}"
        return f"killed by signal {self.signal}"
