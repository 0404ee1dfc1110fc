"""The drawn map: locations, routes and the taxis on them."""

from collections.abc import Iterator, Sequence
from functools import lru_cache

from referee.games.drawing.parts import WIDTH, circle, number, path, rect, text
from referee.games.drawing.spots import Spots
from referee.games.drawing.text import escaped
from referee.games.ticket_to_ride_new_york.actions import route_id
from referee.games.ticket_to_ride_new_york.view_chart import NODE, Chart, Point, Space, chart_of

LETTERS = {"red": "R", "orange": "O", "green": "G", "blue": "B", "black": "K", "pink": "P", "taxi": "T", "gray": ""}
"""Beside every colour its letter, for eyes that do not tell them apart. Gray routes take any colour and have none."""
SEAT_FILLS = ("sky", "yellow", "white", "gray")
_BED, _TAXI = 11.5, 14.0
_LINE = 10.5


def map_parts(box: str, owner: Sequence[int], players: int, spots: Spots) -> Iterator[str]:
    """From the top left corner, `chart_of(box).height` high."""
    chart = chart_of(box)
    yield _ground(box)
    for place, track in enumerate(chart.tracks):
        closed = players == 2 and owner[place] < 0 and track.twin >= 0 and owner[track.twin] >= 0
        title, content, halo = _route(box, place, owner[place], closed)
        yield spots.spot(f"route:{route_id(place + 1)}", title, content, halo)
    yield _locations(box)


@lru_cache(maxsize=8)
def _ground(box: str) -> str:
    chart = chart_of(box)
    parts = [rect(0, 0, WIDTH, chart.height, "water")]
    parts += [path(shape, "land") for shape in (chart.land, chart.shore) if shape]
    if chart.park:
        parts.append(path(chart.park, "park"))
    return "".join(parts)


@lru_cache(maxsize=2048)
def _route(box: str, place: int, owner: int, closed: bool) -> tuple[str, str, str]:
    """Tooltip, drawing and halo of a route as it is now."""
    chart = chart_of(box)
    track = chart.tracks[place]
    ends = " - ".join(chart.places[end].name for end in track.ends)
    colour = "gray, any colour" if track.color == "gray" else track.color
    state = f"claimed by seat {owner}" if owner >= 0 else "closed" if closed else "free"
    title = f"{route_id(place + 1)} {ends}: {len(track.spaces)} {colour}, {track.points} points, {state}"
    content = path(f"M{' '.join(_pair(point) for point in track.line)}", f"hole s-{track.color}", width=2)
    if owner >= 0:
        seat = SEAT_FILLS[owner]
        content += path(_boxes(track.spaces, _BED), f"f-{track.color} edge")
        content += path(_boxes(track.spaces, _TAXI, -2.0), f"f-{seat} piece")
        content += _signs(track.spaces, str(owner), f"on-{seat} b m", 12)
    elif closed:
        content += path(_boxes(track.spaces, _BED), "land edge dash")
        content += _signs(track.spaces, LETTERS[track.color], "soft m", 10)
    else:
        content += path(_boxes(track.spaces, _BED), f"f-{track.color} edge")
        content += _signs(track.spaces, LETTERS[track.color], f"on-{track.color} m", 10)
    return title, content, path(_boxes(track.spaces, _TAXI + 3, 2.0), "halo")


def _boxes(spaces: Sequence[Space], height: float, more: float = 0) -> str:
    return "".join(f"M{' '.join(_pair(corner) for corner in space.corners(height, more))}Z" for space in spaces)


def _pair(point: Point) -> str:
    return f"{point[0]:.1f} {point[1]:.1f}"


def _signs(spaces: Sequence[Space], sign: str, css: str, size: float) -> str:
    """The sign upright in the middle of each space."""
    if not sign:
        return ""
    spans = "".join(
        f'<tspan x="{space.at[0]:.1f}" y="{space.at[1] + 0.36 * size:.1f}">{sign}</tspan>' for space in spaces
    )
    return f'<text font-size="{number(size)}" class="{css}">{spans}</text>'


@lru_cache(maxsize=8)
def _locations(box: str) -> str:
    return "".join(_location(chart_of(box), number) for number in range(len(chart_of(box).places)))


def _location(chart: Chart, number: int) -> str:
    place = chart.places[number]
    x, y = place.at
    worth = ", attraction, 1 point" if place.attraction else ""
    parts = [f"<title>{escaped(place.name)}{worth}</title>"]
    if place.attraction:
        parts.append(circle(x, y, NODE + 2, "f-orange rim"))
    parts.append(circle(x, y, NODE - 0.5, "paper rim"))
    parts.append(text(x, y + 3.8, place.code, size=10.5, css="ink b m"))
    for row, words in enumerate(place.lines):
        parts.append(text(*_below(place.label, row), words, size=10, css=f"ink label {place.align}".rstrip()))
    return f"<g>{''.join(parts)}</g>"


def _below(label: Point, row: int) -> Point:
    return label[0], label[1] + _LINE * row
