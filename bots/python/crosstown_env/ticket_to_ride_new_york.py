"""Ticket to Ride: New York as arrays: everything that a viewer sees but its box, its ledger and the final scores."""

from array import array
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any, Final

from crosstown_env.actions import ActionSpace, Block, packed
from crosstown_env.layout import MOST, Layout, flags, named, number, owner, seat
from referee.games.ticket_to_ride_new_york.actions import (
    CARDS,
    Answer,
    Draw,
    DrawTickets,
    Keep,
    Pass,
    Stop,
    Take,
    ticket_id,
)
from referee.games.ticket_to_ride_new_york.board import Words, board_of
from referee.games.ticket_to_ride_new_york.observation import Observation
from referee.games.ticket_to_ride_new_york.rules import State
from referee.games.ticket_to_ride_new_york.state import OVER, STAGES, box_text

KINDS: Final = len(CARDS)
ROW: Final = 5
"""Cards turned up."""
_OWNERS: Final = bytes([*range(1, 256), 0])
"""Adds 1 to a seat; no seat, -1, becomes 0."""
_STAGES: Final = {stage: place for place, stage in enumerate(STAGES, start=1)}


class TicketToRideArrays:
    """See `crosstown_env.arrays.Arrays`."""

    version = 1

    def __init__(self, players: int, options: Mapping[str, Any]) -> None:
        board = board_of(box_text(options))
        routes, tickets, cards = len(board.routes), len(board.tickets), sum(board.cards)
        self._players, self._tickets = players, tickets
        taxis, most = board.taxis, max(board.cards)
        self.layout = Layout(
            (
                seat("viewer", "The seat that sees this.", players),
                named("stage", "What the match waits for.", STAGES),
                flags("asked", "Per seat whether it is asked.", players, over=players),
                seat("turn_seat", "Whose turn it is.", players),
                seat("first_seat", "Who had the first turn.", players),
                number(
                    "last_turns", "Last turns that are left, the current one included; 0: the end is not near.", players
                ),
                flags("left", "Per seat whether it left the match.", players, over=players),
                flags(
                    "passed", "Per seat whether it has passed since anybody did anything else.", players, over=players
                ),
                number("row", "Per kind the cards turned up.", ROW, KINDS),
                number("deck_size", "Cards in the deck.", cards),
                number("discards", "Per kind the cards among the discards.", most, KINDS),
                number("aside", "Per kind the cards set aside by a flush.", most, KINDS),
                number("epoch", "How often the discards became the deck.", MOST),
                owner("owner", "Per route 1 + the seat that claimed it; 0: none.", players, routes),
                number("taxis", "Per seat the taxis it has still to place.", taxis, players, over=players),
                number("hand_sizes", "Per seat the cards in its hand.", cards, players, over=players),
                number("ticket_counts", "Per seat the tickets it keeps.", tickets, players, over=players),
                number(
                    "known",
                    "Per seat and kind the cards that everybody has seen it get and not yet pay.",
                    most,
                    KINDS * players,
                    over=players,
                ),
                number("unknown_tickets", "Tickets that no seat has drawn.", tickets),
                number("hand", "Per kind the cards in the viewer's hand.", most, KINDS),
                flags("tickets", "Per ticket whether the viewer keeps it.", tickets),
                flags("offered", "Per ticket whether it is offered to the viewer now.", tickets),
                number(
                    "under",
                    "The returned tickets, the uppermost first: the number of a ticket, 0 for one that the viewer does "
                    "not know; -1: no further ticket.",
                    tickets,
                    tickets,
                    low=-1,
                ),
            )
        )
        pairs = [(one,) for one in range(1, tickets + 1)] + list(combinations(range(1, tickets + 1), 2))
        claims = sorted(board.payments, key=lambda claim: (claim.route, CARDS.index(claim.card), claim.taxis))
        blocks = (
            (Block("pass", "Do nothing for a turn."), [Pass()]),
            (Block("stop", "End the card action after one card."), [Stop()]),
            (Block("draw", "Draw the top card of the deck."), [Draw()]),
            (Block("draw_tickets", "Draw tickets to choose from."), [DrawTickets()]),
            (Block("take", "Take a card that is turned up.", (("card", KINDS),)), [Take(card) for card in CARDS]),
            (
                Block("keep", "Keep these tickets: each alone, then all pairs.", (("tickets", len(pairs)),)),
                [Keep(tuple(ticket_id(one) for one in pair)) for pair in pairs],
            ),
            (
                Block(
                    "claim",
                    "Claim a route: all payments, by route, kind of card and taxis.",
                    (("payment", len(claims)),),
                ),
                claims,
            ),
        )
        self.actions = ActionSpace(tuple(block for block, _ in blocks))
        every: list[Answer] = [action for _, actions in blocks for action in actions]
        self._actions = dict(enumerate(every, start=1))
        self._ids = {action.columns: place for place, action in self._actions.items()}
        words = board.words
        self._words = Words(
            self._packed(words.nothing),
            self._packed(words.stop),
            self._packed(words.draw),
            self._packed(words.draw_tickets),
            [self._packed(take) for take in words.takes],
            [(length, color, self._in_numbers(table)) for length, color, table in words.claim_rows],
            self._in_numbers(words.taxi_claims),
            {offered: self._in_numbers(answers) for offered, answers in words.keeps.items()},
        )
        """Words of a legal list are packed numbers, of one action or of several that come together."""

    def _packed(self, *answers: Answer) -> bytes:
        return packed([self._ids[answer.columns] for answer in answers])

    def _in_numbers(self, word: Any) -> Any:
        """In tuples of tuples, actions that come together become one word."""
        if word and not isinstance(word[0], tuple):
            return (self._packed(*word),)
        return tuple([self._in_numbers(part) for part in word])

    def row(self, seen: Observation | State, viewer: int) -> bytes:
        if not isinstance(seen, Observation):
            return self._row_of(seen, viewer)
        return self._row(
            seen,
            viewer,
            seen.asked,
            (*seen.row, seen.deck_size, *seen.discards, *seen.aside, min(seen.epoch, MOST)),
            seen.owner,
            seen.ticket_counts,
            seen.unknown_tickets,
            seen.hand,
            seen.tickets,
            seen.offered,
            seen.under,
        )

    def _row_of(self, state: State, viewer: int) -> bytes:
        """What `observation.observe` shows the viewer: its own hand and tickets, and of the returned ones its own."""
        market, deck = state.market, state.tickets
        offer = state.open_offers[viewer]
        over, own, returned = state.stage == OVER, deck.seats, deck.returned
        return self._row(
            state,
            viewer,
            state.asked(),
            (*market.row, market.deck_size, *market.discards, *market.aside, min(market.epoch, MOST)),
            array("b", state.owner).tobytes().translate(_OWNERS),
            [len(kept) for kept in state.kept],
            len(deck.unknown),
            state.hands[viewer],
            state.kept[viewer],
            deck.offered(offer) if offer >= 0 else b"",
            [returned[number] if over or own[number] == viewer else 0 for number in bytes(deck.under)],
        )

    def _row(
        self,
        where: Any,
        viewer: int,
        asked: Sequence[int],
        market: Sequence[int],
        owner: Sequence[int],
        ticket_counts: Sequence[int],
        unknown: int,
        hand: Sequence[int],
        tickets: Sequence[int],
        offered: Sequence[int],
        under: Sequence[int],
    ) -> bytes:
        """`where` is the observation or the position: what is public and has the same name in both."""
        players = self._players
        seats = bytearray(3 * players)  # asked, left, passed
        for one in asked:
            seats[one] = 1
        for one in where.left:
            seats[players + one] = 1
        for one in where.passed:
            seats[2 * players + one] = 1
        own = bytearray(2 * self._tickets)
        for one in tickets:
            own[one - 1] = 1
        for one in offered:
            own[self._tickets + one - 1] = 1
        return b"".join(
            (
                bytes((viewer, _STAGES[where.stage])),
                seats[:players],
                bytes((where.turn_seat, where.first_seat, where.last_turns)),
                seats[players:],
                bytes(market),
                bytes(owner),
                bytes((*where.taxis, *where.hand_sizes, *ticket_counts, *where.known, unknown, *hand)),
                own,
                bytes(under).ljust(self._tickets, b"\xff"),
            )
        )

    def numbers(self, state: State, seat: int) -> bytes:
        return b"".join(state.legal_in(self._words, seat))

    def ids(self, seen: Observation | State, legal: Sequence[Answer]) -> list[int]:
        known = self._ids
        return [known[one.columns] for one in legal]

    def action(self, seen: Observation | State, number: int) -> Answer:
        if number not in self._actions:
            self.actions.factors_of(number)  # says what is wrong
        return self._actions[number]
