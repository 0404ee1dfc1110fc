"""The parameters of an OpenSpiel game as options, and back."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pyspiel

from referee.games.api import Option, OptionError

PLAYERS = ("players", "num_players", "numPlayers")
"""Parameters for the number of players, which the seats of the match give."""
START = "start"
TENSORS = "tensors"
WITH_START = {"chess": "FEN"}
"""Games that can begin in a given position, and how that is written."""
_RENAMED = {"50_move_rule": "fifty_move_rule"}
_OTHER_DEFAULTS: Mapping[str, Any] = {"ansi_color_output": False}
_NOT_SET = ("_file", "_root", "fen")
"""Ends of the names of parameters that a match cannot set: files, of which a referee reads none for a game, and
positions, where OpenSpiel ends the process for a text that is none."""
_CAPITAL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_MARK = "OpenSpiel"


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of OpenSpiel and the option it has become. `is_number`: it is not a whole number."""

    name: str
    option: Option
    is_number: bool


def parameters_of(kind: Any) -> tuple[Parameter, ...]:
    """The parameters of a `pyspiel.GameType` that a match may set."""
    found = []
    for name, default in sorted(kind.parameter_specification.items()):
        if name in PLAYERS or name.endswith(_NOT_SET) or not isinstance(default, bool | int | float | str):
            continue
        value = _OTHER_DEFAULTS.get(name, default)
        is_number = isinstance(value, float)
        doc = f"OpenSpiel's parameter {name}" + (
            f": a number in quotes, such as {_written(value)!r}." if is_number else "."
        )
        option = Option(_option_name(name), _written(value) if is_number else value, doc, _MARK)
        found.append(Parameter(name, option, is_number))
    return tuple(found)


def own_options(name: str) -> tuple[Option, ...]:
    """The options that every game has, and those of the game `name`, beside OpenSpiel's parameters."""
    start: tuple[Option, ...] = ()
    if name in WITH_START:
        start = (
            Option(START, "", f"The position to begin with ({WITH_START[name]}); empty for the usual one.", "OURS"),
        )
    tensors = Option(
        TENSORS, True, "Send OpenSpiel's tensors with each observation; false makes a decision quicker.", "OURS"
    )
    return (*start, tensors)


def load(name: str, players: int, parameters: tuple[Parameter, ...], options: Mapping[str, Any]) -> Any:
    """The `pyspiel.Game` with these options. OptionError for values that it does not accept."""
    given: dict[str, Any] = {}
    for parameter in parameters:
        value = options.get(parameter.option.name, parameter.option.default)
        if value != parameter.option.default or parameter.name in _OTHER_DEFAULTS:
            given[parameter.name] = _number(name, parameter, value) if parameter.is_number else value
    try:
        return load_with(name, players, given)
    except pyspiel.SpielError as error:
        shown = ", ".join(f"{key} = {value!r}" for key, value in given.items()) or "its defaults"
        raise OptionError(
            f"openspiel/{name} cannot be set up for {players} players with {shown}: {reason(error)}"
        ) from None


def load_with(name: str, players: int, given: Mapping[str, Any]) -> Any:
    """The `pyspiel.Game` with these parameters. SpielError if it cannot be loaded, or not for this number of seats."""
    game = pyspiel.load_game(name, dict(given))
    if game.num_players() == players:
        return game
    seats = next((known for known in PLAYERS if known in game.get_type().parameter_specification), "")
    if seats:
        game = pyspiel.load_game(name, {**given, seats: players})
    if game.num_players() != players:
        raise pyspiel.SpielError(f"it is for {game.num_players()} players")
    return game


def reason(error: BaseException) -> str:
    """The text of OpenSpiel's exception: one line, without the place in its source."""
    line = str(error).strip().split("\n")[0]
    return re.sub(r"^\S*?([\w.]+):(\d+) ", r"\1:\2: ", line) or type(error).__name__


def _number(name: str, parameter: Parameter, value: str) -> float:
    try:
        number = float(value)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        what = f"openspiel/{name} option '{parameter.option.name}' must be a number in quotes"
        raise OptionError(f"{what}, such as {parameter.option.default!r}, not {value!r}")
    return number


def _written(number: float) -> str:
    return f"{number:g}"


def _option_name(name: str) -> str:
    return _RENAMED.get(name) or _CAPITAL.sub("_", name).lower()
