"""The game object that the registry finds."""

from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

from referee.games.api import OptionError, PlayersError
from referee.games.king_of_new_york import box as boxes
from referee.games.king_of_new_york import restore, view
from referee.games.king_of_new_york.actions import TEXT, KingAction
from referee.games.king_of_new_york.agenda import QUESTION_NAMES
from referee.games.king_of_new_york.bounds import most_decisions
from referee.games.king_of_new_york.checking import check_data
from referee.games.king_of_new_york.codec import KingCodec
from referee.games.king_of_new_york.events import KingEvent
from referee.games.king_of_new_york.names import NO_CARD, NOBODY, NOWHERE, UNIT_KINDS, UNITS
from referee.games.king_of_new_york.observation import Observation
from referee.games.king_of_new_york.options import OPTIONS
from referee.games.king_of_new_york.rules import KingState


class KingOfNewYork:
    """See `referee.games.api.Game`."""

    id = "king_of_new_york"
    title = "King of New York"
    rules_version = 2
    player_counts = (2, 3, 4, 5, 6)
    options = OPTIONS
    notes = (
        "The counts of the 45 tiles and the rewards of Jets and Tanks rest on student projects, not on the box.",
        "The effects of the 64 cards rest on two transcriptions; Drink the Hudson on one.",
        "round_cap and market_cap are ours: they only make sure that every match ends.",
    )
    draws_possible = True
    decision_kinds = QUESTION_NAMES
    view = view

    def __init__(self) -> None:
        self.codec = KingCodec()

    def new_initial_state(self, players: int, options: Mapping[str, Any]) -> KingState:
        return KingState(self._box(players, options), players)

    def max_decisions(self, players: int, options: Mapping[str, Any]) -> int:
        return most_decisions(self._box(players, options), players)

    def _box(self, players: int, options: Mapping[str, Any]) -> boxes.Box:
        if players not in self.player_counts:
            raise PlayersError(f"{self.id} is for 2 to 6 players, not {players}")
        start = options["start_player"]
        if start.startswith("seat_") and int(start[-1]) >= players:
            raise OptionError(f"{self.id} option 'start_player' is {start}, but there are only {players} seats")
        return boxes.make_box(options)

    def teams(self, players: int, options: Mapping[str, Any]) -> tuple[int, ...]:
        return tuple(range(players))

    def default_data(self) -> dict[str, Any]:
        return boxes.default_data()

    def check_data(self, data: Any) -> None:
        check_data(data, boxes.shipped_card_ids())

    def format_action(self, action: KingAction) -> str:
        return TEXT.format(action)

    def parse_action(self, text: str) -> KingAction:
        action: KingAction = TEXT.parse(text)
        return action

    def state_from_dict(self, data: Mapping[str, Any]) -> KingState:
        return restore.state_from_dict(data)

    def from_observation(
        self, observation: Observation, history: Sequence[KingEvent], options: Mapping[str, Any], rng: Random
    ) -> KingState:
        """Exact: an observation is the whole position."""
        return restore.state_from_observation(observation, options)

    def conserved(self, state: KingState) -> dict[str, int]:
        """Cards, tiles by kind or Unit, tokens, goal cards, monsters, over all places."""
        box = state.box
        cards = state.deck.bit_count() + state.discards.bit_count() + state.played.bit_count()
        cards += len(state.market) - state.market.count(NO_CARD) + sum([keep.bit_count() for keep in state.keep])
        counts = {"cards": cards, "tiles covered less unseen": sum(state.covered) - sum(state.pool)}
        tiles = state.lost[:]
        for tile, left in enumerate(state.pool):
            if tile:
                tiles[box.tile_units[tile]] += left
        for tile in state.tops:
            if tile:
                tiles[box.tile_units[tile]] += 1
        for unit, name in enumerate(UNITS):
            units = sum(state.units[unit::UNIT_KINDS]) + sum(state.trophies[unit::UNIT_KINDS])
            counts[f"tiles with {name}"] = tiles[unit] + units
        counts["web"] = state.web_left + sum(state.web)
        counts["jinx"] = state.jinx_left + sum(state.jinx)
        counts["carapace"] = state.carapace_left + sum(state.carapace)
        counts["superstar"] = int(state.superstar == NOBODY or not state.out[state.superstar])
        counts["statue of liberty"] = int(state.statue == NOBODY or not state.out[state.statue])
        counts["monsters off the board though alive"] = (
            0 if not state.turn else state.where.count(NOWHERE) - (state.players - state.out.count(0))
        )
        return counts
