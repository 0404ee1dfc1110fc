"""The map as it grows, its streets, and what they decide: who is weaker on them, and where a taxi can drive.

A piece is 2 * seat + number of the vehicle kind; `pieces` are by vertex.
"""

from bisect import bisect_left, insort
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import combinations
from typing import Final, NamedTuple

from referee.games.api.compiling import mypyc_attr
from referee.games.manhattan_traffiq.actions import Compete, Decline
from referee.games.manhattan_traffiq.board import EAST, NORTH, SOUTH, WEST, Board
from referee.games.manhattan_traffiq.data import PLAYER_COUNTS, STREET
from referee.games.manhattan_traffiq.observation import CityMap, PlacedTile

_AROUND: Final = 4


@mypyc_attr(allow_interpreted_subclasses=True)  # so that `copy` can leave out __init__
class City:
    """Grows tile by tile. Indices of cells and vertices are those of `Board`.

    `eastward[v]` is the street segment from vertex v to its eastern neighbour, `northward[v]` to the northern one:
    0 for none, else the number of its colour. The `run_` pair are the segments that count for competing.
    """

    __slots__ = (
        "_filled",
        "_map",
        "board",
        "cells",
        "eastward",
        "faces",
        "frontier",
        "links",
        "needs",
        "northward",
        "run_eastward",
        "run_northward",
        "tiles",
    )

    def __init__(self, board: Board, half_streets: bool) -> None:
        self.board = board
        self.faces: dict[int, str] = {}
        self.cells: list[int] = []  # ascending, beside `tiles`
        self.tiles: list[PlacedTile] = []
        self._map: CityMap | None = None
        self.needs: dict[int, int] = {}
        self.frontier: list[int] = []  # the keys of `needs`, ascending
        self.links: dict[int, tuple[int, ...]] = {}  # complete vertices, each with those one segment away
        self._filled = bytearray(board.size)  # tiles around a vertex
        self.eastward = bytearray(board.size)
        self.northward = bytearray(board.size)
        self.run_eastward = bytearray(board.size) if half_streets else self.eastward
        self.run_northward = bytearray(board.size) if half_streets else self.northward
        for x, y, face in board.layout:
            self.lay(board.index(x, y), face)

    def copy(self) -> "City":
        twin = City.__new__(City)
        twin.board = self.board
        twin.faces = self.faces.copy()
        twin.cells = self.cells.copy()
        twin.tiles = self.tiles.copy()
        twin._map = self._map
        twin.needs = self.needs.copy()
        twin.frontier = self.frontier.copy()
        twin.links = self.links.copy()
        twin._filled = self._filled.copy()
        twin.eastward = self.eastward.copy()
        twin.northward = self.northward.copy()
        half_streets = self.run_eastward is not self.eastward
        twin.run_eastward = self.run_eastward.copy() if half_streets else twin.eastward
        twin.run_northward = self.run_northward.copy() if half_streets else twin.northward
        return twin

    def lay(self, cell: int, face: str) -> list[int]:
        """Put a tile that fits on a cell; the vertices it completes, ascending."""
        faces, needs, width = self.faces, self.needs, self.board.width
        at = bisect_left(self.cells, cell)
        self.cells.insert(at, cell)
        self.tiles.insert(at, self.board.placed(cell, face))
        self._map = None
        if needs.pop(cell, 0):
            del self.frontier[bisect_left(self.frontier, cell)]
        faces[cell] = face
        north, east, south, west = self.board.colours[face]
        for colour, beside, segments, runs, segment, weight in (
            (north, cell + width, self.eastward, self.run_eastward, cell + width, SOUTH),
            (east, cell + 1, self.northward, self.run_northward, cell + 1, WEST),
            (south, cell - width, self.eastward, self.run_eastward, cell, NORTH),
            (west, cell - 1, self.northward, self.run_northward, cell, EAST),
        ):
            if beside in faces:
                if colour >= STREET:
                    segments[segment] = runs[segment] = colour
                continue
            if beside in needs:
                needs[beside] += weight * (1 + colour)
            else:
                needs[beside] = weight * (1 + colour)
                insort(self.frontier, beside)
            if colour >= STREET and runs is not segments:
                runs[segment] = colour
        completed = []
        filled = self._filled
        for vertex in (cell, cell + 1, cell + width, cell + width + 1):
            filled[vertex] += 1
            if filled[vertex] == _AROUND:
                completed.append(vertex)
                self._link(vertex)
        return completed

    def _link(self, vertex: int) -> None:
        links = self.links
        beside = tuple([other for other in self.neighbours(vertex) if other in links])
        links[vertex] = beside
        for other in beside:
            links[other] += (vertex,)

    @property
    def map(self) -> CityMap:
        """The tiles as observations show them; the same object until a tile is laid."""
        if self._map is None:
            self._map = CityMap(tuple(self.tiles))
        return self._map

    def neighbours(self, vertex: int) -> list[int]:
        """The vertices one full segment away, complete or not."""
        width = self.board.width
        found = [vertex + 1] if self.eastward[vertex] else []
        if self.eastward[vertex - 1]:
            found.append(vertex - 1)
        if self.northward[vertex]:
            found.append(vertex + width)
        if self.northward[vertex - width]:
            found.append(vertex - width)
        return found


# Streets


class Street(NamedTuple):
    """A straight run of vertices; `name` as in `STREETS` of the actions."""

    name: str
    vertices: list[int]


def streets_through(city: City, vertex: int, colour_ends: bool) -> list[Street]:
    """The streets that `vertex` belongs to, horizontal before vertical."""
    streets: list[Street] = []
    for segments, step, names in ((city.run_eastward, 1, "hwe"), (city.run_northward, city.board.width, "vsn")):
        forward, back = segments[vertex], segments[vertex - step]
        ahead: list[int] = []
        behind: list[int] = []
        if forward:
            at = vertex
            while segments[at] == forward or (segments[at] and not colour_ends):
                at += step
                ahead.append(at)
        if back:
            at = vertex - step
            while segments[at] == back or (segments[at] and not colour_ends):
                behind.append(at)
                at -= step
        if colour_ends and forward and back and forward != back:
            streets.append(Street(names[1], [*behind, vertex]))
            streets.append(Street(names[2], [vertex, *ahead]))
        elif forward or back:
            streets.append(Street(names[0], [*behind, vertex, *ahead]))
    return streets


def losers(vertices: Sequence[int], pieces: Mapping[int, int], seat: int) -> list[int]:
    """Where on a street the vehicles stand whose owners are weaker there than `seat`, ascending.

    A taxi counts 1, a truck 2.
    """
    strength = [0] * PLAYER_COUNTS[-1]
    standing = [vertex for vertex in vertices if vertex in pieces]
    if len(standing) < 2:
        return []
    for vertex in standing:
        piece = pieces[vertex]
        strength[piece >> 1] += 1 + (piece & 1)
    own = strength[seat]
    return sorted([vertex for vertex in standing if strength[pieces[vertex] >> 1] < own])


# Competing


class Contest(NamedTuple):
    """A street on which the active seat is stronger than somebody; `losers` are the vertices that would be cleared."""

    street: str
    losers: list[int]


def contests(city: City, vertex: int, pieces: Mapping[int, int], seat: int, colour_ends: bool) -> tuple[Contest, ...]:
    """Those through `vertex`, where a vehicle of `seat` just arrived; horizontal before vertical."""
    found = []
    for street in streets_through(city, vertex, colour_ends):
        weaker = losers(street.vertices, pieces, seat)
        if weaker:
            found.append(Contest(street.name, weaker))
    return tuple(found)


@cache
def compete_choices(streets: tuple[str, ...], street_by_street: bool) -> tuple[Decline | Compete, ...]:
    """The answers, declining first, then fewer streets before more."""
    sizes = range(1, len(streets) + 1) if street_by_street else (len(streets),)
    return (Decline(), *(Compete(chosen) for size in sizes for chosen in combinations(streets, size)))


# Driving


def region(
    links: Mapping[int, Sequence[int]], pieces: Mapping[int, int], start: int, regions: dict[int, list[int]]
) -> list[int]:
    """The free complete vertices joined to the free vertex `start` over free ones, ascending.

    `regions` remembers the answer for each of them.
    """
    known = regions.get(start)
    if known is None:
        known = [start]
        regions[start] = known
        for vertex in known:
            for other in links[vertex]:
                if other not in regions and other not in pieces:
                    regions[other] = known
                    known.append(other)
        known.sort()
    return known


def reachable(
    links: Mapping[int, Sequence[int]], pieces: Mapping[int, int], source: int, regions: dict[int, list[int]]
) -> list[int]:
    """Where the taxi on `source` can drive, ascending."""
    found: list[list[int]] = []
    for vertex in links[source]:
        if vertex not in pieces:
            area = region(links, pieces, vertex, regions)
            if area not in found:
                found.append(area)
    if len(found) <= 1:
        return found[0] if found else []
    return sorted([vertex for area in found for vertex in area])
