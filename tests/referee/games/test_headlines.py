"""What a board says when the match is over: of most points, those of the seats that stayed."""

import random
import re
from typing import Any

import pytest

from referee.games.drawing import Look, draw_board, seat_picture
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


@pytest.mark.parametrize(
    ("game_id", "before"),
    [("king_of_new_york", "before the first turn"), ("ticket_to_ride_new_york", "Set-up: ")],
)
def test_before_the_first_turn_no_seat_is_said_to_have_it(game_id: str, before: str) -> None:
    game = get_game(game_id)
    state = game.new_initial_state(2, {option.name: option.default for option in game.options})
    seen = state.observation(None)
    assert before in draw_board(game, seen, Look(names=("ann", "bob")))
    for board in (draw_board(game, seen, Look(names=("ann", "bob"))), game.view.text_board(seen, ("ann", "bob"))):
        assert "urn of" not in board
        assert "ann: " not in board.partition("</title>")[0]


@pytest.mark.parametrize("game_id", ["king_of_new_york", "manhattan_traffiq", "shibuya", "ticket_to_ride_new_york"])
def test_the_piece_beside_a_name_is_the_one_that_stands_for_its_seat_on_the_board(game_id: str) -> None:
    game = get_game(game_id)
    players = max(game.player_counts)
    state = game.new_initial_state(players, {option.name: option.default for option in game.options})
    board = draw_board(game, state.observation(None), Look(styled=False))
    for seat in range(players):
        (fill,) = set(re.findall(r'class="f-(?!white")(\w+) piece"', seat_picture(game, seat, players))) or {"white"}
        assert f'class="f-{fill} piece"' in board
