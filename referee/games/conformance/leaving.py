"""A seat leaves here, and the others play on."""

from referee.games.api import State
from referee.games.conformance.failure import CheckFailed
from referee.games.conformance.marks import alike, mark_of
from referee.games.conformance.nodes import Node
from referee.games.conformance.playout import play_on
from referee.games.conformance.refusal import expect_refusal
from referee.games.conformance.trial import Trial
from referee.games.conformance.values import check_event_values

MORE_LEAVE_SHARE = 0.03


def check_withdraw(trial: Trial, state: State, node: Node) -> None:
    """One staying seat withdraws on a copy, which is then played to its end."""
    if node.terminal:
        return
    rng = trial.rng("withdraw")
    seat = rng.choice(trial.staying)
    after = state.clone()
    check_event_values(trial, after.withdraw(seat))
    mark = mark_of(after)
    expect_refusal(after, f"withdraw({seat}) a second time", lambda victim: victim.withdraw(seat))
    if not alike(mark_of(after), mark):
        raise CheckFailed("refusal", f"withdraw({seat}) a second time was refused and changed the state")
    trial.tally.add("leaving", "tried on copies")
    try:
        play_on(
            trial,
            after,
            rng,
            trial.ledger.copy(),
            gone={*trial.gone, seat},
            leave_share=MORE_LEAVE_SHARE,
        )
    except CheckFailed as failed:
        raise failed.within(f"after seat {seat} left at this node") from failed
