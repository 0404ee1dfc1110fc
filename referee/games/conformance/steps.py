"""A step of a match as data, so that one and the same can be tried on several states."""

from collections.abc import Mapping
from dataclasses import dataclass
from random import Random
from typing import TypeAlias

from referee.games.api import Action, Event, Outcome, State
from referee.games.conformance.nodes import Node
from referee.games.keyed import KeyedChance, random_outcome


@dataclass(frozen=True, slots=True)
class Act:
    """All asked seats answer."""

    answers: Mapping[int, Action]


@dataclass(frozen=True, slots=True)
class Come:
    """Chance decides."""

    outcome: Outcome


@dataclass(frozen=True, slots=True)
class Leave:
    """A seat withdraws."""

    seat: int


Step: TypeAlias = Act | Come | Leave


def take(state: State, step: Step) -> list[Event]:
    """Do it, in place."""
    match step:
        case Act(answers):
            return state.apply(dict(answers))
        case Come(outcome):
            return state.apply_chance(outcome)
        case Leave(seat):
            return state.withdraw(seat)


def plain_step(state: State, chance: KeyedChance, rng: Random) -> Act | Come:
    """Answers drawn evenly, or the keyed outcome; nothing checked."""
    if asked := state.decisions():
        return Act({each.seat: rng.choice(state.legal_actions(each.seat)) for each in asked})
    return Come(chance.choose(state.chance_stream(), state.chance_outcomes()))


def random_step(node: Node, rng: Random) -> Act | Come:
    """Answers drawn evenly, or an outcome drawn by weight."""
    if node.outcomes:
        return Come(random_outcome(node.outcomes, rng))
    return Act({seat: rng.choice(legal) for seat, legal in node.legal.items()})
