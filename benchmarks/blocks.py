"""What seat-swapped blocks on one seed are worth in a game, for `games.py`: how much less their means vary."""

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from random import Random
from statistics import fmean, pvariance, variance
from typing import Any

from crosstown_bot import Bot, Match, Turn

from benchmarks.bots import load_bot, play_block, score, seed_of_block
from referee.games.api import Game
from referee.games.keyed import KeyedChance
from referee.match.play import bot_seed

Block = Callable[[Game, int, Mapping[str, Any], str], list[float]]
"""Plays a block of a game, with so many players, options and a seed; returns the scores of A, seat by seat."""

ERRS = 0.25
RESAMPLES = 300
FEWEST = 20
"""Blocks below which a ratio of variances is noise."""


def play_unseeing(game: Game, players: int, options: Mapping[str, Any], seed: str) -> list[float]:
    """A takes any action, B too, but the first one for a share ERRS: nobody looks, so nothing need be encoded."""
    teams = game.teams(players, options)
    scores = []
    for team in dict.fromkeys(teams):
        state, chance = game.new_initial_state(players, options), KeyedChance(bytes.fromhex(seed))
        own_luck = [Random(bot_seed(seed, seat)) for seat in range(players)]
        while not state.is_terminal():
            answers = {}
            for seat in [asked.seat for asked in state.decisions()]:
                legal, luck = state.legal_actions(seat), own_luck[seat].random
                shy = teams[seat] != team and luck() < ERRS
                answers[seat] = legal[0 if shy else int(luck() * len(legal))]
            if answers:
                state.apply(answers)
            else:
                state.apply_chance(chance.choose(state.chance_stream(), state.chance_outcomes()))
        scores.append(score(state.ranking(), teams, team))
    return scores


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


def make_pairs(greedy_folder: Path) -> dict[str, Block]:
    """Two nearly equal bots that do not look, and two that do."""
    greedy = load_bot(greedy_folder)

    def play_greedy(game: Game, players: int, options: Mapping[str, Any], seed: str) -> list[float]:
        return play_block(game, options, greedy, lambda: Erring(greedy()), players, seed, move_s=1.0)

    return {"random, shy": play_unseeing, "greedy, erring": play_greedy}


def gains(blocks: Sequence[Sequence[float]]) -> tuple[float, float]:
    """Variance of matches with random seats over that of matches with the seats in turn, and over that of blocks.

    `blocks` holds the scores of each seat in turn; 0 where nothing varies. A match of a block is by itself a match with
    a random seed, so the matches of all blocks tell how matches apart would vary.
    """
    apart = pvariance([score for block in blocks for score in block])
    in_turn = fmean(variance(scores) for scores in zip(*blocks, strict=True))
    together = variance([fmean(block) for block in blocks]) * len(blocks[0])
    return apart / in_turn if in_turn else 0.0, apart / together if together else 0.0


def measure_worth(play: Block, game: Game, players: int, options: Mapping[str, Any], most: int, seconds: float) -> str:
    """Cells of the table: blocks and their size, score of A, variance of a match, both gains, interval of the second.

    Plays up to `most` blocks, at least two, and starts none after so many CPU `seconds`.
    """
    blocks: list[list[float]] = []
    began = time.process_time()
    while len(blocks) < 2 or (len(blocks) < most and time.process_time() - began < seconds):
        blocks.append(play(game, players, options, seed_of_block(1, len(blocks))))
    scores = [score for block in blocks for score in block]
    return f"{len(blocks)} of {len(blocks[0])} | {fmean(scores):.3f} | {pvariance(scores):.3f} | {_told(blocks)}"


def _told(blocks: Sequence[Sequence[float]]) -> str:
    """The cells of both gains and of the interval of the second."""
    if len(blocks) < FEWEST:
        return "- | - | too few blocks"
    in_turn, together = gains(blocks)
    if not together:
        return "- | - | nothing varies"
    rng = Random(1)
    again = sorted(gains(rng.choices(blocks, k=len(blocks)))[1] for _ in range(RESAMPLES))
    return f"{in_turn:.2f} | {together:.2f} | {again[RESAMPLES // 40]:.2f} to {again[-1 - RESAMPLES // 40]:.2f}"
