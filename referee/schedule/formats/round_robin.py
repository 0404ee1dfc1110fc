"""Round robin: every group of bots plays `blocks` blocks, breadth first.

Block 0 of every group, then block 1 of every group, and so on, so that a run stopped anywhere is nearly fair. Several
games or numbers of seats go side by side, in proportion; a bot is in the groups of the games that it plays. A bot
that joins plays from the next cycle on, and what it has missed at the end.
"""

from collections.abc import Callable, Iterator, Sequence

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
    seats_problem,
)
from referee.schedule.formats.designs import count_groups, groups

MIRRORS = Setting("mirrors", "flag", False, "also let each bot play itself, unrated: one match per cycle and variant")
SAME_SEEDS = Setting("same_seeds", "flag", False, "in one cycle all groups play on the same seed, not each on its own")

Groups = Callable[[Sequence[int], Variant], Iterator[tuple[int, ...]]]
CountGroups = Callable[[Sequence[int], Variant], int]


def plan(field: Field) -> Plan:
    return (yield from cycles(field, lambda bots, variant: groups(bots, variant.players), _count))


def cycles(field: Field, make: Groups, count: CountGroups) -> Plan:
    """`blocks` cycles, or as many as the run was extended to, over the groups that `make` gives for all that have
    entered; `count` says how many these are.

    Who is out stays in the schedule: its matches are cancelled, those of the others keep their places.
    """
    joined: dict[int, int] = {}
    caught_up: set[int] = set()
    played = 0
    while True:
        answer = answered((yield Need(0)))
        for bot in range(answer.bots):
            joined.setdefault(bot, played)
        if played < answer.length.get("blocks", field.blocks):
            yield from _cycle(field, range(answer.bots), played, make, count)
            played += 1
        elif late := {bot for bot, cycle in joined.items() if cycle} - caught_up:
            for cycle in range(max(joined[bot] for bot in late)):
                for block in _cycle(field, sorted(joined), cycle, make, count):
                    if any(bot in late and joined[bot] > cycle for bot in block.group):
                        yield block
            caught_up |= late
        else:
            return []


def _cycle(field: Field, bots: Sequence[int], cycle: int, make: Groups, count: CountGroups) -> Iterator[Block]:
    """One block of every group. Variants advance side by side, each by its share of groups."""
    seed_group = cycle if field.settings.get("same_seeds") else None
    if field.settings.get("mirrors"):
        for number, variant in enumerate(field.variants):
            here = field.players(bots, variant.game)
            yield from (Block((bot,) * variant.players, number, cycle + 1, seed_group) for bot in here)
    sources = [make(field.players(bots, variant.game), variant) for variant in field.variants]
    sizes = [count(field.players(bots, variant.game), variant) for variant in field.variants]
    given = [0] * len(sources)
    while waiting := [number for number, size in enumerate(sizes) if given[number] < size]:
        number = min(waiting, key=lambda one: (given[one] / sizes[one], one))
        given[number] += 1
        yield Block(next(sources[number]), number, cycle + 1, seed_group)


def extent(field: Field) -> Extent:
    return cycles_extent(field, _count)


def cycles_extent(field: Field, count: CountGroups) -> Extent:
    """Matches of `cycles`."""
    here = {game: field.players(range(field.bots), game) for game in {variant.game for variant in field.variants}}
    mirrors = sum(len(here[variant.game]) for variant in field.variants) if field.settings.get("mirrors") else 0
    in_cycle = sum(count(here[variant.game], variant) * len(variant.orders) for variant in field.variants)
    total = field.blocks * (in_cycle + mirrors)
    return Extent(total, total)


def _count(bots: Sequence[int], variant: Variant) -> int:
    return count_groups(len(bots), variant.players)


FORMAT = Format(
    "round-robin",
    "every group of bots meets",
    (MIRRORS, SAME_SEEDS),
    plan,
    extent,
    seats_problem,
    uses_results=False,
    per="per group",
    lengths=by_blocks,
    by_game=True,
)
