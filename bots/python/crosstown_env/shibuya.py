"""Shibuya as arrays: everything that a viewer sees but the constant setting of the match."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from crosstown_env.actions import ActionSpace, Block, packed
from crosstown_env.layout import BASE, Layout, category, flags, large, named, number, seat
from referee.games.api import resolve_options
from referee.games.shibuya.actions import (
    BUILD,
    MAX_GOALS,
    MOVES,
    OFF_GRID,
    PASS,
    PEDESTRIANS,
    PLACES,
    TURNS,
    Build,
    Move,
    Pass,
    Place,
    ShibuyaAction,
)
from referee.games.shibuya.bitboard import FIELDS, SIDE, SLOTS, mask_of
from referee.games.shibuya.board import board_of
from referee.games.shibuya.events import REASONS
from referee.games.shibuya.observation import Observation
from referee.games.shibuya.options import OPTIONS
from referee.games.shibuya.rules import State, Words
from referee.games.shibuya.state import PHASES

SOURCES: Final = OFF_GRID + PEDESTRIANS
TARGETS: Final = OFF_GRID + MAX_GOALS
_BUILD, _PASS, _PLACE = 1, 2, 3
_MOVE: Final = _PLACE + SLOTS * TURNS
_PHASES: Final = {phase: place for place, phase in enumerate(PHASES, start=1)}
_REASONS: Final = {reason: place for place, reason in enumerate(("", *REASONS))}
_ROW_BITS: Final = 1 << SIDE
_FIELDS: Final = tuple(bytes(number >> place & 1 for place in range(SIDE)) for number in range(_ROW_BITS))
"""By a row of a mask, or by a mask of waiting pedestrians, one byte for each place."""

ACTIONS: Final = ActionSpace(
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
_WORDS: Final = Words(
    _BUILD,
    _PASS,
    {
        period: [[_PLACE + TURNS * slot + turn for turn in range(period)] for slot in range(SLOTS)]
        for period in (1, 2, TURNS)
    },
    [[_MOVE + TARGETS * move.source + move.target for move in row] for row in MOVES],
)
_ACTIONS: Final[tuple[ShibuyaAction, ...]] = (
    *(BUILD, PASS),
    *(place for row in PLACES for place in row),
    *(Move(source, target) for source in range(SOURCES) for target in range(TARGETS)),
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
                named("reason", "Why the match ended; (none): it goes on.", ("", *REASONS)),
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

    def row(self, seen: Observation | State, viewer: int) -> bytes:
        if not isinstance(seen, Observation):
            return self._row(seen, viewer, seen.grid, seen.waiting)
        (red, blue), (red_waits, blue_waits) = seen.fields, seen.waiting
        waiting = (sum([1 << place for place in red_waits]), sum([1 << place for place in blue_waits]))
        return self._row(seen, viewer, (mask_of(red), mask_of(blue)), waiting)

    def _row(self, seen: Any, viewer: int, grid: Sequence[int], waiting: Sequence[int]) -> bytes:
        """`seen` is an observation or a position; only attributes that both have are read."""
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
                _fields(grid[0]),
                _fields(grid[1]),
                _FIELDS[waiting[0]],
                _FIELDS[waiting[1]],
                bytes(red).ljust(goals, b"\0"),
                bytes(blue).ljust(goals, b"\0"),
            )
        )

    def numbers(self, state: State, seat: int) -> bytes:
        return packed(state.legal_in(_WORDS))

    def ids(self, seen: Observation | State, legal: Sequence[ShibuyaAction]) -> list[int]:
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

    def action(self, seen: Observation | State, number: int) -> ShibuyaAction:
        if not 0 < number <= len(_ACTIONS):
            ACTIONS.factors_of(number)  # says what is wrong
        return _ACTIONS[number - 1]


def _fields(mask: int) -> bytes:
    """One byte for each field: 1 if it is in the mask."""
    table = _FIELDS
    return b"".join(
        (
            *(table[mask & 255], table[mask >> 9 & 255], table[mask >> 18 & 255], table[mask >> 27 & 255]),
            *(table[mask >> 36 & 255], table[mask >> 45 & 255], table[mask >> 54 & 255], table[mask >> 63]),
        )
    )
