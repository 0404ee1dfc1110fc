"""Clones and dictionaries: equal to the state, and nothing shared with it."""

import dataclasses
import json
from typing import Any

from referee.games.api import State
from referee.games.conformance.failure import CheckFailed
from referee.games.conformance.marks import alike, mark_of
from referee.games.conformance.nodes import Node
from referee.games.conformance.playout import play_on
from referee.games.conformance.trial import Trial

STEPS_ON_A_CLONE = 4
SCALARS = frozenset((bool, int, str, type(None)))


def check_clone(trial: Trial, state: State, node: Node) -> None:
    """Equal, and what is played on the clone does not show in the state."""
    before = trial.sight.mark
    clone = state.clone()
    if not alike(mark_of(clone), before):
        raise CheckFailed("clone", f"the clone differs: {difference(state.to_dict(), clone.to_dict())}")
    was = state.to_dict()
    play_on(
        trial,
        clone,
        trial.rng("clone"),
        trial.ledger.copy(),
        steps=STEPS_ON_A_CLONE,
        gone=trial.gone,
        leave_share=0.1,
    )
    if not alike(mark_of(state), before):
        raise CheckFailed("clone", f"play on the clone changed the state: {difference(was, state.to_dict())}")


def check_dict(trial: Trial, state: State, node: Node) -> None:
    """Pure JSON, restorable, canonical, and not shared."""
    data = state.to_dict()
    check_json(data)
    text = json.dumps(data)
    restored = trial.game.state_from_dict(json.loads(text))
    mark = trial.sight.mark
    if not alike(mark_of(restored), mark):
        raise CheckFailed("dict", f"state_from_dict(to_dict()) differs: {difference(data, restored.to_dict())}")
    for viewer, look in trial.sight.looks.items():
        if trial.looks(restored, viewer) != look:
            raise CheckFailed("dict", f"the restored state looks different to {named(viewer)}")
    if list(restored.decisions()) != list(node.decisions):
        raise CheckFailed("dict", f"the restored state asks {restored.decisions()}, not {node.decisions}")
    if list(restored.chance_outcomes()) != list(node.outcomes):
        raise CheckFailed("dict", "the restored state offers other chance outcomes")
    donor = json.loads(text)
    restored = trial.game.state_from_dict(donor)
    spoil(data)
    spoil(donor)
    for what, holder in (("to_dict() shares", state), ("state_from_dict() keeps", restored)):
        if not alike(mark_of(holder), mark):
            raise CheckFailed("dict", f"{what} a list or dictionary: changing it changed the state")


def check_json(value: Any, place: str = "state") -> None:
    """CheckFailed `dict` unless `value` is of JSON's types, with text keys and without floats."""
    if isinstance(value, dict):
        for key, item in value.items():
            if type(key) is not str:
                raise CheckFailed("dict", f"{place} has the key {key!r}; JSON keys are texts")
            if type(item) not in SCALARS:
                check_json(item, f"{place}.{key}")
    elif isinstance(value, list):
        for position, item in enumerate(value):
            if type(item) not in SCALARS:
                check_json(item, f"{place}[{position}]")
    elif type(value) not in SCALARS:
        raise CheckFailed("dict", f"{place} is the {type(value).__name__} {value!r}")


def difference(first: Any, second: Any, place: str = "state") -> str:
    """The first place where two values, of JSON or observations, differ, for messages."""
    if dataclasses.is_dataclass(first) and type(first) is type(second):
        for field in dataclasses.fields(first):
            one, other = getattr(first, field.name), getattr(second, field.name)
            if one != other:
                return difference(one, other, f"{place}.{field.name}")
    if isinstance(first, dict) and isinstance(second, dict):
        for key in sorted(first.keys() | second.keys()):
            if first.get(key) != second.get(key):
                return difference(first.get(key), second.get(key), f"{place}.{key}")
    if isinstance(first, list | tuple) and type(first) is type(second) and len(first) == len(second):
        for position, (one, other) in enumerate(zip(first, second, strict=True)):
            if one != other:
                return difference(one, other, f"{place}[{position}]")
    return f"{place} is {str(first)[:200]} here and {str(second)[:200]} there"


def spoil(value: Any) -> None:
    """Empty all lists and dictionaries within."""
    if isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            if type(item) not in SCALARS:
                spoil(item)
        value.clear()


def named(viewer: int | None) -> str:
    """A viewer, for messages."""
    return "a spectator" if viewer is None else f"seat {viewer}"
