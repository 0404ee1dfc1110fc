"""To and from the messages of `proto/crosstown/v1/ticket_to_ride_new_york.proto`."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, TypeVar

from crosstown_proto.v1 import ticket_to_ride_new_york_pb2 as pb
from google.protobuf.message import DecodeError, Message

from referee.games.api import ActionSyntaxError
from referee.games.ticket_to_ride_new_york import events as ev
from referee.games.ticket_to_ride_new_york.actions import (
    CARD_NUMBERS,
    CARDS,
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
from referee.games.ticket_to_ride_new_york.ledger import COLUMNS, WIDTHS, write_ledger
from referee.games.ticket_to_ride_new_york.observation import Observation
from referee.games.ticket_to_ride_new_york.packed import pack_legal, pack_observation
from referee.games.ticket_to_ride_new_york.stages import STAGES

_Message = TypeVar("_Message", bound=Message)

_KINDS = len(CARDS)
# Number of the enum value = position in the tuple; "" is what a viewer does not know.
_CARD_NAMES = ("", *CARDS)
_CARD_NUMBERS = {name: pb.Card.ValueType(number) for name, number in CARD_NUMBERS.items()}
_STAGES = ("", *STAGES)
_STAGE_NUMBERS = {name: pb.Stage.ValueType(number) for number, name in enumerate(_STAGES)}
_ROUTE_NAMES = ("", *ROUTE_NUMBERS)
_TICKET_NAMES = ("", *TICKET_NUMBERS)

# Fields of Observation and Ledger that are the same in message and dataclass.
_SCALARS = (
    "viewer",
    "players",
    "turn_seat",
    "first_seat",
    "last_turns",
    "deck_size",
    "epoch",
    "unknown_tickets",
)
_REPEATED = (
    "asked",
    "left",
    "passed",
    "row",
    "discards",
    "aside",
    "taxis",
    "hand_sizes",
    "ticket_counts",
    "known",
    "hand",
    "tickets",
    "offered",
    "under",
)
_BESIDE = (
    ("owners", "cards"),
    ("offer_seats", "offer_sizes", "offer_states", "offer_returned"),
    ("ticket_sources", "ticket_numbers"),
)

# Actions

_PLAIN: dict[int, Answer] = {action.columns[0]: action for action in (Pass(), Stop(), Draw(), DrawTickets())}
_TAKE, _CLAIM, _KEEP = 4, 6, 7
_PLAIN_NAMES: dict[type[Answer], str] = {Pass: "pass_turn", Stop: "stop", Draw: "draw", DrawTickets: "draw_tickets"}
_PLAIN_ACTIONS = {_PLAIN_NAMES[type(action)]: action for action in _PLAIN.values()}


def encode_action(action: Answer) -> bytes:
    if isinstance(action, Claim):
        claim = pb.Claim(route=ROUTE_NUMBERS[action.route], card=_CARD_NUMBERS[action.card], taxis=action.taxis)
        return pb.Action(claim=claim).SerializeToString()
    if isinstance(action, Take):
        return pb.Action(take=pb.Take(card=_CARD_NUMBERS[action.card])).SerializeToString()
    if isinstance(action, Keep):
        return pb.Action(keep=pb.Keep(tickets=[TICKET_NUMBERS[name] for name in action.tickets])).SerializeToString()
    message = pb.Action()
    getattr(message, _PLAIN_NAMES[type(action)]).SetInParent()
    return message.SerializeToString()


def decode_action(data: bytes) -> Answer:
    message = _parsed(pb.Action, data)
    kind = message.WhichOneof("kind")
    if kind is None:
        raise ActionSyntaxError("the Action message is empty: expected one of the fields of its oneof")
    if kind == "claim":
        return _claim(message.claim.route, message.claim.card, message.claim.taxis)
    if kind == "take":
        return Take(_card(message.take.card))
    if kind == "keep":
        return Keep(tuple(_ticket(number) for number in message.keep.tickets))
    return _PLAIN_ACTIONS[kind]


def encode_actions(actions: Sequence[Answer]) -> bytes:
    return pack_legal(b"".join([action.columns for action in actions]))


def decode_actions(data: bytes) -> tuple[Answer, ...]:
    message = _parsed(pb.LegalActions, data)
    if not len(message.kind) == len(message.card) == len(message.number) == len(message.other):
        raise ActionSyntaxError("the columns of LegalActions differ in length")
    columns = zip(message.kind, message.card, message.number, message.other, strict=True)
    return tuple([_column_action(*entry) for entry in columns])


def _column_action(kind: int, card: int, number: int, other: int) -> Answer:
    if kind == _CLAIM:
        return _claim(number, card, other)
    if kind == _TAKE:
        return Take(_card(card))
    if kind == _KEEP:
        return Keep((_ticket(number), _ticket(other)) if other else (_ticket(number),))
    if kind not in _PLAIN:
        raise ActionSyntaxError(f"LegalActions: {kind} is no kind of action, expected 1 to 7")
    return _PLAIN[kind]


def _claim(route: int, card: int, taxis: int) -> Claim:
    if not 1 <= route <= MAX_NUMBER:
        raise ActionSyntaxError(f"route {route}: expected the number of a route, from 1 on")
    return Claim(_ROUTE_NAMES[route], _card(card), taxis)


def _card(number: int) -> str:
    if not 1 <= number <= _KINDS:
        raise ActionSyntaxError(f"card {number}: expected a Card from 1 (red) to {_KINDS} (taxi)")
    return _CARD_NAMES[number]


def _ticket(number: int) -> str:
    if not 1 <= number <= MAX_NUMBER:
        raise ActionSyntaxError(f"ticket {number}: expected the number of a ticket, from 1 on")
    return _TICKET_NAMES[number]


# Observations


def encode_observation(observation: Observation) -> bytes:
    packed = pack_observation(observation, _STAGE_NUMBERS[observation.stage])
    return packed if packed is not None else observation_message(observation).SerializeToString()


def observation_message(observation: Observation) -> pb.Observation:
    """The message, whatever the numbers."""
    return pb.Observation(
        **{name: getattr(observation, name) for name in (*_SCALARS, *_REPEATED)},
        stage=_STAGE_NUMBERS[observation.stage],
        owner=[seat + 1 for seat in observation.owner],
        ledger=pb.Ledger.FromString(observation.ledger),
        scores=[_score_message(score) for score in observation.scores],
        box=observation.box,
    )


def decode_observation(data: bytes) -> Observation:
    message = _parsed(pb.Observation, data)
    for name in ("row", "discards", "aside"):
        if len(getattr(message, name)) != _KINDS:
            raise ActionSyntaxError(f"Observation.{name}: expected {_KINDS} counts")
    values: dict[str, Any] = {name: getattr(message, name) for name in _SCALARS}
    values |= {name: tuple(getattr(message, name)) for name in _REPEATED}
    values["viewer"] = message.viewer if message.HasField("viewer") else None
    return Observation(
        **values,
        stage=_named(_STAGES, message.stage, "stage"),
        owner=tuple([seat - 1 for seat in message.owner]),
        ledger=_ledger(message.ledger),
        scores=tuple([_score(score) for score in message.scores]),
        box=message.box,
    )


def _ledger(message: pb.Ledger) -> bytes:
    for name, width in WIDTHS.items():
        if len(getattr(message, name)) % width:
            raise ActionSyntaxError(f"Ledger.{name}: expected {width} numbers for each entry")
    for names in _BESIDE:
        if len({len(getattr(message, name)) for name in names}) != 1:
            raise ActionSyntaxError(f"Ledger: {', '.join(names)} differ in length")
    try:
        return write_ledger([bytes(getattr(message, name)) for name in COLUMNS])
    except (ValueError, IndexError):
        raise ActionSyntaxError("Ledger: expected numbers from 0 to 255, and fewer of them") from None


# Events


def encode_events(payloads: Sequence[ev.Payload]) -> bytes:
    return b"".join([_encoded_event(payload) for payload in payloads])


@lru_cache(maxsize=4096)
def _encoded_event(payload: ev.Payload) -> bytes:
    """One entry of Events: repeated fields may be written one after another."""
    return pb.Events(events=[_event_message(payload)]).SerializeToString()


def _event_message(payload: ev.Payload) -> pb.Event:
    match payload:
        case ev.CardDrawn(seat, card):
            return pb.Event(card_drawn=pb.CardDrawn(seat=seat, card=_CARD_NUMBERS[card]))
        case ev.CardTaken(seat, card):
            return pb.Event(card_taken=pb.CardTaken(seat=seat, card=_CARD_NUMBERS[card]))
        case ev.CardTurnedUp(card):
            return pb.Event(card_turned_up=pb.CardTurnedUp(card=_CARD_NUMBERS[card]))
        case ev.RouteClaimed(seat, route, card, taxis):
            claimed = pb.RouteClaimed(seat=seat, route=ROUTE_NUMBERS[route], card=_CARD_NUMBERS[card], taxis=taxis)
            return pb.Event(route_claimed=claimed)
        case ev.RowFlushed(cards):
            return pb.Event(row_flushed=pb.RowFlushed(cards=cards))
        case ev.DeckReshuffled(cards):
            return pb.Event(deck_reshuffled=pb.DeckReshuffled(cards=cards))
        case ev.TicketDrawn(seat, ticket):
            return pb.Event(ticket_drawn=pb.TicketDrawn(seat=seat, ticket=TICKET_NUMBERS[ticket] if ticket else 0))
        case ev.TicketsKept():
            return pb.Event(
                tickets_kept=pb.TicketsKept(
                    seat=payload.seat,
                    kept_count=payload.kept_count,
                    returned_count=payload.returned_count,
                    kept=[TICKET_NUMBERS[name] for name in payload.kept],
                    returned=[TICKET_NUMBERS[name] for name in payload.returned],
                )
            )
        case ev.FirstPlayer(seat):
            return pb.Event(first_player=pb.FirstPlayer(seat=seat))
        case ev.Stopped(seat):
            return pb.Event(stopped=pb.Stopped(seat=seat))
        case ev.Passed(seat):
            return pb.Event(passed=pb.Passed(seat=seat))
        case ev.LastTurns(seat):
            return pb.Event(last_turns=pb.LastTurns(seat=seat))
        case ev.SeatLeft(seat):
            return pb.Event(seat_left=pb.SeatLeft(seat=seat))
        case ev.SeatScore():
            return pb.Event(seat_score=_score_message(payload))


def _score_message(score: ev.SeatScore) -> pb.SeatScore:
    return pb.SeatScore(
        seat=score.seat,
        route_points=score.route_points,
        ticket_points=score.ticket_points,
        attraction_points=score.attraction_points,
        completed=[TICKET_NUMBERS[name] for name in score.completed],
        failed=[TICKET_NUMBERS[name] for name in score.failed],
    )


def decode_events(data: bytes) -> tuple[ev.Payload, ...]:
    return tuple([_event(event) for event in _parsed(pb.Events, data).events])


def _event(event: pb.Event) -> ev.Payload:
    match event.WhichOneof("kind"):
        case "card_drawn":
            return ev.CardDrawn(event.card_drawn.seat, _named(_CARD_NAMES, event.card_drawn.card, "card", empty=True))
        case "card_taken":
            return ev.CardTaken(event.card_taken.seat, _card(event.card_taken.card))
        case "card_turned_up":
            return ev.CardTurnedUp(_card(event.card_turned_up.card))
        case "route_claimed":
            claim = _claim(event.route_claimed.route, event.route_claimed.card, event.route_claimed.taxis)
            return ev.RouteClaimed(event.route_claimed.seat, claim.route, claim.card, claim.taxis)
        case "row_flushed":
            return ev.RowFlushed(tuple(event.row_flushed.cards))
        case "deck_reshuffled":
            return ev.DeckReshuffled(tuple(event.deck_reshuffled.cards))
        case "ticket_drawn":
            number = event.ticket_drawn.ticket
            return ev.TicketDrawn(event.ticket_drawn.seat, _ticket(number) if number else "")
        case "tickets_kept":
            told = event.tickets_kept
            return ev.TicketsKept(
                told.seat,
                told.kept_count,
                told.returned_count,
                tuple([_ticket(number) for number in told.kept]),
                tuple([_ticket(number) for number in told.returned]),
            )
        case "first_player":
            return ev.FirstPlayer(event.first_player.seat)
        case "stopped":
            return ev.Stopped(event.stopped.seat)
        case "passed":
            return ev.Passed(event.passed.seat)
        case "last_turns":
            return ev.LastTurns(event.last_turns.seat)
        case "seat_left":
            return ev.SeatLeft(event.seat_left.seat)
        case "seat_score":
            return _score(event.seat_score)
        case _:
            raise ActionSyntaxError("an Event message is empty: expected one of the fields of its oneof")


def _score(score: pb.SeatScore) -> ev.SeatScore:
    return ev.SeatScore(
        score.seat,
        score.route_points,
        score.ticket_points,
        score.attraction_points,
        tuple([_ticket(number) for number in score.completed]),
        tuple([_ticket(number) for number in score.failed]),
    )


def _named(names: Sequence[str], number: int, what: str, empty: bool = False) -> str:
    if not (0 if empty else 1) <= number < len(names):
        raise ActionSyntaxError(f"{what} {number}: expected a number up to {len(names) - 1}")
    return names[number]


def _parsed(kind: type[_Message], data: bytes) -> _Message:
    try:
        return kind.FromString(data)
    except DecodeError as error:
        raise ActionSyntaxError(f"these bytes are no {kind.DESCRIPTOR.name} message: {error}") from None
