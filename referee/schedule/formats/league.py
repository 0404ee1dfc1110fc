"""League: tables are sampled without end, until `blocks` blocks are played or the table is known to a precision.

The next table goes to whoever has played least and waited longest; the other seats to those that have played least, of
these to those that have played this game with this number of seats least, and then to those whom the table has met
least, by lot. (Not to who has waited longest: bots that wait alike have played next to each other, and would meet
only their neighbours.) So matches per bot never differ by more than one block, and nobody starves.
With `close`, of those who are not more than a tenth ahead in matches the nearest in points are seated, so that matches
go where the order is unclear. Games and numbers of seats take turns.

Points and precision are taken from results `window` blocks back in schedule order: how many tables there are, and who
is slow, changes nothing. A bot that joins is treated as if it had played as much as the one that has played least.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from referee.schedule.formats.api import (
    Block,
    BlockResult,
    Extent,
    Field,
    Format,
    Need,
    Plan,
    Setting,
    answered,
    seats_problem,
)
from referee.schedule.formats.points import block_points

SETTINGS = (
    Setting("window", "whole", 64, "blocks back from which results are used", minimum=1, maximum=1_000_000),
    Setting(
        "precision",
        "number",
        None,
        "stop when every bot's points are known to plus or minus this; left out: the budget is played",
        minimum=0.001,
        maximum=1,
    ),
    Setting("close", "flag", False, "prefer tables of bots with similar points"),
)
LEAST_BLOCKS = 8
"""Blocks of a bot below which its spread is not trusted."""

Z_95 = 1.96


@dataclass(slots=True)
class Form:
    """One bot: blocks scheduled, the last of them, per variant; and points of those that are settled."""

    planned: int = 0
    last: int = -1
    by_variant: dict[int, int] = field(default_factory=dict)
    settled: int = 0
    total: float = 0.0
    squares: float = 0.0

    @property
    def mean(self) -> float:
        """Points per block, drawn to the middle while little is known."""
        return (self.total + 0.5) / (self.settled + 1)

    @property
    def half_width(self) -> float:
        """Half of the 95 % interval of the mean; infinite while too little is known."""
        if self.settled < LEAST_BLOCKS:
            return math.inf
        mean = self.total / self.settled
        spread = max(0.0, self.squares / self.settled - mean * mean) * self.settled / (self.settled - 1)
        # Never taken for zero: as if one more block had gone the other way.
        return Z_95 * math.sqrt(max(spread, 1 / (self.settled + 1)) / self.settled)


def plan(field: Field) -> Plan:
    forms: dict[int, Form] = {}
    met: dict[tuple[int, int], int] = {}
    used = [0] * len(field.variants)
    window, number = field.settings["window"], 0
    while True:
        answer = answered((yield Need(max(0, number - window))))
        if number >= answer.length.get("blocks", field.blocks):
            break
        precision = answer.length.get("precision", field.settings.get("precision"))
        present = answer.present
        for bot in present:
            forms.setdefault(bot, Form(min((forms[one].planned for one in present if one in forms), default=0)))
        _add(forms, answer.results)
        if precision and all(forms[bot].half_width <= precision for bot in present):
            break
        fitting = [one for one, variant in enumerate(field.variants) if variant.players <= len(present)]
        if not fitting:
            break
        variant = min(fitting, key=lambda one: (used[one], one))
        used[variant] += 1
        group = _table(field, variant, present, forms, met, number)
        for bot in group:
            form = forms[bot]
            form.planned += 1
            form.last = number
            form.by_variant[variant] = form.by_variant.get(variant, 0) + 1
            for other in group:
                if other != bot:
                    met[bot, other] = met.get((bot, other), 0) + 1
        yield Block(group, variant)
        number += 1
    return []


def _lengths(field: Field) -> dict[str, float]:
    precision: float | None = field.settings.get("precision")
    return {"blocks": field.blocks, **({"precision": precision} if precision else {})}


def _add(forms: dict[int, Form], results: Sequence[BlockResult]) -> None:
    for result in results:
        for bot, share in block_points(result).items():
            form, points = forms[bot], float(share)
            form.settled += 1
            form.total += points
            form.squares += points * points


def _table(
    field: Field,
    variant: int,
    present: Sequence[int],
    forms: dict[int, Form],
    met: dict[tuple[int, int], int],
    number: int,
) -> tuple[int, ...]:
    """The members of the next table, whoever needs it most first."""
    lot = {bot: field.tie_break("league", number, bot) for bot in present}

    def need(bot: int) -> tuple[int, int, int, int]:
        form = forms[bot]
        return form.planned, form.by_variant.get(variant, 0), form.last, lot[bot]

    table = [min(present, key=need)]
    while len(table) < field.variants[variant].players:
        others = [bot for bot in present if bot not in table]
        meetings = {bot: sum(met.get((bot, one), 0) for one in table) for bot in others}
        if field.settings["close"]:
            table.append(_nearest(others, table, forms, meetings, lot))
        else:
            table.append(min(others, key=lambda bot: (*need(bot)[:2], meetings[bot], lot[bot])))
    return tuple(table)


def _nearest(
    others: Sequence[int], table: Sequence[int], forms: dict[int, Form], meetings: dict[int, int], lot: dict[int, int]
) -> int:
    """Of those that are not a tenth ahead: near in points, with old meetings counting against."""
    least = min(forms[bot].planned for bot in forms if bot in others or bot in table)
    allowed = [bot for bot in others if forms[bot].planned <= least * 1.1 + 1] or list(others)
    usual = 1 + sum(meetings.values()) / len(meetings)
    centre = sum(forms[bot].mean for bot in table) / len(table)
    return min(allowed, key=lambda bot: (abs(forms[bot].mean - centre) + 0.1 * meetings[bot] / usual, lot[bot]))


def extent(field: Field) -> Extent:
    rounds, rest = divmod(field.blocks, len(field.variants))
    most = sum((rounds + (number < rest)) * len(variant.orders) for number, variant in enumerate(field.variants))
    return Extent(0 if field.settings.get("precision") else most, most)


FORMAT = Format(
    "league",
    "tables sampled until a budget or a precision",
    SETTINGS,
    plan,
    extent,
    seats_problem,
    per="in all",
    lengths=_lengths,
)
