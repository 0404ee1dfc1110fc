"""The box data, city tiles, start layouts and vehicles: the shipped files, and the check of data that replace them."""

import json
from functools import cache
from importlib.resources import files
from typing import Any

from referee.games.api import DataError
from referee.games.api.checks import check_integer, check_keys, check_table, shown

COLOURS = "bgrt"
"""Side colours, a colour's number being its place: b water, g park, r red and t beige blocks. From `STREET` on they
carry half a street."""
STREET = 2
PLAYER_COUNTS = (2, 3, 4)
START_HAND = 2
MIN_TILES = START_HAND * PLAYER_COUNTS[-1] + 1
MAX_TILES = 120
SCENARIOS = ("times_square", "central_park")
_SIDES = 4
_FAR = 20
_MAX_VEHICLES = 20


def default_data() -> dict[str, Any]:
    """The data shipped with the game, a fresh copy."""
    return {
        "tile_sets": json.loads(_shipped("tiles.json")),
        "layouts": json.loads(_shipped("layouts.json")),
        "vehicles": json.loads(_shipped("vehicles.json")),
    }


@cache
def _shipped(name: str) -> str:
    return (files(__package__) / name).read_text("utf-8")


def turned(face: str) -> tuple[str, ...]:
    """The four rotations of a face, equal-looking ones repeated; the first is the face itself."""
    return tuple(face[i:] + face[:i] for i in range(_SIDES))


def check_data(data: Any) -> None:
    """Raises DataError, naming the place and what was expected there, if `data` is not box data."""
    box = check_table(data, "data")
    check_keys(box, "data", ("tile_sets", "layouts", "vehicles"))
    sets = check_table(box.get("tile_sets"), "tile_sets")
    if not sets:
        raise DataError("tile_sets: expected at least one tile set")
    for name, tile_set in sets.items():
        _check_tile_set(tile_set, f"tile_sets.{name}")
    layouts = check_table(box.get("layouts"), "layouts")
    check_keys(layouts, "layouts", SCENARIOS)
    if not layouts:
        raise DataError("layouts: expected at least one of " + ", ".join(SCENARIOS))
    for scenario, shapes in layouts.items():
        for name, layout in check_table(shapes, f"layouts.{scenario}").items():
            _check_layout(layout, f"layouts.{scenario}.{name}")
    vehicles = check_table(box.get("vehicles"), "vehicles")
    check_keys(vehicles, "vehicles", tuple(str(count) for count in PLAYER_COUNTS))
    for count in PLAYER_COUNTS:
        at = f"vehicles.{count}"
        supply = check_table(vehicles.get(str(count)), at)
        check_keys(supply, at, ("taxi", "truck"))
        taxis = check_integer(supply.get("taxi"), f"{at}.taxi", 0, _MAX_VEHICLES)
        trucks = check_integer(supply.get("truck"), f"{at}.truck", 0, _MAX_VEHICLES)
        if not taxis + trucks:
            raise DataError(f"{at}: expected at least one vehicle")


def _check_tile_set(tile_set: Any, at: str) -> None:
    table = check_table(tile_set, at)
    check_keys(table, at, ("title", "confidence", "tiles"))
    total = 0
    for face, count in check_table(table.get("tiles"), f"{at}.tiles").items():
        _check_face(face, f"{at}.tiles")
        total += check_integer(count, f"{at}.tiles.{face}", 1, MAX_TILES)
    if not MIN_TILES <= total <= MAX_TILES:
        raise DataError(f"{at}.tiles: the counts add up to {total}, expected {MIN_TILES} to {MAX_TILES}")


def _check_layout(layout: Any, at: str) -> None:
    faces: dict[tuple[int, int], str] = {}
    if not isinstance(layout, list) or not layout:
        raise DataError(f"{at}: expected a list of tiles, not {shown(layout)}")
    if len(layout) > MAX_TILES:
        raise DataError(f"{at}: expected at most {MAX_TILES} tiles, not {len(layout)}")
    for number, entry in enumerate(layout):
        here = f"{at}[{number}]"
        tile = check_table(entry, here)
        check_keys(tile, here, ("x", "y", "face"))
        x = check_integer(tile.get("x"), f"{here}.x", -_FAR, _FAR)
        y = check_integer(tile.get("y"), f"{here}.y", -_FAR, _FAR)
        _check_face(tile.get("face"), f"{here}.face")
        if (x, y) in faces:
            raise DataError(f"{here}: cell ({x}, {y}) holds a tile already")
        faces[x, y] = tile["face"]
    for (x, y), face in faces.items():
        for side, (dx, dy) in enumerate(((0, 1), (1, 0))):
            other = faces.get((x + dx, y + dy))
            if other is not None and other[side + 2] != face[side]:
                raise DataError(
                    f"{at}: the tiles at ({x}, {y}) and ({x + dx}, {y + dy}) touch with "
                    f"'{face[side]}' and '{other[side + 2]}', expected the same colour"
                )
    first = next(iter(faces))
    joined, todo = {first}, [first]
    while todo:
        x, y = todo.pop()
        beside = [cell for cell in ((x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1)) if cell in faces]
        todo += [cell for cell in beside if cell not in joined]
        joined.update(beside)
    if len(joined) != len(faces):
        raise DataError(f"{at}: expected one connected map; ({', '.join(map(str, first))}) does not reach all tiles")


def _check_face(face: Any, at: str) -> None:
    if not isinstance(face, str) or len(face) != _SIDES or any(side not in COLOURS for side in face):
        raise DataError(
            f"{at}: expected four side colours from north, clockwise, each of {', '.join(COLOURS)}, not {shown(face)}"
        )
