"""How play-outs go on beyond the tree: what has served elsewhere is done more often."""

from collections.abc import Sequence
from random import Random

from referee.games.api import Action

CANDIDATES = 4
"""Actions drawn at each choice, of which the one that has served best is taken."""
KIND_COUNTS = 4
"""As how many play-outs the mean of its kind counts beside those of an action."""
MEMORY = 200
"""Play-outs after which a mean forgets."""


class Habits:
    """Mean worths of the play-outs in which an action was taken, and of those with any action of its kind."""

    def __init__(self, rng: Random) -> None:
        self._random = rng.random
        self._actions: dict[tuple[int, Action], tuple[float, int]] = {}
        self._kinds: dict[str, tuple[float, int]] = {}

    def choose(self, seat: int, legal: Sequence[Action]) -> Action:
        count = len(legal)
        best, highest = legal[int(self._random() * count)], -1.0
        if count == 1:
            return best
        for _ in range(CANDIDATES):
            action = legal[int(self._random() * count)]
            promise = self.promise(seat, action)
            if promise > highest:
                best, highest = action, promise
        return best

    def promise(self, seat: int, action: Action) -> float:
        of_kind, _ = self._kinds.get(action.KIND, (0.6, 0))
        mean, times = self._actions.get((seat, action), (0.0, 0))
        return (KIND_COUNTS * of_kind + times * mean) / (KIND_COUNTS + times)

    def learn(self, line: Sequence[tuple[int, Action]], worths: Sequence[float]) -> None:
        """After a play-out in which the seats took these actions, with what it was worth to each seat."""
        for seat, action in line:
            worth = worths[seat]
            self._actions[seat, action] = _with(self._actions.get((seat, action), (0.0, 0)), worth)
            self._kinds[action.KIND] = _with(self._kinds.get(action.KIND, (0.0, 0)), worth)


def _with(mean_of: tuple[float, int], worth: float) -> tuple[float, int]:
    mean, count = mean_of
    count = min(count + 1, MEMORY)
    return mean + (worth - mean) / count, count
