"""Loads the helper modules of this folder: drawn positions, and the naive second implementation."""

import sys
from collections.abc import Callable
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Any

import pytest

from referee.games.api import resolve_options
from referee.games.keyed import random_outcome
from referee.games.manhattan_traffiq import GAME


def load(name: str) -> ModuleType:
    full_name = f"manhattan_traffiq_tests_{name}"
    if full_name not in sys.modules:
        spec = spec_from_file_location(full_name, Path(__file__).with_name(f"{name}.py"))
        assert spec is not None
        assert spec.loader is not None
        module = module_from_spec(spec)
        sys.modules[full_name] = module
        spec.loader.exec_module(module)
    return sys.modules[full_name]


@pytest.fixture(scope="session")
def pos() -> ModuleType:
    """`position`, `act`, `legal` and friends."""
    return load("positions")


@pytest.fixture(scope="session")
def naive() -> ModuleType:
    return load("naive")


@pytest.fixture(scope="session")
def options() -> Callable[..., dict[str, Any]]:
    """Full options, the given ones over the defaults."""
    return lambda **given: resolve_options(GAME.id, GAME.options, given)


def choose(state: Any, rng: Random) -> Any:
    """Builds tight maps and full streets more often than an even choice, so that every rule comes up."""
    legal = state.legal_actions(state.seat)
    attaching = [action for action in legal if action.KIND == "attach"]
    if attaching and rng.random() < 0.5:
        beside = {(tile.x, tile.y) for tile in state.city.tiles}

        def contacts(action: Any) -> int:
            around = [(action.x + dx, action.y + dy) for dx in (-1, 0, 1) for dy in (-1, 0, 1)]
            return sum(cell in beside for cell in around)

        most = max(contacts(action) for action in attaching)
        return rng.choice([action for action in attaching if contacts(action) == most])
    return legal[-1] if rng.random() < 0.2 else rng.choice(legal)


@pytest.fixture(scope="session")
def wander() -> Callable[..., Any]:
    """Play a random match, calling `visit(state)` at every node and `step(state, move, then)` at every move.

    A move is an action, or the outcome of a chance node. Returns the final state.
    """

    def play(
        players: int,
        options: dict[str, Any],
        seed: int,
        visit: Callable[[Any], None] = lambda state: None,
        step: Callable[[Any, Any, Callable[[], Any]], None] = lambda state, move, then: then(),
        pick: Callable[[Any, Random], Any] = choose,
    ) -> Any:
        rng = Random(seed)
        state = GAME.new_initial_state(players, options)
        while not state.is_terminal():
            visit(state)
            if state.decisions():
                action = pick(state, rng)
                step(state, action, lambda action=action: state.apply({state.seat: action}))
            else:
                outcome = random_outcome(state.chance_outcomes(), rng)
                step(state, outcome, lambda outcome=outcome: state.apply_chance(outcome))
        visit(state)
        return state

    return play
