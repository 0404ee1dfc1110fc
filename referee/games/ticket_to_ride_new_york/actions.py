"""The answers a seat can give, their canonical text, and the names of cards."""

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Final, TypeAlias

from referee.games.api import ActionText

CARDS: Final = ("red", "orange", "green", "blue", "black", "pink", "taxi")
"""The kinds of transportation card; everywhere a list of seven counts is in this order."""
COLORS: Final = 6
"""How many of the kinds are colours: the first six."""
TAXI: Final = 6
"""Position of the taxi, the wild card, in CARDS."""
CARD_INDEX: Final = {name: index for index, name in enumerate(CARDS)}


CARD_NUMBERS: Final = {"": 0, **{name: number for number, name in enumerate(CARDS, start=1)}}
"""On the wire a card is a number from 1; 0 is one that is not known."""
MAX_NUMBER: Final = 99
"""Routes and tickets are numbered with two digits."""


def route_id(number: int) -> str:
    """Id of the route with this number: 7 is "R07"."""
    return f"R{number:02d}"


def ticket_id(number: int) -> str:
    """Id of the ticket with this number: 7 is "T07"."""
    return f"T{number:02d}"


ROUTE_NUMBERS: Final = {route_id(number): number for number in range(1, MAX_NUMBER + 1)}
TICKET_NUMBERS: Final = {ticket_id(number): number for number in range(1, MAX_NUMBER + 1)}

# Each action knows its numbers in the columns of LegalActions: kind, card, number, other. Legal lists are made of
# interned actions, so `columns` is worked out once for each; that is why those with fields have no slots.


@dataclass(frozen=True, slots=True)
class Pass:
    """Do nothing for a turn."""

    KIND: ClassVar[str] = "pass"
    columns: ClassVar[bytes] = bytes((1, 0, 0, 0))


@dataclass(frozen=True, slots=True)
class Stop:
    """End the card action after one card (only with option second_card_required off)."""

    KIND: ClassVar[str] = "stop"
    columns: ClassVar[bytes] = bytes((2, 0, 0, 0))


@dataclass(frozen=True, slots=True)
class Draw:
    """Draw the top card of the deck unseen, as first or second card."""

    KIND: ClassVar[str] = "draw"
    columns: ClassVar[bytes] = bytes((3, 0, 0, 0))


@dataclass(frozen=True)
class Take:
    """Take a face-up card of this kind, as first or second card."""

    card: str
    KIND: ClassVar[str] = "take"

    @cached_property
    def columns(self) -> bytes:
        return bytes((4, CARD_NUMBERS[self.card], 0, 0))


@dataclass(frozen=True, slots=True)
class DrawTickets:
    """Draw two destination tickets (or the last one) to choose from."""

    KIND: ClassVar[str] = "draw_tickets"
    columns: ClassVar[bytes] = bytes((5, 0, 0, 0))


@dataclass(frozen=True)
class Claim:
    """Claim `route`, paying `taxis` taxi cards and the rest of its length in `card`.

    A payment in taxis alone is written once, with `card` "taxi".
    """

    route: str
    card: str
    taxis: int
    KIND: ClassVar[str] = "claim"

    @cached_property
    def columns(self) -> bytes:
        return bytes((6, CARD_NUMBERS[self.card], ROUTE_NUMBERS[self.route], self.taxis))


@dataclass(frozen=True)
class Keep:
    """Keep these of the offered tickets, ascending; the other one goes under the ticket deck."""

    tickets: tuple[str, ...]
    KIND: ClassVar[str] = "keep"

    @cached_property
    def columns(self) -> bytes:
        first, second = (*self.tickets, "")[:2]
        return bytes((7, 0, TICKET_NUMBERS[first], TICKET_NUMBERS[second] if second else 0))


Answer: TypeAlias = Pass | Stop | Draw | Take | DrawTickets | Claim | Keep

CLASSES: Final[tuple[type[Answer], ...]] = (Pass, Stop, Draw, Take, DrawTickets, Claim, Keep)
TEXT: Final = ActionText(CLASSES)
