"""What happens in a match. Only the faces of drawn tiles are hidden, from all but the drawer."""

from dataclasses import dataclass
from typing import ClassVar, TypeAlias

from referee.games.api import EncodedOnce

FINAL_REASONS = ("stock", "no_progress", "turn_limit")
"""Why the final round begins: the last tile is drawn; nobody attached or drew for too long; too many turns."""
END_REASONS = ("all_placed", "final_round", "last_seat")
"""Why a match ends: a seat has all its vehicles on the map; the final round is over; one seat is left."""


@dataclass(frozen=True, slots=True)
class StartPlayer(EncodedOnce):
    """The seat that takes the first turn."""

    KIND: ClassVar[str] = "start_player"
    seat: int


@dataclass(frozen=True, slots=True)
class TileDrawn(EncodedOnce):
    """A tile went from the stock to a hand; `tile` is its name, empty for those who may not see it."""

    KIND: ClassVar[str] = "tile_drawn"
    seat: int
    tile: str


@dataclass(frozen=True, slots=True)
class Attached(EncodedOnce):
    """A tile was laid; see the action `attach`."""

    KIND: ClassVar[str] = "attached"
    seat: int
    face: str
    x: int
    y: int


@dataclass(frozen=True, slots=True)
class Placed(EncodedOnce):
    """A vehicle came from the supply onto vertex (x, y)."""

    KIND: ClassVar[str] = "placed"
    seat: int
    vehicle: str
    x: int
    y: int


@dataclass(frozen=True, slots=True)
class Drove(EncodedOnce):
    """A vehicle drove from (x, y) to (to_x, to_y)."""

    KIND: ClassVar[str] = "drove"
    seat: int
    vehicle: str
    x: int
    y: int
    to_x: int
    to_y: int


@dataclass(frozen=True, slots=True)
class Competed(EncodedOnce):
    """A seat competed on these streets through vertex (x, y); what it threw out follows."""

    KIND: ClassVar[str] = "competed"
    seat: int
    x: int
    y: int
    streets: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Returned(EncodedOnce):
    """A vehicle of `seat` left vertex (x, y) for its owner's supply."""

    KIND: ClassVar[str] = "returned"
    seat: int
    vehicle: str
    x: int
    y: int


@dataclass(frozen=True, slots=True)
class Declined(EncodedOnce):
    """A seat placed no (further) vehicle, or did not compete; `what` is 'place' or 'compete'."""

    KIND: ClassVar[str] = "declined"
    seat: int
    what: str


@dataclass(frozen=True, slots=True)
class TurnEnded(EncodedOnce):
    """The turn of a seat is over."""

    KIND: ClassVar[str] = "turn_ended"
    seat: int


@dataclass(frozen=True, slots=True)
class FinalRound(EncodedOnce):
    """Nobody draws any more; every seat has one more turn, `first` the first. `reason` is one of `FINAL_REASONS`."""

    KIND: ClassVar[str] = "final_round"
    first: int
    reason: str


@dataclass(frozen=True, slots=True)
class Withdrew(EncodedOnce):
    """A seat left the match: its vehicles left the map, its hand is set aside unseen."""

    KIND: ClassVar[str] = "withdrew"
    seat: int


@dataclass(frozen=True, slots=True)
class Finished(EncodedOnce):
    """The match is over; `reason` is one of `END_REASONS`."""

    KIND: ClassVar[str] = "finished"
    reason: str


TraffiqEvent: TypeAlias = (
    StartPlayer
    | TileDrawn
    | Attached
    | Placed
    | Drove
    | Competed
    | Returned
    | Declined
    | TurnEnded
    | FinalRound
    | Withdrew
    | Finished
)
