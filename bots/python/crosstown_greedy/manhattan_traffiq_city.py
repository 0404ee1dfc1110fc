"""The map of Manhattan TraffIQ and its streets, as one seat sees it."""

from collections import deque
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple, TypeAlias

from referee.games.manhattan_traffiq.observation import CityMap, Observation

Place: TypeAlias = tuple[int, int]
"""x and y of a cell, or of the vertex at its south-west corner."""

STRENGTH = {"taxi": 1, "truck": 2}
NORTH_SIDE, EAST_SIDE, SOUTH_SIDE, WEST_SIDE = range(4)
STREET_COLOURS = "rt"
ANY_COLOUR = "?"
DANGER = 0.15
MOST_MAPS = 32
REACH = range(-2, 3)
"""How far from a tile the corners of free cells depend on it: at their vertices, and on what lies beside the last tile
that those lack."""


class Corner(NamedTuple):
    """A vertex of a free cell that has all its tiles, or all but one, once a tile is laid on the cell."""

    vertex: Place
    lacking: int
    """Tiles it lacks then, 0 or 1."""
    demands: str
    """The colours that the tiles of now ask of the last tile, from north, clockwise; ANY_COLOUR where there is none."""
    side: int
    """The side of the last tile on which the cell lies, -1 if on none."""

    def demands_after(self, face: str) -> str:
        """`demands`, once the tile lies on the cell."""
        if self.side < 0:
            return self.demands
        return self.demands[: self.side] + face[self.side - 2] + self.demands[self.side + 1 :]


class Map:
    """What the tiles alone tell. Streets and corners are worked out once, when they are asked for."""

    def __init__(self, tiles: Iterable[tuple[Place, str]]) -> None:
        self.faces = faces = dict(tiles)
        """Per cell the colours of its sides from north, clockwise."""
        self.eastward: Collection[Place] = {
            (x, y) for (x, y), face in faces.items() if face[SOUTH_SIDE] in STREET_COLOURS and (x, y - 1) in faces
        }
        """The vertices from which a street leads to the next one to the east."""
        self.northward: Collection[Place] = {
            (x, y) for (x, y), face in faces.items() if face[WEST_SIDE] in STREET_COLOURS and (x - 1, y) in faces
        }
        """Those from which one leads to the north."""
        self._streets: dict[Place, Sequence[Sequence[Place]]] = {}
        self._rows: dict[Place, Sequence[Place]] = {}
        self._columns: dict[Place, Sequence[Place]] = {}
        self._corners: dict[Place, list[Corner]] = {}
        self._demands: dict[Place, str] = {}

    def with_tile(self, cell: Place, face: str) -> "Map":
        """The map once a tile lies on the free cell: what the tile makes no difference to is not worked out again."""
        eastward, northward = self.added(cell, face)
        after = Map(())
        after.faces = {**self.faces, cell: face}
        after.eastward, after.northward = {*self.eastward, *eastward}, {*self.northward, *northward}
        if not eastward and not northward:
            after._rows, after._columns, after._streets = self._rows, self._columns, self._streets
        x, y = cell
        after._demands = self._demands.copy()
        for beside in cells_beside(cell):
            after._demands.pop(beside, None)
        after._corners = self._corners.copy()
        for dx in REACH:
            for dy in REACH:
                after._corners.pop((x + dx, y + dy), None)
        return after

    def streets(self, vertex: Place) -> Sequence[Sequence[Place]]:
        """The straight streets through a vertex: per street all its vertices. The same object for the same street."""
        found = self._streets.get(vertex)
        if found is None:
            row, column = self._rows.get(vertex), self._columns.get(vertex)
            if row is None:
                row = row_through(vertex, self.eastward, ())
                self._rows.update(dict.fromkeys(row, row))
            if column is None:
                column = column_through(vertex, self.northward, ())
                self._columns.update(dict.fromkeys(column, column))
            found = self._streets[vertex] = [street for street in (row, column) if street]
        return found

    def added(self, cell: Place, face: str) -> tuple[tuple[Place, ...], tuple[Place, ...]]:
        """What a tile on the cell adds to `eastward` and to `northward`: a street runs where two tiles meet."""
        (x, y), faces = cell, self.faces
        eastward: tuple[Place, ...] = ()
        northward: tuple[Place, ...] = ()
        if face[NORTH_SIDE] in STREET_COLOURS and (x, y + 1) in faces:
            eastward = ((x, y + 1),)
        if face[EAST_SIDE] in STREET_COLOURS and (x + 1, y) in faces:
            northward = ((x + 1, y),)
        if face[SOUTH_SIDE] in STREET_COLOURS and (x, y - 1) in faces:
            eastward += (cell,)
        if face[WEST_SIDE] in STREET_COLOURS and (x - 1, y) in faces:
            northward += (cell,)
        return eastward, northward

    def corners(self, cell: Place) -> Sequence[Corner]:
        """Those vertices of a free cell that are complete with a tile there, or lack only one more."""
        found = self._corners.get(cell)
        if found is None:
            found = self._corners[cell] = []
            (x, y), faces = cell, self.faces
            north, east, south, west = sides = cells_beside(cell)
            has_north, has_east, has_south, has_west = [beside in faces for beside in sides]
            for vertex, one, has_one, other, has_other, opposite in (
                (cell, south, has_south, west, has_west, (x - 1, y - 1)),
                (east, south, has_south, east, has_east, (x + 1, y - 1)),
                (north, north, has_north, west, has_west, (x - 1, y + 1)),
                ((x + 1, y + 1), north, has_north, east, has_east, (x + 1, y + 1)),
            ):
                if has_one and has_other:
                    if opposite in faces:
                        found.append(Corner(vertex, 0, "", -1))
                    else:
                        found.append(Corner(vertex, 1, self.demands(opposite), -1))
                elif (has_one or has_other) and opposite in faces:
                    last = other if has_one else one
                    found.append(Corner(vertex, 1, self.demands(last), (sides.index(last) + 2) % 4))
        return found

    def demands(self, cell: Place) -> str:
        """The colours that neighbours ask of a tile there. From north, clockwise; ANY_COLOUR where there is none."""
        asked = self._demands.get(cell)
        if asked is None:
            asked = ""
            for side, beside in enumerate(cells_beside(cell)):
                other = self.faces.get(beside)
                asked += other[side - 2] if other else ANY_COLOUR
            self._demands[cell] = asked
        return asked


def row_through(vertex: Place, eastward: Collection[Place], more: Collection[Place]) -> Sequence[Place]:
    """The street through a vertex from west to east, empty if there is none; `more` are further parts."""
    x, y = vertex
    west = east = x
    while (east, y) in eastward or (east, y) in more:
        east += 1
    while (west - 1, y) in eastward or (west - 1, y) in more:
        west -= 1
    return [(place, y) for place in range(west, east + 1)] if west < east else []


def column_through(vertex: Place, northward: Collection[Place], more: Collection[Place]) -> Sequence[Place]:
    """The same from south to north."""
    x, y = vertex
    south = north = y
    while (x, north) in northward or (x, north) in more:
        north += 1
    while (x, south - 1) in northward or (x, south - 1) in more:
        south -= 1
    return [(x, place) for place in range(south, north + 1)] if south < north else []


class City:
    """A map with vehicles, for the plans of one seat."""

    def __init__(self, map_: Map, vehicles: dict[Place, tuple[int, int]], seat: int) -> None:
        """`vehicles`: per vertex seat and strength of the vehicle there."""
        self.map = map_
        self.seat = seat
        self._vehicles = vehicles
        self._strengths: dict[int, dict[int, int]] = {}
        """By id of a street of the map: per seat on it its strength there."""

    def worth_of_standing(self, vertex: Place, strength: int) -> float:
        """For one more vehicle of this strength on a vertex: opponents' points it removes, less its own danger."""
        worth = 0.0
        for street in self.map.streets(vertex):
            worth = self._and_worth_of(worth, self._strengths_on(street), strength)
        return worth

    def worth_of_standing_from(self, source: Place, vertex: Place, strength: int) -> float:
        """The same for the own vehicle that stands at `source` and has this strength."""
        worth = 0.0
        left = self.map.streets(source)
        for street in self.map.streets(vertex):
            # On the streets that it leaves it is among those that are there.
            own = 0 if street in left else strength
            worth = self._and_worth_of(worth, self._strengths_on(street), own)
        return worth

    def worth_of_standing_after(
        self, vertex: Place, added: tuple[Sequence[Place], Sequence[Place]], strength: int
    ) -> float | None:
        """The same as `worth_of_standing` with these streets (see `Map.added`); None if the vertex is on no street."""
        row = row_through(vertex, self.map.eastward, added[0])
        column = column_through(vertex, self.map.northward, added[1])
        if not row and not column:
            return None
        worth = 0.0
        for street in (row, column):
            if street:
                worth = self._and_worth_of(worth, self._count(street), strength)
        return worth

    def _and_worth_of(self, worth: float, strengths: dict[int, int], own: int) -> float:
        """`worth`, and that of one street, on which `own` is added to what the seat has there."""
        seat = self.seat
        mine = own + strengths.get(seat, 0)
        stronger = 0
        for other, points in strengths.items():
            if other == seat:
                continue
            if points < mine:
                worth += points
            elif points > stronger:
                stronger = points
        # A truck more than ours removes all that is ours on the street.
        if stronger + STRENGTH["truck"] > mine:
            worth -= DANGER * mine
        return worth

    def _strengths_on(self, street: Sequence[Place]) -> dict[int, int]:
        found = self._strengths.get(id(street))
        if found is None:
            found = self._strengths[id(street)] = self._count(street)
        return found

    def _count(self, street: Sequence[Place]) -> dict[int, int]:
        vehicles = self._vehicles
        found: dict[int, int] = {}
        for place in street:
            if place in vehicles:
                seat, points = vehicles[place]
                found[seat] = found.get(seat, 0) + points
        return found


class Maps:
    """The maps of the last observations, which share one until a tile is laid. Most have a tile more than another."""

    def __init__(self) -> None:
        self._last: deque[tuple[CityMap, Map]] = deque(maxlen=MOST_MAPS)

    def of(self, seen: CityMap) -> Map:
        for known, found in self._last:
            if known is seen:
                return found
        made = self._from_another(seen) or Map([((tile.x, tile.y), tile.face) for tile in seen.tiles])
        self._last.appendleft((seen, made))
        return made

    def _from_another(self, seen: CityMap) -> Map | None:
        tiles = seen.tiles
        for known, found in self._last:
            others = known.tiles
            if len(others) == len(tiles) - 1:
                at = next((at for at, tile in enumerate(others) if tiles[at] is not tile), len(others))
                if tiles[at + 1 :] == others[at:]:
                    return found.with_tile((tiles[at].x, tiles[at].y), tiles[at].face)
        return None


MAPS = Maps()
"""A cache: what is in it makes no difference to any answer."""


def read_city(seen: Observation, seat: int) -> City:
    vehicles = {(item.x, item.y): (item.seat, STRENGTH[item.vehicle]) for item in seen.fleet.standing}
    return City(MAPS.of(seen.map), vehicles, seat)


def cells_beside(cell: Place) -> Sequence[Place]:
    """From north, clockwise."""
    x, y = cell
    return ((x, y + 1), (x + 1, y), (x, y - 1), (x - 1, y))
