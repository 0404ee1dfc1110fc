"""Digests of random matches: equal for equal rules, under any PYTHONHASHSEED, on any machine."""

import os
import subprocess
import sys
from hashlib import blake2b
from random import Random

from referee.games.api import Game, resolve_options
from referee.games.conformance.failure import CheckFailed
from referee.games.conformance.marks import fingerprint
from referee.games.conformance.refs import resolve
from referee.games.conformance.steps import plain_step, take
from referee.games.conformance.trial import match_seed
from referee.games.keyed import KeyedChance

HASH_SEEDS = ("1", "2")
MATCHES_PER_COUNT = 3
TIME_LIMIT_S = 120


def match_digest(game: Game, players: int, seed: int) -> str:
    """32 hex digits over everything that shows in random match `seed` with default options.

    States, legal lists as text, observations and events as bytes. Change means that `rules_version` has to go up,
    if recorded matches could replay differently, or that what bots get has changed.
    """
    digest = blake2b(digest_size=16)
    rng = Random(f"{game.id}/{players}/{seed}/digest")
    chance = KeyedChance(match_seed(game.id, players, seed))
    state = game.new_initial_state(players, resolve_options(game.id, game.options, {}))
    viewers = (None, *range(players))
    while True:
        digest.update(fingerprint(state).encode())
        for viewer in viewers:
            digest.update(game.codec.encode_observation(state.observation(viewer)))
        if state.is_terminal():
            digest.update(repr((state.ranking(), state.returns())).encode())
            return digest.hexdigest()
        for decision in state.decisions():
            texts = [game.format_action(action) for action in state.legal_actions(decision.seat)]
            digest.update("\n".join(texts).encode())
        digest.update(repr(list(state.chance_outcomes())).encode())
        events = take(state, plain_step(state, chance, rng))
        for viewer in viewers:
            digest.update(game.codec.encode_events([event.seen_by(viewer) for event in events]))


def check_hash_seed(ref: str, seed: int, matches: int = MATCHES_PER_COUNT) -> None:
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
    """The lines that `main` prints in a process of its own with this PYTHONHASHSEED."""
    environment = {
        **os.environ,
        "PYTHONHASHSEED": hash_seed,
        "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
    }
    program = f"from {__name__} import main; main()"
    command = [sys.executable, "-c", program, ref, str(seed), str(matches)]
    try:
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=TIME_LIMIT_S)
    except subprocess.TimeoutExpired as error:
        raise CheckFailed("hash_seed", f"{matches} matches a player count took over {TIME_LIMIT_S} s") from error
    if done.returncode != 0:
        last = done.stderr.strip().splitlines()[-1:] or ["no output"]
        raise CheckFailed("hash_seed", f"a process of its own cannot play '{ref}': {last[0]}")
    return done.stdout.splitlines()


def main() -> None:
    """For a process of its own: one line per match, with the arguments REF SEED MATCHES."""
    ref, seed, matches = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    game = resolve(ref)
    for players in game.player_counts:
        for number in range(seed, seed + matches):
            print(players, number, match_digest(game, players, number))
