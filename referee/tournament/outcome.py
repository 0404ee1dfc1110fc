"""Where a run stands while it is played, and how it ended."""

from dataclasses import dataclass

from referee.schedule.formats.api import Placing


@dataclass(frozen=True, slots=True)
class Reached:
    """Where a run stands: of `total` matches `done` count, and `off` were given up in this run of the command. Matches
    that were cancelled are no part of the total. `at_most`: results to come, or bots that are out, may make it smaller.
    """

    total: int
    done: int
    off: int
    at_most: bool = False


@dataclass(frozen=True, slots=True)
class GivenUp:
    """A match that stayed void. `detail` tells of the last attempt."""

    match_id: str
    place: int
    reason: str
    detail: str


@dataclass(frozen=True, slots=True)
class Summary:
    """How a run of the command went. `found` were there before, `played` came to count now; `void` attempts did not.

    `given_up` are missing still, as is the rest if `stopped`. `cancelled` will never be played: entries that are out,
    matches that were annulled. `set_aside` are the names of entries that the breaker has put out, now or
    before. `placings` is the format's own table, if it has one and the schedule has ended. `total` is without what was
    `cancelled`; `at_most`: results to come, or bots that are out, may make it smaller.
    """

    total: int
    found: int
    played: int
    void: int
    given_up: tuple[GivenUp, ...]
    cancelled: int
    stopped: bool
    complete: bool
    set_aside: tuple[str, ...] = ()
    decided: bool = False
    placings: tuple[Placing, ...] = ()
    at_most: bool = False

    @property
    def missing(self) -> int:
        """Matches that are still to be played."""
        return self.total - self.found - self.played
