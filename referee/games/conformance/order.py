"""Simultaneous answers: the order in which they come makes no difference."""

from referee.games.api import State
from referee.games.conformance.copies import difference, named
from referee.games.conformance.failure import CheckFailed
from referee.games.conformance.marks import fingerprint
from referee.games.conformance.nodes import Node
from referee.games.conformance.trial import Trial


def check_answer_order(trial: Trial, state: State, node: Node) -> None:
    """The same answers forwards and backwards give the same state and tell the same."""
    if len(node.decisions) < 2:
        return
    rng = trial.rng("answer_order")
    answers = {seat: rng.choice(legal) for seat, legal in node.legal.items()}
    forwards, backwards = state.clone(), state.clone()
    events = forwards.apply(answers)
    again = backwards.apply(dict(reversed(answers.items())))
    if fingerprint(forwards) != fingerprint(backwards):
        where = difference(forwards.to_dict(), backwards.to_dict())
        raise CheckFailed("answer_order", f"{answers} given in another order lead to another state: {where}")
    for viewer in trial.viewers:
        if trial.seen_by(viewer, events) != trial.seen_by(viewer, again):
            raise CheckFailed("answer_order", f"{answers} given in another order are told {named(viewer)} differently")
