"""The map: streets, rides on them and competing."""

from typing import Any

import pytest

from referee.games.api import IllegalAction
from referee.games.manhattan_traffiq.actions import Compete, Taxi, Truck
from referee.games.manhattan_traffiq.events import Competed, Declined, Drove, Placed, Returned, TurnEnded

from . import positions as pos

# Streets: segments, vertices, maximal straight runs


PLAIN = """
+--+--+--+--+
|  |  |  |  |
+--+--+--+--+
|  |  |  |  |
+--+--+--+--+
|  |  |  |  |
+--+--+--+--+
"""
# Around vertex (2, 2): what stands north, east, south and west of it is filled in.
ONE = """
+--+--+--+--+
|  |  N  |  |
+--+--+--+--+
|  |  N  |  |
+--+WW+EE+--+
|  |  S  |  |
+--+--+--+--+
|  |  |  |  |
+--+--+--+--+
"""


def around(north: str, east: str, south: str, west: str) -> str:
    return ONE.replace("N", north).replace("EE", east).replace("S", south).replace("WW", west)


def test_a_crossing_lies_on_one_horizontal_and_one_vertical_street() -> None:
    state = pos.position(PLAIN)
    assert pos.streets(state, (2, 1)) == {"h": pos.row(1, 0, 4), "v": pos.column(2, 0, 3)}


def test_sides_without_a_neighbour_are_no_segments() -> None:
    """The rim of the map: half streets may not be used."""
    state = pos.position(PLAIN)
    assert pos.streets(state, (2, 0)) == {"v": pos.column(2, 0, 3)}
    assert pos.streets(state, (0, 0)) == {}


def test_a_vertex_is_complete_when_all_four_cells_hold_tiles() -> None:
    state = pos.position(PLAIN)
    inner = {(x, y) for x in (1, 2, 3) for y in (1, 2)}
    assert {state.board.xy[vertex] for vertex in state.city.links} == inner


@pytest.mark.parametrize("colour", ["..", "~~"])
def test_park_and_water_carry_no_street(colour: str) -> None:
    state = pos.position(around("|", colour, "|", "--"))
    assert pos.streets(state, (2, 2))["h"] == pos.row(2, 0, 2)
    assert pos.streets(state, (3, 2))["h"] == pos.row(2, 3, 4)


def test_a_street_beyond_a_park_is_a_different_one() -> None:
    state = pos.position(
        """
        +--+--+--+--+--+
        |  |  |  |  |  |
        +--+--+..+--+--+
        |  |  |  |  |  |
        +--+--+--+--+--+
        """
    )
    assert pos.streets(state, (1, 1))["h"] == pos.row(1, 0, 2)
    assert pos.streets(state, (4, 1))["h"] == pos.row(1, 3, 5)


def test_a_street_ends_at_a_t_end() -> None:
    """No way on to the north: the vertical street ends at the vertex, the horizontal one goes through."""
    state = pos.position(around(":", "--", "|", "--"))
    assert pos.streets(state, (2, 2)) == {"h": pos.row(2, 0, 4), "v": pos.column(2, 0, 2)}


def test_a_bend_ends_two_streets_and_belongs_to_both() -> None:
    state = pos.position(around(":", "..", "|", "--"))
    assert pos.streets(state, (2, 2)) == {"h": pos.row(2, 0, 2), "v": pos.column(2, 0, 2)}


@pytest.mark.parametrize(
    ("sides", "streets"),
    [
        (("|", "--", "|", "--"), {"h", "v"}),
        (("|", "--", "|", ".."), {"h", "v"}),
        (("|", "--", ":", ".."), {"h", "v"}),
        (("|", "..", "|", ".."), {"v"}),
        ((":", "--", ":", "--"), {"h"}),
        ((":", "--", ":", ".."), {"h"}),
        ((":", "..", "~", "~~"), set()),
    ],
    ids=["crossing", "T", "bend", "straight down", "straight across", "dead end", "no street"],
)
def test_kinds_of_vertices_and_how_many_streets_they_lie_on(sides: Any, streets: set[str]) -> None:
    assert set(pos.streets(pos.position(around(*sides)), (2, 2))) == streets


def test_a_change_from_red_to_beige_does_not_end_a_street() -> None:
    state = pos.position(around("#", "==", "|", "--"))
    assert pos.streets(state, (2, 2)) == {"h": pos.row(2, 0, 4), "v": pos.column(2, 0, 4)}


def test_streets_grow_together_when_a_tile_is_laid() -> None:
    state = pos.position(pos.grid(4, 2, (2, 0)), hands=[["tttt"], []])
    assert pos.streets(state, (1, 1))["h"] == pos.row(1, 0, 2)
    assert pos.streets(state, (3, 1))["h"] == pos.row(1, 3, 4)
    pos.act(state, "attach(face=tttt,x=2,y=0)")
    assert pos.streets(state, (1, 1))["h"] == pos.row(1, 0, 4)


def test_segments_join_their_two_vertices_only_when_both_are_complete() -> None:
    state = pos.position(PLAIN)
    links = {state.board.xy[v]: {state.board.xy[w] for w in beside} for v, beside in state.city.links.items()}
    assert links[1, 1] == {(2, 1), (1, 2)}
    assert links[2, 1] == {(1, 1), (3, 1), (2, 2)}


# Taxi rides and truck deliveries


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


def test_a_taxi_drives_any_distance_and_turns() -> None:
    state = pos.position(RING, {(4, 1): "t0"})
    assert targets(state, "taxi") == {(3, 1), (3, 2), (2, 2), (1, 2), (1, 1), (2, 1)}
    assert pos.act(state, "taxi(x=4,y=1,to_x=2,to_y=1)") == [Drove(0, "taxi", 4, 1, 2, 1)]
    assert pos.on_map(state) == {(2, 1): "t0"}


@pytest.mark.parametrize("blocker", ["t0", "T0", "t1", "T1"])
def test_no_vehicle_is_passed_or_met_not_even_an_own_one(blocker: str) -> None:
    state = pos.position(RING, {(4, 1): "t0", (2, 2): blocker})
    assert {(a.to_x, a.to_y) for a in state.legal_actions(0) if a.KIND == "taxi" and a.x == 4} == {(3, 1), (3, 2)}


def test_a_taxi_goes_round_a_blocked_vertex_if_there_is_another_way() -> None:
    state = pos.position(pos.grid(4, 4), {(1, 1): "t0", (1, 2): "t1"})
    assert targets(state, "taxi") == {(x, y) for x in (1, 2, 3) for y in (1, 2, 3)} - {(1, 1), (1, 2)}


def test_a_truck_goes_one_segment() -> None:
    state = pos.position(RING, {(3, 2): "T0"})
    assert targets(state, "truck") == {(3, 1), (2, 2)}
    assert pos.act(state, "truck(x=3,y=2,to_x=2,to_y=2)") == [Drove(0, "truck", 3, 2, 2, 2)]


def test_a_truck_needs_a_street_and_a_free_complete_vertex() -> None:
    state = pos.position(RING, {(3, 1): "T0", (4, 1): "t1"})
    assert targets(state, "truck") == {(3, 2)}


def test_nobody_drives_onto_an_incomplete_vertex_or_along_the_rim() -> None:
    state = pos.position(pos.grid(3, 3), {(1, 1): "T0", (2, 2): "t0"})
    assert targets(state, "truck") == {(2, 1), (1, 2)}
    assert targets(state, "taxi") == {(2, 1), (1, 2)}


def test_a_hole_blocks_the_way() -> None:
    """Vertices beside a missing tile are incomplete: neither stopping nor driving through."""
    state = pos.position(pos.grid(5, 2, (2, 0)), {(1, 1): "t0"})
    assert targets(state, "taxi") == set()


def test_each_own_vehicle_may_be_the_one_that_drives() -> None:
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
def test_an_impossible_ride_is_refused_and_changes_nothing(action: Any, said: str) -> None:
    state = pos.position(RING, {(4, 1): "t0", (2, 2): "T0", (1, 2): "t1"})
    before = state.to_dict()
    with pytest.raises(IllegalAction, match=said):
        state.apply({0: action})
    assert state.to_dict() == before
    assert action not in state.legal_actions(0)


def test_a_ride_is_judged_the_same_whether_or_not_the_legal_list_was_made() -> None:
    for ask in (False, True):
        state = pos.position(RING, {(4, 1): "t0"})
        if ask:
            state.legal_actions(0)
        pos.act(state, "taxi(x=4,y=1,to_x=1,to_y=1)")
        assert pos.on_map(state) == {(1, 1): "t0"}


# Competing


RED, YELLOW, BLUE, GREEN = range(4)

# The rulebook's example. The green taxi will ride from (5, 3) to (3, 2). Along row 2 stand yellow's taxi and red's
# truck, along column 3 a truck of yellow; blue is on neither.
RIDE = "taxi(x=5,y=3,to_x=3,to_y=2)"
EXAMPLE = {(5, 3): "t3", (1, 2): "T0", (4, 2): "t1", (3, 1): "T1", (5, 4): "t2"}


def example(green: str = "") -> Any:
    vehicles = EXAMPLE | ({(2, 2): green} if green else {})
    return pos.position(pos.grid(6, 5), vehicles, players=4, seat=GREEN)


def test_the_rulebooks_example() -> None:
    """Green 3 against yellow 1 and red 2 across: both leave. Green 1 against yellow 2 down: nothing happens there."""
    state = example(green="T3")
    assert pos.act(state, RIDE) == [Drove(GREEN, "taxi", 5, 3, 3, 2)]
    assert pos.asked(state) == (GREEN, "compete")
    assert state.observation(BLUE).streets == ("h",)
    assert pos.legal(state) == ["decline()", "compete(streets=[h])"]
    before = state.fleet
    assert pos.act(state, "compete(streets=[h])") == [
        Competed(GREEN, 3, 2, ("h",)),
        Returned(RED, "truck", 1, 2),
        Returned(YELLOW, "taxi", 4, 2),
    ]
    assert pos.on_map(state) == {(3, 2): "t3", (2, 2): "T3", (3, 1): "T1", (5, 4): "t2"}
    assert state.fleet.taxis == tuple(n + (seat == YELLOW) for seat, n in enumerate(before.taxis))
    assert state.fleet.trucks == tuple(n + (seat == RED) for seat, n in enumerate(before.trucks))
    assert pos.asked(state) == (GREEN, "turn")


def test_the_example_without_the_green_truck_nobody_leaves() -> None:
    """1 against 1 and 2: nobody is weaker, so nothing is asked."""
    state = example()
    pos.act(state, RIDE)
    assert pos.asked(state) == (GREEN, "turn")
    assert set(pos.on_map(state).values()) == {"t3", "T0", "t1", "T1", "t2"}


def test_the_example_with_a_second_green_taxi_only_yellows_taxi_leaves() -> None:
    """2 against 1 and 2: red is as strong and stays."""
    state = example(green="t3")
    assert pos.act(state, RIDE, "compete(streets=[h])")[1:] == [
        Competed(GREEN, 3, 2, ("h",)),
        Returned(YELLOW, "taxi", 4, 2),
    ]
    assert pos.on_map(state) == {(3, 2): "t3", (2, 2): "t3", (1, 2): "T0", (3, 1): "T1", (5, 4): "t2"}


def test_the_example_with_competing_declined_everybody_stays() -> None:
    state = example(green="T3")
    assert pos.act(state, RIDE, "decline()")[-1] == Declined(GREEN, "compete")
    assert len(pos.on_map(state)) == 6
    assert pos.asked(state) == (GREEN, "turn")


def test_each_opponent_is_compared_singly_however_strong_they_are_together() -> None:
    vehicles = {(1, 1): "T0", (3, 1): "t1", (4, 1): "t2", (2, 2): "t0"}
    state = pos.position(pos.grid(6, 3), vehicles, players=3)
    pos.act(state, "taxi(x=2,y=2,to_x=2,to_y=1)", "compete(streets=[h])")
    assert pos.on_map(state) == {(1, 1): "T0", (2, 1): "t0"}


def test_a_loser_takes_all_its_vehicles_on_the_street_back() -> None:
    vehicles = {(1, 1): "T0", (2, 1): "T0", (4, 1): "t1", (5, 1): "t1", (6, 1): "t1", (3, 2): "t0", (4, 2): "t1"}
    state = pos.position(pos.grid(8, 3), vehicles)
    pos.act(state, "taxi(x=3,y=2,to_x=3,to_y=1)", "compete(streets=[h])")
    assert pos.on_map(state) == {(1, 1): "T0", (2, 1): "T0", (3, 1): "t0", (4, 2): "t1"}
    assert state.fleet.taxis[1] == 7


@pytest.mark.parametrize(("own", "asked"), [("t0", False), ("T0", True)])
def test_equal_strength_is_not_enough(own: str, asked: bool) -> None:
    state = pos.position(pos.grid(5, 3), {(1, 1): own, (4, 1): "T1", (2, 2): "t0"})
    pos.act(state, "taxi(x=2,y=2,to_x=2,to_y=1)")
    assert (pos.asked(state) == (0, "compete")) == asked


def test_nobody_removes_the_active_players_vehicles() -> None:
    """A lone taxi drives into the middle of a street that the opponent dominates, and stays."""
    state = pos.position(pos.grid(5, 3), {(1, 1): "T1", (4, 1): "T1", (2, 2): "t0"})
    pos.act(state, "taxi(x=2,y=2,to_x=2,to_y=1)")
    assert pos.asked(state) == (0, "turn")
    assert len(pos.on_map(state)) == 3


def test_other_streets_are_never_checked_even_if_someone_dominates_there() -> None:
    """Seat 0 dominates row 1, but what moves is its taxi in row 3."""
    vehicles = {(1, 1): "T0", (2, 1): "T0", (4, 1): "t1", (1, 3): "t0"}
    state = pos.position(pos.grid(6, 4), vehicles)
    pos.act(state, "taxi(x=1,y=3,to_x=5,to_y=3)")
    assert pos.asked(state) == (0, "turn")
    assert len(pos.on_map(state)) == 4


def test_a_truck_delivery_competes_too() -> None:
    state = pos.position(pos.grid(5, 3), {(2, 2): "T0", (4, 1): "t1"})
    pos.act(state, "truck(x=2,y=2,to_x=2,to_y=1)", "compete(streets=[h])")
    assert pos.on_map(state) == {(2, 1): "T0"}


def test_a_placed_vehicle_competes() -> None:
    state = pos.position(pos.grid(4, 2, (2, 0)), {(1, 1): "t1"}, hands=[["tttt"], []])
    events = pos.act(state, "attach(face=tttt,x=2,y=0)", "place(vehicle=truck,x=2,y=1)", "compete(streets=[h])")
    assert events[1:] == [Placed(0, "truck", 2, 1), Competed(0, 2, 1, ("h",)), Returned(1, "taxi", 1, 1)]


def test_the_vertex_of_the_moved_vehicle_counts_on_both_streets() -> None:
    """One truck against a taxi in its row and one in its column: both streets may be cleared."""
    state = pos.position(pos.grid(5, 5), {(2, 3): "T0", (4, 2): "t1", (2, 1): "t1"})
    pos.act(state, "truck(x=2,y=3,to_x=2,to_y=2)")
    assert pos.legal(state) == [
        "decline()",
        "compete(streets=[h])",
        "compete(streets=[v])",
        "compete(streets=[h,v])",
    ]


@pytest.mark.parametrize(
    ("streets", "left"),
    [
        (("h",), {(2, 2): "T0", (2, 1): "t1"}),
        (("v",), {(2, 2): "T0", (4, 2): "t1"}),
        (("h", "v"), {(2, 2): "T0"}),
    ],
)
def test_the_player_chooses_street_by_street(streets: Any, left: Any) -> None:
    state = pos.position(pos.grid(5, 5), {(2, 3): "T0", (4, 2): "t1", (2, 1): "t1"})
    pos.act(state, "truck(x=2,y=3,to_x=2,to_y=2)")
    state.apply({0: Compete(streets)})
    assert pos.on_map(state) == left


def test_opponents_on_bends_and_ends_of_the_street_count() -> None:
    """Row 1 ends in a bend at (1, 1) and in a dead end at (4, 1)."""
    state = pos.position(
        """
        +--+--+--+--+--+
        |  |  |  |  |  |
        +--+--+--+--+--+
        |  |  |  |  :  |
        +..+--+--+--+..+
        |  :  |  |  :  |
        +--+--+--+--+--+
        """,
        {(1, 1): "t1", (4, 1): "t1", (2, 2): "T0", (3, 2): "t0", (1, 2): "T1"},
    )
    pos.act(state, "truck(x=2,y=2,to_x=2,to_y=1)")
    assert pos.asked(state) == (0, "turn"), "two taxis are as strong as one truck"
    pos.act(state, "taxi(x=3,y=2,to_x=3,to_y=1)", "compete(streets=[h])")
    assert pos.on_map(state) == {(2, 1): "T0", (3, 1): "t0", (1, 2): "T1"}


def test_vehicles_beyond_a_park_do_not_count() -> None:
    state = pos.position(
        """
        +--+--+--+--+--+
        |  |  |  |  |  |
        +--+--+--+--+--+
        |  |  |  |  |  |
        +--+--+..+--+--+
        |  |  |  |  |  |
        +--+--+--+--+--+
        """,
        {(2, 2): "T0", (3, 1): "t1"},
    )
    pos.act(state, "truck(x=2,y=2,to_x=2,to_y=1)")
    assert pos.asked(state) == (0, "turn")


def test_returned_vehicles_can_be_placed_again() -> None:
    state = pos.position(pos.grid(4, 4, (1, 1)), {(3, 3): "t1", (3, 2): "T0"}, hands=[[], ["tttt"]])
    pos.act(state, "truck(x=3,y=2,to_x=3,to_y=1)", "compete(streets=[v])", "end_turn()")
    assert state.fleet.taxis[1] == 8
    pos.act(state, "attach(face=tttt,x=1,y=1)", "place(vehicle=taxi,x=1,y=2)")
    assert state.fleet.taxis[1] == 7


def test_place_compete_place_compete() -> None:
    """R1: after each placement of one tile the player may compete."""
    state = pos.position(pos.grid(5, 4, (1, 1)), {(3, 1): "t1", (4, 1): "t1", (3, 2): "t1"}, hands=[["tttt"], []])
    pos.act(state, "attach(face=tttt,x=1,y=1)", "place(vehicle=taxi,x=1,y=1)")
    assert pos.asked(state) == (0, "place"), "1 against 2 in row 1"
    pos.act(state, "place(vehicle=truck,x=2,y=1)")
    assert pos.asked(state) == (0, "compete"), "3 against 2"
    pos.act(state, "compete(streets=[h])")
    assert pos.asked(state) == (0, "place")
    pos.act(state, "place(vehicle=truck,x=1,y=2)")
    events = pos.act(state, "compete(streets=[h])", "place(vehicle=taxi,x=2,y=2)")
    assert events == [Competed(0, 1, 2, ("h",)), Returned(1, "taxi", 3, 2), Placed(0, "taxi", 2, 2)]
    assert set(pos.on_map(state).values()) == {"t0", "T0"}


@pytest.mark.parametrize("vertices", [("x=1,y=1", "x=2,y=1"), ("x=2,y=1", "x=1,y=1")])
@pytest.mark.parametrize("first", ["decline()", "compete(streets=[h])"])
def test_a_shared_street_counts_again_with_the_second_vehicle(vertices: tuple[str, str], first: str) -> None:
    """R1: competing at once or only after the second placement comes to the same on a shared street."""
    state = pos.position(pos.grid(4, 4, (1, 1)), {(3, 1): "t1"}, hands=[["tttt"], []])
    pos.act(state, "attach(face=tttt,x=1,y=1)", f"place(vehicle=truck,{vertices[0]})", first)
    pos.act(state, f"place(vehicle=taxi,{vertices[1]})")
    if state.phase == "compete":
        pos.act(state, "compete(streets=[h])")
    assert set(pos.on_map(state)) == {(1, 1), (2, 1)}


@pytest.mark.parametrize(
    "action", [Compete(()), Compete(("v",)), Compete(("h", "h")), Compete(("h", "v")), Compete(("x",))]
)
def test_competing_on_a_street_without_weaker_opponent_is_refused(action: Any) -> None:
    state = example(green="T3")
    pos.act(state, RIDE)
    before = state.to_dict()
    with pytest.raises(IllegalAction, match="a weaker opponent stands on h"):
        state.apply({GREEN: action})
    assert state.to_dict() == before


def test_after_competing_with_the_second_action_the_turn_ends() -> None:
    state = example(green="T3")
    pos.act(state, "truck(x=2,y=2,to_x=2,to_y=3)")
    events = pos.act(state, "taxi(x=5,y=3,to_x=5,to_y=2)")
    assert TurnEnded(GREEN) in events
