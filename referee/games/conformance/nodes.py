"""What is checked at every single node: the rules' shape, chance, conservation, the bound."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from referee.games.api import Action, Chance, Decision, Outcome, State
from referee.games.conformance.failure import CheckFailed
from referee.games.conformance.luck import Ledger
from referee.games.conformance.trial import Trial


@dataclass(frozen=True, slots=True)
class Node:
    """What a state says of itself: asked seats with their legal lists, or chance, or neither (terminal)."""

    decisions: tuple[Decision, ...]
    legal: Mapping[int, Sequence[Action]]
    outcomes: Sequence[tuple[Outcome, int]]
    stream: Chance | None

    @property
    def terminal(self) -> bool:
        return not self.decisions and not self.outcomes


def look(trial: Trial, state: State, ledger: Ledger, gone: Collection[int], decisions: int) -> Node:
    """Check the node and say what it is. `decisions` is how many were answered before it."""
    asked = tuple(state.decisions())
    outcomes = state.chance_outcomes()
    terminal = state.is_terminal()
    if bool(asked) + bool(outcomes) + terminal != 1:
        raise CheckFailed(
            "nodes",
            f"a node must ask, or await chance, or be terminal: decisions {asked}, {len(outcomes)} outcomes, "
            f"terminal {terminal}",
        )
    if terminal is not True and len(gone) == trial.players:
        raise CheckFailed("withdraw", "every seat has left and the match is not over")
    check_turn_seat(trial, state)
    check_decisions(trial, asked, gone)
    if decisions + len(asked) > trial.limit:
        raise CheckFailed(
            "max_decisions", f"{decisions + len(asked)} decisions asked, max_decisions() says {trial.limit}"
        )
    check_conserved(trial, state)
    legal = {decision.seat: legal_list(state, decision.seat) for decision in asked}
    for decision in asked:
        check_optional(state, decision, legal[decision.seat])
    stream = None
    if outcomes:
        stream = state.chance_stream()
        ledger.look(stream, outcomes)
    return Node(asked, legal, outcomes, stream)


def check_turn_seat(trial: Trial, state: State) -> None:
    seat = state.turn_seat
    if type(seat) is not int or not 0 <= seat < trial.players:
        raise CheckFailed("nodes", f"turn_seat is {seat!r} with {trial.players} players")


def check_decisions(trial: Trial, asked: Sequence[Decision], gone: Collection[int]) -> None:
    """Decisions in seat order, each seat once, nobody who has left."""
    last = -1
    for decision in asked:
        if not isinstance(decision, Decision) or type(decision.kind) is not str or not decision.kind:
            raise CheckFailed("nodes", f"{decision!r} is no Decision with a seat and a kind")
        if decision.kind not in trial.game.decision_kinds:
            raise CheckFailed("nodes", f"'{decision.kind}' is asked, but not named in decision_kinds")
        if not last < decision.seat < trial.players:
            raise CheckFailed("nodes", f"decisions are not in seat order, one a seat: {asked}")
        if decision.seat in gone:
            raise CheckFailed("withdraw", f"seat {decision.seat} has left and is asked '{decision.kind}'")
        last = decision.seat


def check_conserved(trial: Trial, state: State) -> None:
    counts = trial.game.conserved(state)
    if counts != trial.conserved:
        names = sorted(set(counts) | set(trial.conserved))
        changed = [
            f"{name}: {trial.conserved.get(name)} at the start, now {counts.get(name)}"
            for name in names
            if counts.get(name) != trial.conserved.get(name)
        ]
        raise CheckFailed("conservation", "; ".join(changed))


def check_optional(state: State, decision: Decision, legal: Sequence[Action]) -> None:
    """The first action is not optional: choosing it declines all that are."""
    seat = decision.seat
    if not state.is_optional(seat, legal[0]):
        return
    ways_out = [action for action in legal if not state.is_optional(seat, action)]
    if ways_out:
        fault = f"the first action, {legal[0]!r}, is optional; {ways_out[0]!r} declines it and must come first"
    else:
        fault = f"all {len(legal)} actions are optional and none declines them; the first is {legal[0]!r}"
    raise CheckFailed("optional", f"seat {seat} is asked '{decision.kind}': {fault}")


def legal_list(state: State, seat: int) -> Sequence[Action]:
    """The legal actions of an asked seat, checked to be there and unique."""
    legal = state.legal_actions(seat)
    if not legal:
        raise CheckFailed("legal_list", f"seat {seat} is asked and has no legal action")
    if len(set(legal)) != len(legal):
        twice = next(action for action in legal if list(legal).count(action) > 1)
        raise CheckFailed("legal_list", f"seat {seat} is offered {twice!r} twice")
    return legal
