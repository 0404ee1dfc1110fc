"""Copies, dictionaries and refusals of the state; what the game says of itself."""

import copy
import json
import pickle
from random import Random
from typing import Any

import pytest

from referee.games.api import DataError, state_hash
from referee.games.manhattan_traffiq import GAME

from . import positions as pos
from .positions import options, wander


def test_a_clone_goes_its_own_way() -> None:
    """Every tenth node is cloned and the clone played to the end; the original must not notice, nor the reverse."""
    rng = Random(5)
    nodes = 0

    def visit(state: Any) -> None:
        nonlocal nodes
        nodes += 1
        if nodes % 10 or state.is_terminal():
            return
        before, twin = state.to_dict(), state.clone()
        legal = state.legal_actions(state.seat) if state.decisions() else ()
        while not twin.is_terminal():
            if twin.decisions():
                twin.apply({twin.seat: rng.choice(twin.legal_actions(twin.seat))})
            else:
                twin.apply_chance(twin.chance_outcomes()[0][0])
        assert state.to_dict() == before
        assert (state.legal_actions(state.seat) if state.decisions() else ()) == legal

    wander(3, options(turn_limit=40), 6, visit)
    assert nodes > 50


@pytest.mark.parametrize("given", [{}, {"half_streets_connect": True}])
def test_playing_on_does_not_change_a_clone_taken_before(given: dict[str, Any]) -> None:
    kept: list[tuple[Any, Any, Any, Any]] = []

    def visit(state: Any) -> None:
        twin = state.clone()
        legal = twin.legal_actions(twin.seat) if len(kept) % 2 and twin.decisions() else None
        kept.append((twin, state.to_dict(), state.observation(0), legal))

    wander(2, options(turn_limit=30, **given), 4, visit)
    for twin, data, seen, legal in kept:
        assert twin.to_dict() == data
        assert twin.observation(0) == seen
        again = GAME.state_from_dict(data)
        if twin.decisions():
            assert twin.legal_actions(twin.seat) == again.legal_actions(twin.seat)
            assert legal is None or legal == again.legal_actions(twin.seat)


@pytest.mark.parametrize("players", [2, 3, 4])
def test_the_dictionary_is_json_and_brings_the_same_state_back(players: int) -> None:
    def visit(state: Any) -> None:
        data = state.to_dict()
        again = GAME.state_from_dict(json.loads(json.dumps(data)))
        assert again.to_dict() == data
        assert state_hash(again) == state_hash(state)
        assert again.decisions() == state.decisions()
        assert again.returns() == state.returns()
        for viewer in (*range(players), None):
            assert again.observation(viewer) == state.observation(viewer)

    wander(players, options(), 9, visit)


def test_options_handed_out_are_copies() -> None:
    state = pos.position(pos.grid(2, 2))
    before = state.to_dict()
    state.to_dict()["options"]["data"]["vehicles"].clear()
    assert state.to_dict() == before


def test_the_shipped_data_given_as_a_replacement_change_nothing() -> None:
    plain = GAME.new_initial_state(3, options())
    given = GAME.new_initial_state(3, options(data=GAME.default_data()))
    assert given.to_dict() == plain.to_dict()


@pytest.mark.parametrize(
    "change",
    [
        {"phase": "turn", "hands": [["zzzz"], []]},
        {"tiles": [[0, 0]]},
        {"players": 7},
        {"vehicles": [[0, 0, 0, "bus"]]},
        {"options": {}},
    ],
)
def test_a_dictionary_that_is_no_position_is_refused(change: dict[str, Any]) -> None:
    data = GAME.new_initial_state(2, options()).to_dict() | change
    with pytest.raises(DataError, match="expected the form of to_dict"):
        GAME.state_from_dict(data)


def test_values_can_be_copied_and_pickled_although_the_codec_remembers_them() -> None:
    state = pos.position(pos.grid(4, 4), {(1, 1): "t0"}, hands=[["tttt"], []])
    seen, legal = state.observation(0), state.legal_actions(0)
    wire = (GAME.codec.encode_observation(seen), GAME.codec.encode_actions(legal))
    for other_seen, other_legal in (
        copy.deepcopy((seen, legal)),
        pickle.loads(pickle.dumps((seen, legal))),
        (GAME.codec.decode_observation(wire[0]), GAME.codec.decode_actions(wire[1])),
    ):
        assert (other_seen, other_legal) == (seen, legal)
        assert hash(other_legal[-1]) == hash(legal[-1])
        assert repr(other_legal[-1]) == repr(legal[-1])
        assert (GAME.codec.encode_observation(other_seen), GAME.codec.encode_actions(other_legal)) == wire


def test_equal_actions_of_a_legal_list_are_the_same_object() -> None:
    one = pos.position(pos.grid(4, 4), {(1, 1): "t0"}, hands=[["tttt"], []])
    legal = one.legal_actions(0)
    other = one.clone()
    pos.act(other, "draw()")
    other.apply_chance("tttt")
    pos.act(other, "end_turn()", "end_turn()")
    again = other.legal_actions(0)
    assert legal == again
    assert all(a is b for a, b in zip(legal, again, strict=True))


def test_the_game_says_what_is_a_reconstruction() -> None:
    text = " ".join(GAME.notes)
    assert "tile sets C, A and B are reconstructions" in text
    assert "start layouts" in text


@pytest.mark.parametrize(("players", "bound"), [(2, 2056), (3, 2684), (4, 3280)])
def test_the_bound_on_decisions_with_the_defaults(players: int, bound: int) -> None:
    """80 + 81 idle stretches and so on: see the proof in `max_decisions`."""
    assert GAME.max_decisions(players, options()) == bound


def test_without_the_no_progress_rule_the_turn_limit_bounds_the_match() -> None:
    full = options(no_progress_rounds=0, turn_limit=100)
    assert GAME.max_decisions(2, full) == 4 * 102 + 8 * 44


def test_every_seat_plays_for_itself() -> None:
    assert GAME.teams(3, options()) == (0, 1, 2)
