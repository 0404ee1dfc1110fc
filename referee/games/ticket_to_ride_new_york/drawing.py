"""The board as SVG: a headline, the map, the cards, the seats with what the viewer knows of them.

`data/layout.json` says where the locations of the shipped box lie, and how its routes bend.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from itertools import pairwise
from math import atan2, cos, hypot, pi, sin
from typing import Any, TypeAlias

from referee.games.api import Action
from referee.games.drawing.look import Look
from referee.games.drawing.parts import WIDTH, circle, moved, number, path, picture, rect, text
from referee.games.drawing.spots import Spots, spots_of
from referee.games.drawing.text import escaped, over_headline, seat_name, width_of
from referee.games.ticket_to_ride_new_york import events as ev
from referee.games.ticket_to_ride_new_york.actions import (
    CARDS,
    Claim,
    Draw,
    DrawTickets,
    Keep,
    Take,
    route_id,
    ticket_id,
)
from referee.games.ticket_to_ride_new_york.board import NO_TWIN, Location, Route, board_of
from referee.games.ticket_to_ride_new_york.observation import Observation

_HEAD = 24
_COUNTS_LEFT = 166
"""Where a seat's counts begin, behind its name."""
QUESTIONS = {
    "lot": "the first player is drawn by lot",
    "hands": "starting hands are dealt",
    "refill": "the row is refilled",
    "unseen": "a card is drawn unseen",
    "deal_tickets": "starting tickets are dealt",
    "draw_ticket": "tickets are drawn",
    "starting_tickets": "starting tickets are chosen",
    "turn": "choose an action",
    "second_card": "choose the second card",
    "keep_tickets": "choose among the tickets drawn",
    "over": "the match is over",
}
_SETTING_UP = ("lot", "hands", "deal_tickets", "starting_tickets")


def draw(observation: Observation, look: Look, revealed: Sequence[Any] = ()) -> str:
    """See `Drawing.draw`."""
    seen = observation
    spots = spots_of((action_places(seen, action) for action in look.legal), look)
    knowing: Mapping[int, Observation] = {
        other.viewer: other for other in (*revealed, seen) if other.viewer is not None
    }
    top = _HEAD + chart_of(seen.box).height
    seats, bottom = seat_parts(seen, knowing, look, spots, top + CARDS_HEIGHT)
    headline = _headline(seen, look)
    return picture(
        WIDTH,
        bottom + 2,
        title=f"Ticket to Ride: New York. {headline}",
        description=_description(seen, look),
        look=look,
        spots=spots,
        content=[
            token(16, 12, seen.turn_seat, 7.5) if seen.stage != "over" and not setting_up(seen) else "",
            text(30, 16, headline, size=11.5, css="ink b", width=WIDTH - 36),
            moved(0, _HEAD, "".join(map_parts(seen.box, seen.holders(), seen.players, spots))),
            moved(0, top, "".join(card_parts(seen, spots))),
            *seats,
        ],
    )


def setting_up(seen: Observation) -> bool:
    """Whether no turn has begun: the first player and the cards are drawn, and everybody chooses tickets."""
    return seen.stage in _SETTING_UP or (seen.stage == "refill" and not any(seen.ticket_counts))


def _headline(seen: Observation, look: Look) -> str:
    if seen.stage == "over":
        return over_headline([score.total for score in seen.scores], seen.left)
    left = seen.last_turns
    last = f"; {left} last turn{'s' if left > 1 else ''} to play" if left else ""
    question = QUESTIONS[seen.stage]
    if setting_up(seen):
        return f"Set-up: {question}"
    return f"{seat_name(look, seen.turn_seat)}: {question}{last}"


def _description(seen: Observation, look: Look) -> str:
    """The public position in sentences."""
    board = board_of(seen.box)
    lines = []
    for seat in range(seen.players):
        routes = [
            _ends(board.locations, board.routes[place]) for place, holder in enumerate(seen.holders()) if holder == seat
        ]
        lines.append(
            f"{seat_name(look, seat)}: {seen.taxis[seat]} taxis, {seen.hand_sizes[seat]} cards, "
            f"{seen.ticket_counts[seat]} tickets, routes {', '.join(routes) or 'none'}."
        )
    return " ".join(lines)


def action_places(observation: Observation, action: Action) -> tuple[str, ...]:
    """See `Drawing.action_places`."""
    match action:
        case Claim(route):
            return (f"route:{route}",)
        case Take(card):
            return (f"row:{card}",)
        case Draw():
            return ("deck",)
        case DrawTickets():
            return ("tickets",)
        case Keep(tickets):
            return tuple(f"ticket:{ticket}" for ticket in tickets)
    return ()


def event_places(payload: Any) -> tuple[str, ...]:
    """See `Drawing.event_places`."""
    match payload:
        case ev.RouteClaimed(_, route):
            return (f"route:{route}",)
        case ev.CardTurnedUp(card):
            return (f"row:{card}",)
        case ev.CardDrawn() | ev.DeckReshuffled():
            return ("deck",)
        case ev.TicketDrawn(_, ticket):
            return ("tickets", f"ticket:{ticket}") if ticket else ("tickets",)
        case ev.TicketsKept():
            return tuple(f"ticket:{ticket}" for ticket in payload.kept)
    return ()


# Where everything lies on the map

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
class Spot:
    """Where a location lies. Its name stands at `label`, with a class for the side it is aligned on."""

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
    """Where a route lies: its middle line, straight or in short pieces, and its spaces."""

    line: tuple[Point, ...]
    spaces: tuple[Space, ...]


@dataclass(frozen=True, slots=True)
class Chart:
    """The map of a box. Shapes are path commands."""

    height: int
    land: str
    shore: str
    park: str
    spots: tuple[Spot, ...]
    """By location."""
    tracks: tuple[Track, ...]
    """By route."""


@cache
def _layout() -> Mapping[str, Any]:
    layout: Mapping[str, Any] = json.loads((files(__package__) / "data" / "layout.json").read_text("utf-8"))
    return layout


@lru_cache(maxsize=8)
def chart_of(box_text: str) -> Chart:
    """`box_text`: the JSON of a replaced box, "" for the shipped one. Other locations lie where their box has them."""
    board, layout = board_of(box_text), _layout()
    shipped = {place.code for place in board.locations} == set(layout["places"])
    spots = [_spot(place, layout["places"][place.code] if shipped else {}) for place in board.locations]
    tracks = []
    for place, route in enumerate(board.routes):
        ends = board.locations[route.a].code, board.locations[route.b].code
        bend = float(layout["bends"].get("-".join(ends), 0)) if shipped else 0.0
        lane = _lane(board.routes, place)
        line = _line(spots[route.a].at, spots[route.b].at, lane, bend)
        tracks.append(Track(line if bend else (line[0], line[-1]), _spaces(line, route.length, lane)))
    return Chart(
        height=layout["height"],
        land=layout["land"] if shipped else "",
        shore=layout["shore"] if shipped else "",
        park=layout["park"] if shipped else "",
        spots=tuple(spots),
        tracks=tuple(tracks),
    )


def _spot(place: Location, layout: Mapping[str, Any]) -> Spot:
    if layout:
        at = (float(layout["x"]), float(layout["y"]))
        x, y, align, *lines = layout["label"]
    else:
        high = _layout()["height"] - 2 * _MARGIN
        at = (_MARGIN + place.x * (WIDTH - 2 * _MARGIN) / 1000, _MARGIN + place.y * high / 1000)
        x, y, align, lines = at[0], at[1] - NODE - 4, "m", []
    shown = " ".join(lines) == place.name
    return Spot(at=at, label=(float(x), float(y)), align=align, lines=tuple(lines) if shown else (place.name,))


def _lane(routes: Sequence[Route], place: int) -> float:
    """How far the route lies beside the straight way: halves of a double route on its two sides."""
    twin = routes[place].twin
    if twin == NO_TWIN:
        return 0.0
    side = -_LANE if place < twin else _LANE
    return side if routes[min(place, twin)].a == routes[place].a else -side


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


# The map

LETTERS = {"red": "R", "orange": "O", "green": "G", "blue": "B", "black": "K", "pink": "P", "taxi": "T", "gray": ""}
"""Beside every colour its letter, for eyes that do not tell them apart. Gray routes take any colour and have none."""
SEAT_FILLS = ("sky", "yellow", "white", "gray")
_BED, _TAXI = 11.5, 14.0
_NAME_LINE = 10.5


def map_parts(box: str, owner: Sequence[int], players: int, spots: Spots) -> Iterator[str]:
    """From the top left corner, `chart_of(box).height` high."""
    yield _ground(box)
    for place, route in enumerate(board_of(box).routes):
        closed = players == 2 and owner[place] < 0 and route.twin != NO_TWIN and owner[route.twin] >= 0
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


def _ends(locations: Sequence[Location], route: Route) -> str:
    return f"{locations[route.a].name} - {locations[route.b].name}"


@lru_cache(maxsize=2048)
def _route(box: str, place: int, owner: int, closed: bool) -> tuple[str, str, str]:
    """Tooltip, drawing and halo of a route as it is now."""
    board, track = board_of(box), chart_of(box).tracks[place]
    route = board.routes[place]
    ends = _ends(board.locations, route)
    color = route.color_name
    colour = "gray, any colour" if color == "gray" else color
    state = f"claimed by seat {owner + 1}" if owner >= 0 else "closed" if closed else "free"
    title = f"{ends}: {route.length} {colour}, {route.points} points, {state}"
    content = path(f"M{' '.join(_pair(point) for point in track.line)}", f"hole s-{color}", width=2)
    if owner >= 0:
        seat = SEAT_FILLS[owner]
        content += path(_boxes(track.spaces, _BED), f"f-{color} edge")
        content += path(_boxes(track.spaces, _TAXI, -2.0), f"f-{seat} piece")
        content += _signs(track.spaces, str(owner), f"on-{seat} b m", 12)
    elif closed:
        content += path(_boxes(track.spaces, _BED), "land edge dash")
        content += _signs(track.spaces, LETTERS[color], "soft m", 10)
    else:
        content += path(_boxes(track.spaces, _BED), f"f-{color} edge")
        content += _signs(track.spaces, LETTERS[color], f"on-{color} m", 10)
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
    return "".join(map(_location, board_of(box).locations, chart_of(box).spots))


def _location(place: Location, spot: Spot) -> str:
    x, y = spot.at
    worth = ", attraction, 1 point" if place.attraction else ""
    parts = [f"<title>{escaped(place.name)}{worth}</title>"]
    if place.attraction:
        parts.append(circle(x, y, NODE + 2, "f-orange rim"))
    parts.append(circle(x, y, NODE - 0.5, "paper rim"))
    parts.append(text(x, y + 3.6, place.code, size=10, css="ink m"))
    for row, words in enumerate(spot.lines):
        parts.append(
            text(
                spot.label[0],
                spot.label[1] + _NAME_LINE * row,
                words,
                size=10,
                css=f"ink label {spot.align}".rstrip(),
                fitted=True,
            )
        )
    return f"<g>{''.join(parts)}</g>"


# Cards, tickets and seats

CARDS_HEIGHT = 78
_SEAT_LINE, _TICKET_LINE = 39, 21
_TICKETS_ACROSS, _TICKET_WIDTH = 6, 58
_LEFT = 36
"""Where the things of a seat begin."""
_CHIP = 26
_RETURNED_ROWS, _RETURNED_WIDTH = 3, 62
_FILLS = {name: "yellow" if name == "taxi" else name for name in CARDS}


def card_parts(seen: Observation, spots: Spots) -> Iterator[str]:
    """The row, deck, discards and tickets, from (0, 0), `CARDS_HEIGHT` high."""
    yield text(8, 14, "Face up", size=10, css="soft")
    x = 8
    for name, count in zip(CARDS, seen.row, strict=True):
        if count:
            content = "".join(moved(x + 38 * number, 19, _card(name)) for number in range(count))
            halo = rect(x - 2, 17, 38 * count, 34, "halo", radius=5)
            yield spots.spot(f"row:{name}", f"{count} face-up {name}", content, halo)
            x += 38 * count
    yield _pile(206, "deck", "Deck", str(seen.deck_size), f"the deck, {seen.deck_size} cards", spots)
    under = len(seen.under)
    tickets = f"{seen.unknown_tickets + under}"
    known = " ".join(_ticket_code(seen, number) if number else "?" for number in seen.under)
    told = f"the tickets: {seen.unknown_tickets} unseen, then {under} returned ones" + (f": {known}" if known else "")
    yield _pile(270, "tickets", "Tickets", tickets, told, spots)
    if known:
        yield text(332, 14, "returned", size=10, css="soft")
        for row, words in enumerate(_rows(known.split(" "))):
            yield text(332, 27 + 11 * row, words, size=10, css="ink", width=_RETURNED_WIDTH)
    yield text(8, 69, f"Discards {sum(seen.discards)}", size=10, css="soft")
    yield chips(76, 58, seen.discards)
    if any(seen.aside):
        yield text(270, 69, "aside", size=10, css="soft")
        yield chips(300, 58, seen.aside)


def _ticket_code(seen: Observation, number: int) -> str:
    board = board_of(seen.box)
    ticket = board.tickets[number - 1]
    return f"{board.locations[ticket.a].code}-{board.locations[ticket.b].code}"


def _rows(names: Sequence[str]) -> list[str]:
    """Names in rows that hold them; the last row takes what is left."""
    rows: list[str] = []
    for name in names:
        longer = f"{rows[-1]} {name}" if rows else name
        if rows and len(rows) < _RETURNED_ROWS and width_of(longer, 10) > _RETURNED_WIDTH:
            rows.append(name)
        else:
            rows[-1:] = [longer]
    return rows


def _pile(x: float, place: str, title: str, count: str, tooltip: str, spots: Spots) -> str:
    content = rect(x, 19, 56, 30, "panel edge", radius=4) + text(x + 28, 39, count, size=13, css="ink b m")
    label = text(x, 14, title, size=10, css="soft")
    return label + spots.spot(place, tooltip, content, rect(x - 2, 17, 60, 34, "halo", radius=5))


@lru_cache(maxsize=16)
def _card(name: str) -> str:
    """34 x 30."""
    fill = _FILLS[name]
    body = rect(0, 0, 34, 30, f"f-{fill} piece", radius=4)
    if name == "taxi":
        body += path("M3 23h4v3h-4z M11 23h4v3h-4z M19 23h4v3h-4z M27 23h4v3h-4z", "f-black")
        return body + text(17, 18, LETTERS[name], size=15, css=f"on-{fill} b m")
    return body + text(17, 20.5, LETTERS[name], size=15, css=f"on-{fill} b m")


@lru_cache(maxsize=1024)
def chips(x: float, y: float, counts: Sequence[int], unknown: int = 0) -> str:
    """Cards by kind with their number, then those nobody knows."""
    parts = []
    for name, count in zip(CARDS, counts, strict=True):
        if count:
            parts.append(_chip(x, y, f"f-{_FILLS[name]}", f"on-{_FILLS[name]}", f"{LETTERS[name]}{count}"))
            x += _CHIP
    if unknown:
        parts.append(_chip(x, y, "paper", "ink", f"?{unknown}"))
    return "".join(parts)


def _chip(x: float, y: float, fill: str, ink: str, content: str) -> str:
    body = rect(x, y, _CHIP - 3, 14, f"{fill} edge", radius=3)
    return body + text(x + (_CHIP - 3) / 2, y + 10.8, content, size=10.5, css=f"{ink} b m")


def token(x: float, y: float, seat: int, radius: float = 8) -> str:
    fill = SEAT_FILLS[seat]
    return circle(x, y, radius, f"f-{fill} piece") + text(x, y + 4, str(seat), size=11, css=f"on-{fill} b m")


def seat_sign(seat: int, players: int) -> str:
    """The piece that stands for a seat; see `Drawing`."""
    return token(0, 0, seat, 10)


def seat_parts(
    seen: Observation, knowing: Mapping[int, Observation], look: Look, spots: Spots, top: float
) -> tuple[list[str], float]:
    """The seats from `top` downwards, and where they end. `knowing` has the observations of seats the viewer shares."""
    parts = []
    y = top
    for seat in range(seen.players):
        own = knowing.get(seat)
        tickets, offered = _tickets_of(seen, own, seat)
        lines = -(-(len(tickets) + len(offered)) // _TICKETS_ACROSS)
        height = _SEAT_LINE + _TICKET_LINE * lines + 4
        parts.append(_seat(seen, own, seat, look, y, height))
        shown = [*((ticket, False) for ticket in tickets), *((ticket, True) for ticket in offered)]
        for place, (ticket, open_) in enumerate(shown):
            x = _LEFT + (_TICKET_WIDTH + 2) * (place % _TICKETS_ACROSS)
            line = y + _SEAT_LINE + _TICKET_LINE * (place // _TICKETS_ACROSS)
            parts.append(_ticket(seen, seat, ticket, open_, x, line, spots))
        y += height + 3
    return parts, y


def _seat(seen: Observation, own: Observation | None, seat: int, look: Look, y: float, height: float) -> str:
    asked, left = seat in seen.asked, seat in seen.left
    hand = own.hand if own is not None else seen.known_of(seat)
    unknown = seen.hand_sizes[seat] - sum(hand)
    points, detail = _points(seen, seat)
    state = " (left)" if left else " (to play)" if asked else ""
    name = seat_name(look, seat)
    room = WIDTH - 14 - width_of(points, 12, bold=True) - _COUNTS_LEFT
    counts = f"{seen.taxis[seat]} taxis, {seen.hand_sizes[seat]} cards, {seen.ticket_counts[seat]} tickets"
    parts = [
        f"<g>{_tooltip(f'seat {seat + 1}: {counts}, {points}; {detail}')}",
        rect(4, y, WIDTH - 8, height, "panel" + (" s-can" if asked else ""), radius=5),
        token(20, y + 13, seat),
        text(_LEFT, y + 17, name + state, size=12, css="ink b", width=_COUNTS_LEFT - _LEFT - 4),
        text(_COUNTS_LEFT, y + 17, counts, size=10, css="ink", width=room),
        text(WIDTH - 10, y + 17, points, size=12, css="ink b e"),
        chips(_LEFT, y + 22, hand, unknown),
        text(WIDTH - 10, y + 32, detail, size=10, css="soft e"),
        "</g>",
    ]
    return "".join(parts)


def _tooltip(content: str) -> str:
    return f"<title>{content}</title>"


def _points(seen: Observation, seat: int) -> tuple[str, str]:
    """The score, or before the end what the map gives, and what it is made of."""
    for score in seen.scores:
        if score.seat == seat:
            made = f"routes {score.route_points}, tickets {score.ticket_points}, sights {score.attraction_points}"
            return f"{score.total} points", made
    routes, sights = board_of(seen.box).map_points(seen.holders(), seat)
    return f"{routes + sights}+ points", f"routes {routes}, sights {sights}"


def _tickets_of(seen: Observation, own: Observation | None, seat: int) -> tuple[list[int], list[int]]:
    """Numbers of the tickets the seat is known to have, and of those it is offered."""
    for score in seen.scores:
        if score.seat == seat:
            return sorted(int(name[1:]) for name in (*score.completed, *score.failed)), []
    return ([], []) if own is None else (list(own.tickets), list(own.offered))


def _ticket(seen: Observation, seat: int, number: int, offered: bool, x: float, y: float, spots: Spots) -> str:
    board = board_of(seen.box)
    ticket = board.tickets[number - 1]
    done = board.completed(seen.holders(), seat, number)
    state = "offered" if offered else "done" if done else "open"
    one, other = board.locations[ticket.a], board.locations[ticket.b]
    content = rect(x, y, _TICKET_WIDTH, 17, "paper edge" + (" dash" if offered else ""), radius=3)
    ticked = done and not offered
    ends = f"{one.code}-{other.code}"
    content += text(x + (12 if ticked else 5), y + 12.3, ends, size=10, css="ink", width=36 if ticked else 43)
    content += text(x + _TICKET_WIDTH - 4, y + 12.3, str(ticket.points), size=10.5, css="ink b e")
    if ticked:
        content += path(f"M{x + 3} {y + 9}l3 4l5 -9", "hole s-now", width=2)
    title = f"{one.name} - {other.name}, {ticket.points} points, {state}"
    return spots.spot(f"ticket:{ticket_id(number)}", title, content, rect(x - 1, y - 1, 60, 19, "halo", radius=4))


def drawn_card(name: str) -> str:
    """One card of 34 x 30 at (1, 1)."""
    return moved(1, 1, _card(name))
