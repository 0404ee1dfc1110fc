"""A node of the search tree: per seat, what its choices here have led to.

A node begins with the choice of the policy and takes in others, the more promising first, as it is visited more often
(progressive widening: Coulom, "Computing Elo Ratings of Move Patterns in the Game of Go", 2007).
"""

from collections.abc import Callable, Sequence
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


class Choices:
    """What a seat has tried at a node."""

    __slots__ = ("_arms_then", "_legal_then", "_tried", "arms", "visits")

    def __init__(self) -> None:
        self.visits = 0
        self.arms: dict[Action, Arm] = {}
        self._legal_then: list[Action] = []
        self._arms_then = 0
        self._tried: list[tuple[Action, Arm]] = []

    def tried(self, legal: Sequence[Action]) -> list[tuple[Action, Arm]]:
        """Those of the legal actions that have arms, in their order. Most visits find what the visit before found."""
        now = list(legal)
        if now != self._legal_then or len(self.arms) != self._arms_then:
            self._legal_then, self._arms_then = now, len(self.arms)
            self._tried = [(action, arm) for action in legal if (arm := self.arms.get(action))]
        return self._tried


class Node:
    __slots__ = ("_children", "_choices")

    def __init__(self) -> None:
        self._choices: dict[int, Choices] = {}
        self._children: dict[tuple[Any, ...], Node] = {}

    def choose(self, seat: int, legal: Sequence[Action], worths: Callable[[], Sequence[float]]) -> Action:
        """The next untried action, if the node is to be widened; else the highest upper bound.

        `worths`, of the legal actions, are asked for in the first case only. What is legal may differ from visit to
        visit: hidden cards make some actions possible only at times.
        """
        choices = self._choices.get(seat)
        if choices is None:
            choices = self._choices[seat] = Choices()
        visits = choices.visits = choices.visits + 1
        tried = choices.tried(legal)
        if len(tried) < len(legal) and len(tried) < visits**WIDENING:
            known = {action for action, _ in tried}
            rated = worths()
            number = max((number for number, action in enumerate(legal) if action not in known), key=rated.__getitem__)
            return legal[number]
        if len(tried) == 1:
            return tried[0][0]
        growth = log(visits)
        return max(
            tried, key=lambda item: item[1].total / item[1].visits + EXPLORATION * sqrt(growth / item[1].visits)
        )[0]

    def child(self, seen: tuple[Any, ...]) -> "tuple[Node, bool]":
        """The node after these events, and whether it is new."""
        child = self._children.get(seen)
        if child is not None:
            return child, False
        child = self._children[seen] = Node()
        return child, True

    def add(self, seat: int, action: Action, worth: float) -> None:
        choices = self._choices.get(seat)
        if choices is None:
            choices = self._choices[seat] = Choices()
        arm = choices.arms.get(action)
        if arm is None:
            arm = choices.arms[action] = Arm()
        arm.visits += 1
        arm.total += worth
