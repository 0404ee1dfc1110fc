"""What a board says when the match is over: of most points, those of the seats that stayed."""

import random
import re
from typing import Any

import pytest

from referee.games.drawing import Look, draw_board
from referee.games.registry import get_game


def finished(game_id: str, seed: int, *, leaves: bool) -> Any:
    """A match of three by chance, which seat 0 leaves after 200 decisions or chances."""
    chance = random.Random(seed)
    game = get_game(game_id)
    state = game.new_initial_state(3, {option.name: option.default for option in game.options})
    steps = 0
    while not state.is_terminal():
        steps += 1
        asked = state.decisions()
        if leaves and steps == 200:
            state.withdraw(0)
        elif asked:
            state.apply({item.seat: chance.choice(list(state.legal_actions(item.seat))) for item in asked})
        else:
            outcomes, weights = zip(*state.chance_outcomes(), strict=True)
            state.apply_chance(chance.choices(outcomes, weights)[0])
    return game, state.observation(None)


def points(game_id: str, seen: Any) -> list[int]:
    if game_id == "manhattan_traffiq":
        return list(seen.fleet.scores)
    return [score.total for score in sorted(seen.scores, key=lambda score: score.seat)]


@pytest.mark.parametrize("game_id", ["manhattan_traffiq", "ticket_to_ride_new_york"])
@pytest.mark.parametrize("leaves", [True, False])
def test_most_points_are_those_of_the_seats_that_stayed(game_id: str, leaves: bool) -> None:
    for seed in range(6):
        game, seen = finished(game_id, seed, leaves=leaves)
        left = seen.facts.left if game_id == "manhattan_traffiq" else seen.left
        stayed = [total for seat, total in enumerate(points(game_id, seen)) if seat not in left]
        words = " of those who stayed" if left else ""
        said = re.findall(r'most points[^<."]*', draw_board(game, seen, Look(styled=False)))
        assert set(said) == {f"most points{words}: {max(stayed)}"}
