"""The game as the registry finds it: its title and versions, new states, text of actions, bounds and counts."""

from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

from referee.games.api import OptionError, PlayersError
from referee.games.drawing import PieceGroup
from referee.games.king_of_new_york import data as box_data
from referee.games.king_of_new_york import view
from referee.games.king_of_new_york.actions import TEXT, KingAction
from referee.games.king_of_new_york.codec import KingCodec
from referee.games.king_of_new_york.constants import (
    BOROUGHS,
    FACES,
    NO_CARD,
    NO_SEAT,
    NOWHERE,
    QUESTION_NAMES,
    UNIT_KINDS,
    UNITS,
)
from referee.games.king_of_new_york.events import KingEvent
from referee.games.king_of_new_york.observation import Observation, position_values
from referee.games.king_of_new_york.options import OPTIONS
from referee.games.king_of_new_york.pieces import pieces as box_pieces
from referee.games.king_of_new_york.rules import KingState
from referee.games.king_of_new_york.ruleset import Ruleset, make_ruleset


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
        "The limits of rounds and of purchases in a turn are ours: they only make sure that every match ends.",
    )
    draws_possible = True
    decision_kinds = QUESTION_NAMES
    view = view

    def __init__(self) -> None:
        self.codec = KingCodec()

    def pieces(self) -> Sequence[PieceGroup]:
        """See `referee.games.drawing.pieces_of`."""
        return box_pieces()

    def new_initial_state(self, players: int, options: Mapping[str, Any]) -> KingState:
        return KingState.start(self._ruleset(players, options), players)

    def max_decisions(self, players: int, options: Mapping[str, Any]) -> int:
        """One placement of each seat, and in each turn what `most_per_turn` allows.

        When a seat leaves, a move that has been chosen and is being paid for may be chosen again: one answer more each.
        """
        rules = self._ruleset(players, options)
        return 2 * players + rules.round_cap * players * sum(most_per_turn(rules, players).values())

    def _ruleset(self, players: int, options: Mapping[str, Any]) -> Ruleset:
        if players not in self.player_counts:
            raise PlayersError(f"{self.id} is for 2 to 6 players, not {players!r}")
        start = options["start_player"]
        if start.startswith("seat_") and int(start[-1]) >= players:
            raise OptionError(f"{self.id} option 'start_player' is {start}, but there are only {players} seats")
        return make_ruleset(options)

    def teams(self, players: int, options: Mapping[str, Any]) -> tuple[int, ...]:
        return tuple(range(players))

    def default_data(self) -> dict[str, Any]:
        return box_data.default_data()

    def check_data(self, data: Any) -> None:
        box_data.check_data(data)

    def format_action(self, action: KingAction) -> str:
        return TEXT.format(action)

    def parse_action(self, text: str) -> KingAction:
        action: KingAction = TEXT.parse(text)
        return action

    def state_from_dict(self, data: Mapping[str, Any]) -> KingState:
        return KingState.from_dict(data)

    def from_observation(
        self, observation: Observation, history: Sequence[KingEvent], options: Mapping[str, Any], rng: Random
    ) -> KingState:
        """Exact: an observation is the whole position."""
        return KingState.from_values(make_ruleset(options), observation.setting.players, position_values(observation))

    def conserved(self, state: KingState) -> dict[str, int]:
        """Cards, tiles by kind or Unit, tokens, goal cards, monsters, over all places."""
        tile_units = state.ruleset.tile_units
        cards = state.deck.bit_count() + state.discards.bit_count() + state.played.bit_count()
        cards += len(state.market) - state.market.count(NO_CARD) + sum([keep.bit_count() for keep in state.keep_cards])
        counts = {"cards": cards, "tiles covered less unseen": sum(state.covered) - sum(state.unseen)}
        tiles = state.lost_trophies[:]
        for tile, left in enumerate(state.unseen):
            if tile:
                tiles[tile_units[tile]] += left
        for tile in state.tops:
            if tile:
                tiles[tile_units[tile]] += 1
        for unit, name in enumerate(UNITS):
            units = sum(state.units[unit::UNIT_KINDS]) + sum(state.trophies[unit::UNIT_KINDS])
            counts[f"tiles with {name}"] = tiles[unit] + units
        counts["web"] = state.web_left + sum(state.web)
        counts["jinx"] = state.jinx_left + sum(state.jinx)
        counts["carapace"] = state.carapace_left + sum(state.carapace)
        counts["superstar"] = int(state.superstar_seat == NO_SEAT or not state.out[state.superstar_seat])
        counts["statue of liberty"] = int(state.statue_seat == NO_SEAT or not state.out[state.statue_seat])
        counts["monsters off the board though alive"] = (
            0 if not state.turn else state.borough.count(NOWHERE) - (state.players - state.out.count(0))
        )
        return counts


def most_per_turn(ruleset: Ruleset, players: int) -> dict[str, int]:
    """By question, how often one turn can ask it at most, all seats together.

    Celebrity dice are given up one by one, and each one may turn another die to a face that is already resolved, so a
    face is resolved at most once more for each. Carapace tokens come with the final roll, so a seat discards the card
    with tokens on it at most once in a turn. Rides, purchases and sweeps are capped.
    """
    given_up = ruleset.max_dice
    # Answers that only repeat the question: a Subway ride, discarding Carapace.
    repeated = ruleset.subway_max_moves + 1
    resolutions = 1 + given_up
    results = ruleset.max_dice + ruleset.most_added_destruction
    trades = ruleset.market_cap
    flights = 2 * resolutions
    destroyed = results + resolutions + repeated
    # Claws, Ouch, cards that strike when Superstar changes hands, and bought cards.
    strikes = resolutions * (2 + ruleset.most_superstar_strikes) + trades
    entries = 1 + ruleset.subway_max_moves + 1 + 1 + flights + 1
    rerolls = ruleset.rolls - 1
    return {
        "before_roll": 2 + repeated,
        # After the last roll it is asked once more by those who may do something at any moment.
        "dice": rerolls + 1 + repeated,
        "convert": 1 + given_up + repeated,
        "hail": 1 + repeated,
        # The faces, those resolved again, the dice given up, and a pass after the last face.
        "resolve": len(FACES) + 2 * given_up + 1 + repeated,
        "destroy": destroyed,
        "move": 1 + repeated,
        "buy": trades + 1 + repeated,
        "flee": flights,
        "leave": 1,
        # To each strike everyone may answer twice: discard Carapace, then pay with energy.
        "respond": strikes * players * 2,
        "pay": 1 + ruleset.subway_max_moves + rerolls + resolutions + destroyed + 1 + trades + flights,
        "push": entries * len(BOROUGHS),
        "discard": trades * players * 2,
        "photo": trades,
        "trade": trades,
    }
