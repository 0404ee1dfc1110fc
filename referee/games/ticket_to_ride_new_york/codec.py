"""To and from the messages of `proto/crosstown/v1/ticket_to_ride_new_york.proto`."""

from collections.abc import Iterator, Sequence
from typing import TypeVar

from crosstown_proto.v1 import ticket_to_ride_new_york_pb2 as pb
from google.protobuf.message import DecodeError, Message

from referee.games.api import ActionSyntaxError
from referee.games.ticket_to_ride_new_york import events as ev
from referee.games.ticket_to_ride_new_york.actions import (
    CARDS,
    Answer,
    Claim,
    Draw,
    DrawTickets,
    Keep,
    Pass,
    Stop,
    Take,
    route_id,
    ticket_id,
)
from referee.games.ticket_to_ride_new_york.box import MAX_NUMBER
from referee.games.ticket_to_ride_new_york.observation import LayerSeen, Ledger, Observation, OfferSeen

_Message = TypeVar("_Message", bound=Message)
_Item = TypeVar("_Item")

_KINDS = len(CARDS)
# Number of the enum value = position in the tuple; "" is what a viewer does not know.
_CARD_NAMES = ("", *CARDS)
_CARD_NUMBERS = {name: pb.Card.ValueType(number) for number, name in enumerate(_CARD_NAMES)}
_CARD_VALUES = tuple(_CARD_NUMBERS.values())
_STAGES = (
    "",
    "lot",
    "hands",
    "refill",
    "unseen",
    "deal_tickets",
    "draw_ticket",
    "starting_tickets",
    "turn",
    "second_card",
    "keep_tickets",
    "over",
)
_STAGE_NUMBERS = {name: pb.Stage.ValueType(number) for number, name in enumerate(_STAGES)}
_AFTER = ("", "tickets", "second", "end")
_AFTER_NUMBERS = {name: pb.AfterRow.ValueType(number) for number, name in enumerate(_AFTER)}
_ROUTES = {route_id(number): number for number in range(1, MAX_NUMBER + 1)}
_TICKETS = {ticket_id(number): number for number in range(1, MAX_NUMBER + 1)}
_ROUTE_NAMES = ("", *_ROUTES)
_TICKET_NAMES = ("", *_TICKETS)

# Actions

_KIND_NUMBERS = {Pass: 1, Stop: 2, Draw: 3, Take: 4, DrawTickets: 5, Claim: 6, Keep: 7}
_PLAIN: dict[int, Answer] = {1: Pass(), 2: Stop(), 3: Draw(), 5: DrawTickets()}
_PLAIN_NAMES = {1: "pass_turn", 2: "stop", 3: "draw", 5: "draw_tickets"}
_PLAIN_ACTIONS = {name: _PLAIN[number] for number, name in _PLAIN_NAMES.items()}


def encode_action(action: Answer) -> bytes:
    if isinstance(action, Claim):
        claim = pb.Claim(route=_ROUTES[action.route], card=_CARD_NUMBERS[action.card], taxis=action.taxis)
        return pb.Action(claim=claim).SerializeToString()
    if isinstance(action, Take):
        return pb.Action(take=pb.Take(card=_CARD_NUMBERS[action.card])).SerializeToString()
    if isinstance(action, Keep):
        return pb.Action(keep=pb.Keep(tickets=[_TICKETS[name] for name in action.tickets])).SerializeToString()
    message = pb.Action()
    getattr(message, _PLAIN_NAMES[_KIND_NUMBERS[type(action)]]).SetInParent()
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
    kinds = [_KIND_NUMBERS[type(action)] for action in actions]
    claims = kinds.count(6)
    others = len(kinds) - claims
    cards: list[pb.Card.ValueType] = [pb.CARD_UNKNOWN] * others
    numbers = [0] * others
    more = [0] * others
    for place, action in enumerate(actions[:others]):
        if isinstance(action, Take):
            cards[place] = _CARD_NUMBERS[action.card]
        elif isinstance(action, Keep):
            chosen = [_TICKETS[name] for name in action.tickets]
            numbers[place], more[place] = (*chosen, 0)[:2]
        elif isinstance(action, Claim):
            return _encode_mixed(actions)
    claimed: list[Claim] = actions[others:]  # type: ignore[assignment]  # claims come last in a legal list
    cards += [_CARD_NUMBERS[claim.card] for claim in claimed]
    numbers += [_ROUTES[claim.route] for claim in claimed]
    more += [claim.taxis for claim in claimed]
    return pb.LegalActions(kind=kinds, card=cards, number=numbers, other=more).SerializeToString()


def _encode_mixed(actions: Sequence[Answer]) -> bytes:
    """Any order: lists that are no legal list."""
    message = pb.LegalActions()
    for action in actions:
        part = pb.LegalActions.FromString(encode_actions([action]))
        message.MergeFrom(part)
    return message.SerializeToString()


def decode_actions(data: bytes) -> tuple[Answer, ...]:
    message = _parsed(pb.LegalActions, data)
    if not len(message.kind) == len(message.card) == len(message.number) == len(message.other):
        raise ActionSyntaxError("the columns of LegalActions differ in length")
    columns = zip(message.kind, message.card, message.number, message.other, strict=True)
    return tuple(_column_action(*entry) for entry in columns)


def _column_action(kind: int, card: int, number: int, other: int) -> Answer:
    if kind == _KIND_NUMBERS[Claim]:
        return _claim(number, card, other)
    if kind == _KIND_NUMBERS[Take]:
        return Take(_card(card))
    if kind == _KIND_NUMBERS[Keep]:
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
    return pb.Observation(
        viewer=observation.viewer,
        players=observation.players,
        stage=_STAGE_NUMBERS[observation.stage],
        asked=observation.asked,
        turn_seat=observation.turn_seat,
        first_seat=observation.first_seat,
        last_turns=observation.last_turns,
        left=observation.left,
        passed=observation.passed,
        second=observation.second,
        to_draw=observation.to_draw,
        after_row=_AFTER_NUMBERS[observation.after_row],
        row=observation.row,
        deck_size=observation.deck_size,
        discards=observation.discards,
        aside=observation.aside,
        epoch=observation.epoch,
        flushes=observation.flushes,
        owner=[seat + 1 for seat in observation.owner],
        taxis=observation.taxis,
        hand_sizes=observation.hand_sizes,
        ticket_counts=observation.ticket_counts,
        known=_flat(observation.known),
        unknown_tickets=observation.unknown_tickets,
        scores=[_score_message(score) for score in observation.scores],
        hand=observation.hand,
        tickets=observation.tickets,
        offered=observation.offered,
        under=observation.under,
        ledger=_ledger_message(observation.ledger),
        box=observation.box,
    ).SerializeToString()


def _flat(rows: Sequence[Sequence[int]]) -> list[int]:
    return [value for row in rows for value in row]


def _ledger_message(ledger: Ledger) -> pb.Ledger:
    layers, offers = ledger.layers, ledger.offers
    return pb.Ledger(
        pools=_flat([layer.pool for layer in layers]),
        layer_draws=[len(layer.owners) for layer in layers],
        owners=_flat([layer.owners for layer in layers]),
        cards=[_CARD_VALUES[card + 1] for layer in layers for card in layer.cards],
        evidence=_flat(ledger.evidence),
        debts=[value for seat, card, count, layer, at in ledger.debts for value in (seat, card + 1, count, layer, at)],
        refusals=[
            value for seat, layer, at, base, limits in ledger.refusals for value in (seat, layer, at, *base, *limits)
        ],
        offer_seats=[offer.seat for offer in offers],
        offer_sizes=[len(offer.sources) for offer in offers],
        offer_sources=_flat([offer.sources for offer in offers]),
        offer_tickets=_flat([offer.tickets for offer in offers]),
        offer_states=[offer.returned_count + 1 for offer in offers],
        offer_returned=[offer.returned for offer in offers],
        under=ledger.under,
    )


def decode_observation(data: bytes) -> Observation:
    message = _parsed(pb.Observation, data)
    for name in ("row", "discards", "aside"):
        if len(getattr(message, name)) != _KINDS:
            raise ActionSyntaxError(f"Observation.{name}: expected {_KINDS} counts")
    return Observation(
        viewer=message.viewer if message.HasField("viewer") else None,
        players=message.players,
        stage=_named(_STAGES, message.stage, "stage"),
        asked=tuple(message.asked),
        turn_seat=message.turn_seat,
        first_seat=message.first_seat,
        last_turns=message.last_turns,
        left=tuple(message.left),
        passed=tuple(message.passed),
        second=message.second,
        to_draw=message.to_draw,
        after_row=_named(_AFTER, message.after_row, "after_row"),
        row=tuple(message.row),
        deck_size=message.deck_size,
        discards=tuple(message.discards),
        aside=tuple(message.aside),
        epoch=message.epoch,
        flushes=message.flushes,
        owner=tuple([seat - 1 for seat in message.owner]),
        taxis=tuple(message.taxis),
        hand_sizes=tuple(message.hand_sizes),
        ticket_counts=tuple(message.ticket_counts),
        known=tuple(_rows(message.known, _KINDS, "known")),
        unknown_tickets=message.unknown_tickets,
        scores=tuple([_score(score) for score in message.scores]),
        hand=tuple(message.hand),
        tickets=tuple(message.tickets),
        offered=tuple(message.offered),
        under=tuple(message.under),
        ledger=_ledger(message.ledger),
        box=message.box,
    )


def _ledger(message: pb.Ledger) -> Ledger:
    owners = list(_cut(message.owners, message.layer_draws, "owners"))
    cards = list(_cut([card - 1 for card in message.cards], message.layer_draws, "cards"))
    pools = list(_rows(message.pools, _KINDS, "pools"))
    sources = list(_cut(message.offer_sources, message.offer_sizes, "offer_sources"))
    tickets = list(_cut(message.offer_tickets, message.offer_sizes, "offer_tickets"))
    offers = (message.offer_seats, sources, tickets, message.offer_states, message.offer_returned)
    if not len(pools) == len(owners) == len(cards) or len({len(column) for column in offers}) != 1:
        raise ActionSyntaxError("the columns of Ledger differ in length")
    return Ledger(
        layers=tuple([LayerSeen(*layer) for layer in zip(pools, owners, cards, strict=True)]),
        evidence=tuple([(a, b, c, d) for a, b, c, d in _rows(message.evidence, 4, "evidence")]),
        debts=tuple([(a, b - 1, c, d, e) for a, b, c, d, e in _rows(message.debts, 5, "debts")]),
        refusals=tuple(
            [
                (entry[0], entry[1], entry[2], entry[3 : 3 + _KINDS], entry[3 + _KINDS :])
                for entry in _rows(message.refusals, 3 + _KINDS + _KINDS - 1, "refusals")
            ]
        ),
        offers=tuple(
            [OfferSeen(seat, of, which, state - 1, back) for seat, of, which, state, back in zip(*offers, strict=True)]
        ),
        under=tuple(message.under),
    )


def _rows(values: Sequence[int], width: int, name: str) -> Iterator[tuple[int, ...]]:
    if len(values) % width:
        raise ActionSyntaxError(f"{name}: expected {width} numbers each, not {len(values)} in all")
    for start in range(0, len(values), width):
        yield tuple(values[start : start + width])


def _cut(values: Sequence[int], sizes: Sequence[int], name: str) -> Iterator[tuple[int, ...]]:
    if len(values) != sum(sizes):
        raise ActionSyntaxError(f"{name}: expected {sum(sizes)} numbers, not {len(values)}")
    start = 0
    for size in sizes:
        yield tuple(values[start : start + size])
        start += size


# Events


def encode_events(payloads: Sequence[ev.Payload]) -> bytes:
    return pb.Events(events=[_event_message(payload) for payload in payloads]).SerializeToString()


def _event_message(payload: ev.Payload) -> pb.Event:
    match payload:
        case ev.CardDrawn(seat, card):
            return pb.Event(card_drawn=pb.CardDrawn(seat=seat, card=_CARD_NUMBERS[card]))
        case ev.CardTaken(seat, card):
            return pb.Event(card_taken=pb.CardTaken(seat=seat, card=_CARD_NUMBERS[card]))
        case ev.CardTurnedUp(card):
            return pb.Event(card_turned_up=pb.CardTurnedUp(card=_CARD_NUMBERS[card]))
        case ev.RouteClaimed(seat, route, card, taxis):
            claimed = pb.RouteClaimed(seat=seat, route=_ROUTES[route], card=_CARD_NUMBERS[card], taxis=taxis)
            return pb.Event(route_claimed=claimed)
        case ev.RowFlushed(cards):
            return pb.Event(row_flushed=pb.RowFlushed(cards=cards))
        case ev.DeckReshuffled(cards):
            return pb.Event(deck_reshuffled=pb.DeckReshuffled(cards=cards))
        case ev.TicketDrawn(seat, ticket):
            return pb.Event(ticket_drawn=pb.TicketDrawn(seat=seat, ticket=_TICKETS[ticket] if ticket else 0))
        case ev.TicketsKept():
            return pb.Event(
                tickets_kept=pb.TicketsKept(
                    seat=payload.seat,
                    kept_count=payload.kept_count,
                    returned_count=payload.returned_count,
                    kept=[_TICKETS[name] for name in payload.kept],
                    returned=[_TICKETS[name] for name in payload.returned],
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
        completed=[_TICKETS[name] for name in score.completed],
        failed=[_TICKETS[name] for name in score.failed],
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
