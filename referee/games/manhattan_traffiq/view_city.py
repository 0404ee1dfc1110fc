"""The drawn map: tiles, vertices, vehicles, and the streets that can be competed on."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from referee.games.drawing.parts import WIDTH, circle, line, moved, rect, text
from referee.games.drawing.spots import Spots
from referee.games.manhattan_traffiq.observation import Observation
from referee.games.manhattan_traffiq.view_tiles import in_words, tile, vehicle

Cell: TypeAlias = tuple[int, int]

_SMALLEST, _LARGEST = 25.0, 54.0
_LABELS = 14
_SIDE = 386.0
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
    cell = max(_SMALLEST, min(_LARGEST, (_SIDE - 16) / max(columns, rows)))
    width = max(float(WIDTH), columns * cell + _LABELS + 12)
    height = max(_SIDE, rows * cell + 16)
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
        held = "free" if piece is None else f"{piece.vehicle} of seat {piece.seat}"
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
