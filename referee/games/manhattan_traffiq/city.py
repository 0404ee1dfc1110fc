"""The map: tiles, what each free cell beside them demands, street segments, complete vertices."""

from bisect import bisect_left, insort

from referee.games.manhattan_traffiq.box import STREET
from referee.games.manhattan_traffiq.observation import CityMap, PlacedTile
from referee.games.manhattan_traffiq.tables import EAST, NORTH, SOUTH, WEST, Tables

_AROUND = 4


class City:
    """Grows tile by tile. Indices of cells and vertices are those of `Tables`.

    `eastward[v]` is the street segment from vertex v to its eastern neighbour, `northward[v]` to the northern one:
    0 for none, else the number of its colour. The `run_` pair are the segments that count for competing.
    """

    __slots__ = (
        "_cells",
        "_filled",
        "_map",
        "eastward",
        "faces",
        "frontier",
        "links",
        "needs",
        "northward",
        "run_eastward",
        "run_northward",
        "tables",
        "tiles",
    )

    def __init__(self, tables: Tables, half_streets: bool) -> None:
        self.tables = tables
        self.faces: dict[int, str] = {}
        self._cells: list[int] = []  # ascending, beside `tiles`
        self.tiles: list[PlacedTile] = []
        self._map: CityMap | None = None
        self.needs: dict[int, int] = {}
        self.frontier: list[int] = []  # the keys of `needs`, ascending
        self.links: dict[int, tuple[int, ...]] = {}  # complete vertices, each with those one segment away
        self._filled = bytearray(tables.size)  # tiles around a vertex
        self.eastward = bytearray(tables.size)
        self.northward = bytearray(tables.size)
        self.run_eastward = bytearray(tables.size) if half_streets else self.eastward
        self.run_northward = bytearray(tables.size) if half_streets else self.northward
        for x, y, face in tables.layout:
            self.lay(tables.index(x, y), face)

    def copy(self) -> "City":
        twin = City.__new__(City)
        twin.tables = self.tables
        twin.faces = self.faces.copy()
        twin._cells = self._cells.copy()
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
        faces, needs, width = self.faces, self.needs, self.tables.width
        at = bisect_left(self._cells, cell)
        self._cells.insert(at, cell)
        self.tiles.insert(at, self.tables.placed(cell, face))
        self._map = None
        if needs.pop(cell, 0):
            del self.frontier[bisect_left(self.frontier, cell)]
        faces[cell] = face
        north, east, south, west = self.tables.colours[face]
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
        width = self.tables.width
        found = [vertex + 1] if self.eastward[vertex] else []
        if self.eastward[vertex - 1]:
            found.append(vertex - 1)
        if self.northward[vertex]:
            found.append(vertex + width)
        if self.northward[vertex - width]:
            found.append(vertex - width)
        return found
