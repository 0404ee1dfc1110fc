"""The map of Manhattan TraffIQ and its streets, as one seat sees it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from referee.games.manhattan_traffiq.observation import Observation

Place: TypeAlias = tuple[int, int]
"""x and y of a cell, or of the vertex at its south-west corner."""

STRENGTH = {"taxi": 1, "truck": 2}
AXES = ((1, 0), (0, 1))
EAST_SIDE, SOUTH_SIDE = 1, 2
STREET_COLOURS = "rt"
NO_STREET = "bbbb"
DANGER = 0.15


@dataclass(frozen=True)
class City:
    faces: Mapping[Place, str]
    """Per cell the colours of its sides from north, clockwise."""
    vehicles: Mapping[Place, tuple[int, int]]
    """Per vertex seat and strength of the vehicle there."""
    seat: int
    """Whose plans are made."""

    def with_tile(self, cell: Place, face: str) -> "City":
        return City({**self.faces, cell: face}, self.vehicles, self.seat)

    def without_vehicle(self, vertex: Place) -> "City":
        return City(self.faces, {at: who for at, who in self.vehicles.items() if at != vertex}, self.seat)

    def tiles_around(self) -> dict[Place, int]:
        """Per vertex how many of the four cells that meet there hold tiles; those without any are left out."""
        counts: dict[Place, int] = {}
        for cell in self.faces:
            for vertex in corners(cell):
                counts[vertex] = counts.get(vertex, 0) + 1
        return counts

    def demands(self, cell: Place) -> list[tuple[int, str]]:
        """What neighbours ask of a tile there: sides with their colours."""
        x, y = cell
        beside = ((x, y + 1), (x + 1, y), (x, y - 1), (x - 1, y))
        return [(side, self.faces[other][(side + 2) % 4]) for side, other in enumerate(beside) if other in self.faces]

    def segment(self, vertex: Place, axis: Place) -> bool:
        """Whether a street leads from a vertex to the next one to the east, or to the north."""
        x, y = vertex
        if axis == AXES[0]:
            return (x, y - 1) in self.faces and self.faces.get(vertex, NO_STREET)[SOUTH_SIDE] in STREET_COLOURS
        return vertex in self.faces and self.faces.get((x - 1, y), NO_STREET)[EAST_SIDE] in STREET_COLOURS

    def street(self, vertex: Place, axis: Place) -> list[Place]:
        """All vertices on the straight street through a vertex, itself among them."""
        dx, dy = axis
        found = [vertex]
        while self.segment(found[-1], axis):
            found.append((found[-1][0] + dx, found[-1][1] + dy))
        back = (vertex[0] - dx, vertex[1] - dy)
        while self.segment(back, axis):
            found.append(back)
            back = (back[0] - dx, back[1] - dy)
        return found

    def worth_of_standing(self, vertex: Place, strength: int) -> float:
        """For a vehicle of this strength on a vertex: opponents' points it removes, less its own danger."""
        worth = 0.0
        for axis in AXES:
            street = self.street(vertex, axis)
            if len(street) == 1:
                continue
            strengths: dict[int, int] = {}
            for place in street:
                if place in self.vehicles:
                    seat, points = self.vehicles[place]
                    strengths[seat] = strengths.get(seat, 0) + points
            mine = strengths.pop(self.seat, 0) + strength
            worth += sum([points for points in strengths.values() if points < mine])
            stronger = max([points for points in strengths.values() if points >= mine], default=0)
            # A truck more than ours removes all that is ours on the street.
            worth -= DANGER * mine if stronger + STRENGTH["truck"] > mine else 0.0
        return worth

    def on_street(self, vertex: Place) -> bool:
        return any(len(self.street(vertex, axis)) > 1 for axis in AXES)


def read_city(seen: Observation, seat: int) -> City:
    return City(
        faces={(tile.x, tile.y): tile.face for tile in seen.map.tiles},
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
