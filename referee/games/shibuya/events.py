"""What happens in a match, as everyone sees it: nothing but the order of the stock is hidden."""

from dataclasses import dataclass
from typing import ClassVar, TypeAlias


@dataclass(frozen=True, slots=True)
class BuildChosen:
    """A seat builds instead of moving; the tile is drawn next."""

    KIND: ClassVar[str] = "build_chosen"
    seat: int


@dataclass(frozen=True, slots=True)
class TileDrawn:
    """A seat turned up the top tile; `tile` is its number in the tile set."""

    KIND: ClassVar[str] = "tile_drawn"
    seat: int
    tile: int


@dataclass(frozen=True, slots=True)
class TilePlaced:
    """The drawn tile lies on a slot; `covered` if it hides another one."""

    KIND: ClassVar[str] = "tile_placed"
    seat: int
    tile: int
    slot: int
    turn: int
    covered: bool


@dataclass(frozen=True, slots=True)
class Moved:
    """A pedestrian of the seat's team moved; source and target are numbered as in the action `move`."""

    KIND: ClassVar[str] = "moved"
    seat: int
    source: int
    target: int


@dataclass(frozen=True, slots=True)
class Passed:
    """A seat had no legal action."""

    KIND: ClassVar[str] = "passed"
    seat: int


@dataclass(frozen=True, slots=True)
class Withdrew:
    """A seat left the match; its team has lost."""

    KIND: ClassVar[str] = "withdrew"
    seat: int


@dataclass(frozen=True, slots=True)
class Finished:
    """The match is over: `team` 0 red, 1 blue, -1 nobody; `reason` is one of `REASONS`."""

    KIND: ClassVar[str] = "finished"
    team: int
    reason: str


ShibuyaEvent: TypeAlias = BuildChosen | TileDrawn | TilePlaced | Moved | Passed | Withdrew | Finished

REASONS = ("goals", "lead", "all_passed", "move_cap", "blocked", "withdrawn")
"""Why a match ends: enough pedestrians in goal, the lead, passes in a row, the turn cap, a seat shut in under
`no_legal_action=lose`, a seat that left."""
