"""A hash over all that random matches of a game show: states, legal lists, events, observations, luck and results.

    python tests/referee/games/transcript.py MATCHES [GAME ...]     two lines for each game and number of players

The second line has a hash over what the rules say to wrong values: each error, and that the state stays as it was.
`test_compiled.py` compares the lines of plain and of compiled rules.
"""

import hashlib
import sys
from collections.abc import Callable, Iterator
from functools import partial
from random import Random
from typing import Any

from referee.games.api import Game, GameError, resolve_options, state_hash
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


WRONG = (None, True, -1, 99, 2**70, 1.0, "x", "0", b"x", (), object)
"""No actions, outcomes or numbers of players. True and 1.0 are equal to a seat and are none."""
ASKED_EVERY = 5
"""Nodes of a match from one with wrong values to the next."""


def misuse(game: Game, players: int, seed: int) -> str:
    """The hash of what one match says to wrong values."""
    rng = Random(f"{game.id}/{players}/{seed}")
    digest = hashlib.blake2b(digest_size=16)
    options = resolve_options(game.id, game.options, {})
    for value in WRONG:
        digest.update(said(partial(game.new_initial_state, value, options)).encode())
    state: Any = game.new_initial_state(players, options)
    nodes = 0
    while not state.is_terminal():
        if nodes % ASKED_EVERY == 0:
            before = state_hash(state)
            for attempt in attempts(state):
                digest.update(said(attempt).encode())
            for value in WRONG:
                digest.update(said(partial(state.legal_actions, value)).encode())
            assert state_hash(state) == before, "a refused value has changed the state"
        nodes += 1
        if asked := state.decisions():
            state.apply({one.seat: rng.choice(state.legal_actions(one.seat)) for one in asked})
        else:
            state.apply_chance(rng.choice(state.chance_outcomes())[0])
    for attempt in attempts(state):
        digest.update(said(attempt).encode())
    return digest.hexdigest()


def attempts(state: Any) -> Iterator[Callable[[], Any]]:
    """Calls of the rules with wrong values, all of which are refused."""
    asked = [decision.seat for decision in state.decisions()]
    answers = {seat: state.legal_actions(seat)[0] for seat in asked}
    for value in WRONG:
        yield partial(state.apply_chance, value)
        yield partial(state.apply, {value: None})
        yield partial(state.apply, {**answers, value: None})
        for seat in asked:
            yield partial(state.apply, {**answers, seat: value})
        yield partial(state.withdraw, value)


def said(attempt: Callable[[], Any]) -> str:
    """What a call returns or raises. Python's own errors have other words in compiled code."""
    try:
        return repr(attempt())
    except GameError as error:
        return f"{type(error).__name__}: {error}"
    except Exception as error:
        return type(error).__name__


def main() -> None:
    rules = sys.modules["referee.games.keyed"].__file__
    print("compiled" if str(rules).endswith(".so") else "plain")
    matches = range(int(sys.argv[1]))
    for name in sys.argv[2:] or GAMES:
        game = get_game(name)
        for players in game.player_counts:
            print(name, players, *[transcript(game, players, seed) for seed in matches])
            print(name, players, "misuse", *[misuse(game, players, seed) for seed in matches[:3]])


if __name__ == "__main__":
    main()
