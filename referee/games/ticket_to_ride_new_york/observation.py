"""What a viewer may see: built up from an allow-list, never cut down from the state.

Routes, tickets and cards are numbers here: 7 is R07 or T07, 1 is the first of CARDS, and 0 stands for what the viewer
does not know. Seven counts are in the order of CARDS. The fields are those of the Observation message.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from referee.games.api import draft_of
from referee.games.ticket_to_ride_new_york.actions import CARDS
from referee.games.ticket_to_ride_new_york.events import SeatScore
from referee.games.ticket_to_ride_new_york.ledger import write_ledger
from referee.games.ticket_to_ride_new_york.stages import AFTER_ROW
from referee.games.ticket_to_ride_new_york.tables import PLAYER_COUNTS

if TYPE_CHECKING:
    from referee.games.ticket_to_ride_new_york.rules import State

_MASKS = tuple(bytes(255 if byte == seat else 0 for byte in range(256)) for seat in range(PLAYER_COUNTS[-1]))
"""By viewer, to be used with `translate`: 255 for its seat, 0 for others."""

Numbers: TypeAlias = tuple[int, ...]

_KINDS = len(CARDS)


@dataclass(frozen=True, slots=True)
class Observation:
    """The table from one seat, or from outside (viewer None).

    `known` is per seat seven counts, one seat after another: what everybody has seen it get and not yet pay. `owner` is
    per route the seat that claimed it or -1. `under` are the returned tickets, uppermost first. `hand` is empty for a
    spectator. When the match is over `scores` are there and all tickets that were drawn are turned up. `ledger` is
    the Ledger message (see ledger.py). `box` is the JSON of a replaced box, "" for the shipped one.
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
        return self.known[_KINDS * seat : _KINDS * (seat + 1)]


def observe(state: "State", viewer: int | None) -> Observation:
    """What `viewer` may see of `state`; None is a spectator."""
    market, deck = state.market, state.tickets
    over = state.is_terminal()
    if over:
        returned, numbers = bytes(deck.returned), bytes(deck.tickets)
    else:
        returned = _own(viewer, deck.seats, deck.returned)
        numbers = _own(viewer, deck.owners, deck.tickets)
    hand: Numbers = ()
    tickets: Numbers = ()
    offered: Numbers = ()
    if viewer is not None:
        hand = tuple(state.hands[viewer])
        tickets = tuple(state.kept[viewer])
        if state.open_offers[viewer] >= 0:
            offered = tuple(deck.offered(state.open_offers[viewer]))
    seen = _DRAFT(
        viewer=viewer,
        players=state.tables.players,
        stage=state.stage,
        asked=state.asked(),
        turn_seat=state.turn_seat,
        first_seat=state.first_seat,
        last_turns=state.last_turns,
        left=tuple(state.left),
        passed=tuple(state.passed),
        row=tuple(market.row),
        deck_size=market.deck_size,
        discards=tuple(market.discards),
        aside=tuple(market.aside),
        epoch=market.epoch,
        owner=tuple(state.owner),
        taxis=tuple(state.taxis),
        hand_sizes=tuple(state.hand_sizes),
        ticket_counts=tuple([len(kept) for kept in state.kept]),
        known=tuple(state.known),
        unknown_tickets=len(deck.unknown),
        scores=tuple(state.scores()) if over else (),
        hand=hand,
        tickets=tickets,
        offered=offered,
        under=tuple([returned[number] for number in deck.under]),
        ledger=write_ledger(
            (
                market.pools,
                market.draws,
                market.owners,
                _own(viewer, market.owners, market.cards),
                bytes([value for entry in market.evidence for value in entry]) if market.evidence else b"",
                state.debts,
                state.refusals,
                deck.seats,
                deck.sizes,
                deck.states,
                returned,
                deck.sources,
                numbers,
                deck.under,
                bytes((state.second, state.to_draw, AFTER_ROW.index(state.after_row), market.flushes)),
            )
        ),
        box=state.tables.box_text,
    )
    seen.__class__ = Observation
    return seen  # type: ignore[no-any-return]


_DRAFT = draft_of(Observation)


def _own(viewer: int | None, seats: bytearray, numbers: bytearray) -> bytes:
    """The numbers beside the viewer's seat, 0 beside the others."""
    if viewer is None:
        return bytes(len(numbers))
    mask = int.from_bytes(seats.translate(_MASKS[viewer]), "big")
    return (mask & int.from_bytes(numbers, "big")).to_bytes(len(numbers), "big")
