"""Positions met in random play of the shipped games."""

from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import pytest
from crosstown_env import GAMES
from crosstown_env.table import Setup, Table

from referee.games.api import OptionError
from referee.games.conformance.match import random_options
from referee.games.registry import get_game

TABLES = [(game, players) for game in GAMES for players in get_game(game).player_counts]
"""Every game with every number of players."""


def nodes_of(
    game: str, players: int, matches: int, options: dict[str, Any] | None = None, seed: int = 0
) -> Iterator[Table]:
    """The tables of random matches at each of their questions."""
    setup, rng = Setup(game, players, options, "rank"), Random(f"{game}/{players}/{seed}")
    for _ in range(matches):
        table = Table(setup, rng)
        while not table.over:
            yield table
            table.answer(rng.choice(table.ids(table.seat)))


def drawn_options(game: str, players: int, seed: int) -> dict[str, Any]:
    """Random options that the game accepts together."""
    found = get_game(game)
    for attempt in range(100):
        options = random_options(found.options, Random(f"{game}/{seed}/{attempt}"))
        try:
            Setup(game, players, options, "rank")
        except OptionError:
            continue
        return options
    raise AssertionError(f"no options of {game} in 100 attempts")


@pytest.fixture
def nodes() -> Callable[..., Iterator[Table]]:
    return nodes_of


@pytest.fixture
def options_of() -> Callable[[str, int, int], dict[str, Any]]:
    return drawn_options
