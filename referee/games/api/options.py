"""Options of a game: rules that our sources leave open or that a table may choose."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from referee.games.api.errors import OptionError

OptionValue: TypeAlias = bool | int | str

_SHOWN = 60
"""Characters of a wrong value that an error shows."""

DATA_OPTION = "data"
"""Reserved option name: a whole replacement data file, embedded as parsed JSON so that records stay self-contained."""


@dataclass(frozen=True, slots=True)
class Option:
    """One option.

    `confidence` is the mark of the rules sheet for the default (H, M, I, R, U, NY, BASE, OURS ...).
    `choices` lists the allowed values where they are few; `minimum` and `maximum` bound integers, inclusive.
    """

    name: str
    default: OptionValue
    doc: str
    confidence: str
    choices: tuple[OptionValue, ...] = ()
    minimum: int | None = None
    maximum: int | None = None

    def expected(self) -> str:
        """What a value must look like, for error messages and the documentation."""
        if isinstance(self.default, bool):
            return "true or false"
        if self.choices:
            return "one of " + ", ".join(str(choice) for choice in self.choices)
        if isinstance(self.default, int):
            low = "" if self.minimum is None else f" >= {self.minimum}"
            high = "" if self.maximum is None else f" <= {self.maximum}"
            return "an integer" + low + (" and" if low and high else "") + high
        return "a text"

    @property
    def is_bounded(self) -> bool:
        """Whether all values that it accepts are known to be values that a match can be played with."""
        bounded = self.minimum is not None and self.maximum is not None
        return isinstance(self.default, bool) or bool(self.choices) or bounded

    def accepts(self, value: object) -> bool:
        """Whether `value` has the type of the default and lies within choices and bounds."""
        if type(value) is not type(self.default):
            return False
        if self.choices:
            return value in self.choices
        if isinstance(value, int) and not isinstance(value, bool):
            above = self.minimum is None or value >= self.minimum
            below = self.maximum is None or value <= self.maximum
            return above and below
        return True


def resolve_options(game_id: str, options: Sequence[Option], given: Mapping[str, Any]) -> dict[str, Any]:
    """All options with their values, in declared order, `given` over defaults; `data` is passed through.

    Raises OptionError, naming the option and what was expected.
    """
    known = {option.name: option for option in options}
    for name in given:
        if name != DATA_OPTION and name not in known:
            raise OptionError(f"{game_id} has no option '{name}'; it has: {', '.join(known) or 'none'}")
    resolved: dict[str, Any] = {}
    for name, option in known.items():
        value = given.get(name, option.default)
        if not option.accepts(value):
            given_as = repr(value)
            shown = given_as if len(given_as) <= _SHOWN else f"{given_as[:_SHOWN]}..."
            raise OptionError(f"{game_id} option '{name}' must be {option.expected()}, not {shown}")
        resolved[name] = value
    if given.get(DATA_OPTION) is not None:
        resolved[DATA_OPTION] = given[DATA_OPTION]
    return resolved
