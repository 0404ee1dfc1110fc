"""The transportation cards outside hands: row, deck, discards, and what everybody can work out about unseen draws.

Slots of the row have no identity (R1): row, deck and discards are seven counts each.
"""

from typing import Any

from referee.games.api import Event
from referee.games.ticket_to_ride_new_york.actions import CARDS, TAXI
from referee.games.ticket_to_ride_new_york.events import DeckReshuffled, RowFlushed
from referee.games.ticket_to_ride_new_york.options import Rules
from referee.games.ticket_to_ride_new_york.tables import FLUSH_TAXIS, ROW

KINDS = len(CARDS)
MAX_FLUSHES = 3
"""With option endless_flush=three_flushes."""
NO_LIMIT = 127


class Market:
    """Mutable. Sizes are kept beside the counts.

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

    def __init__(self) -> None:
        self.row = [0] * KINDS
        self.row_size = 0
        self.deck = [0] * KINDS
        self.deck_size = 0
        self.discards = [0] * KINDS
        self.discard_size = 0
        self.aside = [0] * KINDS
        """Flushed cards until the new row is full, with option flushed_cards=set_aside."""
        self.epoch = 0
        """Number of reshuffles."""
        self.flushes = 0
        """Since the row was last refilled for another reason; counted up to MAX_FLUSHES."""
        # Bytes: observations carry them as they are. Box data is checked so that no number exceeds 255.
        self.pools = bytearray(KINDS)
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

    def open_box(self, cards: tuple[int, ...]) -> None:
        self.deck = list(cards)
        self.deck_size = sum(cards)
        self.pools = bytearray(cards)

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
        self.pools[card - KINDS] -= 1
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
        self.deck, self.discards = self.discards, [0] * KINDS
        self.deck_size, self.discard_size = self.discard_size, 0
        if not self.draws[-1]:  # all of it was turned up: nothing is left to work out
            self.draws.pop()
            del self.pools[-KINDS:]
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
        self.row = [0] * KINDS
        self.row_size = 0
        if rules.reshuffle_at_once:
            self.reshuffle_if_empty(events)

    def _discard_aside(self) -> None:
        size = sum(self.aside)
        if size:
            self.discards = [old + new for old, new in zip(self.discards, self.aside, strict=True)]
            self.discard_size += size
            self.aside = [0] * KINDS

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
        if self.deck_size < missing or (found and self.deck_size - self.pools[TAXI - KINDS] >= missing):
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
