"""Replacement box data: what is accepted, and what a mistake is told."""

from collections.abc import Callable
from typing import Any

import pytest

from referee.games.api import DataError
from referee.games.shibuya import GAME


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
