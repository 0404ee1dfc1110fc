"""The box: its verified numbers, and what the check of other box data refuses."""

from collections import Counter
from copy import deepcopy
from typing import Any

import pytest

from referee.games.api import DataError
from referee.games.ticket_to_ride_new_york import GAME

from . import naive
from . import situations as sit

BOX = GAME.default_data()


def test_fifteen_locations_nine_of_them_attractions() -> None:
    assert len(BOX["locations"]) == 15
    attractions = [place["code"] for place in BOX["locations"] if place["attraction"]]
    assert attractions == ["CP", "TS", "UN", "ES", "CH", "GV", "CT", "WS", "BK"]


def test_forty_one_routes_between_thirty_pairs_of_locations() -> None:
    assert len(BOX["routes"]) == 41
    assert len({frozenset((route["from"], route["to"])) for route in BOX["routes"]}) == 30
    assert Counter(route["length"] for route in BOX["routes"]) == {1: 9, 2: 22, 3: 9, 4: 1}


def test_nineteen_routes_are_single_and_eleven_double() -> None:
    doubles = Counter(route["double"] for route in BOX["routes"])
    assert doubles.pop(None) == 19
    assert len(doubles) == 11
    assert set(doubles.values()) == {2}


def test_spaces_and_routes_by_colour() -> None:
    routes = Counter(route["color"] for route in BOX["routes"])
    assert routes == {"red": 5, "orange": 5, "green": 5, "blue": 6, "black": 5, "pink": 5, "gray": 10}
    spaces: Counter[str] = Counter()
    for route in BOX["routes"]:
        spaces[route["color"]] += route["length"]
    assert spaces == {"red": 11, "orange": 10, "green": 11, "blue": 11, "black": 10, "pink": 11, "gray": 20}
    assert spaces.total() == 84


def test_all_routes_together_are_worth_ninety_six_points() -> None:
    assert BOX["route_points"] == {"1": 1, "2": 2, "3": 4, "4": 7}
    assert sum(BOX["route_points"][str(route["length"])] for route in BOX["routes"]) == 96


def test_route_ends_per_location() -> None:
    ends = Counter(route[end] for route in BOX["routes"] for end in ("from", "to"))
    assert ends == {
        "LC": 4, "CP": 4, "MW": 4, "TS": 8, "UN": 4, "ES": 8, "CH": 7, "GP": 7,
        "GV": 9, "EV": 3, "SO": 3, "LE": 4, "CT": 7, "WS": 5, "BK": 5,
    }  # fmt: skip


def test_eighteen_different_tickets_worth_their_shortest_paths() -> None:
    assert len(BOX["tickets"]) == 18
    assert len({frozenset((ticket["from"], ticket["to"])) for ticket in BOX["tickets"]}) == 18
    distance = naive.shortest(BOX)
    for ticket in BOX["tickets"]:
        assert ticket["points"] == distance[ticket["from"], ticket["to"]], ticket["id"]


def test_values_of_the_tickets() -> None:
    values = Counter(ticket["points"] for ticket in BOX["tickets"])
    assert values == {2: 1, 3: 4, 4: 4, 5: 1, 6: 3, 7: 1, 8: 4}
    assert sum(ticket["points"] for ticket in BOX["tickets"]) == 92


def test_brooklyn_and_lincoln_center_are_farthest_apart() -> None:
    distance = naive.shortest(BOX)
    assert max(distance.values()) == 10
    assert {pair for pair, length in distance.items() if length == 10} == {
        ("LC", "BK"), ("BK", "LC"), ("CP", "BK"), ("BK", "CP"),
    }  # fmt: skip


def test_no_route_is_a_bridge() -> None:
    pairs = {frozenset((route["from"], route["to"])) for route in BOX["routes"]}
    for pair in pairs:
        rest = [0 if frozenset((route["from"], route["to"])) != pair else -1 for route in BOX["routes"]]
        one, other = sorted(pair)
        assert naive.connected(BOX, rest, 0, one, other), pair


def test_forty_four_cards_and_fifteen_taxis_each() -> None:
    assert BOX["cards"] == {"red": 6, "orange": 6, "green": 6, "blue": 6, "black": 6, "pink": 6, "taxi": 8}
    assert BOX["taxis"] == 15


@pytest.mark.parametrize(
    ("route", "ends", "length", "color", "double"),
    [
        ("R07", ("CP", "UN"), 3, "pink", None),
        ("R23", ("CH", "SO"), 4, "pink", None),
        ("R26", ("GP", "EV"), 2, "gray", None),
        ("R33", ("LE", "CT"), 1, "blue", None),
        ("R34", ("LE", "BK"), 3, "gray", None),
        ("R35", ("SO", "WS"), 2, "gray", None),
        ("R16", ("ES", "CH"), 2, "gray", "D04"),
        ("R41", ("WS", "BK"), 3, "black", "D11"),
    ],
)
def test_routes_that_public_lists_get_wrong(
    route: str, ends: tuple[str, str], length: int, color: str, double: str | None
) -> None:
    (entry,) = [entry for entry in BOX["routes"] if entry["id"] == route]
    assert (entry["from"], entry["to"]) == ends
    assert (entry["length"], entry["color"], entry["double"]) == (length, color, double)


def test_the_shipped_box_passes_the_check() -> None:
    GAME.check_data(GAME.default_data())


def changed(*path: Any, to: Any) -> dict[str, Any]:
    box: Any = deepcopy(BOX)
    *way, last = path
    at = box
    for part in way:
        at = at[part]
    if to is None:
        del at[last]
    else:
        at[last] = to
    return dict(box)


@pytest.mark.parametrize(
    ("box", "message"),
    [
        ([], "data: expected a table"),
        (changed("title", to=None), "data: 'title' is missing"),
        (changed("extra", to=1), "data: unknown key 'extra'"),
        (changed("title", to=""), "title: expected a name"),
        (changed("locations", to=[]), "locations: expected a list"),
        (changed("locations", 1, "code", to="LC"), r"locations\[1\].code: 'LC' is there twice"),
        (changed("locations", 1, "code", to="L-C"), r"locations\[1\].code: expected one to three"),
        (changed("locations", 0, "attraction", to=1), r"locations\[0\].attraction: expected true or false"),
        (changed("locations", 0, "x", to=1.5), r"locations\[0\].x: expected an integer"),
        (changed("route_points", to={}), "route_points: expected a table"),
        (changed("route_points", "12", to=3), "route_points: expected lengths from 1 to 9"),
        (changed("route_points", "2", to=-1), r"route_points.2: expected an integer"),
        (changed("routes", 6, "id", to="R99"), r"routes\[6\].id: expected 'R07'"),
        (changed("routes", 6, "from", to="XX"), r"routes\[6\].from: expected the code of a location"),
        (changed("routes", 6, "to", to="CP"), r"routes\[6\]: both ends are 'CP'"),
        (changed("routes", 6, "length", to=5), r"routes\[6\].length: expected a length that route_points names"),
        (changed("routes", 6, "length", to=3.0), r"routes\[6\].length: expected a length"),
        (changed("routes", 6, "color", to="taxi"), r"routes\[6\].color: expected one of"),
        (changed("routes", 6, "double", to="D01"), "double 'D01' must be two routes"),
        (changed("routes", 2, "double", to="D99"), "double '(D01|D99)' must be two routes"),
        (changed("tickets", 3, "id", to="T05"), r"tickets\[3\].id: expected 'T04'"),
        (changed("tickets", 3, "points", to="5"), r"tickets\[3\].points: expected an integer"),
        (changed("tickets", to=BOX["tickets"][:5]), "tickets: expected 8 tickets or more, not 5"),
        (changed("cards", "red", to=-1), "cards.red: expected an integer from 0"),
        (changed("cards", "red", to=99), "cards: expected 14 to 120 cards in all"),
        (changed("cards", "gray", to=2), "cards: unknown key 'gray'"),
        (changed("taxis", to=2), "taxis: expected an integer from 3"),
        (changed("taxis", to=True), "taxis: expected an integer from 3"),
    ],
)
def test_the_check_names_place_and_expectation(box: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        GAME.check_data(box)


def test_other_box_data_are_played_with() -> None:
    box = changed("taxis", to=20)
    box["tickets"] = box["tickets"][:12]
    state = GAME.new_initial_state(2, sit.options(data=box))
    assert state.taxis == [20, 20]
    sit.settle(state)
    assert len(state.tickets.unknown) == 8
    assert state.to_dict()["options"]["data"] == box
    again = GAME.state_from_dict(state.to_dict())
    assert again.to_dict() == state.to_dict()


def test_other_box_data_are_checked_when_a_match_begins() -> None:
    with pytest.raises(DataError, match="taxis"):
        GAME.new_initial_state(2, sit.options(data=changed("taxis", to=1)))
