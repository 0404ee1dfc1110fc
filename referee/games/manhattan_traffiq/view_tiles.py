"""Drawn city tiles, and the vehicles."""

from functools import lru_cache

from referee.games.drawing.parts import circle, number, path, rect, text

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
