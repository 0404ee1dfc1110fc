"""The game as the registry finds it."""

from collections import Counter
from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

from referee.games.api import Codec, Option, PlayersError, View
from referee.games.drawing import PieceGroup
from referee.games.manhattan_traffiq import codec, view
from referee.games.manhattan_traffiq.actions import TEXT, TraffiqAction
from referee.games.manhattan_traffiq.board import board_of
from referee.games.manhattan_traffiq.data import PLAYER_COUNTS, START_HAND, check_data, default_data
from referee.games.manhattan_traffiq.events import TraffiqEvent
from referee.games.manhattan_traffiq.observation import Observation
from referee.games.manhattan_traffiq.options import OPTIONS
from referee.games.manhattan_traffiq.pieces import pieces as box_pieces
from referee.games.manhattan_traffiq.rules import DECISION_KINDS, State

NOTES = (
    "The tile sets C, A and B are reconstructions: no source says which tiles are in the box. Who owns one can "
    "replace them with a data file.",
    "The side colours of both start layouts, the shape of the Times Square tiles (Z, T, L) and the 2 x 5 block of "
    "Central Park are reconstructions as well.",
    "Sure from both rulebooks: vehicles and their numbers, actions and their order, placing, driving, competing, both "
    "endings. That streets run along tile sides is inferred from them.",
    "The no-progress rule, the turn limit and shared ranks for equal points are ours: the rulebooks are silent.",
)


class ManhattanTraffiq:
    """Implements `referee.games.api.Game`."""

    id: str = "manhattan_traffiq"
    title: str = "Manhattan TraffIQ"
    rules_version: int = 1
    player_counts: tuple[int, ...] = PLAYER_COUNTS
    options: tuple[Option, ...] = OPTIONS
    notes: tuple[str, ...] = NOTES
    draws_possible: bool = True
    decision_kinds: tuple[str, ...] = DECISION_KINDS
    codec: Codec = codec
    view: View = view

    def pieces(self) -> Sequence[PieceGroup]:
        """See `referee.games.drawing.pieces_of`."""
        return box_pieces()

    def new_initial_state(self, players: int, options: Mapping[str, Any]) -> State:
        _check_players(players)
        return State(players, options)

    def max_decisions(self, players: int, options: Mapping[str, Any]) -> int:
        """At most four in a turn, and eight more for each attached tile.

        A turn asks at most twice for an action and once after each of two rides. A tile completes at most four
        vertices: four times placing, four times competing. Turns outside the final round: the turn limit; with the
        no-progress rule also at most one idle stretch before each turn that attaches or draws, of which there are
        no more than tiles to draw and to attach, and one stretch after the last. Then one turn for each seat.
        """
        _check_players(players)
        tiles = board_of(options).tiles
        turns = int(options["turn_limit"])
        if rounds := int(options["no_progress_rounds"]):
            busy = tiles + tiles - START_HAND * players
            turns = min(turns, busy + (busy + 1) * rounds * players)
        return 4 * (turns + players) + 8 * tiles

    def teams(self, players: int, options: Mapping[str, Any]) -> tuple[int, ...]:
        return tuple(range(players))

    def default_data(self) -> dict[str, Any]:
        return default_data()

    def check_data(self, data: Any) -> None:
        check_data(data)

    def format_action(self, action: TraffiqAction) -> str:
        return TEXT.format(action)

    def parse_action(self, text: str) -> TraffiqAction:
        action: TraffiqAction = TEXT.parse(text)
        return action

    def state_from_dict(self, data: Mapping[str, Any]) -> State:
        return State.from_dict(data)

    def from_observation(
        self, observation: Observation, history: Sequence[TraffiqEvent], options: Mapping[str, Any], rng: Random
    ) -> State:
        """The observation says all that is needed: `history` adds nothing to it."""
        return State.from_observation(observation, options, rng)

    def conserved(self, state: State) -> dict[str, int]:
        """Tiles by name, and vehicles by seat and kind."""
        board = state.board
        tiles = list(state.stock)
        for hand in state.hands:
            for kind in hand:
                tiles[kind] += 1
        laid = [tile.face for tile in state.city.tiles if (tile.x, tile.y) not in board.start_cells]
        for face in laid:
            tiles[board.face_kind[face]] += 1
        counts = dict(zip(board.kinds, tiles, strict=True))
        counts["start tiles"] = len(state.city.tiles) - len(laid)
        on_map = Counter(state.pieces.values())
        for piece, supply in enumerate(state.supply):
            vehicle = "truck" if piece & 1 else "taxi"
            counts[f"{vehicle} of seat {piece >> 1}"] = supply + on_map[piece]
        return counts


def _check_players(players: int) -> None:
    if players not in PLAYER_COUNTS:
        raise PlayersError(f"manhattan_traffiq is for 2 to 4 players, not {players!r}")


GAME = ManhattanTraffiq()
