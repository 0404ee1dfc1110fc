"""The drawn crossing: tiles, pedestrians, starts and goal fields."""

from collections.abc import Iterator
from functools import lru_cache

from referee.games.drawing.parts import circle, polygon, rect, text
from referee.games.drawing.spots import Spots
from referee.games.shibuya.board import SIDE, SLOTS, SLOTS_PER_SIDE
from referee.games.shibuya.box import LOOKS, TEAMS
from referee.games.shibuya.observation import Observation

GRID_HEIGHT = 400
TEAM_FILLS = ("red", "blue")
TEAM_LETTERS = ("R", "B")
LOOK_WORDS = ("empty", "black round", "black square", "white round", "white square")
CORNERS = 4
_LEFT, _TOP = 42, 33
_FIELD, _SLOT = 39, 81
"""Distances of fields and of slots."""
_STRIP = 16
"""From the edge of the grid to the middle of what lies beside it."""
_FAR = 2 * _FIELD + (SLOTS_PER_SIDE - 1) * _SLOT


def grid_parts(seen: Observation, spots: Spots) -> Iterator[str]:
    """The grid with all that lies around it, from (0, 0), `GRID_HEIGHT` high."""
    for place in range(SIDE):
        x, y = _middle(place, place)
        yield text(x, _TOP + _FAR + 2 * _STRIP + 11, str(place), size=10, css="soft m")
        yield text(3, y + 3.5, str(place), size=10, css="soft")
    standing = {field: team for team, fields in enumerate(seen.fields) for field in fields}
    for slot in range(SLOTS):
        yield _slot(seen, slot, standing, spots)
    yield from _borders(seen, spots)


def _slot(seen: Observation, slot: int, standing: dict[int, int], spots: Spots) -> str:
    column, row = slot % SLOTS_PER_SIDE, slot // SLOTS_PER_SIDE
    x, y = _LEFT + _SLOT * column, _TOP + _SLOT * (SLOTS_PER_SIDE - 1 - row)
    doubled = bool(seen.covered[slot])
    layers = "empty" if not seen.tops[slot] else "two tiles, no third" if doubled else "one tile"
    content = ""
    if seen.tops[slot]:
        first = 2 * column + SIDE * 2 * row
        fields = (first + SIDE, first + SIDE + 1, first + 1, first)
        content = rect(x, y, 78, 78, f"f-road {'rim2' if doubled else 'edge'}", radius=6)
        for field in fields:
            content += _field(field, seen.looks[field], standing.get(field), spots)
        if doubled:
            content += circle(x + 39, y + 39, 7, "f-yellow piece") + text(x + 39, y + 42.8, "2", css="on-yellow b m")
    else:
        content = rect(x, y, 78, 78, "panel edge dash", radius=6)
        content += text(x + 39, y + 43, f"{column}, {row}", size=11, css="soft m")
    return spots.spot(f"slot:{slot}", f"slot ({column}, {row}): {layers}", content, _frame(x, y, 78))


def _frame(x: float, y: float, side: float) -> str:
    return rect(x - 1, y - 1, side + 2, side + 2, "halo", radius=6)


def _middle(x: int, y: int) -> tuple[float, float]:
    """The middle of field (x, y)."""
    return (
        _LEFT + _SLOT * (x // 2) + _FIELD * (x % 2) + _FIELD / 2,
        _TOP + _FAR - (_SLOT * (y // 2) + _FIELD * (y % 2) + _FIELD / 2),
    )


def _field(field: int, look: int, team: int | None, spots: Spots) -> str:
    title, content, halo = _drawn_field(field, look, team)
    return spots.spot(f"field:{field}", title, content, halo)


@lru_cache(maxsize=2048)
def _drawn_field(field: int, look: int, team: int | None) -> tuple[str, str, str]:
    x, y = _middle(field % SIDE, field // SIDE)
    title = f"field ({field % SIDE}, {field // SIDE}), {LOOK_WORDS[look]}"
    content = ground(x, y, look, 17)
    if team is not None:
        content += pedestrian(x, y, team, TEAM_LETTERS[team])
        title += f", {TEAMS[team]} pedestrian"
    return title, content, rect(x - 18, y - 18, 36, 36, "halo", radius=5)


def ground(x: float, y: float, look: int, half: float) -> str:
    """A field by its look: black or white, round or square, `half` its half width."""
    fill = "f-black" if look <= LOOKS.index("kq") + 1 else "f-white"
    if look % 2:
        return circle(x, y, half, fill)
    return rect(x - half, y - half, 2 * half, 2 * half, fill)


def pedestrian(x: float, y: float, team: int, sign: str) -> str:
    """Red ones are round, blue ones stand on a corner."""
    fill = TEAM_FILLS[team]
    if team:
        corners = [((0, -r), (r, 0), (0, r), (-r, 0)) for r in (15, 13)]
        white, body = ([(x + dx, y + dy) for dx, dy in shape] for shape in corners)
        shape = polygon(white, "f-white") + polygon(body, f"f-{fill} piece")
    else:
        shape = circle(x, y, 12.5, "f-white") + circle(x, y, 11, f"f-{fill} piece")
    return shape + text(x, y + 4, sign, size=11.5, css=f"on-{fill} b m")


def _borders(seen: Observation, spots: Spots) -> Iterator[str]:
    for team, setting in enumerate(seen.setting.teams):
        letter = TEAM_LETTERS[team]
        for start, (front, side) in enumerate(zip(setting.start_fronts, setting.start_sides, strict=True)):
            x, y = _beside(front, side)
            waits = start in seen.waiting[team]
            content = (
                pedestrian(x, y, team, str(start)) if waits else circle(x, y, 4, f"hole s-{TEAM_FILLS[team]} thick")
            )
            title = (
                f"{TEAMS[team]} start {start} of seat {setting.start_seats[start]}, {'waiting' if waits else 'gone'}"
            )
            yield spots.spot(f"start:{letter}{start}", title, content, circle(x, y, 15, "halo"))
        for goal, (front, side) in enumerate(zip(setting.goal_fronts, setting.goal_sides, strict=True)):
            x, y = _beside(front, side)
            inside = seen.goals[team][goal]
            title = f"{TEAMS[team]} goal field {goal}, {inside} pedestrians in it"
            yield spots.spot(f"goal:{letter}{goal}", title, _goal(x, y, team, inside), _frame(x - 14, y - 14, 28))


def _goal(x: float, y: float, team: int, inside: int) -> str:
    fill = TEAM_FILLS[team]
    content = rect(x - 15, y - 15, 30, 30, f"panel s-{fill} thick", radius=4)
    if inside:
        return content + pedestrian(x, y, team, str(inside) if inside > 1 else TEAM_LETTERS[team])
    return content + text(x, y + 4, TEAM_LETTERS[team].lower(), size=12, css="ink b m")


def _beside(front: int, side: str) -> tuple[float, float]:
    """The place outside the grid, on `side`, before field `front`."""
    x, y = _middle(front % SIDE, front // SIDE)
    match side:
        case "S":
            return x, _TOP + _FAR + _STRIP
        case "N":
            return x, _TOP - _STRIP
        case "W":
            return _LEFT - _STRIP - 1, y
    return _LEFT + _FAR + _STRIP, y
