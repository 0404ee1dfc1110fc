"""What codecs share: reading with errors, writing by hand as protobuf does, bodies of a oneof from dataclasses."""

from dataclasses import dataclass
from typing import ClassVar

import pytest
from crosstown_proto.v1 import manhattan_traffiq_pb2 as traffiq
from crosstown_proto.v1 import shibuya_pb2 as shibuya
from hypothesis import given
from hypothesis import strategies as st

from referee.games.api import ActionSyntaxError
from referee.games.api.messages import (
    Converter,
    OneofCodec,
    enum_name,
    field_key,
    keys_with_length,
    parse_message,
    signed_varint,
    varint,
    with_length,
)


def test_a_message_is_parsed() -> None:
    assert parse_message(shibuya.Move, b"\x08\x05").source == 5


def test_bytes_that_are_no_message_are_refused_by_its_name() -> None:
    with pytest.raises(ActionSyntaxError, match="these 2 bytes are no Move message"):
        parse_message(shibuya.Move, b"\xff\xff")


def test_the_first_name_of_an_enum_belongs_to_1() -> None:
    assert enum_name(("red", "blue"), 1, "colour") == "red"
    assert enum_name(("red", "blue"), 2, "colour") == "blue"


@pytest.mark.parametrize("number", [-1, 0, 3])
def test_a_number_without_name_is_refused(number: int) -> None:
    with pytest.raises(ActionSyntaxError, match=f"{number} is not a colour, expected 1 to 2"):
        enum_name(("red", "blue"), number, "colour")


@given(st.integers(0, 2**32 - 1))
def test_a_varint_is_written_as_protobuf_writes_it(number: int) -> None:
    written = field_key(shibuya.Observation, "turns") + varint(number)
    assert shibuya.Observation.FromString(written).turns == number
    assert number == 0 or written == shibuya.Observation(turns=number).SerializeToString()


@given(st.integers(-(2**31), 2**31 - 1))
def test_a_signed_varint_is_written_as_protobuf_writes_it(number: int) -> None:
    written = field_key(traffiq.Ride, "x") + signed_varint(number)
    assert traffiq.Ride.FromString(written).x == number


@given(st.lists(st.integers(0, 127), min_size=1, max_size=300))
def test_a_packed_field_is_written_as_protobuf_writes_it(numbers: list[int]) -> None:
    whole = shibuya.Observation(stock=numbers).SerializeToString()
    assert with_length(field_key(shibuya.Observation, "stock"), bytes(numbers)) == whole
    (keys,) = keys_with_length(shibuya.Observation, ("stock",), 300)
    assert keys[len(numbers)] + bytes(numbers) == whole


@dataclass(frozen=True, slots=True)
class TileDrawn:
    KIND: ClassVar[str] = "tile_drawn"
    seat: int
    tile: int


@dataclass(frozen=True, slots=True)
class Finished:
    KIND: ClassVar[str] = "finished"
    team: int
    reason: str


REASONS = ("goals", "lead")
CODEC = OneofCodec(
    shibuya.Event,
    (TileDrawn, Finished),
    {
        "team": Converter(lambda team: None if team < 0 else team, lambda team: team, absent=-1),
        "reason": Converter(lambda name: 1 + REASONS.index(name), lambda number: enum_name(REASONS, number, "reason")),
    },
    renamed={"tile": "tile_kind"},
)


def test_a_dataclass_becomes_the_body_of_its_kind() -> None:
    assert CODEC.message(TileDrawn(1, 7)) == shibuya.Event(tile_drawn=shibuya.TileDrawn(seat=1, tile_kind=7))
    assert CODEC.body(TileDrawn(1, 7)) == shibuya.TileDrawn(seat=1, tile_kind=7)


@pytest.mark.parametrize("value", [TileDrawn(0, 0), TileDrawn(3, 29), Finished(1, "lead"), Finished(0, "goals")])
def test_it_comes_back(value: TileDrawn | Finished) -> None:
    assert CODEC.value(shibuya.Event.FromString(CODEC.message(value).SerializeToString())) == value


def test_what_may_be_left_out_is_told_from_zero() -> None:
    message = CODEC.message(Finished(-1, "lead"))
    assert not message.finished.HasField("team")
    assert CODEC.value(message) == Finished(-1, "lead")
    assert CODEC.message(Finished(0, "lead")).finished.HasField("team")


def test_an_empty_message_is_refused_with_what_it_could_hold() -> None:
    with pytest.raises(ActionSyntaxError, match="the Event message is empty: expected one of tile_drawn, finished"):
        CODEC.value(shibuya.Event())


def test_a_value_that_a_converter_refuses_is_refused() -> None:
    with pytest.raises(ActionSyntaxError, match="0 is not a reason"):
        CODEC.value(shibuya.Event(finished=shibuya.Finished()))
