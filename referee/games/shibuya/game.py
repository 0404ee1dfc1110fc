"""The game object that the registry finds."""

from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

from referee.games.api import Codec, Option, View
from referee.games.drawing import PieceGroup
from referee.games.shibuya import codec, view
from referee.games.shibuya.actions import TEXT, TURNS, ShibuyaAction
from referee.games.shibuya.bitboard import SLOTS
from referee.games.shibuya.board import GAME_ID, PLAYER_COUNTS, board_of
from referee.games.shibuya.data import TEAMS, check_data, default_data
from referee.games.shibuya.events import ShibuyaEvent
from referee.games.shibuya.observation import Observation
from referee.games.shibuya.options import OPTIONS
from referee.games.shibuya.pieces import pieces as box_pieces
from referee.games.shibuya.rules import DECISION_KINDS, State

_LAYERS = 2


class ShibuyaGame:
    """See `referee.games.api.Game`."""

    id: str = GAME_ID
    title: str = "Shibuya"
    rules_version: int = 1
    player_counts: tuple[int, ...] = PLAYER_COUNTS
    options: tuple[Option, ...] = OPTIONS
    notes: tuple[str, ...] = (
        "The tile sets M, X, F and D are reconstructions: no source says what the 30 tiles of the box show.",
        "The layouts 4pB and 4pA for four players are reconstructions from one sentence of a review.",
        "The turn cap and what happens without legal action are ours; the rules are silent.",
    )
    draws_possible: bool = True
    decision_kinds: tuple[str, ...] = DECISION_KINDS
    codec: Codec = codec
    view: View = view

    def pieces(self) -> Sequence[PieceGroup]:
        """See `referee.games.drawing.pieces_of`."""
        return box_pieces()

    def new_initial_state(self, players: int, options: Mapping[str, Any]) -> State:
        return State(players, options)

    def max_decisions(self, players: int, options: Mapping[str, Any]) -> int:
        """Placements of the building phase, one decision a turn, and a second one for each tile built.

        A turn builds at most once, each build uses up one tile and one of 32 layers.
        """
        board = board_of(players, options)
        placed = SLOTS if board.rules.build_phase else 0
        turns = board.rules.move_cap
        builds = min(sum(board.setting.tile_counts) - placed, _LAYERS * SLOTS - placed, turns)
        return placed + turns + builds

    def teams(self, players: int, options: Mapping[str, Any]) -> tuple[int, ...]:
        """Red 0, blue 1; partners sit opposite each other."""
        return tuple(seat % 2 for seat in range(players))

    def default_data(self) -> dict[str, Any]:
        return default_data()

    def check_data(self, data: Any) -> None:
        check_data(data)

    def format_action(self, action: ShibuyaAction) -> str:
        return TEXT.format(action)

    def parse_action(self, text: str) -> ShibuyaAction:
        action: ShibuyaAction = TEXT.parse(text)
        return action

    def state_from_dict(self, data: Mapping[str, Any]) -> State:
        return State.from_dict(data)

    def from_observation(
        self,
        observation: Observation,
        history: Sequence[ShibuyaEvent],
        options: Mapping[str, Any],
        rng: Random,
    ) -> State:
        """Exact: an observation holds everything but the order of the stock."""
        return State.from_observation(observation, options)

    def conserved(self, state: Any) -> dict[str, int]:
        """Tiles per kind over stock, hand and both layers; pedestrians per team over grid, starts and goals."""
        tiles = list(state.stock)
        for tile in (*state.tops, *state.covered):
            if tile:
                tiles[(tile - 1) // TURNS] += 1
        if state.drawn >= 0:
            tiles[state.drawn] += 1
        counts = {f"tile {kind}": count for kind, count in enumerate(tiles)}
        for team, name in enumerate(TEAMS):
            counts[name] = state.grid[team].bit_count() + state.waiting[team].bit_count() + sum(state.goals[team])
        return counts


GAME = ShibuyaGame()
