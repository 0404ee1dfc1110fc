"""Random play of the games, for `games.py`: in its process, or in one whose package `referee` lies in another folder.

    python benchmarks/random_play.py FOLDER     read orders, a line of JSON each, and answer each with a line

An order has a game, a number of players, whether the luck is `keyed`, a seed and CPU seconds; the answer has the
matches and decisions that were played, and the CPU seconds that they took.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

if __name__ == "__main__":
    sys.path[0] = sys.argv[1]

from referee.games.api import Game, resolve_options
from referee.games.keyed import KeyedChance, random_outcome
from referee.games.registry import game_ids, get_game

Played = tuple[int, int, float]
"""Matches, decisions and CPU seconds."""


@dataclass(frozen=True, slots=True)
class Box:
    """A game with a number of players, options as by default."""

    game: Game
    players: int
    options: dict[str, Any]

    def start(self) -> Any:
        return self.game.new_initial_state(self.players, self.options)


def box_of(game_id: str, players: int) -> Box:
    game = get_game(game_id)
    return Box(game, players, resolve_options(game.id, game.options, {}))


def boxes(games: Sequence[str]) -> list[Box]:
    """Each of these games, all installed ones if there are none, with each number of players."""
    return [box_of(name, count) for name in games or game_ids() for count in get_game(name).player_counts]


def ordinary_luck(rng: Random) -> Callable[[Any], Any]:
    return lambda state: random_outcome(state.chance_outcomes(), rng)


def keyed_luck(rng: Random) -> Callable[[Any], Any]:
    """The luck of real matches, which replays and tells nothing."""
    choose = KeyedChance(rng.randbytes(16)).choose
    return lambda state: choose(state.chance_stream(), state.chance_outcomes())


def play_at_random(box: Box, luck: Callable[[Random], Callable[[Any], Any]], rng: Random) -> int:
    """One match; returns its decisions."""
    state, outcome, decisions = box.start(), luck(rng), 0
    while True:
        if asked := state.decisions():
            answers = {}
            for decision in asked:
                legal = state.legal_actions(decision.seat)
                answers[decision.seat] = legal[int(rng.random() * len(legal))]
            state.apply(answers)
            decisions += len(answers)
        elif state.is_terminal():
            return decisions
        else:
            state.apply_chance(outcome(state))


def play_for(play: Callable[[Random], int], seed: int, seconds: float) -> Played:
    """Whole matches, the last one begun before so many CPU seconds were over."""
    rng, matches, decisions = Random(seed), 0, 0
    cpu_s, began = 0.0, time.process_time()
    while cpu_s < seconds:
        decisions += play(rng)
        matches += 1
        cpu_s = time.process_time() - began
    return matches, decisions, cpu_s


class Elsewhere:
    """A process that plays with the package `referee` of another folder."""

    def __init__(self, child: "subprocess.Popen[str]") -> None:
        self._child = child

    def play_for(self, box: Box, keyed: bool, seed: int, seconds: float) -> Played:
        """As the function of this name."""
        assert self._child.stdin is not None
        assert self._child.stdout is not None
        order = {"game": box.game.id, "players": box.players, "keyed": keyed, "seed": seed, "seconds": seconds}
        print(json.dumps(order), file=self._child.stdin, flush=True)
        matches, decisions, cpu_s = json.loads(self._child.stdout.readline())
        return matches, decisions, cpu_s


@contextmanager
def elsewhere(folder: Path) -> Iterator[Elsewhere]:
    """A process with the package `referee` of this folder; it ends with the context."""
    child = subprocess.Popen(
        [sys.executable, __file__, str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": ""},
    )
    with child:
        yield Elsewhere(child)


def serve() -> None:
    """Carry out the orders of standard input until it ends."""
    for line in sys.stdin:
        order = json.loads(line)
        box, luck = box_of(order["game"], order["players"]), keyed_luck if order["keyed"] else ordinary_luck

        def play(rng: Random, box: Box = box, luck: Any = luck) -> int:
            return play_at_random(box, luck, rng)

        print(json.dumps(play_for(play, order["seed"], order["seconds"])), flush=True)


if __name__ == "__main__":
    serve()
