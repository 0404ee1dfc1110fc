"""What can be worked out before a match: kinds of tile, the grid, where each face fits; and the actions, made once.

Equal actions are the same object, so that legal lists are cheap. Nothing here belongs to a match.
"""

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final

from referee.games.api import DATA_OPTION, OptionError
from referee.games.manhattan_traffiq.actions import VEHICLES, Attach, Place, Taxi, Truck
from referee.games.manhattan_traffiq.data import COLOURS, check_data, default_data, turned
from referee.games.manhattan_traffiq.observation import PlacedTile, Standing

NORTH: Final = 1
EAST: Final = 5
SOUTH: Final = 25
WEST: Final = 125
"""Weights of the sides in a *need*: what a cell demands of a tile, a base-5 number with one digit for each side, 0
for a side without neighbour, else 1 + the neighbour's colour."""
NEEDS: Final = 625
PIECES: Final = 8
"""Pieces are numbered 2 * seat + number of the vehicle kind."""
_MOST_KEPT: Final = 200_000
_RIDE: Final = 1 << 20


class Board:
    """Look-up tables for one tile set, start layout and grid.

    Cells and vertices share one index, `(y + oy) * width + x + ox`; vertex i is the south-west corner of cell i.
    The grid is wide enough for the whole stock laid in one line to any side.
    """

    def __init__(
        self, tiles: Mapping[str, int], layout: list[dict[str, Any]], vehicles: Mapping[str, Any], rotate: bool
    ) -> None:
        kinds: dict[str, int] = {}
        for face, count in tiles.items():
            kind = min(turned(face)) if rotate else face
            kinds[kind] = kinds.get(kind, 0) + count
        self.kinds = tuple(sorted(kinds))
        self.kind_number = {kind: number for number, kind in enumerate(self.kinds)}
        self.counts = tuple(kinds[kind] for kind in self.kinds)
        self.tiles = sum(self.counts)
        self.rotate = rotate
        self.layout = tuple((tile["x"], tile["y"], tile["face"]) for tile in layout)
        self.start_cells = frozenset((x, y) for x, y, _ in self.layout)
        self.vehicles = {int(players): (supply["taxi"], supply["truck"]) for players, supply in vehicles.items()}
        faces = {face for kind in self.kinds for face in (turned(kind) if rotate else (kind,))}
        self.face_kind = {face: self.kind_number[min(turned(face)) if rotate else face] for face in sorted(faces)}
        self.colours = {
            face: tuple(COLOURS.index(side) for side in face)
            for face in (*self.face_kind, *(face for _, _, face in self.layout))
        }
        self.fits = tuple(self._fitting(kind) for kind in self.kinds)
        margin = self.tiles + 2
        xs, ys = [x for x, _, _ in self.layout], [y for _, y, _ in self.layout]
        self.ox, self.oy = margin - min(xs), margin - min(ys)
        self.width, self.height = max(xs) - min(xs) + 2 * margin + 1, max(ys) - min(ys) + 2 * margin + 1
        self.size = self.width * self.height
        self.xy = tuple((i % self.width - self.ox, i // self.width - self.oy) for i in range(self.size))
        self.attach_rows: list[dict[str, Attach] | None] = [None] * self.size
        self._taxi_rides: dict[int, Taxi] = {}
        self._truck_rides: dict[int, Truck] = {}
        self._places: dict[int, tuple[Place, ...]] = {}
        self._standings: dict[int, Standing] = {}
        self._placed: dict[tuple[int, str], PlacedTile] = {}

    def index(self, x: object, y: object) -> int:
        """The index of cell or vertex (x, y); -1 if these are not coordinates on the grid."""
        if type(x) is not int or type(y) is not int:
            return -1
        column, row = x + self.ox, y + self.oy
        return row * self.width + column if 0 <= column < self.width and 0 <= row < self.height else -1

    def attach_row(self, cell: int) -> dict[str, Attach]:
        """By face, the action that lays it on the cell."""
        row = self.attach_rows[cell]
        if row is None:
            x, y = self.xy[cell]
            row = self.attach_rows[cell] = {face: Attach(face, x, y) for face in self.face_kind}
        return row

    def placed(self, cell: int, face: str) -> PlacedTile:
        """How observations show a tile of the map."""
        tile = self._placed.get((cell, face))
        if tile is None:
            if len(self._placed) > _MOST_KEPT:
                self._placed.clear()
            tile = self._placed[cell, face] = PlacedTile(*self.xy[cell], face)
        return tile

    def taxi_rides(self, source: int, targets: list[int]) -> list[Taxi]:
        """The rides from one vertex to others, in the order of `targets`."""
        base, known = source * _RIDE, self._taxi_rides
        try:
            return [known[base + target] for target in targets]
        except KeyError:
            if len(known) > _MOST_KEPT:
                known.clear()
            for target in targets:
                known.setdefault(base + target, Taxi(*self.xy[source], *self.xy[target]))
            return [known[base + target] for target in targets]

    def truck_ride(self, source: int, target: int) -> Truck:
        ride = self._truck_rides.get(source * _RIDE + target)
        if ride is None:
            ride = self._truck_rides[source * _RIDE + target] = Truck(*self.xy[source], *self.xy[target])
        return ride

    def places(self, vertex: int) -> tuple[Place, ...]:
        """The actions that place a taxi and a truck there."""
        pair = self._places.get(vertex)
        if pair is None:
            pair = self._places[vertex] = tuple(Place(vehicle, *self.xy[vertex]) for vehicle in VEHICLES)
        return pair

    def standing(self, keys: list[int]) -> tuple[Standing, ...]:
        """How observations show pieces, in their order; a key is `vertex * PIECES + piece`, sorted here."""
        keys.sort()
        known = self._standings
        try:
            return tuple([known[key] for key in keys])
        except KeyError:
            for key in keys:
                vertex, piece = divmod(key, PIECES)
                known.setdefault(key, Standing(*self.xy[vertex], piece >> 1, VEHICLES[piece & 1]))
            return tuple([known[key] for key in keys])

    def _fitting(self, kind: str) -> tuple[tuple[str, ...], ...]:
        """Per need the faces of this kind that meet it, equal-looking rotations once."""
        table: list[tuple[str, ...]] = [()] * NEEDS
        for face in sorted(set(turned(kind))) if self.rotate else (kind,):
            demands = [
                (0, weight * (1 + colour))
                for weight, colour in zip((NORTH, EAST, SOUTH, WEST), self.colours[face], strict=True)
            ]
            for n in demands[0]:
                for e in demands[1]:
                    for s in demands[2]:
                        for w in demands[3]:
                            table[n + e + s + w] += (face,)
        table[0] = ()  # nothing is laid beside nothing
        return tuple(table)


def board_of(options: Mapping[str, Any]) -> Board:
    """The board for full, resolved options, made once for equal options. Raises DataError and OptionError."""
    data = options.get(DATA_OPTION)
    text = None if data is None else _data_text(data)
    scenario = options["scenario"]
    return _board(text, options["tile_set"], scenario, options[f"{scenario}_layout"], options["tiles_may_rotate"])


def own_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """A copy that nobody else can change; the shipped data, given as a replacement, are none."""
    own = dict(options)
    data = own.pop(DATA_OPTION, None)
    if data is not None and data != default_data():
        own[DATA_OPTION] = json.loads(json.dumps(data))
    return own


def _data_text(data: Any) -> str:
    check_data(data)
    return json.dumps(data)


@lru_cache(maxsize=64)
def _board(data_text: str | None, tile_set: str, scenario: str, shape: str, rotate: bool) -> Board:
    data = default_data() if data_text is None else json.loads(data_text)
    tiles = _named(data["tile_sets"], tile_set, "tile_set", "tile sets")
    shapes = data["layouts"].get(scenario, {})
    layout = _named(shapes, shape, f"{scenario}_layout", f"layouts for {scenario}")
    return Board(tiles["tiles"], layout, data["vehicles"], rotate)


def _named(table: Mapping[str, Any], name: str, option: str, what: str) -> Any:
    if name not in table:
        has = ", ".join(table) or "none"
        raise OptionError(f"manhattan_traffiq option '{option}': the data have no '{name}'; {what} there: {has}")
    return table[name]
