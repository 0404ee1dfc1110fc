"""A decision while it is open: what was asked, by when, and what came back."""

from collections.abc import Sequence
from typing import Any

from referee.match.clock import Handle


class Question:
    """One seat, one decision. Times are monotonic nanoseconds; `limit_ns` is the move limit with the margin."""

    __slots__ = (
        "action",
        "cpu_before_ns",
        "cpu_us",
        "kind",
        "lag_before_ns",
        "lag_ns",
        "legal",
        "limit_ns",
        "note",
        "number",
        "open",
        "seat",
        "sent_ns",
        "timer",
        "wall_ns",
    )

    def __init__(self, seat: int, number: int, kind: str, legal: Sequence[Any], limit_ns: int) -> None:
        self.seat = seat
        self.number = number
        self.kind = kind
        self.legal = legal
        self.limit_ns = limit_ns
        self.sent_ns = 0
        self.lag_before_ns = 0
        self.cpu_before_ns: int | None = None
        self.timer: Handle | None = None
        self.open = True
        self.action: Any = None
        self.note = ""
        self.wall_ns = 0
        self.lag_ns = 0
        self.cpu_us = -1

    def close(self) -> None:
        """No answer counts from now on."""
        self.open = False
        if self.timer is not None:
            self.timer.cancel()
            self.timer = None

    def measure(self, now_ns: int, lag_now_ns: int, cpu_now_ns: int | None) -> None:
        """Note the times up to now."""
        self.wall_ns = now_ns - self.sent_ns
        self.lag_ns = lag_now_ns - self.lag_before_ns
        if cpu_now_ns is not None and self.cpu_before_ns is not None:
            self.cpu_us = (cpu_now_ns - self.cpu_before_ns) // 1000

    @property
    def charged_ns(self) -> int:
        """What counts against the limit: the time less what the referee was late by."""
        return self.wall_ns - self.lag_ns

    def times(self) -> dict[str, int]:
        """As evidence."""
        return {
            "limit_us": self.limit_ns // 1000,
            "wall_us": self.wall_ns // 1000,
            "cpu_us": self.cpu_us,
            "lag_us": self.lag_ns // 1000,
        }
