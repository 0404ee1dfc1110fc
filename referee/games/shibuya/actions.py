"""The typed actions and their canonical text.

A source or target below 64 is a field, x + 8*y. From 64 on it is off the grid: as a source the mover's waiting
pedestrian number `source - 64`, as a target the mover's goal field number `target - 64`, both counted in the order
of the layout's strips.
"""

from dataclasses import dataclass
from typing import ClassVar, Final, TypeAlias

from referee.games.api import ActionText
from referee.games.shibuya.bitboard import BOARD_BITS, FIELD_BITS, FIELDS, SLOTS

PEDESTRIANS: Final = 8
"""Pedestrians of a team."""
PLACES_OF: Final = tuple(
    tuple(place for place in range(PEDESTRIANS) if mask >> place & 1) for mask in range(1 << PEDESTRIANS)
)
"""Mask of waiting pedestrians to their numbers, ascending."""
MAX_GOALS: Final = 16
"""Most goal fields a layout may give a team."""
OFF_GRID: Final = FIELDS
"""The first number that is no field."""
TURNS: Final = 4


@dataclass(frozen=True, slots=True)
class Move:
    """Move one pedestrian of the team. The property that carries it is not part of the action."""

    KIND: ClassVar[str] = "move"
    source: int
    target: int


@dataclass(frozen=True, slots=True)
class Place:
    """Lay the tile just drawn on a slot, turned clockwise by `turn` quarter turns from the way the data lists it."""

    KIND: ClassVar[str] = "place"
    slot: int
    turn: int


@dataclass(frozen=True, slots=True)
class Build:
    """Draw a tile instead of moving; where it goes is the next decision."""

    KIND: ClassVar[str] = "build"


@dataclass(frozen=True, slots=True)
class Pass:
    """Do nothing; only when nothing else can be done."""

    KIND: ClassVar[str] = "pass"


ShibuyaAction: TypeAlias = Move | Place | Build | Pass

TEXT: Final = ActionText((Move, Place, Build, Pass))

BUILD: Final = Build()
PASS: Final = Pass()
PLACES: Final = tuple(tuple(Place(slot, turn) for turn in range(TURNS)) for slot in range(SLOTS))
"""PLACES[slot][turn]."""

TARGET_BITS: Final = (*FIELD_BITS, *(1 << (BOARD_BITS + goal) for goal in range(MAX_GOALS)))
"""Target number to bit: the board, and above it the team's goal fields."""
TARGET_AT: Final = (0, *(1 << number for number in range(BOARD_BITS + MAX_GOALS)))
"""`mask.bit_length()` to the highest target bit of a mask."""
_NUMBER_OF_BIT: Final = {bit: target for target, bit in enumerate(TARGET_BITS)}
MOVES: Final = tuple(
    tuple(Move(source, _NUMBER_OF_BIT.get(bit, -1)) for bit in TARGET_AT) for source in range(OFF_GRID + PEDESTRIANS)
)
"""MOVES[source][`mask.bit_length()`]: the move to the highest target of a mask."""
