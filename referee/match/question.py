"""A decision while it is open: what was asked, by when, and what came back."""

import os
import random
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from referee.match.budget import Allowance
from referee.match.clock import Clock, Handle
from referee.match.effort import Effort

CORES = len(os.sched_getaffinity(0))
"""Of this process: where it is bound to some, the bots that it starts are as well."""


LOOKS = 8
"""Within a decision's limit, at the mean, at the processes of a bot where no control group counts what they use."""

LEAST_SHOWN_NS = 1_000_000
"""Of what reading a bot's messages took: below it is what any answer takes."""

_LEAST_LOOK_NS = 2_000_000


class Question:
    """One seat, one decision. Times are monotonic nanoseconds; `limit_ns` has the margin in it."""

    __slots__ = (
        "action",
        "allowance",
        "cpu_before_ns",
        "cpu_us",
        "effort_before",
        "effort_seen",
        "kind",
        "lag_before_ns",
        "lag_ns",
        "lag_probed_ns",
        "legal",
        "limit_ns",
        "note",
        "number",
        "open",
        "others_before_ns",
        "seat",
        "sent_ns",
        "state",
        "throttled_ns",
        "timer",
        "traffic_before_ns",
        "traffic_ns",
        "waited_ns",
        "wall_ns",
        "watcher",
    )

    def __init__(self, seat: int, number: int, kind: str, legal: Sequence[Any], allowance: Allowance) -> None:
        self.seat = seat
        self.number = number
        self.kind = kind
        self.legal = legal
        self.allowance = allowance
        self.limit_ns = allowance.limit_ns
        self.sent_ns = 0
        self.lag_before_ns = 0
        self.lag_probed_ns: int | None = None
        """As `lag_before_ns`, when the decision had lasted a little."""
        self.cpu_before_ns: int | None = None
        self.traffic_before_ns = 0
        self.traffic_ns = 0
        """What the referee has spent meanwhile on reading what the bot sent."""
        self.effort_before: Effort | None = None
        """Where the bot's tasks stood when the decision had lasted a little; None while it has not, and where what
        they do excuses nothing."""
        self.timer: Handle | None = None
        self.watcher: Handle | None = None
        self.open = True
        self.action: Any = None
        self.note = ""
        self.wall_ns = 0
        self.effort_seen: Effort | None = None
        """The same at the last look after the deadline."""
        self.others_before_ns: Sequence[int | None] = ()
        """Per seat the processor time it had used when the decision had lasted a little."""
        self.state = ""
        """That of the bot's processes at the deadline, before anything woke them; '' before it."""
        self.lag_ns = 0
        """How late the referee was, as far as is known."""
        self.waited_ns = 0
        """How long others kept the bot from running, at the least."""
        self.throttled_ns = 0
        """How long the bot's own limit on processor time did; that is its own affair."""
        self.cpu_us = -1

    def close(self) -> None:
        """No answer counts from now on."""
        self.open = False
        for timer in (self.timer, self.watcher):
            if timer is not None:
                timer.cancel()
        self.timer = self.watcher = None

    def watch(self, clock: Clock, look: Callable[[], Effort]) -> None:
        """From here on look at the bot's processes now and then, at moments that it cannot foresee. Once they are not
        the same as at first no wait is excused: what helpers used that are gone at the end is in no count, and it may
        have been them that it waited for. Not where a control group counts all.
        """
        if self.effort_before is not None and self.effort_before.processes:
            after_ns = _LEAST_LOOK_NS + int(random.expovariate(LOOKS / max(self.limit_ns, 1)))
            self.watcher = clock.call_at(clock.now_ns() + after_ns, partial(self._look, clock, look))

    def _look(self, clock: Clock, look: Callable[[], Effort]) -> None:
        if self.open and self.effort_before is not None:
            if look().processes != self.effort_before.processes:
                self.effort_before, self.waited_ns = None, 0
            self.watch(clock, look)

    def measure(self, now_ns: int, clock: Clock, cpu_now_ns: int | None, traffic_now_ns: int) -> None:
        """Note the times up to now.

        The referee's lateness matters at both ends: before the decision had lasted a little the question may not have
        been under way, and since the last look an answer may have lain there. In between it kept nobody waiting, for
        what came was seen at the look; else a bot that sleeps past its limit would get away with it on a busy machine.
        """
        self.wall_ns = now_ns - self.sent_ns
        lag_now_ns = clock.lag_ns()
        self.lag_ns = lag_now_ns - self.lag_before_ns
        if self.lag_probed_ns is not None:
            since_ns = max(self.lag_probed_ns, clock.looked_lag_ns())
            self.lag_ns = self.lag_probed_ns - self.lag_before_ns + lag_now_ns - since_ns
        if cpu_now_ns is not None and self.cpu_before_ns is not None:
            cpu_ns = cpu_now_ns - self.cpu_before_ns
            self.cpu_us = cpu_ns // 1000
            # Who leaves less than one processor to all others makes the referee late.
            self.lag_ns = max(0, self.lag_ns - max(0, cpu_ns - (CORES - 1) * self.wall_ns))
        # So does who sends much: while the referee reads it, it reads nobody else's messages.
        self.traffic_ns = traffic_now_ns - self.traffic_before_ns
        self.lag_ns = max(0, self.lag_ns - self.traffic_ns)

    def weigh(self, effort: Effort) -> None:
        """Note what the bot's tasks did up to now. After `measure`."""
        if self.effort_before is not None:
            self.waited_ns = effort.excused_ns(self.effort_before, max(self.cpu_us, 0) * 1000)
            self.throttled_ns = effort.throttled_ns - self.effort_before.throttled_ns

    @property
    def charged_ns(self) -> int:
        """What counts against the limit: the time less what was not the bot's doing.

        While the referee was late an answer may have lain there, whatever the bot did: that is always taken off. That
        the bot waited for a processor is taken off as far as it did not compute all the same.
        """
        noticed_ns = self.wall_ns - self.lag_ns
        return max(0, noticed_ns - self.waited_ns, min(noticed_ns, self.cpu_us * 1000))

    @property
    def lag_us(self) -> int:
        """For the record: the part of the time that is not charged."""
        return (self.wall_ns - self.charged_ns) // 1000

    def times(self) -> dict[str, int]:
        """As evidence."""
        return {
            "limit_us": self.limit_ns // 1000,
            "wall_us": self.wall_ns // 1000,
            "cpu_us": self.cpu_us,
            "lag_us": self.lag_us,
            "referee_late_us": self.lag_ns // 1000,
            "bot_waited_us": self.waited_ns // 1000,
            **({"bot_traffic_us": self.traffic_ns // 1000} if self.traffic_ns >= LEAST_SHOWN_NS else {}),
            **({"bot_throttled_us": self.throttled_ns // 1000} if self.throttled_ns else {}),
        }
