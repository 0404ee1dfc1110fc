"""The destination tickets: an unknown part on top, returned ones under it in known order, and who drew what.

Tickets are numbers here, as in their ids. An *offer* is the tickets one seat drew to choose from. Offers are kept in
columns of bytes, as observations carry them; only the last one can still grow.
"""

from typing import Any

NONE_OPEN = -1
"""In place of the number of an offer: none to answer."""
OPEN = 0
"""State of an offer: the seat has not chosen."""
KEPT_ALL = 1
RETURNED_ONE = 2

_COLUMNS = ("under", "seats", "sizes", "states", "returned", "owners", "sources", "tickets")


class TicketDeck:
    """Mutable."""

    __slots__ = (*_COLUMNS, "drawn", "unknown")

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

    def offered(self, number: int) -> bytearray:
        """The tickets of an offer, as drawn."""
        start = sum(self.sizes[:number])
        return self.tickets[start : start + self.sizes[number]]

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
            **{name: list(getattr(self, name)) for name in _COLUMNS},
        }

    @classmethod
    def from_dict(cls, data: Any) -> "TicketDeck":
        deck = cls(0)
        deck.unknown = list(data["unknown"])
        deck.drawn = data["drawn"]
        for name in _COLUMNS:
            setattr(deck, name, bytearray(data[name]))
        return deck
