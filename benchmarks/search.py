"""What the bot `search` makes of a second: play-outs, and strength.

    python benchmarks/search.py [GAME ...] [--seconds 0.5] [--rounds 3] [--positions 4] [--ms 50] [--blocks 2]
        [--limit-s 60] [--against greedy half double before] [--before CHECKOUT]

Two tables, for two seats. Play-outs: by CPU second of a process that does nothing but search, in positions of matches
of greedy on fixed seeds. Strength: seat-swapped blocks as in `bots.py`, against greedy, and against itself with twice
and half the time. All times of the search are CPU time of its process, its own limit too, so that other work on the
machine does not make it weaker. Positions, luck and bot seeds are the same in every run; how far a search comes in its
time is not.

With `--before`, the folder of another checkout, its search takes turns with this one: in each round of the first table,
and as an opponent in the second.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from random import Random
from statistics import fmean, median
from typing import Any

if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).resolve().parents[1])
    if sys.argv[1:2] == ["--serve"]:
        sys.path[:0] = [sys.argv[2], f"{sys.argv[2]}/bots/python"]

from crosstown_bot import Bot, Match, Turn
from crosstown_greedy import POLICIES, best
from crosstown_proto.v1 import referee_pb2 as pb

from benchmarks.bots import interval, load_bot, play_block, seed_of_block
from benchmarks.machine import machine
from referee.games.api import Game, resolve_options
from referee.games.keyed import KeyedChance
from referee.games.registry import UnknownGame, get_game

ROOT = Path(__file__).resolve().parents[1]
SERVE = "--serve"
"""The argument with which `search.py` starts itself, before the checkout whose search is to play."""
SEARCH = Path("bots") / "python" / "search"
PLAYERS = 2
SEED = 2201
NOTE = "play-outs"
"""The word of a search's note before which the number stands."""


# The search, in a process of its own


def serve() -> None:
    """Carry out the orders of standard input until it ends: be a bot, hear of a match, answer a question."""
    # The limits of a search are wall time. Here it is alone in its process, and what else runs must not count.
    time.monotonic = time.process_time
    bots: list[tuple[Bot, list[Match]]] = []
    for line in sys.stdin:
        order = json.loads(line)
        answer: Any = len(bots)
        if "options" in order:
            bots.append((load_bot(Path(sys.argv[2]) / SEARCH, order["options"])(), []))
        elif "start" in order:
            bot, matches = bots[order["bot"]]
            matches[:] = [Match(pb.MatchStart.FromString(bytes.fromhex(order["start"])), bot.messages)]
            bot.start(matches[0])
        else:
            bot, matches = bots[order["bot"]]
            turn = Turn(matches[0], pb.Decide.FromString(bytes.fromhex(order["decide"])))
            began_s = time.process_time()
            choice = bot.choose(turn)
            answer = {"choice": choice, "note": turn.note, "cpu_s": time.process_time() - began_s}
        print(json.dumps(answer), flush=True)


class Version:
    """The search of a checkout, in a process of its own."""

    def __init__(self, name: str, child: "subprocess.Popen[str]") -> None:
        self.name = name
        self._child = child

    def ask(self, **order: Any) -> Any:
        assert self._child.stdin is not None
        assert self._child.stdout is not None
        print(json.dumps(order), file=self._child.stdin, flush=True)
        line = self._child.stdout.readline()
        if not line:
            raise RuntimeError(f"the process of {self.name} ended; what it printed is above")
        return json.loads(line)

    def bot(self, percent: int) -> "Searcher":
        """One that uses so much of its limit."""
        return Searcher(self, {"iterations": 0, "clock_percent": percent})


@contextmanager
def version_of(name: str, checkout: Path) -> Iterator[Version]:
    child = subprocess.Popen(
        [sys.executable, __file__, SERVE, str(checkout)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": ""},
    )
    with child:
        yield Version(name, child)


class Searcher(Bot):
    """Passes on what it is asked."""

    def __init__(self, version: Version, options: Mapping[str, Any]) -> None:
        super().__init__(options)
        self._version = version
        self._number = version.ask(options=options)
        self.last: Mapping[str, Any] = {}
        """Of the last answer: note and CPU seconds."""

    def start(self, match: Match) -> None:
        clock = pb.Clock(first_move_us=int(match.first_move_limit_s * 1e6), move_us=int(match.move_limit_s * 1e6))
        start = pb.MatchStart(
            match=match.id,
            game=match.game,
            rules_version=match.rules_version,
            seat=match.seat,
            players=match.players,
            options=json.dumps(match.options),
            teams=match.teams,
            clock=clock,
            bot_seed=match.bot_seed,
        )
        self._version.ask(bot=self._number, start=start.SerializeToString().hex())

    def choose(self, turn: Turn) -> int:
        self.last = self._version.ask(bot=self._number, decide=turn._decide.SerializeToString().hex())
        choice: int = self.last["choice"]
        return choice


# Play-outs


@dataclass(frozen=True)
class Position:
    """A question of a match."""

    match: Match
    decide: pb.Decide


def positions_of(game: Game, count: int, limit_s: float) -> list[Position]:
    """Evenly spread over a match of greedy with itself."""
    options = resolve_options(game.id, game.options, {})
    policy, rng = POLICIES[game.id], Random(SEED)
    chance = KeyedChance(rng.randbytes(16))
    state: Any = game.new_initial_state(PLAYERS, options)
    found = []
    while not state.is_terminal():
        if not (asked := [decision.seat for decision in state.decisions()]):
            state.apply_chance(chance.choose(state.chance_stream(), state.chance_outcomes()))
            continue
        answers = {}
        for seat in asked:
            legal = state.legal_actions(seat)
            observation = state.observation(seat)
            if len(legal) > 1 and len(asked) == 1:
                found.append((seat, len(legal), game.codec.encode_observation(observation)))
            answers[seat] = legal[best(policy.worths(observation, legal, seat), rng)]
        state.apply(answers)
    clock = pb.Clock(left_us=int(limit_s * 1e6), move_us=int(limit_s * 1e6))
    positions = []
    for seat, legal_count, observation in [found[len(found) * (2 * n + 1) // (2 * count)] for n in range(count)]:
        start = pb.MatchStart(
            match="positions",
            game=game.id,
            rules_version=game.rules_version,
            seat=seat,
            players=PLAYERS,
            options=json.dumps(options),
            teams=game.teams(PLAYERS, options),
            clock=clock,
            bot_seed=SEED,
        )
        decide = pb.Decide(legal_count=legal_count, observation=observation, clock=clock)
        positions.append(Position(Match(start), decide))
    return positions


def play_outs_by_second(version: Version, positions: Sequence[Position]) -> float:
    """In all the positions together."""
    play_outs, cpu_s = 0, 0.0
    for position in positions:
        bot = version.bot(100)
        bot.start(position.match)
        bot.choose(Turn(position.match, position.decide))
        words = bot.last["note"].replace(",", "").split()
        play_outs += int(words[words.index(NOTE) - 1])
        cpu_s += bot.last["cpu_s"]
    if not play_outs:
        raise SystemExit(f"{version.name}: no play-out in {cpu_s:.3f} s; give more --seconds, or fewer --positions")
    return play_outs / cpu_s


@dataclass
class Speeds:
    """Of one game, per version its rounds."""

    game: str
    legal: float
    """Mean number of legal actions."""
    rounds: list[list[float]] = field(default_factory=list)

    def __str__(self) -> str:
        cells = [f"{median(rates):,.0f}" for rates in self.rounds]
        if len(self.rounds) > 1:
            cells.append(f"{median(now / then for now, then in zip(*self.rounds, strict=True)):.2f}")
        return f"| {self.game} | {self.legal:.0f} | {' | '.join(cells)} |"


def measure_speeds(games: Sequence[Game], versions: Sequence[Version], count: int, seconds: float, rounds: int) -> None:
    print(f"\nPlay-outs by CPU second in {count} positions; median of {rounds} rounds.\n")
    heads = ["game", "legal actions", *[version.name for version in versions], *["gain"][: len(versions) - 1]]
    print(f"| {' | '.join(heads)} |\n|{' --- |' * len(heads)}")
    for game in games:
        positions = positions_of(game, count, seconds / rounds / count)
        speeds = Speeds(game.id, fmean(position.decide.legal_count for position in positions), [[] for _ in versions])
        for _ in range(rounds):
            for version, rates in zip(versions, speeds.rounds, strict=True):
                rates.append(play_outs_by_second(version, positions))
        print(speeds, flush=True)


# Strength


Maker = Callable[[], Bot]


AGAINST = ("greedy", "half", "double", "before")
"""Greedy, itself with half and with twice the time, and the other checkout."""


def opponents(versions: Sequence[Version], ms: int, against: Sequence[str]) -> list[tuple[str, Maker]]:
    """Whom the first version meets with `ms` for a decision."""
    own = versions[0]
    found: dict[str, tuple[str, Maker]] = {
        "greedy": ("greedy", load_bot(ROOT / "bots" / "python" / "greedy")),
        "half": (f"{own.name}, {ms / 2:g} ms", partial(own.bot, 50)),
        "double": (f"{own.name}, {2 * ms} ms", partial(own.bot, 200)),
    }
    for other in versions[1:]:
        found["before"] = (f"{other.name}, {ms} ms", partial(other.bot, 100))
    return [found[name] for name in against if name in found]


def measure_strength(
    games: Sequence[Game],
    versions: Sequence[Version],
    ms: int,
    against: Sequence[str],
    blocks: int,
    limit_s: float,
) -> None:
    print(f"\nStrength: A is {versions[0].name} with {ms} ms of CPU time for a decision.\n")
    print("| game | B | score of A | 95 % interval | matches | blocks |\n| --- | --- | --- | --- | --- | --- |")
    for game in games:
        options = resolve_options(game.id, game.options, {})
        for name, opponent in opponents(versions, ms, against):
            means: list[float] = []
            matches = 0
            began_s = time.perf_counter()
            while len(means) < blocks and time.perf_counter() - began_s < limit_s:
                seed = seed_of_block(SEED, len(means))
                make_a = partial(versions[0].bot, 100)
                scores = play_block(game, options, make_a, opponent, PLAYERS, seed, ms / 1000)
                means.append(fmean(scores))
                matches += len(scores)
            low, high = interval(means)
            print(
                f"| {game.id} | {name} | {fmean(means):.3f} | {low:.3f} to {high:.3f} | {matches} | {len(means)} |",
                flush=True,
            )


def main(arguments: argparse.Namespace) -> None:
    games = [get_game(name) for name in arguments.games or sorted(POLICIES)]
    print(f"{machine()}.")
    with ExitStack() as stack:
        versions = [stack.enter_context(version_of("search", ROOT))]
        if arguments.before:
            versions.append(stack.enter_context(version_of("search before", Path(arguments.before).resolve())))
        if arguments.rounds:
            measure_speeds(games, versions, arguments.positions, arguments.seconds, arguments.rounds)
        if arguments.blocks:
            measure_strength(games, versions, arguments.ms, arguments.against, arguments.blocks, arguments.limit_s)


if __name__ == "__main__":
    if sys.argv[1:2] == [SERVE]:
        serve()
        raise SystemExit
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("games", nargs="*", metavar="GAME", help="those that ship with Crosstown if none is named")
    parser.add_argument("--seconds", type=float, default=0.5, help="CPU seconds of search for a row, in each version")
    parser.add_argument("--rounds", type=int, default=3, help="into which these are split; 0: no table of play-outs")
    parser.add_argument("--positions", type=int, default=4)
    parser.add_argument("--ms", type=int, default=50, help="CPU time for a decision in the table of strength")
    parser.add_argument("--against", nargs="+", choices=AGAINST, default=AGAINST, help="the rows of that table")
    parser.add_argument("--blocks", type=int, default=2, help="of two matches, for a row; 0: no table of strength")
    parser.add_argument("--limit-s", type=float, default=60.0, help="no new block of a row after this time")
    parser.add_argument("--before", metavar="CHECKOUT", help="another checkout, whose search takes turns with this one")
    try:
        main(parser.parse_args())
    except UnknownGame as error:
        parser.error(str(error))
