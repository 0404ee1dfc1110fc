"""Going into the goal (sheet section 4 A, rule 6, and reading R3)."""

from typing import Any

import pytest

from referee.games.shibuya.events import Moved

# Red's goals lie behind row 7. One black way leads up column 3 to (3, 7) and on to (4, 7), (4, 6).
AHEAD = """
wq wq wq ko ko wq wq wq
wq wq wq ko ko wq wq wq
wq wq wq koR wq wq wq wq
wq wq wq wq wq wq wq wq
wq wq wq wq wq wq wq wq
wq wq wq wq wq wq wq wq
wq wq wq wq wq wq wq wq
wq wq wq wq wq wq wq wq
"""
# From (3, 5) over (3, 7), (4, 7) and (5, 7), all before goals, down to (5, 6).
ARCH = """
wq wq wq ko ko ko wq wq
wq wq wq ko wq ko wq wq
wq wq wq koR wq wq wq wq
wq wq wq wq wq wq wq wq
wq wq wq wq wq wq wq wq
wq wq wq wq wq wq wq wq
wq wq wq wq wq wq wq wq
wq wq wq wq wq wq wq wq
"""
EDGE = """
wq wq wq wq wq ko ko ko
wq wq wq wq wq ko wq ko
wq wq wq wq wq koR wq ko
wq wq wq wq wq wq wq wq
wq wq wq wq wq wq wq wq
wq wq wq wq wq wq wq wq
wq wq wq wq wq wq wq wq
wq wq wq wq wq wq wq wq
"""


def test_who_stops_before_its_goal_is_put_into_it_and_never_moves_again(pos: Any) -> None:
    state = pos.position(AHEAD)
    assert pos.ends(state, (3, 5)) == {(3, 6), (4, 6), ("goal", 3), ("goal", 4)}
    assert pos.go(state, (3, 5), ("goal", 3)) == [Moved(0, 3 + 8 * 5, 64 + 3)]
    red = state.to_dict()["teams"][0]
    assert red["goals"] == [0, 0, 0, 1, 0, 0, 0, 0]
    assert red["fields"] == []
    assert state.returns() == (1, 0)
    state.apply({1: state.legal_actions(1)[0]})
    assert all(action.source >= 64 for action in state.legal_actions(0) if action.KIND == "move")


def test_a_way_may_lead_over_the_fields_before_free_goals_and_does_not_enter_them(pos: Any) -> None:
    state = pos.position(ARCH)
    assert pos.ends(state, (3, 5)) == {(3, 6), (5, 6), *(("goal", goal) for goal in (3, 4, 5))}
    pos.go(state, (3, 5), (5, 6))
    assert state.returns() == (0, 0)
    assert state.to_dict()["teams"][0]["fields"] == [5 + 8 * 6]


def test_by_option_a_way_ends_on_the_first_field_before_a_free_goal(pos: Any) -> None:
    state = pos.position(ARCH, pass_through_own_goal_front=False)
    assert pos.ends(state, (3, 5)) == {(3, 6), ("goal", 3)}
    # A goal that is taken is no end of the way.
    state = pos.position(ARCH, pass_through_own_goal_front=False, red_goals=[3])
    assert pos.ends(state, (3, 5)) == {(3, 6), (3, 7), ("goal", 4)}


def test_a_taken_goal_field_is_not_entered_and_stopping_before_it_is_an_ordinary_stop(pos: Any) -> None:
    state = pos.position(AHEAD, red_goals=[3])
    assert pos.ends(state, (3, 5)) == {(3, 6), (4, 6), (3, 7), ("goal", 4)}
    pos.go(state, (3, 5), (3, 7))
    assert state.to_dict()["teams"][0]["fields"] == [3 + 8 * 7]
    assert state.returns() == (1, 0)


def test_a_goal_field_holds_more_by_option(pos: Any) -> None:
    state = pos.position(AHEAD, red_goals=[3], goal_capacity=2)
    assert ("goal", 3) in pos.ends(state, (3, 5))
    assert (3, 7) not in pos.ends(state, (3, 5))
    pos.go(state, (3, 5), ("goal", 3))
    assert state.to_dict()["teams"][0]["goals"][3] == 2
    full = pos.position(AHEAD, red_goals=[3, 3], goal_capacity=2, lead_to_win=0)
    assert ("goal", 3) not in pos.ends(full, (3, 5))


def test_it_matters_not_which_pedestrian_takes_which_goal_field(pos: Any) -> None:
    state = pos.position(pos.WHITE)
    for start in range(1, 7):
        assert {("goal", goal) for goal in range(1, 7)} <= pos.ends(state, ("start", start))


@pytest.mark.parametrize("seat", [0, 1])
def test_with_two_players_exactly_six_goal_fields_can_be_used(pos: Any, seat: int) -> None:
    state = pos.position(pos.WHITE, seat=seat)
    reached = {end for start in range(8) for end in pos.ends(state, ("start", start)) if end[0] == "goal"}
    assert reached == {("goal", goal) for goal in range(1, 7)}


def test_by_option_the_corners_can_be_used_too(pos: Any) -> None:
    state = pos.position(pos.WHITE, opponent_front_rule_applies_at_corners_even_for_goal_entry=False)
    reached = {end for start in range(8) for end in pos.ends(state, ("start", start)) if end[0] == "goal"}
    assert reached == {("goal", goal) for goal in range(8)}
    assert (7, 6) not in pos.ends(state, ("start", 3))  # for an ordinary stop the rule holds
    assert (7, 7) not in pos.ends(state, ("start", 3))


def test_corner_entry_is_judged_by_the_field_before_the_goal(pos: Any) -> None:
    literal = pos.position(EDGE)
    assert pos.ends(literal, (5, 5)) == {(5, 6), ("goal", 5), ("goal", 6)}
    lenient = pos.position(EDGE, opponent_front_rule_applies_at_corners_even_for_goal_entry=False)
    assert pos.ends(lenient, (5, 5)) == {(5, 6), ("goal", 5), ("goal", 6), ("goal", 7)}


def test_no_goal_is_entered_from_a_tile_with_another_own_pedestrian(pos: Any) -> None:
    board = AHEAD.replace("wq wq wq ko ko wq wq wq", "wq wq wqR ko ko wq wq wq", 1)
    assert pos.ends(pos.position(board), (3, 5)) == {(4, 6), ("goal", 4)}
    lenient = pos.position(board, same_colour_tile_rule_applies_to_goal_entry=False)
    # Entering is free of the tile rule now, stopping at (3, 6) is not.
    assert pos.ends(lenient, (3, 5)) == {(4, 6), ("goal", 3), ("goal", 4)}


def test_under_the_lenient_tile_rule_an_ordinary_stop_before_a_taken_goal_stays_barred(pos: Any) -> None:
    board = AHEAD.replace("wq wq wq ko ko wq wq wq", "wq wq wqR ko ko wq wq wq", 1)
    state = pos.position(board, same_colour_tile_rule_applies_to_goal_entry=False, red_goals=[3])
    assert pos.ends(state, (3, 5)) == {(4, 6), ("goal", 4)}


def test_without_automatic_entry_the_player_chooses(pos: Any) -> None:
    state = pos.position(AHEAD, goal_entry_automatic=False)
    assert pos.ends(state, (3, 5)) == {(3, 6), (4, 6), (3, 7), (4, 7), ("goal", 3), ("goal", 4)}
    pos.go(state, (3, 5), (3, 7))
    assert state.returns() == (0, 0)


def test_r5_without_automatic_entry_who_stands_before_the_goal_may_enter_in_a_later_turn(pos: Any) -> None:
    board = AHEAD.replace("wq wq wq ko ko wq", "wq wq wq koR ko wq", 1).replace("koR wq wq", "ko wq wq")
    state = pos.position(board, goal_entry_automatic=False)
    assert pos.ends(state, (3, 7)) == {(3, 5), (3, 6), (4, 6), (4, 7), ("goal", 3), ("goal", 4)}
    pos.go(state, (3, 7), ("goal", 3))
    assert state.returns() == (1, 0)


def test_without_automatic_entry_who_stands_before_a_free_goal_may_walk_off_it(pos: Any) -> None:
    board = AHEAD.replace("wq wq wq ko ko wq", "wq wq wq koR ko wq", 1).replace("koR wq wq", "ko wq wq")
    state = pos.position(board, goal_entry_automatic=False, pass_through_own_goal_front=False)
    assert pos.ends(state, (3, 7)) == {(3, 5), (3, 6), (4, 7), (4, 6), ("goal", 3), ("goal", 4)}


def test_a_first_move_may_end_in_the_goal(pos: Any) -> None:
    state = pos.position(pos.WHITE)
    pos.go(state, ("start", 2), ("goal", 5))
    red = state.to_dict()["teams"][0]
    assert (red["waiting"], red["goals"][5]) == ([0, 1, 3, 4, 5, 6, 7], 1)


def test_where_start_and_goal_meet_the_first_step_may_lead_into_the_goal(pos: Any) -> None:
    # Layout A: red start 0 and red goal field 0 both lie before (0, 0).
    board = pos.WHITE[: -len("wq wq wq wq wq wq wq wq")] + "ko wq wq wq wq wq wq wq"
    state = pos.position(board, players=4, layout_4p="A")
    assert pos.ends(state, ("start", 0)) == {("goal", 0)}
    strict = pos.position(board, players=4, layout_4p="A", first_move_may_stop_on_front_field=False)
    assert pos.ends(strict, ("start", 0)) == set()


def test_where_start_and_goal_meet_a_way_that_must_end_there_ends_at_once(pos: Any) -> None:
    through = pos.position(pos.WHITE, players=4, layout_4p="A")
    assert len(pos.ends(through, ("start", 0))) > 1
    at_once = pos.position(pos.WHITE, players=4, layout_4p="A", pass_through_own_goal_front=False)
    assert pos.ends(at_once, ("start", 0)) == {("goal", 0)}
