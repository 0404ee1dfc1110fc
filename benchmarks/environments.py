"""How fast matches are as environments, arrays included, beside other libraries of environments.

    python benchmarks/environments.py [--seconds 1] [--rounds 3] [--matches 256] [--processes 2]
        [--compiled [FOLDER]] [--no-peers] [GAME ...]

All rows play at random. `vector` steps that many matches at once, in this process and over several; the action is the
one that it has drawn among the legal ones. `aec` is the environment of PettingZoo, in which the mask is searched for
legal actions, as for PettingZoo's own classic games. RLCard's rows include its arrays; those of OpenSpiel's Python
games include their observation tensor where a game has one. `random play` is the game alone, without arrays: the last
column compares a row with it, in the same round. With --compiled the rules and the arrays are also compiled. Wall
seconds and CPU seconds, those of worker processes included; medians of rounds, in which all rows take turns. Other work
on the machine makes wall seconds longer and leaves CPU seconds nearly as they are.
"""

import argparse
import importlib
import json
import os
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from importlib.metadata import version
from pathlib import Path
from random import Random
from statistics import median
from typing import Any

sys.path.pop(0)  # this folder, in which `referee` is another benchmark
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
if sys.argv[1:2] == ["--serve"]:
    sys.path.insert(0, sys.argv[2])

import numpy as np
from crosstown_env import GAMES, VectorEnv, aec, vector

from benchmarks.machine import machine
from benchmarks.peers import rlcard
from benchmarks.random_play import box_of, ordinary_luck, play_at_random
from hatch_build import compiled_folder
from referee.games.registry import get_game

CLASSIC = ("tictactoe_v3", "connect_four_v3", "chess_v6", "go_v5", "leduc_holdem_v4", "texas_holdem_v4")
SERVE = "--serve"
"""First argument of a process that measures rows for another one, with the packages of the folder that follows."""
SPIEL = ("python_tic_tac_toe", "python_kuhn_poker", "python_liars_poker", "python_block_dominoes")


@dataclass
class Row:
    """Something that is stepped, and what was measured."""

    name: str
    how: str
    seats: int
    step: Callable[[], int]
    """Plays on a little and returns how many decisions that took."""
    cpu_s: Callable[[], float] = time.process_time
    close: Callable[[], None] = lambda: None
    walls: list[float] = field(default_factory=list)
    """Decisions per wall second, one for each round."""
    cpus: list[float] = field(default_factory=list)
    """Decisions per CPU second."""
    alone: "Row | None" = None
    """Random play of the same game, by the same rules, without arrays."""

    def measure(self, seconds: float) -> None:
        began, cpu, decisions = time.perf_counter(), self.cpu_s(), 0
        while time.perf_counter() - began < seconds:
            decisions += self.step()
        self.walls.append(decisions / (time.perf_counter() - began))
        self.cpus.append(decisions / max(1e-9, self.cpu_s() - cpu))

    def __str__(self) -> str:
        wall, cpu = median(self.walls), median(self.cpus)
        ratio = ""
        if self.alone is not None:
            ratio = f"{median(one / other for one, other in zip(self.cpus, self.alone.cpus, strict=True)):.2f}"
        return (
            f"| {self.name} | {self.how} | {self.seats} | {wall:,.0f} | {max(self.walls):,.0f} | {cpu:,.0f} | {ratio} |"
        )


HEAD = """| game | how | seats | decisions/s | best round | per CPU second | to random play |
| --- | --- | --- | --- | --- | --- | --- |"""


class ServedRow(Row):
    """A row that is measured in another process."""

    place: int
    child: "subprocess.Popen[str]"

    def measure(self, seconds: float) -> None:
        assert self.child.stdin is not None
        assert self.child.stdout is not None
        print(self.place, seconds, file=self.child.stdin, flush=True)
        wall, cpu = json.loads(self.child.stdout.readline())
        self.walls.append(wall)
        self.cpus.append(cpu)


def served_rows(child: "subprocess.Popen[str]") -> Iterator[Row]:
    """The rows of a process that runs `serve`."""
    assert child.stdout is not None
    made: list[Row] = []
    for place, (name, how, seats, alone) in enumerate(json.loads(child.stdout.readline())):
        row = ServedRow(f"{name}, compiled", how, seats, int)
        row.place, row.child = place, child
        row.alone = made[alone] if alone is not None else None
        made.append(row)
    yield from made


def serve(games: Sequence[str], matches: int, processes: int) -> None:
    """Say which rows there are, then measure the one that a line of standard input names, for so many seconds."""
    rows = list(own_rows(games, matches, processes))
    print(json.dumps([(row.name, row.how, row.seats, row.alone and rows.index(row.alone)) for row in rows]), flush=True)
    for line in sys.stdin:
        place, seconds = line.split()
        row = rows[int(place)]
        row.measure(float(seconds))
        print(json.dumps((row.walls[-1], row.cpus[-1])), flush=True)
    for row in rows:
        row.close()


def cpu_of(env: VectorEnv) -> Callable[[], float]:
    """CPU seconds of this process and of the environment's workers."""
    ticks = os.sysconf("SC_CLK_TCK")

    def used() -> float:
        total = time.process_time()
        for pid in env.pids:
            parts = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            total += (int(parts[11]) + int(parts[12])) / ticks
        return total

    return used


def own_rows(games: Sequence[str], matches: int, processes: int) -> Iterator[Row]:
    for game in games:
        for players in get_game(game).player_counts[:1]:
            alone = Row(
                game, "random play", players, partial(play_at_random, box_of(game, players), ordinary_luck, Random(1))
            )
            yield alone
            for count in dict.fromkeys((1, processes)):
                env = vector(game, matches, players=players, processes=count)

                def step(env: VectorEnv = env) -> int:
                    env.step(env.samples)
                    return env.n

                how = f"vector, {count} process{'es' if count > 1 else ''}"
                yield Row(game, how, players, step, cpu_of(env), env.close, alone=alone)
            yield Row(game, "aec", players, agents(aec(game, players=players)), alone=alone)


def agents(env: Any) -> Callable[[], int]:
    """Random play of an environment of PettingZoo, a match at a time."""
    rng, seeds = Random(1), iter(range(1 << 30))

    def step() -> int:
        env.reset(seed=next(seeds))
        decisions = 0
        for _ in env.agent_iter():
            seen, _, ended, cut, info = env.last()
            if ended or cut:
                env.step(None)
                continue
            mask = seen["action_mask"] if isinstance(seen, dict) else info["action_mask"]
            legal = np.flatnonzero(mask)
            env.step(int(legal[int(rng.random() * len(legal))]))
            decisions += 1
        return decisions

    return step


def classic() -> Iterator[Row]:
    """PettingZoo's classic games that work here."""
    for name in CLASSIC:
        try:
            env = importlib.import_module(f"pettingzoo.classic.{name}").env()
            env.reset(seed=0)
        except Exception as error:
            print(f"left out: pettingzoo {name} ({type(error).__name__}: {error})")
            continue
        yield Row(f"pettingzoo {name}", "aec", len(env.possible_agents), agents(env))


def spiel() -> Iterator[Row]:
    """OpenSpiel's games that are written in Python, with their tensors."""
    pyspiel: Any = importlib.import_module("pyspiel")
    importlib.import_module("open_spiel.python.games")
    rng = Random(1)
    for name in SPIEL:
        game = pyspiel.load_game(name)
        shows = game.get_type().provides_observation_tensor

        def step(game: Any = game, shows: bool = shows) -> int:
            state, decisions = game.new_initial_state(), 0
            while not state.is_terminal():
                if state.is_chance_node():
                    moves, weights = zip(*state.chance_outcomes(), strict=True)
                    state.apply_action(rng.choices(moves, weights)[0])
                    continue
                if shows:
                    np.asarray(state.observation_tensor(), np.float32)
                legal = state.legal_actions()
                np.asarray(state.legal_actions_mask(), np.int8)
                state.apply_action(legal[int(rng.random() * len(legal))])
                decisions += 1
            return decisions

        yield Row(f"open_spiel {name}", "tensor and mask" if shows else "mask", game.num_players(), step)


def cards() -> Iterator[Row]:
    for player in rlcard():
        rng = Random(1)

        def step(play: Callable[[Random], int] = player.play, rng: Random = rng) -> int:
            return play(rng)

        yield Row(player.name, "arrays", player.players, step)


def peers() -> Iterator[Row]:
    for make in (classic, cards, spiel):
        try:
            yield from make()
        except ImportError as error:
            print(f"left out: {make.__name__} ({error})")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("games", nargs="*", metavar="GAME", default=list(GAMES), help="default: all")
    parser.add_argument("--seconds", type=float, default=1.0, help="of one row in one round (default 1)")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--matches", type=int, default=256, help="matches of `vector` (default 256)")
    parser.add_argument("--processes", type=int, default=2, help="processes of the second row (default 2)")
    parser.add_argument("--no-peers", action="store_true")
    parser.add_argument(
        "--compiled",
        nargs="?",
        const="",
        metavar="FOLDER",
        help="also with compiled rules: those of a folder, or new ones",
    )
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    with ExitStack() as stack:
        rows = list(own_rows(given.games, given.matches, given.processes))
        if given.compiled is not None:
            folder = str(stack.enter_context(compiled_folder(given.compiled)))
            order = [__file__, SERVE, folder, str(given.matches), str(given.processes), *given.games]
            child = subprocess.Popen([sys.executable, *order], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            rows += served_rows(stack.enter_context(child))
        if not given.no_peers:
            rows += peers()
        for row in rows:
            stack.callback(row.close)
        for _ in range(given.rounds):
            for row in rows:
                row.measure(given.seconds)
    print(f"{machine()}, numpy {version('numpy')}, pettingzoo {version('pettingzoo')}\n")
    print(HEAD)
    print("\n".join(str(row) for row in rows))


if __name__ == "__main__":
    if sys.argv[1:2] == [SERVE]:
        warnings.simplefilter("ignore")
        serve(sys.argv[5:], int(sys.argv[3]), int(sys.argv[4]))
    else:
        main()
