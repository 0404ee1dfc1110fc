"""The destination tickets: an unknown part on top, returned ones under it in known order, and who drew what.

Tickets are positions in the box list here.
"""

from typing import Any

UNKNOWN = -1


class Offer:
    """The tickets one seat drew to choose from.

    `sources` say where each came from: p >= 0 is the p-th ticket drawn from the unknown part, -1 - i is the one
    returned in offer i. `returned` is the ticket put back, None if none was, UNKNOWN while the seat has not chosen.
    """

    __slots__ = ("returned", "seat", "sources", "tickets")

    def __init__(self, seat: int, sources: list[int], tickets: list[int], returned: int | None) -> None:
        self.seat = seat
        self.sources = sources
        self.tickets = tickets
        self.returned = returned

    def clone(self) -> "Offer":
        return Offer(self.seat, self.sources[:], self.tickets[:], self.returned)


class TicketDeck:
    """Mutable."""

    __slots__ = ("drawn", "offers", "under", "unknown")

    def __init__(self, count: int) -> None:
        self.unknown = list(range(count))
        """The tickets nobody has seen, ascending: on top, in an order that is not decided yet."""
        self.under: list[int] = []
        """Returned tickets below them, the next to be drawn first, each as the number of its offer."""
        self.drawn = 0
        """How many were drawn from the unknown part."""
        self.offers: list[Offer] = []

    def clone(self) -> "TicketDeck":
        copy = TicketDeck.__new__(TicketDeck)
        copy.unknown = self.unknown[:]
        copy.under = self.under[:]
        copy.drawn = self.drawn
        # A closed offer never changes again.
        copy.offers = [offer.clone() if offer.returned == UNKNOWN else offer for offer in self.offers]
        return copy

    def size(self) -> int:
        return len(self.unknown) + len(self.under)

    def open_offer(self, seat: int) -> Offer:
        offer = Offer(seat, [], [], UNKNOWN)
        self.offers.append(offer)
        return offer

    def draw_unknown(self, offer: Offer, ticket: int) -> None:
        self.unknown.remove(ticket)
        offer.sources.append(self.drawn)
        offer.tickets.append(ticket)
        self.drawn += 1

    def draw_under(self, offer: Offer) -> int:
        """Draw the uppermost returned ticket: no luck is left in it (R4)."""
        number = self.under.pop(0)
        ticket = self.offers[number].returned
        assert ticket is not None
        offer.sources.append(-1 - number)
        offer.tickets.append(ticket)
        return ticket

    def close_offer(self, number: int, returned: int | None) -> None:
        """The seat has chosen; a returned ticket goes to the very bottom."""
        self.offers[number].returned = returned
        if returned is not None:
            self.under.append(number)

    def to_dict(self) -> dict[str, Any]:
        return {
            "unknown": self.unknown[:],
            "under": self.under[:],
            "drawn": self.drawn,
            "offers": [
                {
                    "seat": offer.seat,
                    "sources": offer.sources[:],
                    "tickets": offer.tickets[:],
                    "returned": offer.returned,
                }
                for offer in self.offers
            ],
        }

    @classmethod
    def from_dict(cls, data: Any) -> "TicketDeck":
        deck = cls(0)
        deck.unknown = list(data["unknown"])
        deck.under = list(data["under"])
        deck.drawn = data["drawn"]
        deck.offers = [
            Offer(entry["seat"], list(entry["sources"]), list(entry["tickets"]), entry["returned"])
            for entry in data["offers"]
        ]
        return deck
