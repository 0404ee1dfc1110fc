"""What the games' codecs share: reading protobuf messages with errors a bot's author can act on, and writing by hand.

The functions that write bytes are for messages that are sent at every decision: filling in protobuf's own classes takes
several times as long.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from functools import lru_cache
from typing import Any, NamedTuple, TypeVar

from google.protobuf.message import DecodeError, Message

from referee.games.api.errors import ActionSyntaxError

_Message = TypeVar("_Message", bound=Message)
_LENGTH_DELIMITED = 2


def parse_message(kind: type[_Message], data: bytes) -> _Message:
    """The message of this kind. Raises ActionSyntaxError if the bytes are none."""
    try:
        return kind.FromString(data)
    except DecodeError as error:
        raise ActionSyntaxError(f"these {len(data)} bytes are no {kind.DESCRIPTOR.name} message: {error}") from None


def enum_name(names: Sequence[str], number: int, what: str) -> str:
    """The name of an enum value; `names[0]` belongs to 1, since 0 means that the sender said nothing.

    Raises ActionSyntaxError if the number has no name.
    """
    if not 1 <= number <= len(names):
        raise ActionSyntaxError(f"{number} is not a {what}, expected 1 to {len(names)}")
    return names[number - 1]


class Converter(NamedTuple):
    """How a value is written and read where message and dataclass differ. `write` may return None: left out."""

    write: Callable[[Any], Any]
    read: Callable[[Any], Any]
    absent: Any = None
    """What stands for a field that was left out, if leaving it out is possible (`optional` in the message)."""


class OneofCodec:
    """Turns dataclasses with a KIND into a message that holds one of several bodies in its oneof, and back.

    The fields of the bodies have the names of the dataclasses' fields, and those of the oneof their KINDs, apart from
    `renamed`. `converters` are by the name of the dataclass's field.
    """

    def __init__(
        self,
        message: type[Message],
        classes: Sequence[type[Any]],
        converters: Mapping[str, Converter] | None = None,
        renamed: Mapping[str, str] | None = None,
    ) -> None:
        converters, renamed = converters or {}, renamed or {}
        self._message: Any = message
        self._oneof = message.DESCRIPTOR.oneofs[0].name
        self._kinds = {renamed.get(cls.KIND, cls.KIND): cls for cls in classes}
        self._names = {cls: name for name, cls in self._kinds.items()}
        self._bodies: dict[type[Any], Any] = {cls: type(getattr(message(), name)) for name, cls in self._kinds.items()}
        # Per field its own name, its name in the body, and what writes, reads and stands for it; None: as it is.
        self._fields = {
            cls: [self._field(cls, part.name, converters, renamed) for part in fields(cls)] for cls in classes
        }

    def _field(
        self, cls: type[Any], own: str, converters: Mapping[str, Converter], renamed: Mapping[str, str]
    ) -> tuple[str, str, Callable[[Any], Any] | None, Callable[[Any], Any] | None, Any]:
        name = renamed.get(own, own)
        if own in converters:
            return (own, name, *converters[own])
        repeated = self._bodies[cls].DESCRIPTOR.fields_by_name[name].is_repeated
        return own, name, None, tuple if repeated else None, None

    def message(self, value: Any) -> Any:
        """The whole message."""
        return self._message(**{self._names[type(value)]: self.body(value)})

    def body(self, value: Any) -> Any:
        """The body alone."""
        cls = type(value)
        values = {}
        for own, name, write, _, _ in self._fields[cls]:
            part = getattr(value, own)
            values[name] = part if write is None else write(part)
        return self._bodies[cls](**values)

    def value(self, message: Any) -> Any:
        """The dataclass. Raises ActionSyntaxError if the message holds none of the bodies."""
        kind = message.WhichOneof(self._oneof)
        if kind is None:
            expected = ", ".join(self._kinds)
            raise ActionSyntaxError(f"the {message.DESCRIPTOR.name} message is empty: expected one of {expected}")
        return self.from_body(self._kinds[kind], getattr(message, kind))

    def from_body(self, cls: type[Any], body: Any) -> Any:
        """The dataclass from its body."""
        values = []
        for _, name, _, read, absent in self._fields[cls]:
            if absent is not None and not body.HasField(name):
                values.append(absent)
            else:
                part = getattr(body, name)
                values.append(part if read is None else read(part))
        return cls(*values)


@lru_cache(maxsize=2048)
def varint(number: int) -> bytes:
    """A uint32 as protobuf writes it."""
    written = bytearray()
    while number >= 128:
        written.append(number % 128 + 128)
        number //= 128
    written.append(number)
    return bytes(written)


def packed(numbers: Sequence[int]) -> bytes:
    """A packed column of uint32: small numbers are a byte each."""
    try:
        data = bytes(numbers)
        if data.isascii():
            return data
    except ValueError:
        pass
    return b"".join([varint(number) for number in numbers])


def signed_varint(number: int) -> bytes:
    """A sint32 as protobuf writes it."""
    return varint(2 * number if number >= 0 else -2 * number - 1)


def field_key(kind: type[Message], field: str) -> bytes:
    """The bytes before the content of a field: its number and its wire type."""
    descriptor = kind.DESCRIPTOR.fields_by_name[field]
    delimited = descriptor.is_packed or descriptor.type in (
        descriptor.TYPE_STRING,
        descriptor.TYPE_BYTES,
        descriptor.TYPE_MESSAGE,
    )
    return varint(descriptor.number << 3 | (_LENGTH_DELIMITED if delimited else 0))


def with_length(key: bytes, content: bytes) -> bytes:
    """A field whose content has a length: a packed column, a string or a message within a message."""
    return key + varint(len(content)) + content


def keys_with_length(kind: type[Message], fields: Sequence[str], longest: int) -> tuple[tuple[bytes, ...], ...]:
    """Per field, and by the length of its content up to `longest`, the bytes before a field whose content has one."""
    lengths = [varint(length) for length in range(longest + 1)]
    return tuple(tuple(field_key(kind, field) + length for length in lengths) for field in fields)


def column(key: bytes, numbers: Sequence[int]) -> bytes:
    """A field that is a packed column of uint32; nothing if it is empty."""
    return with_length(key, packed(numbers)) if numbers else b""


def plain(key: bytes, number: int) -> bytes:
    """A field that is a uint32 without presence: nothing if it is 0."""
    return key + varint(number) if number else b""
