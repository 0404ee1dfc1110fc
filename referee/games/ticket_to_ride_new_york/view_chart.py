"""Where everything lies on the drawn map: worked out once for each box."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from itertools import pairwise
from math import atan2, cos, hypot, pi, sin
from typing import Any, TypeAlias

from referee.games.ticket_to_ride_new_york.box import GRAY, default_data

Point: TypeAlias = tuple[float, float]

NODE = 10.5
"""Radius of a location."""
_LANE = 7.5
"""Half the distance between the halves of a double route."""
_SPACE, _GAP = 30.0, 3.0
_MARGIN = 30
_STEPS = 32
"""Straight pieces a bent route is measured in."""


@dataclass(frozen=True, slots=True)
class Place:
    """A location. Its name stands at `label`, with a class for the side it is aligned on."""

    code: str
    name: str
    attraction: bool
    at: Point
    label: Point
    align: str
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Space:
    """One space of a route: its middle, its length, and its direction in radians."""

    at: Point
    length: float
    turn: float

    def corners(self, height: float, more: float = 0) -> tuple[Point, Point, Point, Point]:
        """Of the box `height` high and `more` longer than the space."""
        x, y = self.at
        dx, dy = cos(self.turn), sin(self.turn)
        a, b = (self.length + more) / 2, height / 2
        return (
            (x - a * dx + b * dy, y - a * dy - b * dx),
            (x + a * dx + b * dy, y + a * dy - b * dx),
            (x + a * dx - b * dy, y + a * dy + b * dx),
            (x - a * dx - b * dy, y - a * dy + b * dx),
        )


@dataclass(frozen=True, slots=True)
class Track:
    """A route. `twin` is the place of the other half of a double route, -1 for none; `ends` are places of locations."""

    color: str
    ends: tuple[int, int]
    points: int
    twin: int
    line: tuple[Point, ...]
    spaces: tuple[Space, ...]


@dataclass(frozen=True, slots=True)
class Chart:
    """The map of a box. Shapes are path commands."""

    height: int
    land: str
    shore: str
    park: str
    places: tuple[Place, ...]
    tracks: tuple[Track, ...]
    tickets: tuple[tuple[int, int, int], ...]
    """By number from 0: places of two locations, and points."""
    taxis: int


@cache
def _layout() -> Mapping[str, Any]:
    layout: Mapping[str, Any] = json.loads((files(__package__) / "data" / "layout.json").read_text("utf-8"))
    return layout


@lru_cache(maxsize=8)
def chart_of(box_text: str) -> Chart:
    """`box_text`: the JSON of a replaced box, "" for the shipped one. Other locations lie where their box has them."""
    box = json.loads(box_text) if box_text else default_data()
    layout = _layout()
    codes = [entry["code"] for entry in box["locations"]]
    ours = set(codes) == set(layout["places"])
    spots = [_place(entry, layout["places"][entry["code"]] if ours else {}) for entry in box["locations"]]
    bends = layout["bends"] if ours else {}
    return Chart(
        height=layout["height"],
        land=layout["land"] if ours else "",
        shore=layout["shore"] if ours else "",
        park=layout["park"] if ours else "",
        places=tuple(spots),
        tracks=_tracks(box, codes, spots, bends),
        tickets=tuple(
            (codes.index(entry["from"]), codes.index(entry["to"]), entry["points"]) for entry in box["tickets"]
        ),
        taxis=box["taxis"],
    )


def _place(entry: Mapping[str, Any], layout: Mapping[str, Any]) -> Place:
    if layout:
        at = (float(layout["x"]), float(layout["y"]))
        x, y, align, *lines = layout["label"]
    else:
        high = _layout()["height"] - 2 * _MARGIN
        at = (_MARGIN + entry["x"] * (400 - 2 * _MARGIN) / 1000, _MARGIN + entry["y"] * high / 1000)
        x, y, align, lines = at[0], at[1] - NODE - 4, "m", []
    shown = " ".join(lines) == entry["name"]
    return Place(
        code=entry["code"],
        name=entry["name"],
        attraction=entry["attraction"],
        at=at,
        label=(float(x), float(y)),
        align=align,
        lines=tuple(lines) if shown else (entry["name"],),
    )


def _tracks(
    box: Mapping[str, Any], codes: list[str], spots: list[Place], bends: Mapping[str, float]
) -> tuple[Track, ...]:
    halves: dict[str, list[int]] = {}
    for number, route in enumerate(box["routes"]):
        if route["double"] is not None:
            halves.setdefault(route["double"], []).append(number)
    tracks = []
    for number, route in enumerate(box["routes"]):
        pair = halves.get(route["double"], [number])
        first = box["routes"][pair[0]]
        lane = (0.0 if len(pair) == 1 else -_LANE if pair[0] == number else _LANE) * (
            1 if first["from"] == route["from"] else -1
        )
        a, b = codes.index(route["from"]), codes.index(route["to"])
        bend = float(bends.get(f"{route['from']}-{route['to']}", 0))
        line = _line(spots[a].at, spots[b].at, lane, bend)
        tracks.append(
            Track(
                color=route["color"] if route["color"] != GRAY else "gray",
                ends=(a, b),
                points=box["route_points"][str(route["length"])],
                twin=-1 if len(pair) == 1 else pair[0] + pair[1] - number,
                line=line if bend else (line[0], line[-1]),
                spaces=_spaces(line, route["length"], lane),
            )
        )
    return tuple(tracks)


def _line(a: Point, b: Point, lane: float, bend: float) -> tuple[Point, ...]:
    """From a to b, `lane` beside the straight way and bent by `bend` to its right."""
    whole = hypot(b[0] - a[0], b[1] - a[1]) or 1.0
    across = ((a[1] - b[1]) / whole, (b[0] - a[0]) / whole)
    points = []
    for step in range(_STEPS + 1):
        part = step / _STEPS
        off = lane + bend * 4 * part * (1 - part)
        points.append((a[0] + (b[0] - a[0]) * part + across[0] * off, a[1] + (b[1] - a[1]) * part + across[1] * off))
    return tuple(points)


def _spaces(points: Sequence[Point], count: int, lane: float) -> tuple[Space, ...]:
    lengths = [0.0]
    for one, other in pairwise(points):
        lengths.append(lengths[-1] + hypot(other[0] - one[0], other[1] - one[1]))
    inset = (NODE**2 - min(abs(lane), NODE) ** 2) ** 0.5 + 2
    pitch = min((lengths[-1] - 2 * inset) / count, _SPACE + _GAP)
    start = (lengths[-1] - pitch * count) / 2
    return tuple(_space(points, lengths, start + pitch * (number + 0.5), pitch - _GAP) for number in range(count))


def _space(points: Sequence[Point], lengths: Sequence[float], at: float, length: float) -> Space:
    step = next((step for step in range(1, _STEPS) if lengths[step] >= at), _STEPS)
    one, other = points[step - 1], points[step]
    part = (at - lengths[step - 1]) / (lengths[step] - lengths[step - 1] or 1.0)
    turn = atan2(other[1] - one[1], other[0] - one[0])
    middle = (one[0] + (other[0] - one[0]) * part, one[1] + (other[1] - one[1]) * part)
    return Space(middle, length, turn - pi if turn > pi / 2 else turn + pi if turn <= -pi / 2 else turn)


def map_points(chart: Chart, owner: Sequence[int], seat: int) -> tuple[int, int]:
    """What a seat's routes score, and the attractions at their ends. `owner` is per route a seat or -1."""
    own = [track for track, holder in zip(chart.tracks, owner, strict=True) if holder == seat]
    ends = {end for track in own for end in track.ends}
    return sum(track.points for track in own), sum(chart.places[end].attraction for end in ends)


def joined(chart: Chart, owner: Sequence[int], seat: int, ticket: int) -> bool:
    """Whether routes of the seat lead from one end of the ticket with this number to the other."""
    own = [track.ends for track, holder in zip(chart.tracks, owner, strict=True) if holder == seat]
    begin, end, _ = chart.tickets[ticket - 1]
    reached, grown = {begin}, True
    while grown:
        new = {place for ends in own if reached & set(ends) for place in ends} - reached
        reached |= new
        grown = bool(new)
    return end in reached
