"""Checks of box data: what they let through, and that errors name the place, the expectation and the value."""

from collections.abc import Callable
from typing import Any

import pytest

from referee.games.api import DataError
from referee.games.api.checks import check_integer, check_keys, check_list, check_table, check_word


def test_what_is_as_expected_comes_back() -> None:
    assert check_table({"a": 1}, "box") == {"a": 1}
    assert check_table({"a": 1, "b": 2}, "box", ("a", "b")) == {"a": 1, "b": 2}
    check_keys({"a": 1}, "box", ("a", "b"))
    assert check_list([1], "box") == [1]
    assert check_integer(3, "box", 3, 5) == 3
    assert check_integer(5, "box", 3, 5) == 5
    assert check_word("red", "box", ("red", "blue")) == "red"


@pytest.mark.parametrize(
    ("check", "told"),
    [
        (lambda: check_table([], "box.a"), "box.a: expected a table, not []"),
        (lambda: check_table(None, "box.a"), "box.a: expected a table, not nothing"),
        (lambda: check_table(5, "box", ("a", "b")), "box: expected a table with a, b, not 5"),
        (lambda: check_table({"a": 1}, "box", ("a", "b")), "box: 'b' is missing"),
        (lambda: check_table({"c": 1}, "box", ("a",)), "box: unknown key 'c', expected a"),
        (lambda: check_keys({"c": 1}, "box", ("a", "b")), "box: unknown key 'c', expected a, b"),
        (lambda: check_list({}, "box"), "box: expected a list, not {}"),
        (lambda: check_integer(6, "box", 3, 5), "box: expected an integer from 3 to 5, not 6"),
        (lambda: check_integer(True, "box", 0, 5), "box: expected an integer from 0 to 5, not True"),
        (lambda: check_integer(3.0, "box", 0, 5), "box: expected an integer from 0 to 5, not 3.0"),
        (lambda: check_word("green", "box", ("red", "blue")), "box: expected one of red, blue, not 'green'"),
        (lambda: check_word(["red"], "box", ("red", "blue")), "box: expected one of red, blue, not ['red']"),
    ],
)
def test_an_error_names_place_expectation_and_value(check: Callable[[], Any], told: str) -> None:
    with pytest.raises(DataError) as error:
        check()
    assert str(error.value) == told


def test_a_long_value_is_cut() -> None:
    with pytest.raises(DataError) as error:
        check_list("x" * 1000, "box")
    assert len(str(error.value)) < 100
