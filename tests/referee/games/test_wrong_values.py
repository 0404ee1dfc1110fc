"""Values of a wrong type, and numbers of seats that do not exist, are refused with the game's own errors."""

from random import Random
from typing import Any

import pytest

from referee.games.api import IllegalAction, PlayersError, resolve_options, state_hash
from referee.games.registry import get_game
from tests.referee.games.transcript import GAMES, WRONG, attempts

LOOKED_AT_EVERY = 7
"""Nodes of a match from one with wrong values to the next."""


@pytest.mark.parametrize("name", GAMES)
def test_wrong_seats_outcomes_and_actions_are_illegal_and_change_nothing(name: str) -> None:
    game, rng = get_game(name), Random(name)
    state: Any = game.new_initial_state(2, resolve_options(name, game.options, {}))
    nodes = 0
    while not state.is_terminal():
        if nodes % LOOKED_AT_EVERY == 0:
            before = state_hash(state)
            for attempt in attempts(state):
                with pytest.raises(IllegalAction):
                    attempt()
            assert state_hash(state) == before
        nodes += 1
        if asked := state.decisions():
            state.apply({one.seat: rng.choice(state.legal_actions(one.seat)) for one in asked})
        else:
            state.apply_chance(rng.choice(state.chance_outcomes())[0])


@pytest.mark.parametrize("name", GAMES)
def test_what_is_no_seat_has_no_legal_actions(name: str) -> None:
    game, rng = get_game(name), Random(name)
    state: Any = game.new_initial_state(2, resolve_options(name, game.options, {}))
    while not state.decisions():
        state.apply_chance(rng.choice(state.chance_outcomes())[0])
    for value in (None, -1, 2, "x", "0", ()):
        assert list(state.legal_actions(value)) == []


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("players", [*WRONG[:6], "2"], ids=repr)
def test_a_wrong_number_of_players_is_refused(name: str, players: Any) -> None:
    game = get_game(name)
    with pytest.raises(PlayersError):
        game.new_initial_state(players, resolve_options(name, game.options, {}))
