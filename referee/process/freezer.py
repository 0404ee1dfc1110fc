"""Keeps a bot from running between its decisions."""

import signal
import time
from contextlib import suppress
from pathlib import Path

from referee.process.meter import Meter
from referee.process.processes import places, send, targets

_MOST_PASSES = 50
_MOST_NS = 50_000_000
"""Of this thread's own time: all matches of a worker stand still meanwhile, and a bot with hundreds of processes makes
each pass a slow one. Time that others keep the thread from running is not the bot's, and takes no pass away."""
_LEAST_PASSES = 4
_QUIET_PASSES = 3
"""A process that has just forked and exited may hide its child from one look."""


class Freezer:
    """Stops and continues all processes of one bot: through its control group, or else by signals.

    `group` is a file, the word that freezes and the word that thaws.
    """

    def __init__(self, meter: Meter, group: tuple[Path, str, str] | None = None) -> None:
        self._meter = meter
        self._group = group
        self._stopped: dict[int, None] = {}
        """Processes and, negative, groups."""
        self.frozen = False

    def freeze(self) -> None:
        """Harmless when frozen."""
        if self.frozen:
            return
        self.frozen = True
        if self._group is None or not self._write(1):
            self._stop()

    def thaw(self) -> None:
        """Harmless when nothing is frozen."""
        if not self.frozen:
            return
        self.frozen = False
        if self._group is not None:
            self._write(2)
        while self._stopped:
            send(self._stopped.popitem()[0], signal.SIGCONT)

    def _write(self, word: int) -> bool:
        assert self._group is not None
        with suppress(OSError):
            self._group[0].write_text(str(self._group[word]))
            return True
        return False

    def _stop(self) -> None:
        """What is stopped cannot fork, so this ends when no new process turns up.

        Groups are stopped as one, as a process may fork and exit without end. One that goes on into new groups all the
        time may escape for as long as it does, also by so many processes that time ends before the passes do: a control
        group alone is certain.
        """
        quiet = 0
        until_ns = time.thread_time_ns() + _MOST_NS
        for number in range(_MOST_PASSES):
            if number >= _LEAST_PASSES and time.thread_time_ns() > until_ns:
                return
            seen = places(self._meter.look())
            fresh = targets(seen, seen) - self._stopped.keys()
            quiet = 0 if fresh else quiet + 1
            if quiet == _QUIET_PASSES:
                return
            for target in sorted(fresh):  # groups first: see `stop_then_kill`
                send(target, signal.SIGSTOP)
                self._stopped[target] = None
