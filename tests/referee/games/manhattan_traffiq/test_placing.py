"""Placing vehicles on vertices that a tile completes (sheet section 4 A)."""

from typing import Any

import pytest

from referee.games.api import IllegalAction
from referee.games.manhattan_traffiq.actions import Compete, Place
from referee.games.manhattan_traffiq.events import Attached, Declined, Placed, TurnEnded

FILL = "attach(face=tttt,x=1,y=1)"


@pytest.fixture
def filled(pos: Any) -> Any:
    """Seat 0 has just filled the hole of a 3 x 3 map: four vertices at once."""
    state = pos.position(pos.grid(3, 3, (1, 1)), hands=[["tttt", "tttt"], []])
    pos.act(state, FILL)
    return state


def test_one_tile_opens_up_to_four_vertices(filled: Any, pos: Any) -> None:
    assert pos.asked(filled) == (0, "place")
    assert pos.legal(filled) == [
        "decline()",
        *(f"place(vehicle={kind},x={x},y={y})" for y in (1, 2) for x in (1, 2) for kind in ("taxi", "truck")),
    ]
    assert filled.observation(1).open_vertices == ((1, 1), (2, 1), (1, 2), (2, 2))


def test_each_of_them_takes_a_taxi_or_a_truck_from_the_supply(filled: Any, pos: Any) -> None:
    for text in ("vehicle=truck,x=2,y=2", "vehicle=taxi,x=1,y=1", "vehicle=truck,x=1,y=2", "vehicle=truck,x=2,y=1"):
        pos.act(filled, f"place({text})")
    assert pos.on_map(filled) == {(2, 2): "T0", (1, 1): "t0", (1, 2): "T0", (2, 1): "T0"}
    assert (filled.fleet.taxis, filled.fleet.trucks) == ((7, 8), (0, 3))
    assert pos.asked(filled) == (0, "turn")


def test_placing_is_no_action_of_the_turn(filled: Any, pos: Any) -> None:
    pos.act(filled, "place(vehicle=taxi,x=1,y=1)", "decline()")
    assert filled.used == "A"
    assert "attach" in {action.KIND for action in filled.legal_actions(0)}


def test_after_declining_the_vertices_are_lost_for_placing(filled: Any, pos: Any) -> None:
    assert pos.act(filled, "decline()") == [Declined(0, "place")]
    assert pos.asked(filled) == (0, "turn")
    pos.act(filled, "attach(face=tttt,x=3,y=1)")
    assert pos.asked(filled) == (1, "turn")


def test_one_may_place_on_some_and_decline_the_rest(filled: Any, pos: Any) -> None:
    pos.act(filled, "place(vehicle=taxi,x=2,y=1)")
    assert filled.observation(0).open_vertices == ((1, 1), (1, 2), (2, 2))
    pos.act(filled, "decline()")
    assert pos.on_map(filled) == {(2, 1): "t0"}


def test_the_second_tile_of_a_turn_opens_vertices_too_and_the_turn_ends_after_placing(pos: Any) -> None:
    state = pos.position(pos.grid(2, 2, (1, 1)), hands=[["tttt", "tttt"], []])
    events = pos.act(state, "attach(face=tttt,x=2,y=0)", FILL)
    assert events == [Attached(0, "tttt", 2, 0), Attached(0, "tttt", 1, 1)]
    assert state.observation(0).open_vertices == ((1, 1),)
    assert pos.act(state, "place(vehicle=truck,x=1,y=1)") == [Placed(0, "truck", 1, 1), TurnEnded(0)]


def test_with_an_empty_supply_of_one_kind_only_the_other_is_offered(pos: Any) -> None:
    trucks = {(x, 1): "T0" for x in (1, 2, 3)}
    state = pos.position(pos.grid(5, 5, (3, 3)), trucks, hands=[["tttt"], []])
    pos.act(state, "attach(face=tttt,x=3,y=3)")
    assert {action.vehicle for action in state.legal_actions(0) if action.KIND == "place"} == {"taxi"}
    with pytest.raises(IllegalAction, match="seat 0 has no truck in its supply"):
        state.apply({0: Place("truck", 3, 3)})


@pytest.mark.parametrize(
    ("action", "said"),
    [
        (Place("taxi", 3, 3), r"vertex \(3, 3\) is not open for placing"),
        (Place("taxi", True, 1), "not open for placing"),
        (Place("taxi", -(10**6), 1), "not open for placing"),
        (Place("bus", 1, 1), "unknown vehicle 'bus', expected one of taxi, truck"),
        (Place("", 1, 1), "unknown vehicle ''"),
        (Compete(("h",)), "does not answer the question 'place'"),
    ],
)
def test_an_impossible_placement_is_refused_and_changes_nothing(action: Any, said: str, filled: Any) -> None:
    before = filled.to_dict()
    with pytest.raises(IllegalAction, match=said):
        filled.apply({0: action})
    assert filled.to_dict() == before


@pytest.mark.parametrize(
    ("tile", "face", "segments"),
    [("ggtt", "gttg", 0), ("gttt", "gttt", 1), ("gttt", "tttg", 1), ("tttt", "tttt", 2)],
    ids=["middle of a park", "dead end from the south", "dead end from the east", "bend"],
)
def test_a_vehicle_needs_a_vertex_with_a_street_and_a_dead_end_will_do(
    tile: str, face: str, segments: int, pos: Any
) -> None:
    """The tile laid on (1, 0) completes vertex (1, 1), whose sides to the north and west are park."""
    drawing = f"""
        +--+--+
        |  :  |
        +..+{"--" if face[0] == "t" else ".."}+
        |  {"|" if face[3] == "t" else ":"}XX|
        +--+--+
        """
    state = pos.position(drawing, hands=[[tile], []])
    pos.act(state, f"attach(face={face},x=1,y=0)")
    if segments:
        assert pos.asked(state) == (0, "place")
        assert state.observation(0).open_vertices == ((1, 1),)
    else:
        assert pos.asked(state) == (0, "turn")
