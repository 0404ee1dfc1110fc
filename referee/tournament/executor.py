"""Where matches are played: the seam between the runner and whatever machines there are.

An executor takes specifications and gives results. It knows no schedule, no ratings and no journal. The record of a
match is the truth, its result only the news of it: the result brings the record, and the runner writes it. An executor
on the runner's own machine may write the record to the run folder itself.
"""

from collections.abc import Callable, Collection
from types import TracebackType
from typing import Protocol, Self

from referee.match.result import MatchResult
from referee.schedule.spec import MatchSpec


class MatchLost(Exception):
    """A match that came to no result: its worker died, or the referee failed.

    `flood`: the seat of a bot whose messages took most of the worker's time before it died, and a sentence that says
    so; None if no bot did that. `machine`: the name of the machine that is to blame, not the match: it was lost, or
    could not play. The match is played again on another one, and this was no attempt at it.
    """

    def __init__(self, message: str, flood: tuple[int, str] | None = None, machine: str = "") -> None:
        super().__init__(message)
        self.flood = flood
        self.machine = machine


def nothing() -> None:
    """The default callback `over`, which does nothing."""


class MatchPlayer(Protocol):
    """What the runner of one run asks of an executor, which may play for other runs as well."""

    @property
    def slots(self) -> int:
        """How many matches it is given at once at the most; at least 1. It may change."""

    def has_room(self, spec: MatchSpec, playing: Collection[MatchSpec]) -> bool:
        """Whether it would begin with this match beside those that it has been given and has not given back."""

    async def play(self, spec: MatchSpec, cap_s: float, *, over: Callable[[], None] = nothing) -> MatchResult:
        """Play one match; its record is then in the result, or in the folder of the run. Called where there is room.

        `over` may be called once the match has been played and nothing but its record is to be closed: from then on it
        takes no room.
        MatchLost if there is no result, or none after `cap_s`; PlatformError if no match can be played at all.
        A cancelled call abandons its match.
        """


class Executor(MatchPlayer, Protocol):
    """An async context manager; leaving it ends all it has started."""

    def kill(self) -> None:
        """End everything at once."""

    async def __aenter__(self) -> Self: ...

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...
