"""What a match remembers of one seat."""

from typing import Protocol

from referee.match.budget import Allowance, Budget
from referee.match.question import Question
from referee.match.reasons import EndReason
from referee.match.result import Fault
from referee.match.seat import Seat, SeatEnd
from referee.match.spec import Limits
from referee.wire import Received
from referee.wire.encode import Clock

GOES_ON_AFTER = frozenset(
    {
        EndReason.ILLEGAL_ACTION,
        EndReason.MALFORMED_MESSAGE,
        EndReason.OVERSIZED_MESSAGE,
        EndReason.MOVE_TIMEOUT,
        EndReason.BANK_EXHAUSTED,
    }
)
"""Faults after which there is still a bot to ask: those a strike can pay for."""


class Judge(Protocol):
    """The match, for its seats."""

    def take_message(self, seat: "SeatPlay", received: Received) -> None: ...

    def take_end(self, seat: "SeatPlay", end: SeatEnd) -> None: ...


class SeatPlay:
    """One seat of a match in play; the listener of its bot."""

    __slots__ = (
        "asked_before",
        "bot",
        "budget",
        "clock",
        "cpu_from_ns",
        "cpu_us",
        "decisions",
        "dropped",
        "dropped_bytes",
        "excused_ns",
        "fault",
        "idle_cpu_us",
        "judge",
        "lag_us",
        "last_latency_us",
        "left",
        "limits",
        "most_strikes",
        "number",
        "off_turn_cpu_us",
        "question",
        "ready",
        "seen",
        "strikes",
        "struck",
        "taken",
        "told",
        "total_us",
        "wants",
        "worst_charged_us",
        "worst_us",
    )

    def __init__(self, judge: Judge, number: int, bot: Seat, limits: Limits, most_strikes: int) -> None:
        self.judge = judge
        self.number = number
        self.bot = bot
        self.wants = bot.wants
        self.limits = limits
        self.budget = Budget(limits)
        self.clock = clock_message(limits)
        """As it goes into each Decide; what is left is filled in."""
        self.ready = False
        self.asked_before = False
        self.question: Question | None = None
        self.seen = 0
        """How many events of the match it has been told."""
        self.fault: Fault | None = None
        self.left: int | None = None
        """When it left, among those that did: 1 for the first."""
        self.most_strikes = most_strikes
        self.strikes = 0
        """How many faults it was allowed to go on after."""
        self.struck: Fault | None = None
        """The last of them."""
        self.taken = False
        """Whether the referee plays for it."""
        self.told = False
        """Whether MatchEnd was sent."""
        self.last_latency_us = 0
        self.lag_us = self.worst_charged_us = 0
        self.decisions = self.total_us = self.worst_us = self.cpu_us = self.dropped = self.off_turn_cpu_us = 0
        self.idle_cpu_us = 0
        """Processor time between the bot's last match and this one."""
        self.excused_ns = 0
        """Of its answered decisions together: what was not charged."""
        self.dropped_bytes = 0
        """Of the messages that answered nothing asked."""
        self.cpu_from_ns: int | None = None

    def on_message(self, received: Received) -> None:
        self.judge.take_message(self, received)

    def on_end(self, end: SeatEnd) -> None:
        self.judge.take_end(self, end)

    def begin(self) -> None:
        """From here on its processor time counts."""
        self.cpu_from_ns, idle_from_ns = self.bot.cpu_ns(), self.bot.idle_from_ns
        if self.cpu_from_ns is not None and idle_from_ns is not None:
            self.idle_cpu_us = max(0, self.cpu_from_ns - idle_from_ns) // 1000

    def finish(self) -> None:
        """The match is over for it. A bot that is gone has no more to tell."""
        cpu_ns = self.bot.cpu_ns()
        if cpu_ns is not None and self.cpu_from_ns is not None:
            self.off_turn_cpu_us = max(0, (cpu_ns - self.cpu_from_ns) // 1000 - self.cpu_us)

    @property
    def is_out(self) -> bool:
        """Whether no bot plays it any more."""
        return self.taken or self.left is not None

    def goes_on_after(self, fault: Fault) -> bool:
        """Whether a strike pays for `fault`. None does for a bot that is gone: its last fault is why it leaves."""
        return self.has_strike_for(fault) and not self.bot.ending

    def has_strike_for(self, fault: Fault) -> bool:
        """Whether a strike pays for `fault` if the bot is still there when it is settled."""
        return fault.reason in GOES_ON_AFTER and self.can_be_struck

    @property
    def can_be_struck(self) -> bool:
        """Whether it has a strike left."""
        return self.strikes < self.most_strikes

    def allow(self) -> Allowance:
        """What the decision that begins now may take; `clock` then says so."""
        budget, clock = self.budget, self.clock
        allowance = budget.allow(first=not self.asked_before)
        self.asked_before = True
        clock.left_us = allowance.left_ns // 1000
        if budget.bank_ns is not None:
            clock.bank_left_us = max(0, budget.bank_ns) // 1000
        if budget.total_ns is not None:
            clock.total_left_us = max(0, budget.total_ns) // 1000
        return allowance

    def count(self, question: Question) -> None:
        """One more decision was answered."""
        wall_us, cpu_us = question.wall_ns // 1000, question.cpu_us
        if self.budget.counts:
            self.budget.spend(question.charged_ns)
        self.excused_ns += question.wall_ns - question.charged_ns
        self.decisions += 1
        self.total_us += wall_us
        self.worst_us = max(self.worst_us, wall_us)
        self.lag_us += question.lag_us
        self.worst_charged_us = max(self.worst_charged_us, wall_us - question.lag_us)
        self.cpu_us += max(cpu_us, 0)
        self.last_latency_us = wall_us


def clock_message(limits: Limits) -> Clock:
    """The limits as the bot is told them, with all of bank and total left."""
    bank_us, total_us = int(limits.bank_s * 1e6), int(limits.total_s * 1e6)
    return Clock(
        first_move_us=int(limits.first_move_s * 1e6),
        move_us=int(limits.move_s * 1e6),
        bank_us=bank_us,
        bank_left_us=bank_us,
        total_us=total_us,
        total_left_us=total_us,
        increment_us=int(limits.increment_s * 1e6),
        margin_us=int(limits.margin_s * 1e6),
    )
