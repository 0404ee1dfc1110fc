"""A hash over all that random matches of a game show: states, legal lists, events, observations, luck and results.

    python tests/referee/games/transcript.py MATCHES     a line for each game and number of players

`test_compiled.py` compares the lines of plain and of compiled rules.
"""

import hashlib
import sys
from random import Random
from typing import Any

from referee.games.api import Game, resolve_options, state_hash
from referee.games.keyed import KeyedChance
from referee.games.registry import get_game

GAMES = ("king_of_new_york", "manhattan_traffiq", "shibuya", "ticket_to_ride_new_york")


def transcript(game: Game, players: int, seed: int) -> str:
    """The hash of one match. One seat in ten matches leaves it in mid-game."""
    rng = Random(f"{game.id}/{players}/{seed}")
    choose = KeyedChance(rng.randbytes(16)).choose
    state: Any = game.new_initial_state(players, resolve_options(game.id, game.options, {}))
    leaves_at = rng.randrange(60) if seed % 10 == 9 else -1
    digest, nodes = hashlib.blake2b(digest_size=16), 0
    while not state.is_terminal():
        if asked := state.decisions():
            answers = {}
            for decision in asked:
                legal = state.legal_actions(decision.seat)
                digest.update(game.codec.encode_actions(legal))
                answers[decision.seat] = legal[int(rng.random() * len(legal))]
            events = state.apply(answers)
        else:
            events = state.apply_chance(choose(state.chance_stream(), state.chance_outcomes()))
        nodes += 1
        if nodes == leaves_at and not state.is_terminal():
            events += state.withdraw(rng.randrange(players))
        digest.update(state_hash(state).encode())
        for viewer in (None, *range(players)):
            digest.update(game.codec.encode_observation(state.observation(viewer)))
            digest.update(game.codec.encode_events([event.seen_by(viewer) for event in events]))
    other = state.clone()
    digest.update(repr((other.to_dict(), other.returns(), other.ranking())).encode())
    digest.update(repr(game.state_from_dict(state.to_dict()).to_dict()).encode())
    return digest.hexdigest()


def main() -> None:
    rules = sys.modules["referee.games.keyed"].__file__
    print("compiled" if str(rules).endswith(".so") else "plain")
    for name in GAMES:
        game = get_game(name)
        for players in game.player_counts:
            print(name, players, *[transcript(game, players, seed) for seed in range(int(sys.argv[1]))])


if __name__ == "__main__":
    main()
