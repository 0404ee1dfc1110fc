"""The answers a seat can give, their canonical text, and the names of cards."""

from dataclasses import dataclass
from typing import ClassVar, TypeAlias

from referee.games.api import ActionText

CARDS = ("red", "orange", "green", "blue", "black", "pink", "taxi")
"""The kinds of transportation card; everywhere a list of seven counts is in this order."""
COLORS = 6
"""How many of the kinds are colours: the first six."""
TAXI = 6
"""Position of the taxi, the wild card, in CARDS."""
CARD_INDEX = {name: index for index, name in enumerate(CARDS)}


@dataclass(frozen=True, slots=True)
class Pass:
    """Do nothing for a turn."""

    KIND: ClassVar[str] = "pass"


@dataclass(frozen=True, slots=True)
class Stop:
    """End the card action after one card (only with option second_card_required off)."""

    KIND: ClassVar[str] = "stop"


@dataclass(frozen=True, slots=True)
class Draw:
    """Draw the top card of the deck unseen, as first or second card."""

    KIND: ClassVar[str] = "draw"


@dataclass(frozen=True, slots=True)
class Take:
    """Take a face-up card of this kind, as first or second card."""

    card: str
    KIND: ClassVar[str] = "take"


@dataclass(frozen=True, slots=True)
class DrawTickets:
    """Draw two destination tickets (or the last one) to choose from."""

    KIND: ClassVar[str] = "draw_tickets"


@dataclass(frozen=True, slots=True)
class Claim:
    """Claim `route`, paying `taxis` taxi cards and the rest of its length in `card`.

    A payment in taxis alone is written once, with `card` "taxi".
    """

    route: str
    card: str
    taxis: int
    KIND: ClassVar[str] = "claim"


@dataclass(frozen=True, slots=True)
class Keep:
    """Keep these of the offered tickets, ascending; the other one goes under the ticket deck."""

    tickets: tuple[str, ...]
    KIND: ClassVar[str] = "keep"


Answer: TypeAlias = Pass | Stop | Draw | Take | DrawTickets | Claim | Keep

CLASSES: tuple[type[Answer], ...] = (Pass, Stop, Draw, Take, DrawTickets, Claim, Keep)
TEXT = ActionText(CLASSES)


def route_id(number: int) -> str:
    """Id of the route with this number: 7 is "R07"."""
    return f"R{number:02d}"


def ticket_id(number: int) -> str:
    """Id of the ticket with this number: 7 is "T07"."""
    return f"T{number:02d}"
