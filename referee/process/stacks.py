"""Asks a bot where it is: a bot that says so in Hello prints the stacks of its threads to stderr on a signal.

The signal is `STACKS`, which our SDK has for this alone, so that an author's own handler of SIGUSR1 is never called.
SIGUSR1 is for processes that handle no `STACKS`: other kits, and older versions of ours.
"""

import os
import re
import signal
from collections.abc import Iterable
from pathlib import Path

_LINE = re.compile(r"(?:Current thread|Thread|Stack) .*\(most recent call first\):|  .*|", re.ASCII)


STACKS = signal.SIGRTMAX - 1


def ask_for_stacks(pids: Iterable[int]) -> bool:
    """Signal the first of these processes that handles `STACKS` or SIGUSR1. The result is False if there is none: the
    signal would end a process that does not."""
    for pid in pids:
        try:
            process = os.pidfd_open(pid)
        except OSError:
            continue
        try:
            for number in (STACKS, signal.SIGUSR1):
                if _handles(pid, number):
                    signal.pidfd_send_signal(process, number)
                    return True
        except OSError:
            continue
        finally:
            os.close(process)
    return False


def stacks_in(printed: str) -> str:
    """The stacks in what was printed since, without what the bot printed between them; '' if there are none."""
    lines = [line for line in printed.splitlines() if _LINE.fullmatch(line)]
    first = next((number for number, line in enumerate(lines) if line.endswith("(most recent call first):")), None)
    return "" if first is None else "\n".join(lines[first:]).strip()


def _handles(pid: int, number: int) -> bool:
    """OSError if the process is gone."""
    for line in Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace").splitlines():
        if line.startswith("SigCgt:"):
            return bool(int(line.split()[1], 16) >> (number - 1) & 1)
    return False
