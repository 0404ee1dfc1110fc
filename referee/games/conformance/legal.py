"""Legal lists do not depend on who asks, how often, or how the state came about."""

from referee.games.api import State
from referee.games.conformance.ending import unasked_actions
from referee.games.conformance.failure import CheckFailed
from referee.games.conformance.nodes import Node
from referee.games.conformance.trial import Trial


def check_legal_list(trial: Trial, state: State, node: Node) -> None:
    """The same list, in the same order, again, of a clone, and of the state restored from its dictionary."""
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


def first_difference(first: list[object], second: list[object]) -> str:
    """Where two lists part, for messages."""
    for position, (one, other) in enumerate(zip(first, second, strict=False)):
        if one != other:
            return f"position {position} was {one!r}, now {other!r}"
    return f"{len(first)} actions before, {len(second)} now"
