"""A game whose view cannot draw is shown by its text board."""

from typing import Any

from toy_game.game import ToyGame

from referee.games.api import resolve_options
from referee.games.drawing import Look, action_places, can_draw, draw_board, event_places


def test_the_text_board_of_a_plug_in_becomes_a_picture(apart: Any) -> None:
    game = ToyGame()
    state = game.new_initial_state(2, resolve_options(game.id, game.options, {}))
    assert not can_draw(game)
    svg = draw_board(game, state.observation(0), Look())
    lines = [element.text for element in apart.elements(svg) if element.tag.endswith("}text")]
    assert lines == [line for line in game.view.text_board(state.observation(0)).split("\n") if line]


def test_observations_of_others_follow_below(apart: Any) -> None:
    game = ToyGame()
    state = game.new_initial_state(2, resolve_options(game.id, game.options, {}))
    one = draw_board(game, state.observation(0))
    both = draw_board(game, state.observation(0), Look(), (state.observation(1),))
    assert both.count("<text") == 2 * one.count("<text")


def test_nothing_of_it_can_be_pointed_at() -> None:
    game = ToyGame()
    assert action_places(game, None, object()) == ()
    assert event_places(game, object()) == ()
