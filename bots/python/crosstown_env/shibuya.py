"""Shibuya as arrays: everything that a viewer sees but the constant setting of the match."""

from collections.abc import Mapping, Sequence
from typing import Any

from crosstown_env.actions import ActionSpace, Block
from crosstown_env.layout import BASE, Layout, category, flags, large, named, number, seat
from referee.games.api import resolve_options
from referee.games.shibuya.actions import (
    BUILD,
    MAX_GOALS,
    OFF_GRID,
    PASS,
    PEDESTRIANS,
    TURNS,
    Build,
    Move,
    Pass,
    Place,
    ShibuyaAction,
)
from referee.games.shibuya.bitboard import FIELDS, SLOTS
from referee.games.shibuya.board import board_of
from referee.games.shibuya.events import REASONS
from referee.games.shibuya.observation import Observation
from referee.games.shibuya.options import OPTIONS
from referee.games.shibuya.rules import State
from referee.games.shibuya.state import PHASES

SOURCES = OFF_GRID + PEDESTRIANS
TARGETS = OFF_GRID + MAX_GOALS
_BUILD, _PASS, _PLACE = 1, 2, 3
_MOVE = _PLACE + SLOTS * TURNS
_PHASES = {phase: place for place, phase in enumerate(PHASES, start=1)}
_REASONS = {reason: place for place, reason in enumerate(("", *REASONS))}
_RED_WAITS, _BLUE_WAITS = 2 * FIELDS, 2 * FIELDS + PEDESTRIANS
_TEAMS = 2 * FIELDS + 2 * PEDESTRIANS

ACTIONS = ActionSpace(
    (
        Block("build", "Draw a tile instead of moving."),
        Block("pass", "Do nothing."),
        Block("place", "Lay the drawn tile.", (("slot", SLOTS), ("turn", TURNS))),
        Block(
            "move",
            "Move a pedestrian, by its field or place and where it goes.",
            (("source", SOURCES), ("target", TARGETS)),
        ),
    )
)


class ShibuyaArrays:
    """See `crosstown_env.arrays.Arrays`."""

    version = 1
    actions = ACTIONS

    def __init__(self, players: int, options: Mapping[str, Any]) -> None:
        board = board_of(players, resolve_options("shibuya", OPTIONS, options))
        setting = board.setting
        kinds = len(setting.tile_counts)
        red_goals, blue_goals = (len(team.goal_fronts) for team in setting.teams)
        goals = self._goals = max(red_goals, blue_goals)
        highest = TURNS * kinds
        self.layout = Layout(
            (
                seat("viewer", "The seat that sees this.", players),
                named("phase", "What the match waits for.", PHASES),
                seat("seat", "Whose turn it is.", players),
                large("turns", "Turns of the crossing phase that are over."),
                number("passes", "Passes in a row.", players),
                category("drawn", "Kind of the tile that must be placed now; -1: none.", -1, kinds - 1),
                category("winner", "The winning team: 0 red, 1 blue, -1 none (yet).", -1, 1),
                named("reason", "Why the match ended; the empty name: it has not.", ("", *REASONS)),
                seat("withdrawn", "The seat that left; -1: none.", players, low=-1),
                number("stock", "Per tile kind how many are left to draw.", max(setting.tile_counts), kinds),
                number("tops", "Per slot the tile on top, 1 + 4*kind + turn; 0: none.", highest, SLOTS),
                number("covered", "Per slot the tile beneath, in the same way.", highest, SLOTS),
                category(
                    "looks",
                    "Per field, x + 8*y, its look: 0 no tile, 1 black round, 2 black square, 3 white round, 4 white "
                    "square.",
                    0,
                    4,
                    FIELDS,
                ),
                flags(
                    "fields", "Red, then blue: per field whether a pedestrian of the team stands there.", 2 * FIELDS, 2
                ),
                flags("waiting", "Red, then blue: per pedestrian whether it still waits.", 2 * PEDESTRIANS, 2),
                number("goals", "Red, then blue: pedestrians per goal field.", PEDESTRIANS, 2 * goals, over=2),
            )
        )

    def seen(self, state: State, viewer: int) -> Observation:
        return state.observation(viewer)

    def row(self, seen: Observation, viewer: int) -> bytes:
        taken = bytearray(_TEAMS)
        red, blue = seen.fields
        for field in red:
            taken[field] = 1
        for field in blue:
            taken[FIELDS + field] = 1
        red, blue = seen.waiting
        for place in red:
            taken[_RED_WAITS + place] = 1
        for place in blue:
            taken[_BLUE_WAITS + place] = 1
        red, blue = seen.goals
        goals = self._goals
        turns = seen.turns
        head = (
            viewer,
            _PHASES[seen.phase],
            seen.seat,
            turns // BASE,
            turns % BASE,
            seen.passes,
            seen.drawn & 255,
            seen.winner & 255,
            _REASONS[seen.reason],
            seen.withdrawn & 255,
        )
        return b"".join(
            (
                bytes(head + seen.stock + seen.tops + seen.covered),
                seen.looks,
                taken,
                bytes(red).ljust(goals, b"\0"),
                bytes(blue).ljust(goals, b"\0"),
            )
        )

    def ids(self, seen: Observation, legal: Sequence[ShibuyaAction]) -> list[int]:
        first = legal[0]
        if type(first) is Place:
            return [_PLACE + TURNS * one.slot + one.turn for one in legal]  # type: ignore[union-attr]
        if type(first) is Pass:
            return [_PASS]
        if type(legal[-1]) is Build:
            return [*self._moves(legal[:-1]), _BUILD]
        return self._moves(legal)

    @staticmethod
    def _moves(legal: Sequence[Any]) -> list[int]:
        return [_MOVE + TARGETS * one.source + one.target for one in legal]

    def action(self, seen: Observation, number: int) -> ShibuyaAction:
        kind, values = ACTIONS.factors_of(number)
        if kind == "move":
            return Move(*values)
        if kind == "place":
            return Place(*values)
        return BUILD if kind == "build" else PASS
