"""What there is to know about a game to play it sensibly without looking ahead."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from referee.games.api import Action, State

Observation = Any
"""The game's own dataclass."""


def points_so_far(state: State) -> Sequence[float]:
    """Per seat."""
    return state.returns()


def observe(state: State, seat: int) -> Observation:
    """All that the seat sees."""
    return state.observation(seat)


def no_shortcut(state: State, seat: int, rng: Random) -> Action | None:
    return None


@dataclass(frozen=True)
class Policy:
    worths: Callable[[Observation, Sequence[Action], int], Sequence[float]]
    """Of a seat's observation, its legal actions and its number: what each of the actions is worth.

    In any unit, as long as more is better. Needs nothing that the seat does not see.
    """
    outlook: Callable[[State], Sequence[float]] = points_so_far
    """Per seat how well it stands when a match is not played to its end, in any unit: differences count."""
    horizon: int = 8
    """Decisions after which a look ahead does better to trust `outlook` than to play on."""
    width: int = 8
    """How many of the actions that it rates highest are worth a closer look."""
    observe: Callable[[State, int], Observation] = observe
    """What `worths` reads of the seat's observation, which may be less than all."""
    shortcut: Callable[[State, int, Random], Action | None] = no_shortcut
    """A quicker way to the action that `best` chooses by `worths`, with the same luck. None where there is none."""
