"""How long matches take, so that long ones can be started first when the end of a run or round is in sight."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from referee.schedule.spec import MatchSpec


@dataclass(slots=True)
class Pace:
    """Mean wall time per game and number of seats, of what was played in this run of the command."""

    _sums: dict[tuple[str, int], tuple[int, int]] = field(default_factory=dict)

    def note(self, spec: MatchSpec, wall_us: int) -> None:
        total_us, number = self._sums.get(_kind(spec), (0, 0))
        self._sums[_kind(spec)] = total_us + wall_us, number + 1

    def longest(self, specs: Iterable[MatchSpec]) -> MatchSpec:
        """The one that is likely to take longest; the first in schedule order among equals. `specs` not empty."""
        return max(specs, key=lambda spec: (self._mean_us(spec), -spec.place))

    def _mean_us(self, spec: MatchSpec) -> float:
        """More seats take longer, where nothing was measured."""
        total_us, number = self._sums.get(_kind(spec), (0, 0))
        return total_us / number if number else float(len(spec.seats))


def _kind(spec: MatchSpec) -> tuple[str, int]:
    return spec.game, len(spec.seats)
