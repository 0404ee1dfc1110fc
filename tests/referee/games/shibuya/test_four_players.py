"""Four players in two teams (sheet section 6)."""

from typing import Any

import pytest

from referee.games.api import IllegalAction
from referee.games.shibuya.actions import Move
from referee.games.shibuya.events import Finished

ONE_EACH = """
wq wq wq wq wq wq wq wq
wq wq wq wq wq wq wq wq
wq wq wq wq wq wqB wq wq
wq wq wq wq wq wq wq wq
wq wq wq wq wq wq wq wq
wq wq wqR wq wq wq wq wq
wq wq wq wq wq wq wq wq
wq wq wq wq wq wq wq wq
"""


def starters(state: Any) -> set[int]:
    """Waiting pedestrians that the seat to move can bring onto the grid."""
    return {a.source - 64 for a in state.legal_actions(state.seat) if isinstance(a, Move) and a.source >= 64}


def test_seats_move_clockwise_south_west_north_east(pos: Any) -> None:
    state = pos.position(pos.WHITE, players=4)
    seats = []
    for _ in range(6):
        seats.append(state.turn_seat)
        state.apply({state.turn_seat: state.legal_actions(state.turn_seat)[-1]})  # build, which is listed last
        state.apply_chance(state.chance_outcomes()[0][0])
        state.apply({state.turn_seat: state.legal_actions(state.turn_seat)[0]})
    assert seats == [0, 1, 2, 3, 0, 1]


@pytest.mark.parametrize(("seat", "own"), [(0, {0, 1, 2, 3}), (1, {0, 1, 2, 3}), (2, {4, 5, 6, 7}), (3, {4, 5, 6, 7})])
def test_a_player_brings_only_own_pedestrians_onto_the_grid(pos: Any, seat: int, own: set[int]) -> None:
    state = pos.position(pos.WHITE, players=4, seat=seat)
    assert starters(state) == own
    partners = next(iter(set(range(8)) - own))
    with pytest.raises(IllegalAction):
        state.apply({seat: Move(64 + partners, 27)})


@pytest.mark.parametrize("seat", [0, 2])
def test_either_partner_moves_any_pedestrian_of_the_team_on_the_grid(pos: Any, seat: int) -> None:
    state = pos.position(ONE_EACH, players=4, seat=seat)
    assert pos.ends(state, (2, 2))
    assert not pos.ends(state, (5, 5))
    pos.go(state, (2, 2), (3, 4))
    assert state.to_dict()["teams"][0]["fields"] == [3 + 8 * 4]


@pytest.mark.parametrize("seat", [1, 3])
def test_the_other_team_does_not(pos: Any, seat: int) -> None:
    state = pos.position(ONE_EACH, players=4, seat=seat)
    assert not pos.ends(state, (2, 2))
    assert pos.ends(state, (5, 5))


@pytest.mark.parametrize("seat", [0, 1, 2, 3])
def test_the_tile_and_front_rules_are_about_the_team_colour(pos: Any, seat: int) -> None:
    state = pos.position(pos.WHITE, players=4, seat=seat)
    own = {0: "S", 1: "W", 2: "N", 3: "E"}[seat]
    # Layout B: red stops before red starts (south 0-3, north 4-7), not before blue's starts and goals.
    red_bars = {(x, 0) for x in range(4, 8)} | {(x, 7) for x in range(4)}
    red_bars |= {(0, y) for y in range(4)} | {(7, y) for y in range(4, 8)}
    blue_bars = {(x, 0) for x in range(4)} | {(x, 7) for x in range(4, 8)}
    blue_bars |= {(0, y) for y in range(4, 8)} | {(7, y) for y in range(4)}
    barred = red_bars if own in "SN" else blue_bars
    start = sorted(starters(state))[1]
    ends = pos.ends(state, ("start", start))
    assert not ends & barred
    goals = {end for end in ends if end[0] == "goal"}
    red_fronts = {(0, y) for y in range(4, 8)} | {(7, y) for y in range(4)}
    own_goal_fronts = red_fronts if own in "SN" else {(x, 0) for x in range(4, 8)} | {(x, 7) for x in range(4)}
    everywhere = {(x, y) for x in range(8) for y in range(8)}
    assert ends - goals == everywhere - barred - own_goal_fronts


@pytest.mark.parametrize("seat", [0, 1])
def test_in_layout_b_six_of_eight_goal_fields_can_be_used(pos: Any, seat: int) -> None:
    state = pos.position(pos.WHITE, players=4, seat=seat)
    goals = {end for start in range(8) for end in pos.ends(state, ("start", start)) if end[0] == "goal"}
    assert len(goals) == 6
    lenient = pos.position(
        pos.WHITE, players=4, seat=seat, opponent_front_rule_applies_at_corners_even_for_goal_entry=False
    )
    goals = {end for start in range(8) for end in pos.ends(lenient, ("start", start)) if end[0] == "goal"}
    assert len(goals) == 8


def test_goals_count_per_team(pos: Any) -> None:
    # Red has two in goal; the north partner brings the third: a lead of three.
    state = pos.position(pos.WHITE, players=4, seat=2, red_goals=[0, 1])
    goal = next(end for end in pos.ends(state, ("start", 5)) if end[0] == "goal")
    assert pos.go(state, ("start", 5), goal)[-1] == Finished(0, "lead")
    assert state.ranking() == (1, 3, 1, 3)
    assert state.returns() == (3, 0, 3, 0)


def test_a_draw_ranks_all_four_first(pos: Any) -> None:
    state = pos.position(pos.WHITE, players=4, turns=9, move_cap=10)
    pos.go(state, ("start", 1), (3, 3))
    assert state.ranking() == (1, 1, 1, 1)


@pytest.mark.parametrize("seat", [0, 1, 2, 3])
def test_the_team_of_a_seat_that_leaves_has_lost(pos: Any, seat: int) -> None:
    state = pos.position(ONE_EACH, players=4, red_goals=[1], blue_goals=[2, 3])
    state.withdraw(seat)
    assert state.is_terminal()
    assert state.ranking() == ((3, 1, 3, 1) if seat % 2 == 0 else (1, 3, 1, 3))
