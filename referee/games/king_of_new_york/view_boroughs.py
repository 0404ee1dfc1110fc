"""The drawn boroughs: stacks, Units, monsters, and the spaces of Manhattan."""

from collections.abc import Iterator
from functools import lru_cache

from referee.games.drawing.parts import WIDTH, circle, rect, text
from referee.games.drawing.spots import Spots
from referee.games.king_of_new_york.names import (
    BOROUGHS,
    MANHATTAN,
    NO_TILE,
    STACKS_PER_BOROUGH,
    UNIT_KINDS,
    UNITS,
    ZONE_COUNT,
    ZONES,
)
from referee.games.king_of_new_york.observation import Observation
from referee.games.king_of_new_york.view_icons import BUILDING_FILLS, icon, monster

MAP_HEIGHT = 326
_WIDE, _HIGH, _TALL = 193, 100, 206
_BOXES = ((4, 4), (203, 220), (203, 112), (203, 4), (4, 220))
"""Top left corners by borough: Manhattan with Staten Island below it, the others on the right from north to south."""
_TILE_W, _TILE_H, _PITCH = 43, 46, 47
_TRACK_2_4, _TRACK_5_6 = 96, 146


def borough_parts(o: Observation, spots: Spots) -> Iterator[str]:
    """The map from (0, 0), `MAP_HEIGHT` high."""
    yield rect(0, 0, WIDTH, MAP_HEIGHT, "water")
    for borough in range(len(BOROUGHS)):
        yield _borough(o, borough, spots)


def title(name: str) -> str:
    return name.replace("_", " ").title()


def _borough(o: Observation, borough: int, spots: Spots) -> str:
    x, y = _BOXES[borough]
    name = BOROUGHS[borough]
    high = _TALL if borough == MANHATTAN else _HIGH
    parts = [rect(x, y, _WIDE, high, "land edge", radius=8), text(x + 8, y + 14, title(name), size=11.5, css="ink b")]
    if o.board.souvenirs >> borough & 1:
        parts.append(text(x + _WIDE - 8, y + 14, "Souvenir", size=10, css="ink e"))
    for place in range(STACKS_PER_BOROUGH):
        parts.append(_stack(o, borough * STACKS_PER_BOROUGH + place, x + 8 + _PITCH * place, y + 24, spots))
    for unit in range(UNIT_KINDS):
        parts.append(_units(o, borough, unit, x + 8 + _PITCH * unit, y + 76, spots))
    if borough == MANHATTAN:
        parts += _zones(o, x, y + 100)
    else:
        there = [seat for seat in range(o.setting.players) if o.seats.where[seat] == borough]
        for place, seat in enumerate(there):
            parts.append(monster(x + _WIDE - 23 + 13 * (place // 3), y + 36 + 27 * (place % 3), seat))
    halo = rect(x, y, _WIDE, high, "halo", radius=8)
    return spots.spot(f"borough:{name}", title(name), "".join(parts), halo)


def _stack(o: Observation, stack: int, x: float, y: float, spots: Spots) -> str:
    kind, below = o.board.tops[stack], o.board.covered[stack]
    halo = rect(x - 2, y - 2, _TILE_W + 4, _TILE_H + 4, "halo", radius=4)
    if kind == NO_TILE:
        content = rect(x, y, _TILE_W, _TILE_H, "hole edge dash", radius=3)
        return spots.spot(f"stack:{stack}", f"stack {stack}: used up", content, halo)
    at, setting = kind - 1, o.setting
    name, needed = setting.tile_names[at], setting.tile_durability[at]
    rewards = tuple(
        (what, amount)
        for what, amount in (
            ("vp", setting.tile_vp[at]),
            ("energy", setting.tile_energy[at]),
            ("life", setting.tile_life[at]),
        )
        if amount
    )
    building = name.rstrip("0123456789").rstrip("_")
    told = ", ".join(f"{amount} {what}" for what, amount in rewards) or "nothing"
    tooltip = f"stack {stack}: {title(building)}, {needed} destruction, gives {told}, {below} tiles below"
    return spots.spot(f"stack:{stack}", tooltip, _tile(building, needed, rewards, below, x, y), halo)


@lru_cache(maxsize=4096)
def _tile(building: str, needed: int, rewards: tuple[tuple[str, int], ...], below: int, x: float, y: float) -> str:
    fill = BUILDING_FILLS.get(building, "gray")
    parts = [
        rect(x + 2 * step, y - 2 * step, _TILE_W, _TILE_H, "f-road edge", radius=3) for step in range(below, 0, -1)
    ]
    parts.append(rect(x, y, _TILE_W, _TILE_H, f"f-{fill} piece", radius=3))
    if building in BUILDING_FILLS:
        parts.append(icon(building, x + 28, y + 15, 19, "f-black"))
    else:
        parts.append(text(x + 28, y + 19, building[:2].title(), size=12, css=f"on-{fill} b m"))
    parts += [
        circle(x + 10, y + 11, 7.5, "f-white piece"),
        text(x + 10, y + 15, str(needed), size=11, css="on-white b m"),
    ]
    for place, (what, amount) in enumerate(rewards):
        left = x + 4 + 20 * place
        parts.append(text(left, y + 41, f"{amount}", size=12, css=f"on-{fill} b"))
        parts.append(icon(what, left + 13, y + 37, 10, "f-black"))
    if below:
        parts.append(text(x + _TILE_W - 3, y + 41, f"+{below}", size=10, css=f"on-{fill} e"))
    return "".join(parts)


def _units(o: Observation, borough: int, unit: int, x: float, y: float, spots: Spots) -> str:
    place = borough * UNIT_KINDS + unit
    count, fresh = o.board.units[place], o.board.fresh[place]
    if not count:
        return ""
    setting, name = o.setting, UNITS[unit]
    gives = ", ".join(
        f"{amount} {what}"
        for what, amount in (
            ("vp", setting.unit_vp[unit]),
            ("energy", setting.unit_energy[unit]),
            ("life", setting.unit_life[unit]),
        )
        if amount
    )
    new = f", {fresh} of them new" if fresh else ""
    tooltip = f"{count} {name}{new}, {setting.unit_durability[unit]} destruction each, gives {gives or 'nothing'}"
    content = rect(x, y, _TILE_W, 18, "f-white edge", radius=3) + icon(name, x + 11, y + 9, 13, "f-black")
    shown = f"{count}*" if fresh else str(count)
    content += text(x + 21, y + 13.5, shown, size=11.5, css="on-white b")
    return spots.spot(
        f"unit:{BOROUGHS[borough]}-{name}", tooltip, content, rect(x - 1, y - 1, 45, 20, "halo", radius=4)
    )


def _zones(o: Observation, x: float, y: float) -> Iterator[str]:
    """Upper Manhattan on top."""
    two = o.setting.players > 4
    for row, zone in enumerate(reversed(range(ZONE_COUNT))):
        top = y + 34 * row
        yield rect(x + 8, top, _WIDE - 16, 31, "panel edge", radius=4)
        yield text(x + 15, top + 19.5, ZONES[zone].title(), size=10.5, css="ink")
        tracks = ((zone, _TRACK_2_4), (zone + ZONE_COUNT, _TRACK_5_6)) if two else ((zone, _TRACK_2_4 + 25),)
        for berth, right in tracks:
            here = [seat for seat in range(o.setting.players) if _is_at(o, seat, berth)]
            yield circle(x + right, top + 16, 11.5, "hole edge dash")
            if two and not here:
                yield text(x + right, top + 19.5, "5-6" if berth >= ZONE_COUNT else "2-4", size=10, css="soft m")
            for seat in here:
                yield monster(x + right, top + 17, seat)


def _is_at(o: Observation, seat: int, berth: int) -> bool:
    return o.seats.where[seat] == MANHATTAN and o.seats.berth[seat] == berth
