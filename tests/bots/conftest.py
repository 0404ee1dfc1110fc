"""Bots played within the test process, by the benchmark that also compares them."""

import importlib.util
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from referee.games.api import Game, resolve_options
from referee.games.registry import get_game

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def bench() -> ModuleType:
    spec = importlib.util.spec_from_file_location("benchmark_of_bots", ROOT / "benchmarks" / "bots.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def shipped() -> Callable[[str], Game]:
    """A shipped game by id."""
    return get_game


@pytest.fixture
def play(bench: ModuleType, shipped: Callable[[str], Game]) -> Callable[..., Any]:
    """Plays a match between bots named by folder; `options` are those of the bots that have such options."""

    def played(game_id: str, bots: Sequence[str], seed: str, **options: int) -> Any:
        game = shipped(game_id)
        made = [
            bench.load_bot(ROOT / "bots" / "python" / name, options if name == "search" else None)() for name in bots
        ]
        return bench.play(game, resolve_options(game_id, game.options, {}), made, seed)

    return played
