"""Actions, payloads and observations are values, frozen through and through; clones stay as they were."""

import dataclasses
from enum import Enum
from functools import lru_cache
from typing import Any

from referee.games.api import Event, State
from referee.games.conformance.failure import CheckFailed
from referee.games.conformance.marks import alike, mark_of
from referee.games.conformance.nodes import Node
from referee.games.conformance.trial import Trial

PLAIN = frozenset((bool, int, str, bytes, type(None)))


def check_frozen(value: Any, what: str, checked: set[int] | None = None) -> None:
    """CheckFailed `values` unless `value` is a frozen dataclass, and what it holds cannot change either.

    `checked` has the id() of its fields' values that have been looked at before and are still held by others.
    """
    kind: Any = type(value)
    names = frozen_fields(kind)
    if names is None:
        raise CheckFailed("values", f"{what} {value!r} is no frozen dataclass")
    for name in names:
        item = getattr(value, name)
        if type(item) in PLAIN or (checked is not None and id(item) in checked):
            continue
        check_unchanging(item, f"{what} {kind.__name__}.{name}")
        if checked is not None:
            checked.add(id(item))


@lru_cache(maxsize=256)
def frozen_fields(kind: Any) -> tuple[str, ...] | None:
    """The names of the fields of a frozen dataclass; None for other classes."""
    params = getattr(kind, "__dataclass_params__", None)
    if params is None or not params.frozen:
        return None
    return tuple(field.name for field in dataclasses.fields(kind))


def check_unchanging(value: Any, what: str) -> None:
    if type(value) is tuple:
        for item in value:
            if type(item) not in PLAIN:
                check_unchanging(item, what)
    elif type(value) not in PLAIN and not isinstance(value, Enum):
        if not dataclasses.is_dataclass(value):
            raise CheckFailed("values", f"{what} holds the {type(value).__name__} {value!r}, which can change or round")
        check_frozen(value, what)


def check_kind(value: Any, what: str) -> None:
    if type(getattr(value, "KIND", None)) is not str:
        raise CheckFailed("values", f"{what} {value!r} has no KIND")


def check_values(trial: Trial, state: State, node: Node) -> None:
    """The actions and observations of this node."""
    for legal in node.legal.values():
        for action in legal:
            check_frozen(action, "action")
            check_kind(action, "action")
    checked: set[int] = set()
    for observation in trial.sight.observations.values():
        check_frozen(observation, "observation", checked)


def check_event_values(trial: Trial, events: list[Event]) -> None:
    """The events of one step."""
    for event in events:
        if not isinstance(event, Event):
            raise CheckFailed("values", f"{event!r} is no Event")
        if any(type(seat) is not int or not 0 <= seat < trial.players for seat in event.private):
            raise CheckFailed("values", f"{event!r} has private parts for {list(event.private)}: no such seats")
        for payload in (event.public, *event.private.values()):
            check_frozen(payload, "payload")
            check_kind(payload, "payload")


@dataclasses.dataclass(frozen=True, slots=True)
class Keepsake:
    """A clone taken at a node, to see that the moves after it leave it alone."""

    node: int
    clone: State
    mark: bytes

    @classmethod
    def of(cls, trial: Trial, state: State) -> "Keepsake":
        return cls(trial.node, state.clone(), mark_of(state))

    def check(self) -> None:
        """CheckFailed `clone` if a later move reached it."""
        if not alike(mark_of(self.clone), self.mark):
            raise CheckFailed("clone", f"moves after node {self.node} changed a clone taken there")
