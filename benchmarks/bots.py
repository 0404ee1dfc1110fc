"""How two Python bots compare: seat-swapped blocks of one game, in this process.

    python benchmarks/bots.py GAME FOLDER_A FOLDER_B [--blocks 50] [--players 2] [--seed 1] [--set NAME=VALUE]
                              [--a NAME=VALUE] [--b NAME=VALUE] [--move-s 1] [--limit-s 150]

A block is one seed played once for each team (seat, in games without teams): A sits there, B on all other seats. The
luck is the same in all matches of a block. The score of A in a match is the share of its opponents it ranks above, a
tie counting one half; the interval is over the means of blocks. The ms are wall time per decision, one choice or more,
as the bots take it here. `--set` gives game options, `--a` and `--b` options of the bots; both as in TOML.

Chance, bot seeds, observations, legal lists and events are those of a real match, encoded and decoded; there are no
processes, no wire and no time limits: bots get `--move-s` as their limit, and it is not enforced.
"""

import argparse
import importlib.util
import json
import sys
import time
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from statistics import NormalDist, fmean, stdev
from typing import Any
from unittest.mock import patch

if __name__ == "__main__":
    sys.path.pop(0)  # this folder, in which `referee` is another benchmark

import crosstown_bot
from crosstown_bot import Bot, Match, Turn
from crosstown_proto.v1 import referee_pb2 as pb

from referee.games.api import Event, Game, resolve_options
from referee.games.keyed import KeyedChance
from referee.games.registry import get_game
from referee.match.play import bot_seed
from referee.process.manifest import load_manifest

CONFIDENCE = 0.95


def load_bot(folder: Path, options: Mapping[str, Any] | None = None) -> Callable[[], Bot]:
    """Makes instances of the bot in a folder, with its options and `options` over them. Its modules stay its own."""
    classes: list[type[Bot]] = []
    before = set(sys.modules)
    sys.path.insert(0, str(folder))
    try:
        with patch.object(crosstown_bot, "run", classes.append):
            spec = importlib.util.spec_from_file_location("__main__", folder / "bot.py")
            assert spec is not None
            assert spec.loader is not None
            spec.loader.exec_module(importlib.util.module_from_spec(spec))
    finally:
        sys.path.remove(str(folder))
        for name in set(sys.modules) - before:
            if Path(getattr(sys.modules[name], "__file__", None) or "/").parent == folder:
                del sys.modules[name]
    given = {**load_manifest(folder).options, **(options or {})}
    return lambda: classes[0](given)


@dataclass
class Player:
    """A bot on its seat."""

    bot: Bot
    match: Match
    seen: int = 0
    """Events it has been sent."""
    answers: list[int] = field(default_factory=list)
    thought_s: float = 0.0

    def ask(self, game: Game, state: Any, kind: str, number: int, events: Sequence[Event], move_s: float) -> Any:
        """The bot's action, from the bytes it would get from a referee."""
        seat, codec = self.match.seat, game.codec
        legal = state.legal_actions(seat)
        decide = pb.Decide(
            match=self.match.id,
            decision=number,
            kind=kind,
            legal_count=len(legal),
            observation=codec.encode_observation(state.observation(seat)),
            legal_actions=codec.encode_actions(legal),
            events=codec.encode_events([event.seen_by(seat) for event in events[self.seen :]]),
            clock=pb.Clock(left_us=int(move_s * 1e6), move_us=int(move_s * 1e6)),
        )
        self.seen = len(events)
        began = time.perf_counter()
        choice = self.bot.choose(Turn(self.match, decide))
        self.thought_s += time.perf_counter() - began
        if not isinstance(choice, int) or not 0 <= choice < len(legal):
            raise ValueError(f"{type(self.bot).__name__} answered {choice!r}, not an index below {len(legal)}")
        self.answers.append(choice)
        return legal[choice]


@dataclass(frozen=True)
class Played:
    ranking: tuple[int, ...]
    returns: tuple[int, ...]
    answers: tuple[tuple[int, ...], ...]
    """Per seat the indices it chose."""
    thought_s: tuple[float, ...] = field(compare=False)
    """Per seat the time it took for them."""


def play(game: Game, options: Mapping[str, Any], bots: Sequence[Bot], seed: str, move_s: float = 1.0) -> Played:
    """One match. `seed` is 32 hex digits. Whatever a bot or game raises is passed on."""
    state = game.new_initial_state(len(bots), options)
    chance = KeyedChance(bytes.fromhex(seed))
    teams = game.teams(len(bots), options)
    players = []
    for seat, bot in enumerate(bots):
        start = pb.MatchStart(
            match=seed,
            game=game.id,
            rules_version=game.rules_version,
            seat=seat,
            players=len(bots),
            options=json.dumps(options),
            teams=teams,
            clock=pb.Clock(first_move_us=int(move_s * 1e6), move_us=int(move_s * 1e6)),
            bot_seed=bot_seed(seed, seat),
        )
        players.append(Player(bot, Match(start, bot.messages)))
        bot.start(players[-1].match)
    events: list[Event] = []
    number = 0
    while not state.is_terminal():
        decisions = state.decisions()
        if not decisions:
            events += state.apply_chance(chance.choose(state.chance_stream(), state.chance_outcomes()))
            continue
        actions = {}
        for decision in decisions:
            number += 1
            actions[decision.seat] = players[decision.seat].ask(game, state, decision.kind, number, events, move_s)
        events += state.apply(actions)
    return Played(
        ranking=tuple(state.ranking()),
        returns=tuple(state.returns()),
        answers=tuple(tuple(player.answers) for player in players),
        thought_s=tuple(player.thought_s for player in players),
    )


def score(ranking: Sequence[int], teams: Sequence[int], team: int) -> float:
    """Share of the opponents that `team` ranks above; a tie counts one half."""
    mine = ranking[list(teams).index(team)]
    others = [rank for rank, other in zip(ranking, teams, strict=True) if other != team]
    return fmean((rank > mine) + (rank == mine) / 2 for rank in others)


def play_block(
    game: Game,
    options: Mapping[str, Any],
    make_a: Callable[[], Bot],
    make_b: Callable[[], Bot],
    players: int,
    seed: str,
    move_s: float,
    pace: "Pace | None" = None,
) -> list[float]:
    """Scores of A, one for each team it sits on. What it takes is added to `pace`."""
    teams = game.teams(players, options)
    scores = []
    for team in dict.fromkeys(teams):
        seats = [make_a() if other == team else make_b() for other in teams]
        played = play(game, options, seats, seed, move_s)
        scores.append(score(played.ranking, teams, team))
        if pace is not None:
            pace.add(played, [other == team for other in teams])
    return scores


@dataclass
class Pace:
    """Decisions of A and of B, in this order, and the time they took."""

    decisions: list[int] = field(default_factory=lambda: [0, 0])
    seconds: list[float] = field(default_factory=lambda: [0.0, 0.0])

    def add(self, played: Played, is_a: Sequence[bool]) -> None:
        for answers, thought_s, mine in zip(played.answers, played.thought_s, is_a, strict=True):
            self.decisions[not mine] += len(answers)
            self.seconds[not mine] += thought_s

    def __str__(self) -> str:
        return " | ".join(
            f"{1000 * spent_s / max(1, count):.1f}" for spent_s, count in zip(self.seconds, self.decisions, strict=True)
        )


def interval(means: Sequence[float]) -> tuple[float, float]:
    """95 % interval of the expectation of blocks, within 0 to 1.

    Student's t; where all blocks are alike, which tells no deviation, the rule of three.
    """
    count, mean = len(means), fmean(means)
    if count < 2:
        return 0.0, 1.0
    width = student_t(count - 1) * stdev(means) / count**0.5 if len(set(means)) > 1 else 3 / count
    return max(0.0, mean - width), min(1.0, mean + width)


def student_t(freedom: int) -> float:
    """Two-sided quantile, by Cornish and Fisher's expansion: within 1 % from five degrees of freedom."""
    z = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)
    first = (z**3 + z) / 4
    second = (5 * z**5 + 16 * z**3 + 3 * z) / 96
    third = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
    return z + first / freedom + second / freedom**2 + third / freedom**3


def seed_of_block(seed: int, number: int) -> str:
    return blake2b(f"{seed}\x1f{number}".encode(), digest_size=16).hexdigest()


def settings(given: Sequence[str]) -> dict[str, Any]:
    """NAME=VALUE, the value as in TOML or else a text."""
    found: dict[str, Any] = {}
    for item in given:
        name, _, value = item.partition("=")
        try:
            found[name] = tomllib.loads(f"value = {value}")["value"]
        except tomllib.TOMLDecodeError:
            found[name] = value
    return found


def main(arguments: argparse.Namespace) -> None:
    game = get_game(arguments.game)
    options = resolve_options(game.id, game.options, settings(arguments.set))
    make_a = load_bot(Path(arguments.a_folder).resolve(), settings(arguments.a))
    make_b = load_bot(Path(arguments.b_folder).resolve(), settings(arguments.b))
    means: list[float] = []
    pace = Pace()
    matches = 0
    began = time.perf_counter()
    while len(means) < arguments.blocks and time.perf_counter() - began < arguments.limit_s:
        seed = seed_of_block(arguments.seed, len(means))
        scores = play_block(game, options, make_a, make_b, arguments.players, seed, arguments.move_s, pace)
        means.append(fmean(scores))
        matches += len(scores)
    low, high = interval(means)
    seconds = time.perf_counter() - began
    print("| game | players | A | B | score of A | 95 % interval | matches | blocks | A ms | B ms | s |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    names = [
        " ".join((Path(folder).name, *given))
        for folder, given in zip((arguments.a_folder, arguments.b_folder), (arguments.a, arguments.b), strict=True)
    ]
    print(
        f"| {game.id} | {arguments.players} | {names[0]} | {names[1]} | {fmean(means):.3f} | {low:.3f} to {high:.3f}"
        f" | {matches} | {len(means)} | {pace} | {seconds:.0f} |"
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("game")
    parser.add_argument("a_folder", help="folder of bot A")
    parser.add_argument("b_folder", help="folder of bot B")
    parser.add_argument("--blocks", type=int, default=50)
    parser.add_argument("--players", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="option of the game")
    parser.add_argument("--a", action="append", default=[], metavar="NAME=VALUE", help="option of bot A")
    parser.add_argument("--b", action="append", default=[], metavar="NAME=VALUE", help="option of bot B")
    parser.add_argument(
        "--move-s", type=float, default=1.0, help="time for a move that bots get as their limit, in seconds"
    )
    parser.add_argument("--limit-s", type=float, default=150.0, help="no new block after this time")
    main(parser.parse_args())
