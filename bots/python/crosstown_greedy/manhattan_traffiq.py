"""Manhattan TraffIQ: complete vertices, put trucks on them, and drive where weaker opponents can be thrown out."""

from collections.abc import Collection, Sequence
from functools import lru_cache
from typing import Any

from crosstown_greedy.manhattan_traffiq_city import ANY_COLOUR, STRENGTH, City, Corner, Place, read_city
from referee.games.manhattan_traffiq.actions import (
    Attach,
    Compete,
    DrawTile,
    Taxi,
    TraffiqAction,
    Truck,
)
from referee.games.manhattan_traffiq.actions import Place as Put
from referee.games.manhattan_traffiq.observation import Observation

RIDES = (Taxi, Truck)
SECOND_TILE_SHARE = 0.4
"""Of what a vertex is worth that takes two tiles: the second one might complete another vertex."""
OPENING_COST = 0.8
"""Of a vertex that lacks one tile when others have their turn."""
LAYING_WORTH = 0.1
"""Of a tile laid: the match goes on."""
DRAWING_WORTH = 0.9
"""Of a tile drawn, less for those that are in the hand already."""
EACH_IN_HAND = 0.1


def worths(seen: Observation, legal: Sequence[TraffiqAction], seat: int) -> list[float]:
    """Points, about, that each action is good for."""
    city = read_city(seen, seat)
    laying = Laying(city, seen)
    # From one place there are many ways to drive: what it is worth to stay is worked out once.
    staying: dict[Place, float] = {}
    found = []
    for action in legal:
        if isinstance(action, Attach):
            found.append(laying.worth((action.x, action.y), action.face))
        elif isinstance(action, RIDES):
            source = (action.x, action.y)
            strength = STRENGTH[action.KIND]
            if source not in staying:
                staying[source] = city.worth_of_standing_from(source, source, strength)
            target = (action.to_x, action.to_y)
            found.append(city.worth_of_standing_from(source, target, strength) - staying[source])
        elif isinstance(action, Put):
            strength = STRENGTH[action.vehicle]
            found.append(strength + city.worth_of_standing((action.x, action.y), strength))
        elif isinstance(action, Compete):
            found.append(float(len(action.streets)))
        elif isinstance(action, DrawTile):
            found.append(worth_of_drawing(seen.hand_sizes[seat]))
        else:
            found.append(0.0)
    return found


def worth_of_drawing(tiles: int) -> float:
    """To a hand of so many tiles: another one is of less use the more there are."""
    return max(EACH_IN_HAND, DRAWING_WORTH - EACH_IN_HAND * tiles)


class Laying:
    """What tiles of the hand are worth on free cells, with another one after it if this is the turn's first action."""

    def __init__(self, city: City, seen: Observation) -> None:
        self._city = city
        self._hand = seen.hands[city.seat]
        self._fitting = fitting_of(seen.facts.tile_names)
        self._is_last = bool(seen.used) or len(self._hand) < 2
        self._strength = STRENGTH["truck" if seen.fleet.trucks[city.seat] else "taxi"]
        self._others: dict[str, Collection[str]] = {}
        self._worths: dict[tuple[Place, Any], float] = {}

    def worth(self, cell: Place, face: str) -> float:
        map_, worth, openings = self._city.map, LAYING_WORTH, 0
        added = None
        for corner in map_.corners(cell):
            if corner.lacking and (self._is_last or not self._can_complete(corner, face)):
                openings += 1
                continue
            added = added or map_.added(cell, face)
            share = SECOND_TILE_SHARE if corner.lacking else 1.0
            worth += share * self._worth_of_vertex(corner.vertex, added)
        return worth - OPENING_COST * openings

    def _can_complete(self, corner: Corner, face: str) -> bool:
        """Whether a tile of the hand, other than the one laid, fits where the vertex then lacks its last tile."""
        others = self._others.get(face)
        if others is None:
            others = self._others[face] = without(self._hand, face)
        return not self._fitting.those(corner.demands_after(face)).isdisjoint(others)

    def _worth_of_vertex(self, vertex: Place, added: tuple[Sequence[Place], Sequence[Place]]) -> float:
        """Of a vertex that is, or will be, complete: a vehicle can be put there, if it is on a street."""
        key = (vertex, added)
        worth = self._worths.get(key)
        if worth is None:
            standing = self._city.worth_of_standing_after(vertex, added, self._strength)
            worth = self._worths[key] = 0.0 if standing is None else max(0.0, self._strength + standing)
        return worth


@lru_cache(maxsize=4096)
def without(hand: tuple[str, ...], face: str) -> Collection[str]:
    """The tiles of a hand less one that, turned by quarters, shows this face."""
    laid = next((place for place, name in enumerate(hand) if name in face + face), len(hand))
    return hand[:laid] + hand[laid + 1 :]


class Fitting:
    """Which tiles fit where. There are few demands, so each is looked at once."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = names
        self._known: dict[str, frozenset[str]] = {}

    def those(self, demands: str) -> frozenset[str]:
        """The tiles that, turned by quarters, have the colours that are asked for."""
        found = self._known.get(demands)
        if found is None:
            found = self._known[demands] = frozenset([name for name in self._names if fits(name, demands)])
        return found


@lru_cache(maxsize=64)
def fitting_of(names: tuple[str, ...]) -> Fitting:
    return Fitting(names)


def fits(name: str, demands: str) -> bool:
    """Whether a tile, turned by quarters, has the colours that are asked for."""
    faces = [name[turn:] + name[:turn] for turn in range(len(name))]
    return any(
        all(asked in (colour, ANY_COLOUR) for colour, asked in zip(face, demands, strict=True)) for face in faces
    )
