"""Matchmaking of a ladder against simpler ways to pair, and how long a decision takes.

    python benchmarks/ladder.py --seeds 5

A simulated division: `--bots` bots (200) of known strength, drawn from a normal distribution as wide as TrueSkill
expects (sigma 25/3), join at once. A match has TrueSkill's luck (beta 25/6), and one in ten of equal bots is drawn. No
bot is run. A block is two matches, and `--playing` blocks (4) are in play at a time. At each budget the order by the
ladder's own belief (mu) is compared with the truth by Spearman's rank correlation, beside the mean sigma; both are
averaged over the seeds. All ways have the same belief, and the same results for the same pair and number of meeting.

    ours               `referee.ladder.chooser`: placement by bisection, then quality times information, exploration
    random             two bots, drawn
    nearest neighbour  a bot that is drawn meets the one with the nearest mu
    largest sigma      the bot with the largest sigma meets one of the nearest ranks, drawn: Halite's way
"""

import argparse
import math
import platform
import sys
import time
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from statistics import fmean, median

sys.path.pop(0)  # this folder, in which `referee` is another benchmark
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from leaderboard.ratings.skill import BETA, MU, SIGMA
from referee.ladder.beliefs import Beliefs
from referee.ladder.chooser import REMEMBERED, Candidate, Chosen, Latest, Snapshot, choose
from referee.ladder.config import MatchmakingConfig

DRAW_MARGIN = 0.74
NEAR = 5
"""Ranks to each side from which the largest sigma's opponent is drawn."""

BUDGETS = (2, 4, 6, 10, 16, 24, 40)
"""Matches per bot."""

Pair = tuple[int, int]


@dataclass
class World:
    """One division; bots are numbers."""

    strengths: list[float]
    seed: int
    beliefs: Beliefs = field(default_factory=Beliefs)
    blocks: Counter[int] = field(default_factory=Counter)
    playing: Counter[int] = field(default_factory=Counter)
    last: dict[int, int] = field(default_factory=dict)
    scores: dict[int, list[tuple[str, float]]] = field(default_factory=dict)
    latest: deque[Latest] = field(default_factory=lambda: deque(maxlen=REMEMBERED))
    met: Counter[frozenset[int]] = field(default_factory=Counter)
    decided: int = 0

    def __post_init__(self) -> None:
        self.dice = Random(self.seed)
        for bot in self.bots:
            self.beliefs.joined(str(bot), str(bot))

    @property
    def bots(self) -> range:
        return range(len(self.strengths))

    def mu(self, bot: int) -> float:
        return self.beliefs.known[str(bot)].mu

    def sigma(self, bot: int) -> float:
        return self.beliefs.known[str(bot)].sigma

    def begin(self, pair: Pair) -> None:
        for bot in pair:
            self.blocks[bot] += 1
            self.playing[bot] += 1
            self.last[bot] = self.decided
        self.latest.append(Latest((str(pair[0]), str(pair[1])), f"owner {pair[0]}"))
        self.decided += 1

    def end(self, pair: Pair) -> None:
        one, other = min(pair), max(pair)
        self.met[frozenset(pair)] += 1
        luck = Random(f"{self.seed} {one} {other} {self.met[frozenset(pair)]}")
        shares = []
        for _ in range(2):
            gap = luck.gauss(self.strengths[one], BETA) - luck.gauss(self.strengths[other], BETA)
            ranking = (1, 1) if abs(gap) < DRAW_MARGIN else (1, 2) if gap > 0 else (2, 1)
            shares.append(0.5 if ranking == (1, 1) else float(gap > 0))
            self.beliefs.apply((str(one), str(other)), (0, 1), ranking)
        share = fmean(shares)
        self.scores.setdefault(one, []).append((str(other), share))
        self.scores.setdefault(other, []).append((str(one), 1 - share))
        self.playing.subtract(pair)


def ours(world: World) -> Pair:
    found = choose(snapshot(world))
    assert isinstance(found, Chosen)
    one, other = found.group
    return int(one), int(other)


def snapshot(world: World) -> Snapshot:
    settings = MatchmakingConfig(seed=world.seed, idle_below=0.0)
    series = settings.placement_blocks
    bots = tuple(
        Candidate(
            str(bot),
            str(bot),
            f"owner {bot}",
            world.mu(bot),
            world.sigma(bot),
            world.blocks[bot],
            world.playing[bot],
            world.last.get(bot, -1),
            scores=tuple(world.scores.get(bot, ())) if world.blocks[bot] < series else (),
        )
        for bot in world.bots
    )
    return Snapshot(world.decided, (2,), bots, tuple(world.latest), settings)


def at_random(world: World) -> Pair:
    one, other = world.dice.sample(world.bots, 2)
    return one, other


def nearest(world: World) -> Pair:
    one = world.dice.choice(world.bots)
    others = [bot for bot in world.bots if bot != one]
    return one, min(others, key=lambda bot: (abs(world.mu(bot) - world.mu(one)), world.dice.random()))


def largest_sigma(world: World) -> Pair:
    one = max(world.bots, key=lambda bot: (world.sigma(bot) / (1 + world.playing[bot]), world.dice.random()))
    order = sorted(world.bots, key=lambda bot: (world.mu(bot), world.dice.random()))
    place = order.index(one)
    near = [bot for bot in order[max(0, place - NEAR) : place + NEAR + 1] if bot != one]
    return one, world.dice.choice(near)


WAYS: dict[str, Callable[[World], Pair]] = {
    "ours": ours,
    "random": at_random,
    "nearest neighbour": nearest,
    "largest sigma": largest_sigma,
}


def play(way: Callable[[World], Pair], bots: int, seed: int, playing: int) -> list[tuple[float, float]]:
    """At each budget the rank correlation and the mean sigma."""
    dice = Random(1000 + seed)
    world = World([dice.gauss(MU, SIGMA) for _ in range(bots)], seed)
    in_play: deque[Pair] = deque()
    found, matches = [], 0
    for budget in BUDGETS:
        while matches < budget * bots / 2:
            while len(in_play) < playing:
                pair = way(world)
                world.begin(pair)
                in_play.append(pair)
            world.end(in_play.popleft())
            matches += 2
        mus = [world.mu(bot) for bot in world.bots]
        found.append((correlation(mus, world.strengths), fmean(world.sigma(bot) for bot in world.bots)))
    return found


def correlation(values: list[float], others: list[float]) -> float:
    """Spearman's: that of the ranks."""
    one, other = ranks(values), ranks(others)
    middle = (len(one) - 1) / 2
    top = sum((a - middle) * (b - middle) for a, b in zip(one, other, strict=True))
    return top / math.sqrt(sum((a - middle) ** 2 for a in one) * sum((b - middle) ** 2 for b in other))


def ranks(values: list[float]) -> list[float]:
    order = sorted(range(len(values)), key=values.__getitem__)
    found = [0.0] * len(values)
    for rank, place in enumerate(order):
        found[place] = float(rank)
    return found


def table(bots: int, seeds: int, playing: int) -> str:
    """Of rank correlations and mean sigmas, as Markdown; the best of each column in bold."""
    results = {name: [play(way, bots, seed, playing) for seed in range(seeds)] for name, way in WAYS.items()}
    lines = []
    for column, title, best_of, form in ((0, "rank correlation", max, "{:.3f}"), (1, "mean sigma", min, "{:.2f}")):
        means = {
            name: [fmean(run[place][column] for run in runs) for place in range(len(BUDGETS))]
            for name, runs in results.items()
        }
        best = [best_of(values[place] for values in means.values()) for place in range(len(BUDGETS))]
        lines += [f"| {title} at matches per bot | " + " | ".join(map(str, BUDGETS)) + " |"]
        lines += ["| --- |" + " --- |" * len(BUDGETS)]
        for name, values in means.items():
            cells = [form.format(value) for value in values]
            marked = [
                f"**{cell}**" if cell == form.format(top) else cell for cell, top in zip(cells, best, strict=True)
            ]
            lines.append(f"| {name} | " + " | ".join(marked) + " |")
        lines.append("")
    return "\n".join(lines)


def decision_times(bots: int, decisions: int) -> list[float]:
    """CPU milliseconds of decisions among so many bots, ascending."""
    dice = Random(1)
    world = World([dice.gauss(MU, SIGMA) for _ in range(bots)], 1)
    for _ in range(bots * 4):
        pair = at_random(world)
        world.begin(pair)
        world.end(pair)
    took = []
    for _ in range(decisions):
        seen = snapshot(world)
        began = time.thread_time()
        found = choose(seen)
        took.append(1000 * (time.thread_time() - began))
        assert isinstance(found, Chosen)
        pair = int(found.group[0]), int(found.group[1])
        world.begin(pair)
        world.end(pair)
    return sorted(took)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0] if __doc__ else "")
    parser.add_argument("--bots", type=int, default=200)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--playing", type=int, default=4, help="blocks in play at a time")
    parser.add_argument("--large", type=int, default=1000, help="bots of the division whose decisions are timed")
    parser.add_argument("--decisions", type=int, default=300)
    wanted = parser.parse_args()
    print(table(wanted.bots, wanted.seeds, wanted.playing))
    took = decision_times(wanted.large, wanted.decisions)
    print(
        f"A decision among {wanted.large} bots: median {median(took):.2f} ms, 95 of 100 below"
        f" {took[int(len(took) * 0.95)]:.2f} ms, most {took[-1]:.2f} ms of CPU time."
    )
    print(f"Python {platform.python_version()}, {platform.machine()}")


if __name__ == "__main__":
    main()
