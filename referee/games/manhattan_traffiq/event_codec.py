"""Events to and from their messages, whose fields have the same names."""

from collections.abc import Sequence
from dataclasses import fields
from typing import Any, Final

from crosstown_proto.v1 import manhattan_traffiq_pb2 as pb

from referee.games.api import ActionSyntaxError
from referee.games.manhattan_traffiq import events as ev
from referee.games.manhattan_traffiq.actions import STREETS, VEHICLES
from referee.games.manhattan_traffiq.events import TraffiqEvent
from referee.games.manhattan_traffiq.messages import STREET_NUMBERS, VEHICLE_NUMBERS, framed, named, parsed, remember

_PAIRS: Final[tuple[tuple[Any, Any], ...]] = (
    (ev.StartPlayer, pb.StartPlayer),
    (ev.TileDrawn, pb.TileDrawn),
    (ev.Attached, pb.Attached),
    (ev.Placed, pb.Placed),
    (ev.Drove, pb.Drove),
    (ev.Competed, pb.Competed),
    (ev.Returned, pb.Returned),
    (ev.Declined, pb.Declined),
    (ev.TurnEnded, pb.TurnEnded),
    (ev.FinalRound, pb.FinalRound),
    (ev.Withdrew, pb.Withdrew),
    (ev.Finished, pb.Finished),
)
_EVENTS: Final = {event.KIND: event for event, _ in _PAIRS}
_MESSAGES: Final = {event.KIND: message for event, message in _PAIRS}
_ENTRY: Final = b"\x0a"  # field 1, length-delimited
_TAGS: Final = {field.name: bytes((field.number << 3 | 2,)) for field in pb.Event.DESCRIPTOR.fields}
_FIELDS: Final = {event.KIND: tuple(field.name for field in fields(event)) for event, _ in _PAIRS}


def encode_events(payloads: Sequence[TraffiqEvent]) -> bytes:
    try:
        return b"".join([payload.wire for payload in payloads])
    except AttributeError:
        return b"".join([_event_wire(payload) for payload in payloads])


def _event_wire(payload: TraffiqEvent) -> bytes:
    """The event as an entry of Events; made once, however many seats are told."""
    try:
        return payload.wire
    except AttributeError:
        kind = payload.KIND
        values = {name: _to_wire(name, getattr(payload, name)) for name in _FIELDS[kind]}
        return remember(payload, framed(_ENTRY, framed(_TAGS[kind], _MESSAGES[kind](**values).SerializeToString())))


def decode_events(data: bytes) -> tuple[TraffiqEvent, ...]:
    return tuple(_decoded(message) for message in parsed(pb.Events, data).events)


def _decoded(message: pb.Event) -> TraffiqEvent:
    kind = message.WhichOneof("kind")
    if kind is None:
        raise ActionSyntaxError("an Event names one of its kinds, this one names none")
    part = getattr(message, kind)
    event: TraffiqEvent = _EVENTS[kind](*(_from_wire(name, getattr(part, name)) for name in _FIELDS[kind]))
    return event


def _to_wire(name: str, value: Any) -> Any:
    if name == "vehicle":
        return VEHICLE_NUMBERS[value]
    if name == "streets":
        return [STREET_NUMBERS[street] for street in value]
    return value


def _from_wire(name: str, value: Any) -> Any:
    if name == "vehicle":
        return named(VEHICLES, value, "vehicle")
    if name == "streets":
        return tuple(named(STREETS, street, "street") for street in value)
    return value
