"""Keeps a bot from running between its decisions."""

import signal

from referee.process.meter import Meter
from referee.process.processes import send

_MOST_PASSES = 20


class Freezer:
    """Stops and continues all processes of one bot, by signals."""

    def __init__(self, meter: Meter) -> None:
        self._meter = meter
        self._stopped: dict[int, None] = {}
        self.frozen = False

    def freeze(self) -> None:
        """What is stopped cannot fork, so this ends when no new process turns up."""
        if self.frozen:
            return
        self.frozen = True
        for _ in range(_MOST_PASSES):
            fresh = [pid for pid in self._meter.look() if pid not in self._stopped]
            if not fresh:
                return
            for pid in fresh:
                send(pid, signal.SIGSTOP)
                self._stopped[pid] = None

    def thaw(self) -> None:
        """Harmless when nothing is frozen."""
        self.frozen = False
        while self._stopped:
            send(self._stopped.popitem()[0], signal.SIGCONT)
