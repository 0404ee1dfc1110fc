"""To and from the messages of `proto/crosstown/v1/ticket_to_ride_new_york.proto`."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Final, get_args

from crosstown_proto.v1 import ticket_to_ride_new_york_pb2 as pb

from referee.games.api import ActionSyntaxError
from referee.games.api.messages import Converter, OneofCodec, enum_name, field_key, keys_with_length, parse_message
from referee.games.ticket_to_ride_new_york import events as ev
from referee.games.ticket_to_ride_new_york.actions import (
    CARD_NUMBERS,
    CARDS,
    CLASSES,
    MAX_NUMBER,
    ROUTE_NUMBERS,
    TICKET_NUMBERS,
    Answer,
    Claim,
    Draw,
    DrawTickets,
    Keep,
    Pass,
    Stop,
    Take,
)
from referee.games.ticket_to_ride_new_york.observation import COLUMNS, WIDTHS, Observation, write_ledger
from referee.games.ticket_to_ride_new_york.state import STAGES

_STAGE_NUMBERS: Final = {name: pb.Stage.ValueType(number) for number, name in enumerate(STAGES, 1)}
_ROUTE_NAMES: Final = ("", *ROUTE_NUMBERS)
_TICKET_NAMES: Final = ("", *TICKET_NUMBERS)

# Fields of Observation and Ledger that are the same in message and dataclass.
_SCALARS: Final = (
    "viewer",
    "players",
    "turn_seat",
    "first_seat",
    "last_turns",
    "deck_size",
    "epoch",
    "unknown_tickets",
)
_REPEATED: Final = (
    "asked",
    "left",
    "passed",
    "row",
    "discards",
    "aside",
    "owner",
    "taxis",
    "hand_sizes",
    "ticket_counts",
    "known",
    "hand",
    "tickets",
    "offered",
    "under",
)
_SAME_LENGTH: Final = (
    ("owners", "cards"),
    ("offer_seats", "offer_sizes", "offer_states", "offer_returned"),
    ("ticket_sources", "ticket_numbers"),
)

# Bytes before the fields that are written by hand.
_VIEWER_KEY: Final = field_key(pb.Observation, "viewer")
_HEAD: Final = b"".join(
    field_key(pb.Observation, name) + b"\0"
    for name in (
        "players",
        "stage",
        "turn_seat",
        "first_seat",
        "last_turns",
        "deck_size",
        "epoch",
        "unknown_tickets",
    )
)
_COLUMN_KEYS: Final = keys_with_length(pb.Observation, (*_REPEATED, "ledger"), 2000)
_ASKED, _LEFT, _PASSED, _ROW, _DISCARDS, _ASIDE, _OWNER, _TAXIS, *_MORE = _COLUMN_KEYS
_HAND_SIZES, _TICKET_COUNTS, _KNOWN, _HAND, _TICKETS_HELD, _OFFERED, _UNDER, _LEDGER = _MORE
_KIND, _CARD, _NUMBER, _OTHER = keys_with_length(pb.LegalActions, ("kind", "card", "number", "other"), 2000)

# Actions and events, whose messages have the fields of the dataclasses


def _card(number: int) -> str:
    return enum_name(CARDS, number, "card")


def _route(number: int) -> str:
    if not 1 <= number <= MAX_NUMBER:
        raise ActionSyntaxError(f"route {number}: expected the number of a route, from 1 on")
    return _ROUTE_NAMES[number]


def _ticket(number: int) -> str:
    if not 1 <= number <= MAX_NUMBER:
        raise ActionSyntaxError(f"ticket {number}: expected the number of a ticket, from 1 on")
    return _TICKET_NAMES[number]


_TICKETS: Final = Converter(
    lambda names: [TICKET_NUMBERS[name] for name in names],
    lambda numbers: tuple([_ticket(number) for number in numbers]),
)
_ROUTE: Final = Converter(ROUTE_NUMBERS.__getitem__, _route)
_ACTIONS: Final = OneofCodec(
    pb.Action,
    CLASSES,
    {"route": _ROUTE, "card": Converter(CARD_NUMBERS.__getitem__, _card), "tickets": _TICKETS},
    renamed={"pass": "pass_turn"},
)
# In events 0 stands for a card or ticket that the viewer does not know.
_EVENTS: Final = OneofCodec(
    pb.Event,
    get_args(ev.Payload),
    {
        "route": _ROUTE,
        "card": Converter(CARD_NUMBERS.__getitem__, lambda number: _card(number) if number else ""),
        "ticket": Converter(
            lambda name: TICKET_NUMBERS[name] if name else 0, lambda number: _ticket(number) if number else ""
        ),
        "kept": _TICKETS,
        "returned": _TICKETS,
        "completed": _TICKETS,
        "failed": _TICKETS,
    },
)


def encode_action(action: Answer) -> bytes:
    data: bytes = _ACTIONS.message(action).SerializeToString()
    return data


def decode_action(data: bytes) -> Answer:
    action: Answer = _ACTIONS.value(parse_message(pb.Action, data))
    return action


def encode_events(payloads: Sequence[ev.Payload]) -> bytes:
    return b"".join([_encoded_event(payload) for payload in payloads])


@lru_cache(maxsize=4096)
def _encoded_event(payload: ev.Payload) -> bytes:
    """One entry of Events: repeated fields may be written one after another."""
    return pb.Events(events=[_EVENTS.message(payload)]).SerializeToString()


def decode_events(data: bytes) -> tuple[ev.Payload, ...]:
    return tuple([_EVENTS.value(event) for event in parse_message(pb.Events, data).events])


# Legal lists, in columns

_PLAIN: Final[dict[int, Answer]] = {action.columns[0]: action for action in (Pass(), Stop(), Draw(), DrawTickets())}
_TAKE, _CLAIM, _KEEP = 4, 6, 7


def encode_actions(actions: Sequence[Answer]) -> bytes:
    """Written by hand: a packed field of numbers below 128 is these numbers as bytes, after its key and its length."""
    rows = b"".join([action.columns for action in actions])
    size = len(actions)
    return b"".join(
        (_KIND[size], rows[0::4], _CARD[size], rows[1::4], _NUMBER[size], rows[2::4], _OTHER[size], rows[3::4])
    )


def decode_actions(data: bytes) -> tuple[Answer, ...]:
    message = parse_message(pb.LegalActions, data)
    if not len(message.kind) == len(message.card) == len(message.number) == len(message.other):
        raise ActionSyntaxError("the columns of LegalActions differ in length")
    columns = zip(message.kind, message.card, message.number, message.other, strict=True)
    return tuple([_column_action(*entry) for entry in columns])


@lru_cache(maxsize=4096)
def _column_action(kind: int, card: int, number: int, other: int) -> Answer:
    if kind == _CLAIM:
        return Claim(_route(number), _card(card), other)
    if kind == _TAKE:
        return Take(_card(card))
    if kind == _KEEP:
        return Keep((_ticket(number), _ticket(other)) if other else (_ticket(number),))
    if kind not in _PLAIN:
        raise ActionSyntaxError(f"LegalActions: {kind} is no kind of action, expected 1 to 7")
    return _PLAIN[kind]


# Observations


def encode_observation(observation: Observation) -> bytes:
    """Written by hand, which is several times as fast as protobuf's own classes.

    A packed field of numbers below 128 is these numbers as bytes, after its key and its length. With the shipped box no
    number is larger; what can be, and the rare fields of the end of a match, is left to protobuf.
    """
    seen = observation
    if seen.scores or seen.box or seen.epoch > 127:
        return observation_message(seen).SerializeToString()
    head = bytearray(_HEAD)
    head[1::2] = (
        seen.players,
        _STAGE_NUMBERS[seen.stage],
        seen.turn_seat,
        seen.first_seat,
        seen.last_turns,
        seen.deck_size,
        seen.epoch,
        seen.unknown_tickets,
    )
    if seen.viewer is not None:
        head += _VIEWER_KEY
        head.append(seen.viewer)
    # fmt: off
    return b"".join((
        head,
        _ASKED[len(seen.asked)], bytes(seen.asked), _LEFT[len(seen.left)], bytes(seen.left),
        _PASSED[len(seen.passed)], bytes(seen.passed), _ROW[len(seen.row)], bytes(seen.row),
        _DISCARDS[len(seen.discards)], bytes(seen.discards), _ASIDE[len(seen.aside)], bytes(seen.aside),
        _OWNER[len(seen.owner)], bytes(seen.owner), _TAXIS[len(seen.taxis)], bytes(seen.taxis),
        _HAND_SIZES[len(seen.hand_sizes)], bytes(seen.hand_sizes),
        _TICKET_COUNTS[len(seen.ticket_counts)], bytes(seen.ticket_counts),
        _KNOWN[len(seen.known)], bytes(seen.known), _HAND[len(seen.hand)], bytes(seen.hand),
        _TICKETS_HELD[len(seen.tickets)], bytes(seen.tickets), _OFFERED[len(seen.offered)], bytes(seen.offered),
        _UNDER[len(seen.under)], bytes(seen.under), _LEDGER[len(seen.ledger)], seen.ledger,
    ))
    # fmt: on


def observation_message(observation: Observation) -> pb.Observation:
    """The message, whatever the numbers."""
    return pb.Observation(
        **{name: getattr(observation, name) for name in (*_SCALARS, *_REPEATED)},
        stage=_STAGE_NUMBERS[observation.stage],
        ledger=pb.Ledger.FromString(observation.ledger),
        scores=[_EVENTS.body(score) for score in observation.scores],
        box=observation.box,
    )


def decode_observation(data: bytes) -> Observation:
    message = parse_message(pb.Observation, data)
    for name in ("row", "discards", "aside"):
        if len(getattr(message, name)) != len(CARDS):
            raise ActionSyntaxError(f"Observation.{name}: expected {len(CARDS)} counts")
    values: dict[str, Any] = {name: getattr(message, name) for name in _SCALARS}
    values |= {name: tuple(getattr(message, name)) for name in _REPEATED}
    values["viewer"] = message.viewer if message.HasField("viewer") else None
    return Observation(
        **values,
        stage=enum_name(STAGES, message.stage, "stage"),
        ledger=_ledger(message.ledger),
        scores=tuple([_EVENTS.from_body(ev.SeatScore, score) for score in message.scores]),
        box=message.box,
    )


def _ledger(message: pb.Ledger) -> bytes:
    for name, width in WIDTHS.items():
        if len(getattr(message, name)) % width:
            raise ActionSyntaxError(f"Ledger.{name}: expected {width} numbers for each entry")
    for names in _SAME_LENGTH:
        if len({len(getattr(message, name)) for name in names}) != 1:
            raise ActionSyntaxError(f"Ledger: {', '.join(names)} differ in length")
    try:
        return write_ledger([bytes(getattr(message, name)) for name in COLUMNS])
    except (ValueError, IndexError):
        raise ActionSyntaxError("Ledger: expected numbers from 0 to 255, and fewer of them") from None
