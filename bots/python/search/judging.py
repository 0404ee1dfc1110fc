"""What a position is worth to each seat, from 0 to 1, whatever the game."""

from collections.abc import Callable, Sequence
from math import sqrt

from referee.games.api import State

RESULT_SHARE = 0.8
"""Of the result in the worth of a finished match; the rest is the margin."""


class Spread:
    """Mean and deviation of the numbers it has been given."""

    __slots__ = ("_count", "_mean", "_squares")

    def __init__(self) -> None:
        self._count = 0
        self._mean = 0.0
        self._squares = 1.0

    def place(self, value: float) -> float:
        """Where a number lies among all so far, itself included: 0.5 in their middle, towards 0 and 1 far outside."""
        self._count += 1
        step = value - self._mean
        self._mean += step / self._count
        self._squares += step * (value - self._mean)
        distance = (value - self._mean) / sqrt(self._squares / self._count)
        return 0.5 + 0.5 * distance / (1 + abs(distance))


class Judge:
    """Judges by ranks at the end; before, by how much better the outlook is than play-outs of this match make it."""

    def __init__(self, teams: Sequence[int], outlook: Callable[[State], Sequence[float]]) -> None:
        self._opponents = [[other for other, team in enumerate(teams) if team != mine] for mine in teams]
        self._spreads = [[Spread() for _ in opponents] for opponents in self._opponents]
        self._outlook = outlook

    def worths(self, state: State) -> list[float]:
        """Per seat, the mean over its opponents."""
        over = state.is_terminal()
        points = self._outlook(state)
        ranks: Sequence[int] = state.ranking() if over else ()
        found = []
        for seat, opponents in enumerate(self._opponents):
            total = 0.0
            for other, spread in zip(opponents, self._spreads[seat], strict=True):
                worth = spread.place(points[seat] - points[other])
                if over:
                    result = (ranks[seat] < ranks[other]) + (ranks[seat] == ranks[other]) / 2
                    worth = RESULT_SHARE * result + (1 - RESULT_SHARE) * worth
                total += worth
            found.append(total / max(1, len(opponents)))
        return found
