"""Manhattan TraffIQ: complete vertices, put trucks on them, and drive where weaker opponents can be thrown out."""

from collections.abc import Mapping, Sequence
from functools import lru_cache

from crosstown_greedy.manhattan_traffiq_city import ANY_COLOUR, STRENGTH, City, Place, cells_around, corners, read_city
from referee.games.manhattan_traffiq.actions import (
    Attach,
    Compete,
    DrawTile,
    Taxi,
    TraffiqAction,
    Truck,
)
from referee.games.manhattan_traffiq.actions import Place as Put
from referee.games.manhattan_traffiq.observation import Observation

SECOND_TILE_SHARE = 0.4
"""Of what a vertex is worth that takes two tiles: the second one might complete another vertex."""
OPENING_COST = 0.8
"""Of a vertex that lacks one tile when others have their turn."""
LAYING_WORTH = 0.1
"""Of a tile laid: the match goes on."""
DRAWING_WORTH = 0.9
"""Of a tile drawn, less for those that are in the hand already."""
EACH_IN_HAND = 0.1


def worths(seen: Observation, legal: Sequence[TraffiqAction], seat: int) -> list[float]:
    """Points, about, that each action is good for."""
    city = read_city(seen, seat)
    tiles = city.tiles_around() if any(isinstance(action, Attach) for action in legal) else {}
    # From one place there are many ways to drive: what it is like without the vehicle is worked out once.
    sources: dict[Place, tuple[City, float]] = {}
    found = []
    for action in legal:
        if isinstance(action, Attach):
            found.append(worth_of_tile(city, tiles, seen, (action.x, action.y), action.face))
        elif isinstance(action, Taxi | Truck):
            source = (action.x, action.y)
            strength = STRENGTH[action.KIND]
            if source not in sources:
                elsewhere = city.without_vehicle(source)
                sources[source] = (elsewhere, elsewhere.worth_of_standing(source, strength))
            elsewhere, before = sources[source]
            found.append(elsewhere.worth_of_standing((action.to_x, action.to_y), strength) - before)
        elif isinstance(action, Put):
            strength = STRENGTH[action.vehicle]
            found.append(strength + city.worth_of_standing((action.x, action.y), strength))
        elif isinstance(action, Compete):
            found.append(float(len(action.streets)))
        elif isinstance(action, DrawTile):
            found.append(worth_of_drawing(seen.hand_sizes[seat]))
        else:
            found.append(0.0)
    return found


def worth_of_drawing(tiles: int) -> float:
    """To a hand of so many tiles: another one is of less use the more there are."""
    return max(EACH_IN_HAND, DRAWING_WORTH - EACH_IN_HAND * tiles)


def worth_of_tile(city: City, tiles: Mapping[Place, int], seen: Observation, cell: Place, face: str) -> float:
    """Of laying a tile, and another one after it if this is the first action of the turn.

    `tiles` are those around each vertex before.
    """
    worth, openings = LAYING_WORTH, 0
    after: City | None = None
    for vertex in corners(cell):
        lacking = 3 - tiles.get(vertex, 0)
        if lacking > 1:
            continue
        if lacking and (seen.used or not can_complete(city, seen, vertex, cell, face)):
            openings += 1
            continue
        after = after or city.with_tile(cell, face)
        worth += (SECOND_TILE_SHARE if lacking else 1.0) * worth_of_vertex(after, seen, vertex)
    return worth - OPENING_COST * openings


def worth_of_vertex(city: City, seen: Observation, vertex: Place) -> float:
    """Of a vertex that is, or will be, complete: a vehicle can be put there, if it is on a street."""
    x, y = vertex
    if not (
        vertex in city.eastward
        or vertex in city.northward
        or (x - 1, y) in city.eastward
        or (x, y - 1) in city.northward
    ):
        return 0.0
    strength = STRENGTH["truck" if seen.fleet.trucks[city.seat] else "taxi"]
    return max(0.0, strength + city.worth_of_standing(vertex, strength))


def can_complete(city: City, seen: Observation, vertex: Place, cell: Place, face: str) -> bool:
    """Whether a tile of the hand, other than the one laid on `cell`, fits where a vertex then lacks its last tile."""
    hand = seen.hands[city.seat]
    if len(hand) < 2:
        return False
    last = next(other for other in cells_around(vertex) if other != cell and other not in city.faces)
    demands = city.demands(last, cell, face)
    laid_once = False
    for name in hand:
        if not laid_once and name in face + face:
            laid_once = True
        elif fits(name, demands):
            return True
    return False


@lru_cache(maxsize=65536)
def fits(name: str, demands: str) -> bool:
    """Whether a tile, turned by quarters, has the colours that are asked for."""
    faces = [name[turn:] + name[:turn] for turn in range(len(name))]
    return any(
        all(asked in (colour, ANY_COLOUR) for colour, asked in zip(face, demands, strict=True)) for face in faces
    )
