"""What seat-swapped blocks on one seed are worth in a game, for `games.py`: how much less their means vary."""

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from random import Random
from statistics import fmean, pvariance, variance
from typing import Any

from crosstown_bot import Bot, Match, Turn

from benchmarks.bots import load_bot, play_block, seed_of_block
from referee.games.api import Game

Pair = tuple[Callable[[], Bot], Callable[[], Bot]]

ERRS = 0.25
RESAMPLES = 300


class First(Bot):
    """Takes the first legal action, the harmless one."""

    def choose(self, turn: Turn) -> int:
        return 0


class Chance(Bot):
    """Takes any."""

    def choose(self, turn: Turn) -> int:
        return int(turn.match.rng.random() * turn.legal_count)


class Erring(Bot):
    """Another bot, with a share ERRS of its answers at random."""

    def __init__(self, other: Bot) -> None:
        super().__init__({})
        self.other = other

    def start(self, match: Match) -> None:
        self.other.start(match)

    def choose(self, turn: Turn) -> Any:
        if turn.match.rng.random() < ERRS:
            return int(turn.match.rng.random() * turn.legal_count)
        return self.other.choose(turn)


def make_pairs(greedy_folder: Path) -> dict[str, Pair]:
    """Two unequal bots that do not look, and two nearly equal ones that do."""
    greedy = load_bot(greedy_folder)
    return {
        "random, first": (lambda: Chance({}), lambda: First({})),
        "greedy, erring": (greedy, lambda: Erring(greedy())),
    }


def gains(blocks: Sequence[Sequence[float]]) -> tuple[float, float]:
    """Variance of matches with random seats over that of matches with the seats in turn, and over that of blocks.

    `blocks` holds the scores of each seat in turn; 0 where nothing varies. A match of a block is by itself a match with
    a random seed, so the matches of all blocks tell how matches apart would vary.
    """
    apart = pvariance([score for block in blocks for score in block])
    in_turn = fmean(variance(scores) for scores in zip(*blocks, strict=True))
    together = variance([fmean(block) for block in blocks]) * len(blocks[0])
    return apart / in_turn if in_turn else 0.0, apart / together if together else 0.0


def measure_worth(game: Game, players: int, options: Mapping[str, Any], pair: Pair, most: int, seconds: float) -> str:
    """Cells of the table: blocks and their size, score of A, variance of a match, both gains, interval of the second.

    Plays up to `most` blocks, at least two, and starts none after so many CPU `seconds`.
    """
    blocks: list[list[float]] = []
    began = time.process_time()
    while len(blocks) < 2 or (len(blocks) < most and time.process_time() - began < seconds):
        blocks.append(play_block(game, options, *pair, players, seed_of_block(1, len(blocks)), move_s=1.0))
    scores = [score for block in blocks for score in block]
    in_turn, together = gains(blocks)
    rng = Random(1)
    again = sorted(gains(rng.choices(blocks, k=len(blocks)))[1] for _ in range(RESAMPLES))
    interval = f"{again[RESAMPLES // 40]:.2f} to {again[-1 - RESAMPLES // 40]:.2f}"
    told = f"{in_turn:.2f} | {together:.2f} | {interval}" if together else "- | - | nothing varies"
    return f"{len(blocks)} of {len(blocks[0])} | {fmean(scores):.3f} | {pvariance(scores):.3f} | {told}"
