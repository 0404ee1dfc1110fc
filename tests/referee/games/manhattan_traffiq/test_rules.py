"""Set-up, the turn and its actions, the end, and leaving."""

from random import Random
from typing import Any

import pytest

from referee.games.api import Draw, IllegalAction, PlayersError, Roll
from referee.games.keyed import random_outcome
from referee.games.manhattan_traffiq import GAME
from referee.games.manhattan_traffiq.actions import Attach, Compete, Decline, DrawTile, EndTurn, Place, Taxi, Truck
from referee.games.manhattan_traffiq.events import (
    Attached,
    Declined,
    FinalRound,
    Finished,
    Placed,
    StartPlayer,
    TileDrawn,
    TurnEnded,
    Withdrew,
)
from referee.games.manhattan_traffiq.rules import FOLLOWING

from . import positions as pos
from .positions import options, wander

# Set-up


@pytest.mark.parametrize("players", [1, 5, 0])
def test_it_is_a_game_for_two_to_four(players: int) -> None:
    with pytest.raises(PlayersError, match=f"for 2 to 4 players, not {players}"):
        GAME.new_initial_state(players, options())


def test_a_random_seat_begins_then_everyone_is_dealt_two_tiles() -> None:
    state = GAME.new_initial_state(3, options())
    assert state.chance_stream() == Roll("start_player", 0, 0)
    assert list(state.chance_outcomes()) == [(0, 1), (1, 1), (2, 1)]
    assert [event.public for event in state.apply_chance(1)] == [StartPlayer(1)]
    for seat in (0, 0, 1, 1, 2, 2):
        assert state.chance_stream() == Draw("tiles", 0)
        (event,) = state.apply_chance(state.chance_outcomes()[0][0])
        assert event.public == TileDrawn(seat, "")
    assert state.decisions()[0].seat == 1
    assert state.decisions()[0].kind == "turn"
    assert state.observation(None).hand_sizes == (2, 2, 2)
    assert state.observation(None).stock == 44 - 6


def test_seat_0_can_be_made_to_begin() -> None:
    state = GAME.new_initial_state(2, options(start_player="seat_0"))
    assert state.chance_stream() == Draw("tiles", 0)
    assert state.turn_seat == 0


def test_the_weights_of_a_draw_are_the_tiles_left() -> None:
    state = GAME.new_initial_state(2, options(start_player="seat_0"))
    before = dict(state.chance_outcomes())
    assert sum(before.values()) == 44
    assert before["rrtt"] == 4
    state.apply_chance("rrtt")
    assert dict(state.chance_outcomes()) == {**before, "rrtt": 3}


@pytest.mark.parametrize("outcome", ["rrrx", "zzzz", 3, None])
def test_only_what_is_left_can_be_drawn(outcome: Any) -> None:
    state = GAME.new_initial_state(2, options(start_player="seat_0"))
    before = state.to_dict()
    with pytest.raises(IllegalAction, match="not in the stock"):
        state.apply_chance(outcome)
    assert state.to_dict() == before


@pytest.mark.parametrize("outcome", [3, -1, "0", True])
def test_only_a_seat_can_begin(outcome: Any) -> None:
    with pytest.raises(IllegalAction, match="not a seat that can begin"):
        GAME.new_initial_state(3, options()).apply_chance(outcome)


@pytest.mark.parametrize(
    ("given", "tiles"),
    [
        ({}, {(0, 0): "rrtt", (1, 0): "ttrr", (1, 1): "rrtt", (2, 1): "ttrr"}),
        ({"times_square_layout": "T"}, {(0, 0): "rrtt", (1, 0): "ttrr", (2, 0): "rttt", (1, 1): "trtr"}),
        ({"times_square_layout": "L"}, {(0, 0): "rrtt", (1, 0): "ttrr", (2, 0): "rrtt", (2, 1): "ttrr"}),
    ],
)
def test_times_square_lies_out_in_the_chosen_shape(given: dict[str, Any], tiles: Any) -> None:
    seen = GAME.new_initial_state(2, options(**given)).observation(None)
    assert {(tile.x, tile.y): tile.face for tile in seen.map.tiles} == tiles


@pytest.mark.parametrize(("shape", "vertices"), [("Z", 2), ("T", 2), ("L", 2)])
def test_a_lucky_start_player_can_complete_two_vertices_in_the_first_turn(shape: str, vertices: int) -> None:
    """What spieletest.at reports, and the reason for these shapes: some two cells complete two vertices."""
    cells = {(tile["x"], tile["y"]) for tile in GAME.default_data()["layouts"]["times_square"][shape]}
    near = [(x, y) for x in range(-1, 4) for y in range(-1, 4) if (x, y) not in cells]

    def complete(laid: set[tuple[int, int]]) -> int:
        corners = {(x + dx, y + dy) for x, y in laid for dx in (0, 1) for dy in (0, 1)}
        return sum(all((x - dx, y - dy) in laid for dx in (0, 1) for dy in (0, 1)) for x, y in corners)

    assert complete(cells) == 0
    assert max(complete(cells | {one, two}) for one in near for two in near) == vertices


def test_nobody_can_place_a_vehicle_inside_central_park() -> None:
    state = GAME.new_initial_state(2, options(scenario="central_park"))
    inside = {(x, 1) for x in range(1, 5)}
    assert {state.board.xy[vertex] for vertex in state.city.links} == inside
    assert not any(state.city.neighbours(vertex) for vertex in state.city.links)


@pytest.mark.parametrize("scenario", ["times_square", "central_park"])
@pytest.mark.parametrize("players", [2, 3, 4])
def test_matches_of_both_scenarios_are_played_to_the_end(scenario: str, players: int) -> None:
    final = wander(players, options(scenario=scenario), 7)
    assert final.is_terminal()
    assert min(final.ranking()) == 1


# The turn: which actions, how many, in which order


SEQUENCES = {"", "A", "T", "L", "D", "AA", "AT", "AL", "AD", "TL", "LT", "TD", "LD", "DD"}
LETTERS = {"attach": "A", "taxi": "T", "truck": "L", "draw": "D"}


@pytest.fixture
def rich() -> Any:
    """Seat 0 can do anything: it has tiles, a taxi and a truck with room, and there is stock."""
    return pos.position(pos.grid(4, 4), {(1, 1): "t0", (3, 3): "T0"}, hands=[["tttt"] * 4, []])


def played(state: Any, done: str = "") -> set[str]:
    """All turns of seat 0 from here, by the letters of their actions."""
    if state.decisions()[0].seat != 0:
        return {done}
    found = set()
    if state.phase != "turn":
        state.apply({0: Decline()})
        return played(state, done)
    kinds = {action.KIND: action for action in state.legal_actions(0)}
    for kind, action in kinds.items():
        after = state.clone()
        after.apply({0: action})
        if after.chance_outcomes():
            after.apply_chance("tttt")
        found |= played(after, done + LETTERS.get(kind, ""))
    return found


def test_the_legal_turns_are_these_fourteen(rich: Any) -> None:
    assert played(rich) == SEQUENCES


def test_the_table_of_what_follows_what_is_the_fourteen_turns() -> None:
    spelled = {""} | set(FOLLOWING[""]) | {a + b for a in FOLLOWING[""] for b in FOLLOWING[a]}
    assert spelled == SEQUENCES


def test_ending_the_turn_comes_first_in_the_list_then_draw_rides_and_attaching(rich: Any) -> None:
    kinds = [action.KIND for action in rich.legal_actions(0)]
    assert kinds[:2] == ["end_turn", "draw"]
    assert list(dict.fromkeys(kinds)) == ["end_turn", "draw", "taxi", "truck", "attach"]


def test_a_turn_ends_by_itself_after_the_second_action(rich: Any) -> None:
    events = pos.act(rich, "taxi(x=1,y=1,to_x=1,to_y=2)", "truck(x=3,y=3,to_x=3,to_y=2)")
    assert events[-1] == TurnEnded(0)
    assert pos.asked(rich) == (1, "turn")


@pytest.mark.parametrize(
    ("done", "refused", "said"),
    [
        (["draw()"], Attach("tttt", 4, 0), "attached before rides and draws"),
        (["draw()"], Taxi(1, 1, 1, 2), "no taxi can drive now"),
        (["draw()"], Truck(3, 3, 3, 2), "no truck can drive now"),
        (["taxi(x=1,y=1,to_x=1,to_y=2)"], Attach("tttt", 4, 0), "attached before rides and draws"),
        (["taxi(x=1,y=1,to_x=1,to_y=2)"], Taxi(1, 2, 1, 1), "one ride of each kind"),
        (["truck(x=3,y=3,to_x=3,to_y=2)"], Truck(3, 2, 3, 3), "one ride of each kind"),
    ],
)
def test_attach_comes_before_rides_and_rides_before_drawing(
    done: list[str], refused: Any, said: str, rich: Any
) -> None:
    pos.act(rich, *done)
    if rich.chance_outcomes():
        rich.apply_chance("tttt")
    before = rich.to_dict()
    assert refused not in rich.legal_actions(0)
    with pytest.raises(IllegalAction, match=said):
        rich.apply({0: refused})
    assert rich.to_dict() == before


def test_a_tile_drawn_this_turn_cannot_be_attached_in_it() -> None:
    state = pos.position(pos.grid(2, 2))
    pos.act(state, "draw()")
    state.apply_chance("tttt")
    assert pos.legal(state) == ["end_turn()", "draw()"]
    pos.act(state, "end_turn()", "end_turn()")
    assert "attach(face=tttt,x=0,y=-1)" in pos.legal(state)


def test_a_draw_is_seen_by_its_drawer_only() -> None:
    state = pos.position(pos.grid(2, 2), stock={"tttt": 3, "rrrr": 2})
    assert pos.act(state, "draw()") == []
    assert list(state.chance_outcomes()) == [("rrrr", 2), ("tttt", 3)]
    (event,) = state.apply_chance("rrrr")
    assert event.seen_by(0) == TileDrawn(0, "rrrr")
    assert event.seen_by(1) == event.seen_by(None) == TileDrawn(0, "")


def test_the_hand_has_no_limit() -> None:
    state = pos.position(pos.grid(2, 2), hands=[["tttt"] * 30, []], stock={"tttt": 5})
    pos.act(state, "draw()")
    state.apply_chance("tttt")
    assert state.observation(0).hand_sizes == (31, 0)


@pytest.mark.parametrize("actions", [{}, {1: EndTurn()}, {0: EndTurn(), 1: EndTurn()}])
def test_only_the_seat_that_is_asked_answers(actions: Any, rich: Any) -> None:
    before = rich.to_dict()
    with pytest.raises(IllegalAction, match="seat 0 is asked"):
        rich.apply(actions)
    assert rich.to_dict() == before


@pytest.mark.parametrize("action", [Decline(), None, "end_turn()", 0])
def test_what_is_no_answer_to_the_question_is_refused(action: Any, rich: Any) -> None:
    with pytest.raises(IllegalAction, match="does not answer the question 'turn'"):
        rich.apply({0: action})


def test_nobody_answers_while_a_tile_is_drawn(rich: Any) -> None:
    rich.apply({0: DrawTile()})
    assert rich.decisions() == ()
    assert rich.legal_actions(0) == ()
    with pytest.raises(IllegalAction, match="nobody is asked in phase 'draw'"):
        rich.apply({0: EndTurn()})


def test_nothing_is_drawn_while_somebody_is_asked(rich: Any) -> None:
    assert list(rich.chance_outcomes()) == []
    with pytest.raises(IllegalAction, match="nothing is left to chance"):
        rich.apply_chance("tttt")
    with pytest.raises(IllegalAction, match="nothing is left to chance"):
        rich.chance_stream()


# Attaching city tiles


# One tile: red in the north, park in the east, water in the south, beige in the west.
LONE = """
+==+
|  :
+~~+
"""
HOLE = """
+--+--+--+
|  #  :  |
+--+==+--+
~  #XX~  ~
+--+..+--+
|  :  #  |
+--+--+--+
"""


@pytest.mark.parametrize(("face", "x", "y"), [("ttrt", 0, 1), ("tttg", 1, 0), ("bttt", 0, -1), ("tttt", -1, 0)])
def test_the_touching_side_must_have_the_same_colour(face: str, x: int, y: int) -> None:
    name = min(face[i:] + face[:i] for i in range(4))
    state = pos.position(LONE, hands=[[name], []])
    assert Attach(face, x, y) in state.legal_actions(0)
    assert pos.act(state, f"attach(face={face},x={x},y={y})") == [Attached(0, face, x, y)]
    assert state.observation(0).hands[0] == ()
    assert {(tile.x, tile.y): tile.face for tile in state.city.tiles} == {(0, 0): "rgbt", (x, y): face}


def test_red_does_not_match_beige_although_both_are_streets() -> None:
    state = pos.position(LONE, hands=[["tttt"], []])
    assert pos.legal(state, "attach") == ["attach(face=tttt,x=-1,y=0)"]
    with pytest.raises(IllegalAction, match=r"does not match the neighbours of cell \(0, 1\)"):
        state.apply({0: Attach("tttt", 0, 1)})


def test_a_tile_may_be_turned_but_not_flipped() -> None:
    """The four ways in which bgrt fits one of the four sides; its mirror image btrg would fit as btrg and rgbt."""
    state = pos.position(LONE, hands=[["bgrt"], []])
    assert pos.legal(state, "attach") == [
        "attach(face=bgrt,x=0,y=-1)",
        "attach(face=rtbg,x=-1,y=0)",
        "attach(face=rtbg,x=1,y=0)",
        "attach(face=bgrt,x=0,y=1)",
    ]


def test_every_side_of_a_hole_must_match() -> None:
    """The hole of this map has red in the north, water in the east, park in the south, red in the west."""
    state = pos.position(HOLE, hands=[["brgr", "rrrr", "bgrr"], []])
    in_hole = [text for text in pos.legal(state, "attach") if text.endswith("x=1,y=1)")]
    assert in_hole == ["attach(face=rbgr,x=1,y=1)"]


def test_holes_may_be_filled() -> None:
    state = pos.position(HOLE, hands=[["bgrr"], []])
    pos.act(state, "attach(face=rbgr,x=1,y=1)")
    assert len(state.city.tiles) == 9


def test_touching_a_corner_only_is_not_attaching() -> None:
    state = pos.position(pos.grid(1, 1), hands=[["tttt"], []])
    assert pos.legal(state, "attach") == [
        f"attach(face=tttt,x={x},y={y})" for x, y in ((0, -1), (-1, 0), (1, 0), (0, 1))
    ]
    with pytest.raises(IllegalAction, match=r"\(1, 1\) is not a free cell beside the map"):
        state.apply({0: Attach("tttt", 1, 1)})


def test_rotations_are_distinct_actions_where_they_look_different() -> None:
    state = pos.position(LONE, hands=[["rttt"], []])
    west = [text for text in pos.legal(state, "attach") if text.endswith("x=-1,y=0)")]
    assert west == [f"attach(face={face},x=-1,y=0)" for face in ("rttt", "ttrt", "tttr")]


@pytest.mark.parametrize(
    ("action", "said"),
    [
        (Attach("rttr", -1, 0), "no tile in hand lies as 'rttr'"),
        (Attach("bbbb", -1, 0), "no tile in hand lies as 'bbbb'"),
        (Attach("zzzz", -1, 0), "no tile in hand lies as 'zzzz'"),
        (Attach("", -1, 0), "no tile in hand lies as ''"),
        (Attach("tttt", 0, 0), "not a free cell beside the map"),
        (Attach("tttt", 5, 5), "not a free cell beside the map"),
        (Attach("tttt", 10**6, 0), "not a free cell beside the map"),
        (Attach("tttt", True, 0), "not a free cell beside the map"),
        (Attach("tttt", -1.0, 0), "not a free cell beside the map"),  # type: ignore[arg-type]
        (Attach(["tttt"], -1, 0), "no tile in hand"),  # type: ignore[arg-type]
    ],
)
def test_an_attachment_that_is_not_possible_is_refused_and_changes_nothing(action: Any, said: str) -> None:
    state = pos.position(LONE, hands=[["tttt"], ["rrtt"]])
    before = state.to_dict()
    with pytest.raises(IllegalAction, match=said):
        state.apply({0: action})
    assert state.to_dict() == before


def test_one_of_two_equal_tiles_is_used_up() -> None:
    state = pos.position(LONE, hands=[["rttt", "rttt", "tttt"], []])
    pos.act(state, "attach(face=tttr,x=-1,y=0)")
    assert state.observation(0).hands[0] == ("rttt", "tttt")


def test_actions_are_ordered_by_name_then_from_south_then_west_then_by_face() -> None:
    state = pos.position(LONE.replace("==", "--").replace("~~", "--").replace(":", "|"), hands=[["tttt", "rrtt"], []])
    assert pos.legal(state, "attach") == [
        *(f"attach(face={face},x=0,y=-1)" for face in ("trrt", "ttrr")),
        *(f"attach(face={face},x=-1,y=0)" for face in ("rttr", "ttrr")),
        *(f"attach(face={face},x=1,y=0)" for face in ("rrtt", "trrt")),
        *(f"attach(face={face},x=0,y=1)" for face in ("rrtt", "rttr")),
        *(f"attach(face=tttt,x={x},y={y})" for x, y in ((0, -1), (-1, 0), (1, 0), (0, 1))),
    ]


# Placing vehicles on vertices that a tile completes


FILL = "attach(face=tttt,x=1,y=1)"


@pytest.fixture
def filled() -> Any:
    """Seat 0 has just filled the hole of a 3 x 3 map: four vertices at once."""
    state = pos.position(pos.grid(3, 3, (1, 1)), hands=[["tttt", "tttt"], []])
    pos.act(state, FILL)
    return state


def test_one_tile_opens_up_to_four_vertices(filled: Any) -> None:
    assert pos.asked(filled) == (0, "place")
    assert pos.legal(filled) == [
        "decline()",
        *(f"place(vehicle={kind},x={x},y={y})" for y in (1, 2) for x in (1, 2) for kind in ("taxi", "truck")),
    ]
    assert filled.observation(1).open_vertices == ((1, 1), (2, 1), (1, 2), (2, 2))


def test_each_of_them_takes_a_taxi_or_a_truck_from_the_supply(filled: Any) -> None:
    for text in ("vehicle=truck,x=2,y=2", "vehicle=taxi,x=1,y=1", "vehicle=truck,x=1,y=2", "vehicle=truck,x=2,y=1"):
        pos.act(filled, f"place({text})")
    assert pos.on_map(filled) == {(2, 2): "T0", (1, 1): "t0", (1, 2): "T0", (2, 1): "T0"}
    assert (filled.fleet.taxis, filled.fleet.trucks) == ((7, 8), (0, 3))
    assert pos.asked(filled) == (0, "turn")


def test_placing_is_no_action_of_the_turn(filled: Any) -> None:
    pos.act(filled, "place(vehicle=taxi,x=1,y=1)", "decline()")
    assert filled.used == "A"
    assert "attach" in {action.KIND for action in filled.legal_actions(0)}


def test_after_declining_the_vertices_are_lost_for_placing(filled: Any) -> None:
    assert pos.act(filled, "decline()") == [Declined(0, "place")]
    assert pos.asked(filled) == (0, "turn")
    pos.act(filled, "attach(face=tttt,x=3,y=1)")
    assert pos.asked(filled) == (1, "turn")


def test_one_may_place_on_some_and_decline_the_rest(filled: Any) -> None:
    pos.act(filled, "place(vehicle=taxi,x=2,y=1)")
    assert filled.observation(0).open_vertices == ((1, 1), (1, 2), (2, 2))
    pos.act(filled, "decline()")
    assert pos.on_map(filled) == {(2, 1): "t0"}


def test_the_second_tile_of_a_turn_opens_vertices_too_and_the_turn_ends_after_placing() -> None:
    state = pos.position(pos.grid(2, 2, (1, 1)), hands=[["tttt", "tttt"], []])
    events = pos.act(state, "attach(face=tttt,x=2,y=0)", FILL)
    assert events == [Attached(0, "tttt", 2, 0), Attached(0, "tttt", 1, 1)]
    assert state.observation(0).open_vertices == ((1, 1),)
    assert pos.act(state, "place(vehicle=truck,x=1,y=1)") == [Placed(0, "truck", 1, 1), TurnEnded(0)]


def test_with_an_empty_supply_of_one_kind_only_the_other_is_offered() -> None:
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
def test_a_vehicle_needs_a_vertex_with_a_street_and_a_dead_end_will_do(tile: str, face: str, segments: int) -> None:
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


# The end, points and ranks


ALL_BUT_ONE = {2: "t0t0t0t0t0t0t0T0T0T0", 3: "t0t0t0t0T0T0", 4: "t0t0t0T0T0"}


def spread(pieces: str, y: int) -> dict[tuple[int, int], str]:
    return {(x, y): pieces[2 * x - 2 : 2 * x] for x in range(1, len(pieces) // 2 + 1)}


def nearly_done(players: int, **options: Any) -> Any:
    """Seat 0 needs one more taxi; it can place it on (3, 3), where row 3 has taxis of others."""
    vehicles = spread(ALL_BUT_ONE[players], 1) | {(6, 3): "t1", (7, 3): "t1"}
    hole = pos.grid(12, 4, (3, 3))
    return pos.position(hole, vehicles, players=players, hands=[["tttt"], *[[]] * (players - 1)], options=options)


LAY = "attach(face=tttt,x=3,y=3)"


@pytest.mark.parametrize("players", [2, 3, 4])
def test_who_places_the_last_vehicle_wins_at_once(players: int) -> None:
    state = nearly_done(players)
    events = pos.act(state, LAY, "place(vehicle=taxi,x=3,y=3)")
    assert events[-2:] == [Placed(0, "taxi", 3, 3), Finished("all_placed")]
    assert state.is_terminal()
    assert state.decisions() == ()
    assert state.returns() == ({2: 14, 3: 9, 4: 8}[players], 2, *[0] * (players - 2))
    assert state.ranking() == {2: (1, 2), 3: (1, 2, 3), 4: (1, 2, 3, 3)}[players]


def test_vehicles_thrown_back_must_be_placed_again_for_the_instant_win() -> None:
    """Seat 1 has placed all but one before; one was thrown out, so two are missing."""
    state = nearly_done(4)
    assert state.fleet.taxis[0] == 1
    vehicles = {at: piece for at, piece in pos.on_map(state).items() if at != (1, 1)}
    again = pos.position(pos.grid(12, 4, (3, 3)), vehicles, players=4, hands=[["tttt"], [], [], []])
    pos.act(again, LAY, "place(vehicle=taxi,x=3,y=3)")
    assert not again.is_terminal()


def test_the_instant_win_can_come_on_any_of_several_placements() -> None:
    vehicles = spread(ALL_BUT_ONE[4], 1)
    state = pos.position(pos.grid(8, 6, (4, 3)), vehicles, players=4, hands=[["tttt"], [], [], []])
    pos.act(state, "attach(face=tttt,x=4,y=3)", "place(vehicle=taxi,x=5,y=4)")
    assert state.is_terminal()
    assert state.observation(0).open_vertices == ()


def test_the_last_tile_drawn_starts_the_final_round_and_its_drawer_plays_last() -> None:
    state = pos.position(pos.grid(2, 2), players=3, stock={"tttt": 1}, seat=1)
    pos.act(state, "draw()")
    events = [event.public for event in state.apply_chance("tttt")]
    assert events[1:] == [TurnEnded(1), FinalRound(2, "stock")]
    seen = state.observation(None)
    assert seen.final_round
    assert seen.owed == (0, 1, 2)
    turns = []
    while not state.is_terminal():
        turns.append(state.turn_seat)
        assert "draw()" not in pos.legal(state)
        pos.act(state, "end_turn()")
    assert turns == [2, 0, 1]


def test_in_the_final_round_hand_tiles_and_rides_may_be_used() -> None:
    state = pos.position(
        pos.grid(4, 3), {(1, 1): "t0"}, hands=[["tttt"], []], stock={}, final=True, owed=[0, 1], seat=0
    )
    assert {action.KIND for action in state.legal_actions(0)} == {"end_turn", "attach", "taxi"}
    pos.act(state, "attach(face=tttt,x=4,y=0)", "taxi(x=1,y=1,to_x=2,to_y=2)")
    assert pos.asked(state) == (1, "turn")


def test_the_instant_win_still_applies_in_the_final_round() -> None:
    vehicles = spread(ALL_BUT_ONE[4], 1)
    drawing = pos.grid(8, 6, (4, 3))
    state = pos.position(drawing, vehicles, players=4, hands=[["tttt"], [], [], []], stock={}, final=True, owed=[0, 1])
    events = pos.act(state, "attach(face=tttt,x=4,y=3)", "place(vehicle=taxi,x=5,y=4)")
    assert events[-1] == Finished("all_placed")


def test_after_the_final_round_most_points_win_and_hand_tiles_are_worthless() -> None:
    vehicles = {(1, 1): "T1", (2, 1): "t1", (1, 2): "t0", (2, 2): "T2"}
    state = pos.position(
        pos.grid(3, 3), vehicles, players=3, hands=[["tttt"] * 9, [], []], stock={}, final=True, owed=[2], seat=2
    )
    assert pos.act(state, "end_turn()") == [TurnEnded(2), Finished("final_round")]
    assert state.returns() == (1, 3, 2)
    assert state.ranking() == (3, 1, 2)


@pytest.mark.parametrize(
    ("vehicles", "ranking"),
    [
        ({}, (1, 1, 1)),
        ({(1, 1): "T0", (2, 1): "T1"}, (1, 1, 3)),
        ({(1, 1): "T0", (2, 1): "t1", (1, 2): "t2"}, (1, 2, 2)),
        ({(1, 1): "T0", (2, 1): "t1", (1, 2): "t1"}, (1, 1, 3)),
    ],
)
def test_equal_points_share_the_rank(vehicles: Any, ranking: tuple[int, ...]) -> None:
    state = pos.position(pos.grid(3, 3), vehicles, players=3, stock={}, final=True, owed=[0])
    pos.act(state, "end_turn()")
    assert state.ranking() == ranking


def test_nothing_is_legal_after_the_end() -> None:
    state = pos.position(pos.grid(3, 3), stock={}, final=True, owed=[0])
    pos.act(state, "end_turn()")
    assert state.is_terminal()
    assert state.decisions() == ()
    assert state.legal_actions(0) == state.legal_actions(1) == ()
    assert list(state.chance_outcomes()) == []


@pytest.mark.parametrize("players", [2, 3, 4])
def test_matches_stay_within_the_proven_number_of_decisions(players: int) -> None:
    from referee.games.manhattan_traffiq import GAME

    for given in ({}, {"no_progress_rounds": 0, "turn_limit": 40}, {"no_progress_rounds": 1}):
        asked = []
        wander(players, options(**given), 3, visit=lambda state, asked=asked: asked.extend(state.decisions()))
        assert len(asked) <= GAME.max_decisions(players, options(**given))


# Leaving


PLACE = "attach(face=tttt,x=1,y=1)"


def public(events: Any) -> list[Any]:
    return [event.public for event in events]


def test_its_vehicles_return_to_its_supply_and_its_hand_is_set_aside_unseen() -> None:
    hands = [["tttt"], ["rrrr", "gggg"], []]
    state = pos.position(pos.grid(4, 4), {(1, 1): "t1", (2, 2): "T1", (3, 3): "t0"}, players=3, hands=hands)
    before = GAME.conserved(state)
    assert public(state.withdraw(1)) == [Withdrew(1)]
    assert pos.on_map(state) == {(3, 3): "t0"}
    seen = state.observation(0)
    assert (seen.fleet.taxis[1], seen.fleet.trucks[1], seen.fleet.scores[1]) == (5, 2, 0)
    assert (seen.hands[1], seen.hand_sizes[1], seen.facts.left) == ((), 2, (1,))
    assert GAME.conserved(state) == before


def test_the_others_play_on_without_it() -> None:
    state = pos.position(pos.grid(2, 2), players=3)
    state.withdraw(1)
    pos.act(state, "end_turn()")
    assert pos.asked(state) == (2, "turn")
    pos.act(state, "end_turn()")
    assert pos.asked(state) == (0, "turn")


def test_vertices_it_held_are_free_again() -> None:
    state = pos.position(pos.grid(4, 2), {(1, 1): "t0", (2, 1): "t1"}, players=3)
    assert pos.legal(state, "taxi") == []
    state.withdraw(1)
    assert len(pos.legal(state, "taxi")) == 2


@pytest.mark.parametrize("kind", ["turn", "second action", "place", "compete", "draw"])
def test_the_active_seat_can_leave_at_any_point_of_its_turn(kind: str) -> None:
    vehicles = {(3, 1): "t1", (3, 3): "T0"}
    state = pos.position(pos.grid(4, 4, (1, 1)), vehicles, players=3, hands=[["tttt", "tttt"], [], []])
    moves = {
        "turn": [],
        "second action": ["attach(face=tttt,x=4,y=0)"],
        "place": [PLACE],
        "compete": [PLACE, "place(vehicle=truck,x=1,y=1)"],
        "draw": ["draw()"],
    }
    pos.act(state, *moves[kind])
    before = GAME.conserved(state)
    assert public(state.withdraw(0)) == [Withdrew(0), TurnEnded(0)]
    assert pos.asked(state) == (1, "turn")
    seen = state.observation(None)
    assert (seen.used, seen.open_vertices, seen.spot, seen.streets, seen.turns) == ("", (), None, (), 1)
    assert GAME.conserved(state) == before


def test_a_competing_decision_that_has_lost_its_object_is_taken_back() -> None:
    state = pos.position(pos.grid(5, 5), {(2, 3): "T0", (4, 2): "t1", (2, 1): "t2"}, players=3)
    pos.act(state, "truck(x=2,y=3,to_x=2,to_y=2)")
    assert state.observation(0).streets == ("h", "v")
    state.withdraw(1)
    assert pos.asked(state) == (0, "compete")
    assert pos.legal(state) == ["decline()", "compete(streets=[v])"]
    state.withdraw(2)
    assert state.is_terminal()
    other = pos.position(pos.grid(5, 5), {(2, 3): "T0", (4, 2): "t1"}, players=3)
    pos.act(other, "truck(x=2,y=3,to_x=2,to_y=2)")
    other.withdraw(1)
    assert pos.asked(other) == (0, "turn")


def test_a_placing_decision_of_another_seat_stays() -> None:
    state = pos.position(pos.grid(3, 3, (1, 1)), players=3, hands=[["tttt"], [], []])
    pos.act(state, PLACE)
    state.withdraw(2)
    assert pos.asked(state) == (0, "place")


def test_while_hands_are_dealt_it_gets_no_more_tiles() -> None:
    state = GAME.new_initial_state(3, options(start_player="seat_0"))
    state.apply_chance(state.chance_outcomes()[0][0])
    state.withdraw(0)
    while state.chance_outcomes():
        state.apply_chance(state.chance_outcomes()[0][0])
    assert state.observation(None).hand_sizes == (1, 2, 2)
    assert state.decisions()[0].seat == 1
    assert state.observation(None).facts.start_seat == 1


def test_before_the_start_player_is_known_it_cannot_become_it() -> None:
    state = GAME.new_initial_state(3, options())
    state.withdraw(1)
    assert list(state.chance_outcomes()) == [(0, 1), (2, 1)]
    with pytest.raises(IllegalAction):
        state.apply_chance(1)


def test_a_seat_with_a_full_hand_leaving_ends_the_deal_if_it_was_the_last() -> None:
    state = GAME.new_initial_state(3, options(start_player="seat_0"))
    for _ in range(5):
        state.apply_chance(state.chance_outcomes()[0][0])
    state.withdraw(2)
    assert state.decisions()[0].seat == 0


def test_the_count_of_idle_rounds_is_over_the_seats_in_play() -> None:
    state = pos.position(pos.grid(2, 2), players=3)
    pos.act(state, "end_turn()")
    state.withdraw(2)
    pos.act(state, "end_turn()", "end_turn()")
    assert pos.act(state, "end_turn()")[-1] == FinalRound(0, "no_progress")


def test_in_the_final_round_it_is_owed_nothing_any_more() -> None:
    state = pos.position(pos.grid(2, 2), players=3, stock={}, final=True, owed=[0, 1, 2])
    state.withdraw(1)
    assert state.observation(None).owed == (0, 2)
    pos.act(state, "end_turn()")
    assert pos.asked(state) == (2, "turn")
    assert pos.act(state, "end_turn()")[-1] == Finished("final_round")


def test_the_last_seat_owed_a_turn_leaves_and_the_match_is_over() -> None:
    state = pos.position(pos.grid(2, 2), players=3, stock={}, final=True, owed=[2], seat=2)
    assert public(state.withdraw(2)) == [Withdrew(2), TurnEnded(2), Finished("final_round")]


def test_the_drawer_of_the_last_tile_may_leave_before_its_draw_is_done() -> None:
    state = pos.position(pos.grid(2, 2), players=3, stock={"tttt": 1})
    pos.act(state, "draw()")
    state.withdraw(0)
    assert state.observation(None).stock == 1
    assert not state.observation(None).final_round


def test_when_one_seat_is_left_the_match_is_over_and_that_seat_has_won() -> None:
    state = pos.position(pos.grid(3, 3), {(1, 1): "T0", (2, 2): "t2"}, players=3)
    state.withdraw(0)
    assert public(state.withdraw(1)) == [Withdrew(1), Finished("last_seat")]
    assert state.ranking() == (3, 2, 1)
    assert state.returns() == (0, 0, 1)


def test_seats_that_left_rank_last_in_order_of_leaving() -> None:
    state = pos.position(pos.grid(3, 3), {(1, 1): "T0", (2, 2): "t2"}, players=4, stock={}, final=True, owed=[1])
    state.withdraw(2)
    state.withdraw(0)
    pos.act(state, "end_turn()") if state.seat == 1 else None
    while not state.is_terminal():
        pos.act(state, "end_turn()")
    assert state.ranking() == (3, 1, 4, 1)


@pytest.mark.parametrize("seat", [3, -1, "0", True])
def test_only_a_seat_of_the_match_can_leave(seat: Any) -> None:
    state = pos.position(pos.grid(2, 2), players=3)
    with pytest.raises(IllegalAction, match="is not in the match"):
        state.withdraw(seat)


def test_nobody_leaves_twice_or_after_the_end() -> None:
    state = pos.position(pos.grid(2, 2), players=3)
    state.withdraw(1)
    with pytest.raises(IllegalAction, match="seat 1 is not in the match"):
        state.withdraw(1)
    state.withdraw(0)
    with pytest.raises(IllegalAction, match="the match is over"):
        state.withdraw(2)


@pytest.mark.parametrize("players", [3, 4])
@pytest.mark.parametrize("seed", range(6))
def test_matches_end_in_order_whoever_leaves_at_whatever_node(players: int, seed: int) -> None:
    rng = Random(seed)
    state = GAME.new_initial_state(players, options())
    things = GAME.conserved(state)
    left: list[int] = []
    while not state.is_terminal():
        playing = [seat for seat in range(players) if seat not in left]
        if rng.random() < 0.02:
            left.append(rng.choice(playing))
            state.withdraw(left[-1])
        elif state.decisions():
            assert state.seat not in left
            state.apply({state.seat: rng.choice(state.legal_actions(state.seat))})
        else:
            state.apply_chance(random_outcome(state.chance_outcomes(), rng))
        assert GAME.conserved(state) == things
    ranks = state.ranking()
    assert [ranks[seat] for seat in left] == list(range(players, players - len(left), -1))
