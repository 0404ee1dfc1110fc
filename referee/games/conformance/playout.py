"""Plays a branch on at random, with the checks of every node."""

from collections.abc import Collection
from random import Random

from referee.games.api import State
from referee.games.conformance.ending import check_ending
from referee.games.conformance.failure import CheckFailed
from referee.games.conformance.luck import Ledger
from referee.games.conformance.nodes import look
from referee.games.conformance.steps import Come, Leave, Step, random_step, take
from referee.games.conformance.trial import Trial

CHANCE_NODES_IN_A_ROW = 10_000


def play_on(
    trial: Trial,
    state: State,
    rng: Random,
    ledger: Ledger,
    *,
    steps: int | None = None,
    gone: Collection[int] = (),
    leave_share: float = 0.0,
) -> None:
    """Play `state`, in place, to the end or for `steps` steps. `leave_share` is the chance per node that a seat leaves.

    `ledger` is used up; `gone` are the seats that have left.
    """
    left = set(gone)
    decisions = trial.decisions
    chance_nodes = done = 0
    while steps is None or done < steps:
        node = look(trial, state, ledger, left, decisions)
        if node.terminal:
            check_ending(trial, state, left)
            return
        chance_nodes = chance_nodes + 1 if node.outcomes else 0
        if chance_nodes > CHANCE_NODES_IN_A_ROW:
            raise CheckFailed("nodes", f"{chance_nodes} chance nodes in a row")
        step: Step
        if leave_share and rng.random() < leave_share:
            step = Leave(rng.choice([seat for seat in range(trial.players) if seat not in left]))
            left.add(step.seat)
        else:
            step = random_step(node, rng)
            decisions += len(node.decisions)
        if isinstance(step, Come) and node.stream is not None:
            ledger.take(node.stream, node.outcomes, step.outcome)
        take(state, step)
        done += 1
