"""A node of the search tree: per seat, what its choices here have led to.

A node begins with the choice of the policy and takes in others, the more promising first, as it is visited more often
(progressive widening: Coulom, "Computing Elo Ratings of Move Patterns in the Game of Go", 2007).
"""

from collections.abc import Sequence
from math import log, sqrt
from typing import Any

from referee.games.api import Action

EXPLORATION = 0.35
WIDENING = 0.5
"""Power of the visits that says how many actions are tried."""


class Arm:
    """One action: how often it was chosen, and the sum of worths after it."""

    __slots__ = ("total", "visits")

    def __init__(self) -> None:
        self.visits = 0
        self.total = 0.0


class Node:
    __slots__ = ("_arms", "_children", "_visits")

    def __init__(self) -> None:
        self._arms: dict[tuple[int, Action], Arm] = {}
        self._children: dict[tuple[Any, ...], Node] = {}
        self._visits: dict[int, int] = {}

    def choose(self, seat: int, legal: Sequence[Action], worths: Sequence[float]) -> Action:
        """The next untried action, if the node is to be widened; else the highest upper bound.

        What is legal may differ from visit to visit: hidden cards make some actions possible only at times.
        """
        visits = self._visits[seat] = self._visits.get(seat, 0) + 1
        tried = [(action, arm) for action in legal if (arm := self._arms.get((seat, action)))]
        if len(tried) < len(legal) and len(tried) < visits**WIDENING:
            known = {action for action, _ in tried}
            number = max((number for number, action in enumerate(legal) if action not in known), key=worths.__getitem__)
            return legal[number]
        return max(
            tried, key=lambda item: item[1].total / item[1].visits + EXPLORATION * sqrt(log(visits) / item[1].visits)
        )[0]

    def child(self, seen: tuple[Any, ...]) -> "tuple[Node, bool]":
        """The node after these events, and whether it is new."""
        child = self._children.get(seen)
        if child is not None:
            return child, False
        child = self._children[seen] = Node()
        return child, True

    def add(self, seat: int, action: Action, worth: float) -> None:
        arm = self._arms.get((seat, action))
        if arm is None:
            arm = self._arms[seat, action] = Arm()
        arm.visits += 1
        arm.total += worth
