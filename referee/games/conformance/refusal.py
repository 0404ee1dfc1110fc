"""Whatever is not legal is refused with IllegalAction and leaves no trace."""

import dataclasses
from collections.abc import Callable, Iterator
from random import Random
from typing import Any, ClassVar

from referee.games.api import Action, IllegalAction, State
from referee.games.conformance.failure import CheckFailed
from referee.games.conformance.marks import alike, mark_of
from referee.games.conformance.nodes import Node
from referee.games.conformance.trial import Trial

Attempt = tuple[str, Callable[[State], object]]
TRIED_OLD = 4
TRIED_NEAR = 4


@dataclasses.dataclass(frozen=True, slots=True)
class Foreign:
    """An action of no game."""

    KIND: ClassVar[str] = "foreign"


def check_refusal(trial: Trial, state: State, node: Node) -> None:
    """Try what must not go on a copy; IllegalAction each time, and the copy stays as it was."""
    rng = trial.rng("refusal")
    before = trial.sight.mark
    victim = state.clone()
    attempts = [*wrong_answers(trial, node, rng), *wrong_outcomes(trial, node), *wrong_leaving(trial, node)]
    for what, attempt in attempts:
        expect_refusal(victim, what, attempt)
    if alike(mark_of(victim), before) and still_same(victim, node):
        return
    for what, attempt in attempts:
        victim = state.clone()
        expect_refusal(victim, what, attempt)
        if not alike(mark_of(victim), before) or not still_same(victim, node):
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
    """Missing seats, extra seats, and in one seat's place what is not in its list."""
    good = {seat: legal[0] for seat, legal in node.legal.items()}
    idle = next(seat for seat in range(trial.players + 1) if seat not in good)
    stand_in = next(iter(good.values()), next(iter(trial.old_actions), Foreign()))
    yield answering({**good, idle: stand_in})
    yield answering({**good, -1: stand_in})
    if not good:
        yield answering({})
        return
    for seat in good:
        yield answering({other: action for other, action in good.items() if other != seat})
    yield answering({idle: stand_in})
    for seat in good if len(good) == 1 else (min(good), max(good)):
        for action in wrong_actions(trial, node, seat, rng):
            yield answering({**good, seat: action})


def wrong_actions(trial: Trial, node: Node, seat: int, rng: Random) -> Iterator[Any]:
    """Things that are no action, actions of other nodes and seats, and neighbours of legal actions."""
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
        except (ValueError, TypeError):  # a class that checks itself is welcome to
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
    """Outcomes that are not offered, of the wrong type or of other nodes."""
    offered = {outcome for outcome, _ in node.outcomes}
    texts = [str(outcome) for outcome in offered if isinstance(outcome, int)][:1]
    for outcome in (*trial.old_outcomes[-8:], "", "no such outcome", -1, 10**9, *texts):
        if outcome not in offered:
            yield (
                f"apply_chance({outcome!r})",
                lambda state, outcome=outcome: state.apply_chance(outcome),  # type: ignore[misc]
            )


def wrong_leaving(trial: Trial, node: Node) -> Iterator[Attempt]:
    """Seats that do not exist or have left; after the end, every seat."""
    seats = range(trial.players) if node.terminal else trial.gone
    for seat in (*sorted(seats), -1, trial.players):
        yield f"withdraw({seat})", lambda state, seat=seat: state.withdraw(seat)  # type: ignore[misc]
