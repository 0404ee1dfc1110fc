"""Building instead of moving (sheet section 4 B)."""

from typing import Any

import pytest

from referee.games.api import Decision, Draw, IllegalAction
from referee.games.shibuya.actions import Build, Move, Pass, Place
from referee.games.shibuya.events import BuildChosen, TileDrawn, TilePlaced

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


def test_building_goes_choose_draw_place(pos: Any) -> None:
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


def test_the_new_tile_covers_the_whole_tile_of_its_slot(pos: Any) -> None:
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


def test_the_drawn_tile_may_be_turned(pos: Any) -> None:
    state = pos.position(STREETS, stock=("ko kq wo wq",))
    state.apply({0: Build()})
    state.apply_chance(1)
    assert {action.turn for action in state.legal_actions(0)} == {0, 1, 2, 3}
    strict = pos.position(STREETS, stock=("ko kq wo wq",), tile_rotation=False)
    strict.apply({0: Build()})
    strict.apply_chance(1)
    assert {action.turn for action in strict.legal_actions(0)} == {0}


def test_no_tile_goes_where_a_pedestrian_of_either_colour_stands(pos: Any) -> None:
    state = pos.position(STREETS)
    state.apply({0: Build()})
    state.apply_chance(state.chance_outcomes()[0][0])
    assert slots(state) == set(range(16)) - {RED_SLOT, BLUE_SLOT}
    for slot in (RED_SLOT, BLUE_SLOT):
        with pytest.raises(IllegalAction):
            state.apply({0: Place(slot, 0)})


def test_there_is_never_a_third_layer(pos: Any) -> None:
    state = pos.position(STREETS, doubled=(0, 7))
    state.apply({0: Build()})
    state.apply_chance(state.chance_outcomes()[0][0])
    assert slots(state) == set(range(16)) - {RED_SLOT, BLUE_SLOT, 0, 7}
    with pytest.raises(IllegalAction):
        state.apply({0: Place(7, 0)})


def test_building_ends_with_the_stock(pos: Any) -> None:
    state = pos.position(STREETS, doubled=tuple(range(2, 16)))
    assert sum(state.observation(None).stock) == 0
    assert Build() not in state.legal_actions(0)
    with pytest.raises(IllegalAction):
        state.apply({0: Build()})


def test_building_is_not_possible_when_every_slot_is_doubled_or_occupied(pos: Any) -> None:
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


def test_once_drawn_the_tile_must_be_placed(pos: Any) -> None:
    state = pos.position(STREETS)
    state.apply({0: Build()})
    for action in (Move(19, 20), Build(), Pass()):
        with pytest.raises(IllegalAction):
            state.apply({0: action})
    state.apply_chance(state.chance_outcomes()[0][0])
    for action in (Move(19, 20), Build(), Pass()):
        with pytest.raises(IllegalAction):
            state.apply({0: action})


def test_a_match_sees_fourteen_builds_at_most(pos: Any) -> None:
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


def test_a_new_tile_changes_the_ways(pos: Any) -> None:
    state = pos.position(STREETS, stock=("ko ko ko ko",))
    assert (3, 0) in pos.ends(state, (3, 2))
    state.apply({0: Build()})
    state.apply_chance(1)
    state.apply({0: Place(1, 0)})
    state.apply({1: state.legal_actions(1)[0]})
    assert not {(2, 0), (3, 0), (2, 1), (3, 1)} & pos.ends(state, (3, 2))


def test_moving_or_building_is_compulsory(pos: Any) -> None:
    state = pos.position(STREETS)
    assert Pass() not in state.legal_actions(0)
    with pytest.raises(IllegalAction):
        state.apply({0: Pass()})
