"""Where pedestrians can go."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.games.api import IllegalAction
from referee.games.shibuya.actions import Move
from referee.games.shibuya.bitboard import FIELD_BITS, flood, flood_in_words, lengths_of
from referee.games.shibuya.events import Moved

from . import positions as pos

# Moving: rules 1 to 5 and 7 of the README, and what follows from them to the letter


WINDING = """
wq wq wq wq wq wq wq wq
wq wq wq wq wq wq wq wq
wq wq wq wq wq wq wq wq
wq wq wq wq wq wq wq wq
wq wq ko ko ko wq wq wq
wq wq ko wq ko wq wq wq
wq wq ko wq wq ko wq wq
wq wq koR wq wq wq wq wq
"""

TWO_PROPERTIES = """
wq wq wq wq wq wq wq wq
wq wq wq wq wq wq wq wq
wq wq wq wq wq wq wq wq
wq wq wq wq wq wq wq wq
wq wq wq wq wq wq wq wq
wq wq kq kq wq wq wq wq
wq wq koR wo wo wq wq wq
wq wq wq wq wq wq wq wq
"""


def test_a_move_follows_the_colour_or_the_shape_of_the_field_it_begins_on() -> None:
    state = pos.position(TWO_PROPERTIES)
    by_colour = {(2, 2), (3, 2)}
    by_shape = {(3, 1), (4, 1)}
    assert pos.ends(state, (2, 1)) == by_colour | by_shape


def test_one_property_holds_for_the_whole_move() -> None:
    board = TWO_PROPERTIES.replace("wq wq kq kq wq", "wq wq kq kq wo")
    # (4, 2) is white round: reachable from (4, 1) by shape, though not from (3, 2), the end of the black way.
    assert (4, 2) in pos.ends(pos.position(board), (2, 1))
    cut = board.replace("koR wo wo", "koR wo wq")
    assert (4, 2) not in pos.ends(pos.position(cut), (2, 1))


def test_a_move_goes_over_any_number_of_fields_and_turns_freely() -> None:
    state = pos.position(WINDING)
    assert pos.ends(state, (2, 0)) == {(2, 1), (2, 2), (2, 3), (3, 3), (4, 3), (4, 2)}


def test_a_move_never_goes_diagonally() -> None:
    assert (5, 1) not in pos.ends(pos.position(WINDING), (2, 0))  # touches (4, 2) at a corner only


def test_a_way_does_not_run_over_the_edge_of_the_grid() -> None:
    board = """
    wq wq wq wq wq wq wq wq
    wq wq wq wq wq wq wq wq
    wq wq wq wq wq wq wq wq
    wq wq wq wq wq wq wq wq
    ko ko wq wq wq wq wq wq
    wq wq wq wq wq wq koR ko
    wq wq wq wq wq wq wq wq
    wq wq wq wq wq wq wq wq
    """
    assert pos.ends(pos.position(board), (6, 2)) == set()


@pytest.mark.parametrize("blocker", ["R", "B"])
def test_an_occupied_field_is_neither_entered_nor_passed(blocker: str) -> None:
    board = WINDING.replace("wq wq ko wq ko wq", f"wq wq ko{blocker} wq ko wq")
    assert pos.ends(pos.position(board), (2, 0)) == {(2, 1)}


def test_a_move_may_not_end_on_a_tile_with_another_own_pedestrian_but_may_pass_it() -> None:
    # The other red one stands beside the way, on the tile of (2, 2) and (2, 3).
    board = WINDING.replace("wq wq ko wq ko wq", "wq wq ko wqR ko wq")
    assert pos.ends(pos.position(board), (2, 0)) == {(2, 1), (4, 3), (4, 2)}


def test_a_pedestrian_of_the_other_colour_on_the_tile_does_not_matter() -> None:
    board = WINDING.replace("wq wq ko wq ko wq", "wq wq ko wqB ko wq")
    assert pos.ends(pos.position(board), (2, 0)) == {(2, 1), (2, 2), (2, 3), (3, 3), (4, 3), (4, 2)}


def test_moving_within_ones_own_tile_is_fine() -> None:
    board = WINDING.replace("wq wq ko wq wq ko", "wq wq ko wq wq ko").replace(
        "koR wq wq wq wq wq", "koR ko wq wq wq wq"
    )
    assert {(2, 1), (3, 0)} <= pos.ends(pos.position(board), (2, 0))


def test_waiting_pedestrians_block_nothing_and_do_not_count_on_a_tile() -> None:
    state = pos.position(WINDING, red_waits=[0, 1, 3, 4, 5, 6, 7])
    assert (2, 1) in pos.ends(state, (2, 0))
    assert pos.ends(state, ("start", 4)) >= {(4, 0)}


def test_two_players_red_stops_only_where_x_is_1_to_6_and_y_is_no_goal() -> None:
    state = pos.position(pos.WHITE)
    fields = {(x, y) for x in range(1, 7) for y in range(7)}
    assert pos.ends(state, ("start", 3)) == fields | {("goal", goal) for goal in range(1, 7)}


def test_two_players_blue_stops_only_where_y_is_1_to_6() -> None:
    state = pos.position(pos.WHITE, seat=1)
    fields = {(x, y) for y in range(1, 7) for x in range(7)}
    assert pos.ends(state, ("start", 3)) == fields | {("goal", goal) for goal in range(1, 7)}


def test_a_field_before_an_opponents_start_or_goal_may_be_passed() -> None:
    board = """
    wq wq wq wq wq wq wq wq
    wq wq wq wq wq wq wq wq
    wq wq wq wq wq wq wq wq
    ko ko wq wq wq wq ko ko
    ko wq wq wq wq wq wq ko
    ko wq wq wq wq wq wq ko
    ko koR wq wq wq wq koR ko
    wq wq wq wq wq wq wq wq
    """
    state = pos.position(board)
    assert pos.ends(state, (1, 1)) == {(1, 4)}  # round the west side, along blue's starts
    assert pos.ends(state, (6, 1)) == {(6, 4)}  # round the east side, along blue's goals


def test_in_front_of_own_starts_one_may_stop() -> None:
    assert {(x, 0) for x in range(1, 7)} <= pos.ends(pos.position(pos.WHITE), ("start", 0))


def test_the_front_rule_stays_in_force_after_the_start_or_goal_is_used() -> None:
    options: dict[str, Any] = {"blue_waits": [], "blue_goals": [1, 2, 3, 4, 5], "lead_to_win": 0}
    board = pos.WHITE.replace("wq wq wq wq", "wqB wq wqB wqB", 1)  # three on row 7, out of the way
    literal = pos.ends(pos.position(board, **options), ("start", 3))
    assert not {(x, y) for x in (0, 7) for y in range(8)} & literal
    lenient = pos.ends(pos.position(board, front_rule_persists_after_start_or_goal_used=False, **options), ("start", 3))
    # All blue starts are empty, and of blue's goal fields only 0, 6 and 7 have room.
    assert {(0, y) for y in range(6)} <= lenient
    assert {(7, y) for y in range(1, 6)} <= lenient
    assert not {(7, 0), (7, 6)} & lenient


def test_while_a_pedestrian_waits_the_field_before_it_is_barred_under_the_lenient_rule_too() -> None:
    state = pos.position(pos.WHITE, front_rule_persists_after_start_or_goal_used=False)
    assert not {(0, y) for y in range(8)} & pos.ends(state, ("start", 3))


def test_a_first_move_begins_on_the_field_straight_ahead_which_gives_the_property() -> None:
    board = WINDING.replace("koR", "ko")
    state = pos.position(board)
    assert pos.ends(state, ("start", 2)) == {(2, 0), (2, 1), (2, 2), (2, 3), (3, 3), (4, 3), (4, 2)}
    events = pos.go(state, ("start", 2), (2, 2))
    assert events[0].source == 66
    assert state.to_dict()["teams"][0]["waiting"] == [0, 1, 3, 4, 5, 6, 7]
    assert state.to_dict()["teams"][0]["fields"] == [2 + 8 * 2]


@pytest.mark.parametrize("blocker", ["R", "B"])
def test_the_field_straight_ahead_must_be_free(blocker: str) -> None:
    board = WINDING.replace("koR", f"ko{blocker}")
    state = pos.position(board, red_waits=[0, 1, 2, 3, 4, 5, 6] if blocker == "R" else list(range(8)))
    assert pos.ends(state, ("start", 2)) == set()


def test_a_first_move_may_stop_on_the_field_straight_ahead_unless_the_option_is_off() -> None:
    board = WINDING.replace("koR", "ko")
    assert (2, 0) in pos.ends(pos.position(board), ("start", 2))
    strict = pos.position(board, first_move_may_stop_on_front_field=False)
    assert pos.ends(strict, ("start", 2)) == {(2, 1), (2, 2), (2, 3), (3, 3), (4, 3), (4, 2)}


def test_first_moves_obey_the_tile_rule() -> None:
    state = pos.position(WINDING)  # a red pedestrian on (2, 0)
    assert (3, 0) not in pos.ends(state, ("start", 3))


def test_coming_back_to_ones_own_field_is_no_move() -> None:
    state = pos.position(WINDING)
    assert (2, 0) not in pos.ends(state, (2, 0))
    with pytest.raises(IllegalAction):
        pos.go(state, (2, 0), (2, 0))


def test_coming_back_to_ones_own_field_is_a_move_by_option() -> None:
    state = pos.position(WINDING, null_move_allowed=True)
    before = state.to_dict()["teams"]
    assert (2, 0) in pos.ends(state, (2, 0))
    pos.go(state, (2, 0), (2, 0))
    assert state.to_dict()["teams"] == before
    assert (state.turn_seat, state.turns) == (1, 1)


def test_no_one_moves_the_other_colour() -> None:
    state = pos.position(WINDING.replace("koR", "koB"))
    assert pos.ends(state, (2, 0)) == set()
    state = pos.position(WINDING.replace("koR", "koB"), seat=1)
    # Blue may not stop before red's starts: row 0 is out, the rest of the way is not.
    assert pos.ends(state, (2, 0)) == {(2, 1), (2, 2), (2, 3), (3, 3), (4, 3), (4, 2)}


@pytest.mark.parametrize(
    "move",
    [Move(2, 5), Move(3, 4), Move(64, 63), Move(2, 64), Move(-1, 3), Move(2, -1), Move(99, 3), Move(2, 10**6)],
)
def test_any_other_move_is_refused(move: Move) -> None:
    state = pos.position(WINDING)
    before = state.to_dict()
    with pytest.raises(IllegalAction):
        state.apply({0: move})
    assert state.to_dict() == before


def test_a_move_is_one_whole_turn() -> None:
    state = pos.position(WINDING)
    pos.go(state, (2, 0), (4, 2))
    assert (state.turn_seat, state.turns, state.phase) == (1, 1, "turn")


# Going into the goal: rule 6, and reading R3


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


def test_who_stops_before_its_goal_is_put_into_it_and_never_moves_again() -> None:
    state = pos.position(AHEAD)
    assert pos.ends(state, (3, 5)) == {(3, 6), (4, 6), ("goal", 3), ("goal", 4)}
    assert pos.go(state, (3, 5), ("goal", 3)) == [Moved(0, 3 + 8 * 5, 64 + 3)]
    red = state.to_dict()["teams"][0]
    assert red["goals"] == [0, 0, 0, 1, 0, 0, 0, 0]
    assert red["fields"] == []
    assert state.returns() == (1, 0)
    state.apply({1: state.legal_actions(1)[0]})
    assert all(action.source >= 64 for action in state.legal_actions(0) if action.KIND == "move")


def test_a_way_may_lead_over_the_fields_before_free_goals_and_does_not_enter_them() -> None:
    state = pos.position(ARCH)
    assert pos.ends(state, (3, 5)) == {(3, 6), (5, 6), *(("goal", goal) for goal in (3, 4, 5))}
    pos.go(state, (3, 5), (5, 6))
    assert state.returns() == (0, 0)
    assert state.to_dict()["teams"][0]["fields"] == [5 + 8 * 6]


def test_by_option_a_way_ends_on_the_first_field_before_a_free_goal() -> None:
    state = pos.position(ARCH, pass_through_own_goal_front=False)
    assert pos.ends(state, (3, 5)) == {(3, 6), ("goal", 3)}
    # A goal that is taken is no end of the way.
    state = pos.position(ARCH, pass_through_own_goal_front=False, red_goals=[3])
    assert pos.ends(state, (3, 5)) == {(3, 6), (3, 7), ("goal", 4)}


def test_a_taken_goal_field_is_not_entered_and_stopping_before_it_is_an_ordinary_stop() -> None:
    state = pos.position(AHEAD, red_goals=[3])
    assert pos.ends(state, (3, 5)) == {(3, 6), (4, 6), (3, 7), ("goal", 4)}
    pos.go(state, (3, 5), (3, 7))
    assert state.to_dict()["teams"][0]["fields"] == [3 + 8 * 7]
    assert state.returns() == (1, 0)


def test_a_goal_field_holds_more_by_option() -> None:
    state = pos.position(AHEAD, red_goals=[3], goal_capacity=2)
    assert ("goal", 3) in pos.ends(state, (3, 5))
    assert (3, 7) not in pos.ends(state, (3, 5))
    pos.go(state, (3, 5), ("goal", 3))
    assert state.to_dict()["teams"][0]["goals"][3] == 2
    full = pos.position(AHEAD, red_goals=[3, 3], goal_capacity=2, lead_to_win=0)
    assert ("goal", 3) not in pos.ends(full, (3, 5))


def test_it_matters_not_which_pedestrian_takes_which_goal_field() -> None:
    state = pos.position(pos.WHITE)
    for start in range(1, 7):
        assert {("goal", goal) for goal in range(1, 7)} <= pos.ends(state, ("start", start))


@pytest.mark.parametrize("seat", [0, 1])
def test_with_two_players_exactly_six_goal_fields_can_be_used(seat: int) -> None:
    state = pos.position(pos.WHITE, seat=seat)
    reached = {end for start in range(8) for end in pos.ends(state, ("start", start)) if end[0] == "goal"}
    assert reached == {("goal", goal) for goal in range(1, 7)}


def test_by_option_the_corners_can_be_used_too() -> None:
    state = pos.position(pos.WHITE, opponent_front_rule_applies_at_corners_even_for_goal_entry=False)
    reached = {end for start in range(8) for end in pos.ends(state, ("start", start)) if end[0] == "goal"}
    assert reached == {("goal", goal) for goal in range(8)}
    assert (7, 6) not in pos.ends(state, ("start", 3))  # for an ordinary stop the rule holds
    assert (7, 7) not in pos.ends(state, ("start", 3))


def test_corner_entry_is_judged_by_the_field_before_the_goal() -> None:
    literal = pos.position(EDGE)
    assert pos.ends(literal, (5, 5)) == {(5, 6), ("goal", 5), ("goal", 6)}
    lenient = pos.position(EDGE, opponent_front_rule_applies_at_corners_even_for_goal_entry=False)
    assert pos.ends(lenient, (5, 5)) == {(5, 6), ("goal", 5), ("goal", 6), ("goal", 7)}


def test_no_goal_is_entered_from_a_tile_with_another_own_pedestrian() -> None:
    board = AHEAD.replace("wq wq wq ko ko wq wq wq", "wq wq wqR ko ko wq wq wq", 1)
    assert pos.ends(pos.position(board), (3, 5)) == {(4, 6), ("goal", 4)}
    lenient = pos.position(board, same_colour_tile_rule_applies_to_goal_entry=False)
    # Entering is free of the tile rule now, stopping at (3, 6) is not.
    assert pos.ends(lenient, (3, 5)) == {(4, 6), ("goal", 3), ("goal", 4)}


def test_under_the_lenient_tile_rule_an_ordinary_stop_before_a_taken_goal_stays_barred() -> None:
    board = AHEAD.replace("wq wq wq ko ko wq wq wq", "wq wq wqR ko ko wq wq wq", 1)
    state = pos.position(board, same_colour_tile_rule_applies_to_goal_entry=False, red_goals=[3])
    assert pos.ends(state, (3, 5)) == {(4, 6), ("goal", 4)}


def test_without_automatic_entry_the_player_chooses() -> None:
    state = pos.position(AHEAD, goal_entry_automatic=False)
    assert pos.ends(state, (3, 5)) == {(3, 6), (4, 6), (3, 7), (4, 7), ("goal", 3), ("goal", 4)}
    pos.go(state, (3, 5), (3, 7))
    assert state.returns() == (0, 0)


def test_r5_without_automatic_entry_who_stands_before_the_goal_may_enter_in_a_later_turn() -> None:
    board = AHEAD.replace("wq wq wq ko ko wq", "wq wq wq koR ko wq", 1).replace("koR wq wq", "ko wq wq")
    state = pos.position(board, goal_entry_automatic=False)
    assert pos.ends(state, (3, 7)) == {(3, 5), (3, 6), (4, 6), (4, 7), ("goal", 3), ("goal", 4)}
    pos.go(state, (3, 7), ("goal", 3))
    assert state.returns() == (1, 0)


def test_without_automatic_entry_who_stands_before_a_free_goal_may_walk_off_it() -> None:
    board = AHEAD.replace("wq wq wq ko ko wq", "wq wq wq koR ko wq", 1).replace("koR wq wq", "ko wq wq")
    state = pos.position(board, goal_entry_automatic=False, pass_through_own_goal_front=False)
    assert pos.ends(state, (3, 7)) == {(3, 5), (3, 6), (4, 7), (4, 6), ("goal", 3), ("goal", 4)}


def test_a_first_move_may_end_in_the_goal() -> None:
    state = pos.position(pos.WHITE)
    pos.go(state, ("start", 2), ("goal", 5))
    red = state.to_dict()["teams"][0]
    assert (red["waiting"], red["goals"][5]) == ([0, 1, 3, 4, 5, 6, 7], 1)


def test_where_start_and_goal_meet_the_first_step_may_lead_into_the_goal() -> None:
    # Layout A: red start 0 and red goal field 0 both lie before (0, 0).
    board = pos.WHITE[: -len("wq wq wq wq wq wq wq wq")] + "ko wq wq wq wq wq wq wq"
    state = pos.position(board, players=4, layout_4p="A")
    assert pos.ends(state, ("start", 0)) == {("goal", 0)}
    strict = pos.position(board, players=4, layout_4p="A", first_move_may_stop_on_front_field=False)
    assert pos.ends(strict, ("start", 0)) == set()


def test_where_start_and_goal_meet_a_way_that_must_end_there_ends_at_once() -> None:
    through = pos.position(pos.WHITE, players=4, layout_4p="A")
    assert len(pos.ends(through, ("start", 0))) > 1
    at_once = pos.position(pos.WHITE, players=4, layout_4p="A", pass_through_own_goal_front=False)
    assert pos.ends(at_once, ("start", 0)) == {("goal", 0)}


# What compiled rules do in machine words


@given(st.sampled_from(FIELD_BITS), st.sets(st.sampled_from(FIELD_BITS)))
def test_a_flood_in_words_is_the_same(seed: int, fields: set[int]) -> None:
    region = sum(fields - {seed})
    assert flood_in_words(seed, region) == flood(seed, region)


@given(st.integers(0, (1 << 88) - 1))
def test_the_lengths_of_a_mask_name_its_bits(mask: int) -> None:
    lengths = lengths_of(mask)
    assert lengths == sorted(set(lengths))
    assert sum(1 << (length - 1) for length in lengths) == mask
