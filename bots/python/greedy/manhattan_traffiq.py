"""Manhattan TraffIQ: complete vertices, put trucks on them, and drive where weaker opponents can be thrown out."""

from collections.abc import Iterator, Sequence
from random import Random

from crosstown_proto.v1 import manhattan_traffiq_pb2 as pb
from manhattan_traffiq_city import STRENGTH, City, Place, corners, read_city
from picking import best

END_TURN, DRAW, TAXI, TRUCK, ATTACH, DECLINE, PLACE, COMPETE = range(1, 9)
ARGUMENTS = {END_TURN: 0, DRAW: 0, TAXI: 4, TRUCK: 4, ATTACH: 3, DECLINE: 0, PLACE: 3, COMPETE: 1}
"""Per kind of action how many numbers follow it in the column."""
COLOURS = "bgrt"
CHANCE_FOR_OTHERS = 0.6
"""Worth lost by each vertex that the next tile can complete."""
FULL_HAND = 6


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
        x, y, face = values
        return worth_of_tile(city, seen, (x, y), "".join(COLOURS[face >> shift & 3] for shift in (0, 2, 4, 6)))
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
        return 1.0 - seen.hand_sizes[city.seat] / FULL_HAND
    return 0.0


def worth_of_tile(city: City, seen: pb.Observation, cell: Place, face: str) -> float:
    """Vehicles that can be placed at once, less the openings for others."""
    after = city.with_tile(cell, face)
    strength = 2 if seen.trucks[city.seat] else 1
    worth = 0.0
    for vertex in corners(cell):
        tiles = after.tiles_around(vertex)
        if tiles == 4 and after.on_street(vertex):
            worth += max(0.0, strength + after.worth_of_standing(vertex, strength))
        elif tiles == 3:
            worth -= CHANCE_FOR_OTHERS
    return worth
