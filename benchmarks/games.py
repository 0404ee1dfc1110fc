"""How fast the games are in one process, without the wire, and what seat-swapped blocks are worth.

    python benchmarks/games.py [--seconds 1] [--rounds 3] [--decisions 1000] [--blocks 100] [--block-s 3]
        [--compiled [FOLDER]] [--no-peers] [GAME ...]

Three tables, all in CPU seconds of this process. Random play: legal actions, one of them at random, apply, luck; for
all games and numbers of players, with --compiled also with compiled rules, and in the same rounds the peers that are
installed. The parts: what one decision in
the middle half of a random match costs, and what telling a bot about it adds. Blocks: how much less the mean of a block
(one seed, every seat once) varies than that of as many matches with a seed and a seat of their own.
"""

import argparse
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from importlib.metadata import version
from itertools import zip_longest
from pathlib import Path
from random import Random
from statistics import median
from typing import Any, TypeVar

sys.path.pop(0)  # this folder, in which `referee` is another benchmark
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.blocks import ERRS, FEWEST, make_pairs, measure_worth
from benchmarks.machine import machine
from benchmarks.peers import Player, find_peers
from benchmarks.random_play import (
    Box,
    Elsewhere,
    Played,
    boxes,
    elsewhere,
    keyed_luck,
    ordinary_luck,
    play_at_random,
    play_for,
)
from hatch_build import compiled_folder
from referee.games.keyed import random_outcome
from referee.games.registry import UnknownGame

T = TypeVar("T")
ROOT = Path(__file__).resolve().parents[1]
WARM_UP = 3


# Random play


@dataclass
class Speed:
    """One row, over all rounds."""

    name: str
    players: int
    play_for: Callable[[int, float], Played]
    """With a seed and CPU seconds."""
    matches: int = 0
    decisions: int = 0
    cpu_s: float = 0.0
    rates: list[float] = field(default_factory=list)

    def run(self, seed: int, seconds: float) -> None:
        matches, decisions, cpu_s = self.play_for(seed, seconds)
        self.matches += matches
        self.decisions += decisions
        self.cpu_s += cpu_s
        self.rates.append(decisions / cpu_s)


def own_row(box: Box, luck: Callable[[Random], Callable[[Any], Any]]) -> Speed:
    play = partial(play_at_random, box, luck)
    return Speed(box.game.id, box.players, partial(play_for, play))


def compiled_row(box: Box, keyed: bool, compiled: Elsewhere) -> Speed:
    return Speed(f"{box.game.id}, compiled", box.players, partial(compiled.play_for, box, keyed))


def peer_row(player: Player) -> Speed:
    return Speed(player.name, player.players, partial(play_for, player.play))


def measure_speeds(rows: Sequence[Speed], seconds: float, rounds: int) -> None:
    for row in rows:
        row.play_for(0, 1e-9)  # tables that are made once
    for number in range(rounds):
        for row in rows:
            row.run(number, seconds / rounds)


SPEEDS = """
Random play, by CPU second: median of rounds. `keyed` is with the luck of real matches instead of an ordinary generator.
"""
HEAD = """| game | seats | decisions/s | best round | keyed | matches/s | decisions a match |
| --- | --- | --- | --- | --- | --- | --- |"""


def print_speeds(rows: Sequence[Speed], keyed: Sequence[Speed]) -> None:
    print(SPEEDS)
    print(HEAD)
    for row, real in zip_longest(rows, keyed):
        print(
            f"| {row.name} | {row.players} | {median(row.rates):,.0f} | {max(row.rates):,.0f}"
            f" | {f'{median(real.rates):,.0f}' if real else ''}"
            f" | {row.matches / row.cpu_s:,.0f} | {row.decisions / row.matches:.1f} |"
        )


GAINS = """
Compiled rules: decisions by CPU second over those of plain Python, median of the ratios of the rounds.

| game | seats | gain | gain, keyed |
| --- | --- | --- | --- |"""


def print_gains(plain: Sequence[tuple[Speed, Speed]], compiled: Sequence[tuple[Speed, Speed]]) -> None:
    """Each a row and its row with keyed luck."""
    print(GAINS)
    for before, after in zip(plain, compiled, strict=True):
        gains = [
            median(fast / slow for fast, slow in zip(new.rates, old.rates, strict=True))
            for new, old in zip(after, before, strict=True)
        ]
        print(f"| {before[0].name} | {before[0].players} | {gains[0]:.2f} | {gains[1]:.2f} |")


# The parts of a decision


@dataclass(slots=True)
class Parts:
    """CPU us, summed over decisions: one round of a row."""

    decisions: int = 0
    actions: int = 0
    observation_bytes: int = 0
    list_bytes: int = 0
    clone: float = 0.0
    legal: float = 0.0
    apply: float = 0.0
    observe: float = 0.0
    encode: float = 0.0
    encode_list: float = 0.0

    def __add__(self, other: "Parts") -> "Parts":
        return Parts(*(getattr(self, name) + getattr(other, name) for name in self.__slots__))

    def mean(self, name: str) -> float:
        return float(getattr(self, name)) / self.decisions

    @property
    def step(self) -> float:
        return self.mean("legal") + self.mean("apply")


class Stopwatch:
    """Times calls in CPU us, less what an empty call takes."""

    def __init__(self) -> None:
        self.empty_us = 0.0
        self.empty_us = median(self.time(int)[0] for _ in range(1000))

    def time(self, work: Callable[..., T], *arguments: Any) -> tuple[float, T]:
        began = time.process_time_ns()
        result = work(*arguments)
        return (time.process_time_ns() - began) / 1000 - self.empty_us, result


def measure_node(box: Box, state: Any, stopwatch: Stopwatch, rng: Random) -> Parts:
    """Steps the state on, after the referee's work for it in the referee's order."""
    parts, codec, answers = Parts(), box.game.codec, {}
    for seat in [asked.seat for asked in state.decisions()]:
        legal_us, legal = stopwatch.time(state.legal_actions, seat)
        observe_us, observation = stopwatch.time(state.observation, seat)
        encode_us, encoded = stopwatch.time(codec.encode_observation, observation)
        list_us, encoded_list = stopwatch.time(codec.encode_actions, legal)
        parts += Parts(1, len(legal), len(encoded), len(encoded_list), 0, legal_us, 0, observe_us, encode_us, list_us)
        answers[seat] = legal[int(rng.random() * len(legal))]
    clone_us, _ = stopwatch.time(state.clone)
    apply_us, _ = stopwatch.time(state.apply, answers)
    return parts + Parts(clone=clone_us * len(answers), apply=apply_us)


def measure_parts(box: Box, decisions: int, stopwatch: Stopwatch, rng: Random) -> Parts:
    """Of the middle halves of random matches, until there are as many decisions."""
    total = Parts()
    while total.decisions < decisions:
        state, path = box.start(), []
        while not state.is_terminal():
            if state.decisions():
                path.append(measure_node(box, state, stopwatch, rng))
            else:
                state.apply_chance(random_outcome(state.chance_outcomes(), rng))
        total = sum(path[len(path) // 4 : len(path) * 3 // 4], start=total)
    return total


def print_parts(box: Box, rounds: Sequence[Parts]) -> None:
    def middle(*names: str) -> float:
        return median(sum(parts.mean(name) for name in names) for parts in rounds)

    def of_a_step(*names: str) -> str:
        return f"{median(sum(parts.mean(name) for name in names) / parts.step for parts in rounds):.2f}"

    print(
        f"| {box.game.id} | {box.players} | {middle('clone'):.1f} | {middle('legal'):.1f} | {middle('actions'):.1f}"
        f" | {middle('apply'):.1f} | {middle('observe'):.1f} | {middle('encode'):.1f} | {middle('encode_list'):.1f}"
        f" | {of_a_step('encode')} | {of_a_step('encode', 'encode_list')}"
        f" | {of_a_step('observe', 'encode', 'encode_list')}"
        f" | {middle('observation_bytes'):.0f} + {middle('list_bytes'):.0f} |"
    )


PARTS = """
Parts of a decision in the middle half of random matches, CPU us; medians of rounds. A step is legal + apply, without
the luck that follows. The ratios are what telling a bot adds to a step: encoding the observation, encoding the packed
legal list as well, and building the observation as well.

| game | seats | clone | legal | actions | apply | observe | encode | list | encode/step | + list | + observe | bytes |
| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |"""


def measure_all_parts(found: Iterable[Box], decisions: int, rounds: int) -> None:
    print(PARTS)
    stopwatch = Stopwatch()
    for box in found:
        rng = Random(1)
        measure_parts(box, WARM_UP * decisions, stopwatch, rng)  # what is interned, as in a process that has played
        print_parts(box, [measure_parts(box, decisions, stopwatch, rng) for _ in range(rounds)])


# What blocks are worth


BLOCKS = f"""
Blocks: A on one seat (or team), B on all others. `shy` is random with {ERRS:.0%} of its moves the first legal action,
`erring` is greedy with {ERRS:.0%} of its moves at random. Gain: variance of the mean score of matches, each with a seed
and a random seat of its own, over that of as many with the seats in turn, and over that in blocks on one seed; 95 % by
bootstrap; left out below {FEWEST} blocks.

| game | seats | A, B | blocks of | score of A | variance | gain by turns | gain by blocks | 95 % |
| --- | --- | --- | --- | --- | --- | --- | --- | --- |"""


def measure_all_blocks(found: Iterable[Box], most: int, seconds: float) -> None:
    print(BLOCKS)
    pairs = make_pairs(ROOT / "bots" / "python" / "greedy")
    for box in found:
        for title, play in pairs.items():
            worth = measure_worth(play, box.game, box.players, box.options, most, seconds)
            print(f"| {box.game.id} | {box.players} | {title} | {worth} |", flush=True)


def described(remarks: Sequence[str]) -> str:
    return (
        f"{machine()}, protobuf {version('protobuf')}, crosstown {version('crosstown-arena')};"
        f" peers: {', '.join(remarks)}."
    )


def main(arguments: argparse.Namespace) -> None:
    found = boxes(arguments.games)
    peers, remarks = find_peers() if arguments.peers else ([], ["not asked for"])
    print(described(remarks))
    with ExitStack() as stack:
        speeds, keyed = ([own_row(box, luck) for box in found] for luck in (ordinary_luck, keyed_luck))
        if arguments.compiled is not None:
            compiled = stack.enter_context(elsewhere(stack.enter_context(compiled_folder(arguments.compiled))))
            speeds += [compiled_row(box, False, compiled) for box in found]
            keyed += [compiled_row(box, True, compiled) for box in found]
        rows = speeds + [peer_row(peer) for peer in peers]
        measure_speeds([*rows, *keyed], arguments.seconds, arguments.rounds)
        print_speeds(rows, keyed)
        if arguments.compiled is not None:
            pairs = list(zip(speeds, keyed, strict=True))
            print_gains(pairs[: len(found)], pairs[len(found) :])
    if arguments.decisions:
        measure_all_parts(found, arguments.decisions, arguments.rounds)
    if arguments.blocks:
        measure_all_blocks(found, arguments.blocks, arguments.block_s)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("games", nargs="*", metavar="GAME", help="all installed ones if none is named")
    parser.add_argument("--seconds", type=float, default=1.0, help="CPU seconds of random play for a row")
    parser.add_argument("--rounds", type=int, default=3, help="into which these are split, and rounds of parts")
    parser.add_argument("--decisions", type=int, default=1000, help="in a round of parts; 0: no such table")
    parser.add_argument("--blocks", type=int, default=100, help="most blocks in a row; 0: no such table")
    parser.add_argument("--block-s", type=float, default=3.0, help="no new block of a row after this many CPU seconds")
    parser.add_argument("--no-peers", dest="peers", action="store_false")
    parser.add_argument(
        "--compiled",
        nargs="?",
        const="",
        metavar="FOLDER",
        help="also with compiled rules: those of a folder, or new ones",
    )
    try:
        main(parser.parse_args())
    except UnknownGame as error:
        parser.error(str(error))
