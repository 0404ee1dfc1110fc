"""Train the network of `shibuya_net` by self-play, on one core in about ten minutes.

    python examples/train_shibuya.py --minutes 10

The network says what a position is worth. A player applies each of its legal actions to a copy of the position and
takes the one after which the network likes the position best. At first both sides are played by `greedy`, so that the
network learns from sensible matches; then it plays against itself and against `greedy`, and learns from the results.
"""

import argparse
import math
import os
import sys
import time
from pathlib import Path
from random import Random
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from crosstown_env.opponents import Mixture
from crosstown_env.table import Setup, Table

BOT = Path(__file__).with_name("shibuya_net")
sys.path.insert(0, str(BOT))

from net import Eyes, Net, positions_after, worth_of  # noqa: E402

GREEDY_SHARE = 0.15
"""Of the time: play of `greedy` against itself, to begin with."""
TABLES = 16
HIDDEN = 24
FADE = 0.8
"""How much later values count in what a position should have been worth (lambda)."""
RANDOM_SHARE = 0.06
"""Of the actions, to see other positions."""
OPENING, OPENING_SHARE = 24, 0.25
"""The first actions of a match, and how many of them are random."""
RATE = 5e-4
BATCH = 256
TESTS, TEST_MATCHES = 4, 40
"""How often, and in how many matches against `greedy`, the weights are tested; the best ones are kept."""
KEPT = 120_000
"""Positions that are learned from, the latest."""


class Learner:
    """Moves the weights towards what positions turned out to be worth (Adam)."""

    def __init__(self, net: Net, seed: int) -> None:
        self.net = net
        self._mean = {name: np.zeros_like(part) for name, part in net.weights.items()}
        self._square = {name: np.zeros_like(part) for name, part in net.weights.items()}
        self._steps = 0
        self._rng = np.random.default_rng(seed)
        self._inputs: list[Any] = []
        self._targets: list[Any] = []

    def add(self, inputs: Any, targets: Any) -> None:
        """Positions and what they should be worth; the oldest ones are forgotten."""
        self._inputs.append(inputs.astype(np.float16))
        self._targets.append(targets)
        while sum(len(part) for part in self._targets[1:]) > KEPT:
            del self._inputs[0], self._targets[0]

    def learn(self, batches: int, rate: float) -> float:
        """The mean squared error of these batches."""
        sizes = np.array([len(part) for part in self._targets])
        error = 0.0
        for _ in range(batches):
            chunk = self._rng.choice(len(sizes), p=sizes / sizes.sum())
            rows = self._rng.integers(sizes[chunk], size=BATCH)
            error += self._step(self._inputs[chunk][rows].astype(np.float32), self._targets[chunk][rows], rate)
        return error / max(1, batches)

    def _step(self, inputs: Any, targets: Any, rate: float) -> float:
        w = self.net.weights
        hidden = self.net.hidden(inputs)
        values = np.tanh(hidden @ w["second"] + inputs @ w["direct"] + w["last"])
        wrong = values - targets
        back = wrong * (1 - values**2) / len(targets)
        through = np.outer(back, w["second"]) * (hidden > 0)
        slopes = {
            "first": inputs.T @ through,
            "bias": through.sum(axis=0),
            "second": hidden.T @ back,
            "direct": inputs.T @ back,
            "last": back.sum(keepdims=True),
        }
        self._steps += 1
        for name, slope in slopes.items():
            mean, square = self._mean[name], self._square[name]
            mean += 0.1 * (slope - mean)
            square += 0.001 * (slope**2 - square)
            up = mean / (1 - 0.9**self._steps)
            w[name] -= rate * (up / (np.sqrt(square / (1 - 0.999**self._steps)) + 1e-8) + 1e-4 * w[name])
        return float((wrong**2).mean())


class Game:
    """A match in play, who plays it, and the positions that each seat has left behind."""

    def __init__(self, setup: Setup, players: list[str], seed: int) -> None:
        self.table = Table(setup, Random(seed))
        self.players = players
        self.rng = Random(seed + 1)
        self.left: list[list[Any]] = [[], []]
        self.decisions = 0

    def choose(self, index: int) -> None:
        """The seat that is asked takes one of its legal actions. What it leaves behind is before the next chance."""
        table, seat = self.table, self.table.seat
        after = table.state.clone()
        after.apply({seat: table.state.legal_actions(seat)[index]})
        self.left[seat].append(after)
        table.answer_by(lambda seen, legal, seat, rng: index)


def play(setup: Setup, net: Net, eyes: Eyes, players: list[list[str]], seed: int, explore: bool) -> list[Game]:
    """One match for each pair of players, 'net' or 'greedy', all of them in step."""
    greedy = Mixture(setup, "greedy").draw(Random(0))
    games = [Game(setup, pair, seed + 1000 * number) for number, pair in enumerate(players)]
    while going := [game for game in games if not game.table.over]:
        choices: list[tuple[Any, int]] = []
        asked: list[tuple[Game, int, int]] = []
        for game in going:
            table = game.table
            seat, legal = table.seat, table.state.legal_actions(table.seat)
            game.decisions += 1
            share = OPENING_SHARE if game.decisions <= OPENING else RANDOM_SHARE
            if len(legal) == 1 or (explore and game.rng.random() < share):
                game.choose(int(game.rng.random() * len(legal)))
            elif game.players[seat] == "greedy":
                game.choose(greedy(table.state.observation(seat), legal, seat, game.rng))
            else:
                after = positions_after(table.state, seat)
                asked.append((game, len(choices), len(after)))
                choices += [(state, seat) for state in after]
        worths = worth_of(net, eyes, choices)
        for game, first, count in asked:
            game.choose(int(worths[first : first + count].argmax()))
    return games


def results_of(game: Game, seat: int) -> float:
    """From -1 to 1: half of it is winning, half is the lead in goal."""
    ranks, goals = game.table.state.ranking(), game.table.state.returns()
    won = (ranks[seat] < ranks[1 - seat]) - (ranks[seat] > ranks[1 - seat])
    return 0.6 * won + 0.4 * max(-1.0, min(1.0, (goals[seat] - goals[1 - seat]) / 4))


def remember(games: list[Game], net: Net, eyes: Eyes, learner: Learner) -> None:
    """What every seat's positions should be worth: later values, fading into the result."""
    for game in games:
        for seat in (0, 1):
            states = [state for state in game.left[seat] if not state.is_terminal()]
            if not states:
                continue
            inputs = eyes.look(states, [seat] * len(states))
            values, target = net.values(inputs), results_of(game, seat)
            targets = np.zeros(len(states), np.float32)
            for place in range(len(states) - 1, -1, -1):
                targets[place] = target
                target = FADE * target + (1 - FADE) * float(values[place])
            learner.add(inputs, targets)


def strength(setup: Setup, net: Net, eyes: Eyes, matches: int, seed: int) -> float:
    """The share of matches won against `greedy`, draws counting a half."""
    pairs = [["net", "greedy"], ["greedy", "net"]] * (matches // 2)
    games = play(setup, net, eyes, pairs, seed, explore=False)
    points = 0.0
    for game in games:
        mine = game.players.index("net")
        ranks = game.table.state.ranking()
        points += 0.5 + 0.5 * ((ranks[mine] < ranks[1 - mine]) - (ranks[mine] > ranks[1 - mine]))
    return points / len(games)


def main() -> None:
    """Train for a time and write the weights into the bot's folder."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--minutes", type=float, default=10, help="of processor time (default 10)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, default=BOT / "weights.npz", help="file for the weights")
    given = parser.parse_args()
    if not 0 < given.minutes < math.inf:
        parser.error("--minutes must be a number above 0")
    if given.seed < 0:
        parser.error("--seed must be at least 0")
    if given.out.is_dir() or not given.out.parent.is_dir():
        parser.error(f"--out {given.out}: name a file in a folder that is there")
    setup, eyes = Setup("shibuya", 2, None, "rank"), Eyes()
    net = Net.new(eyes.size, HIDDEN, given.seed)
    learner, rng = Learner(net, given.seed), Random(given.seed)
    matches, tests = 0, 1
    print(f"testing the weights before training: {TEST_MATCHES} matches against greedy", flush=True)
    best = strength(setup, net, eyes, TEST_MATCHES, 7)
    net.save(given.out)
    print(f"before training {best:.0%} of {TEST_MATCHES} matches against greedy won", flush=True)
    while (passed := time.process_time() / 60) < given.minutes:
        progress = passed / given.minutes
        if progress < GREEDY_SHARE:
            pairs = [["greedy", "greedy"]] * TABLES
        else:
            pairs = [rng.choice([["net", "net"], ["net", "greedy"], ["greedy", "net"]]) for _ in range(TABLES)]
        games = play(setup, net, eyes, pairs, rng.getrandbits(40), explore=True)
        matches += len(games)
        remember(games, net, eyes, learner)
        decisions = sum(game.decisions for game in games)
        error = learner.learn(max(8, 4 * decisions // BATCH), RATE * (1.1 - progress))
        if passed >= tests * given.minutes / TESTS:
            tests += 1
            won = strength(setup, net, eyes, TEST_MATCHES, 7)
            kept = "kept" if won > best else "not kept"
            if won > best:
                best = won
                net.save(given.out)
            print(f"{passed:5.1f} min  {matches:6} matches  error {error:.3f}  {won:.0%} won  {kept}", flush=True)
    won = strength(setup, Net.load(given.out), eyes, 3 * TEST_MATCHES, 1_000_007)
    print(f"{given.out}: {won:.0%} of {3 * TEST_MATCHES} other matches against greedy won")


if __name__ == "__main__":
    main()
