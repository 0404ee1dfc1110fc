"""The box data, map, tickets and numbers of cards: the shipped files, and the check of data that replace them."""

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from referee.games.api import DataError
from referee.games.api.checks import check_integer, check_table, check_word, shown
from referee.games.ticket_to_ride_new_york.actions import CARDS, COLORS, MAX_NUMBER, route_id, ticket_id

GRAY = "gray"
ROUTE_COLORS = (*CARDS[:COLORS], GRAY)
MIN_TICKETS = 8
"""Two for each of four seats."""
MIN_CARDS = 14
"""Two for each of four seats, a full row, and one to draw."""
MAX_CARDS = 120
MAX_TAXIS = 30
"""With four seats no more than MAX_CARDS + 4 * MAX_TAXIS cards can be drawn in a match: positions fit into a byte."""
_MAX_POINTS = 100


def default_data() -> dict[str, Any]:
    """The data shipped with the game, a fresh copy."""
    data: dict[str, Any] = json.loads(_shipped())
    return data


@cache
def _shipped() -> str:
    return (files(__package__) / "new_york.json").read_text("utf-8")


def check_data(data: Any) -> None:
    """Raises DataError, naming the place and what was expected there, if `data` is not box data."""
    keys = ("title", "locations", "routes", "tickets", "route_points", "cards", "taxis")
    box = check_table(data, "data", keys)
    _text(box["title"], "title")
    codes = _check_locations(box["locations"])
    lengths = _check_points(box["route_points"])
    _check_routes(box["routes"], codes, lengths)
    _check_tickets(box["tickets"], codes)
    cards = check_table(box["cards"], "cards", CARDS)
    for name in CARDS:
        check_integer(cards[name], f"cards.{name}", 0, MAX_CARDS)
    if not MIN_CARDS <= sum(cards.values()) <= MAX_CARDS:
        raise DataError(f"cards: expected {MIN_CARDS} to {MAX_CARDS} cards in all, not {sum(cards.values())}")
    check_integer(box["taxis"], "taxis", 3, MAX_TAXIS)


def _check_locations(value: Any) -> tuple[str, ...]:
    codes: list[str] = []
    for at, entry in _entries(value, "locations", ("code", "name", "attraction", "x", "y")):
        code = _text(entry["code"], f"{at}.code")
        if not (code.isascii() and code.isalnum() and len(code) <= 3):
            raise DataError(f"{at}.code: expected one to three ASCII letters or digits, not {code!r}")
        if code in codes:
            raise DataError(f"{at}.code: {code!r} is there twice")
        codes.append(code)
        _text(entry["name"], f"{at}.name")
        if not isinstance(entry["attraction"], bool):
            raise DataError(f"{at}.attraction: expected true or false, not {shown(entry['attraction'])}")
        for axis in ("x", "y"):
            check_integer(entry[axis], f"{at}.{axis}", 0, 1000)
    return tuple(codes)


def _check_points(value: Any) -> tuple[int, ...]:
    if not isinstance(value, Mapping) or not value:
        raise DataError(f"route_points: expected a table from length to points, not {shown(value)}")
    for length, points in value.items():
        if length not in [str(number) for number in range(1, 10)]:
            raise DataError(f"route_points: expected lengths from 1 to 9, not {shown(length)}")
        check_integer(points, f"route_points.{length}", 0, _MAX_POINTS)
    return tuple(int(length) for length in value)


def _check_routes(value: Any, codes: tuple[str, ...], lengths: tuple[int, ...]) -> None:
    halves: dict[str, list[Mapping[str, Any]]] = {}
    for number, (at, entry) in enumerate(
        _entries(value, "routes", ("id", "from", "to", "length", "color", "double")), start=1
    ):
        _numbered(entry, at, route_id(number))
        _ends(entry, at, codes)
        if type(entry["length"]) is not int or entry["length"] not in lengths:
            raise DataError(f"{at}.length: expected a length that route_points names, not {shown(entry['length'])}")
        check_word(entry["color"], f"{at}.color", ROUTE_COLORS)
        if entry["double"] is not None:
            halves.setdefault(_text(entry["double"], f"{at}.double"), []).append(entry)
    for name, pair in halves.items():
        same = {frozenset((half["from"], half["to"])) for half in pair}
        if len(pair) != 2 or len(same) != 1:
            raise DataError(f"routes: double {name!r} must be two routes between the same two locations")


def _check_tickets(value: Any, codes: tuple[str, ...]) -> None:
    count = 0
    for count, (at, entry) in enumerate(_entries(value, "tickets", ("id", "from", "to", "points")), start=1):
        _numbered(entry, at, ticket_id(count))
        _ends(entry, at, codes)
        check_integer(entry["points"], f"{at}.points", 0, _MAX_POINTS)
    if count < MIN_TICKETS:
        raise DataError(f"tickets: expected {MIN_TICKETS} tickets or more, not {count}")


def _numbered(entry: Mapping[str, Any], at: str, expected: str) -> None:
    if entry["id"] != expected:
        raise DataError(f"{at}.id: expected {expected!r} (ids count up from 01), not {shown(entry['id'])}")


def _ends(entry: Mapping[str, Any], at: str, codes: tuple[str, ...]) -> None:
    for end in ("from", "to"):
        if entry[end] not in codes:
            raise DataError(f"{at}.{end}: expected the code of a location, not {shown(entry[end])}")
    if entry["from"] == entry["to"]:
        raise DataError(f"{at}: both ends are {entry['from']!r}")


def _entries(value: Any, at: str, keys: tuple[str, ...]) -> list[tuple[str, Mapping[str, Any]]]:
    if not isinstance(value, list) or not 1 <= len(value) <= MAX_NUMBER:
        raise DataError(f"{at}: expected a list of 1 to {MAX_NUMBER} entries, not {shown(value)}")
    return [(f"{at}[{place}]", check_table(entry, f"{at}[{place}]", keys)) for place, entry in enumerate(value)]


def _text(value: Any, at: str) -> str:
    if not isinstance(value, str) or not value or not value.isprintable() or len(value) > 40:
        raise DataError(f"{at}: expected a name of 1 to 40 printable characters, not {shown(value)}")
    return value
