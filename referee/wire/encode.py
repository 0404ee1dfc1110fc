"""The referee's messages, from plain values to the bytes that go on a stream."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import ParamSpec, TypeAlias, cast

from crosstown_proto.v1 import referee_pb2 as pb
from google.protobuf.message import Message

ClockMessage: TypeAlias = pb.Clock
UsageMessage: TypeAlias = pb.Usage
TextMessage: TypeAlias = pb.Text
Fields = ParamSpec("Fields")

PROTOCOL = 1
"""The wire version. Goes up when an old bot could no longer play."""


@dataclass(frozen=True, slots=True)
class WireLimits:
    """The limits in Welcome, field by field those of `crosstown.v1.Limits`; 0 is no limit.

    `ready_us` is the time to answer MatchStart, `match_us` that of a whole match.
    """

    max_message_bytes: int
    max_note_bytes: int
    max_output_bytes: int
    ready_us: int
    frozen_off_turn: bool = False
    memory_mib: int = 0
    processes: int = 0
    open_files: int = 0
    disk_mib: int = 0
    file_size_mib: int = 0
    cores: float = 0.0
    match_us: int = 0
    starts_at_once: int = 0


def welcome(limits: WireLimits, *, session: str = "", reconnect_us: int = 0, next_message: int = 0) -> bytes:
    """`next_message` is the number of the message after this one, for a bot that may come back."""
    return pb.RefereeMessage(
        welcome=pb.Welcome(
            protocol=PROTOCOL,
            limits=pb.Limits(**asdict(limits)),
            session=session,
            reconnect_us=reconnect_us,
            next_message=next_message if session else 0,
        )
    ).SerializeToString()


_LENGTH_DELIMITED = 2
"""The wire type of a message in a message."""


def _sender(message: Callable[Fields, Message]) -> Callable[Fields, bytes]:
    """A function that takes the fields of this body, by the names that they have in referee.proto, and gives the bytes
    of the message on the stream."""
    kind = cast(type[Message], message).DESCRIPTOR
    bodies = pb.RefereeMessage.DESCRIPTOR.oneofs_by_name["body"].fields
    number = next(field.number for field in bodies if field.message_type is kind)
    key = bytes((number << 3 | _LENGTH_DELIMITED,))

    def send(*none: Fields.args, **fields: Fields.kwargs) -> bytes:
        # A RefereeMessage made of the message would copy it: written and read once more.
        body: bytes = message(*none, **fields).SerializeToString()
        return key + _varint(len(body)) + body

    return send


def _varint(number: int) -> bytes:
    """A number as protobuf writes it: seven bits a byte, the lowest first."""
    if number < 0x4000:  # nearly every length
        return bytes((number,)) if number < 0x80 else bytes((number & 0x7F | 0x80, number >> 7))
    return bytes((number & 0x7F | 0x80,)) + _varint(number >> 7)


match_start = _sender(pb.MatchStart)
decide = _sender(pb.Decide)
match_end = _sender(pb.MatchEnd)


def update(match: str, events: bytes) -> bytes:
    return pb.RefereeMessage(update=pb.Update(match=match, events=events)).SerializeToString()


def cancel(match: str, decision: int) -> bytes:
    return pb.RefereeMessage(cancel=pb.Cancel(match=match, decision=decision)).SerializeToString()


def bye() -> bytes:
    return pb.RefereeMessage(bye=pb.Bye()).SerializeToString()


def shown_index(index: int) -> str:
    """An index as its sender knows it: the wire has no negative ones, and -1 comes as 4294967295."""
    return str(index) if index < 1 << 31 else f"{index - (1 << 32)} (on the wire {index})"
