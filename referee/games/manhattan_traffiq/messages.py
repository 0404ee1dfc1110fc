"""Small shared parts of the codec: enum numbers, and reading what came over the wire with care."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Final, TypeVar

from crosstown_proto.v1 import manhattan_traffiq_pb2 as pb
from google.protobuf.message import DecodeError, Message

from referee.games.api import ActionSyntaxError
from referee.games.manhattan_traffiq.actions import STREETS, VEHICLES
from referee.games.manhattan_traffiq.observation import LETTERS, PHASES
from referee.games.manhattan_traffiq.wired import Wired

_M = TypeVar("_M", bound=Message)
_SEVEN_BITS: Final = 7

# Position in the tuple + 1 = number of the enum value.
PHASE_NUMBERS: Final = {name: pb.Phase.ValueType(number) for number, name in enumerate(PHASES, 1)}
VEHICLE_NUMBERS: Final = {name: pb.Vehicle.ValueType(number) for number, name in enumerate(VEHICLES, 1)}
STREET_NUMBERS: Final = {name: pb.Street.ValueType(number) for number, name in enumerate(STREETS, 1)}


def faces_of(text: str) -> list[str]:
    if len(text) % LETTERS:
        raise ActionSyntaxError(f"{text[:200]!r} is not a row of tiles of four letters")
    return [text[i : i + LETTERS] for i in range(0, len(text), LETTERS)]


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


def remember(value: Wired, wire: bytes) -> bytes:
    """Keep the wire form of a value with it; returns the form."""
    object.__setattr__(value, "wire", wire)
    return wire


def varint(number: int) -> bytes:
    """A sint32 as protobuf writes it."""
    return unsigned(number << 1 if number >= 0 else (-number << 1) - 1)


@lru_cache(maxsize=1024)
def unsigned(rest: int) -> bytes:
    """A uint32 as protobuf writes it."""
    out = bytearray()
    while rest >> _SEVEN_BITS:
        out.append(rest & 0x7F | 0x80)
        rest >>= _SEVEN_BITS
    out.append(rest)
    return bytes(out)


def framed(tag: bytes, body: bytes) -> bytes:
    """A length-delimited field: a packed column, a string or a message within a message."""
    return tag + unsigned(len(body)) + body


def tag(message: type[Message], field: str) -> bytes:
    """What stands before a field on the wire."""
    descriptor = message.DESCRIPTOR.fields_by_name[field]
    delimited = descriptor.is_packed or descriptor.type in (
        descriptor.TYPE_STRING,
        descriptor.TYPE_BYTES,
        descriptor.TYPE_MESSAGE,
    )
    return unsigned(descriptor.number << 3 | (2 if delimited else 0))
