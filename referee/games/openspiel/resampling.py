"""Resampling: other matches that a seat cannot tell from this one.

OpenSpiel's own `resample_from_infostate` serves where a game has one that works. Otherwise steps that the seat did not
choose are changed one after the other (two outcomes of chance exchanged, an outcome or an action replaced), and a
change stays if every later step is still legal and the seat's information state is the same text as before.
"""

from collections.abc import Callable, Sequence
from random import Random
from typing import Any, TypeAlias

import pyspiel

from referee.games.openspiel.chance import are_even, weights_of

Steps: TypeAlias = list[Any]
Begin: TypeAlias = Callable[[], Any]
CHANGES_TRIED = 24


def changed_steps(begin: Begin, steps: Sequence[Any], viewer: int | None, rng: Random) -> Steps:
    """Steps that lead to the same kind of node with the same information state of `viewer`.

    None is a spectator of a game of imperfect information, who knows only who is asked.
    """
    found = list(steps)
    positions = _positions(begin(), found)
    actors = [_actor(position) for position in positions[:-1]]
    wanted = _known(positions[-1], viewer)
    foreign = [number for number, actor in enumerate(actors) if actor is not None and actor != viewer]
    if not foreign or wanted is None:
        return found
    for _ in range(CHANGES_TRIED):
        first, changed = _changed(found, positions, foreign, actors, rng)
        if changed == found:
            continue
        later = _replayed(positions[first], changed[first:], actors[first:])
        if later and _known(later[-1], viewer) == wanted:
            found, positions = changed, positions[: first + 1] + later
    return found


def _known(position: Any, viewer: int | None) -> object:
    """What must stay the same; None if that cannot be said."""
    even = position.is_chance_node() and are_even(weights_of(position.chance_outcomes()))
    node = (position.is_terminal(), even, position.current_player())
    if viewer is None:
        return node
    try:
        return node, position.information_state_string(viewer), list(_legal_of(position, viewer))
    except pyspiel.SpielError:
        return None


def _legal_of(position: Any, viewer: int) -> Sequence[int]:
    if position.is_terminal() or position.is_chance_node():
        return ()
    asked = position.is_simultaneous_node() or position.current_player() == viewer
    legal: Sequence[int] = position.legal_actions(viewer) if asked else ()
    return legal


def _actor(position: Any) -> int | None:
    """Who chooses the next step, chance being OpenSpiel's -1; None where several do."""
    return None if position.is_simultaneous_node() else int(position.current_player())


def _positions(position: Any, steps: Steps) -> list[Any]:
    """The positions before each step, and the last one."""
    found = [position]
    for step in steps:
        position = position.clone()
        _apply(position, step)
        found.append(position)
    return found


def _replayed(position: Any, steps: Steps, actors: Sequence[int | None]) -> list[Any]:
    """The positions after each step; empty if one is not legal, or another player than before would choose it."""
    found = []
    for step, actor in zip(steps, actors, strict=True):
        if position.is_terminal() or _actor(position) != actor:
            return []
        if actor is None:
            if any(action not in position.legal_actions(seat) for seat, action in enumerate(step)):
                return []
        elif step not in _choices(position):
            return []
        position = position.clone()
        _apply(position, step)
        found.append(position)
    return found


def _choices(position: Any) -> Sequence[int]:
    if position.is_chance_node():
        return [outcome for outcome, probability in position.chance_outcomes() if probability > 0]
    legal: Sequence[int] = position.legal_actions()
    return legal


def _apply(position: Any, step: Any) -> None:
    if isinstance(step, list):
        position.apply_actions(step)
    else:
        position.apply_action(step)


def _changed(
    steps: Steps, positions: Sequence[Any], foreign: Sequence[int], actors: Sequence[int | None], rng: Random
) -> tuple[int, Steps]:
    """The steps with one of them replaced, or two outcomes of chance exchanged; and the first that is another."""
    number = rng.choice(foreign)
    changed = steps.copy()
    chance = pyspiel.PlayerId.CHANCE
    if actors[number] == chance and rng.random() < 0.5:
        others = [other for other in foreign if actors[other] == chance and steps[other] != steps[number]]
        if others:
            other = rng.choice(others)
            changed[number], changed[other] = changed[other], changed[number]
            return min(number, other), changed
    changed[number] = int(rng.choice(_choices(positions[number])))
    return number, changed
