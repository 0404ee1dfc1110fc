"""Both phases, building, the end, teams, the variant, and leaving."""

from random import Random
from typing import Any

import pytest

from referee.games.api import Decision, Draw, IllegalAction
from referee.games.shibuya import GAME
from referee.games.shibuya.actions import Build, Move, Pass, Place
from referee.games.shibuya.events import BuildChosen, Finished, Passed, TileDrawn, TilePlaced, Withdrew

from . import positions as pos
from .positions import wander

# Street building


def build_all(state: Any, seed: int = 1) -> list[int]:
    """Play the building phase at random; the seats that placed, in order."""
    rng = Random(seed)
    seats = []
    while state.phase in ("draw_place", "place"):
        if state.decisions():
            seats.append(state.turn_seat)
            state.apply({state.turn_seat: rng.choice(state.legal_actions(state.turn_seat))})
        else:
            state.apply_chance(rng.choice(state.chance_outcomes())[0])
    return seats


def kind_of(*looks: str, tile_set: str = "M") -> int:
    return next(
        kind
        for kind, tile in enumerate(GAME.default_data()["tile_sets"][tile_set]["tiles"])
        if tuple(tile["fields"]) == looks
    )


@pytest.mark.parametrize("players", [2, 4])
def test_after_sixteen_placements_in_turn_the_start_player_opens_the_crossing(players: int) -> None:
    state = GAME.new_initial_state(players, {})
    assert build_all(state) == [seat % players for seat in range(16)]
    assert (state.phase, state.turn_seat) == ("turn", 0)
    assert sum(state.observation(None).stock) == 14
    assert all(state.to_dict()["tops"])
    assert not any(state.to_dict()["covered"])


@pytest.mark.parametrize("players", [2, 4])
def test_the_other_side_opens_the_crossing_by_option(players: int) -> None:
    state = GAME.new_initial_state(players, {"start_player_begins_crossing_phase": False})
    build_all(state)
    assert state.turn_seat == 1


def test_the_draw_is_one_deck_of_tile_kinds_with_their_numbers() -> None:
    state = GAME.new_initial_state(2, {"tile_set": "F"})
    assert state.chance_stream() == Draw("tiles", 0)
    assert state.chance_outcomes() == [(kind, 5) for kind in range(6)]
    state.apply_chance(2)
    state.apply({0: state.legal_actions(0)[0]})
    assert dict(state.chance_outcomes()) == {0: 5, 1: 5, 2: 4, 3: 5, 4: 5, 5: 5}


def test_a_kind_that_is_used_up_is_not_drawn_any_more() -> None:
    state = GAME.new_initial_state(2, {})
    state.apply_chance(7)
    state.apply({0: state.legal_actions(0)[0]})
    assert 7 not in dict(state.chance_outcomes())
    with pytest.raises(IllegalAction, match="no tile 7"):
        state.apply_chance(7)


def test_the_drawn_tile_goes_to_any_empty_slot_in_any_turn() -> None:
    state = GAME.new_initial_state(2, {})
    state.apply_chance(kind_of("ko", "ko", "wq", "kq"))
    assert state.legal_actions(0) == [Place(slot, turn) for slot in range(16) for turn in range(4)]
    state.apply({0: Place(5, 2)})
    state.apply_chance(kind_of("ko", "ko", "wq", "wo"))
    assert {action.slot for action in state.legal_actions(1)} == set(range(16)) - {5}
    with pytest.raises(IllegalAction):
        state.apply({1: Place(5, 0)})


def test_a_turn_is_a_quarter_clockwise() -> None:
    state = GAME.new_initial_state(2, {})
    state.apply_chance(kind_of("ko", "ko", "wq", "kq"))
    state.apply({0: Place(0, 1)})
    looks = state.observation(None).looks
    top_left, top_right, bottom_right, bottom_left = looks[8], looks[9], looks[1], looks[0]
    assert (top_left, top_right, bottom_right, bottom_left) == (2, 1, 1, 4)  # kq ko ko wq


@pytest.mark.parametrize(
    ("looks", "ways"),
    [(("ko", "ko", "wq", "wq"), 4), (("ko", "wq", "ko", "wq"), 2), (("kq", "wo", "kq", "wo"), 2)],
)
def test_turns_that_look_the_same_on_a_slot_are_one_action(looks: tuple[str, ...], ways: int) -> None:
    state = GAME.new_initial_state(2, {"tile_set": "D"})
    state.apply_chance(kind_of(*looks, tile_set="D"))
    assert state.legal_actions(0) == [Place(slot, turn) for slot in range(16) for turn in range(ways)]


def test_a_uniform_tile_can_be_laid_in_one_way() -> None:
    state = GAME.new_initial_state(2, {"tile_set": "X"})
    state.apply_chance(kind_of("ko", "ko", "ko", "ko", tile_set="X"))
    assert state.legal_actions(0) == [Place(slot, 0) for slot in range(16)]


def test_without_rotation_a_tile_lies_as_the_data_lists_it() -> None:
    state = GAME.new_initial_state(2, {"tile_rotation": False})
    state.apply_chance(kind_of("ko", "ko", "wq", "kq"))
    assert state.legal_actions(0) == [Place(slot, 0) for slot in range(16)]
    with pytest.raises(IllegalAction):
        state.apply({0: Place(0, 1)})


@pytest.mark.parametrize("action", [Move(64, 0), Build(), Pass()])
def test_nothing_but_placing_is_possible(action: Any) -> None:
    state = GAME.new_initial_state(2, {})
    state.apply_chance(0)
    with pytest.raises(IllegalAction):
        state.apply({0: action})


def test_everyone_sees_what_is_drawn_and_placed() -> None:
    state = GAME.new_initial_state(2, {})
    (drawn,) = state.apply_chance(4)
    (placed,) = state.apply({0: Place(3, 1)})
    for viewer in (None, 0, 1):
        assert drawn.seen_by(viewer) == TileDrawn(0, 4)
        assert placed.seen_by(viewer) == TilePlaced(0, 4, 3, 1, False)


# Building instead of moving


STREETS = """
wq wq wq wq wq wq wq wq
wq wq wq wq wq wq wq wq
wq wq wqB wq wq wq wq wq
wq wq wq wq wq wq wq wq
wq wq wq wq wq wq wq wq
wq wq wq wqR wq wq wq wq
wq wq wq wq wq wq wq wq
wq wq wq wq wq wq wq wq
"""
RED_SLOT = 1 + 4 * 1  # (3, 2)
BLUE_SLOT = 1 + 4 * 2  # (2, 5)


def slots(state: Any) -> set[int]:
    return {action.slot for action in state.legal_actions(state.turn_seat)}


def test_building_goes_choose_draw_place() -> None:
    state = pos.position(STREETS, stock=("ko kq wo wq",))
    assert state.decisions() == (Decision(0, "turn"),)
    (chosen,) = state.apply({0: Build()})
    assert chosen.public == BuildChosen(0)
    assert (state.decisions(), state.turn_seat) == ((), 0)
    assert state.chance_stream() == Draw("tiles", 0)
    assert state.chance_outcomes() == [(1, 1), (2, 13)]
    (drawn,) = state.apply_chance(1)
    assert drawn.public == TileDrawn(0, 1)
    assert state.decisions() == (Decision(0, "build"),)
    (placed,) = state.apply({0: Place(0, 3)})
    assert placed.public == TilePlaced(0, 1, 0, 3, True)
    assert (state.turn_seat, state.phase, state.turns) == (1, "turn", 1)


def test_the_new_tile_covers_the_whole_tile_of_its_slot() -> None:
    state = pos.position(STREETS, stock=("ko kq wo wq",))
    state.apply({0: Build()})
    state.apply_chance(1)
    before = state.observation(None)
    state.apply({0: Place(0, 0)})
    after = state.observation(None)
    changed = {field for field in range(64) if before.looks[field] != after.looks[field]}
    assert changed == {8, 9, 1}  # ko kq wo, clockwise from the top left; the fourth is a white square again
    assert after.covered[0] == before.tops[0]
    assert after.tops[0] == 1 + 4 * 1
    assert after.covered[1:] == before.covered[1:]


def test_the_drawn_tile_may_be_turned() -> None:
    state = pos.position(STREETS, stock=("ko kq wo wq",))
    state.apply({0: Build()})
    state.apply_chance(1)
    assert {action.turn for action in state.legal_actions(0)} == {0, 1, 2, 3}
    strict = pos.position(STREETS, stock=("ko kq wo wq",), tile_rotation=False)
    strict.apply({0: Build()})
    strict.apply_chance(1)
    assert {action.turn for action in strict.legal_actions(0)} == {0}


def test_no_tile_goes_where_a_pedestrian_of_either_colour_stands() -> None:
    state = pos.position(STREETS)
    state.apply({0: Build()})
    state.apply_chance(state.chance_outcomes()[0][0])
    assert slots(state) == set(range(16)) - {RED_SLOT, BLUE_SLOT}
    for slot in (RED_SLOT, BLUE_SLOT):
        with pytest.raises(IllegalAction):
            state.apply({0: Place(slot, 0)})


def test_there_is_never_a_third_layer() -> None:
    state = pos.position(STREETS, doubled=(0, 7))
    state.apply({0: Build()})
    state.apply_chance(state.chance_outcomes()[0][0])
    assert slots(state) == set(range(16)) - {RED_SLOT, BLUE_SLOT, 0, 7}
    with pytest.raises(IllegalAction):
        state.apply({0: Place(7, 0)})


def test_building_ends_with_the_stock() -> None:
    state = pos.position(STREETS, doubled=tuple(range(2, 16)))
    assert sum(state.observation(None).stock) == 0
    assert Build() not in state.legal_actions(0)
    with pytest.raises(IllegalAction):
        state.apply({0: Build()})


def test_building_is_not_possible_when_every_slot_is_doubled_or_occupied() -> None:
    others = tuple(slot for slot in range(16) if slot not in (RED_SLOT, BLUE_SLOT, 0))
    with_room = pos.position(STREETS, doubled=others)
    assert Build() in with_room.legal_actions(0)
    lines = STREETS.strip().splitlines()
    lines[-1] = lines[-1].replace("wq", "wqB", 1)  # a third pedestrian, on slot 0
    full = pos.position("\n".join(lines), doubled=others)
    assert sum(full.observation(None).stock) == 1
    assert Build() not in full.legal_actions(0)
    with pytest.raises(IllegalAction):
        full.apply({0: Build()})


def test_once_drawn_the_tile_must_be_placed() -> None:
    state = pos.position(STREETS)
    state.apply({0: Build()})
    for action in (Move(19, 20), Build(), Pass()):
        with pytest.raises(IllegalAction):
            state.apply({0: action})
    state.apply_chance(state.chance_outcomes()[0][0])
    for action in (Move(19, 20), Build(), Pass()):
        with pytest.raises(IllegalAction):
            state.apply({0: action})


def test_a_match_sees_fourteen_builds_at_most() -> None:
    state = pos.position(pos.WHITE)
    builds = 0
    while Build() in state.legal_actions(state.turn_seat):
        state.apply({state.turn_seat: Build()})
        state.apply_chance(state.chance_outcomes()[0][0])
        state.apply({state.turn_seat: state.legal_actions(state.turn_seat)[0]})
        builds += 1
    assert builds == 14
    covered = state.to_dict()["covered"]
    assert sum(tile != 0 for tile in covered) == 14


def test_a_new_tile_changes_the_ways() -> None:
    state = pos.position(STREETS, stock=("ko ko ko ko",))
    assert (3, 0) in pos.ends(state, (3, 2))
    state.apply({0: Build()})
    state.apply_chance(1)
    state.apply({0: Place(1, 0)})
    state.apply({1: state.legal_actions(1)[0]})
    assert not {(2, 0), (3, 0), (2, 1), (3, 1)} & pos.ends(state, (3, 2))


def test_moving_or_building_is_compulsory() -> None:
    state = pos.position(STREETS)
    assert Pass() not in state.legal_actions(0)
    with pytest.raises(IllegalAction):
        state.apply({0: Pass()})


# Passing, the turn cap (R1) and winning


# Every field differs from its neighbours in colour and shape, so nobody on the grid can move. Every tile of the south
# side holds a red, every tile of the west side a blue pedestrian, so nobody can come onto it either.
STUCK = """
ko wq ko wq ko wq ko wq
wqB ko wq ko wq ko wq ko
ko wq ko wq ko wq ko wq
wqB ko wq ko wq ko wq ko
ko wq ko wq ko wq ko wq
wqB ko wq ko wq ko wq ko
koB wq ko wq ko wq ko wq
wq koR wqR ko wqR ko wqR ko
"""
# The same with four players: red on the tiles before its starts in the south and north, blue in the west and east.
STUCK_FOUR = """
ko wq ko wq ko wqR koR wq
wq ko wq ko wq ko wq koB
ko wq ko wq ko wq ko wqB
wq ko wq ko wq ko wq ko
ko wq ko wq ko wq ko wq
wqB ko wq ko wq ko wq ko
koB wq ko wq ko wq ko wq
wq koR wqR ko wq ko wq ko
"""
NO_STOCK: dict[str, Any] = {"doubled": tuple(range(14))}


def stuck(**more: Any) -> Any:
    return pos.position(STUCK, **{**NO_STOCK, **more})


def test_who_can_do_nothing_passes() -> None:
    state = stuck()
    assert list(state.legal_actions(0)) == [Pass()]
    (event,) = state.apply({0: Pass()})
    assert event.public == Passed(0)
    assert (state.turn_seat, state.turns) == (1, 1)


@pytest.mark.parametrize(
    ("red", "blue", "winner", "ranking"),
    [([1], [], 0, (1, 2)), ([1], [1, 2], 1, (2, 1)), ([2], [3], -1, (1, 1)), ([], [], -1, (1, 1))],
)
def test_when_all_pass_in_a_row_more_goals_win_and_equal_is_a_draw(
    red: list[int], blue: list[int], winner: int, ranking: tuple[int, ...]
) -> None:
    state = stuck(red_goals=red, blue_goals=blue)
    state.apply({0: Pass()})
    events = state.apply({1: Pass()})
    assert events[-1].public == Finished(winner, "all_passed")
    assert state.is_terminal()
    assert state.ranking() == ranking
    assert state.returns() == (len(red), len(blue))


def test_all_passing_is_always_a_draw_by_option() -> None:
    state = stuck(red_goals=[1], all_pass_end="draw")
    state.apply({0: Pass()})
    state.apply({1: Pass()})
    assert state.ranking() == (1, 1)


def test_it_takes_as_many_passes_in_a_row_as_there_are_seats() -> None:
    state = pos.position(STUCK_FOUR, players=4, red_goals=[1], **NO_STOCK)
    for seat in range(3):
        assert list(state.legal_actions(seat)) == [Pass()]
        state.apply({seat: Pass()})
        assert not state.is_terminal()
    assert state.apply({3: Pass()})[-1].public == Finished(0, "all_passed")
    assert state.ranking() == (1, 3, 1, 3)


def test_a_move_breaks_the_row_of_passes() -> None:
    way_out = STUCK.replace("wqB ko wq ko wq ko wq ko", "wqB kq wq ko wq ko wq ko", 1)
    state = pos.position(way_out, **NO_STOCK)
    state.apply({0: Pass()})
    pos.go(state, (0, 6), (1, 6))
    assert state.passes == 0
    state.apply({0: Pass()})
    assert not state.is_terminal()


def test_a_shut_in_side_loses_by_option() -> None:
    way_out = STUCK.replace("wqB ko wq ko wq ko wq ko", "wqB kq wq ko wq ko wq ko", 1)
    state = pos.position(way_out, seat=1, no_legal_action="lose", red_goals=[1], **NO_STOCK)
    events = pos.go(state, (0, 6), (1, 6))
    assert events[-1] == Finished(1, "blocked")
    assert state.ranking() == (2, 1)


@pytest.mark.parametrize(
    ("red", "blue", "ranking"), [([1], [], (1, 2)), ([], [1, 2], (2, 1)), ([1, 2], [1, 2], (1, 1))]
)
def test_at_the_turn_cap_more_goals_win_and_equal_is_a_draw(
    red: list[int], blue: list[int], ranking: tuple[int, ...]
) -> None:
    state = pos.position(pos.WHITE, turns=9, move_cap=10, red_goals=red, blue_goals=blue)
    events = pos.go(state, ("start", 7), (3, 3))
    assert events[-1].KIND == "finished"
    assert events[-1].reason == "move_cap"
    assert state.ranking() == ranking


def test_the_cap_counts_moves_builds_and_passes_of_all_seats_in_the_crossing_only() -> None:
    turns: list[int] = []

    def visit(state: Any) -> None:
        turns.append(state.turns)
        if state.phase in ("draw_place", "place"):
            assert state.turns == 0

    final = wander(2, {"move_cap": 12}, 5, visit)
    assert final.reason == "move_cap"
    assert final.turns == 12
    assert sorted(set(turns)) == list(range(13))


def test_the_default_cap_is_200_turns() -> None:
    ends = [wander(2, {}, seed) for seed in range(6)]
    assert {state.turns for state in ends if state.reason == "move_cap"} == {200}


@pytest.mark.parametrize(
    ("red", "blue", "reason"),
    [
        ([1, 2, 3, 4, 5], [1, 2, 3, 4], "goals"),
        ([1, 2], [], "lead"),
        ([1, 2, 3], [5], "lead"),
        ([1, 2, 3, 4], [1, 2], "lead"),
    ],
)
def test_the_sixth_pedestrian_in_goal_or_a_lead_of_three_wins_at_once(
    red: list[int], blue: list[int], reason: str
) -> None:
    state = pos.position(pos.WHITE, red_goals=red, blue_goals=blue)
    events = pos.go(state, ("start", 7), ("goal", 6))
    assert events[-1] == Finished(0, reason)
    assert state.is_terminal()
    assert state.decisions() == ()
    assert state.legal_actions(0) == state.legal_actions(1) == ()
    assert state.ranking() == (1, 2)


@pytest.mark.parametrize(("red", "blue"), [([1], []), ([1, 2], [1]), ([1, 2, 3, 4], [1, 2, 3])])
def test_fewer_do_not_win_yet(red: list[int], blue: list[int]) -> None:
    state = pos.position(pos.WHITE, red_goals=red, blue_goals=blue)
    pos.go(state, ("start", 7), ("goal", 6))
    assert not state.is_terminal()


def test_blue_wins_alike() -> None:
    state = pos.position(pos.WHITE, seat=1, red_goals=[1], blue_goals=[1, 2, 3])
    assert pos.go(state, ("start", 7), ("goal", 6))[-1] == Finished(1, "lead")
    assert state.ranking() == (2, 1)


def test_the_numbers_that_win_are_options() -> None:
    no_lead = pos.position(pos.WHITE, red_goals=[1, 2], lead_to_win=0)
    pos.go(no_lead, ("start", 7), ("goal", 6))
    assert not no_lead.is_terminal()
    two = pos.position(pos.WHITE, red_goals=[1], blue_goals=[1], goals_to_win=2)
    assert pos.go(two, ("start", 7), ("goal", 6))[-1] == Finished(0, "goals")


def test_a_win_on_the_last_turn_is_a_win_and_not_the_cap() -> None:
    state = pos.position(pos.WHITE, turns=9, move_cap=10, red_goals=[1, 2])
    assert pos.go(state, ("start", 7), ("goal", 6))[-1] == Finished(0, "lead")


# Four players in two teams


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


def test_seats_move_clockwise_south_west_north_east() -> None:
    state = pos.position(pos.WHITE, players=4)
    seats = []
    for _ in range(6):
        seats.append(state.turn_seat)
        state.apply({state.turn_seat: state.legal_actions(state.turn_seat)[-1]})  # build, which is listed last
        state.apply_chance(state.chance_outcomes()[0][0])
        state.apply({state.turn_seat: state.legal_actions(state.turn_seat)[0]})
    assert seats == [0, 1, 2, 3, 0, 1]


@pytest.mark.parametrize(("seat", "own"), [(0, {0, 1, 2, 3}), (1, {0, 1, 2, 3}), (2, {4, 5, 6, 7}), (3, {4, 5, 6, 7})])
def test_a_player_brings_only_own_pedestrians_onto_the_grid(seat: int, own: set[int]) -> None:
    state = pos.position(pos.WHITE, players=4, seat=seat)
    assert starters(state) == own
    partners = next(iter(set(range(8)) - own))
    with pytest.raises(IllegalAction):
        state.apply({seat: Move(64 + partners, 27)})


@pytest.mark.parametrize("seat", [0, 2])
def test_either_partner_moves_any_pedestrian_of_the_team_on_the_grid(seat: int) -> None:
    state = pos.position(ONE_EACH, players=4, seat=seat)
    assert pos.ends(state, (2, 2))
    assert not pos.ends(state, (5, 5))
    pos.go(state, (2, 2), (3, 4))
    assert state.to_dict()["teams"][0]["fields"] == [3 + 8 * 4]


@pytest.mark.parametrize("seat", [1, 3])
def test_the_other_team_does_not(seat: int) -> None:
    state = pos.position(ONE_EACH, players=4, seat=seat)
    assert not pos.ends(state, (2, 2))
    assert pos.ends(state, (5, 5))


@pytest.mark.parametrize("seat", [0, 1, 2, 3])
def test_the_tile_and_front_rules_are_about_the_team_colour(seat: int) -> None:
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
def test_in_layout_b_six_of_eight_goal_fields_can_be_used(seat: int) -> None:
    state = pos.position(pos.WHITE, players=4, seat=seat)
    goals = {end for start in range(8) for end in pos.ends(state, ("start", start)) if end[0] == "goal"}
    assert len(goals) == 6
    lenient = pos.position(
        pos.WHITE, players=4, seat=seat, opponent_front_rule_applies_at_corners_even_for_goal_entry=False
    )
    goals = {end for start in range(8) for end in pos.ends(lenient, ("start", start)) if end[0] == "goal"}
    assert len(goals) == 8


def test_goals_count_per_team() -> None:
    # Red has two in goal; the north partner brings the third: a lead of three.
    state = pos.position(pos.WHITE, players=4, seat=2, red_goals=[0, 1])
    goal = next(end for end in pos.ends(state, ("start", 5)) if end[0] == "goal")
    assert pos.go(state, ("start", 5), goal)[-1] == Finished(0, "lead")
    assert state.ranking() == (1, 3, 1, 3)
    assert state.returns() == (3, 0, 3, 0)


def test_a_draw_ranks_all_four_first() -> None:
    state = pos.position(pos.WHITE, players=4, turns=9, move_cap=10)
    pos.go(state, ("start", 1), (3, 3))
    assert state.ranking() == (1, 1, 1, 1)


@pytest.mark.parametrize("seat", [0, 1, 2, 3])
def test_the_team_of_a_seat_that_leaves_has_lost(seat: int) -> None:
    state = pos.position(ONE_EACH, players=4, red_goals=[1], blue_goals=[2, 3])
    state.withdraw(seat)
    assert state.is_terminal()
    assert state.ranking() == ((3, 1, 3, 1) if seat % 2 == 0 else (1, 3, 1, 3))


# The variant without building phase


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


def test_building_fills_an_empty_slot_or_covers_a_laid_tile() -> None:
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


def test_pedestrians_neither_enter_nor_pass_empty_fields() -> None:
    state = pos.position(SOME, build_phase=False)
    laid = {(x, y) for x in (2, 3) for y in range(4)} | {(x, y) for x in (4, 5) for y in range(2, 8)}
    ends = pos.ends(state, (4, 2))
    assert ends == {(x, y) for x, y in laid if y < 7} - {(4, 2)} | {("goal", 4), ("goal", 5)}
    assert pos.ends(state, ("start", 4)) == set()


def test_four_in_goal_win() -> None:
    state = pos.position(SOME, build_phase=False, red_goals=[1, 2, 3], blue_goals=[1, 2])
    assert pos.go(state, (4, 2), ("goal", 4))[-1] == Finished(0, "goals")


def test_the_lead_of_three_still_wins() -> None:
    state = pos.position(SOME, build_phase=False, red_goals=[1, 2])
    assert pos.go(state, (4, 2), ("goal", 4))[-1] == Finished(0, "lead")


def test_another_target_can_be_chosen() -> None:
    state = pos.position(SOME, build_phase=False, goals_to_win=6, red_goals=[1, 2, 3], blue_goals=[1, 2])
    pos.go(state, (4, 2), ("goal", 4))
    assert not state.is_terminal()


# Leaving


def nodes() -> dict[str, Any]:
    draw_place = GAME.new_initial_state(2, {})
    place = draw_place.clone()
    place.apply_chance(0)
    turn = GAME.new_initial_state(2, {"build_phase": False})
    draw_build = turn.clone()
    draw_build.apply({0: Build()})
    build = draw_build.clone()
    build.apply_chance(0)
    return {"draw_place": draw_place, "place": place, "turn": turn, "draw_build": draw_build, "build": build}


@pytest.mark.parametrize("phase", ["draw_place", "place", "turn", "draw_build", "build"])
@pytest.mark.parametrize("seat", [0, 1])
def test_at_any_node_the_other_player_wins(phase: str, seat: int) -> None:
    state = nodes()[phase]
    assert state.to_dict()["phase"] == phase
    before = GAME.conserved(state)
    events = [event.public for event in state.withdraw(seat)]
    assert events == [Withdrew(seat), Finished(1 - seat, "withdrawn")]
    assert state.is_terminal()
    assert state.decisions() == ()
    assert list(state.chance_outcomes()) == []
    assert state.ranking() == ((2, 1) if seat == 0 else (1, 2))
    assert GAME.conserved(state) == before
    assert GAME.state_from_dict(state.to_dict()).to_dict() == state.to_dict()


def test_who_leaves_loses_even_when_ahead() -> None:
    state = pos.position(pos.WHITE, red_goals=[1, 2])
    state.withdraw(0)
    assert state.returns() == (2, 0)
    assert state.ranking() == (2, 1)


def test_pedestrians_stay_where_they_are() -> None:
    state = pos.position(pos.WHITE.replace("wq wq", "wq wqR", 1))
    teams = state.to_dict()["teams"]
    state.withdraw(0)
    assert state.to_dict()["teams"] == teams


@pytest.mark.parametrize("seat", [-1, 2, 7])
def test_a_seat_that_does_not_exist_cannot_leave(seat: int) -> None:
    state = GAME.new_initial_state(2, {})
    with pytest.raises(IllegalAction, match="no seat"):
        state.withdraw(seat)
    assert not state.is_terminal()


@pytest.mark.parametrize("seat", [0, 1])
def test_nobody_leaves_a_finished_match(seat: int) -> None:
    state = GAME.new_initial_state(2, {})
    state.withdraw(0)
    with pytest.raises(IllegalAction, match="over"):
        state.withdraw(seat)
