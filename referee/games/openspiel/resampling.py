"""Other matches that a seat cannot tell from this one.

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
    actors = _actors(begin, found)
    wanted = _known(_replayed(begin, found), viewer)
    foreign = [number for number, actor in enumerate(actors) if actor is not None and actor != viewer]
    if not foreign or wanted is None:
        return found
    for _ in range(CHANGES_TRIED):
        changed = _changed(begin, found, foreign, actors, rng)
        if changed is None or changed == found:
            continue
        position = _replayed(begin, changed, actors)
        if position is not None and _known(position, viewer) == wanted:
            found = changed
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


def _actors(begin: Begin, steps: Steps) -> list[int | None]:
    """Per step the player that chose it, chance being OpenSpiel's -1; None where several did."""
    position = begin()
    actors: list[int | None] = []
    for step in steps:
        actors.append(None if position.is_simultaneous_node() else int(position.current_player()))
        _apply(position, step)
    return actors


def _replayed(begin: Begin, steps: Steps, actors: Sequence[int | None] | None = None) -> Any:
    """The position after these steps; None if one is not legal, or another player than before would choose it."""
    position = begin()
    if actors is None:
        for step in steps:
            _apply(position, step)
        return position
    for step, actor in zip(steps, actors, strict=True):
        if position.is_terminal():
            return None
        if position.is_simultaneous_node():
            if actor is not None or any(action not in position.legal_actions(seat) for seat, action in enumerate(step)):
                return None
        elif position.current_player() != actor or step not in _choices(position):
            return None
        _apply(position, step)
    return position


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
    begin: Begin, steps: Steps, foreign: Sequence[int], actors: Sequence[int | None], rng: Random
) -> Steps | None:
    """The steps with one of them replaced, or two outcomes of chance exchanged."""
    number = rng.choice(foreign)
    changed = steps.copy()
    chance = pyspiel.PlayerId.CHANCE
    others = [other for other in foreign if actors[other] == chance and steps[other] != steps[number]]
    if actors[number] == chance and others and rng.random() < 0.5:
        other = rng.choice(others)
        changed[number], changed[other] = changed[other], changed[number]
        return changed
    choices = _choices(_replayed(begin, steps[:number]))
    changed[number] = int(rng.choice(choices))
    return changed
