"""Typed actions of Manhattan TraffIQ and their canonical text."""

from dataclasses import dataclass
from typing import ClassVar, Final, TypeAlias

from referee.games.api import ActionText, EncodedOnce

VEHICLES: Final = ("taxi", "truck")
"""Kinds of vehicle, in the order used everywhere; a taxi counts 1, a truck 2."""
STREETS: Final = ("h", "w", "e", "v", "s", "n")
"""Names of the streets through a vertex: h the horizontal one or, where `colour_change_ends_street` parts it there, its
arms to the west and east; v the vertical one or its arms to the south and north."""


@dataclass(frozen=True, slots=True)
class EndTurn(EncodedOnce):
    """The turn ends; actions that are left are forfeited."""

    KIND: ClassVar[str] = "end_turn"


@dataclass(frozen=True, slots=True)
class DrawTile(EncodedOnce):
    """One city tile from the stock to the hand."""

    KIND: ClassVar[str] = "draw"


@dataclass(frozen=True, slots=True)
class Attach(EncodedOnce):
    """A hand tile is laid on cell (x, y), x to the east and y to the north.

    `face` is the tile as it lies: its side colours from north, clockwise (r red, t beige, g park, b water).
    """

    KIND: ClassVar[str] = "attach"
    face: str
    x: int
    y: int


@dataclass(frozen=True, slots=True)
class Taxi(EncodedOnce):
    """An own taxi drives from vertex (x, y), the south-west corner of cell (x, y), to vertex (to_x, to_y)."""

    KIND: ClassVar[str] = "taxi"
    x: int
    y: int
    to_x: int
    to_y: int


@dataclass(frozen=True, slots=True)
class Truck(EncodedOnce):
    """An own truck drives one segment, from vertex (x, y) to vertex (to_x, to_y)."""

    KIND: ClassVar[str] = "truck"
    x: int
    y: int
    to_x: int
    to_y: int


@dataclass(frozen=True, slots=True)
class Place(EncodedOnce):
    """A vehicle ('taxi' or 'truck') from the supply on a vertex the tile just attached has completed."""

    KIND: ClassVar[str] = "place"
    vehicle: str
    x: int
    y: int


@dataclass(frozen=True, slots=True)
class Compete(EncodedOnce):
    """On each of these streets (names in the order of `STREETS`) every weaker opponent takes its vehicles back."""

    KIND: ClassVar[str] = "compete"
    streets: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Decline(EncodedOnce):
    """No vehicle is placed, on none of the vertices that are open; or there is no competing."""

    KIND: ClassVar[str] = "decline"


TraffiqAction: TypeAlias = EndTurn | DrawTile | Attach | Taxi | Truck | Place | Compete | Decline

TEXT: Final = ActionText((EndTurn, DrawTile, Attach, Taxi, Truck, Place, Compete, Decline))
