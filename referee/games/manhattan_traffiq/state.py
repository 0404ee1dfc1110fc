"""Where everything is in a match, as plain data: `rules.py` says what may be done with it."""

from bisect import insort
from collections.abc import Iterable, Mapping
from typing import Any, Self

from referee.games.api import DataError
from referee.games.api.compiling import mypyc_attr
from referee.games.manhattan_traffiq.actions import VEHICLES, Attach, TraffiqAction
from referee.games.manhattan_traffiq.board import PIECES, board_of, own_options
from referee.games.manhattan_traffiq.city import City, Contest, contests
from referee.games.manhattan_traffiq.observation import Facts, Fleet
from referee.games.manhattan_traffiq.options import rules_of


@mypyc_attr(allow_interpreted_subclasses=True)  # so that `clone` can leave out __init__
class Position:
    """All that a match is at one moment. Mutable; tiles in hands and in the stock are numbers of kinds of tile."""

    __slots__ = (
        "_facts",
        "_fits",
        "_fleet",
        "_legal",
        "_regions",
        "board",
        "city",
        "contests",
        "final",
        "hands",
        "idle",
        "left",
        "open_vertices",
        "options",
        "owed",
        "parked",
        "phase",
        "pieces",
        "players",
        "rides",
        "rules",
        "seat",
        "spot",
        "start",
        "stock",
        "stock_left",
        "supply",
        "turns",
        "unlaid",
        "used",
    )

    def __init__(self, players: int, options: Mapping[str, Any]) -> None:
        self.players = players
        self.options = own_options(options)
        self.rules = rules_of(options)
        self.board = board_of(options)
        self.city = City(self.board, self.rules.half_streets)
        self.pieces: dict[int, int] = {}  # by vertex, 2 * seat + number of the vehicle kind
        self.parked: list[list[int]] = [[] for _ in range(2 * players)]  # by piece, its vertices, ascending
        self.supply: list[int] = list(self.board.vehicles[players]) * players  # by piece
        self.hands: list[list[int]] = [[] for _ in range(players)]  # numbers of kinds, ascending
        self.stock = list(self.board.counts)
        self.stock_left = self.board.tiles
        self.unlaid = bytearray(self.board.counts)  # by kind, tiles in the stock and in hands
        self.phase = "start" if self.rules.random_start else "deal"
        self.start = -1 if self.rules.random_start else 0
        self.seat = self.start
        self.used = ""
        self.open_vertices: tuple[int, ...] = ()
        self.spot = -1
        self.contests: tuple[Contest, ...] = ()
        self.turns = 0
        self.idle = 0
        self.final = False
        self.owed: tuple[int, ...] = ()
        self.left: tuple[int, ...] = ()
        # Remembered answers. A clone shares them: whoever moves on takes a new dictionary, never empties the old.
        self._facts: Facts | None = None
        self._fleet: Fleet | None = None
        self._legal: tuple[TraffiqAction, ...] | None = None
        self._fits: dict[int, tuple[Attach, ...]] = {}
        self.rides: dict[int, tuple[TraffiqAction, ...]] = {}
        """By piece. Another dictionary as soon as any vehicle or vertex is another."""
        self._regions: dict[int, list[int]] = {}

    @property
    def turn_seat(self) -> int:
        return max(self.seat, 0)

    # Vehicles

    def put(self, vertex: int, piece: int) -> None:
        """Stand the piece, from wherever it was, on the vertex."""
        self.pieces[vertex] = piece
        insort(self.parked[piece], vertex)

    def take(self, vertex: int) -> int:
        """The piece that stood on the vertex, and no longer does."""
        piece = self.pieces.pop(vertex)
        self.parked[piece].remove(vertex)
        return piece

    def scores(self) -> tuple[int, ...]:
        """Per seat the points of its vehicles on the map: a truck 2, a taxi 1."""
        parked = self.parked
        return tuple([len(parked[2 * seat]) + 2 * len(parked[2 * seat + 1]) for seat in range(self.players)])

    # Parts of observations, kept as long as they are the same

    @property
    def facts(self) -> Facts:
        """The same object until the start player is known or somebody leaves."""
        if self._facts is None:
            self._facts = Facts(self.players, self.start, self.left, self.board.kinds)
        return self._facts

    @property
    def fleet(self) -> Fleet:
        """The same object until a vehicle moves."""
        if self._fleet is None:
            self._fleet = Fleet(
                self.board.standing([vertex * PIECES + piece for vertex, piece in self.pieces.items()]),
                tuple(self.supply[::2]),
                tuple(self.supply[1::2]),
                self.scores(),
            )
        return self._fleet

    def unseen_by(self, viewer: int | None) -> bytes:
        """Per kind the tiles in the stock and in hands hidden from `viewer`."""
        if self.rules.open_hands:
            return bytes(self.stock)
        counts = self.unlaid
        if viewer is not None:
            counts = counts.copy()
            for kind in self.hands[viewer]:
                counts[kind] -= 1
        return bytes(counts)

    # Copies

    def clone(self) -> Self:
        copy = type(self).__new__(type(self))
        copy._facts = self._facts
        copy._fits = self._fits
        copy._fleet = self._fleet
        copy._legal = self._legal
        copy._regions = self._regions
        copy.rides = self.rides
        copy.board = self.board
        copy.contests = self.contests
        copy.final = self.final
        copy.idle = self.idle
        copy.left = self.left
        copy.open_vertices = self.open_vertices
        copy.options = self.options
        copy.owed = self.owed
        copy.phase = self.phase
        copy.players = self.players
        copy.rules = self.rules
        copy.seat = self.seat
        copy.spot = self.spot
        copy.start = self.start
        copy.stock_left = self.stock_left
        copy.turns = self.turns
        copy.used = self.used
        copy.city = self.city.copy()
        copy.pieces = self.pieces.copy()
        copy.parked = [vertices.copy() for vertices in self.parked]
        copy.supply = self.supply.copy()
        copy.hands = [hand.copy() for hand in self.hands]
        copy.stock = self.stock.copy()
        copy.unlaid = self.unlaid.copy()
        return copy

    def to_dict(self) -> dict[str, Any]:
        """The whole position as JSON values; the supply follows from what stands on the map."""
        names, xy = self.board.kinds, self.board.xy
        return {
            "players": self.players,
            "options": own_options(self.options),
            "phase": self.phase,
            "start": self.start,
            "seat": self.seat,
            "used": self.used,
            "turns": self.turns,
            "idle": self.idle,
            "final": self.final,
            "owed": list(self.owed),
            "left": list(self.left),
            "tiles": [[tile.x, tile.y, tile.face] for tile in self.city.tiles],
            "vehicles": [[it.x, it.y, it.seat, it.vehicle] for it in self.fleet.standing],
            "hands": [[names[kind] for kind in hand] for hand in self.hands],
            "stock": {name: count for name, count in zip(names, self.stock, strict=True) if count},
            "open_vertices": [list(xy[vertex]) for vertex in self.open_vertices],
            "spot": list(xy[self.spot]) if self.spot >= 0 else None,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Inverse of `to_dict`. DataError if the data describe no position."""
        try:
            return cls._from_dict(data)
        except (KeyError, IndexError, TypeError, ValueError) as error:
            raise DataError(f"state: {type(error).__name__} {error}; expected the form of to_dict()") from error

    @classmethod
    def _from_dict(cls, data: Mapping[str, Any]) -> Self:
        position = cls(data["players"], data["options"])
        numbers = position.board.kind_number
        position.phase, position.start, position.seat = data["phase"], data["start"], data["seat"]
        position.used, position.turns, position.idle = data["used"], data["turns"], data["idle"]
        position.final, position.owed, position.left = data["final"], tuple(data["owed"]), tuple(data["left"])
        position.lay_map(data["tiles"], data["vehicles"])
        position.hands = [[numbers[name] for name in hand] for hand in data["hands"]]
        position.stock = [data["stock"].get(name, 0) for name in position.board.kinds]
        position.stock_left = sum(position.stock)
        position.unlaid = bytearray(position.stock)
        for hand in position.hands:
            for kind in hand:
                position.unlaid[kind] += 1
        position.open_questions(data["open_vertices"], data["spot"])
        return position

    def lay_map(self, tiles: Iterable[Any], vehicles: Iterable[Any]) -> None:
        """Lay these tiles and put these vehicles from the supply on a map that has neither."""
        board, city = self.board, self.city
        for x, y, face in tiles:
            if board.index(x, y) not in city.faces:
                city.lay(board.index(x, y), face)
        for x, y, seat, vehicle in vehicles:
            piece = 2 * seat + VEHICLES.index(vehicle)
            vertex = board.index(x, y)
            self.pieces[vertex] = piece
            self.parked[piece] = sorted([*self.parked[piece], vertex])
            self.supply[piece] -= 1

    def open_questions(self, open_vertices: Iterable[Any], spot: Any) -> None:
        """Where a vehicle may be placed, and the vertex that is competed at."""
        self.open_vertices = tuple(self.board.index(x, y) for x, y in open_vertices)
        if spot is not None:
            self.spot = self.board.index(*spot)
            self.contests = contests(self.city, self.spot, self.pieces, self.seat, self.rules.colour_ends)
