"""Checks of a state: copies, dictionaries, values, legal lists, refused moves, answer order, withdrawal."""

import dataclasses
import json
from collections.abc import Callable, Iterator
from enum import Enum
from functools import lru_cache
from random import Random
from typing import Any, ClassVar

from referee.games.api import Action, Event, IllegalAction, State
from referee.games.conformance.checks import CheckFailed, difference, first_difference, viewer_name
from referee.games.conformance.trial import Node, Trial, canonical_text, play_on, same_state, to_bytes, unasked_actions

STEPS_ON_A_CLONE = 4
SCALARS = frozenset((bool, int, str, type(None)))


def check_clone(trial: Trial, state: State, node: Node) -> None:
    """CheckFailed `clone` unless a clone is equal and moves on it leave the state unchanged."""
    before = trial.snapshot.state_bytes
    clone = state.clone()
    if not same_state(to_bytes(clone), before):
        raise CheckFailed("clone", f"the clone differs: {difference(state.to_dict(), clone.to_dict())}")
    was = state.to_dict()
    play_on(
        trial,
        clone,
        trial.rng("clone"),
        trial.ledger.copy(),
        steps=STEPS_ON_A_CLONE,
        withdrawn=trial.withdrawn,
        leave_share=0.1,
    )
    if not same_state(to_bytes(state), before):
        raise CheckFailed("clone", f"play on the clone changed the state: {difference(was, state.to_dict())}")


def check_dict(trial: Trial, state: State, node: Node) -> None:
    """CheckFailed `dict` unless to_dict() is JSON that restores an equal state and shares nothing with it."""
    data = state.to_dict()
    check_json(data)
    text = json.dumps(data)
    restored = trial.game.state_from_dict(json.loads(text))
    expected = trial.snapshot.state_bytes
    if not same_state(to_bytes(restored), expected):
        raise CheckFailed("dict", f"state_from_dict(to_dict()) differs: {difference(data, restored.to_dict())}")
    for viewer, observation in trial.snapshot.encoded.items():
        if trial.encoded_observation(restored, viewer) != observation:
            raise CheckFailed("dict", f"the restored state looks different to {viewer_name(viewer)}")
    if list(restored.decisions()) != list(node.decisions):
        raise CheckFailed("dict", f"the restored state asks {restored.decisions()}, not {node.decisions}")
    if list(restored.chance_outcomes()) != list(node.outcomes):
        raise CheckFailed("dict", "the restored state offers other chance outcomes")
    donor = json.loads(text)
    restored = trial.game.state_from_dict(donor)
    clear_containers(data)
    clear_containers(donor)
    for what, holder in (("to_dict() shares", state), ("state_from_dict() keeps", restored)):
        if not same_state(to_bytes(holder), expected):
            raise CheckFailed("dict", f"{what} a list or dictionary: changing it changed the state")


def check_json(value: Any, place: str = "state") -> None:
    """CheckFailed `dict` unless `value` has only JSON types, string keys and no floats."""
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


def clear_containers(value: Any) -> None:
    """Empty all lists and dictionaries in `value`, however deep."""
    if isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            if type(item) not in SCALARS:
                clear_containers(item)
        value.clear()


PLAIN = frozenset((bool, int, str, bytes, type(None)))


def check_frozen(value: Any, what: str, checked: set[int] | None = None) -> None:
    """CheckFailed `values` unless `value` is a frozen dataclass whose fields cannot change either.

    `checked` holds the id() of field values that were checked before and are still alive.
    """
    kind: Any = type(value)
    names = frozen_fields(kind)
    if names is None:
        raise CheckFailed("values", f"{what} {value!r} is not a frozen dataclass")
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
    """CheckFailed `values` unless the actions and observations of this node are immutable values."""
    for legal in node.legal.values():
        for action in legal:
            check_frozen(action, "action")
            check_kind(action, "action")
    checked: set[int] = set()
    for observation in trial.snapshot.observations.values():
        check_frozen(observation, "observation", checked)


def check_event_values(trial: Trial, events: list[Event]) -> None:
    """CheckFailed `values` unless the events of one step are immutable values for existing seats."""
    for event in events:
        if not isinstance(event, Event):
            raise CheckFailed("values", f"{event!r} is not an Event")
        if any(type(seat) is not int or not 0 <= seat < trial.players for seat in event.private):
            raise CheckFailed("values", f"{event!r} has private parts for {list(event.private)}: no such seats")
        for payload in (event.public, *event.private.values()):
            check_frozen(payload, "payload")
            check_kind(payload, "payload")


@dataclasses.dataclass(frozen=True, slots=True)
class KeptClone:
    """A clone taken at a node, kept to check that later moves do not change it."""

    node: int
    clone: State
    state_bytes: bytes

    @classmethod
    def of(cls, trial: Trial, state: State) -> "KeptClone":
        return cls(trial.node, state.clone(), to_bytes(state))

    def check(self) -> None:
        """CheckFailed `clone` if a later move changed it."""
        if not same_state(to_bytes(self.clone), self.state_bytes):
            raise CheckFailed("clone", f"moves after node {self.node} changed a clone taken there")


def check_legal_list(trial: Trial, state: State, node: Node) -> None:
    """CheckFailed `legal_list` unless a repeated call, a clone and a restored state give the same list and order."""
    others = {
        "asked again": state,
        "of a clone": state.clone(),
        "of the state restored from to_dict()": trial.game.state_from_dict(state.to_dict()),
    }
    for seat, legal in node.legal.items():
        for how, other in others.items():
            again = list(other.legal_actions(seat))
            if again != list(legal):
                raise CheckFailed("legal_list", f"seat {seat}, {how}: {first_difference(list(legal), again)}")
    for seat in range(trial.players):
        if seat not in node.legal and unasked_actions(state, seat):
            raise CheckFailed("legal_list", f"seat {seat} is not asked and is offered actions")


Attempt = tuple[str, Callable[[State], object]]
TRIED_OLD = 4
TRIED_NEAR = 4


@dataclasses.dataclass(frozen=True, slots=True)
class Foreign:
    """An action that belongs to no game."""

    KIND: ClassVar[str] = "foreign"


def check_refusal(trial: Trial, state: State, node: Node) -> None:
    """CheckFailed `refusal` unless illegal moves raise IllegalAction and leave the state unchanged."""
    rng = trial.rng("refusal")
    before = trial.snapshot.state_bytes
    victim = state.clone()
    attempts = [*wrong_answers(trial, node, rng), *wrong_outcomes(trial, node), *wrong_leaving(trial, node)]
    for what, attempt in attempts:
        expect_refusal(victim, what, attempt)
    if same_state(to_bytes(victim), before) and still_same(victim, node):
        return
    for what, attempt in attempts:
        victim = state.clone()
        expect_refusal(victim, what, attempt)
        if not same_state(to_bytes(victim), before) or not still_same(victim, node):
            raise CheckFailed("refusal", f"{what} was refused and changed the state")
    raise CheckFailed("refusal", f"these together were refused and changed the state: {[what for what, _ in attempts]}")


def expect_refusal(victim: State, what: str, attempt: Callable[[State], object]) -> None:
    """CheckFailed unless `attempt` raises IllegalAction."""
    try:
        attempt(victim)
    except IllegalAction:
        return
    except Exception as error:
        raise CheckFailed(
            "refusal", f"{what} raised {type(error).__name__}({error}) instead of IllegalAction"
        ) from error
    raise CheckFailed("refusal", f"{what} was accepted")


def still_same(victim: State, node: Node) -> bool:
    return all(list(victim.legal_actions(seat)) == list(legal) for seat, legal in node.legal.items())


def answering(answers: dict[int, Action]) -> Attempt:
    return f"apply({answers!r})", lambda state: state.apply(dict(answers))


def wrong_answers(trial: Trial, node: Node, rng: Random) -> Iterator[Attempt]:
    """Answers with a seat missing, with an extra seat, or with an action that is not in the seat's list."""
    good = {seat: legal[0] for seat, legal in node.legal.items()}
    idle = next(seat for seat in range(trial.players + 1) if seat not in good)
    some_action = next(iter(good.values()), next(iter(trial.old_actions), Foreign()))
    yield answering({**good, idle: some_action})
    yield answering({**good, -1: some_action})
    if not good:
        yield answering({})
        return
    for seat in good:
        yield answering({other: action for other, action in good.items() if other != seat})
    yield answering({idle: some_action})
    for seat in good if len(good) == 1 else (min(good), max(good)):
        for action in wrong_actions(trial, node, seat, rng):
            yield answering({**good, seat: action})


def wrong_actions(trial: Trial, node: Node, seat: int, rng: Random) -> Iterator[Any]:
    """Values that are not actions, actions of other nodes and seats, and slightly changed legal actions."""
    legal = set(node.legal[seat])
    yield from (None, 0, "", "pass()", object(), Foreign())
    old = [action for action in dict.fromkeys(trial.old_actions) if action not in legal]
    yield from rng.sample(old, min(TRIED_OLD, len(old)))
    for other, actions in node.legal.items():
        if other != seat:
            yield from [action for action in actions if action not in legal][:1]
    sample = rng.sample(list(node.legal[seat]), min(TRIED_NEAR, len(legal)))
    yield from (near for action in sample for near in neighbours(action, rng) if near not in legal)


def neighbours(action: Action, rng: Random) -> Iterator[Action]:
    """`action` with one field changed a little."""
    names = [field.name for field in dataclasses.fields(action)]
    if not names:
        return
    name = rng.choice(names)
    for value in changed(getattr(action, name)):
        try:
            yield dataclasses.replace(action, **{name: value})
        except (ValueError, TypeError):  # the action class validates its fields
            continue


def changed(value: object) -> tuple[object, ...]:
    if isinstance(value, bool):
        return (not value,)
    if isinstance(value, int):
        return value + 1, value - 1, -1, 10**9
    if isinstance(value, tuple):
        return (*value, *value), value[:-1], value[::-1]
    return (f"{value}x",)


def wrong_outcomes(trial: Trial, node: Node) -> Iterator[Attempt]:
    """Outcomes that are not offered here: of the wrong type, or from other nodes."""
    offered = {outcome for outcome, _ in node.outcomes}
    texts = [str(outcome) for outcome in offered if isinstance(outcome, int)][:1]
    for outcome in (*trial.old_outcomes[-8:], None, "", "no such outcome", -1, 10**9, *texts):
        if outcome not in offered:
            yield (
                f"apply_chance({outcome!r})",
                lambda state, outcome=outcome: state.apply_chance(outcome),  # type: ignore[misc]
            )


def wrong_leaving(trial: Trial, node: Node) -> Iterator[Attempt]:
    """Withdrawals of seats that have left, and of values that are not seats; after the end, of every seat."""
    seats = range(trial.players) if node.terminal else trial.withdrawn
    for seat in (*sorted(seats), -1, trial.players, None, "0"):
        yield f"withdraw({seat!r})", lambda state, seat=seat: state.withdraw(seat)  # type: ignore[misc]


def check_answer_order(trial: Trial, state: State, node: Node) -> None:
    """CheckFailed `answer_order` unless answers given in reverse order lead to the same state and events."""
    if len(node.decisions) < 2:
        return
    rng = trial.rng("answer_order")
    answers = {seat: rng.choice(legal) for seat, legal in node.legal.items()}
    forwards, backwards = state.clone(), state.clone()
    events = forwards.apply(answers)
    again = backwards.apply(dict(reversed(answers.items())))
    if canonical_text(forwards) != canonical_text(backwards):
        where = difference(forwards.to_dict(), backwards.to_dict())
        raise CheckFailed("answer_order", f"{answers} given in another order lead to another state: {where}")
    for viewer in trial.viewers:
        if trial.encoded_events(viewer, events) != trial.encoded_events(viewer, again):
            raise CheckFailed(
                "answer_order", f"{answers} given in another order give {viewer_name(viewer)} other messages"
            )


MORE_LEAVE_SHARE = 0.03


def check_withdraw(trial: Trial, state: State, node: Node) -> None:
    """CheckFailed unless a seat can withdraw here, on a clone that is then played to its end."""
    if node.terminal:
        return
    rng = trial.rng("withdraw")
    seat = rng.choice(trial.staying)
    after = state.clone()
    check_event_values(trial, after.withdraw(seat))
    before = to_bytes(after)
    expect_refusal(after, f"withdraw({seat}) a second time", lambda victim: victim.withdraw(seat))
    if not same_state(to_bytes(after), before):
        raise CheckFailed("refusal", f"withdraw({seat}) a second time was refused and changed the state")
    trial.tally.add("leaving", "tried on copies")
    try:
        play_on(
            trial,
            after,
            rng,
            trial.ledger.copy(),
            withdrawn={*trial.withdrawn, seat},
            leave_share=MORE_LEAVE_SHARE,
        )
    except CheckFailed as failed:
        raise failed.within(f"after seat {seat} left at this node") from failed
