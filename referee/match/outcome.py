"""How a match ended, before its record is closed."""

from dataclasses import dataclass

from referee.match.reasons import EndReason, Status, status_of


@dataclass(frozen=True, slots=True)
class Outcome:
    """As `MatchResult`. `fault_seat`: the one seat whose fault ended it; `trouble`: our traceback;
    `memory_of`: the seat for which the machine had no memory left."""

    reason: EndReason
    detail: str = ""
    ranking: tuple[int, ...] = ()
    returns: tuple[int, ...] = ()
    state_hash: str = ""
    fault_seat: int | None = None
    trouble: str = ""
    memory_of: int | None = None

    @property
    def status(self) -> Status:
        return status_of(self.reason)
