"""A deadline that is no decision's: of a start, of getting ready, of a whole match."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from referee.match.clock import GRACE_NS, Clock, Handle


class Deadline:
    """Calls `callback` once, after so many seconds in which the referee was not late, and when what had come by then
    has been read. A `Handle`."""

    def __init__(self, clock: Clock, seconds: float, callback: Callable[[], None]) -> None:
        self._clock = clock
        self._callback = callback
        self._up_ns = clock.now_ns() + round(seconds * 1e9)
        self._lag_before_ns = clock.lag_ns()
        self._timer: Handle = clock.call_at(self._up_ns, self._look)

    def cancel(self) -> None:
        self._timer.cancel()

    def _look(self) -> None:
        now_ns = self._clock.now_ns()
        due_ns = self._up_ns + self._clock.lag_ns() - self._lag_before_ns
        if now_ns < due_ns:
            self._timer = self._clock.call_at(due_ns, self._look)
        else:
            self._timer = self._clock.call_at(now_ns + GRACE_NS, self._callback)


@asynccontextmanager
async def time_limit(clock: Clock, seconds: float) -> AsyncIterator[None]:
    """As `asyncio.timeout`, up to such a deadline."""
    async with asyncio.timeout(None) as limit:
        deadline = Deadline(clock, seconds, lambda: limit.reschedule(asyncio.get_running_loop().time()))
        try:
            yield
        finally:
            deadline.cancel()
