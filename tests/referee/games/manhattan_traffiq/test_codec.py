"""Messages and action text: there and back, and junk refused."""

from random import Random
from typing import Any

import pytest
from crosstown_proto.v1 import manhattan_traffiq_pb2 as pb
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.games.api import ActionSyntaxError
from referee.games.manhattan_traffiq import GAME
from referee.games.manhattan_traffiq import events as ev
from referee.games.manhattan_traffiq.actions import (
    STREETS,
    VEHICLES,
    Attach,
    Compete,
    Decline,
    DrawTile,
    EndTurn,
    Place,
    Taxi,
    Truck,
)

from .positions import options, wander

CODEC = GAME.codec
NUMBERS = st.integers(-300, 300)
FACES = st.text("bgrt", min_size=4, max_size=4)
STREET_SETS = st.sets(st.sampled_from(STREETS), min_size=1).map(lambda some: tuple(s for s in STREETS if s in some))
ACTIONS = st.one_of(
    st.just(EndTurn()),
    st.just(DrawTile()),
    st.just(Decline()),
    st.builds(Taxi, NUMBERS, NUMBERS, NUMBERS, NUMBERS),
    st.builds(Truck, NUMBERS, NUMBERS, NUMBERS, NUMBERS),
    st.builds(Attach, FACES, NUMBERS, NUMBERS),
    st.builds(Place, st.sampled_from(VEHICLES), NUMBERS, NUMBERS),
    st.builds(Compete, STREET_SETS),
)
SEATS = st.integers(0, 3)
VEHICLE = st.sampled_from(VEHICLES)
EVENTS = st.one_of(
    st.builds(ev.StartPlayer, SEATS),
    st.builds(ev.TileDrawn, SEATS, st.one_of(st.just(""), FACES)),
    st.builds(ev.Attached, SEATS, FACES, NUMBERS, NUMBERS),
    st.builds(ev.Placed, SEATS, VEHICLE, NUMBERS, NUMBERS),
    st.builds(ev.Drove, SEATS, VEHICLE, NUMBERS, NUMBERS, NUMBERS, NUMBERS),
    st.builds(ev.Competed, SEATS, NUMBERS, NUMBERS, STREET_SETS),
    st.builds(ev.Returned, SEATS, VEHICLE, NUMBERS, NUMBERS),
    st.builds(ev.Declined, SEATS, st.sampled_from(("place", "compete"))),
    st.builds(ev.TurnEnded, SEATS),
    st.builds(ev.FinalRound, SEATS, st.sampled_from(ev.FINAL_REASONS)),
    st.builds(ev.Withdrew, SEATS),
    st.builds(ev.Finished, st.sampled_from(ev.END_REASONS)),
)


@settings(deadline=None)
@given(ACTIONS)
def test_an_action_survives_the_wire_and_its_text(action: Any) -> None:
    assert CODEC.decode_action(CODEC.encode_action(action)) == action
    assert GAME.parse_action(GAME.format_action(action)) == action


@settings(deadline=None)
@given(st.lists(ACTIONS))
def test_a_list_of_actions_survives_the_wire_in_its_order(actions: list[Any]) -> None:
    once = CODEC.encode_actions(actions)
    assert CODEC.decode_actions(once) == tuple(actions)
    assert CODEC.encode_actions(actions) == once, "written from memory the second time"
    assert pb.LegalActions.FromString(once).SerializeToString() == once


@settings(deadline=None)
@given(st.lists(EVENTS))
def test_events_survive_the_wire(payloads: list[Any]) -> None:
    once = CODEC.encode_events(payloads)
    assert CODEC.decode_events(once) == tuple(payloads)
    assert CODEC.encode_events(payloads) == once
    assert pb.Events.FromString(once).SerializeToString() == once


@pytest.mark.slow
@pytest.mark.parametrize("players", [2, 3, 4])
@pytest.mark.parametrize(
    "given_options",
    [
        {},
        {"hands": "open"},
        {"scenario": "central_park", "tiles_may_rotate": False},
        {"colour_change_ends_street": True},
    ],
)
def test_observations_lists_and_events_of_a_match_survive_the_wire(players: int, given_options: dict[str, Any]) -> None:
    def visit(state: Any) -> None:
        for viewer in (*range(players), None):
            seen = state.observation(viewer)
            data = CODEC.encode_observation(seen)
            assert CODEC.decode_observation(data) == seen
            assert CODEC.encode_observation(CODEC.decode_observation(data)) == data
        if state.decisions():
            legal = state.legal_actions(state.seat)
            assert CODEC.decode_actions(CODEC.encode_actions(legal)) == legal

    def step(state: Any, move: Any, then: Any) -> None:
        payloads = [event.seen_by(0) for event in then()]
        assert CODEC.decode_events(CODEC.encode_events(payloads)) == tuple(payloads)

    wander(players, options(**given_options), 2, visit, step)


def test_the_parts_written_from_memory_say_the_same_as_one_message_would() -> None:
    """An observation is put together from kept parts: parsed and written again as one message it stays the same."""

    def visit(state: Any) -> None:
        data = CODEC.encode_observation(state.observation(1))
        message = pb.Observation.FromString(data)
        again = pb.Observation.FromString(message.SerializeToString())
        assert again == message
        assert len(message.SerializeToString()) <= len(data)

    wander(3, options(turn_limit=20), 8, visit)


BAD_LISTS = [
    ([0], "0 is not a kind of action, expected 1 to 8"),
    ([9], "9 is not a kind"),
    ([3, 1, 2, 3], "ends within an action"),
    ([5, 1, 2], "ends within an action"),
    ([5, 1, 2, 256], "256 is not a face"),
    ([5, 1, 2, -1], "-1 is not a face"),
    ([7, 1, 2, 3], "3 is not a vehicle"),
    ([7, 1, 2, 0], "0 is not a vehicle"),
    ([8, 0], "0 is not a set of streets"),
    ([8, 64], "64 is not a set of streets"),
]


@pytest.mark.parametrize(("column", "said"), BAD_LISTS)
def test_a_column_that_is_no_list_of_actions_is_refused(column: list[int], said: str) -> None:
    with pytest.raises(ActionSyntaxError, match=said):
        CODEC.decode_actions(pb.LegalActions(column=column).SerializeToString())


@pytest.mark.parametrize("data", [b"", b"\x08", b"\xff\xff", b"\x4a\x00"])
def test_bytes_that_are_no_action_are_refused(data: bytes) -> None:
    with pytest.raises(ActionSyntaxError):
        CODEC.decode_action(data)


def test_an_action_with_an_unknown_vehicle_or_street_is_refused() -> None:
    with pytest.raises(ActionSyntaxError, match="0 is not a vehicle, expected 1 to 2"):
        CODEC.decode_action(pb.Action(place=pb.Place(x=1, y=1)).SerializeToString())
    with pytest.raises(ActionSyntaxError, match="0 is not a street, expected 1 to 6"):
        CODEC.decode_action(pb.Action(compete=pb.Compete(streets=[pb.STREET_UNSPECIFIED])).SerializeToString())


@pytest.mark.parametrize(
    "message",
    [
        pb.Observation(),
        pb.Observation(phase=pb.PHASE_TURN, tile_names="rrr"),
        pb.Observation(phase=pb.PHASE_TURN, open_x=[1]),
        pb.Observation(phase=pb.PHASE_TURN, spot_x=1),
        pb.Observation(phase=pb.PHASE_TURN, vehicles=[pb.Standing(x=1)]),
    ],
)
def test_an_observation_that_makes_no_sense_is_refused(message: pb.Observation) -> None:
    with pytest.raises(ActionSyntaxError):
        CODEC.decode_observation(message.SerializeToString())


def test_an_event_without_kind_is_refused() -> None:
    with pytest.raises(ActionSyntaxError, match="is empty"):
        CODEC.decode_events(pb.Events(events=[pb.Event()]).SerializeToString())


@pytest.mark.parametrize(
    "text",
    [
        "",
        "attach",
        "attach()",
        "attach(face=rttt,x=1)",
        "attach(x=1,y=1,face=rttt)",
        "attach(face=rttt,x=01,y=1)",
        "attach(face=rttt,x=1,y=1) ",
        "taxi(x=1,y=1,to_x=1,to_y=1,to_z=1)",
        "compete(streets=h)",
        "compete(streets=[h,])",
        "bus(x=1)",
        "end_turn(now=true)",
    ],
)
def test_text_that_spells_no_action_is_refused(text: str) -> None:
    with pytest.raises(ActionSyntaxError):
        GAME.parse_action(text)


@pytest.mark.parametrize(
    ("action", "text"),
    [
        (EndTurn(), "end_turn()"),
        (DrawTile(), "draw()"),
        (Decline(), "decline()"),
        (Attach("rgtb", -1, 12), "attach(face=rgtb,x=-1,y=12)"),
        (Taxi(0, -1, 3, 2), "taxi(x=0,y=-1,to_x=3,to_y=2)"),
        (Truck(0, -1, 1, -1), "truck(x=0,y=-1,to_x=1,to_y=-1)"),
        (Place("truck", 2, 2), "place(vehicle=truck,x=2,y=2)"),
        (Compete(("h", "v")), "compete(streets=[h,v])"),
    ],
)
def test_the_text_of_each_kind(action: Any, text: str) -> None:
    assert GAME.format_action(action) == text


def test_random_bytes_never_do_worse_than_a_refusal() -> None:
    rng = Random(1)
    for _ in range(2000):
        data = rng.randbytes(rng.randrange(12))
        for decode in (CODEC.decode_action, CODEC.decode_actions, CODEC.decode_events, CODEC.decode_observation):
            try:
                decode(data)
            except ActionSyntaxError:
                continue
