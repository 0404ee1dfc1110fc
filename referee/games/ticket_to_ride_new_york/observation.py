"""What a viewer may see: built up from an allow-list, never cut down from the state.

Routes and tickets are numbers here, as in their ids: 7 is R07 or T07, and ticket 0 is one the viewer does not know.
Seven counts are in the order of CARDS.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from referee.games.ticket_to_ride_new_york.events import SeatScore
from referee.games.ticket_to_ride_new_york.tickets import UNKNOWN

if TYPE_CHECKING:
    from referee.games.ticket_to_ride_new_york.rules import State

Counts: TypeAlias = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class LayerSeen:
    """One deck between two reshuffles. `pool`: its cards that were not turned up. `owners`: who drew unseen, in order.

    `cards`: what they drew, as positions in CARDS; -1 for what the viewer does not know.
    """

    pool: Counts
    owners: tuple[int, ...]
    cards: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class OfferSeen:
    """Tickets a seat drew to choose from, in the order it drew them.

    `sources`: p >= 0 is the p-th ticket drawn from the unknown part of the deck, -1 - i the one returned in offer i.
    `returned_count`: -1 while the seat has not chosen.
    """

    seat: int
    sources: tuple[int, ...]
    tickets: tuple[int, ...]
    returned_count: int
    returned: int


@dataclass(frozen=True, slots=True)
class Ledger:
    """What follows from all that the viewer has seen so far: enough to make a state that fits it.

    `evidence` (layer, at, low, high): among the unseen draws of a layer from position `at` on, and its deck, there are
    low to high cards that are not taxis (a flush test told so). `debts` (seat, card, count, layer, at): a seat paid
    cards that nobody had seen it get, so it drew them unseen before that position. `refusals` (seat, layer, at, base,
    limits): a seat had to pass, so per colour its cards (`base` and its unseen draws before that position) and its
    taxis came to no more than the limit. `under`: the offers whose returned tickets lie under the deck, uppermost
    first.
    """

    layers: tuple[LayerSeen, ...]
    evidence: tuple[tuple[int, int, int, int], ...]
    debts: tuple[tuple[int, int, int, int, int], ...]
    refusals: tuple[tuple[int, int, int, Counts, Counts], ...]
    offers: tuple[OfferSeen, ...]
    under: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Observation:
    """The table from one seat, or from outside (viewer None). Everything but the last group is public.

    `hand` is empty for a spectator. `known` is per seat what everybody has seen it get and not yet pay. `owner` is per
    route the seat that claimed it or -1. `under` are the returned tickets the viewer knows, uppermost first.
    When the match is over `scores` are there and all tickets that were drawn are turned up. `box` is the JSON of a
    replaced box, "" for the shipped one.
    """

    viewer: int | None
    players: int
    stage: str
    asked: tuple[int, ...]
    turn_seat: int
    first_seat: int
    last_turns: int
    left: tuple[int, ...]
    passed: tuple[int, ...]
    second: bool
    to_draw: int
    after_row: str
    row: Counts
    deck_size: int
    discards: Counts
    aside: Counts
    epoch: int
    flushes: int
    owner: tuple[int, ...]
    taxis: tuple[int, ...]
    hand_sizes: tuple[int, ...]
    ticket_counts: tuple[int, ...]
    known: tuple[Counts, ...]
    unknown_tickets: int
    scores: tuple[SeatScore, ...]
    hand: Counts
    tickets: tuple[int, ...]
    offered: tuple[int, ...]
    under: tuple[int, ...]
    ledger: Ledger
    box: str


def observe(state: "State", viewer: int | None) -> Observation:
    """What `viewer` may see of `state`; None is a spectator."""
    market, deck = state.market, state.tickets
    over = state.is_terminal()
    offers = tuple(
        _offer(offer.seat, offer.sources, offer.tickets, offer.returned, over or offer.seat == viewer)
        for offer in deck.offers
    )
    own_offer = state.open_offers[viewer] if viewer is not None else -1
    return Observation(
        viewer=viewer,
        players=state.tables.players,
        stage=state.stage,
        asked=tuple([decision.seat for decision in state.decisions()]),
        turn_seat=state.turn_seat,
        first_seat=state.first_seat,
        last_turns=state.last_turns,
        left=tuple(state.left),
        passed=tuple(state.passed),
        second=state.second,
        to_draw=state.to_draw,
        after_row=state.after_row,
        row=tuple(market.row),
        deck_size=market.deck_size,
        discards=tuple(market.discards),
        aside=tuple(market.aside),
        epoch=market.epoch,
        flushes=market.flushes,
        owner=tuple(state.owner),
        taxis=tuple(state.taxis),
        hand_sizes=tuple([sum(hand) for hand in state.hands]),
        ticket_counts=tuple([len(kept) for kept in state.kept]),
        known=tuple([tuple(counts) for counts in state.known]),
        unknown_tickets=len(deck.unknown),
        scores=tuple(state.scores()) if over else (),
        hand=() if viewer is None else tuple(state.hands[viewer]),
        tickets=() if viewer is None else tuple([ticket + 1 for ticket in state.kept[viewer]]),
        offered=() if own_offer < 0 else offers[own_offer].tickets,
        under=tuple([offers[number].returned for number in deck.under]),
        ledger=Ledger(
            layers=tuple(
                [
                    LayerSeen(
                        tuple(layer.pool),
                        tuple(layer.owners),
                        tuple(
                            [
                                card if owner == viewer else -1
                                for owner, card in zip(layer.owners, layer.cards, strict=True)
                            ]
                        ),
                    )
                    for layer in market.layers
                ]
            ),
            evidence=tuple(market.evidence),
            debts=tuple(state.debts),
            refusals=tuple(state.refusals),
            offers=offers,
            under=tuple(deck.under),
        ),
        box=state.tables.box_text,
    )


def _offer(seat: int, sources: list[int], tickets: list[int], returned: int | None, known: bool) -> OfferSeen:
    count = -1 if returned == UNKNOWN else 0 if returned is None else 1
    return OfferSeen(
        seat,
        tuple(sources),
        tuple([ticket + 1 for ticket in tickets]) if known else (0,) * len(tickets),
        count,
        returned + 1 if known and count == 1 and returned is not None else 0,
    )
