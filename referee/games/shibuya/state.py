"""Where everything is in a match, as plain data: `rules.py` says what may be done with it."""

from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any, Final, Self, TypeAlias

from referee.games.api import DATA_OPTION, DataError
from referee.games.api.compiling import mypyc_attr
from referee.games.shibuya.actions import PEDESTRIANS, PLACES_OF, TURNS, ShibuyaAction
from referee.games.shibuya.bitboard import (
    BIT_AT,
    FIELD_BITS,
    FIELDS,
    SLOT_FIELDS,
    SLOT_MASKS,
    SLOT_SHIFTS,
    SLOTS,
    fields_of,
    neighbours_of,
    tiles_of,
)
from referee.games.shibuya.board import board_of
from referee.games.shibuya.events import REASONS

DRAW_PLACE: Final = "draw_place"
PLACE: Final = "place"
TURN: Final = "turn"
DRAW_BUILD: Final = "draw_build"
BUILD_ON: Final = "build"
OVER: Final = "over"
PHASES: Final = (DRAW_PLACE, PLACE, TURN, DRAW_BUILD, BUILD_ON, OVER)
"""Chance node and decision of the building phase; decision, chance node and decision of the crossing; the end."""
NOBODY: Final = -1
NO_TILE: Final = 0
WHOLE_BOARD: Final = sum(SLOT_MASKS)

Area: TypeAlias = tuple[int, int, dict[int, int], dict[int, int]]
"""Of one field: all others connected with it by colour, all by shape, as if no pedestrian stood anywhere; and for each
of the two, by the set of its fields that are occupied, what can then be reached."""


@mypyc_attr(allow_interpreted_subclasses=True)  # so that `clone` can leave out __init__
class Position:
    """All that a match is at one moment. Mutable.

    Pairs (lists of two) are red, blue; masks are those of `bitboard`. Tuples and caches are shared by copies.
    """

    __slots__ = (
        "_legal",
        "_targets",
        "areas",
        "black",
        "board",
        "covered",
        "drawn",
        "goals",
        "grid",
        "laid",
        "looks",
        "passes",
        "phase",
        "reason",
        "room",
        "round",
        "rules",
        "scored",
        "seat",
        "single",
        "stock",
        "stock_left",
        "tops",
        "turns",
        "waiting",
        "winner",
        "withdrawn",
    )

    def __init__(self, players: Any, options: Mapping[str, Any]) -> None:
        """Before the first tile is drawn. Raises PlayersError, OptionError, DataError."""
        board = self.board = board_of(players, options)
        rules = self.rules = board.rules
        self.phase = DRAW_PLACE if rules.build_phase else TURN
        self.seat = 0 if rules.build_phase else rules.first_crosser
        self.turns = 0
        """Turns of the crossing phase that are over."""
        self.passes = 0
        """Passes in a row."""
        self.drawn = -1
        """Kind of the tile that must be placed now; -1: none."""
        self.winner = NOBODY
        """The winning team, 0 red or 1 blue."""
        self.reason = ""
        """Why the match ended, one of `events.REASONS`."""
        self.withdrawn = -1
        """The seat that left; -1: none."""
        self._legal: list[ShibuyaAction] | None = None
        self._targets: dict[int, int] | None = None
        # Tiles
        self.stock = board.setting.tile_counts
        """Per tile kind how many are left to draw."""
        self.stock_left = sum(self.stock)
        self.tops: tuple[int, ...] = (NO_TILE,) * SLOTS
        """Per slot the tile one sees, 1 + 4*kind + turn."""
        self.covered: tuple[int, ...] = (NO_TILE,) * SLOTS
        """Per slot the tile beneath."""
        self.looks = bytes(FIELDS)
        """Per field its look, 0 where no tile lies."""
        self.laid = 0
        """Fields with a tile."""
        self.single = WHOLE_BOARD
        """Fields of slots that do not hold two tiles."""
        self.black = 0
        self.round = 0
        # Pedestrians
        self.grid = [0, 0]
        """Fields with a pedestrian."""
        self.waiting = [(1 << len(bits)) - 1 for bits in board.start_bits]
        """Places of pedestrians that wait."""
        self.goals: list[tuple[int, ...]] = [(0,) * len(bits) for bits in board.goal_bits]
        """Pedestrians per goal field."""
        self.scored = [0, 0]
        """Pedestrians in goal."""
        self.room = list(board.goal_fronts)
        """Fields before own goals that have room."""
        self.areas: dict[int, Area] = {}
        """`bit_length()` of a field's bit to its area: a cache that `moves` fills."""

    @property
    def turn_seat(self) -> int:
        return self.seat

    def buildable(self) -> int:
        """Fields of the slots that may take a tile: at most one there, and no pedestrian on it."""
        return self.single & ~tiles_of(self.grid[0] | self.grid[1])

    def draw(self, kind: int) -> None:
        """Take a tile of this kind, of which there must be one, from the stock."""
        stock = list(self.stock)
        stock[kind] -= 1
        self.stock = tuple(stock)
        self.stock_left -= 1

    def lay(self, kind: int, turn: int, slot: int) -> bool:
        """Lay a tile on a slot that may take it. Whether it covers another one."""
        old = self.tops[slot]
        tops = list(self.tops)
        tops[slot] = 1 + TURNS * kind + turn
        self.tops = tuple(tops)
        if old:
            covered = list(self.covered)
            covered[slot] = old
            self.covered = tuple(covered)
            self.single ^= SLOT_MASKS[slot]
        black, round_, tile_looks = self.board.patterns[kind][turn]
        keep = ~SLOT_MASKS[slot]
        self.laid |= SLOT_MASKS[slot]
        self.black = self.black & keep | black << SLOT_SHIFTS[slot]
        self.round = self.round & keep | round_ << SLOT_SHIFTS[slot]
        looks = bytearray(self.looks)
        for field, look in zip(SLOT_FIELDS[slot], tile_looks, strict=True):
            looks[field] = look
        self.looks = bytes(looks)
        # What does not touch the slot stays as it is. A new dictionary: copies share the old one.
        touched = SLOT_MASKS[slot] | neighbours_of(SLOT_MASKS[slot])
        self.areas = {
            length: area for length, area in self.areas.items() if not (area[0] | area[1] | BIT_AT[length]) & touched
        }
        return old != NO_TILE

    def arrive(self, team: int, goal: int) -> None:
        """Put a pedestrian of the team onto a goal field with room."""
        counts = self.goals[team]
        filled = counts[goal] + 1
        self.goals[team] = (*counts[:goal], filled, *counts[goal + 1 :])
        self.scored[team] += 1
        if filled == self.rules.goal_capacity:
            self.room[team] &= ~self.board.goal_bits[team][goal]

    # Copies

    def clone(self) -> Self:
        """An independent copy."""
        copy = type(self).__new__(type(self))
        copy.board = self.board
        copy.rules = self.rules
        copy.phase = self.phase
        copy.seat = self.seat
        copy.turns = self.turns
        copy.passes = self.passes
        copy.drawn = self.drawn
        copy.winner = self.winner
        copy.reason = self.reason
        copy.withdrawn = self.withdrawn
        copy._legal = self._legal
        copy._targets = self._targets
        copy.stock = self.stock
        copy.stock_left = self.stock_left
        copy.tops = self.tops
        copy.covered = self.covered
        copy.looks = self.looks
        copy.laid = self.laid
        copy.single = self.single
        copy.black = self.black
        copy.round = self.round
        copy.grid = self.grid[:]
        copy.waiting = self.waiting[:]
        copy.goals = self.goals[:]
        copy.scored = self.scored[:]
        copy.room = self.room[:]
        copy.areas = self.areas
        return copy

    def to_dict(self) -> dict[str, Any]:
        """The whole position as JSON values."""
        return {
            "players": self.board.players,
            "options": _copied(self.board.options),
            "phase": self.phase,
            "seat": self.seat,
            "turns": self.turns,
            "passes": self.passes,
            "drawn": self.drawn,
            "stock": list(self.stock),
            "tops": list(self.tops),
            "covered": list(self.covered),
            "teams": [
                {
                    "fields": list(fields_of(self.grid[team])),
                    "waiting": list(PLACES_OF[self.waiting[team]]),
                    "goals": list(self.goals[team]),
                }
                for team in (0, 1)
            ],
            "winner": self.winner,
            "reason": self.reason,
            "withdrawn": self.withdrawn,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Inverse of `to_dict`. DataError, naming the place, if the data describe no position."""
        try:
            return cls._from_dict(data)
        except (KeyError, TypeError, ValueError, IndexError) as error:
            raise DataError(f"state: {type(error).__name__} {error}; expected the form of to_dict()") from error

    @classmethod
    def _from_dict(cls, data: Mapping[str, Any]) -> Self:
        position = cls(data["players"], data["options"])
        board = position.board
        position.phase = _known(data["phase"], "phase", PHASES)
        position.seat = _within(data["seat"], "seat", 0, board.players - 1)
        position.turns = _within(data["turns"], "turns", 0, position.rules.move_cap)
        position.passes = _within(data["passes"], "passes", 0, board.players)
        position.drawn = _within(data["drawn"], "drawn", -1, len(board.patterns) - 1)
        position.winner = _within(data["winner"], "winner", NOBODY, 1)
        position.reason = _known(data["reason"], "reason", ("", *REASONS))
        position.withdrawn = _within(data["withdrawn"], "withdrawn", -1, board.players - 1)
        if position.phase != OVER and (position.drawn >= 0) != (position.phase in (PLACE, BUILD_ON)):
            raise DataError(f"state: drawn {position.drawn} does not fit phase '{position.phase}'")
        position._restore_tiles(data)
        for team in (0, 1):
            position._restore_team(team, data["teams"][team])
        if position.grid[0] & position.grid[1]:
            raise DataError("state: red and blue share a field")
        return position

    def _restore_tiles(self, data: Mapping[str, Any]) -> None:
        tops, covered = data["tops"], data["covered"]
        if len(tops) != SLOTS or len(covered) != SLOTS:
            raise DataError(f"state: expected {SLOTS} tops and covered tiles")
        used = [0] * len(self.stock)
        for slot in range(SLOTS):
            for name, tile in (("covered", covered[slot]), ("tops", tops[slot])):
                if tile:
                    kind, turn = divmod(_within(tile, f"{name}[{slot}]", 1, TURNS * len(used)) - 1, TURNS)
                    self.lay(kind, _within(turn, f"{name}[{slot}], its turn", 0, TURNS - 1), slot)
                    used[kind] += 1
                elif name == "tops" and covered[slot]:
                    raise DataError(f"state: covered[{slot}] has no tile on top")
        if self.drawn >= 0:
            used[self.drawn] += 1
        counts = self.board.setting.tile_counts
        stock = tuple(count - out for count, out in zip(counts, used, strict=True))
        if min(stock) < 0 or tuple(data["stock"]) != stock:
            raise DataError(f"state: stock {list(data['stock'])}, but the laid and drawn tiles leave {list(stock)}")
        self.stock = stock
        self.stock_left = sum(stock)

    def _restore_team(self, team: int, data: Mapping[str, Any]) -> None:
        at = f"teams[{team}]"
        fields = _ascending(data["fields"], f"{at}.fields", FIELDS)
        waiting = _ascending(data["waiting"], f"{at}.waiting", len(self.board.start_bits[team]))
        goals = data["goals"]
        if len(goals) != len(self.board.goal_bits[team]):
            raise DataError(f"state: {at}.goals: expected {len(self.board.goal_bits[team])} numbers")
        if len(fields) + len(waiting) + sum(goals) != PEDESTRIANS:
            raise DataError(f"state: {at}: expected {PEDESTRIANS} pedestrians on grid, waiting and in goal")
        for field in fields:
            if not FIELD_BITS[field] & self.laid:
                raise DataError(f"state: {at}.fields: no tile on field {field}")
            self.grid[team] |= FIELD_BITS[field]
        self.waiting[team] = sum(1 << place for place in waiting)
        for goal, count in enumerate(goals):
            for _ in range(_within(count, f"{at}.goals[{goal}]", 0, self.rules.goal_capacity)):
                self.arrive(team, goal)


def _copied(options: Mapping[str, Any]) -> dict[str, Any]:
    copy = dict(options)
    if DATA_OPTION in copy:
        copy[DATA_OPTION] = deepcopy(copy[DATA_OPTION])
    return copy


def _ascending(numbers: Sequence[int], at: str, end: int) -> Sequence[int]:
    previous = -1
    for number in numbers:
        previous = _within(number, at, previous + 1, end - 1)
    return numbers


def _within(value: Any, at: str, low: int, high: int) -> int:
    if type(value) is not int or not low <= value <= high:
        raise DataError(f"state: {at}: expected an integer from {low} to {high}, not {value!r}")
    return value


def _known(value: Any, at: str, words: Sequence[str]) -> str:
    if value not in words:
        raise DataError(f"state: {at}: expected one of {', '.join(words)}, not {value!r}")
    return str(value)
