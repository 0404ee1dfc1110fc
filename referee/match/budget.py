"""The time of one seat in one match: what each decision may take, and what it costs."""

from dataclasses import dataclass

from referee.match.reasons import EndReason
from referee.match.spec import Limits


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
