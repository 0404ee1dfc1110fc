"""Manhattan TraffIQ: complete vertices, put trucks on them, and drive where weaker opponents can be thrown out."""

from collections.abc import Iterator, Sequence
from random import Random

from crosstown_proto.v1 import manhattan_traffiq_pb2 as pb
from manhattan_traffiq_city import STRENGTH, City, Place, cells_around, corners, read_city
from picking import best

END_TURN, DRAW, TAXI, TRUCK, ATTACH, DECLINE, PLACE, COMPETE = range(1, 9)
ARGUMENTS = {END_TURN: 0, DRAW: 0, TAXI: 4, TRUCK: 4, ATTACH: 3, DECLINE: 0, PLACE: 3, COMPETE: 1}
"""Per kind of action how many numbers follow it in the column."""
COLOURS = "bgrt"
SECOND_TILE_SHARE = 0.4
"""Of what a vertex is worth that takes two tiles: the second one might complete another vertex."""
OPENING_COST = 0.8
"""Of a vertex that lacks one tile when others have their turn."""
LAYING_WORTH = 0.1
"""Of a tile laid: the match goes on."""
DRAWING_WORTH = 0.9
"""Of a tile drawn, less for those that are in the hand already."""
EACH_IN_HAND = 0.1


def choose(seen: pb.Observation, legal: pb.LegalActions, seat: int, rng: Random) -> int:
    """Index of the action to take."""
    city = read_city(seen, seat)
    return best([worth_of(city, seen, kind, values) for kind, values in actions(legal)], rng)


def actions(legal: pb.LegalActions) -> Iterator[tuple[int, Sequence[int]]]:
    """Kind and values of each legal action."""
    at, column = 0, legal.column
    while at < len(column):
        end = at + 1 + ARGUMENTS[column[at]]
        yield column[at], column[at + 1 : end]
        at = end


def worth_of(city: City, seen: pb.Observation, kind: int, values: Sequence[int]) -> float:
    if kind == ATTACH:
        x, y, code = values
        face = "".join(COLOURS[code >> shift & 3] for shift in (0, 2, 4, 6))
        return worth_of_tile(city, seen, (x, y), face)
    if kind == PLACE:
        x, y, vehicle = values
        strength = STRENGTH[pb.Vehicle.ValueType(vehicle)]
        return strength + city.worth_of_standing((x, y), strength)
    if kind in (TAXI, TRUCK):
        x, y, to_x, to_y = values
        strength = STRENGTH[pb.VEHICLE_TAXI if kind == TAXI else pb.VEHICLE_TRUCK]
        elsewhere = city.without_vehicle((x, y))
        return elsewhere.worth_of_standing((to_x, to_y), strength) - elsewhere.worth_of_standing((x, y), strength)
    if kind == COMPETE:
        return float(values[0].bit_count())
    if kind == DRAW:
        return max(EACH_IN_HAND, DRAWING_WORTH - EACH_IN_HAND * seen.hand_sizes[city.seat])
    return 0.0


def worth_of_tile(city: City, seen: pb.Observation, cell: Place, face: str) -> float:
    """Of laying a tile, and another one after it if this is the first action of the turn."""
    after = city.with_tile(cell, face)
    worth, openings = LAYING_WORTH, 0
    for vertex in corners(cell):
        tiles = after.tiles_around(vertex)
        if tiles == 4:
            worth += worth_of_vertex(after, seen, vertex)
        elif tiles == 3:
            openings += 1
            if not seen.used and can_complete(after, seen, vertex, face):
                openings -= 1
                worth += SECOND_TILE_SHARE * worth_of_vertex(after, seen, vertex)
    return worth - OPENING_COST * openings


def worth_of_vertex(city: City, seen: pb.Observation, vertex: Place) -> float:
    """Of a vertex that is, or will be, complete: a vehicle can be put there."""
    strength = STRENGTH[pb.VEHICLE_TRUCK if seen.trucks[city.seat] else pb.VEHICLE_TAXI]
    return max(0.0, strength + city.worth_of_standing(vertex, strength)) if city.on_street(vertex) else 0.0


def can_complete(city: City, seen: pb.Observation, vertex: Place, laid: str) -> bool:
    """Whether a tile of the hand, other than the one just laid, fits where a vertex lacks its last tile."""
    cell = next(cell for cell in cells_around(vertex) if cell not in city.faces)
    names = seen.hands[city.seat]
    hand = [names[at : at + 4] for at in range(0, len(names), 4)]
    gone = next((name for name in hand if name in laid + laid), None)
    if gone:
        hand.remove(gone)
    return any(city.fits(cell, name[turn:] + name[:turn]) for name in hand for turn in range(4))
