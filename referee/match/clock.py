"""Time as a match sees it: monotonic, with what the referee itself was late by."""

import asyncio
import time
from collections.abc import Callable
from typing import Protocol

GRACE_NS = 2_000_000
"""So long after it wakes the event loop has taken in whatever had come before."""

_BEAT_S = 0.01
_TOLERATED_NS = 1_000_000
"""A beat this late says nothing: it is the granularity of timers."""


class Handle(Protocol):
    """Something that was put into the future."""

    def cancel(self) -> None: ...


class Clock(Protocol):
    """A seam: tests turn a clock of their own."""

    def now_ns(self) -> int:
        """Monotonic time, the one messages are stamped with."""

    def call_at(self, when_ns: int, callback: Callable[[], None]) -> Handle: ...

    def lag_ns(self) -> int:
        """Time so far in which the referee could not have noticed a message. Only differences mean something."""

    def looked_lag_ns(self) -> int:
        """What `lag_ns` was when the referee last looked at all that had come: what it has not read by now came later,
        so lateness before that did not keep it waiting."""


class LoopClock:
    """The clock of the running event loop; an async context manager, shared by all matches of the loop.

    A beat every 10 ms measures how late the loop is: while something blocks it, or while the machine has no time for
    the referee, the beat is overdue. Late or not, after a beat the loop takes in what had come: that is a look.
    """

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._lag_ns = self._looked_lag_ns = 0
        self._due_ns = 0
        self._beat: asyncio.TimerHandle | None = None
        self._look: asyncio.TimerHandle | None = None

    async def __aenter__(self) -> "LoopClock":
        self._arm()
        return self

    async def __aexit__(self, *_: object) -> None:
        for timer in (self._beat, self._look):
            if timer is not None:
                timer.cancel()

    def now_ns(self) -> int:
        return time.monotonic_ns()

    def call_at(self, when_ns: int, callback: Callable[[], None]) -> Handle:
        return self._loop.call_at(when_ns / 1e9, callback)  # the loop's time is time.monotonic() on Linux

    def lag_ns(self) -> int:
        overdue = time.monotonic_ns() - self._due_ns
        return self._lag_ns + overdue if overdue > _TOLERATED_NS else self._lag_ns

    def looked_lag_ns(self) -> int:
        return self._looked_lag_ns

    def _arm(self) -> None:
        self._due_ns = time.monotonic_ns() + int(_BEAT_S * 1e9)
        self._beat = self._loop.call_later(_BEAT_S, self._take_beat)

    def _take_beat(self) -> None:
        overdue = time.monotonic_ns() - self._due_ns
        if overdue > _TOLERATED_NS:
            self._lag_ns += overdue
        self._look = self._loop.call_later(GRACE_NS / 1e9, self._take_look, self._lag_ns)
        self._arm()

    def _take_look(self, lag_ns: int) -> None:
        self._looked_lag_ns = lag_ns
