"""Matchmaking: decides the next block of a division. A pure function of a snapshot, so that a journal can verify it.

1. Newcomers first. A version plays a placement series as soon as it is there: its first opponent stands in the middle
   of the established bots, the next one in the middle of those above if it won, of those below if it lost.
2. Then the pair from which the table learns most: TrueSkill's match quality times the variance that the block is
   expected to take from both. That is where sigma is large and ranks are close.
3. A share of the blocks is exploration: for the bot that has waited longest, against opponents that are drawn.

Two bots of one owner meet only where there are no others, house bots excepted. An owner whose bots have had more than
its share of the latest blocks waits for the others. Where enough owners are there, at most `OWNER_SHARE` of a bot's
blocks are against the bots of one. A bot that is not approved meets approved ones as long as any are there: against
others it would learn nothing. Seats are balanced because a block has all its orders of seats.
"""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from leaderboard.ratings.skill import BETA
from referee.ladder.config import MatchmakingConfig

NEIGHBOURS = 8
"""Pairs that are looked at: bots that are at most so many ranks apart."""

REMEMBERED = 200
"""Latest blocks that a snapshot has: who met whom, and for whom."""

FAIR_SHARE = 1.5
"""An owner has more than its share when it has so many times the even share of the latest blocks."""

OWNER_SHARE = 0.2
"""The most of a bot's blocks that are against bots of one owner, where others are there for the rest."""

Floats: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Candidate:
    """One active version; `owner` is '' for a house bot. `blocks` are those it was chosen for, `playing` how many of
    them are not settled yet, `last` the number of the last one, -1 before the first. `scores` has, of a newcomer, each
    opponent with the share of the points that it got against it in settled blocks. A remote bot that is not
    `connected`, or is `busy` with a block, is not chosen.

    A bot that is not `approved` moves no rating but its own. `barred` are owners that the bot has met in so large a
    share of its blocks that it meets others first."""

    entry_id: str
    name: str
    owner: str
    mu: float
    sigma: float
    blocks: int = 0
    playing: int = 0
    last: int = -1
    connected: bool = True
    busy: bool = False
    scores: tuple[tuple[str, float], ...] = ()
    approved: bool = True
    barred: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Latest:
    """One of the latest blocks: who met, and the owner of the bot that it was for; '' for a house bot."""

    group: tuple[str, ...]
    owner: str


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What a decision depends on. `players` are the numbers of seats that the division may play with, ascending.
    `latest` are the latest blocks, oldest first."""

    number: int
    players: tuple[int, ...]
    bots: tuple[Candidate, ...]
    latest: tuple[Latest, ...] = ()
    settings: MatchmakingConfig = MatchmakingConfig()  # noqa: RUF009 - frozen


@dataclass(frozen=True, slots=True)
class Chosen:
    """`group` are entry ids; the block is for the first. `variant` is an index into the snapshot's `players`."""

    group: tuple[str, ...]
    variant: int
    reason: str


@dataclass(frozen=True, slots=True)
class Idle:
    """No block for now. `waiting`: not for want of bots or news, so that somebody should be told if it lasts."""

    reason: str
    waiting: bool = False


def choose(snapshot: Snapshot) -> Chosen | Idle:
    """The next block, or why there is none now."""
    here = tuple(bot for bot in snapshot.bots if bot.connected and not bot.busy)
    away = _missing(snapshot.bots)
    fewest, most = snapshot.players[0], snapshot.players[-1]
    if len(here) < fewest:
        away_words = f", and {away}" if away else ""
        return Idle(f"a table needs {fewest} bots, and there {_are(len(here))}{away_words}", waiting=bool(here))
    seats, why = _seats(snapshot.players, here, away)
    table = _Table(snapshot, here)
    chosen = table.for_newcomer(seats) or table.exploration(seats) or table.best(seats)
    if chosen is None:
        share = snapshot.settings.idle_below
        return Idle(f"no block would reduce the sigma of a bot by more than {share:.1%}")
    group, reason = chosen
    if len(group) < len(here) and why == "" and len({_side(bot) for bot in group}) < len(group):
        why = "; no others are there, so bots of one owner meet"
    names = tuple(bot.entry_id for bot in group)
    return Chosen(names, snapshot.players.index(len(group)), f"{reason}{why}" if most > fewest or why else reason)


def expected_share(sigma: float, other: float, gap: float, matches: int = 1) -> float:
    """By what share so many matches are expected to reduce the first sigma, `gap` being the difference of the means."""
    variance = 2 * BETA**2 + sigma**2 + other**2
    info = _information(np.array([gap / math.sqrt(variance)]))[0]
    return float(1 - math.sqrt(1 / (1 + matches * info * sigma**2 / variance)))


def _information(t: Floats) -> Floats:
    """The expected value of what TrueSkill's update calls w, over both results."""
    below = _below(t)
    density = np.exp(-(t**2) / 2) / math.sqrt(2 * math.pi)
    return density**2 / np.maximum(below * (1 - below), 1e-300)


def _below(t: Floats) -> Floats:
    """The normal distribution, to four digits: numpy has no error function, and no decision needs more."""
    return 1 / (1 + np.exp(-np.clip(1.5976 * t + 0.07056 * t**3, -60, 60)))


def _missing(bots: Sequence[Candidate]) -> str:
    """Which remote bots cannot be chosen now, in words; '' if all can."""
    gone = sum(not bot.connected for bot in bots)
    busy = sum(bot.connected and bot.busy for bot in bots)
    words = [f"{_bots(number)} {what}" for number, what in ((gone, "not connected"), (busy, "in a match")) if number]
    return " and ".join(words)


def _seats(players: Sequence[int], here: Sequence[Candidate], away: str) -> tuple[int, str]:
    """How many seats the block has, and why these, where they are not the most."""
    most = players[-1]
    sides = len({_side(bot) for bot in here})
    if len(here) < most:
        seats = max(number for number in players if number <= len(here))
        if sides < seats and (fewer := [number for number in players if number <= sides]):
            seats = max(fewer)
        away_words = f" ({away})" if away else ""
        return seats, f"; {_bots(len(here))} there for a table of {most}{away_words}, so it has {seats} seats"
    if sides < most and (fewer := [number for number in players if number <= sides]):
        seats = max(fewer)
        return seats, f"; the bots there are of {sides} owners, so a table of {most} has {seats} seats"
    return most, ""


def _side(bot: Candidate) -> str:
    """Whom it plays for: bots of one side meet only where there are no others. A house bot plays for itself."""
    return bot.owner or bot.entry_id


class _Table:
    """A snapshot in arrays, by the places of the bots in `here`."""

    def __init__(self, snapshot: Snapshot, here: tuple[Candidate, ...]) -> None:
        self._snapshot = snapshot
        self._settings = snapshot.settings
        self._here = here
        self._mu = np.array([bot.mu for bot in here])
        playing = np.array([bot.playing for bot in here])
        # What is in play will tell something, too: a block more tells less.
        self._variance = np.array([bot.sigma for bot in here]) ** 2 / (1 + playing / 2)
        numbers: dict[str, int] = {}
        self._sides = np.array([numbers.setdefault(side, len(numbers)) for side in map(_side, here)])
        self._approved = np.array([bot.approved for bot in here])
        if not self._approved.any():  # else nobody would learn anything
            self._approved[:] = True
        self._bars = len(numbers) > 1 / OWNER_SHARE
        self._barred = np.array(
            [
                place * len(numbers) + numbers[owner]
                for place, bot in enumerate(here)
                for owner in (bot.barred if self._bars else ())
                if owner in numbers
            ],
            dtype=np.intp,
        )
        self._asked = Counter(block.owner for block in snapshot.latest if block.owner)
        self._over = self._owners_over()

    def for_newcomer(self, seats: int) -> tuple[list[Candidate], str] | None:
        """A block for the newcomer whose turn it is."""
        series = self._settings.placement_blocks
        new = [bot for bot in self._here if bot.blocks < series and not bot.playing and bot.owner not in self._over]
        if not new:
            return None
        bot = min(new, key=lambda bot: (self._asked[bot.owner], bot.blocks, bot.last, bot.entry_id))
        approved = {self._here[place].entry_id for place in np.flatnonzero(self._approved).tolist()}
        established = [
            other for other in self._here if other.blocks >= series and other is not bot and other.entry_id in approved
        ]
        if len(established) < len(self._here) / 2:
            return self._among_newcomers(bot, seats)
        ranked = sorted(established, key=lambda other: (other.mu, other.entry_id))
        low, high = _bounds(bot, ranked)
        middle = (low + high) // 2
        near = sorted(range(len(ranked)), key=lambda place: (abs(place - middle), ranked[place].playing))
        rest = [other for other in self._here if other not in established and other is not bot]
        rest.sort(key=lambda other: other.entry_id not in approved)
        group = self._fill([bot], [*(ranked[place] for place in near), *rest], seats)
        where = f"the {high - low} that it may rank among" if high - low > 1 else "where it may rank"
        what = (
            f"'{bot.name}' is new (block {bot.blocks + 1} of {series}): '{group[1].name}' is in the middle of {where}"
        )
        return group, what

    def _among_newcomers(self, bot: Candidate, seats: int) -> tuple[list[Candidate], str]:
        """Where most bots are new, ranks are uncertain: a newcomer meets the bot that gives the most information."""
        group = self._fill([bot], self._by_gain(self._here.index(bot)), seats)
        series = self._settings.placement_blocks
        return group, (
            f"'{bot.name}' is new (block {bot.blocks + 1} of {series}), as most bots are: a match with"
            f" '{group[1].name}' tells most"
        )

    def exploration(self, seats: int) -> tuple[list[Candidate], str] | None:
        """A block for the bot that has waited longest, if it is the turn of one."""
        if self._draw("explore") >= self._settings.exploration or not self._news(seats):
            return None
        first = min(range(len(self._here)), key=lambda place: self._waited(self._here[place]))
        bot = self._here[first]
        total = 2 * BETA**2 + self._variance[first] + self._variance
        quality = np.exp(-((self._mu - self._mu[first]) ** 2) / (2 * total)).tolist()
        # Who has the largest of these numbers comes first: a draw in which the weights are the match qualities.
        drawn = [
            (bool(approved), self._draw(other.entry_id) ** (1 / max(weight, 1e-9)), other.entry_id, other)
            for other, weight, approved in zip(self._here, quality, self._approved, strict=True)
            if other is not bot
        ]
        group = self._fill([bot], [other for *_, other in sorted(drawn, reverse=True)], seats)
        return group, f"exploration: '{bot.name}' has waited longest, its opponents are drawn, close ones more often"

    def best(self, seats: int) -> tuple[list[Candidate], str] | None:
        """The block from which the table learns most; None if that is too little."""
        if not self._news(seats):
            return None
        one, other, gain, _ = self._pairs
        place = int(np.argmax(gain))
        best = int(one[place]), int(other[place])
        opposite = {best[0]: best[1], best[1]: best[0]}
        first = max(best, key=lambda place: (self._approved[opposite[place]], self._variance[place], -place))
        bot = self._here[first]
        group = self._fill([bot], self._by_gain(first), seats)
        quality = self._quality(self._mu[first], self._variance[first], group[1])
        return group, (
            f"'{bot.name}' is uncertain (sigma {bot.sigma:.2f}) and '{group[1].name}' ranks close to it"
            f" (match quality {quality:.0%})"
        )

    def _news(self, seats: int) -> bool:
        """Whether a block would reduce the sigma of some bot by more than the share below which nothing is played."""
        matches = math.factorial(seats) if seats <= 3 else seats
        most = float(self._pairs[3].max())
        return 1 - math.sqrt(1 / (1 + matches * most)) > self._settings.idle_below

    @cached_property
    def _pairs(self) -> tuple[NDArray[np.intp], NDArray[np.intp], Floats, Floats]:
        """Bots that are few ranks apart: the two, what a match of them tells, and the larger share of a variance that
        it takes away."""
        low, high = self._close_ones()
        mu, variance, sides = self._mu, self._variance, self._sides
        total = 2 * BETA**2 + variance[low] + variance[high]
        t = (mu[high] - mu[low]) / np.sqrt(total)
        told = _information(t) / total
        square = variance**2
        if self._over:
            square = square * np.array([0.1 if bot.owner in self._over else 1.0 for bot in self._here])
        # Of two bots the one is moved only if the other is approved.
        moves_low, moves_high = self._approved[high], self._approved[low]
        gain = np.sqrt(2 * BETA**2 / total) * np.exp(-(t**2) / 2) * told
        gain = gain * (square[low] * moves_low + square[high] * moves_high)
        share = told * np.maximum(variance[low] * moves_low, variance[high] * moves_high)
        if sides.min() == sides.max():
            return low, high, gain, share
        meet = (sides[low] != sides[high]) & ~self._is_barred(low, high)
        return low, high, gain * meet, share * meet

    def _close_ones(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Pairs of approved bots that are few ranks apart, and of each other bot with approved ones as close."""
        approved = np.flatnonzero(self._approved)
        order = approved[np.argsort(self._mu[approved], kind="stable")]
        steps = range(1, min(NEIGHBOURS, len(order) - 1) + 1)
        low = [order[:-step] for step in steps]
        high = [order[step:] for step in steps]
        others = np.flatnonzero(~self._approved)
        if len(others):
            near = np.searchsorted(self._mu[order], self._mu[others])
            for step in range(-NEIGHBOURS // 2, NEIGHBOURS // 2):
                low.append(others)
                high.append(order[np.clip(near + step, 0, len(order) - 1)])
        return np.concatenate(low), np.concatenate(high)

    def _is_barred(self, low: NDArray[np.intp], high: NDArray[np.intp]) -> NDArray[np.bool_]:
        """By pair, whether one has met the owner of the other too often."""
        if not len(self._barred):
            return np.zeros(len(low), dtype=np.bool_)
        sides = int(self._sides.max()) + 1
        return np.isin(low * sides + self._sides[high], self._barred) | np.isin(
            high * sides + self._sides[low], self._barred
        )

    def _by_gain(self, first: int) -> list[Candidate]:
        """The others, those first from a match with whom the table learns most; those it met lately later."""
        total = 2 * BETA**2 + self._variance[first] + self._variance
        t = (self._mu - self._mu[first]) / np.sqrt(total)
        quality = np.sqrt(2 * BETA**2 / total) * np.exp(-(t**2) / 2)
        moved = self._variance[first] ** 2 * self._approved + self._variance**2 * self._approved[first]
        gain = quality * _information(t) / total * moved
        me = self._here[first].entry_id
        met = Counter(other for block in self._snapshot.latest if me in block.group for other in block.group)
        if met:
            times = np.zeros(len(gain))
            for place, bot in enumerate(self._here):
                if bot.entry_id in met:
                    times[place] = met[bot.entry_id]
            gain = gain / (1 + times)
        order = np.argsort(-gain, kind="stable")
        return [self._here[place] for place in order.tolist() if place != first]

    def _quality(self, mu: float, variance: float, other: Candidate) -> float:
        total = 2 * BETA**2 + variance + other.sigma**2
        return math.sqrt(2 * BETA**2 / total) * math.exp(-((mu - other.mu) ** 2) / (2 * total))

    def _fill(self, group: list[Candidate], others: Iterable[Candidate], seats: int) -> list[Candidate]:
        """The group with the first of `others`, of one side at most one while there are others."""
        sides = {_side(bot) for bot in group}
        left = []
        barred = []
        for other in others:
            if len(group) == seats:
                return group
            if _side(other) in sides:
                left.append(other)
                continue
            if self._bars and any(bot.owner in other.barred or other.owner in bot.barred for bot in group):
                barred.append(other)
                continue
            group.append(other)
            sides.add(_side(other))
        for other in barred:  # nobody else is there
            if len(group) < seats and _side(other) not in sides:
                group.append(other)
                sides.add(_side(other))
        return [*group, *left][:seats]

    def _owners_over(self) -> frozenset[str]:
        """The owners that have had more than their share of the latest blocks, while others have bots here."""
        owners = {bot.owner for bot in self._here if bot.owner}
        if len(owners) < 2:
            return frozenset()
        even = sum(self._asked[owner] for owner in owners) / len(owners)
        fair = max(FAIR_SHARE * even, self._settings.placement_blocks)
        return frozenset(owner for owner in owners if self._asked[owner] > fair)

    def _waited(self, bot: Candidate) -> tuple[int, int, str]:
        return bot.last, bot.playing, bot.entry_id

    def _draw(self, what: str) -> float:
        """A number from 0 to 1 that this block alone has."""
        return hash_of(self._settings.seed, self._snapshot.number, what) / 2**64


def _bounds(bot: Candidate, ranked: Sequence[Candidate]) -> tuple[int, int]:
    """Among which of the ranked bots a newcomer may stand by its results: the first place, and that after the last."""
    places = {other.entry_id: place for place, other in enumerate(ranked)}
    low, high = 0, len(ranked)
    for opponent, score in bot.scores:
        place = places.get(opponent)
        if place is None or not low <= place < high:
            continue
        if score > 0.5:
            low = place + 1
        elif score < 0.5:
            high = place
        else:
            return place, place + 1
    return (low, high) if low < high else (min(low, len(ranked) - 1), min(low, len(ranked) - 1) + 1)


def hash_of(*words: str | int) -> int:
    """64 bits that depend on these words alone."""
    text = "\x1f".join(map(str, words))
    return int.from_bytes(blake2b(text.encode(), digest_size=8, person=b"crosstown-ladder").digest())


def _bots(number: int) -> str:
    return "1 bot is" if number == 1 else f"{number} bots are"


def _are(number: int) -> str:
    return "is 1" if number == 1 else f"are {number}"
