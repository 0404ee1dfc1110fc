"""Streets as maximal straight runs, who is weaker on them, and where a taxi can drive."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from referee.games.manhattan_traffiq.city import City

_SEATS = 4


class Street(NamedTuple):
    """A straight run of vertices; `name` as in `STREETS` of the actions."""

    name: str
    vertices: list[int]


def streets_through(city: City, vertex: int, colour_ends: bool) -> list[Street]:
    """The streets that `vertex` belongs to, horizontal before vertical."""
    streets: list[Street] = []
    for segments, step, names in ((city.run_eastward, 1, "hwe"), (city.run_northward, city.tables.width, "vsn")):
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

    A piece is 2 * seat + number of the vehicle kind; a taxi counts 1, a truck 2.
    """
    strength = [0] * _SEATS
    standing = [vertex for vertex in vertices if vertex in pieces]
    if len(standing) < 2:
        return []
    for vertex in standing:
        piece = pieces[vertex]
        strength[piece >> 1] += 1 + (piece & 1)
    own = strength[seat]
    return sorted([vertex for vertex in standing if strength[pieces[vertex] >> 1] < own])


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
