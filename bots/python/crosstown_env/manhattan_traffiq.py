"""Manhattan TraffIQ as arrays. The map has no edge, so its parts are numbered as they lie in a position.

Tiles, free cells beside the map, and complete vertices each have slots, filled from south, then west. An action names
slots: which one stands for which coordinates is in the same observation.
"""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from typing import Any

from crosstown_env.actions import ActionSpace, Block
from crosstown_env.layout import BASE, MOST, Layout, category, flags, large, named, number, owner, seat
from referee.games.api import DataError, resolve_options
from referee.games.manhattan_traffiq.actions import (
    STREETS,
    VEHICLES,
    Attach,
    Compete,
    Decline,
    DrawTile,
    EndTurn,
    Place,
    Taxi,
    TraffiqAction,
    Truck,
)
from referee.games.manhattan_traffiq.board import board_of
from referee.games.manhattan_traffiq.data import COLOURS
from referee.games.manhattan_traffiq.observation import PHASES, CityMap, Observation, PlacedTile
from referee.games.manhattan_traffiq.options import OPTIONS
from referee.games.manhattan_traffiq.rules import State

USED = "ATLD"
"""Letters of the actions of a turn."""
SIDES = 4
OPEN = 4
"""Vertices that one tile can complete."""
DIRECTIONS = ((0, 1), (1, 0), (0, -1), (-1, 0))
"""North, east, south, west."""
_END_TURN, _DRAW = 1, 2
_PHASES = {phase: place for place, phase in enumerate(PHASES, start=1)}
_COLOURS = {colour: 1 + place for place, colour in enumerate(COLOURS)}
_KEPT = 4096

Spot = tuple[int, int]
"""A row from the south and a column from the west: spots are ordered as slots are."""


class Plan:
    """What follows from the tiles of a map. It grows from the plan of the map with one tile less."""

    __slots__ = ("cells", "columns", "corners", "frontier", "map", "needs", "row", "sides", "spots", "vertices")

    map: CityMap
    row: bytes
    sides: dict[Spot, bytes]
    """Per tile its sides as numbers, in any order."""
    spots: list[Spot]
    """Where the tiles lie, by slot."""
    needs: dict[Spot, bytes]
    """Per free cell beside the map what a tile there must show."""
    cells: list[Spot]
    """The same cells by slot."""
    frontier: dict[Spot, int]
    """Per free cell its slot."""
    corners: list[Spot]
    """The complete vertices by slot."""
    vertices: dict[Spot, int]
    """Per complete vertex its slot."""
    columns: list[bytes]
    """x, y and sides of the vertices, of the cells and of the tiles, without the empty slots."""


def _empty_plan() -> Plan:
    plan = Plan()
    plan.map = CityMap(())
    plan.sides, plan.needs, plan.frontier, plan.vertices = {}, {}, {}, {}
    plan.spots, plan.cells, plan.corners = [], [], []
    plan.columns = [b""] * 9
    return plan


def _lay(plan: Plan, tile: PlacedTile) -> None:
    """Add a tile to everything but `map`, `row`, `frontier` and `vertices`."""
    y, x = spot = tile.y, tile.x
    colours = bytes([_COLOURS[side] for side in tile.face])
    sides, needs, columns = plan.sides, plan.needs, plan.columns
    if spot in needs:
        del needs[spot]
        _take_out(columns, 3, plan.cells, spot)
    sides[spot] = colours
    _put_in(columns, 6, plan.spots, spot, colours)
    for side, (dx, dy) in enumerate(DIRECTIONS):
        beside = (y + dy, x + dx)
        if beside not in sides:
            facing = (side + 2) % SIDES
            known = needs.get(beside)
            need = known or bytes(SIDES)
            need = needs[beside] = need[:facing] + colours[side : side + 1] + need[facing + 1 :]
            if known is None:
                _put_in(columns, 3, plan.cells, beside, need)
            else:
                at = SIDES * bisect_left(plan.cells, beside)
                columns[5] = columns[5][:at] + need + columns[5][at + SIDES :]
    for corner in (spot, (y, x + 1), (y + 1, x), (y + 1, x + 1)):
        row, column = corner
        northwest, southeast, southwest = (row, column - 1), (row - 1, column), (row - 1, column - 1)
        if corner in sides and northwest in sides and southeast in sides and southwest in sides:
            meeting = bytes((sides[corner][3], sides[corner][2], sides[southeast][3], sides[northwest][2]))
            _put_in(columns, 0, plan.corners, corner, meeting)


def _put_in(columns: list[bytes], first: int, spots: list[Spot], spot: Spot, sides: bytes) -> None:
    """Give the spot its slot among `spots`, and its numbers their places in three columns."""
    at = bisect_left(spots, spot)
    spots.insert(at, spot)
    y, x = spot
    columns[first] = columns[first][:at] + bytes((x & 255,)) + columns[first][at:]
    columns[first + 1] = columns[first + 1][:at] + bytes((y & 255,)) + columns[first + 1][at:]
    columns[first + 2] = columns[first + 2][: SIDES * at] + sides + columns[first + 2][SIDES * at :]


def _take_out(columns: list[bytes], first: int, spots: list[Spot], spot: Spot) -> None:
    """The opposite of `_put_in`."""
    at = bisect_left(spots, spot)
    del spots[at]
    columns[first] = columns[first][:at] + columns[first][at + 1 :]
    columns[first + 1] = columns[first + 1][:at] + columns[first + 1][at + 1 :]
    columns[first + 2] = columns[first + 2][: SIDES * at] + columns[first + 2][SIDES * (at + 1) :]


class TraffiqArrays:
    """See `crosstown_env.arrays.Arrays`."""

    version = 1

    def __init__(self, players: int, options: Mapping[str, Any]) -> None:
        resolved = resolve_options("manhattan_traffiq", OPTIONS, options)
        board = board_of(resolved)
        tiles = self._tiles = len(board.layout) + board.tiles
        farthest = board.tiles + max(abs(part) for x, y, _ in board.layout for part in (x, y)) + 1
        if farthest > MOST:
            raise DataError(f"the map may reach {farthest} cells far; arrays have room for {MOST}")
        cells = self._cells = 2 * tiles + 2
        self._players = players
        self._kinds = {kind: place for place, kind in enumerate(board.kinds)}
        self._faces = {face: place for place, face in enumerate(board.face_kind)}
        self._face_names = tuple(board.face_kind)
        taxis, trucks = board.vehicles[players]
        kinds, stock = len(board.kinds), board.tiles
        self.actions = ActionSpace(
            (
                Block("end_turn", "End the turn."),
                Block("draw", "Draw a city tile."),
                Block("decline", "Place no vehicle, or do not compete."),
                Block(
                    "place",
                    "Place a vehicle (0 taxi, 1 truck) on one of the open vertices, by its place among them.",
                    (("open vertex", OPEN), ("vehicle", len(VEHICLES))),
                ),
                Block(
                    "compete",
                    f"Compete on streets: the sum of 1, 2, 4 .. for {', '.join(STREETS)}.",
                    (("streets", 1 << len(STREETS)),),
                ),
                Block(
                    "truck",
                    "Drive the truck, by its place among the own ones, to the north, east, south or west.",
                    (("own truck", trucks), ("direction", len(DIRECTIONS))),
                ),
                Block(
                    "taxi",
                    "Drive the taxi, by its place among the own ones, to the vertex in a slot.",
                    (("own taxi", taxis), ("vertex slot", tiles)),
                ),
                Block(
                    "attach",
                    "Lay a hand tile on the free cell in a slot, by its face among all faces in alphabetical order.",
                    (("frontier slot", cells), ("face", len(self._faces))),
                ),
            )
        )
        self._starts = self.actions.starts()
        self._taxi, self._attach = self._starts["taxi"], self._starts["attach"]
        self._sizes = [part * slots for slots in (tiles, cells, tiles) for part in (1, 1, SIDES)]
        self._plans: dict[int, Plan] = {}
        """By the identity of a map."""
        self._by_tiles: dict[int, Plan] = {}
        """By the sum of the identities of a map's tiles."""
        seats = {"size": players, "over": players}
        sides = "1 water, 2 park, 3 red, 4 beige"
        self.layout = Layout(
            (
                seat("viewer", "The seat that sees this.", players),
                named("phase", "What the match waits for.", PHASES),
                seat("turn_seat", "Whose turn it is; -1 while the start player is open.", players, low=-1),
                seat("start_seat", "Who began; -1 while that is open.", players, low=-1),
                large("turns", "Turns that are over."),
                number("idle_turns", "Turns in a row in which no seat attached or drew.", MOST),
                flags("final_round", "Whether the final round is being played."),
                number("stock", "City tiles that can still be drawn.", stock),
                flags(
                    "used", "Whether this turn saw: a tile attached, a taxi ridden, a truck driven, a draw.", len(USED)
                ),
                flags("owed", "Per seat whether its last turn is not over.", **seats),
                flags("left", "Per seat whether it left the match.", **seats),
                number("hand_sizes", "Per seat the tiles in its hand.", stock, **seats),
                number("scores", "Per seat the points of its vehicles on the map.", taxis + 2 * trucks, **seats),
                number("taxis", "Per seat the taxis in its supply.", taxis, **seats),
                number("trucks", "Per seat the trucks in its supply.", trucks, **seats),
                number(
                    "hands",
                    "Per seat and kind of tile the tiles in its hand; 0 in a hand that the viewer does not see.",
                    stock,
                    kinds * players,
                    over=players,
                ),
                number("unseen", "Per kind the tiles that the viewer does not see.", stock, kinds),
                owner(
                    "vertex_piece",
                    "Per vertex slot 1 + 2*seat for a taxi, one more for a truck; 0: no vehicle.",
                    players,
                    tiles,
                    step=len(VEHICLES),
                ),
                flags("vertex_open", "Per vertex slot whether a vehicle may be placed there now.", tiles),
                flags("vertex_spot", "Per vertex slot whether competing is asked about there.", tiles),
                flags("vertex_used", "Per vertex slot whether a vertex has it.", tiles),
                number("vertex_x", "Per vertex slot its x.", farthest, tiles, low=-farthest),
                number("vertex_y", "Per vertex slot its y.", farthest, tiles, low=-farthest),
                category(
                    "vertex_sides",
                    f"Per vertex slot the sides that meet there, from north, clockwise: {sides}. Red and beige "
                    "are streets.",
                    0,
                    len(COLOURS),
                    SIDES * tiles,
                ),
                number(
                    "cell_x", "Per frontier slot, a free cell beside the map, its x.", farthest, cells, low=-farthest
                ),
                number("cell_y", "Per frontier slot its y.", farthest, cells, low=-farthest),
                category(
                    "cell_needs",
                    f"Per frontier slot what a tile there must show, from north, clockwise: {sides}; 0: anything. "
                    "All 0: no cell has the slot.",
                    0,
                    len(COLOURS),
                    SIDES * cells,
                ),
                number("tile_x", "Per tile slot its x.", farthest, tiles, low=-farthest),
                number("tile_y", "Per tile slot its y.", farthest, tiles, low=-farthest),
                category(
                    "tile_sides",
                    f"Per tile slot its sides, from north, clockwise: {sides}. All 0: no tile has the slot.",
                    0,
                    len(COLOURS),
                    SIDES * tiles,
                ),
            )
        )

    def seen(self, state: State, viewer: int) -> Observation:
        return state.observation(viewer)

    def row(self, seen: Observation, viewer: int) -> bytes:
        players, facts, fleet = self._players, seen.facts, seen.fleet
        plan = self._plan(seen.map)
        seats = bytearray(2 * players)
        for one in seen.owed:
            seats[one] = 1
        for one in facts.left:
            seats[players + one] = 1
        kinds = self._kinds
        hands = bytearray(len(kinds) * players)
        for one, hand in enumerate(seen.hands):
            for name in hand:
                hands[len(kinds) * one + kinds[name]] += 1
        tiles, vertices = self._tiles, plan.vertices
        on_map = bytearray(3 * tiles)  # pieces, open vertices, the spot
        for piece in fleet.standing:
            on_map[vertices[piece.y, piece.x]] = 1 + 2 * piece.seat + (piece.vehicle == "truck")
        for x, y in seen.open_vertices:
            on_map[tiles + vertices[y, x]] = 1
        if seen.spot is not None:
            x, y = seen.spot
            on_map[2 * tiles + vertices[y, x]] = 1
        used = seen.used
        head = bytes(
            (
                viewer,
                _PHASES[seen.phase],
                seen.turn_seat & 255,
                facts.start_seat & 255,
                *divmod(seen.turns, BASE),
                min(seen.idle_turns, MOST),
                seen.final_round,
                seen.stock,
                *[letter in used for letter in USED],
                *seats,
                *seen.hand_sizes,
                *fleet.scores,
                *fleet.taxis,
                *fleet.trucks,
            )
        )
        return b"".join((head, hands, seen.unseen, on_map, plan.row))

    def ids(self, seen: Observation, legal: Sequence[TraffiqAction]) -> list[int]:
        plan = self._plan(seen.map)
        frontier, faces, width, attach = plan.frontier, self._faces, len(self._faces), self._attach
        found = []
        own: dict[Spot, int] = {}
        for one in legal:
            kind = type(one)
            if kind is Attach:
                found.append(attach + width * frontier[one.y, one.x] + faces[one.face])  # type: ignore[union-attr]
            elif kind is Taxi:
                own = own or self._own(seen)
                place = own[one.y, one.x]  # type: ignore[union-attr]
                found.append(self._taxi + self._tiles * place + plan.vertices[one.to_y, one.to_x])  # type: ignore[union-attr]
            elif kind is Truck:
                own = own or self._own(seen)
                found.append(self._truck_ride(one, own))
            elif kind is EndTurn:
                found.append(_END_TURN)
            elif kind is DrawTile:
                found.append(_DRAW)
            else:
                found.append(self._other(one, seen))
        return found

    def _truck_ride(self, ride: Any, own: Mapping[Spot, int]) -> int:
        direction = DIRECTIONS.index((ride.to_x - ride.x, ride.to_y - ride.y))
        return self._starts["truck"] + len(DIRECTIONS) * own[ride.y, ride.x] + direction

    def _other(self, action: TraffiqAction, seen: Observation) -> int:
        start = self._starts[action.KIND]
        if isinstance(action, Place):
            place = seen.open_vertices.index((action.x, action.y))
            return start + len(VEHICLES) * place + VEHICLES.index(action.vehicle)
        if isinstance(action, Compete):
            return start + sum(1 << STREETS.index(street) for street in action.streets)
        return start

    @staticmethod
    def _own(seen: Observation) -> dict[Spot, int]:
        """Where the vehicles of the seat whose turn it is stand: each one's place among those of its kind."""
        own: dict[Spot, int] = {}
        counts = dict.fromkeys(VEHICLES, 0)
        for piece in seen.fleet.standing:
            if piece.seat == seen.turn_seat:
                own[piece.y, piece.x] = counts[piece.vehicle]
                counts[piece.vehicle] += 1
        return own

    def action(self, seen: Observation, number: int) -> TraffiqAction:
        kind, values = self.actions.factors_of(number)
        plan = self._plan(seen.map)
        try:
            return self._made(kind, values, plan, seen)
        except IndexError:
            raise ValueError(f"the action {number} ({kind}) names a place that this position does not have") from None

    def _made(self, kind: str, values: Sequence[int], plan: Plan, seen: Observation) -> TraffiqAction:
        if kind == "attach":
            y, x = plan.cells[values[0]]
            return Attach(self._face_names[values[1]], x, y)
        if kind in VEHICLES:
            standing = [one for one in seen.fleet.standing if one.seat == seen.turn_seat and one.vehicle == kind]
            piece = standing[values[0]]
            if kind == "taxi":
                y, x = plan.corners[values[1]]
                return Taxi(piece.x, piece.y, x, y)
            dx, dy = DIRECTIONS[values[1]]
            return Truck(piece.x, piece.y, piece.x + dx, piece.y + dy)
        if kind == "place":
            return Place(VEHICLES[values[1]], *seen.open_vertices[values[0]])
        if kind == "compete":
            return Compete(tuple(street for place, street in enumerate(STREETS) if values[0] >> place & 1))
        if kind == "end_turn":
            return EndTurn()
        return DrawTile() if kind == "draw" else Decline()

    def _plan(self, city: CityMap) -> Plan:
        plan = self._plans.get(id(city))
        if plan is None or plan.map is not city:
            if len(self._plans) >= _KEPT:
                self._plans.clear()
                self._by_tiles.clear()
            plan = self._planned(city)
            self._plans[id(city)] = self._by_tiles[sum(map(id, city.tiles))] = plan
        return plan

    def _planned(self, city: CityMap) -> Plan:
        """From the plan of the map before its last tile, if that is known: it has all tiles but one."""
        tiles = city.tiles
        total = sum(map(id, tiles))
        for place, tile in enumerate(tiles):
            before = self._by_tiles.get(total - id(tile))
            if before is not None and before.map.tiles == tiles[:place] + tiles[place + 1 :]:
                plan = Plan()
                plan.sides, plan.needs = before.sides.copy(), before.needs.copy()
                plan.spots, plan.cells, plan.corners = before.spots.copy(), before.cells.copy(), before.corners.copy()
                plan.columns = before.columns.copy()
                _lay(plan, tile)
                break
        else:
            plan = _empty_plan()
            for tile in tiles:
                _lay(plan, tile)
        plan.map = city
        plan.frontier = dict(zip(plan.cells, range(len(plan.cells)), strict=True))
        plan.vertices = dict(zip(plan.corners, range(len(plan.corners)), strict=True))
        used = b"\1" * len(plan.corners)
        sizes = (self._tiles, *self._sizes)
        plan.row = b"".join(
            [column.ljust(size, b"\0") for column, size in zip((used, *plan.columns), sizes, strict=True)]
        )
        return plan
