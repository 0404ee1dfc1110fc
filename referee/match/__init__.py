"""One match: its specification, seats, clocks, faults, result and record.

`Table` plays matches with real bot processes; `play.Match` is the same with any seats, which is how it is tested.
What is named here is imported when it is asked for: a runner has results, and needs nothing of what plays.
"""

from typing import TYPE_CHECKING

from referee.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from referee.match.result import Fault, MatchResult, SeatStats
    from referee.match.table import Table
    from referee.record.reasons import EndReason, status_of
    from referee.schedule.spec import Faults, Limits, MatchSpec, SeatSpec, SpecError

__getattr__ = lazy_exports(
    __name__,
    {
        "referee.match.result": ("Fault", "MatchResult", "SeatStats"),
        "referee.match.table": ("Table",),
        "referee.record.reasons": ("EndReason", "status_of"),
        "referee.schedule.spec": ("Faults", "Limits", "MatchSpec", "SeatSpec", "SpecError"),
    },
)


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
