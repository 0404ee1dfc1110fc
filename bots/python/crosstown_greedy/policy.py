"""What there is to know about a game to play it sensibly without looking ahead."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from referee.games.api import Action, State

Observation = Any
"""The game's own dataclass."""


def points_so_far(state: State) -> Sequence[float]:
    """Per seat."""
    return state.returns()


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
