"""Verbs that give something: VP, energy, life, results, turns; and their conditions."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from referee.games.king_of_new_york.damage import units_in
from referee.games.king_of_new_york.dice import add_results
from referee.games.king_of_new_york.events import ExtraTurn, event
from referee.games.king_of_new_york.gains import gain_energy, gain_vp, heal
from referee.games.king_of_new_york.moments import Hook
from referee.games.king_of_new_york.names import BOROUGH_NUMBER, FACE_NUMBER, FACES, UNIT_NUMBER

if TYPE_CHECKING:
    from referee.games.king_of_new_york.rules import KingState

Effect: TypeAlias = Mapping[str, Any]
Condition: TypeAlias = "Callable[[KingState, int, int], bool]"


def gain(effect: Effect, card: int, name: str) -> Hook:
    """VP, energy, life for the owner."""
    holds = conditions(effect)
    vp, energy, life = (effect.get(what, 0) for what in ("vp", "energy", "life"))

    def hook(state: "KingState", seat: int, about: int) -> None:
        if not all(test(state, seat, about) for test in holds):
            return
        if vp:
            gain_vp(state, seat, vp, name)
        if energy:
            gain_energy(state, seat, energy, name)
        if life:
            heal(state, seat, life, name)

    return hook


def add(effect: Effect, card: int, name: str) -> Hook:
    """Results for the owner's roll."""
    holds = conditions(effect)
    amounts = tuple((face, effect[word]) for face, word in enumerate(FACES) if word in effect)

    def hook(state: "KingState", seat: int, about: int) -> None:
        if all(test(state, seat, about) for test in holds):
            for face, amount in amounts:
                add_results(state, seat, face, amount, name)

    return hook


def extra_turn(effect: Effect, card: int, name: str) -> Hook:
    """Another turn after this one, perhaps with Subway rides."""
    holds = conditions(effect)
    rides = int(effect.get("rides", False))

    def hook(state: "KingState", seat: int, about: int) -> None:
        if all(test(state, seat, about) for test in holds):
            state.extra.append(seat * 2 + rides)
            state.log.append(event(ExtraTurn, seat, name))

    return hook


def conditions(effect: Effect) -> tuple[Condition, ...]:
    """The tests an effect names, all of which must pass."""
    makers: dict[str, Callable[[Any], Condition]] = {
        "in": _in_borough,
        "holding": _holding,
        "showing": _showing,
        "all_faces": lambda flag: _all_faces,
        "unit": _unit,
        "first": lambda flag: _first,
        "units_here": _units_here,
    }
    return tuple(make(effect[word]) for word, make in makers.items() if effect.get(word))


def _in_borough(borough: str) -> Condition:
    number = BOROUGH_NUMBER[borough]
    return lambda state, seat, about: state.where[seat] == number


def _holding(goal: str) -> Condition:
    if goal == "superstar":
        return lambda state, seat, about: state.superstar == seat
    return lambda state, seat, about: state.statue == seat


def _showing(face: str) -> Condition:
    number = FACE_NUMBER[face]
    return lambda state, seat, about: showing(state, number) > 0


def showing(state: "KingState", face: int) -> int:
    """Dice of the final roll that show a face: those not given up, resolved or not."""
    return state.dice[face] + state.shown[face]


def _all_faces(state: "KingState", seat: int, about: int) -> bool:
    bonus = state.bonus if state.box.climb_bonus else [0] * len(FACES)
    return all(count + added for count, added in zip(state.dice, bonus, strict=True))


def _unit(unit: str) -> Condition:
    number = UNIT_NUMBER[unit]
    return lambda state, seat, about: about == number


def _first(state: "KingState", seat: int, about: int) -> bool:
    return state.razed == 1


def _units_here(count: int) -> Condition:
    return lambda state, seat, about: units_in(state, state.where[seat]) >= count
