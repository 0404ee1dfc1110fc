"""Checks of box data: each raises DataError that names the place and says what was expected there.

`at` is that place, written like `layouts.2p.strips[3]`.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from referee.games.api.errors import DataError

_SHOWN_CHARACTERS = 60


def check_table(value: Any, at: str, keys: Sequence[str] = ()) -> Mapping[str, Any]:
    """The value, a mapping. If `keys` are given it must hold exactly these."""
    if not isinstance(value, Mapping):
        expected = f"a table with {', '.join(keys)}" if keys else "a table"
        raise DataError(f"{at}: expected {expected}, not {shown(value)}")
    if keys:
        check_keys(value, at, keys)
        for name in keys:
            if name not in value:
                raise DataError(f"{at}: {name!r} is missing")
    return value


def check_keys(table: Mapping[str, Any], at: str, keys: Sequence[str]) -> None:
    """The table must hold no other keys than these; it need not hold them all."""
    for name in table:
        if name not in keys:
            raise DataError(f"{at}: unknown key {name!r}, expected {', '.join(keys)}")


def check_list(value: Any, at: str) -> list[Any]:
    """The value, a list."""
    if not isinstance(value, list):
        raise DataError(f"{at}: expected a list, not {shown(value)}")
    return value


def check_integer(value: Any, at: str, low: int, high: int) -> int:
    """The value, an integer (not a bool) from `low` to `high`."""
    if type(value) is not int or not low <= value <= high:
        raise DataError(f"{at}: expected an integer from {low} to {high}, not {shown(value)}")
    return value


def check_word(value: Any, at: str, words: Sequence[str]) -> str:
    """The value, one of `words`."""
    if not isinstance(value, str) or value not in words:
        raise DataError(f"{at}: expected one of {', '.join(words)}, not {shown(value)}")
    return value


def shown(value: Any) -> str:
    """The value as an error message quotes it: short, and 'nothing' for None."""
    return "nothing" if value is None else repr(value)[:_SHOWN_CHARACTERS]
