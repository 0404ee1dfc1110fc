"""The shipped data, and what a replacement must look like."""

from collections import Counter
from typing import Any

import pytest

from referee.games.api import DataError, OptionError
from referee.games.manhattan_traffiq import GAME

from .positions import options

DATA = GAME.default_data()
SETS = {
    "C": {"r": 62, "t": 62, "g": 32, "b": 20},
    "A": {"r": 73, "t": 73, "g": 16, "b": 14},
    "B": {"r": 56, "t": 56, "g": 32, "b": 32},
}


def name_of(face: str) -> str:
    return min(face[i:] + face[:i] for i in range(4))


def names(tile_set: str) -> Counter[str]:
    counts: Counter[str] = Counter()
    for face, count in DATA["tile_sets"][tile_set]["tiles"].items():
        counts[name_of(face)] += count
    return counts


@pytest.mark.parametrize("tile_set", SETS)
def test_every_tile_set_has_44_tiles_with_the_side_totals_of_the_readme(tile_set: str) -> None:
    counts = names(tile_set)
    assert counts.total() == 44
    sides = Counter(side for name, count in counts.items() for side in name * count)
    assert sides == SETS[tile_set]


@pytest.mark.parametrize("tile_set", SETS)
def test_every_tile_set_is_symmetric_under_red_and_beige_and_under_mirroring(tile_set: str) -> None:
    counts = names(tile_set)
    swapped = {name_of(name.translate(str.maketrans("rt", "tr"))): count for name, count in counts.items()}
    mirrored = {name_of(name[::-1]): count for name, count in counts.items()}
    assert swapped == counts == mirrored


@pytest.mark.parametrize(("tile_set", "blocks", "park", "water"), [("C", 14, 18, 12), ("A", 22, 12, 10)])
def test_tile_sets_c_and_a_have_the_documented_composition(tile_set: str, blocks: int, park: int, water: int) -> None:
    counts = names(tile_set)
    assert sum(count for name, count in counts.items() if set(name) <= set("rt")) == blocks
    assert sum(count for name, count in counts.items() if "g" in name) == park
    assert sum(count for name, count in counts.items() if "b" in name) == water


def test_tile_set_c_has_every_park_tile_once() -> None:
    every = {name_of(a + b + c + d) for a in "rtg" for b in "rtg" for c in "rtg" for d in "rtg" if "g" in a + b + c + d}
    assert {name: count for name, count in names("C").items() if "g" in name} == dict.fromkeys(every, 1)


def test_tile_set_b_has_every_tile_that_does_not_mix_park_and_water_and_two_more() -> None:
    colours = "rtgb"
    every = {name_of(a + b + c + d) for a in colours for b in colours for c in colours for d in colours}
    unmixed = {name for name in every if not set("gb") <= set(name)}
    assert len(every) == 70
    assert set(names("B")) == unmixed
    assert len(unmixed) == 42
    assert names("B").total() == len(unmixed) + 2


@pytest.mark.parametrize("players", [2, 3, 4])
def test_vehicles_per_player_and_most_points(players: int) -> None:
    taxis, trucks, most = {2: (8, 3, 14), 3: (5, 2, 9), 4: (4, 2, 8)}[players]
    fleet = GAME.new_initial_state(players, options()).observation(None).fleet
    assert fleet.taxis == (taxis,) * players
    assert fleet.trucks == (trucks,) * players
    assert taxis + 2 * trucks == most


def test_the_printed_totals_of_vehicles_fit_the_set_ups() -> None:
    """8 + 8 + 5 + 4 taxis and 3 + 3 + 2 + 2 trucks: each colour has what the smallest set-up with it needs."""
    vehicles = DATA["vehicles"]
    per_colour = [max(vehicles[str(n)]["taxi"] for n in (2, 3, 4) if n > seat) for seat in range(4)]
    trucks = [max(vehicles[str(n)]["truck"] for n in (2, 3, 4) if n > seat) for seat in range(4)]
    assert per_colour == [8, 8, 5, 4]
    assert trucks == [3, 3, 2, 2]


@pytest.mark.parametrize("shape", ["Z", "T", "L"])
def test_a_times_square_layout_has_four_tiles_and_three_seams(shape: str) -> None:
    cells = {(tile["x"], tile["y"]) for tile in DATA["layouts"]["times_square"][shape]}
    assert len(cells) == 4
    assert sum((x + 1, y) in cells for x, y in cells) + sum((x, y + 1) in cells for x, y in cells) == 3


def test_central_park_has_ten_tiles_green_inside_and_streets_outside() -> None:
    tiles = DATA["layouts"]["central_park"]["block"]
    cells = {(tile["x"], tile["y"]) for tile in tiles}
    assert cells == {(x, y) for x in range(5) for y in range(2)}
    for tile in tiles:
        for side, (dx, dy) in zip(tile["face"], ((0, 1), (1, 0), (0, -1), (-1, 0)), strict=True):
            inside = (tile["x"] + dx, tile["y"] + dy) in cells
            assert side in ("g" if inside else "rt")


def test_the_shipped_data_pass_their_own_check_and_are_handed_out_as_copies() -> None:
    data = GAME.default_data()
    GAME.check_data(data)
    data["tile_sets"].clear()
    assert GAME.default_data() == DATA


def changed(*path: Any, value: Any) -> Any:
    data: Any = GAME.default_data()
    at = data
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = value
    return data


TILE = {"x": 0, "y": 0, "face": "rrtt"}


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ([], "data: expected a table, not []"),
        ({"tile_sets": {}}, "tile_sets: expected at least one tile set"),
        (changed("box", value=1), "data: unknown key 'box', expected tile_sets, layouts, vehicles"),
        (changed("tile_sets", "C", value=None), "tile_sets.C: expected a table, not nothing"),
        (changed("tile_sets", "C", "tiles", value={"rrrr": 8}), "add up to 8, expected 9 to 120"),
        (changed("tile_sets", "C", "tiles", value={"rrrx": 9}), "tile_sets.C.tiles: expected four side colours"),
        (changed("tile_sets", "C", "tiles", "rrrr", value=0), "tile_sets.C.tiles.rrrr: expected an integer from 1"),
        (changed("tile_sets", "C", "tiles", "rrrr", value=True), "expected an integer from 1 to 120, not True"),
        (changed("layouts", value={}), "layouts: expected at least one of times_square, central_park"),
        (changed("layouts", "broadway", value={}), "layouts: unknown key 'broadway'"),
        (changed("layouts", "times_square", "Z", value=[]), "layouts.times_square.Z: expected a list of tiles"),
        (changed("layouts", "times_square", "Z", value=[TILE, TILE]), "Z[1]: cell (0, 0) holds a tile already"),
        (changed("layouts", "times_square", "Z", 1, "face", value="ttrt"), "touch with 'r' and 't'"),
        (changed("layouts", "times_square", "Z", value=[TILE, {**TILE, "x": 2}]), "one connected map; (0, 0)"),
        (changed("layouts", "times_square", "Z", 0, "x", value=99), "Z[0].x: expected an integer from -20 to 20"),
        (changed("layouts", "times_square", "Z", 0, "sides", value="rrtt"), "Z[0]: unknown key 'sides'"),
        (changed("vehicles", "5", value={}), "vehicles: unknown key '5'"),
        (changed("vehicles", "2", value={"taxi": 0, "truck": 0}), "vehicles.2: expected at least one vehicle"),
        (changed("vehicles", "2", "taxi", value="8"), "vehicles.2.taxi: expected an integer from 0 to 20, not '8'"),
    ],
)
def test_data_that_do_not_fit_are_refused_with_the_place(data: Any, said: str) -> None:
    with pytest.raises(DataError) as error:
        GAME.check_data(data)
    assert said in str(error.value)
    with pytest.raises(DataError):
        GAME.new_initial_state(2, options(data=data))


def test_an_owner_of_the_box_replaces_tiles_layout_and_vehicles() -> None:
    data = GAME.default_data()
    data["tile_sets"]["mine"] = {"title": "mine", "confidence": "H", "tiles": {"rttt": 5, "trtt": 5}}
    data["layouts"]["times_square"]["mine"] = [TILE]
    data["vehicles"]["2"] = {"taxi": 1, "truck": 0}
    state = GAME.new_initial_state(2, options(data=data, tile_set="mine", times_square_layout="mine"))
    seen = state.observation(None)
    assert [(tile.x, tile.y, tile.face) for tile in seen.map.tiles] == [(0, 0, "rrtt")]
    assert (seen.facts.tile_names, seen.stock) == (("rttt",), 10)
    assert (seen.fleet.taxis, seen.fleet.trucks) == ((1, 1), (0, 0))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"tile_set": "D"}, "option 'tile_set': the data have no 'D'; tile sets there: C, A, B"),
        ({"times_square_layout": "block"}, "layouts for times_square there: Z, T, L"),
        ({"scenario": "central_park", "central_park_layout": "Z"}, "layouts for central_park there: block"),
    ],
)
def test_a_name_that_the_data_do_not_have_is_refused(given: dict[str, Any], said: str) -> None:
    with pytest.raises(OptionError) as error:
        GAME.new_initial_state(2, options(**given))
    assert said in str(error.value)
