"""The transportation cards outside hands, with how the row is refilled and flushed; and the destination tickets.

Equal face-up cards are one choice, so slots of the row have no identity: row, deck and discards are seven counts each,
in the order of CARDS. Both classes also keep what everybody can work out about hidden cards and tickets.
"""

from collections.abc import Sequence
from typing import Any, Final

from referee.games.api import Event
from referee.games.api.compiling import mypyc_attr
from referee.games.ticket_to_ride_new_york.actions import CARDS, TAXI
from referee.games.ticket_to_ride_new_york.events import DeckReshuffled, RowFlushed
from referee.games.ticket_to_ride_new_york.options import Rules

CARD_KINDS: Final = len(CARDS)
ROW: Final = 5
FLUSH_TAXIS: Final = 3
"""A full row with this many taxis is flushed."""
MAX_FLUSHES: Final = 3
"""With option endless_flush=three_flushes."""
NO_LIMIT: Final = 127
"""In `evidence`: as many as there are."""

NONE_OPEN: Final = -1
"""In place of the number of an offer: none to answer."""
OPEN: Final = 0
KEPT_ALL: Final = 1
RETURNED_ONE: Final = 2
"""States of an offer; open: the seat has not chosen."""

_TICKET_COLUMNS: Final = ("under", "seats", "sizes", "states", "returned", "owners", "sources", "tickets")


@mypyc_attr(allow_interpreted_subclasses=True)  # so that `clone` can leave out __init__
class Market:
    """Row, deck and discards. Mutable. Sizes are kept beside the counts.

    A *layer* is one deck between two reshuffles, as far as somebody drew from it unseen; the last one is the deck that
    lies there. All of them together are known to all but for `cards`, of which a seat knows its own.
    """

    __slots__ = (
        "aside",
        "cards",
        "deck",
        "deck_size",
        "discard_size",
        "discards",
        "draws",
        "epoch",
        "evidence",
        "flushes",
        "owners",
        "pools",
        "row",
        "row_size",
    )

    def __init__(self, cards: Sequence[int] = (0,) * CARD_KINDS) -> None:
        """All cards, seven counts, lie in the deck."""
        self.row = [0] * CARD_KINDS
        self.row_size = 0
        self.deck = list(cards)
        self.deck_size = sum(cards)
        self.discards = [0] * CARD_KINDS
        self.discard_size = 0
        self.aside = [0] * CARD_KINDS
        """Flushed cards until the new row is full, with option flushed_cards=set_aside."""
        self.epoch = 0
        """Number of reshuffles."""
        self.flushes = 0
        """Since the row was last refilled for another reason; counted up to MAX_FLUSHES."""
        # Bytes: observations carry them as they are. Box data is checked so that no number exceeds 255.
        self.pools = bytearray(cards)
        """Seven counts per layer: its cards that were not turned up. They are in the deck or were drawn unseen."""
        self.draws = bytearray(1)
        """Per layer how many cards were drawn from it unseen."""
        self.owners = bytearray()
        """All unseen draws, in order: the seat."""
        self.cards = bytearray()
        """Beside `owners`: the number of the card, 1 for the first of CARDS."""
        self.evidence: list[tuple[int, int, int, int]] = []
        """What flush tests told about unseen cards: (layer, position, low, high) says that among the unseen draws of
        the layer from that position on, and its deck, there are between low and high cards that are not taxis."""

    def clone(self) -> "Market":
        copy = Market.__new__(Market)
        copy.row = self.row[:]
        copy.row_size = self.row_size
        copy.deck = self.deck[:]
        copy.deck_size = self.deck_size
        copy.discards = self.discards[:]
        copy.discard_size = self.discard_size
        copy.aside = self.aside[:]
        copy.epoch = self.epoch
        copy.flushes = self.flushes
        copy.pools = self.pools[:]
        copy.draws = self.draws[:]
        copy.owners = self.owners[:]
        copy.cards = self.cards[:]
        copy.evidence = self.evidence[:]
        return copy

    # Drawing

    def obtainable_unseen(self) -> int:
        """How many cards an unseen draw could come from."""
        return self.deck_size + self.discard_size

    def outside_hands(self) -> int:
        return self.row_size + self.deck_size + self.discard_size

    def make_deck(self, events: list[Event]) -> bool:
        """See to it that the deck holds a card (E1, E3). False if there is none to be had."""
        if self.deck_size:
            return True
        if not self.discard_size:
            self._discard_aside()
        if not self.discard_size:
            return False
        self._reshuffle(events)
        return True

    def draw_unseen(self, seat: int, card: int, rules: Rules, events: list[Event]) -> None:
        self.deck[card] -= 1
        self.deck_size -= 1
        self.draws[-1] += 1
        self.owners.append(seat)
        self.cards.append(card + 1)
        if rules.reshuffle_at_once:
            self.reshuffle_if_empty(events)

    def turn_up(self, card: int, rules: Rules, events: list[Event]) -> None:
        self.deck[card] -= 1
        self.deck_size -= 1
        self.pools[card - CARD_KINDS] -= 1
        if self.evidence and card != TAXI:
            self._narrow_evidence()
        self.row[card] += 1
        self.row_size += 1
        if rules.reshuffle_at_once:
            self.reshuffle_if_empty(events)

    def take(self, card: int) -> None:
        self.row[card] -= 1
        self.row_size -= 1

    def discard(self, card: int, count: int) -> None:
        self.discards[card] += count
        self.discard_size += count

    def reshuffle_if_empty(self, events: list[Event]) -> None:
        if not self.deck_size and self.discard_size:
            self._reshuffle(events)

    def _reshuffle(self, events: list[Event]) -> None:
        events.append(Event(DeckReshuffled(tuple(self.discards))))
        self.epoch += 1
        self.deck, self.discards = self.discards, [0] * CARD_KINDS
        self.deck_size, self.discard_size = self.discard_size, 0
        if not self.draws[-1]:  # all of it was turned up: nothing is left to work out
            self.draws.pop()
            del self.pools[-CARD_KINDS:]
            last = len(self.draws)
            self.evidence = [entry for entry in self.evidence if entry[0] != last]
        self.draws.append(0)
        self.pools.extend(self.deck)

    # Row

    def settle(self, rules: Rules, events: list[Event], test: bool) -> bool:
        """Refill and flush the row. True: a card has to be turned up before it can go on (then `test` is True).

        `test` off leaves a full row alone.
        """
        if rules.reshuffle_at_once:
            self.reshuffle_if_empty(events)
        while True:
            if self.row_size < ROW:
                return self.make_deck(events)
            if rules.set_aside:
                self._discard_aside()
                if rules.reshuffle_at_once:
                    self.reshuffle_if_empty(events)
            if not test or self.row[TAXI] < FLUSH_TAXIS or not self._may_flush(rules):
                return False
            self._flush(rules, events)

    def _flush(self, rules: Rules, events: list[Event]) -> None:
        events.append(Event(RowFlushed(tuple(self.row))))
        self.flushes = min(self.flushes + 1, MAX_FLUSHES)
        if rules.set_aside:
            self.aside = self.row
        else:
            self.discards = [old + new for old, new in zip(self.discards, self.row, strict=True)]
            self.discard_size += self.row_size
        self.row = [0] * CARD_KINDS
        self.row_size = 0
        if rules.reshuffle_at_once:
            self.reshuffle_if_empty(events)

    def _discard_aside(self) -> None:
        size = sum(self.aside)
        if size:
            self.discards = [old + new for old, new in zip(self.discards, self.aside, strict=True)]
            self.discard_size += size
            self.aside = [0] * CARD_KINDS

    def _may_flush(self, rules: Rules) -> bool:
        """E4, E5: whether a flush can help."""
        if not self.deck_size and not self.discard_size:
            return False
        if not rules.count_non_taxis:
            return self.flushes < MAX_FLUSHES
        seen = self.row_size - self.row[TAXI] + self.discard_size - self.discards[TAXI]
        missing = ROW - FLUSH_TAXIS + 1 - seen
        if missing <= 0:
            return True
        may = self.deck_size - self.deck[TAXI] >= missing
        self._learn(missing, may)
        return may

    def _learn(self, missing: int, found: bool) -> None:
        """Whether the deck holds `missing` cards that are not taxis has just become known to all."""
        if self.deck_size < missing or (found and self.deck_size - self.pools[TAXI - CARD_KINDS] >= missing):
            return  # it could not be otherwise
        layer, at = len(self.draws) - 1, len(self.owners)
        low, high = (missing, NO_LIMIT) if found else (0, missing - 1)
        if self.evidence and self.evidence[-1][:2] == (layer, at):
            low = max(low, self.evidence[-1][2])
            high = min(high, self.evidence[-1][3])
            self.evidence.pop()
        self.evidence.append((layer, at, low, high))

    def _narrow_evidence(self) -> None:
        """A card that is not a taxi was turned up: one less among the unseen ones."""
        last = len(self.draws) - 1
        narrowed = [
            (layer, at, max(0, low - 1), high if high == NO_LIMIT else high - 1)
            if layer == last
            else (layer, at, low, high)
            for layer, at, low, high in self.evidence
        ]
        self.evidence = [entry for entry in narrowed if entry[2] > 0 or entry[3] < NO_LIMIT]

    # Whole

    def to_dict(self) -> dict[str, Any]:
        return {
            "row": self.row[:],
            "deck": self.deck[:],
            "discards": self.discards[:],
            "aside": self.aside[:],
            "epoch": self.epoch,
            "flushes": self.flushes,
            "pools": list(self.pools),
            "draws": list(self.draws),
            "owners": list(self.owners),
            "cards": list(self.cards),
            "evidence": [list(entry) for entry in self.evidence],
        }

    @classmethod
    def from_dict(cls, data: Any) -> "Market":
        market = cls()
        market.row = list(data["row"])
        market.deck = list(data["deck"])
        market.discards = list(data["discards"])
        market.aside = list(data["aside"])
        market.row_size = sum(market.row)
        market.deck_size = sum(market.deck)
        market.discard_size = sum(market.discards)
        market.epoch = data["epoch"]
        market.flushes = data["flushes"]
        for name in ("pools", "draws", "owners", "cards"):
            setattr(market, name, bytearray(data[name]))
        market.evidence = [(entry[0], entry[1], entry[2], entry[3]) for entry in data["evidence"]]
        return market


@mypyc_attr(allow_interpreted_subclasses=True)  # so that `clone` can leave out __init__
class TicketDeck:
    """The destination tickets: an unknown part on top, returned ones under it in known order, and who drew what.

    Mutable. Tickets are numbers, as in their ids. An *offer* is the tickets one seat drew to choose from. Offers are
    kept in columns of bytes, as observations carry them; only the last one can still grow.
    """

    __slots__ = (*_TICKET_COLUMNS, "drawn", "unknown")

    def __init__(self, count: int) -> None:
        self.unknown = list(range(1, count + 1))
        """The tickets nobody has seen, ascending: on top, in an order that is not decided yet."""
        self.under = bytearray()
        """Returned tickets below them, the next to be drawn first, each as the number of its offer."""
        self.drawn = 0
        """How many were drawn from the unknown part."""
        # Per offer.
        self.seats = bytearray()
        self.sizes = bytearray()
        self.states = bytearray()
        self.returned = bytearray()
        """The ticket put back, or 0."""
        # Per ticket drawn, offer after offer.
        self.owners = bytearray()
        self.sources = bytearray()
        """Even, 2p: the p-th ticket of the unknown part. Odd, 2i + 1: the one returned in offer i."""
        self.tickets = bytearray()

    def clone(self) -> "TicketDeck":
        copy = TicketDeck.__new__(TicketDeck)
        copy.unknown = self.unknown[:]
        copy.under = self.under[:]
        copy.drawn = self.drawn
        copy.seats = self.seats[:]
        copy.sizes = self.sizes[:]
        copy.states = self.states[:]
        copy.returned = self.returned[:]
        copy.owners = self.owners[:]
        copy.sources = self.sources[:]
        copy.tickets = self.tickets[:]
        return copy

    def size(self) -> int:
        return len(self.unknown) + len(self.under)

    def offered(self, number: int) -> bytes:
        """The tickets of an offer, as drawn."""
        start = sum(self.sizes[:number])
        return bytes(self.tickets[start : start + self.sizes[number]])

    def open_offer(self, seat: int) -> int:
        """Number of a new, empty offer."""
        self.seats.append(seat)
        self.sizes.append(0)
        self.states.append(OPEN)
        self.returned.append(0)
        return len(self.seats) - 1

    def draw_unknown(self, ticket: int) -> None:
        """Draw into the last offer."""
        self.unknown.remove(ticket)
        self._add(2 * self.drawn, ticket)
        self.drawn += 1

    def draw_under(self) -> int:
        """Draw the uppermost returned ticket into the last offer: no luck is left in it (R4)."""
        number = self.under.pop(0)
        ticket = self.returned[number]
        self._add(2 * number + 1, ticket)
        return ticket

    def _add(self, source: int, ticket: int) -> None:
        self.sizes[-1] += 1
        self.owners.append(self.seats[-1])
        self.sources.append(source)
        self.tickets.append(ticket)

    def close_offer(self, number: int, returned: int) -> None:
        """The seat has chosen; a returned ticket goes to the very bottom. 0 if none is returned."""
        self.returned[number] = returned
        if returned:
            self.states[number] = RETURNED_ONE
            self.under.append(number)
        else:
            self.states[number] = KEPT_ALL

    def to_dict(self) -> dict[str, Any]:
        return {
            "unknown": self.unknown[:],
            "drawn": self.drawn,
            **{name: list(getattr(self, name)) for name in _TICKET_COLUMNS},
        }

    @classmethod
    def from_dict(cls, data: Any) -> "TicketDeck":
        deck = cls(0)
        deck.unknown = list(data["unknown"])
        deck.drawn = data["drawn"]
        for name in _TICKET_COLUMNS:
            setattr(deck, name, bytearray(data[name]))
        return deck
