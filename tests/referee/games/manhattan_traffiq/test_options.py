"""What each option changes, and what the README says of them."""

import json
import re
from importlib.resources import files
from typing import Any

import pytest

from referee.games.api import IllegalAction, OptionError, resolve_options
from referee.games.manhattan_traffiq import GAME
from referee.games.manhattan_traffiq.actions import Compete, Decline, EndTurn
from referee.games.manhattan_traffiq.events import Competed, Finished, Returned

from . import positions as pos
from .positions import options

# What they change


DOCUMENTED = {
    "tiles_may_rotate": (True, "I"),
    "forfeit_actions_any_time": (True, "I"),
    "placing_vehicle_optional": (True, "H"),
    "competing_optional": (True, "H"),
    "compete_choice_granularity": ("per_street", "I"),
    "half_streets_connect": (False, "I"),
    "colour_change_ends_street": (False, "I"),
    "place_on_vertex_without_street": (False, "I"),
    "place_on_dead_end": (True, "I"),
    "no_progress_rounds": (2, "U"),
    "tie_break": ("shared", "U"),
    "last_vehicle_competes": (False, "U"),
    "hands": ("hidden", "U"),
    "tile_set": ("C", "R"),
    "times_square_layout": ("Z", "R"),
    "central_park_layout": ("block", "R"),
    "scenario": ("times_square", "H"),
}


@pytest.mark.parametrize("name", DOCUMENTED)
def test_the_defaults_and_their_confidence_are_as_documented(name: str) -> None:
    (option,) = [option for option in GAME.options if option.name == name]
    assert (option.default, option.confidence) == DOCUMENTED[name]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("scenario", "broadway"),
        ("start_player", "youngest"),
        ("hands", True),
        ("no_progress_rounds", -1),
        ("turn_limit", 0),
        ("tie_break", "none"),
        ("half_streets_connect", 1),
        ("expansion", True),
    ],
)
def test_other_values_are_refused(name: str, value: Any) -> None:
    with pytest.raises(OptionError, match=name):
        resolve_options(GAME.id, GAME.options, {name: value})


def test_open_hands_are_seen_by_everybody() -> None:
    state = GAME.new_initial_state(2, options(hands="open", start_player="seat_0"))
    (event,) = state.apply_chance("rrtt")
    assert event.seen_by(None).tile == event.seen_by(1).tile == "rrtt"
    for viewer in (0, 1, None):
        assert state.observation(viewer).hands == (("rrtt",), ())
    assert sum(state.observation(None).unseen) == 43


def test_without_rotation_a_tile_lies_as_the_data_list_it() -> None:
    """Two printed orientations of one tile are two tiles then."""
    given = {"tiles_may_rotate": False}
    state = pos.position(pos.grid(1, 1), hands=[["rttt", "ttrt"], []], options=given)
    assert pos.legal(state, "attach") == [
        *(f"attach(face=rttt,x={x},y={y})" for x, y in ((-1, 0), (1, 0), (0, 1))),
        *(f"attach(face=ttrt,x={x},y={y})" for x, y in ((0, -1), (-1, 0), (1, 0))),
    ]
    assert set(state.board.kinds) >= {"rttt", "ttrt"}


def test_without_forfeiting_a_turn_has_two_actions_while_there_are_any() -> None:
    given = {"forfeit_actions_any_time": False}
    state = pos.position(pos.grid(2, 2), options=given)
    assert pos.legal(state) == ["draw()"]
    with pytest.raises(IllegalAction, match="two actions while there are any"):
        state.apply({0: EndTurn()})
    pos.act(state, "draw()")
    state.apply_chance("tttt")
    assert pos.legal(state) == ["draw()"]
    last = pos.position(pos.grid(2, 2), options=given, hands=[["tttt"], []], stock={}, final=True, owed=[0, 1])
    assert pos.legal(last)[0] == "end_turn()"


def test_without_forfeiting_the_turn_can_end_when_nothing_else_is_legal() -> None:
    given = {"forfeit_actions_any_time": False}
    state = pos.position(pos.grid(2, 2), options=given, stock={}, hands=[["rrrr"], []])
    assert pos.legal(state) == ["end_turn()"]
    pos.act(state, "end_turn()")


def test_placing_can_be_made_a_duty() -> None:
    given = {"placing_vehicle_optional": False}
    state = pos.position(pos.grid(3, 3, (1, 1)), hands=[["tttt"], []], options=given)
    pos.act(state, "attach(face=tttt,x=1,y=1)")
    for _ in range(4):
        assert pos.asked(state) == (0, "place")
        with pytest.raises(IllegalAction, match="a vehicle must be placed"):
            state.apply({0: Decline()})
        pos.act(state, pos.legal(state)[0])
    assert pos.asked(state) == (0, "turn")


def test_placing_as_a_duty_ends_with_the_supply() -> None:
    given = {"placing_vehicle_optional": False, "last_vehicle_competes": True}
    vehicles = {(x, 1): piece for x, piece in enumerate(("t0", "t0", "t0", "T0", "T0"), 1)}
    state = pos.position(pos.grid(8, 6, (4, 3)), vehicles, players=4, hands=[["tttt"], [], [], []], options=given)
    pos.act(state, "attach(face=tttt,x=4,y=3)", "place(vehicle=taxi,x=5,y=4)")
    assert state.is_terminal()


def test_competing_can_be_made_a_duty_on_every_street() -> None:
    given = {"competing_optional": False}
    state = pos.position(pos.grid(5, 5), {(2, 3): "T0", (4, 2): "t1", (2, 1): "t1"}, options=given)
    events = pos.act(state, "truck(x=2,y=3,to_x=2,to_y=2)")
    assert events[1:] == [Competed(0, 2, 2, ("h", "v")), Returned(1, "taxi", 4, 2), Returned(1, "taxi", 2, 1)]
    assert pos.asked(state) == (0, "turn")


def test_competing_can_be_all_streets_or_none() -> None:
    given = {"compete_choice_granularity": "all_or_none"}
    state = pos.position(pos.grid(5, 5), {(2, 3): "T0", (4, 2): "t1", (2, 1): "t1"}, options=given)
    pos.act(state, "truck(x=2,y=3,to_x=2,to_y=2)")
    assert pos.legal(state) == ["decline()", "compete(streets=[h,v])"]
    with pytest.raises(IllegalAction):
        state.apply({0: Compete(("h",))})


@pytest.mark.parametrize(("connect", "asked"), [(False, "turn"), (True, "compete")])
def test_half_streets_can_join_streets_for_competing(connect: bool, asked: str) -> None:
    given = {"half_streets_connect": connect}
    state = pos.position(pos.grid(5, 3, (2, 0)), {(1, 2): "T0", (4, 1): "t1"}, options=given)
    pos.act(state, "truck(x=1,y=2,to_x=1,to_y=1)")
    assert pos.asked(state) == (0, asked)


def test_a_half_street_joins_a_later_tile_as_well() -> None:
    given = {"half_streets_connect": True}
    state = pos.position(pos.grid(2, 2), hands=[["tttt"], []], options=given)
    assert pos.streets(state, (1, 1))["v"] == pos.column(1, 0, 2)
    pos.act(state, "attach(face=tttt,x=0,y=2)")
    assert pos.streets(state, (1, 1))["v"] == pos.column(1, 0, 3)


@pytest.mark.parametrize(("ends", "asked"), [(False, "compete"), (True, "turn")])
def test_a_change_of_colour_can_end_a_street(ends: bool, asked: str) -> None:
    state = pos.position(
        """
        +--+--+--+--+--+
        |  |  |  |  |  |
        +--+--+--+--+--+
        |  |  |  |  |  |
        +--+--+==+--+--+
        |  |  |  |  |  |
        +--+--+--+--+--+
        """,
        {(2, 2): "T0", (4, 1): "t1"},
        options={"colour_change_ends_street": ends},
    )
    pos.act(state, "truck(x=2,y=2,to_x=2,to_y=1)")
    assert pos.asked(state) == (0, asked)


def test_where_the_colour_changes_both_arms_can_be_contested() -> None:
    state = pos.position(
        """
        +--+--+--+--+
        |  |  |  |  |
        +--+--+--+--+
        |  |  |  |  |
        +==+==+--+--+
        |  |  |  |  |
        +--+--+--+--+
        """,
        {(2, 2): "T0", (1, 1): "t1", (3, 1): "t1"},
        options={"colour_change_ends_street": True},
    )
    pos.act(state, "truck(x=2,y=2,to_x=2,to_y=1)")
    assert pos.legal(state) == [
        "decline()",
        "compete(streets=[w])",
        "compete(streets=[e])",
        "compete(streets=[w,e])",
    ]
    pos.act(state, "compete(streets=[e])")
    assert pos.on_map(state) == {(2, 1): "T0", (1, 1): "t1"}


def park(open_side: bool, **given: Any) -> Any:
    """Seat 0 completes vertex (1, 1), in the middle of a park or with one street to the east."""
    drawing = f"""
        +--+--+
        |  :  |
        +..+{"--" if open_side else ".."}+
        |  :XX|
        +--+--+
        """
    tile = "tttg" if open_side else "gttg"
    state = pos.position(drawing, hands=[[tile], []], options=given)
    pos.act(state, f"attach(face={tile},x=1,y=0)")
    return state


@pytest.mark.parametrize(("allowed", "asked"), [(False, "turn"), (True, "place")])
def test_a_vertex_without_street_can_be_allowed(allowed: bool, asked: str) -> None:
    state = park(False, place_on_vertex_without_street=allowed)
    assert pos.asked(state) == (0, asked)
    if allowed:
        pos.act(state, "place(vehicle=taxi,x=1,y=1)")
        assert pos.legal(state, "taxi") == []
        assert state.returns() == (1, 0)


@pytest.mark.parametrize(("allowed", "asked"), [(False, "turn"), (True, "place")])
def test_dead_ends_can_be_closed_to_placing(allowed: bool, asked: str) -> None:
    assert pos.asked(park(True, place_on_dead_end=allowed)) == (0, asked)


def test_the_last_vehicle_can_compete_before_the_match_ends() -> None:
    vehicles = {(x, 1): piece for x, piece in enumerate(("t0", "t0", "t0", "T0", "T0"), 1)} | {(6, 3): "t1"}
    state = pos.position(
        pos.grid(8, 4, (3, 2)),
        {**vehicles, (5, 3): "t0", (1, 1): "t2"},
        players=4,
        hands=[["tttt"], [], [], []],
        options={"last_vehicle_competes": True},
    )
    pos.act(state, "attach(face=tttt,x=3,y=2)", "place(vehicle=taxi,x=3,y=3)")
    assert pos.asked(state) == (0, "compete")
    assert pos.act(state, "compete(streets=[h])")[-2:] == [Returned(1, "taxi", 6, 3), Finished("all_placed")]
    assert state.returns() == (8, 0, 1, 0)
    assert state.ranking() == (1, 3, 2, 3)


@pytest.mark.parametrize("limit", [10, 25])
def test_the_turn_limit_starts_the_final_round(limit: int) -> None:
    state = pos.position(pos.grid(2, 2), players=3, options={"no_progress_rounds": 0, "turn_limit": limit})
    while not state.is_terminal():
        pos.act(state, "end_turn()")
    assert state.turns == limit + 3


@pytest.mark.parametrize(("rule", "ranking"), [("shared", (1, 1, 1)), ("more_vehicles", (2, 1, 2))])
def test_more_vehicles_can_break_ties(rule: str, ranking: tuple[int, ...]) -> None:
    vehicles = {(1, 1): "T0", (2, 1): "t1", (1, 2): "t1", (2, 2): "T2"}
    state = pos.position(
        pos.grid(3, 3), vehicles, players=3, stock={}, final=True, owed=[0], options={"tie_break": rule}
    )
    pos.act(state, "end_turn()")
    assert state.ranking() == ranking


# The README


README = (files("referee.games.manhattan_traffiq") / "README.md").read_text("utf-8")


def test_every_option_is_listed_with_default_confidence_and_meaning_in_order() -> None:
    rows = re.findall(r"^\| `(\w+)` \| `(\w+)` \| ([A-Za-z, ]+) \| (.*) \|$", README, re.MULTILINE)
    assert [row[:3] for row in rows] == [
        (option.name, json.dumps(option.default).strip('"'), option.confidence) for option in GAME.options
    ]
    for row, option in zip(rows, GAME.options, strict=True):
        assert row[3].startswith(option.doc)


def test_the_bound_on_decisions_is_the_one_stated() -> None:
    assert f"{GAME.max_decisions(4, options())} decisions with the defaults and four players" in README
