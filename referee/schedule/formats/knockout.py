"""Knockout: the losers of a table are out, until one bot is left.

A table plays up to `best_of` blocks (times the file's `blocks`), fewer if the result is out of reach before. If the
last place that goes on is tied, up to `extra` further blocks decide, one by one, then the higher seed. With k seats
at most k-1 bots sit out a round: those with the fewest byes, the highest seeds first. If fewer bots are left than a
table has seats, the best of those who went out last fill it. A round begins when the one before is settled; who goes
on is derived from results each time, so a match that is played again changes all that follows from it.
"""

import math
from collections import Counter
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from referee.schedule.formats.api import (
    Block,
    Extent,
    Field,
    Format,
    Need,
    Placing,
    Plan,
    RoundResults,
    Setting,
    answered,
    seats_problem,
)
from referee.schedule.formats.points import block_points, ranks, show

SETTINGS = (
    Setting("best_of", "whole", 1, "blocks of a table, in units of the file's `blocks`", minimum=1, maximum=10_000),
    Setting(
        "extra", "whole", 2, "additional blocks, one by one, while the last place that advances is tied", maximum=100
    ),
    Setting(
        "advance", "whole", None, "how many bots of a table advance; default: half of them", minimum=1, maximum=100
    ),
)


@dataclass(slots=True)
class Tie:
    """One table of a round: its members by seed, and their points so far."""

    members: tuple[int, ...]
    advance: int
    blocks: int = 0
    points: dict[int, Fraction] = field(default_factory=dict)

    def order(self) -> list[int]:
        """The best first; equal points by seed."""
        return sorted(self.members, key=lambda bot: (-self.points.get(bot, Fraction()), bot))

    def lead(self) -> Fraction:
        """Points by which the last who goes on is ahead of the first who does not."""
        order = self.order()
        last, first = order[self.advance - 1], order[self.advance]
        return self.points.get(last, Fraction()) - self.points.get(first, Fraction())

    def decided(self, regular: int, extra: int) -> bool:
        if self.blocks >= regular + extra:
            return True
        if self.blocks >= regular:
            return self.lead() > 0
        return self.lead() > regular - self.blocks


@dataclass(slots=True)
class Bracket:
    """What a knockout remembers: who is left, in which round the others went out, and everyone's way through it.

    `ways` has per bot what it did in each round, for people.
    """

    alive: list[int] = field(default_factory=list)
    fell: dict[int, int] = field(default_factory=dict)
    ways: dict[int, dict[int, str]] = field(default_factory=dict)

    def note(self, number: int, ties: Sequence[Tie], sitting_out: Sequence[int]) -> None:
        """How round `number` stands."""
        for bot in sitting_out:
            self.ways.setdefault(bot, {})[number] = "bye"
        for place, tie in enumerate(ties, start=1):
            for bot in tie.members:
                points = show(tie.points.get(bot, Fraction()))
                points += " point" if points == "1" else " points"
                self.ways.setdefault(bot, {})[number] = f"{points} at table {place}"

    def placings(self) -> list[Placing]:
        """Who is left, then by the round in which one went out, the latest first."""
        key = dict.fromkeys(self.alive, -math.inf) | {bot: -when for bot, when in self.fell.items()}
        order = sorted(key, key=lambda bot: (key[bot], bot))
        rounds = sorted({number for way in self.ways.values() for number in way})
        return [
            Placing(
                bot,
                rank,
                {"out in round": str(self.fell[bot]) if bot in self.fell else "-"}
                | {f"round {number}": self.ways.get(bot, {}).get(number, "-") for number in rounds},
            )
            for bot, rank in ranks(order, key)
        ]


def plan(field: Field) -> Plan:
    bracket = Bracket()
    byes: Counter[int] = Counter()
    number = 0
    while True:
        answer = answered((yield Need()))
        if number == 0:
            bracket.alive = list(range(answer.bots))
        alive, fell = bracket.alive, bracket.fell
        fell |= {bot: number for bot in alive if bot in answer.absent}
        bracket.alive = alive = [bot for bot in alive if bot not in answer.absent]
        variant = _variant(field, number, len(alive))
        players = field.variants[variant].players
        fallen = sorted((bot for bot in fell if bot not in answer.absent), key=lambda bot: (-fell[bot], bot))
        if answer.over or len(alive) < 2 or len(alive) + len(fallen) < players:
            return bracket.placings()
        number += 1
        alive += fallen[: max(0, players - len(alive))]
        bracket.fell = fell = {bot: when for bot, when in fell.items() if bot not in alive}
        ties, sitting_out = draw(alive, players, byes, _advance(field, players))
        byes.update(sitting_out)
        if (yield from _play(field, ties, variant, number)):
            bracket.note(number, ties, sitting_out)
            return bracket.placings()
        bracket.note(number, ties, sitting_out)
        bracket.alive = sitting_out + [bot for tie in ties for bot in tie.order()[: tie.advance]]
        fell |= {bot: number for tie in ties for bot in tie.order()[tie.advance :]}


def draw(alive: Sequence[int], players: int, byes: Counter[int], advance: int) -> tuple[list[Tie], list[int]]:
    """The tables of a round, seeded so that the best meet late, and who sits out. A last table lets one go on."""
    by_need = sorted(alive, key=lambda bot: (byes[bot], bot))
    sitting_out = sorted(by_need[: len(alive) % players])
    playing = sorted(bot for bot in alive if bot not in sitting_out)
    number = len(playing) // players
    tables: list[list[int]] = [[] for _ in range(number)]
    for place, bot in enumerate(playing):
        row, column = divmod(place, number)
        tables[number - 1 - column if row % 2 else column].append(bot)
    last = number == 1 and not sitting_out
    return [Tie(tuple(table), 1 if last else advance) for table in tables], sitting_out


def _play(
    field: Field, ties: Sequence[Tie], variant: int, number: int
) -> Generator[Block | Need, RoundResults | None, bool]:
    """Blocks of all tables that are not decided, in waves: as many as any result takes at first, then one each. True if
    it was cut short by someone who only looks."""
    regular, extra = _regular(field), field.settings["extra"]
    wave = regular // 2 + 1
    while waiting := [tie for tie in ties if not tie.decided(regular, extra)]:
        for _ in range(wave):
            for tie in waiting:
                yield Block(tie.members, variant, number)
                tie.blocks += 1
        wave = 1
        by_group = {tie.members: tie for tie in waiting}
        answer = answered((yield Need()))
        for result in answer.results:
            tie = by_group[result.block.group]
            for bot, points in block_points(result).items():
                tie.points[bot] = tie.points.get(bot, Fraction()) + points
        if answer.over:
            return True
    return False


def _variant(field: Field, number: int, alive: int) -> int:
    """The variant of a round: each in turn; where that has more seats than bots are left, the largest that fits."""
    turn = number % len(field.variants)
    fitting = [one for one, variant in enumerate(field.variants) if variant.players <= alive]
    if turn in fitting or not fitting:
        return turn
    return max(fitting, key=lambda one: (field.variants[one].players, -one))


def _regular(field: Field) -> int:
    best_of: int = field.settings["best_of"]
    return best_of * field.blocks


def _advance(field: Field, players: int) -> int:
    advance: int | None = field.settings.get("advance")
    return min(advance or players // 2, players - 1)


def extent(field: Field) -> Extent:
    """Where nobody leaves: the rounds are known, only how soon a table is decided is not."""
    least = most = number = 0
    alive = field.bots
    regular = _regular(field)
    while alive > 1:
        variant = field.variants[_variant(field, number, alive)]
        tables, sitting_out = divmod(max(alive, variant.players), variant.players)
        orders = len(variant.orders)
        least += tables * (regular // 2 + 1) * orders
        most += tables * (regular + field.settings["extra"]) * orders
        alive = 1 if tables == 1 and not sitting_out else tables * _advance(field, variant.players) + sitting_out
        number += 1
    return Extent(least, most)


def problem(field: Field) -> str:
    """What keeps these bots from a knockout; empty if nothing does."""
    advance: int | None = field.settings.get("advance")
    seats = min(variant.players for variant in field.variants)
    if advance is not None and advance >= seats:
        return f"'knockout.advance' is {advance}, but of a table of {seats} at most {seats - 1} go on"
    return seats_problem(field)


FORMAT = Format(
    "knockout",
    "the losers of a table are out",
    SETTINGS,
    plan,
    extent,
    problem,
    has_table=True,
    per="per table, times best_of",
)
