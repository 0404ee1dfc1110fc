"""Manhattan TraffIQ as arrays. The map has no edge, so its parts are numbered as they lie in a position.

Tiles, free cells beside the map, and complete vertices each have slots, filled from south, then west. An action names
slots: which one stands for which coordinates is in the same observation.
"""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from typing import Any, Final

from crosstown_env.actions import ActionSpace, Block, packed
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
from referee.games.manhattan_traffiq.board import EAST, NEEDS, NORTH, SOUTH, WEST, board_of
from referee.games.manhattan_traffiq.city import City
from referee.games.manhattan_traffiq.data import COLOURS
from referee.games.manhattan_traffiq.observation import PHASES, CityMap, Observation, PlacedTile
from referee.games.manhattan_traffiq.options import OPTIONS
from referee.games.manhattan_traffiq.rules import State, Words

USED: Final = "ATLD"
"""Letters of the actions of a turn."""
SIDES: Final = 4
OPEN: Final = 4
"""Vertices that one tile can complete."""
DIRECTIONS: Final = ((0, 1), (1, 0), (0, -1), (-1, 0))
"""North, east, south, west."""
_END_TURN, _DRAW = 1, 2
DRAW: Final = DrawTile()
_PHASES: Final = {phase: place for place, phase in enumerate(PHASES, start=1)}
_NEEDS: Final = [bytes(need // weight % 5 for weight in (NORTH, EAST, SOUTH, WEST)) for need in range(NEEDS)]
"""Per need of a cell its sides as numbers, from north, clockwise."""
_KEPT: Final = 4096


def _word(numbers: list[int]) -> tuple[bytes, ...]:
    """The word of these actions; none if there are no actions."""
    return (packed(numbers),) if numbers else ()


class Plan:
    """What follows from the map of a city as it is now. Cells and vertices are numbered as on the board."""

    __slots__ = (
        "attaching",
        "cells",
        "corners",
        "head",
        "needs",
        "rides",
        "rides_of",
        "row",
        "size",
        "tiles",
        "vertices",
    )

    def __init__(self, city: City) -> None:
        self.tiles, self.size = city.tiles, len(city.tiles)
        """The list of the city's tiles, which grows, and its length when this was made."""
        self.cells = city.frontier[:]
        """The free cells beside the map by slot."""
        self.needs = [city.needs[cell] for cell in self.cells]
        """What a tile there must show, as a need of the board."""
        self.corners: list[int] = []
        """The complete vertices by slot."""
        self.vertices: dict[int, int] = {}
        """Per complete vertex its slot."""
        self.head = b""
        """The columns of the vertices."""
        self.row = b""
        """All columns of the map."""
        self.attaching: dict[int, tuple[bytes, ...]] = {}
        """By kind of tile the numbers, packed, of the actions that lay it."""
        self.rides: dict[int, tuple[bytes, ...]] = {}
        """By piece the numbers, packed, of its rides, valid while `rides_of` is the position's dictionary of rides."""
        self.rides_of: dict[int, Any] = {}

    def shows(self, city: City) -> bool:
        """Whether the plan is of this city, and no tile has been laid since."""
        return self.tiles is city.tiles and self.size == len(self.tiles)


def _added(before: tuple[PlacedTile, ...], tiles: tuple[PlacedTile, ...]) -> int:
    """The place of the one tile that was added; -1 if something else happened."""
    low, high = 0, len(before)
    if len(tiles) != high + 1:
        return -1
    while low < high:
        middle = (low + high) // 2
        if tiles[middle] is before[middle]:
            low = middle + 1
        else:
            high = middle
    return low if tiles[:low] + tiles[low + 1 :] == before else -1


class TraffiqArrays:
    """See `crosstown_env.arrays.Arrays`."""

    version = 1

    def __init__(self, players: int, options: Mapping[str, Any]) -> None:
        resolved = resolve_options("manhattan_traffiq", OPTIONS, options)
        board = self._board = board_of(resolved)
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
        self._taxi, self._truck, self._attach = (self._starts[kind] for kind in ("taxi", "truck", "attach"))
        self._steps = {dx + board.width * dy: place for place, (dx, dy) in enumerate(DIRECTIONS)}
        self._face_numbers = [[[self._faces[face] for face in faces] for faces in fits] for fits in board.fits]
        self._slot_numbers = range(self._attach, self.actions.size, len(self._faces))
        """Per frontier slot the first number of an action there."""
        self._size = self.actions.size
        self._words = Words(packed([_END_TURN]), packed([_DRAW]), self._attaching, self._rides)
        """Words of a legal list are packed numbers, of one action or of several that come together."""
        self._xy = [bytes((x & 255, y & 255)) for x, y in board.xy]
        self._sides = {face: bytes([1 + colour for colour in sides]) for face, sides in board.colours.items()}
        """Per face its sides as numbers, from north, clockwise."""
        self._observed = City(board, False)
        """The city of the last observed map."""
        self._sizes = [tiles] + [part * slots for slots in (tiles, cells, tiles) for part in (1, 1, SIDES)]
        self._plans: dict[int, Plan] = {}
        """The last plan by the identity of a city."""
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
                flags("vertex_used", "Per vertex slot whether it is in use.", tiles),
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

    def row(self, seen: Observation | State, viewer: int) -> bytes:
        if not isinstance(seen, Observation):
            return self._row_of(seen, viewer)
        facts, fleet, index = seen.facts, seen.fleet, self._board.index
        kinds = self._kinds
        hands = bytearray(len(kinds) * self._players)
        for one, hand in enumerate(seen.hands):
            for name in hand:
                hands[len(kinds) * one + kinds[name]] += 1
        return self._row(
            seen,
            viewer,
            (seen.turn_seat, facts.start_seat, seen.turns, seen.idle_turns, seen.final_round, seen.stock),
            facts.left,
            (*seen.hand_sizes, *fleet.scores, *fleet.taxis, *fleet.trucks),
            hands,
            seen.unseen,
            self._plan_of(seen),
            {index(it.x, it.y): 2 * it.seat + (it.vehicle == "truck") for it in fleet.standing},
            [index(x, y) for x, y in seen.open_vertices],
            -1 if seen.spot is None else index(*seen.spot),
        )

    def _row_of(self, state: State, viewer: int) -> bytes:
        """What `State.observation` shows the viewer: its own hand and, with option open_hands, all others."""
        kinds, supply = len(self._kinds), state.supply
        hands = bytearray(kinds * self._players)
        for one in range(self._players) if state.rules.open_hands else (viewer,):
            for kind in state.hands[one]:
                hands[kinds * one + kind] += 1
        return self._row(
            state,
            viewer,
            (state.seat, state.start, state.turns, state.idle, state.final, state.stock_left),
            state.left,
            (*map(len, state.hands), *state.scores(), *supply[::2], *supply[1::2]),
            hands,
            state.unseen_by(viewer),
            self._plan_of(state),
            state.pieces,
            () if state.phase == "turn" else state.open_vertices,
            state.spot,
        )

    def _row(
        self,
        where: Any,
        viewer: int,
        numbers: tuple[int, int, int, int, int, int],
        left: Sequence[int],
        by_seat: Sequence[int],
        hands: bytearray,
        unseen: bytes,
        plan: Plan,
        pieces: Mapping[int, int],
        open_vertices: Sequence[int],
        spot: int,
    ) -> bytes:
        """`where` is the observation or the position: what has the same name in both. Pieces are by vertex."""
        turn_seat, start_seat, turns, idle, final, stock = numbers
        players, tiles, vertices = self._players, self._tiles, plan.vertices
        seats = bytearray(2 * players)
        for one in where.owed:
            seats[one] = 1
        for one in left:
            seats[players + one] = 1
        on_map = bytearray(3 * tiles)  # pieces, open vertices, the spot
        for vertex, piece in pieces.items():
            on_map[vertices[vertex]] = 1 + piece
        for vertex in open_vertices:
            on_map[tiles + vertices[vertex]] = 1
        if spot >= 0:
            on_map[2 * tiles + vertices[spot]] = 1
        used = where.used
        head = bytes(
            (
                *(viewer, _PHASES[where.phase], turn_seat & 255, start_seat & 255, turns // BASE, turns % BASE),
                *(min(idle, MOST), final, stock, "A" in used, "T" in used, "L" in used, "D" in used),
            )
        )
        return b"".join((head, seats, bytes(by_seat), hands, unseen, on_map, plan.row))

    def numbers(self, state: State, seat: int) -> bytes:
        if state.phase == "turn":
            return b"".join(state.turn_in(self._words, (state, self._plan_of(state))))
        return packed(self.ids(state, state.legal_actions(seat)))

    def _attaching(self, of: tuple[State, Plan], kind: int) -> tuple[bytes, ...]:
        plan = of[1]
        found = plan.attaching.get(kind)
        if found is None:
            faces_for = self._face_numbers[kind]
            found = plan.attaching[kind] = _word(
                [
                    number + face
                    for number, need in zip(self._slot_numbers, plan.needs, strict=False)
                    for face in faces_for[need]
                ]
            )
        return found

    def _rides(self, of: tuple[State, Plan], piece: int) -> tuple[bytes, ...]:
        state, plan = of
        if plan.rides_of is not state.rides:
            plan.rides, plan.rides_of = {}, state.rides
        found = plan.rides.get(piece)
        if found is None:
            numbers: list[int] = []
            if piece & 1:
                number, width, steps = self._truck, len(DIRECTIONS), self._steps
                for source, targets in zip(state.parked[piece], state.targets(piece), strict=True):
                    numbers += [number + steps[target - source] for target in targets]
                    number += width
            else:
                number, vertices = self._taxi, plan.vertices
                for targets in state.targets(piece):
                    numbers += [number + vertices[target] for target in targets]
                    number += self._tiles
            found = plan.rides[piece] = _word(numbers)
        return found

    def ids(self, seen: Observation | State, legal: Sequence[TraffiqAction]) -> list[int]:
        plan = self._plan_of(seen)
        cells, vertices, faces, width, attach = (
            *(plan.cells, plan.vertices, self._faces, len(self._faces), self._attach),
        )
        column, row, across = self._board.ox, self._board.oy, self._board.width
        found = []
        own: dict[int, int] = {}
        for one in legal:
            kind = type(one)
            if kind is Attach:
                cell = (one.y + row) * across + one.x + column  # type: ignore[union-attr]
                found.append(attach + width * bisect_left(cells, cell) + faces[one.face])  # type: ignore[union-attr]
            elif kind is Taxi:
                own = own or self._own(seen)
                place = own[(one.y + row) * across + one.x + column]  # type: ignore[union-attr]
                target = vertices[(one.to_y + row) * across + one.to_x + column]  # type: ignore[union-attr]
                found.append(self._taxi + self._tiles * place + target)
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

    def _truck_ride(self, ride: Any, own: Mapping[int, int]) -> int:
        direction = DIRECTIONS.index((ride.to_x - ride.x, ride.to_y - ride.y))
        return self._truck + len(DIRECTIONS) * own[self._board.index(ride.x, ride.y)] + direction

    def _other(self, action: TraffiqAction, seen: Observation | State) -> int:
        start = self._starts[action.KIND]
        if isinstance(action, Place):
            place = self._open_vertices(seen).index((action.x, action.y))
            return start + len(VEHICLES) * place + VEHICLES.index(action.vehicle)
        if isinstance(action, Compete):
            return start + sum(1 << STREETS.index(street) for street in action.streets)
        return start

    def _open_vertices(self, seen: Observation | State) -> Sequence[tuple[int, int]]:
        if isinstance(seen, Observation):
            return seen.open_vertices
        return [self._board.xy[vertex] for vertex in seen.open_vertices]

    def _standing(self, seen: Observation | State) -> tuple[Sequence[int], Sequence[int]]:
        """Where the taxis and where the trucks of the seat whose turn it is stand, by vertex."""
        if not isinstance(seen, Observation):
            return seen.parked[2 * seen.seat], seen.parked[2 * seen.seat + 1]
        own = [it for it in seen.fleet.standing if it.seat == seen.turn_seat]
        taxis, trucks = ([self._board.index(it.x, it.y) for it in own if it.vehicle == name] for name in VEHICLES)
        return taxis, trucks

    def _own(self, seen: Observation | State) -> dict[int, int]:
        """Where the vehicles of the seat whose turn it is stand: each one's place among those of its kind."""
        own: dict[int, int] = {}
        for vertices in self._standing(seen):
            own.update(zip(vertices, range(len(vertices)), strict=True))
        return own

    def action(self, seen: Observation | State, number: int) -> TraffiqAction:
        kind = "attach"
        try:
            if self._attach <= number < self._size:  # by far most of the actions
                slot, face = divmod(number - self._attach, len(self._faces))
                return self._board.attach_row(self._plan_of(seen).cells[slot])[self._face_names[face]]
            if number == _DRAW:
                return DRAW
            kind, values = self.actions.factors_of(number)
            return self._made(kind, values, seen)
        except IndexError:
            raise ValueError(f"the action {number} ({kind}) names a place that this position does not have") from None

    def _made(self, kind: str, values: Sequence[int], seen: Observation | State) -> TraffiqAction:
        xy = self._board.xy
        plan = self._plan_of(seen)
        if kind in VEHICLES:
            x, y = xy[self._standing(seen)[VEHICLES.index(kind)][values[0]]]
            if kind == "taxi":
                return Taxi(x, y, *xy[plan.corners[values[1]]])
            dx, dy = DIRECTIONS[values[1]]
            return Truck(x, y, x + dx, y + dy)
        if kind == "place":
            return Place(VEHICLES[values[1]], *self._open_vertices(seen)[values[0]])
        if kind == "compete":
            return Compete(tuple(street for place, street in enumerate(STREETS) if values[0] >> place & 1))
        return EndTurn() if kind == "end_turn" else Decline()

    def _plan_of(self, seen: Observation | State) -> Plan:
        city = self._city_of(seen.map) if isinstance(seen, Observation) else seen.city
        plan = self._plans.get(id(city))
        if plan is None or not plan.shows(city):
            if len(self._plans) >= _KEPT:
                self._plans.clear()
            plan = self._plans[id(city)] = self._planned(city, plan)
        return plan

    def _city_of(self, seen: CityMap) -> City:
        """The city of an observed map, grown from the last one if the map has all of its tiles and one more."""
        city = self._observed
        if city.map.tiles == seen.tiles:
            return city
        at = _added(city.map.tiles, seen.tiles)
        new = seen.tiles[at : at + 1] if at >= 0 else seen.tiles
        if at < 0:
            city = self._observed = City(self._board, False)
        for tile in new:
            cell = self._board.index(tile.x, tile.y)
            if cell not in city.faces:
                city.lay(cell, tile.face)
        return city

    def _planned(self, city: City, before: Plan | None) -> Plan:
        plan = Plan(city)
        faces, sides = city.faces, self._sides
        if before is not None and before.tiles is plan.tiles and len(before.vertices) == len(city.links):
            plan.corners, plan.vertices, plan.head = before.corners, before.vertices, before.head
        else:
            plan.corners = sorted(city.links)
            plan.vertices = dict(zip(plan.corners, range(len(plan.corners)), strict=True))
            plan.head = self._filled(
                (b"\1" * len(plan.corners), *self._places(plan.corners), self._meeting(city, plan.corners)), 0
            )
        tiles, cells = city.cells, plan.cells
        plan.row = plan.head + self._filled(
            (
                *self._places(cells),
                b"".join([_NEEDS[need] for need in plan.needs]),
                *self._places(tiles),
                b"".join([sides[faces[tile]] for tile in tiles]),
            ),
            4,
        )
        return plan

    def _places(self, spots: list[int]) -> tuple[bytes, bytes]:
        """The x and the y of cells or vertices."""
        both = b"".join([self._xy[spot] for spot in spots])
        return both[::2], both[1::2]

    def _filled(self, columns: tuple[bytes, ...], first: int) -> bytes:
        """Columns of the map with their empty slots; `first` is the number of the first one."""
        sizes = self._sizes[first : first + len(columns)]
        return b"".join([column.ljust(size, b"\0") for column, size in zip(columns, sizes, strict=True)])

    def _meeting(self, city: City, corners: list[int]) -> bytes:
        """Per vertex the sides that meet there."""
        faces, sides, width = city.faces, self._sides, self._board.width
        found = bytearray()
        for corner in corners:
            northeast = sides[faces[corner]]
            southeast, northwest = sides[faces[corner - width]], sides[faces[corner - 1]]
            found += bytes((northeast[3], northeast[2], southeast[3], northwest[2]))
        return bytes(found)
