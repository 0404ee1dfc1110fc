"""Gauntlet: some bots against the rest. Every table has one challenger; the rest never play without one.

With two seats each challenger plays each of the rest; with more, each challenger joins every group of the rest that
fills the other seats. Breadth first, as in a round robin.
"""

from collections.abc import Callable, Iterator, Sequence

from referee.schedule.formats.api import Extent, Field, Format, Plan, Setting, Variant, by_blocks, seats_problem
from referee.schedule.formats.designs import count_groups, groups
from referee.schedule.formats.round_robin import SAME_SEEDS, cycles, cycles_extent

CHALLENGERS = Setting("challengers", "bots", None, "names of those who run the gauntlet; left out: the first bot")


def plan(field: Field) -> Plan:
    ours = challengers(field)

    def make(bots: Sequence[int], variant: Variant) -> Iterator[tuple[int, ...]]:
        here = [bot for bot in bots if bot in ours]
        rest = [bot for bot in bots if bot not in ours]
        for group in groups(rest, variant.players - 1):
            yield from ((bot, *group) for bot in here)

    return (yield from cycles(field, make, _counter(field)))


def _counter(field: Field) -> Callable[[Sequence[int], Variant], int]:
    ours = challengers(field)

    def count(bots: Sequence[int], variant: Variant) -> int:
        here = sum(bot in ours for bot in bots)
        return here * count_groups(len(bots) - here, variant.players - 1)

    return count


def extent(field: Field) -> Extent:
    return cycles_extent(field, _counter(field))


def check(field: Field) -> str:
    ours = challengers(field)
    for variant in sorted(field.variants, key=lambda variant: -variant.players):
        here = field.players(range(field.bots), variant.game)
        seated = sum(bot in ours for bot in here)
        if not seated or len(here) - seated < variant.players - 1:
            return (
                f"a table of {variant.players} needs one challenger and {variant.players - 1} of the rest, there are"
                f" {seated} challengers and {len(here) - seated} others who play {variant.game}"
            )
    return seats_problem(field)


def challengers(field: Field) -> tuple[int, ...]:
    """One of which sits at every table; a bot that joins later is none."""
    names = field.settings.get("challengers") or field.names[:1]
    return tuple(field.names.index(name) for name in names)


def classes(field: Field) -> dict[str, Sequence[int]]:
    """Challengers play more than the rest, and nobody plays its own kind."""
    ours = challengers(field)
    return {"challenger": ours, "bot of the rest": [bot for bot in range(field.bots) if bot not in ours]}


FORMAT = Format(
    "gauntlet",
    "some bots against the rest",
    (CHALLENGERS, SAME_SEEDS),
    plan,
    extent,
    check,
    uses_results=False,
    per="per table",
    classes=classes,
    lengths=by_blocks,
    by_game=True,
)
