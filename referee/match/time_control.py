"""Time in a match: the source of time, deadlines, and the time budget of one seat.

The referee measures how late it was itself, because that time is not the bot's fault and is not charged to it.
"""

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Protocol

from referee.record.reasons import EndReason
from referee.schedule.spec import Limits

GRACE_NS = 2_000_000
"""So long after it wakes the event loop has taken in whatever had come before."""

_BEAT_S = 0.01
_STALL_NS = 1_000_000_000
_MOST_STALLS = 32
_TOLERATED_NS = 1_000_000
"""A beat this late says nothing: it is the granularity of timers."""


class Handle(Protocol):
    """Something that was put into the future."""

    def cancel(self) -> None: ...


class TimeSource(Protocol):
    """A seam: tests turn a clock of their own."""

    def now_ns(self) -> int:
        """Monotonic time, the one messages are stamped with."""

    def call_at(self, when_ns: int, callback: Callable[[], None]) -> Handle: ...

    def lag_ns(self) -> int:
        """Time so far in which the referee could not have noticed a message. Only differences mean something."""

    def looked_lag_ns(self) -> int:
        """What `lag_ns` was when the referee last looked at all that had come: what it has not read by now came later,
        so lateness before that did not keep it waiting."""


class LoopTimeSource:
    """The clock of the running event loop; an async context manager, shared by all matches of the loop.

    A beat every 10 ms measures how late the loop is: while something blocks it, or while the machine has no time for
    the referee, the beat is overdue. Late or not, after a beat the loop takes in what had come: that is a look.
    """

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._lag_ns = self._looked_lag_ns = 0
        self._due_ns = 0
        self._stalls: deque[tuple[int, int]] = deque(maxlen=_MOST_STALLS)  # when they ended, and how long they were
        self._beat: asyncio.TimerHandle | None = None
        self._look: asyncio.TimerHandle | None = None

    async def __aenter__(self) -> "LoopTimeSource":
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

    def longest_stall_ns(self, since_ns: int) -> int:
        """The longest time without interruption, ended after `since_ns` or not ended yet, for which the referee was
        late. Stalls of less than a second may be left out."""
        overdue = time.monotonic_ns() - self._due_ns
        return max([overdue, *(length for ended, length in self._stalls if ended > since_ns)])

    def _arm(self) -> None:
        self._due_ns = time.monotonic_ns() + int(_BEAT_S * 1e9)
        self._beat = self._loop.call_later(_BEAT_S, self._take_beat)

    def _take_beat(self) -> None:
        overdue = time.monotonic_ns() - self._due_ns
        if overdue > _TOLERATED_NS:
            self._lag_ns += overdue
        if overdue >= _STALL_NS:
            self._stalls.append((self._due_ns + overdue, overdue))
        self._look = self._loop.call_later(GRACE_NS / 1e9, self._take_look, self._lag_ns)
        self._arm()

    def _take_look(self, lag_ns: int) -> None:
        self._looked_lag_ns = lag_ns


_LEAST_STEP_NS = 10_000_000
"""Between two looks at what kept a bot from running, which cost some time."""

MOST_STARTS = 10
"""A start, or getting ready, may last so many times its limit because others keep the bot from running."""


class Deadline:
    """Calls `callback` once, after so many seconds in which the referee was not late, and when what had come by then
    has been read. A `Handle`."""

    def __init__(
        self,
        clock: TimeSource,
        seconds: float,
        callback: Callable[[], None],
        excused_ns: Callable[[], int] = lambda: 0,
    ) -> None:
        """`excused_ns` tells how long others have kept the bot from running: that is given back, too, up to
        `MOST_STARTS` times the limit."""
        self._clock = clock
        self._callback = callback
        self._excused_ns = excused_ns
        self._most_excused_ns = round((MOST_STARTS - 1) * seconds * 1e9)
        self._up_ns = clock.now_ns() + round(seconds * 1e9)
        self._lag_before_ns = clock.lag_ns()
        self._timer: Handle = clock.call_at(self._up_ns, self._look)

    def cancel(self) -> None:
        self._timer.cancel()

    def _look(self) -> None:
        now_ns = self._clock.now_ns()
        due_ns = self._up_ns + self._clock.lag_ns() - self._lag_before_ns
        if due_ns <= now_ns:
            due_ns += min(self._excused_ns(), self._most_excused_ns)
            if now_ns < due_ns:
                due_ns = max(due_ns, now_ns + _LEAST_STEP_NS)
        if now_ns < due_ns:
            self._timer = self._clock.call_at(due_ns, self._look)
        else:
            self._timer = self._clock.call_at(now_ns + GRACE_NS, self._callback)


@asynccontextmanager
async def time_limit(
    clock: TimeSource, seconds: float, excused_ns: Callable[[], int] = lambda: 0
) -> AsyncIterator[None]:
    """As `asyncio.timeout`, up to such a deadline."""
    async with asyncio.timeout(None) as limit:
        deadline = Deadline(clock, seconds, lambda: limit.reschedule(asyncio.get_running_loop().time()), excused_ns)
        try:
            yield
        finally:
            deadline.cancel()


@dataclass(frozen=True, slots=True)
class Allowance:
    """What one decision may take. `limit_ns` has the margin in it, `left_ns` (what the bot is told) has not.

    `reason` is the end reason of a bot that takes more.
    """

    limit_ns: int
    left_ns: int
    reason: EndReason


NOTHING_ALLOWED = Allowance(0, 0, EndReason.MOVE_TIMEOUT)
"""For decisions that no bot is asked."""


class Budget:
    """A seat's clock. Nanoseconds; see `Limits` for the three kinds of clock.

    The margin delays the verdict, and gives no time: what an answer takes of it is charged as all other time. So bank
    and total fall below zero by up to the margin, and a bot gets the margin once above them, not at every decision.
    """

    __slots__ = ("_first_ns", "_increment_ns", "_margin_ns", "_move_ns", "_own_ns", "_plain", "bank_ns", "total_ns")

    def __init__(self, limits: Limits) -> None:
        self._first_ns, self._move_ns = _ns(limits.first_move_s), _ns(limits.move_s)
        self._margin_ns, self._increment_ns = _ns(limits.margin_s), _ns(limits.increment_s)
        self._own_ns = self._first_ns
        self.bank_ns: int | None = _ns(limits.bank_s) if limits.bank_s else None
        """What is left of it, negative once the margin pays; None if the clock has none."""
        self.total_ns: int | None = _ns(limits.total_s) if limits.total_s else None
        self._plain = tuple(
            Allowance(own_ns + self._margin_ns, own_ns, EndReason.MOVE_TIMEOUT)
            for own_ns in (self._first_ns, self._move_ns)
        )

    @property
    def counts(self) -> bool:
        """Whether decisions cost something that the next one lacks."""
        return self.bank_ns is not None or self.total_ns is not None

    def allow(self, *, first: bool) -> Allowance:
        """For a decision that begins now. `first` in the match for this seat."""
        self._own_ns = own_ns = self._first_ns if first else self._move_ns
        if self.bank_ns is not None:
            return self._allowance(own_ns, self.bank_ns, EndReason.BANK_EXHAUSTED)
        if self.total_ns is not None:
            if 0 < own_ns <= self.total_ns:
                return self._allowance(own_ns, 0, EndReason.MOVE_TIMEOUT)
            return self._allowance(0, self.total_ns, EndReason.BANK_EXHAUSTED)
        return self._plain[0 if first else 1]

    def spend(self, charged_ns: int) -> None:
        """The decision that was allowed last is over, and `charged_ns` of its time was the bot's."""
        if self.bank_ns is not None:
            self.bank_ns = max(-self._margin_ns, self.bank_ns - max(0, charged_ns - self._own_ns))
        elif self.total_ns is not None:
            self.total_ns = max(-self._margin_ns, self.total_ns - charged_ns) + self._increment_ns

    def _allowance(self, own_ns: int, shared_ns: int, reason: EndReason) -> Allowance:
        """`own_ns` is this decision's alone; `shared_ns`, of bank or total, may be below zero."""
        return Allowance(max(0, own_ns + shared_ns + self._margin_ns), own_ns + max(0, shared_ns), reason)


def _ns(seconds: float) -> int:
    return round(seconds * 1e9)
