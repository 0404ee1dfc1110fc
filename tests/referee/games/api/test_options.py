"""Options of a game and how they are resolved."""

from typing import Any

import pytest

from referee.games.api import Option, OptionError, resolve_options

ROUNDS = Option("rounds", 4, "Turns.", "OURS", minimum=1, maximum=12)
OPEN = Option("open", False, "Hands open.", "H")
TILES = Option("tiles", "m", "Tile set.", "R", choices=("m", "x"))
CAP = Option("cap", 100, "Move cap.", "U", minimum=1)
FLOOR = Option("floor", 0, "Any.", "U", maximum=5)
SIZE = Option("size", 8, "Board.", "H", choices=(8, 10))
NAME = Option("name", "x", "A text.", "U")
ALL = (ROUNDS, OPEN, TILES, CAP)


def test_defaults_come_in_declared_order() -> None:
    assert list(resolve_options("g", ALL, {}).items()) == [("rounds", 4), ("open", False), ("tiles", "m"), ("cap", 100)]


def test_given_values_go_over_defaults() -> None:
    assert resolve_options("g", ALL, {"cap": 7, "open": True}) == {"rounds": 4, "open": True, "tiles": "m", "cap": 7}


@pytest.mark.parametrize(
    ("option", "value", "taken"),
    [
        (ROUNDS, 1, True),
        (ROUNDS, 12, True),
        (ROUNDS, 0, False),
        (ROUNDS, 13, False),
        (ROUNDS, True, False),
        (ROUNDS, 4.0, False),
        (ROUNDS, "4", False),
        (ROUNDS, None, False),
        (OPEN, True, True),
        (OPEN, 1, False),
        (OPEN, "true", False),
        (TILES, "x", True),
        (TILES, "y", False),
        (TILES, 1, False),
        (CAP, 10**9, True),
        (CAP, 0, False),
        (FLOOR, -5, True),
        (FLOOR, 6, False),
        (SIZE, 10, True),
        (SIZE, 9, False),
        (NAME, "", True),
        (NAME, 1, False),
    ],
)
def test_a_value_must_have_the_type_of_the_default_and_lie_in_its_bounds(
    option: Option, value: object, taken: bool
) -> None:
    assert option.accepts(value) is taken
    if taken:
        assert resolve_options("g", (option,), {option.name: value}) == {option.name: value}
    else:
        with pytest.raises(OptionError):
            resolve_options("g", (option,), {option.name: value})


@pytest.mark.parametrize(
    ("option", "expected"),
    [
        (ROUNDS, "an integer >= 1 and <= 12"),
        (OPEN, "true or false"),
        (TILES, "one of m, x"),
        (CAP, "an integer >= 1"),
        (FLOOR, "an integer <= 5"),
        (SIZE, "one of 8, 10"),
        (NAME, "a text"),
        (Option("n", 0, "Any.", "U"), "an integer"),
    ],
)
def test_what_an_option_takes_is_told_in_words(option: Option, expected: str) -> None:
    assert option.expected() == expected


def test_errors_name_game_option_and_what_was_expected() -> None:
    with pytest.raises(OptionError, match=r"g option 'rounds' must be an integer >= 1 and <= 12, not 99"):
        resolve_options("g", ALL, {"rounds": 99})
    with pytest.raises(OptionError, match=r"g has no option 'round'; it has: rounds, open, tiles, cap"):
        resolve_options("g", ALL, {"round": 4})
    with pytest.raises(OptionError, match=r"g has no option 'x'; it has: none"):
        resolve_options("g", (), {"x": 4})


@pytest.mark.parametrize(
    ("given", "expected"),
    [({"data": {"tiles": []}}, {"data": {"tiles": []}}), ({"data": None}, {}), ({}, {})],
)
def test_replacement_data_is_passed_through(given: dict[str, Any], expected: dict[str, Any]) -> None:
    assert resolve_options("g", (), given) == expected
