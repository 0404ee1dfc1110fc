"""The game as the registry finds it."""

from collections import Counter
from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

from referee.games.api import Action, Codec, Option, Payload, View
from referee.games.api import State as AnyState
from referee.games.drawing import PieceGroup
from referee.games.ticket_to_ride_new_york import codec, view
from referee.games.ticket_to_ride_new_york.actions import CARDS, TEXT, ticket_id
from referee.games.ticket_to_ride_new_york.board import PLAYER_COUNTS, board_of
from referee.games.ticket_to_ride_new_york.data import check_data, default_data
from referee.games.ticket_to_ride_new_york.options import OPTIONS, rules_of
from referee.games.ticket_to_ride_new_york.pieces import pieces as box_pieces
from referee.games.ticket_to_ride_new_york.rules import DECISION_KINDS, START_HAND, State
from referee.games.ticket_to_ride_new_york.state import box_text, check_players


class TicketToRideNewYork:
    """Ticket to Ride: New York, stateless."""

    id = "ticket_to_ride_new_york"
    title = "Ticket to Ride: New York"
    rules_version = 1
    player_counts = PLAYER_COUNTS
    options: tuple[Option, ...] = OPTIONS
    notes = (
        "Board and tickets are verified against pictures of the box; the leaflet leaves open what happens when cards "
        "run out or rows cannot be flushed, so those rules are options.",
    )
    draws_possible = True
    decision_kinds = DECISION_KINDS
    codec: Codec = codec
    view: View = view

    def pieces(self) -> Sequence[PieceGroup]:
        """See `referee.games.drawing.pieces_of`."""
        return box_pieces()

    def new_initial_state(self, players: int, options: Mapping[str, Any]) -> State:
        return State(players, options)

    def max_decisions(self, players: int, options: Mapping[str, Any]) -> int:
        """Why it is a bound: see "How long a match can be" in the README."""
        check_players(players)
        rules, board = rules_of(options), board_of(box_text(options))
        taxis = board.taxis * players
        cards_drawn = sum(board.cards) - START_HAND * players + taxis
        ticket_actions = len(board.tickets) - players
        claims = taxis
        card_decisions = cards_drawn if rules.second_required else 2 * cards_drawn
        cut_short = 2 * players
        pass_runs = 1 + (cards_drawn + ticket_actions + claims if rules.always_pass else claims)
        passes = players * (pass_runs + 1)
        return players + card_decisions + 2 * ticket_actions + claims + cut_short + passes

    def teams(self, players: int, options: Mapping[str, Any]) -> tuple[int, ...]:
        return tuple(range(players))

    def default_data(self) -> dict[str, Any]:
        return default_data()

    def check_data(self, data: Any) -> None:
        check_data(data)

    def format_action(self, action: Action) -> str:
        return TEXT.format(action)

    def parse_action(self, text: str) -> Action:
        return TEXT.parse(text)

    def state_from_dict(self, data: Mapping[str, Any]) -> State:
        return State.from_dict(data)

    def from_observation(
        self, observation: Any, history: Sequence[Payload], options: Mapping[str, Any], rng: Random
    ) -> State:
        """The observation carries all that follows from the history, so `history` is not needed."""
        return State.from_observation(observation.players, options, observation, rng)

    def conserved(self, state: AnyState) -> dict[str, int]:
        assert isinstance(state, State)
        market, deck = state.market, state.tickets
        places = [market.row, market.deck, market.discards, market.aside, *state.hands]
        counts = {f"{name} cards": sum(held) for name, held in zip(CARDS, zip(*places, strict=True), strict=True)}
        tickets = [*deck.unknown, *(ticket for kept in state.kept for ticket in kept)]
        tickets += [deck.returned[number] for number in deck.under]
        for number in state.open_offers:
            if number >= 0:
                tickets += deck.offered(number)
        found = Counter(tickets)
        for number in range(1, len(state.board.tickets) + 1):
            counts[f"ticket {ticket_id(number)}"] = found[number]
        placed = [0] * (len(state.taxis) + 1)
        for route, owner in zip(state.board.routes, state.owner, strict=True):
            placed[owner] += route.length  # -1, the last one, for routes without owner
        for seat, supply in enumerate(state.taxis):
            counts[f"taxis of seat {seat}"] = supply + placed[seat]
        return counts


GAME = TicketToRideNewYork()
