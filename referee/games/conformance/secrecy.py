"""Non-interference: what a viewer may not know is drawn anew, and nothing the viewer gets may change."""

from referee.games.api import State
from referee.games.conformance.copies import difference, named
from referee.games.conformance.failure import CheckFailed
from referee.games.conformance.legal import first_difference
from referee.games.conformance.luck import Ledger
from referee.games.conformance.marks import alike, mark_of
from referee.games.conformance.nodes import Node, check_conserved
from referee.games.conformance.playout import play_on
from referee.games.conformance.trial import Trial

STEPS_AFTER = 4


def check_non_interference(trial: Trial, state: State, node: Node) -> None:
    """Observation and legal list of every viewer, byte by byte, under resampling."""
    rng, sight = trial.rng("non_interference"), trial.sight
    before = sight.mark
    for viewer in trial.viewers:
        worlds = sight.worlds(viewer, rng)
        if not alike(mark_of(state), before):
            raise CheckFailed("resample", f"resample({viewer}) changed the state it was asked of")
        for other in worlds:
            if trial.looks(other, viewer) != sight.looks[viewer]:
                what = difference(state.observation(viewer), other.observation(viewer), "observation")
                why = difference(state.to_dict(), other.to_dict())
                raise CheckFailed(
                    "non_interference",
                    f"the observation of {named(viewer)} changes with what it may not know (or resample() changes what "
                    f"it does know): {what}; in the states {why}",
                )
            if viewer is not None and viewer in node.legal:
                legal, again = list(node.legal[viewer]), list(other.legal_actions(viewer))
                if legal != again:
                    raise CheckFailed(
                        "non_interference",
                        f"the legal list of {named(viewer)} changes with what it may not know: "
                        f"{first_difference(legal, again)}",
                    )


def check_resample(trial: Trial, state: State, node: Node) -> None:
    """The same node, other secrets, nothing of the original touched, and a match that can be played.

    Plays on the worlds themselves, since a clone would hide what they share with the state: nothing may use them after.
    """
    before = trial.sight.mark
    check_repeatable(trial, state)
    known: set[bytes] = set()
    rng = trial.rng("resample")
    for viewer in trial.viewers:
        worlds = {mark_of(world): world for world in trial.sight.worlds(viewer, rng)}
        for mark, world in worlds.items():
            trial.tally.add("hidden", "resampled")
            trial.tally.add("hidden", "resampled, not the identity", mark != before)
            if mark not in known:
                check_same_node(trial, state, world, node, f"resample({viewer})")
        if mark in known:
            continue  # the same position once more, where nothing is hidden
        known |= worlds.keys()
        try:
            play_on(trial, world, rng, Ledger(), steps=STEPS_AFTER, gone=trial.gone)
        except CheckFailed as failed:
            raise failed.within(f"in play after resample({viewer})") from failed
    if not alike(mark_of(state), before):
        raise CheckFailed("resample", "play on a resampled state changed the state itself")


def check_repeatable(trial: Trial, state: State) -> None:
    """resample() draws from its generator alone; for one viewer at each node."""
    viewer = trial.rng("resample").choice(trial.viewers)
    one, other = (state.resample(viewer, trial.rng("resample twice")) for _ in range(2))
    if not alike(mark_of(one), mark_of(other)):
        raise CheckFailed("resample", f"resample({viewer}) gives two states for one generator")


def check_same_node(trial: Trial, state: State, other: State, node: Node, what: str) -> None:
    """`other` stands where `state` stands: whose turn, who is asked, which stream of luck, or the same end."""
    if list(other.decisions()) != list(node.decisions) or other.turn_seat != state.turn_seat:
        raise CheckFailed(
            "resample",
            f"{what} asks {other.decisions()} on the turn of seat {other.turn_seat}, the state {node.decisions} on "
            f"that of {state.turn_seat}",
        )
    if bool(other.chance_outcomes()) != bool(node.outcomes):
        raise CheckFailed("resample", f"{what} is {'not ' if node.outcomes else ''}at a chance node")
    if node.outcomes and other.chance_stream() != node.stream:
        raise CheckFailed("resample", f"{what} awaits {other.chance_stream()}, the state {node.stream}")
    if other.is_terminal() != node.terminal:
        raise CheckFailed("resample", f"{what} is terminal: {other.is_terminal()}; the state: {node.terminal}")
    if node.terminal and (other.ranking(), other.returns()) != (state.ranking(), state.returns()):
        raise CheckFailed("resample", f"{what} of the final state ends differently")
    try:
        check_conserved(trial, other)
    except CheckFailed as failed:
        raise failed.within(what) from failed
