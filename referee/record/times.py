"""What the decisions of a match took: charged to the bot, and not charged because it was not the bot's doing."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from referee.record.format import Answer, Header, Line, Strike
from referee.record.reasons import TIMED_OUT

SHOWN_LAG_US = 1000
"""Less lag than that is not worth a word to people."""


@dataclass(slots=True)
class SeatTimes:
    """Of one seat, microseconds, without what the referee chose for it. `lag_us` of the wall time was not charged."""

    charged: list[int] = field(default_factory=list)
    """Per decision that the bot itself was asked for."""
    lag_us: int = 0
    worst_wall_us: int = 0
    worst_lag_us: int = 0
    """Both of one decision, the one that timed out included."""
    late_us: int = 0
    """What the decision that timed out was charged; 0 if none did."""

    @property
    def charged_us(self) -> int:
        return sum(self.charged)

    @property
    def worst_charged_us(self) -> int:
        """Of one decision, the one that timed out included."""
        return max(self.late_us, max(self.charged, default=0))

    @property
    def mean_charged_ms(self) -> float:
        return self.charged_us / 1000 / max(len(self.charged), 1)

    def add(self, answer: Answer) -> None:
        """One more decision."""
        self.charged.append(max(0, answer.wall_us - answer.lag_us))
        self.lag_us += answer.lag_us
        self.worst_wall_us = max(self.worst_wall_us, answer.wall_us)
        self.worst_lag_us = max(self.worst_lag_us, answer.lag_us)


def time_words(wall_us: int, lag_us: int) -> str:
    """What a decision, or several, took as people read it: what was charged, and the lag beside it."""
    charged = f"{max(0, wall_us - lag_us) / 1000:.1f} ms"
    return f"{charged} (and {lag_us / 1000:.1f} ms of lag)" if lag_us >= SHOWN_LAG_US else charged


def margin_us(header: Header, seat: int) -> int:
    """The part of each `limit_us` in the evidence of this seat that only delays the verdict."""
    clock = header.seats[seat].clock if 0 <= seat < len(header.seats) else {}
    margin_s = {**header.limits, **clock}.get("margin_s", 0)
    return round(margin_s * 1e6) if isinstance(margin_s, int | float) else 0


def in_seconds(us: int) -> str:
    """A time for people: milliseconds below one second."""
    return f"{us / 1000:.1f} ms" if abs(us) < 1_000_000 else f"{us / 1e6:.3f}".rstrip("0").rstrip(".") + " s"


def late_us(fault: Mapping[str, Any] | None) -> int:
    """What the decision that ended in this fault was charged; 0 if the fault is no time-out, or has no times."""
    return _late_times(fault)[0]


def _late_times(fault: Mapping[str, Any] | None) -> tuple[int, int]:
    """The same, and the lag beside it."""
    if fault is None or fault.get("reason") not in TIMED_OUT:
        return 0, 0
    wall, lag = fault.get("wall_us"), fault.get("lag_us")
    return (max(0, wall - lag), max(0, lag)) if isinstance(wall, int) and isinstance(lag, int) else (0, 0)


def seat_times(
    lines: Iterable[Line], players: int, faults: Sequence[Mapping[str, Any] | None] = ()
) -> tuple[SeatTimes, ...]:
    """Per seat, from the lines of a record and the `faults` of its footer."""
    found = tuple(SeatTimes() for _ in range(players))
    struck: set[int] = set()
    for line in lines:
        if isinstance(line, Strike):
            struck.add(line.seat)
        # After a strike the referee may choose for a seat without a question to its bot, and takes no time.
        elif isinstance(line, Answer) and 0 <= line.seat < players and (line.wall_us or line.seat not in struck):
            found[line.seat].add(line)
    for seat, fault in zip(found, faults, strict=False):
        seat.late_us, late_lag_us = _late_times(fault)
        seat.worst_wall_us = max(seat.worst_wall_us, seat.late_us + late_lag_us)
        seat.worst_lag_us = max(seat.worst_lag_us, late_lag_us)
    return found
