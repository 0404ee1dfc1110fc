"""Phase 1, street building (sheet section 3)."""

from random import Random
from typing import Any

import pytest

from referee.games.api import Draw, IllegalAction
from referee.games.shibuya import GAME
from referee.games.shibuya.actions import Build, Move, Pass, Place
from referee.games.shibuya.events import TileDrawn, TilePlaced


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
