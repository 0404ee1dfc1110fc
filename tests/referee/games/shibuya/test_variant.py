"""The variant without building phase (sheet section 7)."""

from typing import Any

import pytest

from referee.games.api import Decision
from referee.games.shibuya import GAME
from referee.games.shibuya.actions import Build, Place
from referee.games.shibuya.events import Finished

SOME = """
.. .. .. .. wq wq .. ..
.. .. .. .. wq wq .. ..
.. .. .. .. wq wq .. ..
.. .. .. .. wq wq .. ..
.. .. wq wq wq wq .. ..
.. .. wq wq wqR wq .. ..
.. .. wq wq .. .. .. ..
.. .. wq wq .. .. .. ..
"""


def test_it_begins_with_an_empty_grid_and_the_crossing() -> None:
    state = GAME.new_initial_state(2, {"build_phase": False})
    assert state.decisions() == (Decision(0, "turn"),)
    assert not any(state.observation(None).tops)
    assert sum(state.observation(None).stock) == 30


@pytest.mark.parametrize("players", [2, 4])
def test_r6_the_other_side_opens_the_match_by_option(players: int) -> None:
    options = {"build_phase": False, "start_player_begins_crossing_phase": False}
    state = GAME.new_initial_state(players, options)
    assert state.decisions() == (Decision(1, "turn"),)


def test_a_first_move_needs_a_tile_ahead_so_the_first_action_is_to_build() -> None:
    state = GAME.new_initial_state(2, {"build_phase": False})
    assert list(state.legal_actions(0)) == [Build()]


def test_building_fills_an_empty_slot_or_covers_a_laid_tile(pos: Any) -> None:
    state = pos.position(SOME, build_phase=False, doubled=(1,))
    state.apply({0: Build()})
    state.apply_chance(state.chance_outcomes()[0][0])
    red_slot = 2 + 4 * 1
    assert {action.slot for action in state.legal_actions(0)} == set(range(16)) - {1, red_slot}
    (placed,) = state.apply({0: Place(0, 0)})
    assert not placed.public.covered
    state.apply({1: Build()})
    state.apply_chance(state.chance_outcomes()[0][0])
    (placed,) = state.apply({1: Place(0, 0)})
    assert placed.public.covered
    state.apply({0: Build()})
    state.apply_chance(state.chance_outcomes()[0][0])
    assert Place(0, 0) not in state.legal_actions(0)  # two layers at most


def test_pedestrians_neither_enter_nor_pass_empty_fields(pos: Any) -> None:
    state = pos.position(SOME, build_phase=False)
    laid = {(x, y) for x in (2, 3) for y in range(4)} | {(x, y) for x in (4, 5) for y in range(2, 8)}
    ends = pos.ends(state, (4, 2))
    assert ends == {(x, y) for x, y in laid if y < 7} - {(4, 2)} | {("goal", 4), ("goal", 5)}
    assert pos.ends(state, ("start", 4)) == set()


def test_four_in_goal_win(pos: Any) -> None:
    state = pos.position(SOME, build_phase=False, red_goals=[1, 2, 3], blue_goals=[1, 2])
    assert pos.go(state, (4, 2), ("goal", 4))[-1] == Finished(0, "goals")


def test_the_lead_of_three_still_wins(pos: Any) -> None:
    state = pos.position(SOME, build_phase=False, red_goals=[1, 2])
    assert pos.go(state, (4, 2), ("goal", 4))[-1] == Finished(0, "lead")


def test_another_target_can_be_chosen(pos: Any) -> None:
    state = pos.position(SOME, build_phase=False, goals_to_win=6, red_goals=[1, 2, 3], blue_goals=[1, 2])
    pos.go(state, (4, 2), ("goal", 4))
    assert not state.is_terminal()
