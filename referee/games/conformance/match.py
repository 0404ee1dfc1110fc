"""Plays one random match of a game and runs the checks at its nodes."""

import json
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any, TypeAlias

from referee.games.api import DATA_OPTION, Game, Option, OptionError, PlayersError, State, resolve_options
from referee.games.conformance.chance import stream_name
from referee.games.conformance.checks import CheckFailed, Failure
from referee.games.conformance.determinism import StepLog, check_replay
from referee.games.conformance.encoding import (
    check_action_text,
    check_codec,
    check_event_codec,
    check_event_sentences,
    check_event_view,
    check_sentences,
    check_view,
)
from referee.games.conformance.information_leaks import (
    check_events,
    check_from_observation,
    check_non_interference,
    check_resample,
)
from referee.games.conformance.states import (
    KeptClone,
    check_answer_order,
    check_clone,
    check_dict,
    check_event_values,
    check_legal_list,
    check_refusal,
    check_values,
    check_withdraw,
)
from referee.games.conformance.tally import Tally
from referee.games.conformance.trial import (
    CHANCE_NODES_IN_A_ROW,
    AnswerStep,
    ChanceStep,
    Node,
    NodeSnapshot,
    Step,
    Trial,
    WithdrawStep,
    apply_step,
    check_ending,
    check_node,
    match_seed,
)
from referee.games.keyed import KeyedChance

NodeCheck: TypeAlias = Callable[[Trial, State, Node], None]

NODE_CHECKS: tuple[tuple[str, NodeCheck], ...] = (
    ("values", check_values),
    ("dict", check_dict),
    ("clone", check_clone),
    ("legal_list", check_legal_list),
    ("action_text", check_action_text),
    ("codec", check_codec),
    ("view", check_view),
    ("sentences", check_sentences),
    ("refusal", check_refusal),
    ("answer_order", check_answer_order),
    ("non_interference", check_non_interference),
    ("events", check_events),
    ("resample", check_resample),
    ("from_observation", check_from_observation),
    ("withdraw", check_withdraw),
)
"""The checks of one node, in this order, so that the simplest check that finds a fault reports it."""

KEPT_CLONES = 20
UNEVEN_SHARE = 0.7


@dataclass(frozen=True, slots=True)
class Job:
    """One match to play. `full_share` is the share of nodes with all checks, `replay` whether it is played again.

    `data` replaces the game's box data in all matches, random options are drawn all the same.
    """

    players: int
    seed: int
    full_share: float = 1.0
    replay: bool = True
    data: Any = None


@dataclass(frozen=True, slots=True)
class PlayStyle:
    """How a match is played: how often seats take the first or last legal action, and how often a seat leaves."""

    first_share: float
    last_share: float
    leave_share: float

    @classmethod
    def of(cls, rng: Random) -> "PlayStyle":
        first, last = rng.choice(((0.0, 0.0), (0.0, 0.0), (UNEVEN_SHARE, 0.0), (0.0, UNEVEN_SHARE)))
        return cls(first, last, rng.choice((0.0, 0.0, 0.0, 0.01, 0.1)))


def check_match(game: Game, job: Job, tally: Tally) -> Failure | None:
    """Play the match of `job` and count in `tally` what it covered. None if no check failed."""
    options: dict[str, Any] = {}
    trial: Trial | None = None
    try:
        state, options = start(game, job, tally)
        trial = Trial(
            game,
            job.players,
            job.seed,
            options,
            tally,
            game.max_decisions(job.players, options),
            game.conserved(state),
        )
        play(trial, state, job.full_share, job.replay)
    except CheckFailed as failed:
        return report(game, job, options, trial, failed, "")
    except Exception as error:  # any other exception of the game is a finding
        crash = CheckFailed("crash", f"{type(error).__name__}: {error}")
        return report(game, job, options, trial, crash, traceback.format_exc())
    return None


def report(
    game: Game, job: Job, options: dict[str, Any], trial: Trial | None, failed: CheckFailed, trace: str
) -> Failure:
    return Failure(
        failed.check,
        game.id,
        failed.message,
        job.players,
        job.seed,
        None if trial is None else trial.node,
        None if trial is None else trial.decisions,
        json.dumps({o.name: options[o.name] for o in game.options if options.get(o.name, o.default) != o.default}),
        trace,
    )


def start(game: Game, job: Job, tally: Tally) -> tuple[State, dict[str, Any]]:
    """The first state and its options: the defaults in two of three matches, some drawn at random in the third."""
    rng = Random(f"{game.id}/{job.players}/{job.seed}/options")
    given = random_options(game.options, rng) if rng.random() < 1 / 3 else {}
    box = {} if job.data is None else {DATA_OPTION: job.data}
    options = resolve_options(game.id, game.options, given | box)
    try:
        state = game.new_initial_state(job.players, options)
    except (OptionError, PlayersError):
        if not given:
            raise
        tally.add("options", "combinations refused")
        options = resolve_options(game.id, game.options, box)
        return game.new_initial_state(job.players, options), options
    for name, value in given.items():
        tally.add("options", f"{name}={value}")
    return state, options


def random_options(options: tuple[Option, ...], rng: Random) -> dict[str, Any]:
    """Random values for some options. Integers go up to twice the default, to keep matches short."""
    given: dict[str, Any] = {}
    for option in options:
        if rng.random() < 0.5:
            continue
        if isinstance(option.default, bool):
            given[option.name] = not option.default
        elif option.choices:
            given[option.name] = rng.choice(option.choices)
        elif isinstance(option.default, int) and option.minimum is not None:
            most = max(option.minimum, 2 * option.default)
            most = most if option.maximum is None else min(most, option.maximum)
            given[option.name] = rng.randint(option.minimum, most)
    return given


def play(trial: Trial, state: State, full_share: float, replay: bool) -> None:
    """Play from the first node to the last. CheckFailed at the first finding."""
    game, tally = trial.game, trial.tally
    rng = Random(f"{game.id}/{trial.players}/{trial.seed}/play")
    full_rng = Random(f"{game.id}/{trial.players}/{trial.seed}/full")
    style = PlayStyle.of(rng)
    chance = KeyedChance(match_seed(game.id, trial.players, trial.seed))
    log = StepLog() if replay else None
    kept_clones: list[KeptClone] = []
    chance_nodes = 0
    while True:
        node = check_node(trial, state, trial.ledger, trial.withdrawn, trial.decisions)
        full = full_rng.random() < full_share
        if full:
            trial.snapshot = NodeSnapshot(state, game.codec, trial.viewers)
            for name, check in NODE_CHECKS:
                check(trial, state, node)
                tally.add("checks", name)
            kept_clones = [*kept_clones[-KEPT_CLONES:], KeptClone.of(trial, state)]
        tally.add("nodes", "full" if full else "plain")
        if node.terminal:
            break
        chance_nodes = chance_nodes + 1 if node.outcomes else 0
        if chance_nodes > CHANCE_NODES_IN_A_ROW:
            raise CheckFailed("nodes", f"{chance_nodes} chance nodes in a row")
        step = choose(trial, node, style, chance, rng)
        events = apply_step(state, step)
        note(trial, step, node)
        check_event_values(trial, events)
        trial.events += events
        for event in events:
            tally.add("events", event.public.KIND)
        if log is not None:
            log.note(trial, step, events, state)
        if full:
            check_event_codec(trial, events)
            check_event_view(trial, state, events)
            check_event_sentences(trial, state, events)
            kept_clones[-1].check()
        trial.node += 1
    check_ending(trial, state, trial.withdrawn)
    for kept_clone in kept_clones:
        kept_clone.check()
    if log is not None:
        check_replay(trial, log)
        tally.add("checks", "replay")
    tally.add("matches", str(trial.players))
    tally.add("lengths", f"{trial.players}: {trial.decisions}")


def choose(trial: Trial, node: Node, style: PlayStyle, chance: KeyedChance, rng: Random) -> Step:
    """The next step of the match. CheckFailed `chance` if the keyed choice is not a valid outcome."""
    if style.leave_share and rng.random() < style.leave_share:
        return WithdrawStep(rng.choice(trial.staying))
    if node.stream is not None:
        outcome = chance.choose(node.stream, node.outcomes)
        if all(outcome != possible for possible, _ in node.outcomes):
            raise CheckFailed("chance", f"the keyed choice {outcome!r} is not offered")
        return ChanceStep(outcome)
    answers = {}
    for seat, legal in node.legal.items():
        roll = rng.random()
        if roll < style.first_share:
            answers[seat] = legal[0]
        elif roll < style.last_share:
            answers[seat] = legal[-1]
        else:
            answers[seat] = rng.choice(legal)
    return AnswerStep(answers)


def note(trial: Trial, step: Step, node: Node) -> None:
    """Update the trial and the tally after a step."""
    tally = trial.tally
    match step:
        case WithdrawStep(seat):
            trial.withdrawn.add(seat)
            tally.add("leaving", "in matches")
        case ChanceStep(outcome):
            if node.stream is not None:
                trial.ledger.record(node.stream, node.outcomes, outcome)
                tally.add("chance", stream_name(node.stream))
                trial.old_outcomes.append(outcome)
                del trial.old_outcomes[:-16]
        case AnswerStep(answers):
            trial.decisions += len(answers)
            for decision in node.decisions:
                tally.add("decisions", decision.kind)
                tally.add("actions", answers[decision.seat].KIND)
                trial.remember(node.legal[decision.seat])
