"""A share of the event loop's time for connections that have shown no token yet.

A stranger's frames are paid from its own budget, but hundreds of strangers may send theirs at the same moment. The
referee would then stand still while it reads them, and time in which it stands still is charged to no bot: who plays
from another machine could have some friends make time for it.
"""

import asyncio
from typing import Protocol

SHARE = 0.2
"""Of the time, for all strangers together."""

BURST_NS = 10_000_000
"""They may take so much at once. A TLS handshake and a Hello take some 2 ms."""

AT_A_TIME = 4
"""So many of those that wait are read from again at one time."""

LEAST_REST_S = 0.002


class Stranger(Protocol):
    """A connection."""

    def pause_reading(self) -> None: ...

    def resume_reading(self) -> None: ...


class Pace:
    """Once strangers have taken their share, nothing is read of them until time has paid for it. They go on in order
    then."""

    def __init__(self, share: float = SHARE) -> None:
        self._share = share
        self._loop = asyncio.get_running_loop()
        self._strangers: dict[Stranger, bool] = {}
        """Whether nothing is read of it, those that wait longest first."""
        self._left_ns = float(BURST_NS)
        self._seen_s = self._loop.time()
        self._timer: asyncio.TimerHandle | None = None

    @property
    def is_over(self) -> bool:
        """Whether strangers wait."""
        return self._timer is not None

    def add(self, stranger: Stranger) -> None:
        self._strangers[stranger] = False

    def discard(self, stranger: Stranger) -> None:
        """It is gone, or has shown its token."""
        if self._strangers.pop(stranger, False):
            stranger.resume_reading()

    def spend(self, stranger: Stranger, spent_ns: int) -> None:
        """To read what it sent took so long. Free for who has shown its token."""
        if stranger not in self._strangers:
            return
        self._left_ns -= spent_ns
        if self._left_ns >= 0:
            return
        if self._timer is None:
            self._refill()
            if self._left_ns >= 0:
                return
            for other in self._strangers:
                self._pause(other)
            self._timer = self._loop.call_later(self._rest_s(), self._go_on)
        else:
            del self._strangers[stranger]  # to the end
            self._strangers[stranger] = False
            self._pause(stranger)

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _pause(self, stranger: Stranger) -> None:
        if not self._strangers[stranger]:
            self._strangers[stranger] = True
            stranger.pause_reading()

    def _refill(self) -> None:
        now_s = self._loop.time()
        self._left_ns = min(BURST_NS, self._left_ns + (now_s - self._seen_s) * 1e9 * self._share)
        self._seen_s = now_s

    def _rest_s(self) -> float:
        return max(LEAST_REST_S, -self._left_ns / 1e9 / self._share)

    def _go_on(self) -> None:
        self._timer = None
        self._refill()
        waiting = [stranger for stranger, waits in self._strangers.items() if waits]
        if self._left_ns >= 0:
            for stranger in waiting[:AT_A_TIME]:
                self._strangers[stranger] = False
                stranger.resume_reading()
            waiting = waiting[AT_A_TIME:]
        if waiting or self._left_ns < 0:
            self._timer = self._loop.call_later(self._rest_s(), self._go_on)
