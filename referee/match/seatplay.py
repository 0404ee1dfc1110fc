"""What a match remembers of one seat."""

from typing import Protocol

from referee.match.question import Question
from referee.match.result import Fault
from referee.match.seat import Seat, SeatEnd
from referee.wire import Received


class Judge(Protocol):
    """The match, for its seats."""

    def take_message(self, seat: "SeatPlay", received: Received) -> None: ...

    def take_end(self, seat: "SeatPlay", end: SeatEnd) -> None: ...


class SeatPlay:
    """One seat of a match in play; the listener of its bot."""

    __slots__ = (
        "asked_before",
        "bot",
        "cpu_us",
        "decisions",
        "dropped",
        "fault",
        "judge",
        "last_latency_us",
        "left",
        "number",
        "question",
        "ready",
        "seen",
        "told",
        "total_us",
        "wants",
        "worst_us",
    )

    def __init__(self, judge: Judge, number: int, bot: Seat) -> None:
        self.judge = judge
        self.number = number
        self.bot = bot
        self.wants = bot.wants
        self.ready = False
        self.asked_before = False
        self.question: Question | None = None
        self.seen = 0
        """How many events of the match it has been told."""
        self.fault: Fault | None = None
        self.left: int | None = None
        """The moment at which it left."""
        self.told = False
        """Whether MatchEnd was sent."""
        self.last_latency_us = 0
        self.decisions = self.total_us = self.worst_us = self.cpu_us = self.dropped = 0

    def on_message(self, received: Received) -> None:
        self.judge.take_message(self, received)

    def on_end(self, end: SeatEnd) -> None:
        self.judge.take_end(self, end)

    def count(self, wall_us: int, cpu_us: int) -> None:
        """One more decision was answered."""
        self.decisions += 1
        self.total_us += wall_us
        self.worst_us = max(self.worst_us, wall_us)
        self.cpu_us += max(cpu_us, 0)
        self.last_latency_us = wall_us
