"""The box data, street tiles and layouts: the shipped files, and the check of data that replace them."""

import json
from functools import cache
from importlib.resources import files
from typing import Any

from referee.games.api import DataError
from referee.games.api.checks import check_integer, check_keys, check_list, check_table, check_word
from referee.games.shibuya.actions import MAX_GOALS, PEDESTRIANS
from referee.games.shibuya.bitboard import SIDE

LOOKS = ("ko", "kq", "wo", "wq")
"""The four kinds of field, as the data writes them: k black, w white; o round, q square."""
STREET_TILES = 30
SIDES = ("S", "W", "N", "E")
TEAMS = ("red", "blue")
LAYOUT_PLAYERS = {"2p": 2, "4pB": 4, "4pA": 4}
_TILE_CORNERS = 4


def default_data() -> dict[str, Any]:
    """The data shipped with the game, a fresh copy."""
    return {"tile_sets": json.loads(_shipped("tiles.json")), "layouts": json.loads(_shipped("layouts.json"))}


@cache
def _shipped(name: str) -> str:
    return (files(__package__) / name).read_text("utf-8")


def check_data(data: Any) -> None:
    """Raises DataError, naming the place and what was expected there, if `data` is not box data."""
    box = check_table(data, "data")
    check_keys(box, "data", ("tile_sets", "layouts"))
    sets = check_table(box.get("tile_sets"), "tile_sets")
    if not sets:
        raise DataError("tile_sets: expected at least one tile set")
    for name, tile_set in sets.items():
        _check_tile_set(tile_set, f"tile_sets.{name}")
    layouts = check_table(box.get("layouts"), "layouts")
    if not layouts:
        raise DataError("layouts: expected at least one of " + ", ".join(LAYOUT_PLAYERS))
    for name, layout in layouts.items():
        if name not in LAYOUT_PLAYERS:
            raise DataError(f"layouts.{name}: unknown layout, expected one of {', '.join(LAYOUT_PLAYERS)}")
        _check_layout(layout, f"layouts.{name}", LAYOUT_PLAYERS[name])


def tile_key(fields: tuple[str, ...]) -> tuple[str, ...]:
    """The same for every rotation of a tile."""
    return min(fields[i:] + fields[:i] for i in range(_TILE_CORNERS))


def _check_tile_set(tile_set: Any, at: str) -> None:
    table = check_table(tile_set, at)
    check_keys(table, at, ("title", "confidence", "tiles"))
    total = 0
    seen: dict[tuple[str, ...], int] = {}
    for number, entry in enumerate(check_list(table.get("tiles"), f"{at}.tiles")):
        here = f"{at}.tiles[{number}]"
        tile = check_table(entry, here)
        check_keys(tile, here, ("fields", "count"))
        fields = check_list(tile.get("fields"), f"{here}.fields")
        if len(fields) != _TILE_CORNERS:
            raise DataError(f"{here}.fields: expected {_TILE_CORNERS} fields, not {len(fields)}")
        for place, look in enumerate(fields):
            if look not in LOOKS:
                raise DataError(f"{here}.fields[{place}]: expected one of {', '.join(LOOKS)}, not {look!r}")
        key = tile_key(tuple(fields))
        if key in seen:
            raise DataError(f"{here}: the same tile as tiles[{seen[key]}], turned; raise its count instead")
        seen[key] = number
        total += check_integer(tile.get("count"), f"{here}.count", 1, STREET_TILES)
    if total != STREET_TILES:
        raise DataError(f"{at}.tiles: the counts add up to {total}, expected {STREET_TILES}")


def _check_layout(layout: Any, at: str, players: int) -> None:
    table = check_table(layout, at)
    check_keys(table, at, ("title", "confidence", "strips"))
    starts = [0] * players
    goals = dict.fromkeys(TEAMS, 0)
    used: dict[tuple[str, int], str] = {}
    goal_fronts: dict[tuple[str, tuple[int, int]], str] = {}
    for number, entry in enumerate(check_list(table.get("strips"), f"{at}.strips")):
        here = f"{at}.strips[{number}]"
        strip = check_table(entry, here)
        side = check_word(strip.get("side"), f"{here}.side", SIDES)
        first = check_integer(strip.get("first"), f"{here}.first", 0, SIDE - 1)
        last = check_integer(strip.get("last"), f"{here}.last", first, SIDE - 1)
        for place in range(first, last + 1):
            if (side, place) in used:
                raise DataError(f"{here}: place {place} of side {side} is taken by {used[side, place]}")
            used[side, place] = f"strips[{number}]"
        length = last - first + 1
        if check_word(strip.get("holds"), f"{here}.holds", ("start", "goal")) == "start":
            check_keys(strip, here, ("side", "first", "last", "holds", "seat"))
            starts[check_integer(strip.get("seat"), f"{here}.seat", 0, players - 1)] += length
            continue
        check_keys(strip, here, ("side", "first", "last", "holds", "team"))
        team = check_word(strip.get("team"), f"{here}.team", TEAMS)
        goals[team] += length
        for place in range(first, last + 1):
            front = front_of(side, place)
            other = goal_fronts.setdefault((team, front), here)
            if other != here:
                raise DataError(f"{here}: {team} has another goal before field {front}, in {other}")
    for seat, count in enumerate(starts):
        if count != 2 * PEDESTRIANS // players:
            raise DataError(f"{at}: seat {seat} has {count} starts, expected {2 * PEDESTRIANS // players}")
    for team, count in goals.items():
        if not 1 <= count <= MAX_GOALS:
            raise DataError(f"{at}: {team} has {count} goal fields, expected 1 to {MAX_GOALS}")


def front_of(side: str, place: int) -> tuple[int, int]:
    """The field (x, y) before place 0 to 7 of a side; places count with x or y."""
    return {"S": (place, 0), "N": (place, SIDE - 1), "W": (0, place), "E": (SIDE - 1, place)}[side]
