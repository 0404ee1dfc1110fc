"""What the decisions of a match took: charged to the bot, and not charged because it was not the bot's doing."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from referee.record.format import Answer, Line

SHOWN_LAG_US = 1000
"""Less lag than that is not worth a word to people."""


@dataclass(slots=True)
class SeatTimes:
    """Of one seat, microseconds. `lag_us` of the wall time was not charged."""

    charged: list[int] = field(default_factory=list)
    """Per decision."""
    lag_us: int = 0
    worst_lag_us: int = 0

    @property
    def charged_us(self) -> int:
        return sum(self.charged)

    @property
    def worst_charged_us(self) -> int:
        return max(self.charged, default=0)

    @property
    def mean_charged_ms(self) -> float:
        return self.charged_us / 1000 / max(len(self.charged), 1)

    def add(self, answer: Answer) -> None:
        """One more decision."""
        self.charged.append(max(0, answer.wall_us - answer.lag_us))
        self.lag_us += answer.lag_us
        self.worst_lag_us = max(self.worst_lag_us, answer.lag_us)


def time_words(wall_us: int, lag_us: int) -> str:
    """What a decision, or several, took as people read it: what was charged, and the lag beside it."""
    charged = f"{max(0, wall_us - lag_us) / 1000:.1f} ms"
    return f"{charged} (and {lag_us / 1000:.1f} ms of lag)" if lag_us >= SHOWN_LAG_US else charged


def seat_times(lines: Iterable[Line], players: int) -> tuple[SeatTimes, ...]:
    """Per seat, from the lines of a record."""
    found = tuple(SeatTimes() for _ in range(players))
    for line in lines:
        if isinstance(line, Answer) and 0 <= line.seat < players:
            found[line.seat].add(line)
    return found
