"""A node of the search tree: per seat, what its choices here have led to."""

from collections.abc import Sequence
from math import log, sqrt
from random import Random
from typing import Any

from referee.games.api import Action

EXPLORATION = 0.35


class Arm:
    """One action: how often it could be chosen, how often it was, and the sum of worths after it."""

    __slots__ = ("available", "total", "visits")

    def __init__(self) -> None:
        self.available = 0
        self.visits = 0
        self.total = 0.0


class Node:
    __slots__ = ("_arms", "_children")

    def __init__(self) -> None:
        self._arms: dict[int, dict[Action, Arm]] = {}
        self._children: dict[tuple[Any, ...], Node] = {}

    def choose(self, seat: int, legal: Sequence[Action], rng: Random) -> tuple[Action, bool]:
        """An action, and whether it is the first time. Among those tried, the highest upper bound.

        The bound counts how often an action was available: hidden cards make some actions possible only at times.
        """
        arms = self._arms.setdefault(seat, {})
        untried = []
        best, highest = legal[0], -1.0
        for action in legal:
            arm = arms.get(action)
            if arm is None:
                arm = arms[action] = Arm()
            arm.available += 1
            if not arm.visits:
                untried.append(action)
            elif not untried:
                bound = arm.total / arm.visits + EXPLORATION * sqrt(log(arm.available) / arm.visits)
                if bound > highest:
                    best, highest = action, bound
        return (rng.choice(untried), True) if untried else (best, False)

    def child(self, seen: tuple[Any, ...]) -> "Node":
        """The node after these events."""
        child = self._children.get(seen)
        if child is None:
            child = self._children[seen] = Node()
        return child

    def add(self, seat: int, action: Action, worth: float) -> None:
        arm = self._arms[seat][action]
        arm.visits += 1
        arm.total += worth

    def most_visited(self, seat: int, legal: Sequence[Action]) -> Action:
        """The best known action; of equally known ones the better."""
        arms = self._arms.get(seat, {})
        return max(legal, key=lambda action: (arms[action].visits, arms[action].total) if action in arms else (0, 0.0))

    def value(self, seat: int, action: Action) -> float:
        arm = self._arms.get(seat, {}).get(action)
        return arm.total / arm.visits if arm is not None and arm.visits else 0.0
