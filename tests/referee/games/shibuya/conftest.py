"""Loads the helper modules of this folder: readable positions, and the naive second implementation."""

import sys
from collections.abc import Callable
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Any

import pytest

from referee.games.keyed import random_outcome
from referee.games.shibuya import GAME


def load(name: str) -> ModuleType:
    full_name = f"shibuya_tests_{name}"
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
    """`position`, `ends`, `go` and boards."""
    return load("positions")


@pytest.fixture(scope="session")
def naive() -> ModuleType:
    return load("naive")


@pytest.fixture(scope="session")
def wander() -> Callable[..., Any]:
    """Play a random match, calling `visit(state)` at every node; the final state."""

    def play(
        players: int, options: dict[str, Any], seed: int, visit: Callable[[Any], None] = lambda state: None
    ) -> Any:
        rng = Random(seed)
        state = GAME.new_initial_state(players, options)
        while not state.is_terminal():
            visit(state)
            if decisions := state.decisions():
                legal = state.legal_actions(decisions[0].seat)
                state.apply({decisions[0].seat: rng.choice(legal)})
            else:
                state.apply_chance(random_outcome(state.chance_outcomes(), rng))
        visit(state)
        return state

    return play
