"""Opponents that play in the process of the agent."""

from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Any, TypeAlias

from crosstown_greedy import POLICIES, best

from crosstown_env.table import Setup

Opponent: TypeAlias = Callable[[Any, Sequence[Any], int, Random], int]
"""Given what its seat sees, its legal actions, its seat and a generator: the index of the action that it chooses."""


def _random(seen: Any, legal: Sequence[Any], seat: int, rng: Random) -> int:
    return int(rng.random() * len(legal))


def _greedy(game: str) -> Opponent:
    policy = POLICIES[game]

    def choose(seen: Any, legal: Sequence[Any], seat: int, rng: Random) -> int:
        return best(policy.worths(seen, legal, seat), rng) if len(legal) > 1 else 0

    return choose


class Mixture:
    """Draws an opponent for each seat and match. It is given as one, as several alike, or as weights."""

    def __init__(self, setup: Setup, given: "Opponents") -> None:
        weights: Mapping[Opponent | str, float]
        if isinstance(given, Mapping):
            weights = given
        elif isinstance(given, str) or callable(given):
            weights = {given: 1.0}
        else:
            weights = dict.fromkeys(given, 1.0)
        if not weights or min(weights.values()) <= 0:
            raise ValueError("opponents: name at least one, each with a weight above 0")
        self._players = [_named(setup.game.id, one) for one in weights]
        self._weights = list(weights.values())

    def draw(self, rng: Random) -> Opponent:
        """One opponent, by weight."""
        return rng.choices(self._players, self._weights)[0]


Opponents: TypeAlias = Opponent | str | Sequence[Opponent | str] | Mapping[Opponent | str, float]
"""'random', 'greedy', a function, several of them, or weights by these."""


def _named(game: str, one: Opponent | str) -> Opponent:
    if not isinstance(one, str):
        return one
    if one == "random":
        return _random
    if one == "greedy":
        return _greedy(game)
    raise ValueError(f"unknown opponent '{one}'; use 'random', 'greedy' or a function")
