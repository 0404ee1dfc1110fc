"""Golden matches: recorded once per rules version, and never to come out differently under it.

A file holds one JSON line per match: the seed, the steps as a record has them, a short hash of the state after each.
What bots are shown may change freely; that a recorded match replays differently needs a new `rules_version`.
"""

import json
from pathlib import Path
from random import Random
from typing import Any

from referee.games.api import Game, GameError, State, resolve_options, state_hash
from referee.games.conformance.failure import CheckFailed
from referee.games.conformance.replay import retake, written
from referee.games.conformance.steps import Leave, Step, plain_step, take
from referee.games.conformance.trial import match_seed
from referee.games.keyed import KeyedChance

MATCHES_PER_COUNT = 2
HASH_DIGITS = 8
LEAVE_SHARE = 0.01


def write_golden(game: Game, path: Path) -> None:
    """Record random matches with default options, two for each player count, over whatever `path` held."""
    matches = [record(game, players, seed) for players in game.player_counts for seed in range(MATCHES_PER_COUNT)]
    path.write_text("".join(json.dumps(match, separators=(",", ":")) + "\n" for match in matches), encoding="ascii")


def record(game: Game, players: int, seed: int) -> dict[str, Any]:
    """One match as a line of the file."""
    rng = Random(f"{game.id}/{players}/{seed}/golden")
    options = resolve_options(game.id, game.options, {})
    state = game.new_initial_state(players, options)
    chance = KeyedChance(match_seed(game.id, players, seed))
    staying = list(range(players))
    steps, hashes = [], [short_hash(state)]
    while not state.is_terminal():
        step: Step = plain_step(state, chance, rng)
        if rng.random() < LEAVE_SHARE:
            step = Leave(staying.pop(rng.randrange(len(staying))))
        take(state, step)
        steps.append(written(game, step))
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
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise CheckFailed("golden", f"{path} cannot be read: {type(error).__name__}: {error}") from error
    if not matches:
        raise CheckFailed("golden", f"{path} is empty")


def check_recorded(game: Game, match: dict[str, Any]) -> None:
    """Replay one line."""
    found = (match["game"], match["rules_version"])
    if found != (game.id, game.rules_version):
        raise CheckFailed(
            "golden",
            f"recorded with {found[0]}, rules version {found[1]}; this is {game.id}, rules version "
            f"{game.rules_version}: write the file anew",
        )
    state = game.new_initial_state(match["players"], match["options"])
    chance = KeyedChance(match_seed(game.id, match["players"], match["seed"]))
    place = f"the recorded match of {match['players']} players, seed {match['seed']}"
    cure = "if the rules have changed on purpose, raise rules_version and write the file anew"
    if short_hash(state) != match["hashes"][0]:
        raise CheckFailed("golden", f"{place} starts differently; {cure}")
    for number, (line, expected) in enumerate(zip(match["steps"], match["hashes"][1:], strict=True)):
        try:
            retake(game, state, chance, line)
        except GameError as error:
            raise CheckFailed("golden", f"{place}: step {number} ({line}) is refused: {error}; {cure}") from error
        if short_hash(state) != expected:
            raise CheckFailed("golden", f"{place}: step {number} ({line}) leads to another state; {cure}")
    if not state.is_terminal() or [list(state.ranking()), list(state.returns())] != [
        match["ranking"],
        match["returns"],
    ]:
        raise CheckFailed("golden", f"{place} ends differently; {cure}")
