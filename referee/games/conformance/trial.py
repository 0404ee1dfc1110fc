"""One match under check: what its checks share, one step of it, one node of it, and a random playout."""

import json
import marshal
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import blake2b
from random import Random
from typing import Any, TypeAlias

from referee.games.api import Action, Chance, Codec, Decision, Event, Game, GameError, Outcome, Payload, State
from referee.games.conformance.chance import Ledger
from referee.games.conformance.checks import CheckFailed
from referee.games.conformance.tally import Tally
from referee.games.keyed import KeyedChance, random_outcome


def canonical_text(state: State) -> str:
    """The whole state as one canonical text: equal for equal states, in any process."""
    return canonical(state.to_dict())


def canonical(data: dict[str, Any]) -> str:
    return json.dumps(data, sort_keys=True, separators=(",", ":"))


def to_bytes(state: State) -> bytes:
    """The whole state as bytes, five times faster than `canonical_text`.

    Equal bytes mean equal states. Different bytes may differ in key order only: compare them with `same_state`.
    """
    return marshal.dumps(state.to_dict(), 0)


def same_state(one: bytes, other: bytes) -> bool:
    """Whether two results of `to_bytes` describe equal states, whatever the order of their keys."""
    return one == other or _canonical_from_bytes(one) == _canonical_from_bytes(other)


def _canonical_from_bytes(data: bytes) -> str:
    return canonical(marshal.loads(data))  # noqa: S302 - only what to_bytes() has made in this process


WORLDS = 2


@dataclass
class NodeSnapshot:
    """The state before the checks of one node, with its observations, computed once for all checks."""

    state: State
    codec: Codec
    viewers: tuple[int | None, ...]
    _worlds: dict[int | None, tuple[State, ...]] = field(default_factory=dict)

    @cached_property
    def state_bytes(self) -> bytes:
        """The state as bytes, taken at the first access."""
        return to_bytes(self.state)

    @cached_property
    def observations(self) -> dict[int | None, Any]:
        return {viewer: self.state.observation(viewer) for viewer in self.viewers}

    @cached_property
    def encoded(self) -> dict[int | None, bytes]:
        """The observations as sent on the wire."""
        return {viewer: self.codec.encode_observation(seen) for viewer, seen in self.observations.items()}

    @cached_property
    def first_viewers(self) -> dict[bytes, int | None]:
        """Each different encoded observation with the first viewer that has it."""
        first: dict[bytes, int | None] = {}
        for viewer, observation in self.encoded.items():
            first.setdefault(observation, viewer)
        return first

    def worlds(self, viewer: int | None, rng: Random) -> tuple[State, ...]:
        """States resampled for the viewer: possible worlds. `rng` is used at the first call only."""
        found = self._worlds.get(viewer)
        if found is None:
            found = self._worlds[viewer] = tuple(self.state.resample(viewer, rng) for _ in range(WORLDS))
        return found


OLD_ACTIONS_KEPT = 64


@dataclass(slots=True)
class Trial:
    """One match under check, as far as it has been played, and what its checks share."""

    game: Game
    players: int
    seed: int
    options: dict[str, Any]
    tally: Tally
    limit: int
    """max_decisions() of these players and options."""
    conserved: dict[str, int]
    """The result of game.conserved() at the first node."""
    ledger: Ledger = field(default_factory=Ledger)
    withdrawn: set[int] = field(default_factory=set)
    """Seats that have left."""
    node: int = 0
    decisions: int = 0
    events: list[Event] = field(default_factory=list)
    """All events since the start."""
    old_actions: list[Action] = field(default_factory=list)
    old_outcomes: list[Outcome] = field(default_factory=list)
    snapshot: NodeSnapshot = field(init=False)
    """The current node, while its checks run."""

    @property
    def viewers(self) -> tuple[int | None, ...]:
        """The spectator and every seat."""
        return (None, *range(self.players))

    @property
    def staying(self) -> list[int]:
        return [seat for seat in range(self.players) if seat not in self.withdrawn]

    def rng(self, purpose: str) -> Random:
        """A generator for one purpose at this node, independent of the match and of other checks."""
        return Random(f"{self.game.id}/{self.players}/{self.seed}/{self.node}/{purpose}")

    def encoded_events(self, viewer: int | None, events: Sequence[Event]) -> bytes:
        """The events as `viewer` gets them on the wire."""
        return self.game.codec.encode_events([event.seen_by(viewer) for event in events])

    def encoded_observation(self, state: State, viewer: int | None) -> bytes:
        """The observation as `viewer` gets it on the wire."""
        return self.game.codec.encode_observation(state.observation(viewer))

    def history(self, seat: int) -> list[Payload]:
        """The payloads that a seat got since the start."""
        return [event.seen_by(seat) for event in self.events]

    def remember(self, actions: Sequence[Action]) -> None:
        """Keep some actions of this node, to try them later where they are illegal."""
        self.old_actions.extend(actions[:4])
        del self.old_actions[:-OLD_ACTIONS_KEPT]


def match_seed(game_id: str, players: int, seed: int) -> bytes:
    """The 16 byte seed of KeyedChance for match `seed`."""
    return blake2b(f"{game_id}/{players}/{seed}".encode(), digest_size=16).digest()


@dataclass(frozen=True, slots=True)
class Node:
    """One node of a match: decisions with their legal lists, or a chance node, or a terminal node."""

    decisions: tuple[Decision, ...]
    legal: Mapping[int, Sequence[Action]]
    outcomes: Sequence[tuple[Outcome, int]]
    stream: Chance | None

    @property
    def terminal(self) -> bool:
        return not self.decisions and not self.outcomes


def check_node(trial: Trial, state: State, ledger: Ledger, withdrawn: Collection[int], decisions: int) -> Node:
    """Check what holds at every node, and return the node. `decisions` counts the answers given before it."""
    asked = tuple(state.decisions())
    outcomes = state.chance_outcomes()
    terminal = state.is_terminal()
    if bool(asked) + bool(outcomes) + terminal != 1:
        raise CheckFailed(
            "nodes",
            f"a node must ask, or await chance, or be terminal: decisions {asked}, {len(outcomes)} outcomes, "
            f"terminal {terminal}",
        )
    if terminal is not True and len(withdrawn) == trial.players:
        raise CheckFailed("withdraw", "every seat has left and the match is not over")
    check_turn_seat(trial, state)
    check_decisions(trial, asked, withdrawn)
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
        ledger.check_offer(stream, outcomes)
    return Node(asked, legal, outcomes, stream)


def check_turn_seat(trial: Trial, state: State) -> None:
    seat = state.turn_seat
    if type(seat) is not int or not 0 <= seat < trial.players:
        raise CheckFailed("nodes", f"turn_seat is {seat!r} with {trial.players} players")


def check_decisions(trial: Trial, asked: Sequence[Decision], withdrawn: Collection[int]) -> None:
    """CheckFailed unless decisions are in seat order, one for each seat, and none for a withdrawn seat."""
    last = -1
    for decision in asked:
        if not isinstance(decision, Decision) or type(decision.kind) is not str or not decision.kind:
            raise CheckFailed("nodes", f"{decision!r} is not a Decision with a seat and a kind")
        if decision.kind not in trial.game.decision_kinds:
            raise CheckFailed("nodes", f"'{decision.kind}' is asked, but not named in decision_kinds")
        if not last < decision.seat < trial.players:
            raise CheckFailed("nodes", f"decisions are not in seat order, one a seat: {asked}")
        if decision.seat in withdrawn:
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
    """CheckFailed `optional` if the first legal action is optional: it must decline the optional ones."""
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
    """The legal actions of an asked seat. CheckFailed if there is none, or one twice."""
    legal = state.legal_actions(seat)
    if not legal:
        raise CheckFailed("legal_list", f"seat {seat} is asked and has no legal action")
    if len(set(legal)) != len(legal):
        twice = next(action for action in legal if list(legal).count(action) > 1)
        raise CheckFailed("legal_list", f"seat {seat} is offered {twice!r} twice")
    return legal


@dataclass(frozen=True, slots=True)
class AnswerStep:
    """Every asked seat answers."""

    answers: Mapping[int, Action]


@dataclass(frozen=True, slots=True)
class ChanceStep:
    """A chance node gets its outcome."""

    outcome: Outcome


@dataclass(frozen=True, slots=True)
class WithdrawStep:
    """A seat withdraws."""

    seat: int


Step: TypeAlias = AnswerStep | ChanceStep | WithdrawStep


def apply_step(state: State, step: Step) -> list[Event]:
    """Apply `step` to `state`, in place."""
    match step:
        case AnswerStep(answers):
            return state.apply(dict(answers))
        case ChanceStep(outcome):
            return state.apply_chance(outcome)
        case WithdrawStep(seat):
            return state.withdraw(seat)


def plain_step(state: State, chance: KeyedChance, rng: Random) -> AnswerStep | ChanceStep:
    """A random step without checks: uniformly drawn answers, or the keyed outcome."""
    if asked := state.decisions():
        return AnswerStep({each.seat: rng.choice(state.legal_actions(each.seat)) for each in asked})
    return ChanceStep(chance.choose(state.chance_stream(), state.chance_outcomes()))


def random_step(node: Node, rng: Random) -> AnswerStep | ChanceStep:
    """A random step: uniformly drawn answers, or an outcome drawn by weight."""
    if node.outcomes:
        return ChanceStep(random_outcome(node.outcomes, rng))
    return AnswerStep({seat: rng.choice(legal) for seat, legal in node.legal.items()})


def check_ending(trial: Trial, state: State, withdrawn: Collection[int]) -> None:
    """CheckFailed `ending` unless the terminal `state` asks nothing and has a valid ranking."""
    for seat in range(trial.players):
        if unasked_actions(state, seat):
            raise CheckFailed("ending", f"the match is over and seat {seat} still has legal actions")
    ranking, returns = state.ranking(), state.returns()
    for name, values in (("ranking", ranking), ("returns", returns)):
        if type(values) is not tuple or [type(value) for value in values] != [int] * trial.players:
            raise CheckFailed("ending", f"{name}() is {values!r}, not {trial.players} integers")
    for seat, rank in enumerate(ranking):
        better = sum(other < rank for other in ranking)
        if rank != better + 1:
            raise CheckFailed(
                "ending", f"ranking {ranking}: {better} seats rank before seat {seat}, so its rank is {better + 1}"
            )
    teams = trial.game.teams(trial.players, trial.options)
    for team in sorted(set(teams)):
        ranks = {rank for rank, of in zip(ranking, teams, strict=True) if of == team}
        if len(ranks) > 1:
            raise CheckFailed("ending", f"ranking {ranking}: team {team} of {teams} holds different ranks")
    best = {team for team, rank in zip(teams, ranking, strict=True) if rank == 1}
    if len(best) > 1 and not trial.game.draws_possible and not withdrawn:
        raise CheckFailed("ending", f"ranking {ranking} shares the first rank, and draws_possible is false")


def unasked_actions(state: State, seat: int) -> bool:
    """Whether a seat that is not asked has legal actions. A GameError counts as an empty list."""
    try:
        return bool(state.legal_actions(seat))
    except GameError:
        return False


CHANCE_NODES_IN_A_ROW = 10_000


def play_on(
    trial: Trial,
    state: State,
    rng: Random,
    ledger: Ledger,
    *,
    steps: int | None = None,
    withdrawn: Collection[int] = (),
    leave_share: float = 0.0,
) -> None:
    """Play `state` on at random, in place, to the end or for `steps` steps, and check every node.

    `ledger` is changed; `withdrawn` are the seats that have left; `leave_share` is the probability at each node that
    another seat leaves.
    """
    left = set(withdrawn)
    decisions = trial.decisions
    chance_nodes = done = 0
    while steps is None or done < steps:
        node = check_node(trial, state, ledger, left, decisions)
        if node.terminal:
            check_ending(trial, state, left)
            return
        chance_nodes = chance_nodes + 1 if node.outcomes else 0
        if chance_nodes > CHANCE_NODES_IN_A_ROW:
            raise CheckFailed("nodes", f"{chance_nodes} chance nodes in a row")
        step: Step
        if leave_share and rng.random() < leave_share:
            step = WithdrawStep(rng.choice([seat for seat in range(trial.players) if seat not in left]))
            left.add(step.seat)
        else:
            step = random_step(node, rng)
            decisions += len(node.decisions)
        if isinstance(step, ChanceStep) and node.stream is not None:
            ledger.record(node.stream, node.outcomes, step.outcome)
        apply_step(state, step)
        done += 1
