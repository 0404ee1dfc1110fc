"""Timers that do not count the time in which the event loop stood still.

While the referee is stopped (Ctrl-Z), or its machine is, nobody reads what bots send. `referee/match/time_control.py`
measures how late the loop is for the clocks of matches; the wire only needs to know that nobody is cut off for it.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

STEP_S = 0.5
"""A timer counts in steps of this length, and each counts once, however late the loop is at its end."""


class PatientTimer:
    """Calls `callback` once, after so many seconds in which the loop ran. If the loop is late at the end, it gets one
    more step to read what has come."""

    def __init__(self, seconds: float, callback: Callable[[], None]) -> None:
        self._loop = asyncio.get_running_loop()
        self._callback = callback
        self._left_s = seconds
        self._is_last = False
        self._arm(min(STEP_S, seconds))

    def cancel(self) -> None:
        self._timer.cancel()

    def _arm(self, step_s: float) -> None:
        self._due_s = self._loop.time() + step_s
        self._left_s -= step_s
        self._timer = self._loop.call_at(self._due_s, self._end_step)

    def _end_step(self) -> None:
        if self._left_s > 0:
            self._arm(min(STEP_S, self._left_s))
        elif not self._is_last and self._loop.time() - self._due_s > STEP_S / 2:
            self._is_last = True
            self._arm(STEP_S)
        else:
            self._callback()


@asynccontextmanager
async def patient_timeout(seconds: float) -> AsyncIterator[None]:
    """As `asyncio.timeout`, by such a timer."""
    async with asyncio.timeout(None) as limit:
        timer = PatientTimer(seconds, lambda: limit.reschedule(asyncio.get_running_loop().time()))
        try:
            yield
        finally:
            timer.cancel()
