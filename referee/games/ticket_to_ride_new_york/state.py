"""Where everything is in a match, as plain data: `rules.py` says what may be done with it.

Lists of seven are counts in the order of CARDS. Routes are positions on the board, tickets are numbers from 1.
"""

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, Self

from referee.games.api import DATA_OPTION, PlayersError
from referee.games.api.compiling import mypyc_attr
from referee.games.ticket_to_ride_new_york.actions import Answer
from referee.games.ticket_to_ride_new_york.board import NO_TWIN, PLAYER_COUNTS, board_of
from referee.games.ticket_to_ride_new_york.decks import CARD_KINDS, NONE_OPEN, Market, TicketDeck
from referee.games.ticket_to_ride_new_york.options import OPTIONS, Rules, rules_of

# Where a match can stand, the values of `Position.stage`. Chance nodes:
LOT: Final = "lot"
"""Who has the first turn."""
HANDS: Final = "hands"
"""A card of a starting hand."""
REFILL: Final = "refill"
"""A card is turned up into the row; `after_row` says what comes then."""
UNSEEN: Final = "unseen"
"""The active seat's unseen draw."""
DEAL_TICKETS: Final = "deal_tickets"
"""A starting ticket."""
DRAW_TICKET: Final = "draw_ticket"
"""A ticket for the active seat."""

# Decisions, by their kinds:
STARTING_TICKETS: Final = "starting_tickets"
"""All seats choose among their starting tickets, at once."""
TURN: Final = "turn"
"""The active seat chooses one of the three actions."""
SECOND_CARD: Final = "second_card"
"""The active seat chooses its second card."""
KEEP_TICKETS: Final = "keep_tickets"
"""The active seat chooses among the tickets it drew."""

OVER: Final = "over"

STAGES: Final = (
    LOT,
    HANDS,
    REFILL,
    UNSEEN,
    DEAL_TICKETS,
    DRAW_TICKET,
    STARTING_TICKETS,
    TURN,
    SECOND_CARD,
    KEEP_TICKETS,
    OVER,
)

# Values of `Position.after_row`, what comes when the row is complete:
THEN_TICKETS: Final = "tickets"
"""Starting tickets are dealt."""
THEN_SECOND: Final = "second"
"""The active seat takes its second card, if a legal one exists."""
THEN_END: Final = "end"
"""The turn ends."""
AFTER_ROW: Final = (THEN_TICKETS, THEN_SECOND, THEN_END)


def check_players(players: Any) -> None:
    """Raises PlayersError if the game is not for so many."""
    if players not in PLAYER_COUNTS:
        raise PlayersError(f"ticket_to_ride_new_york is for 2 to 4 players, not {players!r}")


def box_text(options: Mapping[str, Any]) -> str:
    """JSON of the box data that replace the shipped ones, or ""."""
    data = options.get(DATA_OPTION)
    return "" if data is None else json.dumps(data, sort_keys=True)


@lru_cache(maxsize=32)
def _own_options(values: tuple[Any, ...], text: str) -> tuple[dict[str, Any], Rules]:
    """The options with these values, which nobody may change, and the rules in force."""
    options = {option.name: value for option, value in zip(OPTIONS, values, strict=True)}
    rules = rules_of(options)
    if text:
        options[DATA_OPTION] = json.loads(text)
    return options, rules


@mypyc_attr(allow_interpreted_subclasses=True)  # so that `clone` can leave out __init__
class Position:
    """All that a match is at one moment. Mutable."""

    __slots__ = (
        "_legal",
        "after_row",
        "available",
        "board",
        "debts",
        "first_seat",
        "hand_sizes",
        "hands",
        "kept",
        "known",
        "last_turns",
        "left",
        "market",
        "open_offers",
        "options",
        "owner",
        "passed",
        "players",
        "refusals",
        "rules",
        "second",
        "stage",
        "taxis",
        "tickets",
        "to_draw",
        "turn_seat",
    )

    def __init__(self, players: Any, options: Mapping[str, Any]) -> None:
        """From full, resolved options. Raises PlayersError, OptionError, DataError."""
        check_players(players)
        self.players: int = players
        text = box_text(options)
        self.options, self.rules = _own_options(tuple([options[option.name] for option in OPTIONS]), text)
        self.board = board_of(text)
        self.stage = LOT if self.rules.random_first else HANDS
        self.after_row = THEN_TICKETS
        self.second = False
        """Whether the card being drawn is the second one of its action."""
        self.to_draw = 0
        """Tickets that the active seat has still to draw."""
        self.turn_seat = 0
        self.first_seat = 0
        self.last_turns = 0
        """How many last turns are left, the current one included; 0 before the end is triggered."""
        self.left: list[int] = []
        """Seats that have left, in this order."""
        self.passed: list[int] = []
        """Seats that have passed since anybody did anything else."""
        self.market = Market(self.board.cards)
        self.tickets = TicketDeck(len(self.board.tickets))
        self.hands = [[0] * CARD_KINDS for _ in range(players)]
        self.hand_sizes = [0] * players
        self.taxis = [self.board.taxis] * players
        self.owner = [-1] * len(self.board.routes)
        """Per route the seat that claimed it, or -1."""
        self.available = [list(range(len(self.board.routes))) for _ in range(players)]
        """Per seat the routes it may claim if it can pay; follows from `owner`."""
        self.kept: list[list[int]] = [[] for _ in range(players)]
        self.open_offers = [NONE_OPEN] * players
        """Per seat the number of the offer it has to answer."""
        # What everybody can work out about hands: hand = known + unseen draws - debts.
        self.known = [0] * (CARD_KINDS * players)
        """Seven counts per seat, one after another."""
        self.debts = bytearray()
        """Four numbers each (seat, number of the card, count, position): so many cards were paid that were not known,
        hence drawn unseen before that position."""
        self.refusals = bytearray()
        """Eight numbers each (seat, position, limit per colour): the seat had to pass, so its unseen draws before that
        position held, in that colour and taxis together, no more than the limit."""
        self._legal: list[Answer] | None = None

    def assign_route(self, seat: int, place: int) -> None:
        """The route is the seat's now. Nobody can claim it again, nor the seat the other half of a double route.

        With two players nobody can claim that half.
        """
        self.owner[place] = seat
        twin = self.board.routes[place].twin
        for other, routes in enumerate(self.available):
            if place in routes:
                routes.remove(place)
            if twin != NO_TWIN and (other == seat or self.players == 2) and twin in routes:
                routes.remove(twin)

    def assign_routes(self, owner: Sequence[int]) -> None:
        """All routes at once, and `available` as `assign_route` leaves it after all these claims."""
        self.owner = list(owner)
        free = []
        for place, route in enumerate(self.board.routes):
            if owner[place] < 0:
                free.append((place, owner[route.twin] if route.twin != NO_TWIN else -1))
        two = self.players == 2
        self.available = [
            [place for place, twin_owner in free if twin_owner < 0 or not (two or twin_owner == seat)]
            for seat in range(self.players)
        ]

    def asked(self) -> tuple[int, ...]:
        """The seats that are asked something."""
        stage = self.stage
        if stage in (TURN, SECOND_CARD, KEEP_TICKETS):
            return (self.turn_seat,)
        if stage == STARTING_TICKETS:
            return tuple([seat for seat, number in enumerate(self.open_offers) if number != NONE_OPEN])
        return ()

    # Copies

    def clone(self) -> Self:
        """An independent copy."""
        copy = type(self).__new__(type(self))
        copy.players = self.players
        copy.options = self.options
        copy.rules = self.rules
        copy.board = self.board
        copy.stage = self.stage
        copy.after_row = self.after_row
        copy.second = self.second
        copy.to_draw = self.to_draw
        copy.turn_seat = self.turn_seat
        copy.first_seat = self.first_seat
        copy.last_turns = self.last_turns
        copy.left = self.left[:]
        copy.passed = self.passed[:]
        copy.market = self.market.clone()
        copy.tickets = self.tickets.clone()
        copy.hands = [hand[:] for hand in self.hands]
        copy.hand_sizes = self.hand_sizes[:]
        copy.taxis = self.taxis[:]
        copy.owner = self.owner[:]
        copy.available = [routes[:] for routes in self.available]
        copy.kept = [tickets[:] for tickets in self.kept]
        copy.open_offers = self.open_offers[:]
        copy.known = self.known[:]
        copy.debts = self.debts[:]
        copy.refusals = self.refusals[:]
        copy._legal = self._legal
        return copy

    def to_dict(self) -> dict[str, Any]:
        """The whole position as JSON values."""
        return {
            "players": self.players,
            "options": dict(self.options),
            "stage": self.stage,
            "after_row": self.after_row,
            "second": self.second,
            "to_draw": self.to_draw,
            "turn_seat": self.turn_seat,
            "first_seat": self.first_seat,
            "last_turns": self.last_turns,
            "left": self.left[:],
            "passed": self.passed[:],
            "market": self.market.to_dict(),
            "tickets": self.tickets.to_dict(),
            "hands": [hand[:] for hand in self.hands],
            "taxis": self.taxis[:],
            "owner": self.owner[:],
            "kept": [tickets[:] for tickets in self.kept],
            "open_offers": self.open_offers[:],
            "known": self.known[:],
            "debts": list(self.debts),
            "refusals": list(self.refusals),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Inverse of `to_dict`."""
        position = cls(data["players"], data["options"])
        for name in ("stage", "after_row", "second", "to_draw", "turn_seat", "first_seat", "last_turns"):
            setattr(position, name, data[name])
        for name in ("left", "passed", "taxis", "open_offers", "known"):
            setattr(position, name, list(data[name]))
        position.debts = bytearray(data["debts"])
        position.refusals = bytearray(data["refusals"])
        position.market = Market.from_dict(data["market"])
        position.tickets = TicketDeck.from_dict(data["tickets"])
        position.hands = [list(hand) for hand in data["hands"]]
        position.hand_sizes = [sum(hand) for hand in position.hands]
        position.kept = [list(tickets) for tickets in data["kept"]]
        position.assign_routes(data["owner"])
        return position
