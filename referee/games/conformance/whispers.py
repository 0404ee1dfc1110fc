"""What events tell: nothing that depends on hidden things, unless the viewer's observation shows it afterwards.

A game may reveal (a peek, a showdown); then the viewer knows, and its observation has to say so. An event that tells
more than the observation afterwards is a leak. Three kinds of twins are compared, the viewer's own action the same:

- the same step from the state and from a resampled state;
- two outcomes of one chance node;
- two sets of answers, or two seats' actions, at one decision node.

The second and third kind also prove, without asking resample(), that something is hidden: two different states that
look the same. They are the measure of whether resample() really permutes.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from random import Random

from referee.games.api import IllegalAction, State
from referee.games.conformance.copies import named
from referee.games.conformance.failure import CheckFailed
from referee.games.conformance.marks import fingerprint, mark_of
from referee.games.conformance.nodes import Node
from referee.games.conformance.steps import Act, Come, Leave, Step, random_step, take
from referee.games.conformance.trial import Trial

STEPS_TRIED = 3
RESAMPLES_TO_MEASURE = 8


@dataclass(frozen=True, slots=True)
class Branch:
    """What came of one step: the state after, and per viewer what it was told and what it sees."""

    step: Step
    state: State
    told: Mapping[int | None, bytes]
    seen: Mapping[int | None, bytes]

    @classmethod
    def of(cls, trial: Trial, state: State, step: Step, viewers: Sequence[int | None]) -> "Branch":
        """IllegalAction if `step` cannot be taken from `state`, which is not changed."""
        after = state.clone()
        events = take(after, step)
        return cls(
            step,
            after,
            {viewer: trial.seen_by(viewer, events) for viewer in viewers},
            {viewer: trial.looks(after, viewer) for viewer in viewers},
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
    """A few different steps from this node, one of them a seat leaving."""
    if node.outcomes:
        outcomes = [outcome for outcome, _ in node.outcomes]
        yield from (Come(outcome) for outcome in rng.sample(outcomes, min(STEPS_TRIED, len(outcomes))))
    else:
        tried: list[Act] = []
        for _ in range(STEPS_TRIED):
            step = random_step(node, rng)
            if isinstance(step, Act) and step not in tried:
                tried.append(step)
        # One more that differs from the first in a single seat's answer: the others' own actions stay the same.
        seat = rng.choice([decision.seat for decision in node.decisions])
        changed = Act({**tried[0].answers, seat: rng.choice(node.legal[seat])})
        yield from tried if changed in tried else (*tried, changed)
    yield Leave(rng.choice(trial.staying))


def own_part(step: Step, viewer: int | None) -> object:
    """What `viewer` itself did in `step`: equal for steps that differ in others' parts only."""
    match step:
        case Act(answers):
            return "answer", None if viewer is None else answers.get(viewer)
        case Come():
            return "chance"
        case Leave(seat):
            return "leave", seat


def compare_with_resampled(trial: Trial, state: State, branches: list[Branch], viewer: int | None, rng: Random) -> None:
    """The same step from the state and from what `viewer` takes to be possible as well."""
    other = trial.sight.worlds(viewer, rng)[0]
    if mark_of(other) == trial.sight.mark:
        return  # the same world: the same step leads to the same
    for branch in branches:
        try:
            twin = Branch.of(trial, other, branch.step, (viewer,))
        except IllegalAction:
            if isinstance(branch.step, Act) and branch.step.answers.keys() == {viewer}:
                raise CheckFailed(
                    "non_interference",
                    f"{branch.step} of {named(viewer)} is legal or not depending on what it may not know",
                ) from None
            continue  # the others' cards or the outcome are not there in this world
        if branch.seen[viewer] == twin.seen[viewer]:
            compare(trial, branch, twin, viewer)
        elif branch.told[viewer] != twin.told[viewer] and not isinstance(branch.step, Leave):
            trial.tally.add("hidden", "told by an event, shown afterwards")


def look_alikes(trial: Trial, branches: list[Branch]) -> Iterator[tuple[int | None, Branch, Branch]]:
    """Viewers with two branches that part without their doing and end in different states that look alike to them."""
    marks = [fingerprint(branch.state) for branch in branches]
    for (one, mark), (other, other_mark) in combinations(zip(branches, marks, strict=True), 2):
        if mark != other_mark:
            for viewer in trial.viewers:
                alike = one.seen[viewer] == other.seen[viewer]
                if alike and own_part(one.step, viewer) == own_part(other.step, viewer):
                    yield viewer, one, other


def compare(trial: Trial, one: Branch, other: Branch, viewer: int | None) -> None:
    """CheckFailed `events` if a viewer that sees the same afterwards was told differently."""
    if one.told[viewer] != other.told[viewer]:
        decode = trial.game.codec.decode_events
        raise CheckFailed(
            "events",
            f"after {one.step} {named(viewer)} is told {decode(one.told[viewer])}, in another world, after "
            f"{other.step}, {decode(other.told[viewer])}, though it can see no difference afterwards",
        )


def measure_resample(trial: Trial, viewer: int | None, one: Branch, other: Branch, rng: Random) -> None:
    """Two look-alikes prove something hidden; does resample() touch just that? Counted; judged over all matches."""
    if one.state.is_terminal():
        return
    insiders = [seat for seat in range(trial.players) if one.seen[seat] != other.seen[seat]]
    worlds = (one.state.resample(viewer, rng) for _ in range(RESAMPLES_TO_MEASURE))
    if insiders:
        moved = any(trial.looks(world, insiders[0]) != one.seen[insiders[0]] for world in worlds)
    else:
        mark = mark_of(one.state)
        moved = any(mark_of(world) != mark for world in worlds)
    trial.tally.add("hidden", "proven hidden")
    trial.tally.add("hidden", "proven hidden, resampled otherwise", moved)
