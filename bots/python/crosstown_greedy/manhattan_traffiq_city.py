"""The map of Manhattan TraffIQ and its streets, as one seat sees it."""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import TypeAlias

from referee.games.manhattan_traffiq.observation import Observation

Place: TypeAlias = tuple[int, int]
"""x and y of a cell, or of the vertex at its south-west corner."""

STRENGTH = {"taxi": 1, "truck": 2}
NORTH_SIDE, EAST_SIDE, SOUTH_SIDE, WEST_SIDE = range(4)
STREET_COLOURS = "rt"
ANY_COLOUR = "?"
DANGER = 0.15


@dataclass(frozen=True)
class City:
    faces: Mapping[Place, str]
    """Per cell the colours of its sides from north, clockwise."""
    eastward: Set[Place]
    """The vertices from which a street leads to the next one to the east."""
    northward: Set[Place]
    """Those from which one leads to the north."""
    vehicles: Mapping[Place, tuple[int, int]]
    """Per vertex seat and strength of the vehicle there."""
    seat: int
    """Whose plans are made."""

    def with_tile(self, cell: Place, face: str) -> "City":
        (x, y), faces = cell, self.faces
        eastward, northward = set(self.eastward), set(self.northward)
        # A street runs where two tiles meet.
        if face[NORTH_SIDE] in STREET_COLOURS and (x, y + 1) in faces:
            eastward.add((x, y + 1))
        if face[EAST_SIDE] in STREET_COLOURS and (x + 1, y) in faces:
            northward.add((x + 1, y))
        if face[SOUTH_SIDE] in STREET_COLOURS and (x, y - 1) in faces:
            eastward.add(cell)
        if face[WEST_SIDE] in STREET_COLOURS and (x - 1, y) in faces:
            northward.add(cell)
        return City({**faces, cell: face}, eastward, northward, self.vehicles, self.seat)

    def without_vehicle(self, vertex: Place) -> "City":
        return replace(self, vehicles={at: who for at, who in self.vehicles.items() if at != vertex})

    def tiles_around(self) -> dict[Place, int]:
        """Per vertex how many of the four cells that meet there hold tiles; those without any are left out."""
        counts: dict[Place, int] = {}
        for cell in self.faces:
            for vertex in corners(cell):
                counts[vertex] = counts.get(vertex, 0) + 1
        return counts

    def demands(self, cell: Place, laid: Place, face: str) -> str:
        """The colours that neighbours ask of a tile there once `face` is laid, or lies, on the cell `laid`.

        From north, clockwise; ANY_COLOUR where there is no neighbour.
        """
        (x, y), faces = cell, self.faces
        asked = ""
        for side, beside in enumerate(((x, y + 1), (x + 1, y), (x, y - 1), (x - 1, y))):
            other = face if beside == laid else faces.get(beside)
            asked += other[side - 2] if other else ANY_COLOUR
        return asked

    def streets(self, vertex: Place) -> list[list[Place]]:
        """The straight streets through a vertex: per street all its vertices."""
        x, y = vertex
        found = []
        west, east = x, x
        while (east, y) in self.eastward:
            east += 1
        while (west - 1, y) in self.eastward:
            west -= 1
        if west < east:
            found.append([(place, y) for place in range(west, east + 1)])
        south, north = y, y
        while (x, north) in self.northward:
            north += 1
        while (x, south - 1) in self.northward:
            south -= 1
        if south < north:
            found.append([(x, place) for place in range(south, north + 1)])
        return found

    def worth_of_standing(self, vertex: Place, strength: int) -> float:
        """For a vehicle of this strength on a vertex: opponents' points it removes, less its own danger."""
        worth = 0.0
        for street in self.streets(vertex):
            mine, theirs = strength, dict[int, int]()
            for place in street:
                if place in self.vehicles:
                    seat, points = self.vehicles[place]
                    if seat == self.seat:
                        mine += points
                    else:
                        theirs[seat] = theirs.get(seat, 0) + points
            stronger = 0
            for points in theirs.values():
                if points < mine:
                    worth += points
                elif points > stronger:
                    stronger = points
            # A truck more than ours removes all that is ours on the street.
            if stronger + STRENGTH["truck"] > mine:
                worth -= DANGER * mine
        return worth


def read_city(seen: Observation, seat: int) -> City:
    faces = {(tile.x, tile.y): tile.face for tile in seen.map.tiles}
    return City(
        faces=faces,
        eastward={
            cell
            for cell, face in faces.items()
            if face[SOUTH_SIDE] in STREET_COLOURS and (cell[0], cell[1] - 1) in faces
        },
        northward={
            cell
            for cell, face in faces.items()
            if face[WEST_SIDE] in STREET_COLOURS and (cell[0] - 1, cell[1]) in faces
        },
        vehicles={(item.x, item.y): (item.seat, STRENGTH[item.vehicle]) for item in seen.fleet.standing},
        seat=seat,
    )


def cells_around(vertex: Place) -> Sequence[Place]:
    """The four cells that meet at a vertex."""
    x, y = vertex
    return ((x, y), (x - 1, y), (x, y - 1), (x - 1, y - 1))


def corners(cell: Place) -> Sequence[Place]:
    """The vertices of a cell."""
    x, y = cell
    return ((x, y), (x + 1, y), (x, y + 1), (x + 1, y + 1))
