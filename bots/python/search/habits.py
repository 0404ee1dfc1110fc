"""How play-outs go on beyond the tree: what has served a seat well elsewhere is done more often."""

from collections.abc import Sequence
from random import Random

from referee.games.api import Action

CANDIDATES = 3
"""Actions drawn at each choice, of which the one that has served best is taken."""
UNKNOWN = (0.6, 0)
"""Mean and count before the first time: better than even, so that it is tried."""


class Habits:
    """Means of the worths of all play-outs in which a seat took an action, wherever it did."""

    def __init__(self, rng: Random) -> None:
        self._random = rng.random
        self._means: dict[tuple[int, Action], tuple[float, int]] = {}

    def choose(self, seat: int, legal: Sequence[Action]) -> Action:
        count = len(legal)
        best, highest = legal[int(self._random() * count)], -1.0
        if count == 1:
            return best
        for _ in range(CANDIDATES):
            action = legal[int(self._random() * count)]
            mean, _times = self._means.get((seat, action), UNKNOWN)
            if mean > highest:
                best, highest = action, mean
        return best

    def learn(self, line: Sequence[tuple[int, Action]], worths: Sequence[float]) -> None:
        for seat, action in line:
            mean, count = self._means.get((seat, action), UNKNOWN)
            count += 1
            self._means[seat, action] = (mean + (worths[seat] - mean) / count, count)
