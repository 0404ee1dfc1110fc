"""What a viewer may see: built up from an allow-list, never cut down from the state.

Routes, tickets and cards are numbers here: 7 is R07 or T07, 1 is the first of CARDS, and 0 stands for what the viewer
does not know. Seven counts are in the order of CARDS. The fields are those of the Observation message.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import TypeAlias

from crosstown_proto.v1 import ticket_to_ride_new_york_pb2 as pb

from referee.games.api import draft_of
from referee.games.api.messages import keys_with_length, varint
from referee.games.ticket_to_ride_new_york.board import PLAYER_COUNTS
from referee.games.ticket_to_ride_new_york.decks import CARD_KINDS
from referee.games.ticket_to_ride_new_york.events import SeatScore
from referee.games.ticket_to_ride_new_york.state import AFTER_ROW, OVER, Position

Numbers: TypeAlias = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Observation:
    """The table from one seat, or from outside (viewer None).

    `known` is per seat seven counts, one seat after another: what everybody has seen it get and not yet pay. `owner` is
    per route 1 + the seat that claimed it, or 0. `under` are the returned tickets, uppermost first. `hand` is empty for
    a spectator. When the match is over `scores` are there and all tickets that were drawn are turned up. `ledger` is
    the Ledger message (see `Ledger`). `box` is the JSON of a replaced box, "" for the shipped one.
    """

    viewer: int | None
    players: int
    stage: str
    asked: Numbers
    turn_seat: int
    first_seat: int
    last_turns: int
    left: Numbers
    passed: Numbers
    row: Numbers
    deck_size: int
    discards: Numbers
    aside: Numbers
    epoch: int
    owner: Numbers
    taxis: Numbers
    hand_sizes: Numbers
    ticket_counts: Numbers
    known: Numbers
    unknown_tickets: int
    scores: tuple[SeatScore, ...]
    hand: Numbers
    tickets: Numbers
    offered: Numbers
    under: Numbers
    ledger: bytes
    box: str

    def known_of(self, seat: int) -> Numbers:
        """Seven counts: the cards that everybody has seen `seat` get and not yet pay."""
        return self.known[CARD_KINDS * seat : CARD_KINDS * (seat + 1)]

    def holders(self) -> Numbers:
        """Per route the seat that claimed it, or -1: what `Board` works with."""
        return tuple([number - 1 for number in self.owner])


@dataclass(frozen=True, slots=True)
class Ledger:
    """What follows from all that the viewer has seen so far: enough to make a state that fits it.

    Columns of small numbers, each a byte, in the order of their field numbers in the message. `Market`, `TicketDeck`
    and `Position` explain them; `evidence`, `debts` and `refusals` are written one entry after another, four, four and
    eight numbers each. `moment` is what a state needs beside it: whether the card being drawn is the second one, the
    tickets still to be drawn, what comes after the row (its place in AFTER_ROW), and the flushes.
    """

    pools: bytes
    draws: bytes
    owners: bytes
    cards: bytes
    evidence: bytes
    debts: bytes
    refusals: bytes
    offer_seats: bytes
    offer_sizes: bytes
    offer_states: bytes
    offer_returned: bytes
    ticket_sources: bytes
    ticket_numbers: bytes
    under: bytes
    moment: bytes


COLUMNS = tuple(field.name for field in fields(Ledger))
WIDTHS = {"pools": CARD_KINDS, "evidence": 4, "debts": 4, "refusals": 8}
"""Numbers per entry, where more than one."""
_LONGEST = 1023
"""Longer than any column of a box that passes check_data."""
_KEYS = keys_with_length(pb.Ledger, COLUMNS, _LONGEST)
_POOLS, _DRAWS, _OWNERS, _CARDS, _EVIDENCE, _DEBTS, _REFUSALS, _OFFER_SEATS, *_MORE = _KEYS
_OFFER_SIZES, _OFFER_STATES, _OFFER_RETURNED, _SOURCES, _NUMBERS, _UNDER, _MOMENT = _MORE


def write_ledger(columns: Sequence[bytes | bytearray]) -> bytes:
    """The Ledger message, from the columns in order. IndexError if one is too long.

    Written by hand, since this happens at every decision: a packed field of numbers below 128 is these numbers as
    bytes, after its key and its length.
    """
    # fmt: off
    (
        pools, draws, owners, cards, evidence, debts, refusals, offer_seats,
        offer_sizes, offer_states, offer_returned, sources, numbers, under, moment,
    ) = columns
    data = b"".join((
        _POOLS[len(pools)], pools, _DRAWS[len(draws)], draws, _OWNERS[len(owners)], owners, _CARDS[len(cards)], cards,
        _EVIDENCE[len(evidence)], evidence, _DEBTS[len(debts)], debts, _REFUSALS[len(refusals)], refusals,
        _OFFER_SEATS[len(offer_seats)], offer_seats, _OFFER_SIZES[len(offer_sizes)], offer_sizes,
        _OFFER_STATES[len(offer_states)], offer_states, _OFFER_RETURNED[len(offer_returned)], offer_returned,
        _SOURCES[len(sources)], sources, _NUMBERS[len(numbers)], numbers, _UNDER[len(under)], under,
        _MOMENT[len(moment)], moment,
    ))
    # fmt: on
    if data.isascii():  # so no number and no length needs two bytes
        return data
    wide = [b"".join([varint(number) for number in column]) for column in columns]
    return b"".join([part for keys, column in zip(_KEYS, wide, strict=True) for part in (keys[len(column)], column)])


def read_ledger(data: bytes) -> Ledger:
    """Inverse of `write_ledger`, for what it wrote."""
    columns = []
    at = 0
    for _ in COLUMNS:
        length, at = _read_varint(data, at + 1)
        column = data[at : at + length]
        columns.append(column if column.isascii() else _narrow(column))
        at += length
    return Ledger(*columns)


def _read_varint(data: bytes, at: int) -> tuple[int, int]:
    """The number there, below 2^14, and where it ends."""
    if data[at] < 128:
        return data[at], at + 1
    return data[at] % 128 + 128 * data[at + 1], at + 2


def _narrow(column: bytes) -> bytes:
    """A column whose larger numbers take two bytes each, as one with a byte for each."""
    numbers = bytearray()
    at = 0
    while at < len(column):
        number, at = _read_varint(column, at)
        numbers.append(number)
    return bytes(numbers)


_DRAFT = draft_of(Observation)
_MASKS = tuple(bytes(255 if byte == seat else 0 for byte in range(256)) for seat in range(PLAYER_COUNTS[-1]))
"""By viewer, to be used with `translate`: 255 for its seat, 0 for others."""


def observe(
    position: Position, scores: tuple[SeatScore, ...], viewer: int | None, with_ledger: bool = True
) -> Observation:
    """What `viewer` may see of the position; None is a spectator. `scores` are shown when the match is over.

    Without its ledger an observation is made in half of the time.
    """
    market, deck = position.market, position.tickets
    over = position.stage == OVER
    returned = bytes(deck.returned) if over else _own(viewer, deck.seats, deck.returned)
    hand: Numbers = ()
    tickets: Numbers = ()
    offered: Numbers = ()
    if viewer is not None:
        hand = tuple(position.hands[viewer])
        tickets = tuple(position.kept[viewer])
        if position.open_offers[viewer] >= 0:
            offered = tuple(deck.offered(position.open_offers[viewer]))
    seen = _DRAFT(
        viewer=viewer,
        players=position.players,
        stage=position.stage,
        asked=position.asked(),
        turn_seat=position.turn_seat,
        first_seat=position.first_seat,
        last_turns=position.last_turns,
        left=tuple(position.left),
        passed=tuple(position.passed),
        row=tuple(market.row),
        deck_size=market.deck_size,
        discards=tuple(market.discards),
        aside=tuple(market.aside),
        epoch=market.epoch,
        owner=tuple([seat + 1 for seat in position.owner]),
        taxis=tuple(position.taxis),
        hand_sizes=tuple(position.hand_sizes),
        ticket_counts=tuple([len(kept) for kept in position.kept]),
        known=tuple(position.known),
        unknown_tickets=len(deck.unknown),
        scores=scores,
        hand=hand,
        tickets=tickets,
        offered=offered,
        under=tuple([returned[number] for number in deck.under]),
        ledger=_ledger_of(position, viewer, returned) if with_ledger else b"",
        box=position.board.box_text,
    )
    seen.__class__ = Observation
    return seen  # type: ignore[no-any-return]


def _ledger_of(position: Position, viewer: int | None, returned: bytes) -> bytes:
    """The Ledger message; `returned` are the returned tickets that the viewer knows."""
    market, deck = position.market, position.tickets
    over = position.stage == OVER
    return write_ledger(
        (
            market.pools,
            market.draws,
            market.owners,
            _own(viewer, market.owners, market.cards),
            bytes([value for entry in market.evidence for value in entry]) if market.evidence else b"",
            position.debts,
            position.refusals,
            deck.seats,
            deck.sizes,
            deck.states,
            returned,
            deck.sources,
            bytes(deck.tickets) if over else _own(viewer, deck.owners, deck.tickets),
            deck.under,
            bytes((position.second, position.to_draw, AFTER_ROW.index(position.after_row), market.flushes)),
        )
    )


def _own(viewer: int | None, seats: bytearray, numbers: bytearray) -> bytes:
    """The numbers beside the viewer's seat, 0 beside the others."""
    if viewer is None:
        return bytes(len(numbers))
    mask = int.from_bytes(seats.translate(_MASKS[viewer]), "big")
    return (mask & int.from_bytes(numbers, "big")).to_bytes(len(numbers), "big")
