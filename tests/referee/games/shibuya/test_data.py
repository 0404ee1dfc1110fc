"""The shipped data, and what is told of mistakes in data that replace them."""

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from referee.games.api import DataError, Decision, OptionError, PlayersError
from referee.games.shibuya import GAME

# Components, geometry and seats (R4)


def front(side: str, place: int) -> int:
    x, y = {"S": (place, 0), "N": (place, 7), "W": (0, place), "E": (7, place)}[side]
    return x + 8 * y


def team(players: int, number: int, **options: Any) -> Any:
    return GAME.new_initial_state(players, options).observation(None).setting.teams[number]


@pytest.mark.parametrize("players", [2, 4])
def test_there_are_eight_pedestrians_of_each_colour_and_thirty_tiles(players: int) -> None:
    counts = GAME.conserved(GAME.new_initial_state(players, {}))
    assert (counts.pop("red"), counts.pop("blue")) == (8, 8)
    assert sum(counts.values()) == 30


def test_two_players_start_on_adjacent_sides_and_go_to_the_opposite_side() -> None:
    red, blue = team(2, 0), team(2, 1)
    assert red.start_fronts == tuple(front("S", place) for place in range(8))
    assert red.goal_fronts == tuple(front("N", place) for place in range(8))
    assert blue.start_fronts == tuple(front("W", place) for place in range(8))
    assert blue.goal_fronts == tuple(front("E", place) for place in range(8))
    assert set(red.start_seats) == {0}
    assert set(blue.start_seats) == {1}


def fronts(*strips: tuple[str, range]) -> set[int]:
    return {front(side, place) for side, places in strips for place in places}


LOW, HIGH = range(4), range(4, 8)


@pytest.mark.parametrize(
    ("layout", "number", "starts", "goals"),
    [
        ("B", 0, {0: ("S", LOW), 2: ("N", HIGH)}, (("W", HIGH), ("E", LOW))),
        ("B", 1, {1: ("W", LOW), 3: ("E", HIGH)}, (("S", HIGH), ("N", LOW))),
        ("A", 0, {0: ("S", LOW), 2: ("N", HIGH)}, (("W", LOW), ("E", HIGH))),
        ("A", 1, {1: ("W", HIGH), 3: ("E", LOW)}, (("S", HIGH), ("N", LOW))),
    ],
)
def test_four_players_start_on_half_a_side_with_exits_in_an_l(
    layout: str, number: int, starts: dict[int, Any], goals: Any
) -> None:
    setting = team(4, number, layout_4p=layout)
    for seat, strip in starts.items():
        own = [at for at, owner in zip(setting.start_fronts, setting.start_seats, strict=True) if owner == seat]
        assert set(own) == fronts(strip)
        assert len(own) == 4
    assert set(setting.goal_fronts) == fronts(*goals)
    assert len(setting.goal_fronts) == 8


def test_layout_b_is_the_default_and_looks_the_same_after_half_a_turn() -> None:
    assert team(4, 0) == team(4, 0, layout_4p="B")
    for number in (0, 1):
        setting = team(4, number)
        assert {63 - at for at in setting.start_fronts} == set(setting.start_fronts)
        assert {63 - at for at in setting.goal_fronts} == set(setting.goal_fronts)


def test_in_layout_b_no_start_lies_before_its_own_goal_and_in_layout_a_some_do() -> None:
    for number in (0, 1):
        apart, touching = team(4, number), team(4, number, layout_4p="A")
        assert not set(apart.start_fronts) & set(apart.goal_fronts)
        assert set(touching.start_fronts) & set(touching.goal_fronts)


def test_seats_alternate_between_the_teams() -> None:
    assert GAME.teams(2, {}) == (0, 1)
    assert GAME.teams(4, {}) == (0, 1, 0, 1)


def test_red_opens_the_building_phase_with_a_draw() -> None:
    state = GAME.new_initial_state(2, {})
    assert state.decisions() == ()
    assert state.turn_seat == 0
    outcome = state.chance_outcomes()[0][0]
    state.apply_chance(outcome)
    assert state.decisions() == (Decision(0, "place"),)


@pytest.mark.parametrize("players", [0, 1, 3, 5, -2])
def test_other_numbers_of_players_are_refused(players: int) -> None:
    with pytest.raises(PlayersError, match="2 or 4 players"):
        GAME.new_initial_state(players, {})


@pytest.mark.parametrize(
    "options",
    [{"tile_set": "Z"}, {"layout_4p": "C"}, {"move_cap": 0}, {"goal_capacity": True}, {"colour": "green"}],
)
def test_unknown_options_and_values_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(OptionError):
        GAME.new_initial_state(2, options)


LOOKS = ("ko", "kq", "wo", "wq")
SWAPS = {
    "colour": {"ko": "wo", "wo": "ko", "kq": "wq", "wq": "kq"},
    "shape": {"ko": "kq", "kq": "ko", "wo": "wq", "wq": "wo"},
    "exchange": {"ko": "ko", "wq": "wq", "kq": "wo", "wo": "kq"},
}


def kinds(name: str) -> Counter[tuple[str, ...]]:
    """Tiles of a set, each as the least of its rotations."""
    found: Counter[tuple[str, ...]] = Counter()
    for tile in GAME.default_data()["tile_sets"][name]["tiles"]:
        fields = tuple(tile["fields"])
        found[least(fields)] += tile["count"]
    return found


def least(fields: tuple[str, ...]) -> tuple[str, ...]:
    return min(fields[i:] + fields[:i] for i in range(4))


@pytest.mark.parametrize("name", ["M", "X", "F", "D"])
def test_each_tile_set_has_thirty_fields_of_every_kind_and_all_symmetries(name: str) -> None:
    tiles = kinds(name)
    assert sum(tiles.values()) == 30
    totals = Counter(look for tile in tiles.elements() for look in tile)
    assert totals == dict.fromkeys(LOOKS, 30)
    for swap in SWAPS.values():
        assert Counter(least(tuple(swap[look] for look in tile)) for tile in tiles.elements()) == tiles
    assert Counter(least(tile[::-1]) for tile in tiles.elements()) == tiles


def balance(tile: tuple[str, ...]) -> tuple[int, int]:
    blacks = sum(look[0] == "k" for look in tile)
    rounds = sum(look[1] == "o" for look in tile)
    return min(blacks, 4 - blacks), min(rounds, 4 - rounds)


def test_set_m_is_thirty_different_tiles_of_two_sorts() -> None:
    tiles = kinds("M")
    assert set(tiles.values()) == {1}
    all_four = [tile for tile in tiles if set(tile) == set(LOOKS)]
    assert len(all_four) == 6
    assert sum(sorted(balance(tile)) == [1, 2] for tile in tiles) == 24


def test_the_other_sets_are_what_their_titles_say() -> None:
    doubly = {tile for tile in kinds("D") if balance(tile) == (2, 2)}
    assert len(doubly) == 10
    assert set(kinds("D").values()) == {3}
    assert set(kinds("D")) == doubly
    assert {tile for tile in doubly if set(tile) == set(LOOKS)} == set(kinds("F"))
    assert set(kinds("F").values()) == {5}
    uniform = [tile for tile in kinds("X").elements() if 0 in balance(tile)]
    assert len(uniform) == 20
    assert doubly <= set(kinds("X"))


def test_the_default_set_is_m_and_the_notes_name_the_reconstructions() -> None:
    assert GAME.new_initial_state(2, {}).to_dict()["options"]["tile_set"] == "M"
    notes = " ".join(GAME.notes)
    assert "tile sets" in notes
    assert "four players" in notes
    assert notes.count("reconstruction") >= 2


# Other box data


def test_the_shipped_data_is_valid_and_a_fresh_copy_each_time() -> None:
    data = GAME.default_data()
    GAME.check_data(data)
    data["tile_sets"].clear()
    GAME.check_data(GAME.default_data())


def test_a_box_owner_replaces_the_tiles() -> None:
    data = GAME.default_data()
    data["tile_sets"] = {"M": {"tiles": [{"fields": ["ko", "kq", "wo", "wq"], "count": 30}]}}
    state = GAME.new_initial_state(2, {"data": data})
    assert state.chance_outcomes() == [(0, 30)]
    assert GAME.state_from_dict(state.to_dict()).to_dict() == state.to_dict()


def test_a_box_owner_replaces_the_four_player_layout() -> None:
    data = GAME.default_data()
    data["layouts"]["4pB"]["strips"] = data["layouts"]["4pA"]["strips"]
    state = GAME.new_initial_state(4, {"data": data})
    assert state.observation(None).setting == GAME.new_initial_state(4, {"layout_4p": "A"}).observation(None).setting


def test_goal_tiles_may_be_smaller() -> None:
    data = GAME.default_data()
    data["layouts"]["2p"]["strips"][2]["last"] = 3
    state = GAME.new_initial_state(2, {"data": data})
    assert len(state.observation(None).setting.teams[0].goal_fronts) == 4


@pytest.mark.parametrize(
    ("options", "message"),
    [({"tile_set": "X"}, "tile_sets: option 'tile_set' asks for 'X'"), ({}, "layouts: option 'layout_4p' asks for")],
)
def test_what_the_options_ask_for_must_be_in_the_data(options: dict[str, Any], message: str) -> None:
    data = GAME.default_data()
    del data["tile_sets"]["X"], data["layouts"]["4pB"]
    GAME.check_data(data)
    with pytest.raises(DataError, match=message):
        GAME.new_initial_state(4, {"data": data, **options})


def tiles(data: Any) -> Any:
    return data["tile_sets"]["M"]["tiles"]


def strips(data: Any) -> Any:
    return data["layouts"]["2p"]["strips"]


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda d: d.pop("layouts"), r"layouts: expected a table, not nothing"),
        (lambda d: d.update(tile_sets={}), r"tile_sets: expected at least one"),
        (lambda d: d.update(tilesets={}), r"data: unknown key 'tilesets'"),
        (lambda d: d.update(layouts={}), r"layouts: expected at least one of 2p, 4pB, 4pA"),
        (lambda d: d["layouts"].update({"3p": {}}), r"layouts.3p: unknown layout"),
        (lambda d: d["tile_sets"].update(M=[]), r"tile_sets.M: expected a table"),
        (lambda d: d["tile_sets"]["M"].pop("tiles"), r"tile_sets.M.tiles: expected a list, not nothing"),
        (lambda d: tiles(d).append(5), r"tile_sets.M.tiles\[30\]: expected a table, not 5"),
        (lambda d: tiles(d)[3]["fields"].pop(), r"tile_sets.M.tiles\[3\].fields: expected 4 fields, not 3"),
        (lambda d: tiles(d)[3]["fields"].insert(0, "xx"), r"tiles\[3\].fields: expected 4 fields, not 5"),
        (
            lambda d: tiles(d)[2].update(fields=["ko", "KO", "wq", "wq"]),
            r"tiles\[2\].fields\[1\]: expected one of ko, kq, wo, wq, not 'KO'",
        ),
        (
            lambda d: tiles(d)[5].update(fields=tiles(d)[0]["fields"][1:] + tiles(d)[0]["fields"][:1]),
            r"tile_sets.M.tiles\[5\]: the same tile as tiles\[0\], turned; raise its count",
        ),
        (lambda d: tiles(d)[0].update(count=0), r"tiles\[0\].count: expected an integer from 1 to 30, not 0"),
        (lambda d: tiles(d)[0].update(count=True), r"tiles\[0\].count: expected an integer"),
        (lambda d: tiles(d)[0].update(count=2), r"tile_sets.M.tiles: the counts add up to 31, expected 30"),
        (lambda d: tiles(d)[0].update(colour="k"), r"tiles\[0\]: unknown key 'colour'"),
        (lambda d: strips(d)[0].update(side="X"), r"layouts.2p.strips\[0\].side: expected one of S, W, N, E"),
        (lambda d: strips(d)[0].update(last=8), r"strips\[0\].last: expected an integer from 0 to 7, not 8"),
        (lambda d: strips(d)[0].update(first=4, last=3), r"strips\[0\].last: expected an integer from 4 to 7"),
        (lambda d: strips(d)[0].update(last=6), r"layouts.2p: seat 0 has 7 starts, expected 8"),
        (lambda d: strips(d)[0].update(seat=2), r"strips\[0\].seat: expected an integer from 0 to 1, not 2"),
        (lambda d: strips(d)[0].update(team="red"), r"strips\[0\]: unknown key 'team'"),
        (lambda d: strips(d)[2].update(team="green"), r"strips\[2\].team: expected one of red, blue"),
        (lambda d: strips(d)[2].update(holds="tunnel"), r"strips\[2\].holds: expected one of start, goal"),
        (lambda d: strips(d)[2].update(side="S"), r"strips\[2\]: place 0 of side S is taken by strips\[0\]"),
        (lambda d: strips(d).pop(2), r"layouts.2p: red has 0 goal fields, expected 1 to 16"),
        (
            lambda d: strips(d)[3].update(team="red"),
            r"strips\[3\]: red has another goal before field \(7, 7\), in layouts.2p.strips\[2\]",
        ),
    ],
)
def test_mistakes_are_named_with_their_place(spoil: Callable[[Any], Any], message: str) -> None:
    data = GAME.default_data()
    spoil(data)
    with pytest.raises(DataError, match=message):
        GAME.check_data(data)
    with pytest.raises(DataError, match=message):
        GAME.new_initial_state(2, {"data": data})


@pytest.mark.parametrize("junk", [None, 5, "M", [], {}, {"tile_sets": 1, "layouts": 2}])
def test_what_is_no_box_data_at_all_is_refused(junk: Any) -> None:
    with pytest.raises(DataError):
        GAME.check_data(junk)
