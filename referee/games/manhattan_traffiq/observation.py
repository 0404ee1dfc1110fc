"""What one viewer may see, as values."""

from dataclasses import dataclass

from referee.games.api import EncodedOnce

PHASES = ("start", "deal", "turn", "place", "compete", "draw", "over")
"""What the match waits for: who starts; a starting hand; an action of the turn; a vehicle on a completed vertex; a
decision about competing; a drawn tile; nothing."""
LETTERS = 4
"""Letters of a tile, its side colours clockwise."""


@dataclass(frozen=True, slots=True)
class PlacedTile(EncodedOnce):
    """A tile of the map; `face` has its side colours from north."""

    x: int
    y: int
    face: str


@dataclass(frozen=True, slots=True)
class Standing(EncodedOnce):
    """A vehicle on vertex (x, y), the south-west corner of cell (x, y)."""

    x: int
    y: int
    seat: int
    vehicle: str


@dataclass(frozen=True, slots=True)
class Facts(EncodedOnce):
    """What hardly ever changes during a match."""

    players: int
    start_seat: int
    """Who began; -1 while that is open."""
    left: tuple[int, ...]
    """The seats that left, in order."""
    tile_names: tuple[str, ...]
    """The names of the city tiles of this tile set, sorted."""


@dataclass(frozen=True, slots=True)
class CityMap(EncodedOnce):
    """The map, its tiles ordered from south, then west."""

    tiles: tuple[PlacedTile, ...]


@dataclass(frozen=True, slots=True)
class Fleet(EncodedOnce):
    """The vehicles on the map, ordered from south, then west, and those beside it."""

    standing: tuple[Standing, ...]
    taxis: tuple[int, ...]
    """Per seat the taxis in its supply."""
    trucks: tuple[int, ...]
    scores: tuple[int, ...]
    """Per seat the points of its vehicles on the map."""


@dataclass(frozen=True, slots=True)
class Observation:
    """A position as `viewer` sees it; None is a spectator.

    Parts that stay the same from one observation to the next are the same object.
    """

    viewer: int | None
    facts: Facts
    map: CityMap
    fleet: Fleet
    phase: str
    """One of `PHASES`."""
    turn_seat: int
    """Whose turn it is; -1 while the start player is open. In phase 'deal' the seat that gets the next tile is the
    first one in play with less than two."""
    used: str
    """Actions done this turn: A attached, T taxi ridden, L truck driven, D drawn."""
    turns: int
    """Turns that are over, all seats together."""
    idle_turns: int
    """Turns in a row, up to now, in which nobody attached or drew."""
    final_round: bool
    owed: tuple[int, ...]
    """In the final round, the seats whose last turn is not over."""
    open_vertices: tuple[tuple[int, int], ...]
    """In phases 'place' and 'compete', where a vehicle may (still) be placed."""
    spot: tuple[int, int] | None
    """In phase 'compete', the vertex of the vehicle just placed or moved."""
    streets: tuple[str, ...]
    """In phase 'compete', the streets through `spot` with a weaker opponent."""
    hand_sizes: tuple[int, ...]
    """Per seat its tiles; of a seat that left, those set aside."""
    hands: tuple[tuple[str, ...], ...]
    """Per seat the names of its tiles, sorted; empty for a hand that is hidden from the viewer."""
    stock: int
    """City tiles that can still be drawn."""
    unseen: bytes
    """Per tile name how many of these tiles the viewer does not see: in the stock or in hidden hands."""
