"""Where every tile and pedestrian is. Plain data with a hand-written copy; the course of turns is in `rules`."""

from typing import TypeAlias

from referee.games.shibuya.board import (
    BIT_AT,
    FIELDS,
    SLOT_FIELDS,
    SLOT_MASKS,
    SLOT_SHIFTS,
    SLOTS,
    neighbours_of,
    tiles_of,
)
from referee.games.shibuya.setup import Setup

TURNS = 4
NO_TILE = 0
WHOLE_BOARD = sum(SLOT_MASKS)

Area: TypeAlias = tuple[int, int, dict[int, int], dict[int, int]]
"""Of one field: all others connected with it by colour, all by shape, as if no pedestrian stood anywhere; and for each
of the two, by the set of its fields that are occupied, what can then be reached."""


class Position:
    """Pairs (lists of two) are red, blue; masks are those of `board`. Tuples and caches are shared by copies."""

    __slots__ = (
        "areas",
        "black",
        "covered",
        "goals",
        "grid",
        "laid",
        "looks",
        "room",
        "round",
        "scored",
        "setup",
        "single",
        "stock",
        "stock_left",
        "tops",
        "waiting",
    )

    def __init__(self, setup: Setup) -> None:
        self.setup = setup
        self.stock = setup.setting.tile_counts
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
        self.grid = [0, 0]
        """Fields with a pedestrian."""
        self.waiting = [(1 << len(bits)) - 1 for bits in setup.start_bits]
        """Places of pedestrians that wait."""
        self.goals: list[tuple[int, ...]] = [(0,) * len(bits) for bits in setup.goal_bits]
        """Pedestrians per goal field."""
        self.scored = [0, 0]
        """Pedestrians in goal."""
        self.room = list(setup.goal_fronts)
        """Fields before own goals that have room."""
        self.areas: dict[int, Area] = {}
        """`bit_length()` of a field's bit to its area: a cache that `moves` fills."""

    def copy(self) -> "Position":
        other = Position.__new__(Position)
        other.setup = self.setup
        other.stock = self.stock
        other.stock_left = self.stock_left
        other.tops = self.tops
        other.covered = self.covered
        other.looks = self.looks
        other.laid = self.laid
        other.single = self.single
        other.black = self.black
        other.round = self.round
        other.grid = self.grid[:]
        other.waiting = self.waiting[:]
        other.goals = self.goals[:]
        other.scored = self.scored[:]
        other.room = self.room[:]
        other.areas = self.areas
        return other

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
        black, round_, tile_looks = self.setup.patterns[kind][turn]
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
        if filled == self.setup.capacity:
            self.room[team] &= ~self.setup.goal_bits[team][goal]
