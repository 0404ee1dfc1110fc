"""Every edge case of the README, and its readings R1 to R8."""

from typing import Any

import pytest

from referee.games.api import IllegalAction
from referee.games.manhattan_traffiq import GAME
from referee.games.manhattan_traffiq.actions import Attach
from referee.games.manhattan_traffiq.events import FinalRound, TurnEnded

from . import positions as pos
from .positions import options

GREEN_RIM = """
+..+
:  :
+..+
"""


# Edge cases


def test_tile_fits_nowhere_it_is_kept_and_other_actions_are_chosen() -> None:
    state = pos.position(GREEN_RIM, hands=[["tttt"], []])
    assert pos.legal(state) == ["end_turn()", "draw()"]
    pos.act(state, "end_turn()")
    assert state.observation(0).hands[0] == ("tttt",)


def test_there_is_no_discard() -> None:
    state = pos.position(GREEN_RIM, hands=[["tttt"], []])
    assert {action.KIND for action in state.legal_actions(0)} <= {"end_turn", "draw", "taxi", "truck", "attach"}


def test_deadlock_is_impossible_while_stock_remains_drawing_is_legal_then_one_round_is_left() -> None:
    state = pos.position(GREEN_RIM, stock={"tttt": 3})
    decisions = 0
    while not state.is_terminal():
        if state.chance_outcomes():
            state.apply_chance("tttt")
            continue
        decisions += 1
        legal = pos.legal(state)
        assert legal
        pos.act(state, "draw()" if "draw()" in legal else "end_turn()")
    assert decisions == 3 + 2


def test_endless_game_the_final_round_begins_when_nobody_attaches_or_draws() -> None:
    state = pos.position(pos.grid(3, 3), {(1, 1): "t0", (2, 2): "t1"})
    for _ in range(4):
        move = pos.legal(state, "taxi")[0]
        events = pos.act(state, move, "end_turn()")
    assert events[-2:] == [TurnEnded(1), FinalRound(0, "no_progress")]
    pos.act(state, "end_turn()", "end_turn()")
    assert state.is_terminal()


def test_vehicle_on_a_vertex_when_new_tiles_come_it_stays_and_only_streets_connect() -> None:
    """Laying a tile that joins two streets asks nobody to compete, whatever the strengths."""
    state = pos.position(
        """
        +--+--+--+--+
        |  |  |  |  |
        +--+--+--+--+
        |  |XX|  |  |
        +--+--+--+--+
        """,
        {(3, 1): "t1"},
        hands=[["tttt"], []],
    )
    pos.act(state, "attach(face=tttt,x=1,y=0)", "decline()")
    assert pos.on_map(state) == {(3, 1): "t1"}
    assert pos.streets(state, (3, 1))["h"] == pos.row(1, 0, 4)


def test_compete_after_a_declined_placement_no_vehicle_no_competing() -> None:
    state = pos.position(pos.grid(4, 2, (1, 0)), {(3, 1): "t1"}, hands=[["tttt"], []])
    pos.act(state, "attach(face=tttt,x=1,y=0)", "decline()")
    assert pos.asked(state) == (0, "turn")


def test_own_vehicles_are_never_thrown_out_by_oneself() -> None:
    state = pos.position(pos.grid(6, 3), {(1, 1): "t0", (2, 1): "T0", (5, 1): "t1", (3, 2): "T0"})
    pos.act(state, "truck(x=3,y=2,to_x=3,to_y=1)", "compete(streets=[h])")
    assert pos.on_map(state) == {(1, 1): "t0", (2, 1): "T0", (3, 1): "T0"}


@pytest.mark.parametrize("viewer", [0, 1, None])
def test_the_stock_count_is_open_to_everybody(viewer: int | None) -> None:
    state = GAME.new_initial_state(2, options())
    assert state.observation(viewer).stock == 44


# Readings


@pytest.mark.parametrize("first", ["x=1,y=1", "x=2,y=1", "x=1,y=2", "x=2,y=2"])
def test_r1_the_player_places_in_any_order_and_competes_after_each_placement(first: str) -> None:
    rim = {(3, 1): "t1", (3, 2): "t1", (1, 3): "t1", (2, 3): "t1"}
    state = pos.position(pos.grid(4, 4, (1, 1)), rim, hands=[["tttt"], []])
    pos.act(state, "attach(face=tttt,x=1,y=1)", f"place(vehicle=truck,{first})")
    assert pos.legal(state) == ["decline()", *(f"compete(streets={some})" for some in ("[h]", "[v]", "[h,v]"))]
    pos.act(state, "compete(streets=[h,v])")
    assert pos.asked(state) == (0, "place")
    assert len(state.observation(0).open_vertices) == 3


@pytest.mark.parametrize(
    ("opponents", "answers"),
    [
        ({}, []),
        ({(4, 1): "T1", (2, 3): "T1"}, []),
        ({(4, 1): "t1"}, ["decline()", "compete(streets=[h])"]),
        ({(2, 3): "t1"}, ["decline()", "compete(streets=[v])"]),
        (
            {(4, 1): "t1", (2, 3): "t1"},
            ["decline()", "compete(streets=[h])", "compete(streets=[v])", "compete(streets=[h,v])"],
        ),
    ],
)
def test_r2_asked_only_where_a_weaker_opponent_stands_and_the_answer_names_streets(
    opponents: Any, answers: list[str]
) -> None:
    state = pos.position(pos.grid(5, 4), {(1, 1): "T0", **opponents})
    pos.act(state, "truck(x=1,y=1,to_x=2,to_y=1)")
    if answers:
        assert pos.legal(state) == answers
    else:
        assert pos.asked(state) == (0, "turn")


@pytest.mark.parametrize("players", [2, 3, 4])
def test_r3_after_two_idle_rounds_the_final_round_begins_with_the_next_player(players: int) -> None:
    state = pos.position(pos.grid(2, 2), players=players)
    for turn in range(2 * players):
        assert not state.observation(None).final_round
        assert state.observation(None).idle_turns == turn
        events = pos.act(state, "end_turn()")
    assert events[-1] == FinalRound(0, "no_progress")
    assert state.observation(None).owed == tuple(range(players))
    assert "draw()" not in pos.legal(state)
    for _ in range(players):
        pos.act(state, "end_turn()")
    assert state.is_terminal()


@pytest.mark.parametrize("progress", ["draw()", "attach(face=tttt,x=2,y=0)"])
def test_r3_attaching_or_drawing_starts_the_count_anew(progress: str) -> None:
    state = pos.position(pos.grid(2, 2), hands=[["tttt"], []])
    pos.act(state, "end_turn()", "end_turn()")
    assert state.observation(None).idle_turns == 2
    pos.act(state, progress)
    if state.chance_outcomes():
        state.apply_chance("tttt")
    pos.act(state, "end_turn()")
    assert state.observation(None).idle_turns == 0


def test_r3_off_the_players_may_go_on_until_the_turn_limit() -> None:
    state = pos.position(pos.grid(2, 2), options={"no_progress_rounds": 0, "turn_limit": 50})
    for turn in range(50):
        assert not state.observation(None).final_round, turn
        events = pos.act(state, "end_turn()")
    assert events[-1] == FinalRound(0, "turn_limit")


def test_r4_once_the_last_tile_is_drawn_the_second_draw_lapses() -> None:
    state = pos.position(pos.grid(2, 2), stock={"tttt": 1})
    pos.act(state, "draw()")
    state.apply_chance("tttt")
    assert pos.asked(state) == (1, "turn")
    assert state.observation(None).final_round


def test_r4_nobody_draws_in_a_final_round_although_there_is_stock() -> None:
    state = pos.position(pos.grid(2, 2), stock={"tttt": 5}, final=True, owed=[0, 1])
    assert pos.legal(state) == ["end_turn()"]
    before = state.to_dict()
    with pytest.raises(IllegalAction, match="nothing can be drawn"):
        pos.act(state, "draw()")
    assert state.to_dict() == before


def test_r5_a_ride_ends_on_another_vertex() -> None:
    state = pos.position(pos.grid(4, 4), {(1, 1): "t0", (3, 3): "T0"})
    for action in state.legal_actions(0):
        if action.KIND in ("taxi", "truck"):
            assert (action.x, action.y) != (action.to_x, action.to_y)


def test_r5_a_vertex_without_any_street_can_never_be_reached() -> None:
    state = pos.position(
        """
        +--+--+--+
        |  |  |  |
        +--+--+..+
        |  |  :  |
        +--+..+..+
        |  |  :  |
        +--+--+--+
        """,
        {(1, 1): "t0", (2, 2): "T0"},
    )
    assert {(a.to_x, a.to_y) for a in state.legal_actions(0) if a.KIND in ("taxi", "truck")} == {(1, 2)}


def test_r6_half_streets_concern_competing_only() -> None:
    """The missing tile leaves half streets beside it: they join the two vertices for competing, nobody drives there."""
    drawing = pos.grid(5, 2, (2, 0))
    for connect in (False, True):
        state = pos.position(drawing, {(1, 1): "t0", (4, 1): "T0"}, options={"half_streets_connect": connect})
        assert pos.legal(state, "taxi") == []
        assert pos.legal(state, "truck") == []
        assert pos.streets(state, (1, 1))["h"] == pos.row(1, 0, 5 if connect else 2)


def test_r6_a_vertex_where_red_meets_beige_lies_on_two_streets_of_the_same_axis() -> None:
    drawing = """
        +--+--+--+--+
        |  |  |  |  |
        +--+--+==+==+
        |  |  |  |  |
        +--+--+--+--+
        """
    state = pos.position(drawing, options={"colour_change_ends_street": True})
    assert pos.streets(state, (2, 1)) == {"w": pos.row(1, 0, 2), "e": pos.row(1, 2, 4), "v": pos.column(2, 0, 2)}
    assert pos.streets(state, (1, 1)) == {"h": pos.row(1, 0, 2), "v": pos.column(1, 0, 2)}
    assert pos.streets(pos.position(drawing), (2, 1))["h"] == pos.row(1, 0, 4)


def test_r7_the_match_is_over_the_moment_the_last_vehicle_stands() -> None:
    """It would dominate row 3, but does not compete."""
    vehicles = {(x, 1): piece for x, piece in enumerate(("t0", "t0", "t0", "T0", "T0"), 1)} | {(6, 3): "t1"}
    state = pos.position(pos.grid(8, 4, (3, 3)), vehicles, players=4, hands=[["tttt"], [], [], []])
    pos.act(state, "attach(face=tttt,x=3,y=3)", "place(vehicle=taxi,x=3,y=3)")
    assert state.is_terminal()
    assert state.returns() == (8, 1, 0, 0)


@pytest.mark.parametrize(
    ("tile", "ways"), [("tttt", 1), ("rtrt", 2), ("rttt", 4), ("rrtt", 4), ("rgtb", 4), ("rgrg", 2)]
)
def test_r8_equal_looking_rotations_at_one_place_are_one_action(tile: str, ways: int) -> None:
    """On an all-round map every face could lie beside some side: count the different faces over all four sides."""
    state = pos.position(
        """
        +~~+==+
        :  |  |
        +==+--+
        |XX#  ~
        +--+..+
        """,
        hands=[[tile], []],
    )
    actions = [action for action in state.legal_actions(0) if isinstance(action, Attach)]
    assert len(set(actions)) == len(actions)
    faces = {tile[i:] + tile[:i] for i in range(4)}
    assert len(faces) == ways
    for cell in {(action.x, action.y) for action in actions}:
        here = [action.face for action in actions if (action.x, action.y) == cell]
        assert len(here) == len(set(here)) <= ways
        assert set(here) <= faces
