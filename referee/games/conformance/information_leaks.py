"""Checks of hidden information: nothing that a viewer gets may depend on what the viewer cannot know.

Observations and legal lists: they must be the same, byte by byte, in a state where the game has drawn the hidden parts
again (`resample`).

Events: a game may reveal something (a peek, a showdown). The viewer then knows it, so its next observation must show
it. An event that says more than that observation is a leak. Pairs of steps in which the viewer's own action is the
same are compared:

- the same step from the state and from a resampled state;
- two outcomes of one chance node;
- two sets of answers, or two seats' actions, at one decision node.

The second and third kind also prove, without `resample`, that something is hidden: two different states that look the
same to the viewer. They measure whether `resample` really changes what is hidden.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from random import Random

from referee.games.api import IllegalAction, State
from referee.games.conformance.chance import Ledger
from referee.games.conformance.checks import CheckFailed, difference, first_difference, viewer_name
from referee.games.conformance.game_object import not_offered
from referee.games.conformance.states import check_json
from referee.games.conformance.trial import (
    AnswerStep,
    ChanceStep,
    Node,
    Step,
    Trial,
    WithdrawStep,
    apply_step,
    canonical_text,
    check_conserved,
    play_on,
    random_step,
    same_state,
    to_bytes,
)

STEPS_ON_A_RESAMPLED_STATE = 4


def check_non_interference(trial: Trial, state: State, node: Node) -> None:
    """CheckFailed `non_interference` if a viewer's observation or legal list differs in a resampled state."""
    rng, snapshot = trial.rng("non_interference"), trial.snapshot
    before = snapshot.state_bytes
    for viewer in trial.viewers:
        worlds = snapshot.worlds(viewer, rng)
        if not same_state(to_bytes(state), before):
            raise CheckFailed("resample", f"resample({viewer}) changed the state it was asked of")
        for other in worlds:
            if trial.encoded_observation(other, viewer) != snapshot.encoded[viewer]:
                what = difference(state.observation(viewer), other.observation(viewer), "observation")
                why = difference(state.to_dict(), other.to_dict())
                raise CheckFailed(
                    "non_interference",
                    f"the observation of {viewer_name(viewer)} changes with what it may not know (or resample() "
                    f"changes what it does know): {what}; in the states {why}",
                )
            if viewer is not None and viewer in node.legal:
                legal, again = list(node.legal[viewer]), list(other.legal_actions(viewer))
                if legal != again:
                    raise CheckFailed(
                        "non_interference",
                        f"the legal list of {viewer_name(viewer)} changes with what it may not know: "
                        f"{first_difference(legal, again)}",
                    )


def check_resample(trial: Trial, state: State, node: Node) -> None:
    """CheckFailed `resample` unless resampled states are at the same node, playable and independent of `state`.

    The playout changes the resampled states themselves: a clone would hide what they share with `state`. No later
    check may use them.
    """
    before = trial.snapshot.state_bytes
    check_repeatable(trial, state)
    known: set[bytes] = set()
    rng = trial.rng("resample")
    for viewer in trial.viewers:
        worlds = {to_bytes(world): world for world in trial.snapshot.worlds(viewer, rng)}
        for state_bytes, world in worlds.items():
            trial.tally.add("hidden", "resampled")
            trial.tally.add("hidden", "resampled, not the identity", state_bytes != before)
            if state_bytes not in known:
                check_same_node(trial, state, world, node, f"resample({viewer})")
        if state_bytes in known:
            continue  # nothing is hidden from this viewer: the same position was played before
        known |= worlds.keys()
        try:
            play_on(trial, world, rng, Ledger(), steps=STEPS_ON_A_RESAMPLED_STATE, withdrawn=trial.withdrawn)
        except CheckFailed as failed:
            raise failed.within(f"in play after resample({viewer})") from failed
    if not same_state(to_bytes(state), before):
        raise CheckFailed("resample", "play on a resampled state changed the state itself")


def check_repeatable(trial: Trial, state: State) -> None:
    """CheckFailed `resample` if one generator gives one viewer two different states."""
    viewer = trial.rng("resample").choice(trial.viewers)
    one, other = (state.resample(viewer, trial.rng("resample twice")) for _ in range(2))
    if not same_state(to_bytes(one), to_bytes(other)):
        raise CheckFailed("resample", f"resample({viewer}) gives two states for one generator")


def check_same_node(trial: Trial, state: State, other: State, node: Node, what: str) -> None:
    """CheckFailed `resample` unless `other` has the turn, decisions, chance stream or final ranking of `state`."""
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


STEPS_TRIED = 3
RESAMPLES_TO_MEASURE = 8


@dataclass(frozen=True, slots=True)
class Branch:
    """One step tried on a clone: the state after it, and for each viewer the encoded events and observation."""

    step: Step
    state: State
    events: Mapping[int | None, bytes]
    observations: Mapping[int | None, bytes]

    @classmethod
    def of(cls, trial: Trial, state: State, step: Step, viewers: Sequence[int | None]) -> "Branch":
        """Try `step` on a clone of `state`. IllegalAction if it is not legal there."""
        after = state.clone()
        events = apply_step(after, step)
        return cls(
            step,
            after,
            {viewer: trial.encoded_events(viewer, events) for viewer in viewers},
            {viewer: trial.encoded_observation(after, viewer) for viewer in viewers},
        )


def check_events(trial: Trial, state: State, node: Node) -> None:
    """CheckFailed `events` for a leak, `non_interference` if a viewer's own legal action depends on hidden things."""
    if node.terminal:
        return
    rng = trial.rng("events")
    branches = [Branch.of(trial, state, step, trial.viewers) for step in some_steps(trial, node, rng)]
    for viewer in trial.viewers:
        compare_with_resampled(trial, state, branches, viewer, rng)
    twins = list(look_alikes(trial, branches))
    for viewer, one, other in twins:
        compare(trial, one, other, viewer)
    if twins:
        measure_resample(trial, *rng.choice(twins), rng)


def some_steps(trial: Trial, node: Node, rng: Random) -> Iterator[Step]:
    """A few different steps from this node, one of them a withdrawal."""
    if node.outcomes:
        outcomes = [outcome for outcome, _ in node.outcomes]
        yield from (ChanceStep(outcome) for outcome in rng.sample(outcomes, min(STEPS_TRIED, len(outcomes))))
    else:
        tried: list[AnswerStep] = []
        for _ in range(STEPS_TRIED):
            step = random_step(node, rng)
            if isinstance(step, AnswerStep) and step not in tried:
                tried.append(step)
        # One more step differs from the first in one seat's answer only.
        seat = rng.choice([decision.seat for decision in node.decisions])
        changed = AnswerStep({**tried[0].answers, seat: rng.choice(node.legal[seat])})
        yield from tried if changed in tried else (*tried, changed)
    yield WithdrawStep(rng.choice(trial.staying))


def own_part(step: Step, viewer: int | None) -> object:
    """What `viewer` itself did in `step`. Steps that differ only in other seats' parts give equal values."""
    match step:
        case AnswerStep(answers):
            return "answer", None if viewer is None else answers.get(viewer)
        case ChanceStep():
            return "chance"
        case WithdrawStep(seat):
            return "leave", seat


def compare_with_resampled(trial: Trial, state: State, branches: list[Branch], viewer: int | None, rng: Random) -> None:
    """Compare each step with the same step from a state that `viewer` cannot tell from this one."""
    other = trial.snapshot.worlds(viewer, rng)[0]
    if to_bytes(other) == trial.snapshot.state_bytes:
        return  # nothing was resampled, so the same step leads to the same state
    for branch in branches:
        try:
            twin = Branch.of(trial, other, branch.step, (viewer,))
        except IllegalAction:
            if isinstance(branch.step, AnswerStep) and branch.step.answers.keys() == {viewer}:
                raise CheckFailed(
                    "non_interference",
                    f"{branch.step} of {viewer_name(viewer)} is legal or not depending on what it may not know",
                ) from None
            continue  # other seats hold other cards here, or the outcome is not possible
        if branch.observations[viewer] == twin.observations[viewer]:
            compare(trial, branch, twin, viewer)
        elif branch.events[viewer] != twin.events[viewer] and not isinstance(branch.step, WithdrawStep):
            trial.tally.add("hidden", "revealed by an event, shown afterwards")


def look_alikes(trial: Trial, branches: list[Branch]) -> Iterator[tuple[int | None, Branch, Branch]]:
    """Each viewer with two branches that differ by others' actions only, and whose states look the same to it."""
    texts = [canonical_text(branch.state) for branch in branches]
    for (one, text), (other, other_text) in combinations(zip(branches, texts, strict=True), 2):
        if text != other_text:
            for viewer in trial.viewers:
                looks_alike = one.observations[viewer] == other.observations[viewer]
                if looks_alike and own_part(one.step, viewer) == own_part(other.step, viewer):
                    yield viewer, one, other


def compare(trial: Trial, one: Branch, other: Branch, viewer: int | None) -> None:
    """CheckFailed `events` if the viewer got different events in branches that look the same to it afterwards."""
    if one.events[viewer] != other.events[viewer]:
        decode = trial.game.codec.decode_events
        raise CheckFailed(
            "events",
            f"after {one.step} {viewer_name(viewer)} receives {decode(one.events[viewer])}, in another world, after "
            f"{other.step}, {decode(other.events[viewer])}, though it can see no difference afterwards",
        )


def measure_resample(trial: Trial, viewer: int | None, one: Branch, other: Branch, rng: Random) -> None:
    """Count how often `resample` changes what two look-alike branches prove to be hidden.

    `resample_failures` judges the counts of all matches together.
    """
    if one.state.is_terminal():
        return
    insiders = [seat for seat in range(trial.players) if one.observations[seat] != other.observations[seat]]
    worlds = (one.state.resample(viewer, rng) for _ in range(RESAMPLES_TO_MEASURE))
    if insiders:
        moved = any(trial.encoded_observation(world, insiders[0]) != one.observations[insiders[0]] for world in worlds)
    else:
        state_bytes = to_bytes(one.state)
        moved = any(to_bytes(world) != state_bytes for world in worlds)
    trial.tally.add("hidden", "proven hidden")
    trial.tally.add("hidden", "proven hidden, resampled otherwise", moved)


STEPS_ON_A_BUILT_STATE = 4


def check_from_observation(trial: Trial, state: State, node: Node) -> None:
    """CheckFailed `from_observation` unless each asked seat's built state shows it the same node and is playable."""
    game, codec = trial.game, trial.game.codec
    if "from_observation" in not_offered(game):
        return
    for decision in node.decisions:
        seat = decision.seat
        purpose = f"from_observation of seat {seat}"
        seen = trial.snapshot.encoded[seat]
        history = codec.decode_events(codec.encode_events(trial.history(seat)))
        options = json.loads(json.dumps(trial.options))
        built = game.from_observation(codec.decode_observation(seen), history, options, trial.rng(purpose))
        check_json(built.to_dict())
        if trial.encoded_observation(built, seat) != seen:
            what = difference(state.observation(seat), built.observation(seat), "observation")
            raise CheckFailed("from_observation", f"what seat {seat} saw and what it sees in the built state: {what}")
        if decision not in built.decisions() or built.turn_seat != state.turn_seat:
            raise CheckFailed(
                "from_observation",
                f"seat {seat} is asked '{decision.kind}'; the built state asks {built.decisions()} on the turn of "
                f"seat {built.turn_seat}",
            )
        legal = codec.encode_actions(list(built.legal_actions(seat)))
        if legal != codec.encode_actions(list(node.legal[seat])):
            raise CheckFailed("from_observation", f"the built state gives seat {seat} another legal list")
        try:
            check_conserved(trial, built)
            play_on(trial, built, trial.rng(purpose), Ledger(), steps=STEPS_ON_A_BUILT_STATE, withdrawn=trial.withdrawn)
        except CheckFailed as failed:
            raise failed.within(f"in a state built from what seat {seat} saw") from failed
