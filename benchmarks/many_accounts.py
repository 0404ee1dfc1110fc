"""Many accounts of one person: how far 30 accounts that throw games lift one bot.

    python benchmarks/many_accounts.py --seeds 10

A simulated division: 20 honest bots of as many owners, 3 house bots, the bot of a person who cheats, and one bot of
each of the person's 30 other accounts. The accomplices are as strong as the best honest bots. They lose every game
against the cheater's bot, and play the others as well as they can. Who meets whom is decided by the ladder's chooser,
with all its rules. No bot is run; a match has TrueSkill's luck.

The same division is played again with accomplices that do not throw. The lift is the difference of the cheater's two
official ratings, in sigmas of the honest one, as a mean over the seeds and at most.
"""

import argparse
import sys
from collections import Counter, deque
from dataclasses import dataclass, field
from math import ceil
from pathlib import Path
from random import Random
from statistics import fmean

if __name__ == "__main__":
    sys.path.pop(0)  # this folder, in which `referee` is another benchmark
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from leaderboard.ratings.approved import rate_parted
from leaderboard.records import MatchRow, SeatRow
from referee.ladder.beliefs import BETA, MU, SIGMA, Beliefs
from referee.ladder.chooser import OWNER_SHARE, REMEMBERED, Candidate, Chosen, Latest, Snapshot, choose
from referee.ladder.config import MatchmakingConfig
from referee.record.store import FileStamp

HONEST, HOUSE, ACCOMPLICES = 20, 3, 30
BLOCKS = 30
"""For each bot."""

CHEATER = "cheater"


@dataclass
class Bot:
    """`owner` '' for a house bot."""

    name: str
    owner: str
    strength: float
    approved: bool = True
    throws: bool = False
    blocks: int = 0
    last: int = -1
    scores: list[tuple[str, float]] = field(default_factory=list)
    met: Counter[str] = field(default_factory=Counter)

    @property
    def barred(self) -> tuple[str, ...]:
        most = ceil(OWNER_SHARE * (self.blocks + 1))
        return tuple(owner for owner, blocks in self.met.items() if blocks + 1 > most)


@dataclass(frozen=True)
class Division:
    """What was played: the matches, and who was not approved."""

    rows: tuple[MatchRow, ...]
    unapproved: frozenset[str]
    against_one: float
    """The largest share of a bot's blocks against one owner."""

    def rating(self, entry: str) -> tuple[float, float]:
        """The official one: mu and sigma."""
        found = rate_parted(self.rows, {name: [(0, False)] for name in self.unapproved}).skills[entry]
        return found.mu, found.sigma


def field_of(seed: int, *, throws: bool, cheater_approved: bool, accomplices_approved: bool) -> dict[str, Bot]:
    dice = Random(seed)
    strengths = sorted(dice.gauss(MU, SIGMA / 1.5) for _ in range(HONEST))
    bots = [Bot(f"honest{place}", f"owner{place}", strength) for place, strength in enumerate(strengths)]
    bots += [Bot(f"house{place}", "", MU - SIGMA / 2 + place * SIGMA / 2) for place in range(HOUSE)]
    bots.append(Bot(CHEATER, "person", MU, cheater_approved))
    bots += [
        Bot(f"other{place}", f"account{place}", strengths[-1], accomplices_approved, throws)
        for place in range(ACCOMPLICES)
    ]
    return {bot.name: bot for bot in bots}


def play(bots: dict[str, Bot], seed: int) -> Division:
    """A division from the first match on."""
    beliefs = Beliefs()
    for name in bots:
        beliefs.joined(name, name)
    unapproved = frozenset(bot.name for bot in bots.values() if not bot.approved)
    settings = MatchmakingConfig(seed=seed, idle_below=0.0)
    latest: deque[Latest] = deque(maxlen=REMEMBERED)
    rows: list[MatchRow] = []
    meetings: Counter[frozenset[str]] = Counter()
    for number in range(BLOCKS * len(bots) // 2):
        candidates = tuple(
            Candidate(
                bot.name,
                bot.name,
                bot.owner,
                beliefs.known[bot.name].mu,
                beliefs.known[bot.name].sigma,
                bot.blocks,
                0,
                bot.last,
                scores=tuple(bot.scores) if bot.blocks < settings.placement_blocks else (),
                approved=bot.approved,
                barred=bot.barred,
            )
            for bot in bots.values()
        )
        found = choose(Snapshot(number, (2,), candidates, tuple(latest), settings))
        assert isinstance(found, Chosen)
        one, other = bots[found.group[0]], bots[found.group[1]]
        latest.append(Latest(found.group, one.owner))
        share = 0.0
        among = frozenset({one.name, other.name})
        meetings[among] += 1
        dice = Random(f"{seed} {sorted(among)} {meetings[among]}")  # the same luck for the same meeting
        for _ in range(2):
            won = outcome(one, other, dice)
            share += won / 2
            ranking = (1, 2) if won else (2, 1)
            beliefs.apply((one.name, other.name), (0, 1), ranking, among & unapproved)
            rows.append(row(len(rows), (one, other), ranking))
        for bot, opponent, points in ((one, other, share), (other, one, 1 - share)):
            bot.blocks, bot.last = bot.blocks + 1, number
            bot.scores.append((opponent.name, points))
            if opponent.owner:
                bot.met[opponent.owner] += 1
    against = max((max(bot.met.values()) / bot.blocks for bot in bots.values() if bot.met), default=0.0)
    return Division(tuple(rows), unapproved, against)


def outcome(one: Bot, other: Bot, dice: Random) -> bool:
    """Whether `one` wins."""
    first, second = sorted((one, other), key=lambda bot: bot.name)
    gap = dice.gauss(first.strength, BETA) - dice.gauss(second.strength, BETA)
    if one.throws and other.name == CHEATER:
        return False
    if other.throws and one.name == CHEATER:
        return True
    return (gap > 0) == (one is first)


def row(place: int, bots: tuple[Bot, Bot], ranking: tuple[int, int]) -> MatchRow:
    seats = tuple(
        SeatRow(seat, bot.name, bot.name, "1", seat, rank, None, "", 1, 0, 0, 0)
        for seat, (bot, rank) in enumerate(zip(bots, ranking, strict=True))
    )
    stamp = FileStamp(f"m{place}", 1, 1)
    return MatchRow(f"m{place}", "cup", place, place // 2, "toy", 1, "normal", "", 2, 0, "", "", "", stamp, seats)


def lift(seed: int, *, cheater_approved: bool, accomplices_approved: bool) -> float:
    """How much the cheater's rating gains by games that are thrown, in sigmas."""
    rights = {"cheater_approved": cheater_approved, "accomplices_approved": accomplices_approved}
    honest = play(field_of(seed, throws=False, **rights), seed).rating(CHEATER)
    thrown = play(field_of(seed, throws=True, **rights), seed).rating(CHEATER)
    return (thrown[0] - honest[0]) / honest[1]


CASES = {
    "nobody of the 31 is approved": (False, False),
    "the cheater is approved, the 30 are not": (True, False),
    "all are approved: the rule does not help": (True, True),
}


def table(seeds: int) -> str:
    """As Markdown."""
    lines = ["| who is approved | mean lift in sigmas | most |", "| --- | --- | --- |"]
    for words, (cheater, accomplices) in CASES.items():
        found = [lift(seed, cheater_approved=cheater, accomplices_approved=accomplices) for seed in range(seeds)]
        lines.append(f"| {words} | {fmean(found):+.2f} | {max(found):+.2f} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0] if __doc__ else "")
    parser.add_argument("--seeds", type=int, default=10)
    print(table(parser.parse_args().seeds))


if __name__ == "__main__":
    main()
