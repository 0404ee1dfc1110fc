"""Orders of groups in which everyone plays equally often, meets everyone equally often, and nobody waits long."""

import math
from collections.abc import Iterator, Sequence
from itertools import combinations, islice

_POOL = 64
"""Orbits looked at to find the one that evens meetings out best; bounds the memory for large fields."""


def groups(bots: Sequence[int], size: int) -> Iterator[tuple[int, ...]]:
    """Every group of `size` out of `bots` once, breadth first. Lazy, in memory that does not grow with the number."""
    if size == 1:
        yield from ((bot,) for bot in bots)
    elif size == 2:
        yield from _pairs(bots)
    elif size <= len(bots):
        yield from (tuple(bots[member] for member in group) for group in _rotations(len(bots), size))


def count_groups(bots: int, size: int) -> int:
    return math.comb(bots, size)


def _pairs(bots: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Circle method: the first stays, the others go round; with an odd number each sits out one round."""
    ring: list[int | None] = [*range(len(bots)), *([None] if len(bots) % 2 else [])]
    for _ in range(len(ring) - 1):
        for one, other in zip(ring[: len(ring) // 2], reversed(ring), strict=False):
            if one is not None and other is not None:
                yield bots[min(one, other)], bots[max(one, other)]
        ring.insert(1, ring.pop())


def _rotations(bots: int, size: int) -> Iterator[tuple[int, ...]]:
    """All subsets, one orbit under rotation after the other: in a whole orbit everyone plays equally often.

    Pairs meet as often as their difference occurs in the orbit's subset, so orbits are chosen to even differences
    out: a difference family (R. C. Bose, 1939), such as {0, 1, 3} for seven bots, comes first where there is one.
    """
    half = bots // 2
    met = [0] * (half + 1)
    played = [0] * bots
    source = _orbits(bots, size)
    pool = list(islice(source, _POOL))
    while pool:
        best = min(pool, key=lambda subset: _unevenness(met, subset, bots))
        pool.remove(best)
        pool += islice(source, 1)
        for one, other in combinations(best, 2):
            difference = min(other - one, bots - other + one)
            met[difference] += 2 if 2 * difference == bots else 1
        yield from _shifts(best, bots, played)


def _unevenness(met: Sequence[int], subset: Sequence[int], bots: int) -> tuple[int, int, tuple[int, ...]]:
    after = list(met)
    for one, other in combinations(subset, 2):
        difference = min(other - one, bots - other + one)
        after[difference] += 2 if 2 * difference == bots else 1
    counts = after[1:]
    return max(counts) - min(counts), sum(count * count for count in counts), tuple(subset)


def _shifts(subset: Sequence[int], bots: int, played: list[int]) -> Iterator[tuple[int, ...]]:
    """The rotations of one subset, always one of those whose members have played least. Counts in `played`."""
    left: dict[tuple[int, ...], None] = {}
    for shift in range(bots):
        left[tuple(sorted((member + shift) % bots for member in subset))] = None
    while left:
        group = min(
            left, key=lambda members: (max(played[bot] for bot in members), sum(played[bot] for bot in members))
        )
        del left[group]
        for bot in group:
            played[bot] += 1
        yield group


def _orbits(bots: int, size: int) -> Iterator[tuple[int, ...]]:
    """One subset of each orbit under rotation: that whose gaps are the least of their rotations."""
    for gaps in _compositions(bots, size):
        if all(gaps <= gaps[turn:] + gaps[:turn] for turn in range(1, size)):
            members = [0]
            for gap in gaps[:-1]:
                members.append(members[-1] + gap)
            yield tuple(members)


def _compositions(total: int, parts: int, least: int = 1) -> Iterator[tuple[int, ...]]:
    """Positive gaps that add up to `total`, none below the first one, which is what a least rotation needs."""
    for first in range(least, total // parts + 1):
        yield from _rest((first,), total - first, parts - 1)


def _rest(given: tuple[int, ...], total: int, parts: int) -> Iterator[tuple[int, ...]]:
    least = given[0]
    if parts == 0:
        if total == 0:
            yield given
        return
    for gap in range(least, total - least * (parts - 1) + 1) if parts > 1 else (total,):
        if gap >= least:
            yield from _rest((*given, gap), total - gap, parts - 1)
