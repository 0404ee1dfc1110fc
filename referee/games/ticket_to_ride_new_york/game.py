"""The game as others find it."""

from collections import Counter
from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

from referee.games.api import Action, Codec, Option, Payload, View
from referee.games.api import State as AnyState
from referee.games.ticket_to_ride_new_york import codec, view
from referee.games.ticket_to_ride_new_york.actions import CARDS, TEXT
from referee.games.ticket_to_ride_new_york.box import check_data, default_data
from referee.games.ticket_to_ride_new_york.options import OPTIONS
from referee.games.ticket_to_ride_new_york.rules import State
from referee.games.ticket_to_ride_new_york.stages import KEEP_TICKETS, SECOND_CARD, STARTING_TICKETS, TURN
from referee.games.ticket_to_ride_new_york.tables import PLAYER_COUNTS, START_HAND, Tables, tables_for


class TicketToRideNewYork:
    """Ticket to Ride: New York, stateless."""

    id = "ticket_to_ride_new_york"
    title = "Ticket to Ride: New York"
    rules_version = 1
    player_counts = PLAYER_COUNTS
    options: tuple[Option, ...] = OPTIONS
    notes = (
        "Board and tickets are verified against pictures of the box; the leaflet leaves open what happens when cards "
        "run out or rows cannot be flushed, so those rules are options (see the README of the game).",
    )
    draws_possible = True
    decision_kinds = (STARTING_TICKETS, TURN, SECOND_CARD, KEEP_TICKETS)
    codec: Codec = codec
    view: View = view

    def new_initial_state(self, players: int, options: Mapping[str, Any]) -> State:
        return State(tables_for(players, options))

    def max_decisions(self, players: int, options: Mapping[str, Any]) -> int:
        """Why it is a bound: see "How long a match can be" in the README."""
        tables = tables_for(players, options)
        taxis = tables.taxis * players
        cards_drawn = sum(tables.cards) - START_HAND * players + taxis
        ticket_actions = len(tables.tickets) - players
        claims = taxis
        card_decisions = cards_drawn if tables.rules.second_required else 2 * cards_drawn
        cut_short = 2 * players
        pass_runs = 1 + (cards_drawn + ticket_actions + claims if tables.rules.always_pass else claims)
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
        return State.from_dict(_tables_of(data), data)

    def from_observation(
        self, observation: Any, history: Sequence[Payload], options: Mapping[str, Any], rng: Random
    ) -> State:
        """The observation carries all that follows from the history, so `history` is not needed."""
        return State.from_observation(tables_for(observation.players, options), observation, rng)

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
        for name, number in state.tables.ticket_numbers.items():
            counts[f"ticket {name}"] = found[number]
        placed = [0] * (len(state.taxis) + 1)
        for length, owner in zip(state.tables.lengths, state.owner, strict=True):
            placed[owner] += length  # -1, the last one, for routes without owner
        for seat, supply in enumerate(state.taxis):
            counts[f"taxis of seat {seat}"] = supply + placed[seat]
        return counts


def _tables_of(data: Mapping[str, Any]) -> Tables:
    return tables_for(data["players"], data["options"])


GAME = TicketToRideNewYork()
