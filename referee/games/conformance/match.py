"""Plays one random match of a game and checks it on the way."""

import json
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any, TypeAlias

from referee.games.api import DATA_OPTION, Game, Option, OptionError, PlayersError, State, resolve_options
from referee.games.conformance.copies import check_clone, check_dict
from referee.games.conformance.encoding import check_codec, check_event_codec
from referee.games.conformance.ending import check_ending
from referee.games.conformance.failure import CheckFailed, Failure
from referee.games.conformance.leaving import check_withdraw
from referee.games.conformance.legal import check_legal_list
from referee.games.conformance.luck import stream_name
from referee.games.conformance.nodes import Node, look
from referee.games.conformance.order import check_answer_order
from referee.games.conformance.pictures import check_event_view, check_view
from referee.games.conformance.playout import CHANCE_NODES_IN_A_ROW
from referee.games.conformance.rebuilt import check_from_observation
from referee.games.conformance.refusal import check_refusal
from referee.games.conformance.replay import Tape, check_replay
from referee.games.conformance.secrecy import check_non_interference, check_resample
from referee.games.conformance.sight import Sight
from referee.games.conformance.steps import Act, Come, Leave, Step, take
from referee.games.conformance.tally import Tally
from referee.games.conformance.texts import check_action_text
from referee.games.conformance.trial import Trial, match_seed
from referee.games.conformance.values import Keepsake, check_event_values, check_values
from referee.games.conformance.whispers import check_events
from referee.games.keyed import KeyedChance

NodeCheck: TypeAlias = Callable[[Trial, State, Node], None]

DEAR_CHECKS: tuple[tuple[str, NodeCheck], ...] = (
    ("values", check_values),
    ("dict", check_dict),
    ("clone", check_clone),
    ("legal_list", check_legal_list),
    ("action_text", check_action_text),
    ("codec", check_codec),
    ("view", check_view),
    ("refusal", check_refusal),
    ("answer_order", check_answer_order),
    ("non_interference", check_non_interference),
    ("events", check_events),
    ("resample", check_resample),
    ("from_observation", check_from_observation),
    ("withdraw", check_withdraw),
)
"""Run in this order, so that a fault is named by the simplest check that sees it."""

KEEPSAKES = 20
UNEVEN_SHARE = 0.7


@dataclass(frozen=True, slots=True)
class Job:
    """One match to play. `dear_share` is the share of nodes with the dear checks, `replay` whether it is played again.

    `data` replaces the game's box data in all matches, random options are drawn all the same.
    """

    players: int
    seed: int
    dear_share: float = 1.0
    replay: bool = True
    data: Any = None


@dataclass(frozen=True, slots=True)
class Temper:
    """How a match is played: whom chance favours in choosing, and how often a seat leaves."""

    first_share: float
    last_share: float
    leave_share: float

    @classmethod
    def of(cls, rng: Random) -> "Temper":
        first, last = rng.choice(((0.0, 0.0), (0.0, 0.0), (UNEVEN_SHARE, 0.0), (0.0, UNEVEN_SHARE)))
        return cls(first, last, rng.choice((0.0, 0.0, 0.0, 0.01, 0.1)))


def check_match(game: Game, job: Job, tally: Tally) -> Failure | None:
    """Play the match of `job`; what it covered goes into `tally`."""
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
        play(trial, state, job.dear_share, job.replay)
    except CheckFailed as failed:
        return report(game, job, options, trial, failed, "")
    except Exception as error:  # whatever a game raises is the finding
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
    """The first node: two matches of three with the default options, the third with some drawn at random."""
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
    """Some options at other values; integers up to twice the default, so that matches stay short."""
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


def play(trial: Trial, state: State, dear_share: float, replay: bool) -> None:
    """From the first node to the last. CheckFailed at the first finding."""
    game, tally = trial.game, trial.tally
    rng = Random(f"{game.id}/{trial.players}/{trial.seed}/play")
    dear_rng = Random(f"{game.id}/{trial.players}/{trial.seed}/dear")
    temper = Temper.of(rng)
    chance = KeyedChance(match_seed(game.id, trial.players, trial.seed))
    tape = Tape() if replay else None
    keepsakes: list[Keepsake] = []
    chance_nodes = 0
    while True:
        node = look(trial, state, trial.ledger, trial.gone, trial.decisions)
        dear = dear_rng.random() < dear_share
        if dear:
            trial.sight = Sight(state, game.codec, trial.viewers)
            for name, check in DEAR_CHECKS:
                check(trial, state, node)
                tally.add("checks", name)
            keepsakes = [*keepsakes[-KEEPSAKES:], Keepsake.of(trial, state)]
        tally.add("nodes", "dear" if dear else "plain")
        if node.terminal:
            break
        chance_nodes = chance_nodes + 1 if node.outcomes else 0
        if chance_nodes > CHANCE_NODES_IN_A_ROW:
            raise CheckFailed("nodes", f"{chance_nodes} chance nodes in a row")
        step = choose(trial, node, temper, chance, rng)
        events = take(state, step)
        note(trial, step, node)
        check_event_values(trial, events)
        trial.events += events
        for event in events:
            tally.add("events", event.public.KIND)
        if tape is not None:
            tape.note(trial, step, events, state)
        if dear:
            check_event_codec(trial, events)
            check_event_view(trial, events)
            keepsakes[-1].check()
        trial.node += 1
    check_ending(trial, state, trial.gone)
    for keepsake in keepsakes:
        keepsake.check()
    if tape is not None:
        check_replay(trial, tape)
        tally.add("checks", "replay")
    tally.add("matches", str(trial.players))
    tally.add("lengths", f"{trial.players}: {trial.decisions}")


def choose(trial: Trial, node: Node, temper: Temper, chance: KeyedChance, rng: Random) -> Step:
    """The next step of the match. CheckFailed `chance` if the referee's luck finds no valid outcome."""
    if temper.leave_share and rng.random() < temper.leave_share:
        return Leave(rng.choice(trial.staying))
    if node.stream is not None:
        outcome = chance.choose(node.stream, node.outcomes)
        if all(outcome != possible for possible, _ in node.outcomes):
            raise CheckFailed("chance", f"the keyed choice {outcome!r} is not offered")
        return Come(outcome)
    answers = {}
    for seat, legal in node.legal.items():
        roll = rng.random()
        if roll < temper.first_share:
            answers[seat] = legal[0]
        elif roll < temper.last_share:
            answers[seat] = legal[-1]
        else:
            answers[seat] = rng.choice(legal)
    return Act(answers)


def note(trial: Trial, step: Step, node: Node) -> None:
    """Keep the books after a step."""
    tally = trial.tally
    match step:
        case Leave(seat):
            trial.gone.add(seat)
            tally.add("leaving", "in matches")
        case Come(outcome):
            if node.stream is not None:
                trial.ledger.take(node.stream, node.outcomes, outcome)
                tally.add("chance", stream_name(node.stream))
                trial.old_outcomes.append(outcome)
                del trial.old_outcomes[:-16]
        case Act(answers):
            trial.decisions += len(answers)
            for decision in node.decisions:
                tally.add("decisions", decision.kind)
                tally.add("actions", answers[decision.seat].KIND)
                trial.remember(node.legal[decision.seat])
