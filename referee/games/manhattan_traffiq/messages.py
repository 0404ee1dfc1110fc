"""Small shared parts of the codec: enum numbers, and reading what came over the wire with care."""

from collections.abc import Sequence
from typing import Any, Final, TypeVar

from crosstown_proto.v1 import manhattan_traffiq_pb2 as pb
from google.protobuf.message import DecodeError, Message

from referee.games.api import ActionSyntaxError
from referee.games.manhattan_traffiq.actions import STREETS, VEHICLES
from referee.games.manhattan_traffiq.observation import PHASES

_M = TypeVar("_M", bound=Message)
_LETTERS: Final = 4

# Position in the tuple + 1 = number of the enum value.
PHASE_NUMBERS: Final = {name: pb.Phase.ValueType(number) for number, name in enumerate(PHASES, 1)}
VEHICLE_NUMBERS: Final = {name: pb.Vehicle.ValueType(number) for number, name in enumerate(VEHICLES, 1)}
STREET_NUMBERS: Final = {name: pb.Street.ValueType(number) for number, name in enumerate(STREETS, 1)}


def faces_of(text: str) -> list[str]:
    if len(text) % _LETTERS:
        raise ActionSyntaxError(f"{text[:200]!r} is not a row of tiles of four letters")
    return [text[i : i + _LETTERS] for i in range(0, len(text), _LETTERS)]


def even(*columns: Sequence[Any]) -> tuple[Sequence[Any], ...]:
    if len({len(column) for column in columns}) != 1:
        raise ActionSyntaxError("columns of one thing have different lengths")
    return columns


def named(names: tuple[str, ...], number: int, what: str) -> str:
    if not 1 <= number <= len(names):
        raise ActionSyntaxError(f"{number} is not a {what}, expected 1 to {len(names)}")
    return names[number - 1]


def parsed(message_type: type[_M], data: bytes) -> _M:
    try:
        return message_type.FromString(data)
    except DecodeError as error:
        raise ActionSyntaxError(f"not a {message_type.DESCRIPTOR.name} message: {error}") from None
