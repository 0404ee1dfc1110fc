"""The box data, and what may replace them."""

import json
import re
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from referee.games.api import DataError
from referee.games.king_of_new_york import GAME

from . import matches


def test_45_tiles() -> None:
    tiles = GAME.default_data()["tiles"]
    assert [(t["building"], t["durability"], t["reward"], t["unit"], t["count"]) for t in tiles] == [
        ("high_rise", 1, {"vp": 1}, "infantry", 22),
        ("high_rise", 2, {"vp": 2}, "jet", 8),
        ("high_rise", 3, {"vp": 3}, "tank", 3),
        ("power_plant", 2, {"energy": 2}, "jet", 3),
        ("power_plant", 3, {"energy": 3}, "tank", 3),
        ("hospital", 2, {"life": 2}, "jet", 3),
        ("hospital", 3, {"life": 3}, "tank", 3),
    ]
    assert sum(t["count"] for t in tiles) == 45
    units: Counter[str] = Counter()
    for tile in tiles:
        units[tile["unit"]] += tile["count"]
    assert units == {"infantry": 22, "jet": 14, "tank": 9}


def test_units() -> None:
    assert GAME.default_data()["units"] == {
        "infantry": {"durability": 2, "reward": {"life": 1}},
        "jet": {"durability": 3, "reward": {"energy": 2}},
        "tank": {"durability": 4, "reward": {"vp": 3}},
    }


def test_the_data_shipped_pass_their_own_check_and_are_json() -> None:
    data = GAME.default_data()
    GAME.check_data(data)
    assert json.loads(json.dumps(data)) == data


def test_default_data_is_a_fresh_copy() -> None:
    GAME.default_data()["tiles"].clear()
    assert len(GAME.default_data()["tiles"]) == 7


def with_change(change: Callable[[dict[str, Any]], Any]) -> dict[str, Any]:
    data = GAME.default_data()
    change(data)
    return data


BAD: list[tuple[Any, str]] = [
    (None, "data: expected a table with table, tiles, units, cards, not nothing"),
    ({}, "data: 'table' is missing"),
    (with_change(lambda d: d.update(map=[])), "data: unknown key 'map'"),
    (with_change(lambda d: d["tiles"][0].update(count=21)), "tiles: the counts add up to 44, expected 45"),
    (with_change(lambda d: d["tiles"][0].update(durability=0)), "tiles[0].durability: expected an integer from 1"),
    (with_change(lambda d: d["tiles"][0].update(unit="drone")), "tiles[0].unit: expected one of infantry, jet, tank"),
    (with_change(lambda d: d["tiles"][1].update(id="high_rise_1")), "tiles[1].id: 'high_rise_1' appears twice"),
    (with_change(lambda d: d["tiles"][0]["reward"].update(fame=1)), "tiles[0].reward: unknown key 'fame'"),
    (with_change(lambda d: d["units"].pop("jet")), "units: 'jet' is missing"),
    (with_change(lambda d: d["table"].update(max_dice=9)), "table.max_dice: expected table.dice to 8"),
    (with_change(lambda d: d["table"].update(max_life=5)), "table.max_life: expected at least"),
    (with_change(lambda d: d["table"].update(rolls=9)), "table.rolls: expected at most 5"),
    (with_change(lambda d: d["table"]["income"].pop()), "table.income: expected 3 zones, not 2"),
    (with_change(lambda d: d["table"]["tokens"].update(web="many")), "table.tokens.web: expected an integer"),
    (with_change(lambda d: d["cards"].clear()), "cards: expected more than 3"),
    (with_change(lambda d: d["cards"][0].update(id="moon_landing")), "no card of the box"),
    (with_change(lambda d: d["cards"][0].update(cost=True)), "cards[0] (air_force_one).cost: expected an integer"),
    (with_change(lambda d: d["cards"][0].update(type="secret")), "(air_force_one).type: expected one of keep, discard"),
    (with_change(lambda d: d["cards"][0].pop("cost")), "cards[0]: 'cost' is missing"),
    (with_change(lambda d: d["cards"][0].update(requires="drone")), "cards[0] (air_force_one).requires"),
    (
        with_change(lambda d: d["cards"][0]["effects"].append({"on": "turn_start", "do": "gain", "vp": 1})),
        "a Discard card acts when it is bought only",
    ),
    (with_change(lambda d: d["cards"][0]["effects"].append({"on": "bought", "do": "units_strike"})), "stands twice"),
]


@pytest.mark.parametrize(("data", "message"), BAD, ids=[message for _, message in BAD])
def test_data_that_do_not_fit_are_refused_by_place(data: Any, message: str) -> None:
    with pytest.raises(DataError, match=re.escape(message)):
        GAME.check_data(data)


def test_replaced_data_are_used_and_carried_in_the_state() -> None:
    data = with_change(lambda d: d["table"].update(start_life=7))
    state = GAME.new_initial_state(2, matches.options(data=data))
    assert state.life == [7, 7]
    assert GAME.state_from_dict(json.loads(json.dumps(state.to_dict()))).to_dict() == state.to_dict()


def test_the_dictionary_of_a_state_shares_nothing_with_it() -> None:
    state = GAME.new_initial_state(2, matches.options(data=GAME.default_data()))
    before = json.dumps(state.to_dict())
    state.to_dict()["options"]["data"]["tiles"].clear()
    assert json.dumps(state.to_dict()) == before


def test_cards_may_be_left_out() -> None:
    data = with_change(lambda d: d.update(cards=d["cards"][:10]))
    state = GAME.new_initial_state(2, matches.options(data=data))
    assert state.deck.bit_count() == 10
    assert GAME.conserved(matches.wander(2, 1, given=matches.options(data=data)))["cards"] == 10


def test_data_that_do_not_fit_are_refused_at_the_start_of_a_match() -> None:
    with pytest.raises(DataError, match="tiles"):
        GAME.new_initial_state(2, matches.options(data=with_change(lambda d: d["tiles"].pop())))
