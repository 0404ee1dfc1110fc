"""Signs of the drawn board: faces of dice, buildings, Units, monsters. Each fits into a square of 12 around (0, 0)."""

from functools import lru_cache

from referee.games.drawing.parts import circle, moved, number, path, text

SEAT_FILLS = ("sky", "orange", "green", "pink", "white", "yellow")
FACE_WORDS = ("energy", "attack", "destr.", "heart", "celeb.", "ouch")
BUILDING_FILLS = {"high_rise": "yellow", "power_plant": "sky", "hospital": "pink"}
_STAR = "M0 -6L1.6 -2H6L2.6 .9L3.8 5.4L0 2.8L-3.8 5.4L-2.6 .9L-6 -2H-1.6Z"
_BOLT = "M1.5 -6L-4.5 1H-1L-2.5 6L4.5 -1.5H.5Z"
_HEART = "M0 5.5C-8 0 -6 -5.5 -3 -5.5C-1.2 -5.5 0 -4 0 -3C0 -4 1.2 -5.5 3 -5.5C6 -5.5 8 0 0 5.5Z"
PATHS = {
    "energy": _BOLT,
    "attack": "M-6 -6L-3.5 6L-2.5 -6ZM-1.5 -6L.5 6L2 -6ZM3 -6L4.5 6L6.5 -6Z",
    "destruction": "M0 -6.5L1.6 -2.6L5.5 -4.6L3.6 -.8L6.5 1.6L2.6 2.2L2.4 6L0 3.2L-3 6L-2.8 2.2L-6.5 1L-3.4 -1L-5 -4.8"
    "L-1.6 -2.8Z",
    "heart": _HEART,
    "celebrity": _STAR,
    "ouch": "M0 -6L6.5 5.5H-6.5ZM-.9 -2.2L-.5 2H.5L.9 -2.2ZM-.8 3V4.5H.8V3Z",
    "vp": _STAR,
    "life": _HEART,
    "high_rise": "M-4 6V-6H4V6H1V3H-1V6ZM-2.5 -4.5V-3H-.7V-4.5ZM.7 -4.5V-3H2.5V-4.5ZM-2.5 -1.5V0H-.7V-1.5Z"
    "M.7 -1.5V0H2.5V-1.5Z",
    "power_plant": "M-6 6V-.5L-2.5 -3.5V-.5L1 -3.5V-.5H2.5L3 -6H5L6 6Z",
    "hospital": "M-2 -6H2V-2H6V2H2V6H-2V2H-6V-2H-2Z",
    "infantry": "M-2.4 -3.8a2.4 2.4 0 1 0 4.8 0a2.4 2.4 0 1 0 -4.8 0ZM-4.5 6V3C-4.5 -1 4.5 -1 4.5 3V6Z",
    "jet": "M0 -6.5L1.4 -2L6.5 2.5V4L1.4 2.5V4.5L3 6H-3L-1.4 4.5V2.5L-6.5 4V2.5L-1.4 -2Z",
    "tank": "M-5 5C-7 5 -7 1.5 -5 1.5H-3.5V-1.5L-2 -3H2L2.5 -2H7V-.8H3V1.5H5C7 1.5 7 5 5 5Z",
}


@lru_cache(maxsize=4096)
def icon(name: str, x: float, y: float, size: float, css: str) -> str:
    """The sign with its middle at (x, y), `size` high."""
    scale = f"translate({number(x)} {number(y)})" + (f" scale({number(size / 12)})" if size != 12 else "")
    return f'<path d="{PATHS[name]}" transform="{scale}" fill-rule="evenodd" class="{css}"/>'


@lru_cache(maxsize=256)
def monster(x: float, y: float, seat: int, radius: float = 10) -> str:
    """A head with horns and the number of its seat."""
    fill, r = SEAT_FILLS[seat], radius
    horns = "".join(
        "M"
        + "L".join(f"{number(side * x * r)} {number(y * r)}" for x, y in ((0.9, -0.2), (0.95, -1.3), (0.2, -0.8)))
        + "Z"
        for side in (-1, 1)
    )
    head = path(horns, f"f-{fill} piece") + circle(0, 0, radius, f"f-{fill} piece")
    return moved(x, y, head + text(0, 4, str(seat), size=11.5, css=f"on-{fill} b m"))
