"""Bytes and texts: round trips, and what is told of garbage."""

from contextlib import suppress
from typing import Any

import pytest
from crosstown_proto.v1 import shibuya_pb2 as pb
from hypothesis import given
from hypothesis import strategies as st

from referee.games.api import ActionSyntaxError
from referee.games.api.messages import column, field_key
from referee.games.shibuya import GAME
from referee.games.shibuya.actions import Build, Move, Pass, Place
from referee.games.shibuya.events import (
    REASONS,
    BuildChosen,
    Finished,
    Moved,
    Passed,
    TileDrawn,
    TilePlaced,
    Withdrew,
)

from . import positions as pos
from .positions import wander

CODEC = GAME.codec
ACTIONS = st.one_of(
    st.builds(Move, st.integers(0, 71), st.integers(0, 79)),
    st.builds(Place, st.integers(0, 15), st.integers(0, 3)),
    st.just(Build()),
    st.just(Pass()),
)
SEATS = st.integers(0, 3)
EVENTS = st.one_of(
    st.builds(BuildChosen, SEATS),
    st.builds(TileDrawn, SEATS, st.integers(0, 29)),
    st.builds(TilePlaced, SEATS, st.integers(0, 29), st.integers(0, 15), st.integers(0, 3), st.booleans()),
    st.builds(Moved, SEATS, st.integers(0, 71), st.integers(0, 79)),
    st.builds(Passed, SEATS),
    st.builds(Withdrew, SEATS),
    st.builds(Finished, st.integers(-1, 1), st.sampled_from(REASONS)),
)


@given(ACTIONS)
def test_actions_come_back_from_bytes_and_text(action: Any) -> None:
    assert CODEC.decode_action(CODEC.encode_action(action)) == action
    assert GAME.parse_action(GAME.format_action(action)) == action


@given(st.lists(ACTIONS, max_size=60))
def test_legal_lists_come_back_in_order(actions: list[Any]) -> None:
    assert CODEC.decode_actions(CODEC.encode_actions(actions)) == tuple(actions)


@given(st.lists(EVENTS, max_size=8))
def test_events_come_back(events: list[Any]) -> None:
    assert CODEC.decode_events(CODEC.encode_events(events)) == tuple(events)


@pytest.mark.parametrize("players", [2, 4])
def test_observations_come_back_and_are_encoded_alike(players: int) -> None:
    def visit(state: Any) -> None:
        seen = state.observation(None)
        data = CODEC.encode_observation(seen)
        assert CODEC.decode_observation(data) == seen
        assert CODEC.encode_observation(CODEC.decode_observation(data)) == data

    wander(players, {"move_cap": 60}, 2, visit)
    wander(players, {"move_cap": 60, "build_phase": False}, 2, visit)


@pytest.mark.parametrize(
    ("action", "text"),
    [
        (Move(66, 18), "move(source=66,target=18)"),
        (Place(5, 2), "place(slot=5,turn=2)"),
        (Build(), "build()"),
        (Pass(), "pass()"),
    ],
)
def test_the_text_of_actions(action: Any, text: str) -> None:
    assert GAME.format_action(action) == text
    assert GAME.parse_action(text) == action


@pytest.mark.parametrize("text", ["", "jump()", "move(66,18)", "move(target=1,source=2)", "build", "pass(x=1)"])
def test_other_texts_are_refused(text: str) -> None:
    with pytest.raises(ActionSyntaxError):
        GAME.parse_action(text)


def test_a_bot_reads_the_columns_of_the_legal_list() -> None:
    message = pb.LegalActions.FromString(CODEC.encode_actions([Move(66, 18), Build()]))
    assert list(message.kinds) == [pb.LegalActions.KIND_MOVE, pb.LegalActions.KIND_BUILD]
    assert list(message.source_or_slot) == [66, 0]
    assert list(message.target_or_turn) == [18, 0]


def test_a_bot_reads_the_observation() -> None:
    board = pos.WHITE.replace("wq wq wq", "ko kqR wo", 1)
    state = pos.position(board, seat=1, red_goals=[4], blue_waits=[0, 2, 3, 4, 5, 6, 7], blue_goals=[1], turns=7)
    message = pb.Observation.FromString(CODEC.encode_observation(state.observation(1)))
    assert (message.phase, message.seat, message.turns) == (pb.PHASE_TURN, 1, 7)
    assert list(message.looks[56:60]) == [1, 2, 3, 4]
    assert list(message.red_fields) == [57]
    assert list(message.red_goals) == [0, 0, 0, 0, 1, 0, 0, 0]
    assert list(message.blue_waiting) == [0, 2, 3, 4, 5, 6, 7]
    assert not message.HasField("drawn_kind")
    assert not message.HasField("winner")
    assert sum(message.stock) == 14
    assert message.setting.players == 2
    assert list(message.setting.red.goal_fronts) == list(range(56, 64))
    assert list(message.setting.blue.start_sides) == [pb.SIDE_WEST] * 8
    assert sum(message.setting.tile_counts) == 30
    assert len(message.setting.tile_looks) == 4 * len(message.setting.tile_counts)


DECODERS = [CODEC.decode_action, CODEC.decode_actions, CODEC.decode_events, CODEC.decode_observation]


@given(st.binary(max_size=60))
def test_garbage_is_a_syntax_error_or_a_value(data: bytes) -> None:
    for decode in DECODERS:
        with suppress(ActionSyntaxError):
            decode(data)


@pytest.mark.parametrize(
    ("decode", "message"),
    [
        (CODEC.decode_action, pb.Action()),
        (CODEC.decode_actions, pb.LegalActions(kinds=[1], source_or_slot=[1])),
        (CODEC.decode_actions, pb.LegalActions(kinds=[9], source_or_slot=[1], target_or_turn=[1])),  # type: ignore[list-item]
        (CODEC.decode_events, pb.Events(events=[pb.Event()])),
        (CODEC.decode_events, pb.Events(events=[pb.Event(finished=pb.Finished())])),
        (CODEC.decode_observation, pb.Observation()),
        (
            CODEC.decode_observation,
            pb.Observation(phase=pb.PHASE_TURN, tops=[0] * 16, covered=[0] * 15, looks=bytes(64)),
        ),
    ],
)
def test_messages_that_say_nothing_are_refused(decode: Any, message: Any) -> None:
    with pytest.raises(ActionSyntaxError):
        decode(message.SerializeToString())


@given(st.lists(ACTIONS, max_size=60))
def test_legal_lists_are_the_bytes_that_protobuf_writes(actions: list[Any]) -> None:
    data = CODEC.encode_actions(actions)
    assert pb.LegalActions.FromString(data).SerializeToString(deterministic=True) == data


@pytest.mark.parametrize("players", [2, 4])
def test_observations_are_the_bytes_that_protobuf_writes(players: int) -> None:
    def check(state: Any) -> None:
        data = CODEC.encode_observation(state.observation(None))
        assert pb.Observation.FromString(data).SerializeToString(deterministic=True) == data

    wander(players, {"move_cap": 60}, 5, check)


@given(st.lists(st.integers(0, 1 << 32), min_size=1, max_size=20))
def test_a_column_of_larger_numbers_is_what_protobuf_writes(numbers: list[int]) -> None:
    small = [number % (1 << 32) for number in numbers]
    assert column(field_key(pb.LegalActions, "source_or_slot"), small) == pb.LegalActions(
        source_or_slot=small
    ).SerializeToString(deterministic=True)
