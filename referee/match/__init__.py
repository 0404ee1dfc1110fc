"""One match: its specification, seats, clocks, faults, result and record.

`Table` plays matches with real bot processes; `play.Match` is the same with any seats, which is how it is tested.
"""

from referee.match.result import Fault, MatchResult, SeatStats
from referee.match.table import Table
from referee.record.reasons import EndReason, status_of
from referee.schedule.spec import Faults, Limits, MatchSpec, SeatSpec, SpecError

__all__ = [
    "EndReason",
    "Fault",
    "Faults",
    "Limits",
    "MatchResult",
    "MatchSpec",
    "SeatSpec",
    "SeatStats",
    "SpecError",
    "Table",
    "status_of",
]
