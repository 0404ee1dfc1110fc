"""The board as SVG: a headline, the crossing, the teams, the drawn tile and the stock."""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

from referee.games.api import Action
from referee.games.drawing.look import Look
from referee.games.drawing.parts import WIDTH, circle, moved, picture, polygon, rect, text
from referee.games.drawing.spots import Spots, spots_of
from referee.games.drawing.text import seat_name
from referee.games.shibuya.actions import OFF_GRID, Build, Move, Place
from referee.games.shibuya.bitboard import SIDE, SLOTS, SLOTS_PER_SIDE
from referee.games.shibuya.data import LOOKS, TEAMS
from referee.games.shibuya.events import BuildChosen, Moved, TileDrawn, TilePlaced
from referee.games.shibuya.observation import Observation

_HEAD, _TEAM_LINE = 30, 30
_STOCK_ACROSS, _STOCK_PITCH, _STOCK_TILE = 15, 26, 22
_DRAWN_HEIGHT, _STOCK_HEIGHT = 66, 76
SEAT_NAMES = {2: ("red", "blue"), 4: ("red S", "blue W", "red N", "blue E")}


def draw(observation: Observation, look: Look, revealed: Sequence[Any] = ()) -> str:
    """See `Drawing.draw`. All viewers see the same, so `revealed` adds nothing."""
    seen = observation
    spots = spots_of((action_places(seen, action) for action in look.legal), look)
    teams = _HEAD + GRID_HEIGHT
    drawn = teams + 2 * _TEAM_LINE + 4
    stock = drawn + _DRAWN_HEIGHT
    headline = _headline(seen, look)
    return picture(
        WIDTH,
        stock + _STOCK_HEIGHT,
        title=f"Shibuya. {headline}",
        description=_description(seen),
        look=look,
        spots=spots,
        content=[
            _turn_sign(seen),
            text(38, 19, headline, size=11.5, css="ink b", width=WIDTH - 40),
            moved(0, _HEAD, "".join(grid_parts(seen, spots))),
            *(moved(0, teams + _TEAM_LINE * team, _team(seen, team, look)) for team in range(2)),
            moved(0, drawn, "".join(_drawn_tile(seen, spots))),
            moved(0, stock, _stock(seen, spots)),
        ],
    )


def _turn_sign(seen: Observation) -> str:
    if seen.phase != "over":
        return moved(18, 15, pedestrian(0, 0, seen.seat % 2, str(seen.seat)))
    return "" if seen.winner < 0 else moved(18, 15, pedestrian(0, 0, seen.winner, TEAM_LETTERS[seen.winner]))


def _headline(seen: Observation, look: Look) -> str:
    if seen.phase == "over":
        winner = "a draw" if seen.winner < 0 else f"{TEAMS[seen.winner]} wins"
        return f"The match is over: {winner} ({seen.reason.replace('_', ' ')})"
    who = f"{seat_name(look, seen.seat)} ({SEAT_NAMES[seen.setting.players][seen.seat]})"
    what = {
        "draw_place": "draws a tile",
        "place": "places the tile drawn",
        "turn": f"moves or builds, turn {seen.turns + 1}",
        "draw_build": f"builds and draws a tile, turn {seen.turns + 1}",
        "build": f"builds, turn {seen.turns + 1}",
    }[seen.phase]
    return f"{who} {what}"


def _team(seen: Observation, team: int, look: Look) -> str:
    """One line, `_TEAM_LINE` high."""
    setting = seen.setting
    seats = range(team, setting.players, 2)
    names = [f"{seat} {seat_name(look, seat, SEAT_NAMES[setting.players][seat])}" for seat in seats]
    shown = "".join(
        text(36 + 142 / len(names) * place, 18, name, size=12, css="ink b", width=142 / len(names) - 6)
        for place, name in enumerate(names)
    )
    goals = sum(seen.goals[team])
    counts = f"{len(seen.waiting[team])} waiting, {len(seen.fields[team])} crossing"
    left = " (left)" if seen.withdrawn >= 0 and seen.withdrawn % 2 == team else ""
    return (
        rect(4, 0, WIDTH - 8, 27, "panel", radius=5)
        + pedestrian(20, 13.5, team, TEAM_LETTERS[team])
        + shown
        + text(180, 18, counts, size=10, css="ink")
        + text(WIDTH - 10, 18, f"{goals} of {setting.goals_to_win} in goal{left}", size=12, css="ink b e")
    )


def _drawn_tile(seen: Observation, spots: Spots) -> Iterator[str]:
    """The tile to be placed in its four turns."""
    rules = f"{seen.setting.goals_to_win} in goal win"
    if seen.setting.lead_to_win:
        rules += f", a lead of {seen.setting.lead_to_win} too"
    if seen.drawn < 0:
        yield text(8, 16, "No tile is drawn.", size=10.5, css="soft")
        yield text(8, 32, f"{rules}. Passes in a row: {seen.passes}.", size=10.5, css="soft")
        yield text(8, 48, "Frames: goals. Rings: starts that are left. Yellow 2: two tiles.", size=10.5, css="soft")
        return
    yield text(8, 16, f"Tile {seen.drawn}", size=12, css="ink b")
    yield text(8, 32, "in its turns", size=10.5, css="soft")
    looks = _looks_of(seen, seen.drawn)
    turns: list[tuple[int, ...]] = []
    for turn in range(CORNERS):
        turned = looks[CORNERS - turn :] + looks[: CORNERS - turn]
        if turned in turns:
            break
        turns.append(turned)
        x = 90 + 76 * turn
        content = moved(x, 2, _tile(turned, 44)) + text(x + 50, 29, f"{90 * turn}\u00b0", size=10, css="soft")
        title = f"turned {90 * turn} degrees clockwise: {', '.join(LOOK_WORDS[look] for look in turned)}"
        yield spots.spot(f"turn:{turn}", title, content, rect(x - 2, 0, 48, 48, "halo", radius=6))


def _looks_of(seen: Observation, kind: int) -> tuple[int, ...]:
    return seen.setting.tile_looks[CORNERS * kind : CORNERS * (kind + 1)]


@lru_cache(maxsize=1024)
def _tile(looks: tuple[int, ...], side: float) -> str:
    """A tile from (0, 0), its looks clockwise from the top left corner."""
    quarter, half = side / 4, side / 4 - side / 22
    places = ((1, 1), (3, 1), (3, 3), (1, 3))
    fields = "".join(ground(x * quarter, y * quarter, look, half) for (x, y), look in zip(places, looks, strict=True))
    return rect(0, 0, side, side, "f-road edge", radius=side / 10) + fields


def _stock(seen: Observation, spots: Spots) -> str:
    """Every tile that can still be drawn; what is left at most needs two rows with the sets shipped."""
    tiles = [kind for kind, left in enumerate(seen.stock) for _ in range(left)]
    parts = [text(8, 12, f"Stock: {len(tiles)} tiles, in no order", size=10.5, css="soft")]
    for place, kind in enumerate(tiles):
        x, y = 6 + _STOCK_PITCH * (place % _STOCK_ACROSS), 20 + _STOCK_PITCH * (place // _STOCK_ACROSS)
        parts.append(moved(x, y, _tile(_looks_of(seen, kind), _STOCK_TILE)))
    halo = rect(2, 1, WIDTH - 4, _STOCK_HEIGHT - 3, "halo", radius=6)
    return spots.spot("stock", f"the stock, {len(tiles)} tiles", "".join(parts), halo)


def _description(seen: Observation) -> str:
    lines = []
    for team, name in enumerate(TEAMS):
        on = ", ".join(f"({field % 8}, {field // 8})" for field in seen.fields[team]) or "none"
        waits = " ".join(map(str, seen.waiting[team])) or "none"
        lines.append(f"{name}: {sum(seen.goals[team])} in goal, on the fields {on}, waiting at the starts {waits}.")
    return " ".join(lines)


def action_places(observation: Observation, action: Action) -> tuple[str, ...]:
    """See `Drawing.action_places`."""
    match action:
        case Move(source, target):
            return _walk(observation.seat, source, target)
        case Place(slot, turn):
            return (f"slot:{slot}", f"turn:{turn}")
        case Build():
            return ("stock",)
    return ()


def event_places(payload: Any) -> tuple[str, ...]:
    """See `Drawing.event_places`."""
    match payload:
        case Moved(seat, source, target):
            return _walk(seat, source, target)
        case TilePlaced():
            return (f"slot:{payload.slot}",)
        case TileDrawn():
            return ("turn:0",)
        case BuildChosen():
            return ("stock",)
    return ()


def _walk(seat: int, source: int, target: int) -> tuple[str, str]:
    letter = TEAM_LETTERS[seat % 2]
    begin = f"start:{letter}{source - OFF_GRID}" if source >= OFF_GRID else f"field:{source}"
    end = f"goal:{letter}{target - OFF_GRID}" if target >= OFF_GRID else f"field:{target}"
    return begin, end


# The crossing

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


def seat_sign(seat: int, players: int) -> str:
    """The piece of a seat's team; see `Drawing`."""
    return pedestrian(0, 0, seat % 2, TEAM_LETTERS[seat % 2])


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


def drawn_tile(looks: tuple[int, ...], side: float) -> str:
    """One tile from (0, 0), its looks clockwise from the top left corner."""
    return _tile(looks, side)
