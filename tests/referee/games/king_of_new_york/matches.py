"""Random matches: of the box as it is, and with cards that everyone can afford."""

from collections.abc import Callable
from random import Random
from typing import Any

from referee.games.api import resolve_options
from referee.games.keyed import random_outcome
from referee.games.king_of_new_york import GAME


def options(**given: Any) -> dict[str, Any]:
    """Full options."""
    return resolve_options(GAME.id, GAME.options, given)


def cheap_data() -> dict[str, Any]:
    """The box with free cards and more life, so that random players own many cards for a long time."""
    data = GAME.default_data()
    for card in data["cards"]:
        card["cost"] = min(card["cost"], 1)
    data["table"] |= {"start_life": 25, "max_life": 25, "win_vp": 60, "sweep_cost": 1}
    return data


def wander(
    players: int, seed: int, visit: Callable[[Any], None] = lambda state: None, given: dict[str, Any] | None = None
) -> Any:
    """Play a random match, calling `visit(state)` at every node; the final state."""
    rng = Random(seed)
    state = GAME.new_initial_state(players, options() if given is None else given)
    while not state.is_terminal():
        visit(state)
        step(state, rng)
    visit(state)
    return state


def step(state: Any, rng: Random) -> list[Any]:
    """One random action or outcome; its events."""
    if decisions := state.decisions():
        seat = decisions[0].seat
        events: list[Any] = state.apply({seat: rng.choice(state.legal_actions(seat))})
    else:
        events = state.apply_chance(random_outcome(state.chance_outcomes(), rng))
    return events
