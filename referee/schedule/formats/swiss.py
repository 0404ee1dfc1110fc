"""Swiss: in each round bots with about as many points meet, and nobody meets anybody twice while that is avoidable.

Points are rank points (see `points`), one round's worth for each round; ties are broken by Buchholz (the sum of the
opponents' points), then Sonneborn-Berger (the sum of the opponents' points, each times what was got against it), then
the seeding. With an odd field, or one that does not fill its tables, those with the fewest byes and the lowest rank
sit out: a bye is worth `bye` points and adds nothing to the tie-breaks. A round begins when the one before is settled.
"""

import math
from collections import Counter
from collections.abc import Sequence
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
from referee.schedule.formats.pairing import make_pairs, make_tables
from referee.schedule.formats.points import add_points, pair_points, ranks, show

SETTINGS = (
    Setting(
        "rounds",
        "whole",
        None,
        "how many there are; left out: as many as halving the field to one takes",
        minimum=1,
        maximum=10_000,
    ),
    Setting("bye", "number", None, "points of a bye; left out: 1 with two seats, 0.5 with more", minimum=0, maximum=1),
)


@dataclass(slots=True)
class Table:
    """What a Swiss tournament remembers: points, byes, and per pair how often they met and what the first got."""

    points: dict[int, Fraction] = field(default_factory=dict)
    byes: Counter[int] = field(default_factory=Counter)
    met: Counter[frozenset[int]] = field(default_factory=Counter)
    got: dict[tuple[int, int], Fraction] = field(default_factory=dict)
    due: dict[int, Fraction] = field(default_factory=dict)
    """Whose bye in the round that goes on is worth how much: it counts when the round is over."""

    def add(self, answer: RoundResults, blocks: int) -> None:
        """Count settled blocks, of which a round has `blocks` per table, and the byes of a round that is over."""
        results = answer.results
        fresh: dict[int, Fraction] = {}
        add_points(fresh, results)
        for bot, points in fresh.items():
            self.points[bot] = self.points.get(bot, Fraction()) + points / blocks
        for result in results:
            for pair, points in pair_points(result).items():
                self.got[pair] = self.got.get(pair, Fraction()) + points / blocks
        if not answer.over:
            self.byes.update(self.due.keys())
            for bot, points in self.due.items():
                self.points[bot] = self.points.get(bot, Fraction()) + points
            self.due = {}

    def buchholz(self, bot: int) -> Fraction:
        return sum((self.points.get(other, Fraction()) for one, other in self.got if one == bot), Fraction())

    def sonneborn_berger(self, bot: int) -> Fraction:
        return sum(
            (points * self.points.get(other, Fraction()) for (one, other), points in self.got.items() if one == bot),
            Fraction(),
        )

    def keys(self, bots: Sequence[int]) -> dict[int, tuple[Fraction, Fraction, Fraction]]:
        """What bots are ranked by, ascending."""
        return {
            bot: (-self.points.get(bot, Fraction()), -self.buchholz(bot), -self.sonneborn_berger(bot)) for bot in bots
        }


def plan(field: Field) -> Plan:
    table = Table()
    number = 0
    while True:
        answer = answered((yield Need()))
        table.add(answer, field.blocks)
        variant = _variant(field, number, len(answer.present))
        if answer.over or variant is None or number >= answer.length.get("rounds", _rounds(field)):
            return _placings(table, range(answer.bots))
        players = field.variants[variant].players
        key = table.keys(answer.present)
        order = sorted(answer.present, key=lambda bot: (key[bot], bot))
        made = make_pairs if players == 2 else make_tables
        tables, sitting_out = made(order, players, table.points, table.met, table.byes)
        table.due = dict.fromkeys(sitting_out, _bye(field, players))
        for group in tables:
            table.met.update(frozenset((one, other)) for one in group for other in group if one < other)
        for _ in range(field.blocks):
            for group in tables:
                yield Block(group, variant, number + 1)
        number += 1


def _placings(table: Table, bots: Sequence[int]) -> list[Placing]:
    key = table.keys(bots)
    order = sorted(bots, key=lambda bot: (key[bot], bot))
    return [
        Placing(
            bot,
            rank,
            {
                "points": show(-key[bot][0]),
                "buchholz": show(-key[bot][1]),
                "sonneborn-berger": show(-key[bot][2]),
                "byes": str(table.byes[bot]),
            },
        )
        for bot, rank in ranks(order, key)
    ]


def _variant(field: Field, number: int, present: int) -> int | None:
    """The variant of a round: each in turn; one with fewer seats when too few are left; None when none fits."""
    turn = number % len(field.variants)
    if field.variants[turn].players <= present:
        return turn
    fitting = [one for one, variant in enumerate(field.variants) if variant.players <= present]
    return max(fitting, key=lambda one: (field.variants[one].players, -one), default=None)


def _rounds(field: Field) -> int:
    rounds: int | None = field.settings.get("rounds")
    return rounds or max(1, math.ceil(math.log2(field.bots)))


def _bye(field: Field, players: int) -> Fraction:
    bye: float | None = field.settings.get("bye")
    if bye is not None:
        return Fraction(str(bye))
    return Fraction(1) if players == 2 else Fraction(1, 2)


def extent(field: Field) -> Extent:
    total = 0
    for number in range(_rounds(field)):
        variant = field.variants[number % len(field.variants)]
        total += field.bots // variant.players * field.blocks * len(variant.orders)
    return Extent(total, total)


FORMAT = Format(
    "swiss",
    "rounds of those with equal points",
    SETTINGS,
    plan,
    extent,
    seats_problem,
    has_table=True,
    per="per table and round",
    lengths=lambda field: {"rounds": _rounds(field)},
)
