"""Comparison: the first two bots, A and B, under the same conditions again and again; the others are the field.

With two seats a round is one block of A against B. With more, A and B take the same seats among the same opponents on
the same seed in turn: a block with A, then the same block with B. Opponents rotate through the field. Several games and
numbers of seats are all in every round, so that a round weighs each of them alike.

`crosstown compare` writes such tournaments, and stops them by the test whose bounds are kept here.
"""

import math
from collections.abc import Iterator, Sequence
from itertools import combinations, islice

from referee.schedule.formats.api import (
    Block,
    Extent,
    Field,
    Format,
    Need,
    Plan,
    Setting,
    Variant,
    answered,
    by_blocks,
)

NAME = "compare"
SIDES = 2
"""Bots 0 and 1 are compared."""

SETTINGS = (
    Setting("low", "number", 0.5, "the score at or below which A must not be accepted", 0, 1),
    Setting("high", "number", 0.55, "the score at or above which A must not be rejected", 0, 1),
    Setting("alpha", "number", 0.05, "how often A may be accepted wrongly", 0, 0.5),
    Setting("beta", "number", 0.05, "how often A may be rejected wrongly", 0, 0.5),
    Setting("test", "word", "betting", "the sequential test", choices=("betting", "sprt"), later=True),
)


def plan(field: Field) -> Plan:
    number = 0
    while number < answered((yield Need(0))).length.get("blocks", field.blocks):
        for place, variant in enumerate(field.variants):
            seed_group = number * len(field.variants) + place
            for group in _turns(field, variant, number):
                yield Block(group, place, number, seed_group)
        number += 1
    return []


def blocks_in_round(field: Field) -> int:
    return sum(len(list(_turns(field, variant, 0))) for variant in field.variants)


def extent(field: Field) -> Extent:
    in_round = sum(len(list(_turns(field, variant, 0))) * len(variant.orders) for variant in field.variants)
    return Extent(field.blocks * in_round, field.blocks * in_round)


def check(field: Field) -> str:
    if field.settings["low"] >= field.settings["high"]:
        return f"'{NAME}.low' must be below '{NAME}.high'"
    if not field.settings["alpha"] or not field.settings["beta"]:
        return (
            f"no number of matches answers a comparison that is never wrong: '{NAME}.alpha' and '{NAME}.beta' above 0"
        )
    most = max(variant.players for variant in field.variants)
    needed = 0 if most <= SIDES else most - 1
    if field.bots < SIDES:
        return "a comparison needs two bots"
    if field.bots - SIDES < needed:
        return (
            f"a table of {most} needs {needed} bots beside the one that is compared, the field has {field.bots - SIDES}"
        )
    return ""


def _turns(field: Field, variant: Variant, number: int) -> Iterator[tuple[int, ...]]:
    if variant.players == SIDES:
        yield 0, 1
        return
    others = range(SIDES, field.bots)
    size = variant.players - 1
    turn = number % math.comb(len(others), size)
    opponents = next(islice(combinations(others, size), turn, None))
    for side in range(SIDES):
        yield side, *opponents


def classes(field: Field) -> dict[str, Sequence[int]]:
    """The two that are compared play in every round, the field takes turns."""
    return {"side": range(SIDES), "bot of the field": range(SIDES, field.bots)}


FORMAT = Format(
    NAME,
    "two bots under the same conditions",
    SETTINGS,
    plan,
    extent,
    check,
    uses_results=False,
    per="at most, one a round",
    classes=classes,
    lengths=by_blocks,
)
