"""What the process that plays has counted since it began, by division: for monitoring, not for ratings."""

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from referee.record.reader import Record
from referee.tournament.progress import Reached
from referee.tournament.runner import Observer


@dataclass(slots=True)
class MatchCounts:
    """`rated` by end reason, `faults` by end reason. `charged_us` is the time of decisions that counted against limits
    of time, `excused_us` what did not, since it was the machine's."""

    rated: Counter[str] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)
    revoked: int = 0
    charged_us: int = 0
    excused_us: int = 0

    def add(self, record: Record) -> None:
        """One match that counts."""
        footer = record.footer
        if footer is None:
            return
        self.rated[footer.reason] += 1
        self.faults.update(str(fault.get("reason", "unknown")) for fault in footer.faults if fault is not None)
        for seat in footer.seat_stats:
            excused_us = max(0, seat.lag_us or 0)
            self.excused_us += excused_us
            self.charged_us += max(0, seat.total_us - excused_us)

    def values(self) -> dict[str, Any]:
        """For `runner.json`."""
        return {
            "rated": dict(self.rated),
            "faults": dict(self.faults),
            "revoked": self.revoked,
            "charged_us": self.charged_us,
            "excused_us": self.excused_us,
        }


class CountingObserver:
    """The observer of a division that counts, and tells `other` everything."""

    def __init__(self, other: Observer) -> None:
        self._other = other
        self.counts = MatchCounts()

    def begun(self, at: Reached) -> None:
        self._other.begun(at)

    def reached(self, at: Reached) -> None:
        self._other.reached(at)

    def rated(self, path: Path, record: Record) -> None:
        self.counts.add(record)
        self._other.rated(path, record)

    def revoked(self, record: Path) -> None:
        self.counts.revoked += 1
        self._other.revoked(record)

    def note(self, sentence: str) -> None:
        self._other.note(sentence)
