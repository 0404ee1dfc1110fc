"""Taxi rides and truck deliveries (sheet section 4 T and L)."""

from typing import Any

import pytest

from referee.games.api import IllegalAction
from referee.games.manhattan_traffiq.actions import Taxi, Truck
from referee.games.manhattan_traffiq.events import Drove

# A ring of streets around a park, with a tail to the east at (4, 1).
RING = """
+--+--+--+--+--+
:  :  :  :  :  :
+..+--+--+..+..+
:  |  :  |  :  :
+..+--+..+--+..+
:  :  :  :  :  :
+--+--+--+--+--+
"""


def targets(state: Any, kind: str) -> set[tuple[int, int]]:
    return {(action.to_x, action.to_y) for action in state.legal_actions(0) if kind == action.KIND}


def test_a_taxi_drives_any_distance_and_turns(pos: Any) -> None:
    state = pos.position(RING, {(4, 1): "t0"})
    assert targets(state, "taxi") == {(3, 1), (3, 2), (2, 2), (1, 2), (1, 1), (2, 1)}
    assert pos.act(state, "taxi(x=4,y=1,to_x=2,to_y=1)") == [Drove(0, "taxi", 4, 1, 2, 1)]
    assert pos.on_map(state) == {(2, 1): "t0"}


@pytest.mark.parametrize("blocker", ["t0", "T0", "t1", "T1"])
def test_no_vehicle_is_passed_or_met_not_even_an_own_one(blocker: str, pos: Any) -> None:
    state = pos.position(RING, {(4, 1): "t0", (2, 2): blocker})
    assert {(a.to_x, a.to_y) for a in state.legal_actions(0) if a.KIND == "taxi" and a.x == 4} == {(3, 1), (3, 2)}


def test_a_taxi_goes_round_a_blocked_vertex_if_there_is_another_way(pos: Any) -> None:
    state = pos.position(pos.grid(4, 4), {(1, 1): "t0", (1, 2): "t1"})
    assert targets(state, "taxi") == {(x, y) for x in (1, 2, 3) for y in (1, 2, 3)} - {(1, 1), (1, 2)}


def test_a_truck_goes_one_segment(pos: Any) -> None:
    state = pos.position(RING, {(3, 2): "T0"})
    assert targets(state, "truck") == {(3, 1), (2, 2)}
    assert pos.act(state, "truck(x=3,y=2,to_x=2,to_y=2)") == [Drove(0, "truck", 3, 2, 2, 2)]


def test_a_truck_needs_a_street_and_a_free_complete_vertex(pos: Any) -> None:
    state = pos.position(RING, {(3, 1): "T0", (4, 1): "t1"})
    assert targets(state, "truck") == {(3, 2)}


def test_nobody_drives_onto_an_incomplete_vertex_or_along_the_rim(pos: Any) -> None:
    state = pos.position(pos.grid(3, 3), {(1, 1): "T0", (2, 2): "t0"})
    assert targets(state, "truck") == {(2, 1), (1, 2)}
    assert targets(state, "taxi") == {(2, 1), (1, 2)}


def test_a_hole_blocks_the_way(pos: Any) -> None:
    """Vertices beside a missing tile are incomplete: neither stopping nor driving through."""
    state = pos.position(pos.grid(5, 2, (2, 0)), {(1, 1): "t0"})
    assert targets(state, "taxi") == set()


def test_each_own_vehicle_may_be_the_one_that_drives(pos: Any) -> None:
    state = pos.position(pos.grid(4, 2), {(1, 1): "t0", (3, 1): "t0"})
    assert pos.legal(state, "taxi") == ["taxi(x=1,y=1,to_x=2,to_y=1)", "taxi(x=3,y=1,to_x=2,to_y=1)"]


@pytest.mark.parametrize(
    ("action", "said"),
    [
        (Taxi(4, 1, 4, 1), "cannot reach"),
        (Taxi(4, 1, 5, 1), "cannot reach"),
        (Taxi(4, 1, 4, 2), "cannot reach"),
        (Taxi(4, 1, 99, 99), "cannot reach"),
        (Taxi(3, 1, 3, 2), r"no taxi of seat 0 stands on \(3, 1\)"),
        (Taxi(1, 2, 1, 1), r"no taxi of seat 0 stands on \(1, 2\)"),
        (Taxi(2, 2, 1, 1), r"no taxi of seat 0 stands on \(2, 2\)"),
        (Truck(2, 2, 2, 2), "cannot reach"),
        (Truck(2, 2, 3, 1), "cannot reach"),
        (Truck(2, 2, 1, 2), "cannot reach"),
        (Truck(4, 1, 3, 1), r"no truck of seat 0 stands on \(4, 1\)"),
        (Truck(True, 1, 3, 1), "no truck of seat 0 stands"),
        (Taxi(10**9, 0, 3, 1), "no taxi of seat 0 stands"),
    ],
)
def test_an_impossible_ride_is_refused_and_changes_nothing(action: Any, said: str, pos: Any) -> None:
    state = pos.position(RING, {(4, 1): "t0", (2, 2): "T0", (1, 2): "t1"})
    before = state.to_dict()
    with pytest.raises(IllegalAction, match=said):
        state.apply({0: action})
    assert state.to_dict() == before
    assert action not in state.legal_actions(0)


def test_a_ride_is_judged_the_same_whether_or_not_the_legal_list_was_made(pos: Any) -> None:
    for ask in (False, True):
        state = pos.position(RING, {(4, 1): "t0"})
        if ask:
            state.legal_actions(0)
        pos.act(state, "taxi(x=4,y=1,to_x=1,to_y=1)")
        assert pos.on_map(state) == {(1, 1): "t0"}
