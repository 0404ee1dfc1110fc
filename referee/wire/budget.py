"""What the messages of a bot may cost the referee: counts of what came and how long it took to read, and the units that
each frame is paid with.
"""

import time
from dataclasses import dataclass, field

SURE_READ_NS = 1_000_000
"""A reading that takes no longer is charged by the clock."""

MOST_STRETCH = 4
"""A longer one is charged at most so many times the processor time that it took. A machine that is busy stretches what
a bot makes the referee do, and the bot pays for that; what lasts longer is the machine's doing: it was suspended, or
gave the referee no processor."""


def charged_ns(began_ns: int, began_cpu_ns: int) -> int:
    """What a reading that ends now costs the other end; it began at these times of `perf_counter` and `thread_time`."""
    passed_ns = time.perf_counter_ns() - began_ns
    if passed_ns <= SURE_READ_NS:
        return passed_ns
    return max(SURE_READ_NS, min(passed_ns, MOST_STRETCH * (time.thread_time_ns() - began_cpu_ns)))


SLOW_CALL_NS = 1_000_000
"""A system call on a connection takes some 20 us of processor time. One that takes longer has thousands of waiting
threads or epolls to wake, all of them the bot's: its connection belongs to each process that it forks."""

MOST_SLOW_CALL_NS = 60_000_000
"""No slow call counts for more: the machine may have stood still in one."""

SLOW_CALLS_AT_ONCE_NS, SLOW_CALLS_PER_S_NS = 100_000_000, 10_000_000
"""What all slow calls on the connections of a bot may take."""


class SlowCalls:
    """How long system calls on the connections of a bot may take: a bucket of time, which time refills."""

    __slots__ = ("_left_ns", "_seen_ns")

    def __init__(self) -> None:
        self._left_ns = float(SLOW_CALLS_AT_ONCE_NS)
        self._seen_ns = time.monotonic_ns()

    @property
    def overdrawn(self) -> bool:
        """Whether the last ones took more than there was."""
        return self._left_ns < 0

    def spend(self, spent_ns: int) -> bool:
        """Whether there was so much."""
        now_ns = time.monotonic_ns()
        refilled_ns = self._left_ns + (now_ns - self._seen_ns) / 1e9 * SLOW_CALLS_PER_S_NS
        self._left_ns = min(SLOW_CALLS_AT_ONCE_NS, refilled_ns) - min(MOST_SLOW_CALL_NS, spent_ns)
        self._seen_ns = now_ns
        return not self.overdrawn


@dataclass(slots=True)
class Traffic:
    """Counts of one or more connections of the same bot, and what its slow calls may take together."""

    connections: int = 0
    frames: int = 0
    received_bytes: int = 0
    spent_ns: int = 0
    """What the event loop spent on reading, decrypting, parsing and judging what came: by the clock, but of a long
    reading at most `MOST_STRETCH` times its processor time."""

    slow_calls: SlowCalls = field(default_factory=SlowCalls)

    def as_evidence(self) -> dict[str, int]:
        return {
            "connections": self.connections,
            "frames": self.frames,
            "received_bytes": self.received_bytes,
            "spent_us": self.spent_ns // 1000,
        }


@dataclass(frozen=True, slots=True)
class Terms:
    """`burst` units at once, `per_s` more each second, `per_message` more for each message that the referee sends."""

    burst: int
    per_s: int
    per_message: int = 0


STRANGER = Terms(burst=300, per_s=20)
"""Before Hello. A gRPC library needs about 40."""


def terms_of_session(message_bytes: int) -> Terms:
    """After Hello, for a bot that may send messages of this size."""
    frames = message_bytes // BYTES_A_UNIT
    return Terms(burst=1000 + 2 * frames, per_s=100, per_message=10 + frames)


BYTES_A_UNIT = 16384
"""Of messages; of all other frames 256."""

OTHER_BYTES_A_UNIT = 256
COMPRESSED_BYTES_A_UNIT = 1024
"""Of a compressed message as it came: how long it takes to unpack says that, and not what it unpacks to."""

SMALL_READ_BYTES = 1024
"""A reading of less that ends no frame costs a unit, too: else a frame of 16 KiB, which is one, could come byte by
byte, and wake the referee as often."""

CALL_UNITS = 20
"""A frame that opens a call: reading its headers takes twenty times as long as a ping."""


class Budget:
    """A bucket of units, which time and the referee's own messages fill up to `burst`."""

    __slots__ = ("_left", "_seen_ns", "_terms")

    def __init__(self, terms: Terms) -> None:
        self._terms = terms
        self._left = float(terms.burst)
        self._seen_ns = time.monotonic_ns()

    @property
    def terms(self) -> Terms:
        return self._terms

    def earn(self) -> None:
        """The referee has sent a message."""
        self._left = min(self._terms.burst, self._left + self._terms.per_message)

    def spend(self, units: int) -> bool:
        """Whether there were so many."""
        self._left -= units
        if self._left < 0:
            self._refill()
        return self._left >= 0

    def spend_if_there(self, units: int) -> bool:
        """The same, but nothing is spent where there are fewer."""
        self._refill()
        if self._left < units:
            return False
        self._left -= units
        return True

    def _refill(self) -> None:
        now_ns = time.monotonic_ns()
        self._left = min(self._terms.burst, self._left + (now_ns - self._seen_ns) / 1e9 * self._terms.per_s)
        self._seen_ns = now_ns
