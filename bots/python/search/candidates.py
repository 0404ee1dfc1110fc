"""The actions a search decides among: the one to beat first, and what play-outs in the same worlds say of the others.

In each world, a position made up to fit what was seen and the luck that follows, every candidate is played out once.
So candidates are compared by the differences within worlds, which vary far less than the worths themselves. The
number of candidates is halved in equal steps of the time (sequential halving: Karnin, Koren, Somekh, "Almost Optimal
Exploration in Multi-Armed Bandits", 2013); the one to beat stays. Another one is chosen only if it is better by more
than a standard error: the one to beat is a good guess, and the best of several estimates looks better than it is.
"""

from collections.abc import Sequence
from math import ceil, log2, sqrt

from referee.games.api import Action

CAUTION = 1.0
"""Standard errors by which another action must be better than the one to beat."""
FEWEST_WORLDS = 4
"""Before which differences say too little."""


class Candidate:
    """An action with its differences to the action to beat, world by world."""

    __slots__ = ("_squares", "action", "mean", "worlds")

    def __init__(self, action: Action) -> None:
        self.action = action
        self.worlds = 0
        self.mean = 0.0
        self._squares = 0.0

    def add(self, difference: float) -> None:
        self.worlds += 1
        step = difference - self.mean
        self.mean += step / self.worlds
        self._squares += step * (difference - self.mean)

    def standard_error(self) -> float:
        return sqrt(self._squares / (self.worlds - 1) / self.worlds) if self.worlds > 1 else 1.0


class Candidates:
    def __init__(self, actions: Sequence[Action]) -> None:
        """`actions` from the most promising; the first is the one to beat."""
        self.to_beat = actions[0]
        self._others = [Candidate(action) for action in actions[1:]]
        self._alive = list(self._others)
        self._rounds = max(1, ceil(log2(len(actions))))

    def actions(self) -> list[Action]:
        """Those still to be played out, in every world."""
        return [self.to_beat, *[candidate.action for candidate in self._alive]]

    def learn(self, worths: Sequence[float], progress: float) -> None:
        """What each of `actions()` was worth in one more world, with the share of the time that is gone."""
        for candidate, worth in zip(self._alive, worths[1:], strict=True):
            candidate.add(worth - worths[0])
        left = len(self._others) + 1 >> int(progress * self._rounds)
        if 1 < left <= len(self._alive) and self._alive[0].worlds >= FEWEST_WORLDS:
            self._alive.sort(key=lambda candidate: -candidate.mean)
            del self._alive[left - 1 :]

    def best(self) -> Action:
        """The best of those that are left, if it is surely better than the one to beat."""
        leader = max(self._alive, key=lambda candidate: candidate.mean, default=None)
        if leader is None or leader.worlds < FEWEST_WORLDS or leader.mean <= CAUTION * leader.standard_error():
            return self.to_beat
        return leader.action

    def gain(self) -> float:
        """Of the best over the one to beat, from 0 to 1."""
        best = self.best()
        return next((candidate.mean for candidate in self._alive if candidate.action == best), 0.0)
