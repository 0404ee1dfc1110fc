"""What happens, as each viewer gets to see it. An empty name or list stands for what the viewer may not know."""

from dataclasses import dataclass
from typing import ClassVar, TypeAlias


@dataclass(frozen=True, slots=True)
class FirstPlayer:
    """The luck of the start: who has the first turn."""

    seat: int
    KIND: ClassVar[str] = "first_player"


@dataclass(frozen=True, slots=True)
class CardDrawn:
    """A seat got the top card of the deck, unseen by the others. `card` is "" to them."""

    seat: int
    card: str
    KIND: ClassVar[str] = "card_drawn"


@dataclass(frozen=True, slots=True)
class CardTaken:
    """A seat took a face-up card."""

    seat: int
    card: str
    KIND: ClassVar[str] = "card_taken"


@dataclass(frozen=True, slots=True)
class CardTurnedUp:
    """The top card of the deck was put into the face-up row."""

    card: str
    KIND: ClassVar[str] = "card_turned_up"


@dataclass(frozen=True, slots=True)
class RowFlushed:
    """All five face-up cards were discarded because of the taxis among them. `cards` are seven counts."""

    cards: tuple[int, ...]
    KIND: ClassVar[str] = "row_flushed"


@dataclass(frozen=True, slots=True)
class DeckReshuffled:
    """The discards became the new deck. `cards` are seven counts."""

    cards: tuple[int, ...]
    KIND: ClassVar[str] = "deck_reshuffled"


@dataclass(frozen=True, slots=True)
class TicketDrawn:
    """A seat drew the top ticket. `ticket` is "" to the others."""

    seat: int
    ticket: str
    KIND: ClassVar[str] = "ticket_drawn"


@dataclass(frozen=True, slots=True)
class TicketsKept:
    """A seat chose among the tickets it was offered; what it returned lies under the ticket deck.

    `kept` and `returned` name the tickets to that seat, and are empty to the others.
    """

    seat: int
    kept_count: int
    returned_count: int
    kept: tuple[str, ...]
    returned: tuple[str, ...]
    KIND: ClassVar[str] = "tickets_kept"


@dataclass(frozen=True, slots=True)
class RouteClaimed:
    """A seat claimed a route for `taxis` taxi cards and the rest of its length in `card`."""

    seat: int
    route: str
    card: str
    taxis: int
    KIND: ClassVar[str] = "route_claimed"


@dataclass(frozen=True, slots=True)
class Stopped:
    """A seat did without its second card."""

    seat: int
    KIND: ClassVar[str] = "stopped"


@dataclass(frozen=True, slots=True)
class Passed:
    """A seat did nothing for a turn."""

    seat: int
    KIND: ClassVar[str] = "passed"


@dataclass(frozen=True, slots=True)
class LastTurns:
    """This seat ended its turn with two taxis or fewer: every seat has one more turn, this one the last."""

    seat: int
    KIND: ClassVar[str] = "last_turns"


@dataclass(frozen=True, slots=True)
class SeatLeft:
    """A seat left the match: its claims stay, its cards and tickets are out of play."""

    seat: int
    KIND: ClassVar[str] = "seat_left"


@dataclass(frozen=True, slots=True)
class SeatScore:
    """What a seat scored. Tickets are turned up now; those of a seat that left do not count.

    `ticket_points` are the values of the completed tickets less those of the failed ones.
    """

    seat: int
    route_points: int
    ticket_points: int
    attraction_points: int
    completed: tuple[str, ...]
    failed: tuple[str, ...]
    KIND: ClassVar[str] = "seat_score"

    @property
    def total(self) -> int:
        return self.route_points + self.ticket_points + self.attraction_points


Payload: TypeAlias = (
    FirstPlayer
    | CardDrawn
    | CardTaken
    | CardTurnedUp
    | RowFlushed
    | DeckReshuffled
    | TicketDrawn
    | TicketsKept
    | RouteClaimed
    | Stopped
    | Passed
    | LastTurns
    | SeatLeft
    | SeatScore
)
