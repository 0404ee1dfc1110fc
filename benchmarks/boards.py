"""What drawing a board costs: milliseconds of processor time and size, per game.

    python benchmarks/boards.py [--matches 3] [GAME ...]

Every node of random matches with the most players is drawn as SVG, without the style sheet, for the seat that is asked
with its legal actions as buttons, and written as text. Times are of this process, after one match of warming up.
"""

import argparse
import platform
import sys
import time
import zlib
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from referee.games.api import Game, resolve_options, text_board
from referee.games.drawing import Look, draw_board
from referee.games.keyed import random_outcome
from referee.games.registry import game_ids, get_game

NAMES = ("Ada", "Boole", "Curie", "Dijkstra", "Erdos", "Franklin")


def nodes(game: Game, seed: int) -> Iterator[tuple[Any, Look]]:
    """What the seat that is asked sees at each decision of a random match, and its look."""
    rng = Random(seed)
    players = game.player_counts[-1]
    state = game.new_initial_state(players, resolve_options(game.id, game.options, {}))
    while not state.is_terminal():
        if state.chance_outcomes():
            state.apply_chance(random_outcome(state.chance_outcomes(), rng))
            continue
        answers = {}
        for decision in state.decisions():
            legal = list(state.legal_actions(decision.seat))
            yield state.observation(decision.seat), Look(names=NAMES[:players], legal=legal, styled=False)
            answers[decision.seat] = rng.choice(legal)
        state.apply(answers)


def measure(game: Game, matches: int) -> str:
    """One line of the table."""
    for observation, look in nodes(game, 0):
        draw_board(game, observation, look)
    times: list[float] = []
    texts: list[float] = []
    sizes: list[int] = []
    packed: list[int] = []
    for seed in range(1, matches + 1):
        for observation, look in nodes(game, seed):
            start = time.process_time_ns()
            svg = draw_board(game, observation, look)
            middle = time.process_time_ns()
            text_board(game, observation)
            texts.append((time.process_time_ns() - middle) / 1e6)
            times.append((middle - start) / 1e6)
            sizes.append(len(svg))
            packed.append(len(zlib.compress(svg.encode())))
    times.sort()
    count = len(times)
    return (
        f"| {game.id} | {count} | {times[count // 2]:.2f} | {times[count * 99 // 100]:.2f} | {times[-1]:.2f} "
        f"| {sum(texts) / count:.2f} | {sum(sizes) / count / 1000:.0f} | {sum(packed) / count / 1000:.1f} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--matches", type=int, default=3)
    parser.add_argument("games", nargs="*", metavar="GAME")
    given = parser.parse_args()
    print(f"Python {platform.python_version()}, {platform.machine()}\n")
    print("| game | boards | median ms | 99 % ms | worst ms | text ms | kB | kB packed |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for name in given.games or game_ids():
        print(measure(get_game(name), given.matches), flush=True)


if __name__ == "__main__":
    main()
