"""Checks that a match comes out the same again: replay, golden matches, other hash seeds.

A golden file holds matches recorded under one rules version, one JSON line each: the seed, the steps as a record has
them, and a short hash of the state after each step. What bots are shown may change freely; a recorded match that
replays differently needs a new `rules_version`.
"""

import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from random import Random
from typing import Any

from referee.games.api import Event, Game, GameError, State, resolve_options, state_hash
from referee.games.conformance.checks import CheckFailed
from referee.games.conformance.game_object import resolve
from referee.games.conformance.trial import (
    AnswerStep,
    ChanceStep,
    Step,
    Trial,
    WithdrawStep,
    apply_step,
    canonical_text,
    match_seed,
    plain_step,
)
from referee.games.keyed import KeyedChance

COME = "come"
LEAVE = "leave"


@dataclass(slots=True)
class StepLog:
    """For each step one line, as in a record, and a digest of the state and events it led to."""

    lines: list[str] = field(default_factory=list)
    digests: list[str] = field(default_factory=list)

    def note(self, trial: Trial, step: Step, events: list[Event], after: State) -> None:
        self.lines.append(step_line(trial.game, step))
        self.digests.append(step_digest(trial, events, after))


def step_line(game: Game, step: Step) -> str:
    """The line of a step. It leaves out the outcome of chance, which the seed must give again."""
    match step:
        case AnswerStep(answers):
            return json.dumps({str(seat): game.format_action(action) for seat, action in answers.items()})
        case ChanceStep():
            return COME
    return f"{LEAVE} {step.seat}"


def step_digest(trial: Trial, events: list[Event], after: State) -> str:
    """A digest of the events of all viewers and of the state after."""
    digest = blake2b(digest_size=16)
    for viewer in trial.viewers:
        digest.update(trial.encoded_events(viewer, events))
    digest.update(canonical_text(after).encode())
    return digest.hexdigest()


def replay_line(game: Game, state: State, chance: KeyedChance, line: str) -> list[Event]:
    """Apply the step of a line to `state`, in place."""
    if line == COME:
        return state.apply_chance(chance.choose(state.chance_stream(), state.chance_outcomes()))
    if line.startswith(LEAVE):
        return state.withdraw(int(line.removeprefix(LEAVE)))
    return state.apply({int(seat): game.parse_action(text) for seat, text in json.loads(line).items()})


def check_replay(trial: Trial, log: StepLog) -> None:
    """CheckFailed `replay` unless the logged steps lead to the same states and events again."""
    game = trial.game
    state = game.new_initial_state(trial.players, json.loads(json.dumps(trial.options)))
    chance = KeyedChance(match_seed(game.id, trial.players, trial.seed))
    for number, (line, digest) in enumerate(zip(log.lines, log.digests, strict=True)):
        events = replay_line(game, state, chance, line)
        if step_digest(trial, events, state) != digest:
            raise CheckFailed(
                "replay", f"step {number} ({line}) leads elsewhere, or tells something else, the second time"
            )
    if not state.is_terminal():
        raise CheckFailed("replay", "played again, the match is not over where it was")


GOLDEN_PER_COUNT = 2
HASH_DIGITS = 8
LEAVE_SHARE = 0.01


def write_golden(game: Game, path: Path) -> None:
    """Write random matches with default options to `path`, two for each player count. A file that is there is replaced
    when the new one is complete. OSError."""
    matches = [record(game, players, seed) for players in game.player_counts for seed in range(GOLDEN_PER_COUNT)]
    fresh = path.with_name(f".{path.name}.new")
    try:
        text = "".join(json.dumps(match, separators=(",", ":")) + "\n" for match in matches)
        fresh.write_text(text, encoding="ascii")
        fresh.replace(path)
    finally:
        fresh.unlink(missing_ok=True)


def record(game: Game, players: int, seed: int) -> dict[str, Any]:
    """One recorded match, as a line of the golden file."""
    rng = Random(f"{game.id}/{players}/{seed}/golden")
    options = resolve_options(game.id, game.options, {})
    state = game.new_initial_state(players, options)
    chance = KeyedChance(match_seed(game.id, players, seed))
    staying = list(range(players))
    steps, hashes = [], [short_hash(state)]
    while not state.is_terminal():
        step: Step = plain_step(state, chance, rng)
        if rng.random() < LEAVE_SHARE:
            step = WithdrawStep(staying.pop(rng.randrange(len(staying))))
        apply_step(state, step)
        steps.append(step_line(game, step))
        hashes.append(short_hash(state))
    return {
        "game": game.id,
        "rules_version": game.rules_version,
        "players": players,
        "seed": seed,
        "options": options,
        "steps": steps,
        "hashes": hashes,
        "ranking": list(state.ranking()),
        "returns": list(state.returns()),
    }


def short_hash(state: State) -> str:
    return state_hash(state)[:HASH_DIGITS]


def check_golden(game: Game, path: Path) -> None:
    """CheckFailed `golden` if a recorded match comes out differently, or is of another game or rules version."""
    try:
        matches = [json.loads(line) for line in path.read_text(encoding="ascii").splitlines()]
        for match in matches:
            check_recorded(game, match)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise CheckFailed("golden", f"{path} cannot be read: {type(error).__name__}: {error}") from error
    if not matches:
        raise CheckFailed("golden", f"{path} is empty")


def check_recorded(game: Game, match: dict[str, Any]) -> None:
    """CheckFailed `golden` unless one recorded match replays to the same states and result."""
    found = (match["game"], match["rules_version"])
    if found != (game.id, game.rules_version):
        raise CheckFailed(
            "golden",
            f"recorded with {found[0]}, rules version {found[1]}; this is {game.id}, rules version "
            f"{game.rules_version}: write the file again",
        )
    state = game.new_initial_state(match["players"], match["options"])
    chance = KeyedChance(match_seed(game.id, match["players"], match["seed"]))
    place = f"the recorded match of {match['players']} players, seed {match['seed']}"
    cure = "if the rules have changed on purpose, raise rules_version and write the file again"
    if short_hash(state) != match["hashes"][0]:
        raise CheckFailed("golden", f"{place} starts differently; {cure}")
    for number, (line, expected) in enumerate(zip(match["steps"], match["hashes"][1:], strict=True)):
        try:
            replay_line(game, state, chance, line)
        except GameError as error:
            raise CheckFailed("golden", f"{place}: step {number} ({line}) is refused: {error}; {cure}") from error
        if short_hash(state) != expected:
            raise CheckFailed("golden", f"{place}: step {number} ({line}) leads to another state; {cure}")
    if not state.is_terminal() or [list(state.ranking()), list(state.returns())] != [
        match["ranking"],
        match["returns"],
    ]:
        raise CheckFailed("golden", f"{place} ends differently; {cure}")


HASH_SEEDS = ("1", "2")
DIGESTS_PER_COUNT = 3
TIME_LIMIT_S = 120


def match_digest(game: Game, players: int, seed: int) -> str:
    """32 hex digits over everything visible in random match `seed` with default options.

    States, legal lists as text, observations and events as bytes. Change means that `rules_version` has to go up,
    if recorded matches could replay differently, or that what bots get has changed.
    """
    digest = blake2b(digest_size=16)
    rng = Random(f"{game.id}/{players}/{seed}/digest")
    chance = KeyedChance(match_seed(game.id, players, seed))
    state = game.new_initial_state(players, resolve_options(game.id, game.options, {}))
    viewers = (None, *range(players))
    while True:
        digest.update(canonical_text(state).encode())
        for viewer in viewers:
            digest.update(game.codec.encode_observation(state.observation(viewer)))
        if state.is_terminal():
            digest.update(repr((state.ranking(), state.returns())).encode())
            return digest.hexdigest()
        for decision in state.decisions():
            texts = [game.format_action(action) for action in state.legal_actions(decision.seat)]
            digest.update("\n".join(texts).encode())
        digest.update(repr(list(state.chance_outcomes())).encode())
        events = apply_step(state, plain_step(state, chance, rng))
        for viewer in viewers:
            digest.update(game.codec.encode_events([event.seen_by(viewer) for event in events]))


def check_hash_seed(ref: str, seed: int, matches: int = DIGESTS_PER_COUNT) -> None:
    """CheckFailed `hash_seed` if processes with different PYTHONHASHSEED play different matches."""
    runs = [digests_under(hash_seed, ref, seed, matches) for hash_seed in HASH_SEEDS]
    for one, other in zip(*runs, strict=True):
        if one != other:
            players, number, _ = one.split()
            raise CheckFailed(
                "hash_seed",
                f"match {number} with {players} players goes one way under PYTHONHASHSEED={HASH_SEEDS[0]} and another "
                f"under {HASH_SEEDS[1]}: something iterates over a set, or uses hash() or id()",
            )


def digests_under(hash_seed: str, ref: str, seed: int, matches: int) -> list[str]:
    """The lines that `print_digests` prints in another process with this PYTHONHASHSEED."""
    environment = {
        **os.environ,
        "PYTHONHASHSEED": hash_seed,
        "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
    }
    program = f"from {__name__} import print_digests; print_digests()"
    command = [sys.executable, "-P", "-c", program, ref, str(seed), str(matches)]
    try:
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=TIME_LIMIT_S)
    except subprocess.TimeoutExpired as error:
        raise CheckFailed(
            "hash_seed", f"{matches} matches for each player count took more than {TIME_LIMIT_S} s"
        ) from error
    if done.returncode != 0:
        last = done.stderr.strip().splitlines()[-1:] or ["no output"]
        raise CheckFailed("hash_seed", f"a process of its own cannot play '{ref}': {last[0]}")
    return done.stdout.splitlines()


def print_digests() -> None:
    """The other process: prints one line for each match. Its arguments are REF SEED MATCHES."""
    ref, seed, matches = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    game = resolve(ref)
    for players in game.player_counts:
        for number in range(seed, seed + matches):
            print(players, number, match_digest(game, players, number))
