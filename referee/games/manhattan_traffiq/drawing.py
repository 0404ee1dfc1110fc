"""The board as SVG: a headline, the map, the seats with their supplies and hands, the unseen tiles."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeAlias

from referee.games.api import Action
from referee.games.drawing.look import Look
from referee.games.drawing.parts import WIDTH, circle, line, moved, number, path, picture, rect, text
from referee.games.drawing.spots import Spots, spots_of
from referee.games.drawing.text import over_headline, seat_name
from referee.games.manhattan_traffiq import events as ev
from referee.games.manhattan_traffiq.actions import VEHICLES, Attach, Compete, DrawTile, Place, Taxi, Truck
from referee.games.manhattan_traffiq.observation import Observation

_HEAD, _LEGEND, _SEAT, _HAND, _GAP = 28, 24, 28, 34, 3
_LEFT = 36
_HAND_TILE, _HAND_ACROSS, _HAND_PITCH = 28, 8, 45
_UNSEEN_TILE, _UNSEEN_ACROSS, _UNSEEN_LINE = 16, 12, 23
_QUESTIONS = {
    "start": "the first player is drawn by lot",
    "deal": "starting hands are dealt",
    "turn": "choose an action",
    "place": "place a vehicle?",
    "compete": "compete?",
    "draw": "a tile is drawn",
    "over": "the match is over",
}
_DONE = {"A": "attach", "T": "taxi", "L": "truck", "D": "draw"}


def draw(observation: Observation, look: Look, revealed: Sequence[Any] = ()) -> str:
    """See `Drawing.draw`."""
    seen = observation
    hands = list(seen.hands)
    for other in revealed:
        hands = [one or more for one, more in zip(hands, other.hands, strict=True)]
    targets = [(action.x, action.y) for action in look.legal if isinstance(action, Attach)]
    spots = spots_of((action_places(seen, action) for action in look.legal), look)
    frame = frame_of(seen, targets)
    headline = _headline(seen, look)
    y = _HEAD + frame.height
    parts = [moved(0, y, "".join(_legend()))]
    y += _LEGEND
    for seat in range(seen.facts.players):
        seat_parts, height = _seat(seen, seat, hands[seat], look, spots)
        parts.append(moved(0, y, seat_parts))
        y += height + _GAP
    unseen, height = _unseen(seen, hands, spots)
    parts.append(moved(0, y, unseen))
    return picture(
        round(frame.width),
        round(y + height),
        title=f"Manhattan TraffIQ. {headline}",
        description=_description(seen, look),
        look=look,
        spots=spots,
        content=[
            moved(18, 14, vehicle("taxi", seen.turn_seat)) if seen.turn_seat >= 0 else "",
            text(_LEFT, 18, headline, size=11.5, css="ink b", width=WIDTH - _LEFT - 6),
            moved(0, _HEAD, "".join(city_parts(seen, frame, targets, spots))),
            *parts,
        ],
    )


def _headline(seen: Observation, look: Look) -> str:
    if seen.phase == "over":
        return over_headline(seen.fleet.scores, seen.facts.left)
    who = f"{seat_name(look, seen.turn_seat)}: " if seen.turn_seat >= 0 else ""
    final = "; final round" if seen.final_round else ""
    used = f"; done {', '.join(_DONE[letter] for letter in seen.used)}" if seen.used else ""
    return f"{who}{_QUESTIONS[seen.phase]}{used}{final}"


def _legend() -> Iterator[str]:
    for place, (side, words) in enumerate(SIDE_WORDS.items()):
        x = (8, 88, 178, 226)[place]
        yield moved(x, 4, tile(side * 4, 16)) + text(x + 20, 16, words, size=10, css="soft")
    yield moved(288, 12, vehicle("taxi", 0)) + text(300, 16, "taxi 1", size=10, css="soft")
    yield moved(346, 12, vehicle("truck", 0)) + text(360, 16, "truck 2", size=10, css="soft")


def _seat(seen: Observation, seat: int, hand: Sequence[str], look: Look, spots: Spots) -> tuple[str, int]:
    """What belongs to a seat, and how high it is."""
    counts = sorted(Counter(hand).items())
    lines = -(-len(counts) // _HAND_ACROSS)
    height = _SEAT + _HAND * lines
    turn = seat == seen.turn_seat and seen.phase != "over"
    left = " (left)" if seat in seen.facts.left else ""
    tiles = f"{seen.hand_sizes[seat]} tile{'' if seen.hand_sizes[seat] == 1 else 's'}"
    points = seen.fleet.scores[seat]
    parts = [
        rect(4, 0, WIDTH - 8, height, f"panel {'s-can' if turn else ''}".rstrip(), radius=5),
        moved(20, 14, vehicle("taxi", seat)),
        text(_LEFT, 18, seat_name(look, seat) + left, size=12, css="ink b", width=124),
    ]
    for kind, x in zip(VEHICLES, (172, 222), strict=True):
        number = (seen.fleet.taxis if kind == "taxi" else seen.fleet.trucks)[seat]
        content = moved(x, 14, vehicle(kind, seat)) + text(x + 15, 18, f"\u00d7{number}", size=11, css="ink")
        halo = rect(x - 13, 2, 46, 24, "halo", radius=4)
        parts.append(
            spots.spot(f"supply:{seat}-{kind}", f"supply of {seat_name(look, seat)}: {number} {kind}", content, halo)
        )
    parts.append(text(262, 18, tiles, size=11, css="ink"))
    parts.append(text(WIDTH - 10, 18, f"{points} point{'' if points == 1 else 's'}", size=12, css="ink b e"))
    for place, (name, count) in enumerate(counts):
        x, y = _LEFT + _HAND_PITCH * (place % _HAND_ACROSS), _SEAT + _HAND * (place // _HAND_ACROSS)
        content = moved(x, y, tile(name, _HAND_TILE))
        if count > 1:
            content += text(x + _HAND_TILE + 1, y + 18, f"\u00d7{count}", size=10, css="ink")
        halo = rect(x - 2, y - 2, _HAND_TILE + 4, _HAND_TILE + 4, "halo", radius=4)
        named = f"tile:{name}" if seat == seen.turn_seat else f"hand:{seat}-{name}"
        parts.append(spots.spot(named, f"{name}: {in_words(name)}", content, halo))
    return "".join(parts), height


def _unseen(seen: Observation, hands: Sequence[Sequence[str]], spots: Spots) -> tuple[str, int]:
    """The stock, and which tiles may be in it."""
    known = Counter(name for seat, hand in enumerate(hands) if not seen.hands[seat] for name in hand)
    left = {
        name: number - known[name]
        for name, number in zip(seen.facts.tile_names, seen.unseen, strict=True)
        if number > known[name]
    }
    total = sum(left.values())
    where = "" if total == seen.stock else f" (and {total - seen.stock} in hidden hands)"
    parts = [text(8, 14, f"Stock: {seen.stock} tiles{where}", size=10.5, css="soft")]
    for place, (name, count) in enumerate(left.items()):
        x = 8 + 32.5 * (place % _UNSEEN_ACROSS)
        y = 21 + _UNSEEN_LINE * (place // _UNSEEN_ACROSS)
        parts.append(moved(x, y, tile(name, _UNSEEN_TILE)))
        if count > 1:
            parts.append(text(x + _UNSEEN_TILE + 1, y + 13, f"\u00d7{count}", size=10, css="soft"))
    lines = -(-len(seen.facts.tile_names) // _UNSEEN_ACROSS)
    height = 24 + _UNSEEN_LINE * lines
    halo = rect(2, 1, WIDTH - 4, height - 3, "halo", radius=6)
    return spots.spot("stock", f"the stock, {seen.stock} tiles", "".join(parts), halo), height


def _description(seen: Observation, look: Look) -> str:
    lines = []
    for seat in range(seen.facts.players):
        standing = [f"{piece.vehicle} at ({piece.x}, {piece.y})" for piece in seen.fleet.standing if piece.seat == seat]
        lines.append(
            f"{seat_name(look, seat)}: {seen.fleet.scores[seat]} points, supply "
            f"{seen.fleet.taxis[seat]} taxis, {seen.fleet.trucks[seat]} trucks, {seen.hand_sizes[seat]} tiles; "
            f"on the map: {', '.join(standing) or 'nothing'}."
        )
    return " ".join(lines)


def action_places(observation: Observation, action: Action) -> tuple[str, ...]:
    """See `Drawing.action_places`."""
    match action:
        case DrawTile():
            return ("stock",)
        case Attach(face, x, y):
            return (f"tile:{min(face[turn:] + face[:turn] for turn in range(4))}", f"cell:{x},{y}")
        case Taxi(x, y, to_x, to_y) | Truck(x, y, to_x, to_y):
            return (f"vertex:{x},{y}", f"vertex:{to_x},{to_y}")
        case Place(kind, x, y):
            return (f"supply:{observation.turn_seat}-{kind}", f"vertex:{x},{y}")
        case Compete(streets):
            return tuple(f"street:{street}" for street in streets)
    return ()


def event_places(payload: Any) -> tuple[str, ...]:
    """See `Drawing.event_places`."""
    match payload:
        case ev.Attached(_, _, x, y):
            return (f"cell:{x},{y}",)
        case ev.Drove(_, _, x, y, to_x, to_y):
            return (f"vertex:{x},{y}", f"vertex:{to_x},{to_y}")
        case ev.Placed(_, _, x, y) | ev.Competed(_, x, y) | ev.Returned(_, _, x, y):
            return (f"vertex:{x},{y}",)
        case ev.TileDrawn(_, name):
            return ("stock", f"tile:{name}") if name else ("stock",)
    return ()


# The map

Cell: TypeAlias = tuple[int, int]

_SMALLEST, _LARGEST = 25.0, 54.0
_LABELS = 14
_MAP_SIDE = 386.0
"""Of the square that a map of common size fills."""
_STEPS = {"w": (-1, 0), "e": (1, 0), "s": (0, -1), "n": (0, 1)}
_ARMS = {"h": ("w", "e"), "v": ("s", "n")}


@dataclass(frozen=True, slots=True)
class Frame:
    """Where the map lies: the cells it shows, their size, and its place in the picture."""

    west: int
    south: int
    columns: int
    rows: int
    cell: float
    left: float
    top: float
    width: float
    height: float

    def at(self, x: float, y: float) -> tuple[float, float]:
        """Vertex (x, y)."""
        return self.left + self.cell * (x - self.west), self.top + self.cell * (self.south + self.rows - y)


def frame_of(seen: Observation, targets: Sequence[Cell]) -> Frame:
    """Room for the laid tiles and for `targets`, the free cells that a tile may be attached to."""
    cells = [(placed.x, placed.y) for placed in seen.map.tiles] + list(targets)
    west, east = min(x for x, _ in cells), max(x for x, _ in cells)
    south, north = min(y for _, y in cells), max(y for _, y in cells)
    columns, rows = east - west + 1, north - south + 1
    cell = max(_SMALLEST, min(_LARGEST, (_MAP_SIDE - 16) / max(columns, rows)))
    width = max(float(WIDTH), columns * cell + _LABELS + 12)
    height = max(_MAP_SIDE, rows * cell + 16)
    left = _LABELS + (width - _LABELS - columns * cell) / 2
    return Frame(west, south, columns, rows, cell, left, (height - rows * cell) / 2, width, height + _LABELS)


def city_parts(seen: Observation, frame: Frame, targets: Sequence[Cell], spots: Spots) -> Iterator[str]:
    """From (0, 0), as large as `frame` says."""
    faces = {(placed.x, placed.y): placed.face for placed in seen.map.tiles}
    yield rect(0, 0, frame.width, frame.height - _LABELS, "panel")
    yield from _labels(frame)
    for cell in dict.fromkeys(targets):
        x, y = frame.at(cell[0], cell[1] + 1)
        inner = rect(x + 2, y + 2, frame.cell - 4, frame.cell - 4, "paper edge dash", radius=3)
        halo = rect(x + 2, y + 2, frame.cell - 4, frame.cell - 4, "halo", radius=3)
        yield spots.spot(f"cell:{cell[0]},{cell[1]}", f"free cell ({cell[0]}, {cell[1]})", inner, halo)
    for (x, y), face in faces.items():
        left, top = frame.at(x, y + 1)
        halo = rect(left + 1, top + 1, frame.cell - 2, frame.cell - 2, "halo")
        content = moved(left, top, tile(face, frame.cell))
        yield spots.spot(f"cell:{x},{y}", f"tile ({x}, {y}): {in_words(face)}", content, halo)
    if seen.phase == "compete" and seen.spot is not None:
        for street in seen.streets:
            yield _street(faces, seen.spot, street, frame, spots)
    yield from _vertices(seen, faces, frame, spots)


def _labels(frame: Frame) -> Iterator[str]:
    every = 1 if frame.cell >= 20 else 2
    for x in range(frame.west, frame.west + frame.columns + 1, every):
        yield text(frame.at(x, 0)[0], frame.height - 3, str(x), size=10, css="soft m")
    for y in range(frame.south, frame.south + frame.rows + 1, every):
        yield text(frame.left - 12, frame.at(0, y)[1] + 3.5, str(y), size=10, css="soft e")


def _vertices(seen: Observation, faces: Mapping[Cell, str], frame: Frame, spots: Spots) -> Iterator[str]:
    standing = {(piece.x, piece.y): piece for piece in seen.fleet.standing}
    around: dict[Cell, int] = {}
    for x, y in faces:
        for vertex in ((x, y), (x + 1, y), (x, y + 1), (x + 1, y + 1)):
            around[vertex] = around.get(vertex, 0) + 1
    for (x, y), count in sorted(around.items()):
        if count < 4:
            continue
        piece = standing.get((x, y))
        at = frame.at(x, y)
        content = circle(*at, 3.5, "f-white piece") if piece is None else moved(*at, vehicle(piece.vehicle, piece.seat))
        held = "free" if piece is None else f"{piece.vehicle} of seat {piece.seat + 1}"
        yield spots.spot(f"vertex:{x},{y}", f"vertex ({x}, {y}), {held}", content, circle(*at, 12, "halo"))


def _street(faces: Mapping[Cell, str], spot: Cell, street: str, frame: Frame, spots: Spots) -> str:
    ends = [_end(faces, spot, arm, whole=street in _ARMS) for arm in _ARMS.get(street, (street,))]
    first, last = ends[0], ends[-1] if len(ends) > 1 else spot
    (x1, y1), (x2, y2) = frame.at(*first), frame.at(*last)
    content = line(x1, y1, x2, y2, "s-now", width=7)
    low, high = (min(x1, x2), min(y1, y2)), (max(x1, x2), max(y1, y2))
    halo = rect(low[0] - 6, low[1] - 6, high[0] - low[0] + 12, high[1] - low[1] + 12, "halo", radius=6)
    return spots.spot(f"street:{street}", f"street {street} from {first} to {last}", content, halo)


def _end(faces: Mapping[Cell, str], spot: Cell, arm: str, *, whole: bool) -> Cell:
    """The last vertex of the street from `spot` on; an arm that is not the whole street ends where its colour does."""
    dx, dy = _STEPS[arm]
    x, y = spot
    colour = ""
    while True:
        segment = _segment(faces, x + min(dx, 0), y + min(dy, 0), across=dx != 0)
        if not segment or (colour and segment != colour and not whole):
            return x, y
        colour = segment
        x, y = x + dx, y + dy


def _segment(faces: Mapping[Cell, str], x: int, y: int, *, across: bool) -> str:
    """Colour of the street segment from vertex (x, y) to the east (`across`) or north; "" if there is none."""
    one, other = ((x, y), (x, y - 1)) if across else ((x, y), (x - 1, y))
    if one not in faces or other not in faces:
        return ""
    side = faces[one][2 if across else 3]
    return side if side in "rt" else ""


# Tiles and vehicles

SIDE_WORDS = {"r": "red street", "t": "beige street", "g": "park", "b": "water"}
SEAT_FILLS = ("red", "yellow", "blue", "green")
"""The colours of the box."""
_FILLS = {"r": "red", "t": "beige", "g": "green", "b": "sky"}
_EDGE = 0.22
"""Part of a tile's side that its border takes up."""


def in_words(face: str) -> str:
    """The sides of a face for a tooltip."""
    return ", ".join(f"{name} {SIDE_WORDS[side]}" for name, side in zip(("N", "E", "S", "W"), face, strict=True))


@lru_cache(maxsize=4096)
def tile(face: str, size: float) -> str:
    """A tile from (0, 0): its side colours as borders, each with a pattern of its own."""
    sides = "".join(_side(side, turn, size) for turn, side in enumerate(face))
    return rect(0, 0, size, size, "land") + sides + rect(0, 0, size, size, "hole edge")


@lru_cache(maxsize=1024)
def _side(side: str, turn: int, size: float) -> str:
    """The border of a tile that lies `turn` quarter turns clockwise from north."""
    edge = size * _EDGE
    corners = [(0.0, 0.0), (size, 0.0), (size - edge, edge), (edge, edge)]
    band = path("M" + "L".join(_turned(corner, turn, size) for corner in corners) + "Z", f"f-{_FILLS[side]}")
    middle = edge / 2
    if side == "b":
        step = edge / 2
        count = max(2, int((size - 2 * edge) / step))
        start = (size - count * step) / 2
        points = [
            (start + step * place, middle + (step / 2.5 if place % 2 else -step / 2.5)) for place in range(count + 1)
        ]
    else:
        points = [(edge, middle), (size - edge, middle)]
    line = "M" + "L".join(_turned(point, turn, size) for point in points)
    return band + path(line, f"hole side-{side}", width=max(0.9, edge / 6))


def _turned(point: tuple[float, float], turn: int, size: float) -> str:
    x, y = point
    for _ in range(turn):
        x, y = size - y, x
    return f"{number(round(x, 1))} {number(round(y, 1))}"


def seat_sign(seat: int, players: int) -> str:
    """The piece that stands for a seat; see `Drawing`."""
    return vehicle("taxi", seat)


@lru_cache(maxsize=64)
def vehicle(kind: str, seat: int) -> str:
    """Around (0, 0): taxis are round, trucks are boxes; the number is the seat."""
    fill = SEAT_FILLS[seat]
    if kind == "taxi":
        body = circle(0, 0, 9.5, "f-white") + circle(0, 0, 8, f"f-{fill} piece")
    else:
        body = rect(-11.5, -9, 23, 18, "f-white", radius=2) + rect(-10, -7.5, 20, 15, f"f-{fill} piece", radius=1.5)
        body += path("M6 -7.5V7.5", "s-black", width=1.5)
        return body + text(-2, 4, str(seat), size=11, css=f"on-{fill} b m")
    return body + text(0, 4, str(seat), size=11, css=f"on-{fill} b m")
