"""Who sits together in a round, given the standing so far: as few repeated meetings as can be, then equal points.

Byes come first: at most one less than the seats of a table, and to those with the fewest byes, so that nobody has
two more than anybody else. Only then are repeated meetings avoided. Forbidden pairs never sit together: bots for which
they leave no table sit out, too.
"""

from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations

from referee.schedule.formats.matching import best_matching

Pairs = frozenset[frozenset[int]]
Met = Mapping[frozenset[int], int]
Tables = tuple[list[tuple[int, ...]], list[int]]
"""Tables, the best first, and who sits out."""

_SWEEPS = 8
_STEPS = 100_000
"""Meetings looked up in the search for tables of strangers: a tenth of a second, and enough for any field of 13."""

_EXACT = 64
"""Up to so many bots it is looked up which forbidden pairs alone are in the way: a second."""


def make_pairs(
    order: Sequence[int],
    players: int,
    points: Mapping[int, Fraction],
    met: Met,
    byes: Counter[int],
    forbidden: Pairs = frozenset(),
) -> Tables:
    """Pairs. No two meet again if any choice of byes and pairs allows it; if not, the fewest possible do.

    The best of those left picks first: someone with as many points if it can, half a score group away from it.
    """
    out: list[int] = []
    if len(order) % players:
        candidates = _bye_candidates(order, byes)
        free = (bot for bot in candidates if _can_be_paired([one for one in order if one != bot], met, forbidden))
        out = [next(free, candidates[0])]
    left = [bot for bot in order if bot not in out]
    if not forbidden or _can_be_paired(left, met, forbidden):
        return _pair_up(left, points, met, forbidden), out
    by_need = sorted(order, key=lambda bot: (-byes[bot], order.index(bot)))
    mate = maximum_matching(_allowed(by_need, forbidden))  # never leaves out a bot for the sake of a later one
    out = sorted((by_need[place] for place, other in enumerate(mate) if other == -1), key=order.index)
    left = [bot for bot in order if bot not in out]
    if _can_be_paired(left, met, forbidden):
        return _pair_up(left, points, met, forbidden), out
    return _fewest_rematches(left, points, met, forbidden), out


def _fewest_rematches(
    bots: Sequence[int], points: Mapping[int, Fraction], met: Met, forbidden: Pairs
) -> list[tuple[int, ...]]:
    """Pairs of all `bots` that keep the forbidden pairs apart, and of such pairs those with the fewest old meetings,
    then with the smallest differences of points, then of places."""
    values = sorted({points.get(bot, Fraction()) for bot in bots})
    level = {bot: values.index(points.get(bot, Fraction())) for bot in bots}
    most = len(bots) ** 3 + 1
    weights = {
        (one, other): -(
            (_met(met, bots[one], bots[other]) * most + (level[bots[one]] - level[bots[other]]) ** 2) * most
            + (other - one) ** 2
        )
        for one, other in combinations(range(len(bots)), 2)
        if frozenset((bots[one], bots[other])) not in forbidden
    }
    mate = best_matching(weights)
    return [(bots[one], bots[mate[one]]) for one in sorted(mate) if one < mate[one]]


def make_tables(
    order: Sequence[int],
    players: int,
    points: Mapping[int, Fraction],
    met: Met,
    byes: Counter[int],
    forbidden: Pairs = frozenset(),
) -> Tables:
    """Tables of three and more: neighbours in the standing, then exchanges that lower the number of old meetings. Where
    some remain, tables of strangers are looked for, with any choice of byes that is as fair, for `_STEPS` steps; then
    tables without forbidden pairs only. A table that still has one is not played."""
    kept_apart = {pair: met.get(pair, 0) + _STEPS for pair in forbidden}
    met = {**met, **kept_apart} if forbidden else met
    out = sorted(_bye_takers(order, byes, len(order) % players), key=order.index)
    left = [bot for bot in order if bot not in out]
    tables: list[list[int]] = []
    while left:
        table = [left.pop(0)]
        while len(table) < players:
            chosen = min(left, key=lambda bot: sum(met.get(frozenset((bot, one)), 0) for one in table))
            left.remove(chosen)
            table.append(chosen)
        tables.append(table)
    _exchange(tables, met)
    if any(_repeats(table, met) for table in tables):
        fresh = _fresh_round(order, players, met, byes)
        if fresh is None and any(_repeats(table, kept_apart) for table in tables):
            fresh = _fresh_round(order, players, kept_apart, byes)
        if fresh is not None:
            return fresh
    apart = [table for table in tables if not _repeats(table, kept_apart)]
    out = [bot for bot in order if not any(bot in table for table in apart)]
    return [tuple(table) for table in apart], out


def _fresh_round(order: Sequence[int], players: int, met: Met, byes: Counter[int]) -> Tables | None:
    """Tables at which nobody has met anybody, with any choice of byes that is as fair, if they are found."""
    steps = iter(range(_STEPS))
    for sitting_out, _ in zip(_bye_choices(order, byes, len(order) % players), steps, strict=False):
        fresh = _fresh_tables([bot for bot in order if bot not in sitting_out], players, met, steps)
        if fresh is not None:
            return [tuple(table) for table in fresh], sorted(sitting_out, key=order.index)
    return None


def kept_apart_by(
    order: Sequence[int], out: Sequence[int], players: int, forbidden: Pairs, met: Met | None = None
) -> list[tuple[int, int]]:
    """The forbidden pairs because of which these bots sit out, or, with `met`, because of which bots meet again, by
    place in `order`.

    Of two seats: each of them that would make one more pair possible if it were allowed.
    """
    known = met or {}
    pairs = [pair for pair in combinations(order, 2) if frozenset(pair) in forbidden and not _met(known, *pair)]
    if players == 2:
        place = {bot: number for number, bot in enumerate(order)}
        helping = helping_edges(
            _strangers(order, known, forbidden), [(place[one], place[other]) for one, other in pairs]
        )
        return [(order[one], order[other]) for one, other in helping]
    return [pair for pair in pairs if not set(out).isdisjoint(pair)]


def leave_fewer_pairs(order: Sequence[int], forbidden: Pairs, met: Met) -> bool:
    """Whether more pairs of bots that have not met would be possible if none were forbidden."""
    return has_larger_matching(_strangers(order, met, frozenset()), _strangers(order, met, forbidden))


def has_larger_matching(graph: "Graph", other: "Graph") -> bool:
    """Whether more pairs can be made of `graph` than of the other one, with the same nodes."""
    return maximum_matching(graph).count(-1) < maximum_matching(other).count(-1)


def helping_edges(graph: "Graph", edges: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Those of the edges, which are not in the graph, each of which would make its largest matchings larger: both ends
    stay free in one of them. Of a graph of more than `_EXACT` nodes: each end stays free in one of them."""
    free = _may_stay_free(graph)
    found = [(one, other) for one, other in edges if one in free and other in free]
    if len(graph) > _EXACT:
        return found
    beside = {node: _may_stay_free(_without(graph, node)) for node in {one for one, _ in found}}
    return [(one, other) for one, other in found if other in beside[one]]


def _may_stay_free(graph: "Graph") -> set[int]:
    """The nodes that stay free in some matching as large as can be."""
    mate = maximum_matching(graph)
    found: set[int] = set()
    for root in [node for node, other in enumerate(mate) if other == -1]:
        found.update(_search(graph, list(mate), root, frozenset())[1])
    return found


def _without(graph: "Graph", node: int) -> list[frozenset[int]]:
    return [frozenset() if one == node else others - {node} for one, others in enumerate(graph)]


def _fresh_tables(left: Sequence[int], players: int, met: Met, steps: Iterator[int]) -> list[tuple[int, ...]] | None:
    """Tables at which nobody has met anybody, the best of those left choosing first; None if there are none, or none
    was found while `steps` lasted."""
    if not left:
        return []
    for others in _groups_of_strangers(_strangers_to(left[0], left[1:], met, steps), players - 1, met, steps):
        table = (left[0], *others)
        rest = _fresh_tables([bot for bot in left if bot not in table], players, met, steps)
        if rest is not None:
            return [table, *rest]
    return None


def _groups_of_strangers(bots: Sequence[int], size: int, met: Met, steps: Iterator[int]) -> Iterator[tuple[int, ...]]:
    if size == 0:
        yield ()
        return
    for place, one in enumerate(bots[: len(bots) - size + 1]):
        if next(steps, None) is None:
            return
        others = _strangers_to(one, bots[place + 1 :], met, steps)
        for more in _groups_of_strangers(others, size - 1, met, steps):
            yield one, *more


def _strangers_to(one: int, bots: Sequence[int], met: Met, steps: Iterator[int]) -> list[int]:
    """Those whom `one` has not met, among as many as there are steps for."""
    return [other for other, _ in zip(bots, steps, strict=False) if not _met(met, one, other)]


def _bye_choices(order: Sequence[int], byes: Counter[int], number: int) -> Iterator[tuple[int, ...]]:
    """Whom to let sit out, each as fair as the others: those with the fewest byes; the lowest first."""
    by_need = _bye_takers(order, byes, len(order))
    last = byes[by_need[number - 1]] if number else 0
    must = [bot for bot in by_need[:number] if byes[bot] < last]
    may = [bot for bot in by_need if byes[bot] == last] if number else []
    for some in combinations(may, number - len(must)):
        yield *must, *some


def _met(met: Met, one: int, other: int) -> int:
    return met.get(frozenset((one, other)), 0)


def _repeats(table: Sequence[int], met: Met) -> int:
    return sum(met.get(frozenset(pair), 0) for pair in combinations(table, 2))


def _bye_candidates(order: Sequence[int], byes: Counter[int]) -> list[int]:
    """Those with the fewest byes, the lowest first."""
    fewest = min(byes[bot] for bot in order)
    return [bot for bot in reversed(order) if byes[bot] == fewest]


def _bye_takers(order: Sequence[int], byes: Counter[int], number: int) -> list[int]:
    return sorted(order, key=lambda bot: (byes[bot], -order.index(bot)))[:number]


def _can_be_paired(bots: Sequence[int], met: Met, forbidden: Pairs) -> bool:
    return -1 not in maximum_matching(_strangers(bots, met, forbidden))


def _strangers(bots: Sequence[int], met: Met, forbidden: Pairs) -> list[frozenset[int]]:
    """Per position in `bots` the positions of those it has not met and may meet."""
    return [
        frozenset(
            place
            for place, other in enumerate(bots)
            if other != bot and not met.get(pair := frozenset((bot, other))) and pair not in forbidden
        )
        for bot in bots
    ]


def _allowed(bots: Sequence[int], forbidden: Pairs) -> list[frozenset[int]]:
    """Per position in `bots` the positions of those it may meet, again or not."""
    return _strangers(bots, {}, forbidden)


def _pair_up(bots: Sequence[int], points: Mapping[int, Fraction], met: Met, forbidden: Pairs) -> list[tuple[int, ...]]:
    graph = _strangers(bots, met, forbidden)
    mate = maximum_matching(graph)
    left = list(range(len(bots)))
    pairs: list[tuple[int, int]] = []
    leftover: list[int] = []
    while left:
        one = left.pop(0)
        gone = frozenset(range(len(bots))) - set(left)
        for other in _wishes(one, left, bots, points):
            if other in graph[one] and (after := _with_pair(graph, mate, one, other, gone)) is not None:
                mate = after
                left.remove(other)
                pairs.append((one, other))
                break
        else:
            leftover.append(one)
    pairs += list(zip(leftover[::2], leftover[1::2], strict=True))
    return [(bots[one], bots[other]) for one, other in sorted(pairs)]


def _wishes(one: int, left: Sequence[int], bots: Sequence[int], points: Mapping[int, Fraction]) -> list[int]:
    """Whom the best of those left should meet: nearest in points, there half the group away."""
    mine = points.get(bots[one], Fraction())
    group = 1 + sum(points.get(bots[other], Fraction()) == mine for other in left)

    def distance(item: tuple[int, int]) -> tuple[Fraction, int, int]:
        place, other = item
        return mine - points.get(bots[other], Fraction()), abs(place + 1 - group // 2), place

    return [other for _, other in sorted(enumerate(left), key=distance)]


def _with_pair(
    graph: Sequence[frozenset[int]], mate: Sequence[int], one: int, other: int, gone: frozenset[int]
) -> list[int] | None:
    """The matching with this pair in it if it leaves no more of the others alone than there must be; else None."""
    after = list(mate)
    if after[one] == other:
        return after
    widows = [after[node] for node in (one, other) if after[node] != -1]
    for node in (one, other, *widows):
        after[node] = -1
    gone |= {one, other}
    if len(widows) == 2 and not any(augment(graph, after, widow, gone) for widow in widows):
        return None
    after[one], after[other] = other, one
    return after


def _exchange(tables: list[list[int]], met: Met) -> None:
    """Swap members of two tables, in place, while that lowers the number of repeated meetings."""
    for _ in range(_SWEEPS):
        better = False
        for first, second in combinations(tables, 2):
            now = _repeats(first, met) + _repeats(second, met)
            for i in range(len(first)):
                for j in range(len(second)):
                    if now == 0:
                        break
                    first[i], second[j] = second[j], first[i]
                    after = _repeats(first, met) + _repeats(second, met)
                    if after < now:
                        now, better = after, True
                    else:
                        first[i], second[j] = second[j], first[i]
        if not better:
            return


# Maximum matching in a general graph: whether bots can be paired without meeting again. Edmonds' blossom algorithm
# (Paths, trees, and flowers, 1965), contracting blossoms by their base, O(n^3).

Graph = Sequence[frozenset[int]]
"""Per node the nodes that it may be matched with."""


def maximum_matching(graph: Graph) -> list[int]:
    """Per node its mate, or -1."""
    mate = [-1] * len(graph)
    for node in range(len(graph)):
        if mate[node] == -1:
            augment(graph, mate, node, frozenset())
    return mate


def augment(graph: Graph, mate: list[int], root: int, gone: frozenset[int]) -> bool:
    """Match the free node `root` too, by changing `mate` along a path to another free node. False if there is none.

    Nodes in `gone` are not there.
    """
    return _search(graph, mate, root, gone)[0]


def _search(graph: Graph, mate: list[int], root: int, gone: frozenset[int]) -> tuple[bool, list[int]]:
    """Whether `root` was matched; if not, the nodes of which any could stay free in its place, itself one of them."""
    size = len(graph)
    base = list(range(size))
    parent = [-1] * size
    outer = [False] * size
    outer[root] = True
    queue = deque([root])
    while queue:
        node = queue.popleft()
        for other in sorted(graph[node]):
            if other in gone or base[node] == base[other] or mate[node] == other:
                continue
            if other == root or (mate[other] != -1 and parent[mate[other]] != -1):
                _contract(node, other, mate, base, parent, outer, queue)
            elif parent[other] == -1:
                parent[other] = node
                if mate[other] == -1:
                    _flip(other, mate, parent)
                    return True, []
                outer[mate[other]] = True
                queue.append(mate[other])
    return False, [node for node in range(size) if outer[node]]


def _contract(
    node: int, other: int, mate: list[int], base: list[int], parent: list[int], outer: list[bool], queue: deque[int]
) -> None:
    """An odd cycle through `node` and `other` becomes one node: that of its base."""
    top = _common_base(node, other, mate, base, parent)
    inside: set[int] = set()
    _mark(node, top, other, mate, base, parent, inside)
    _mark(other, top, node, mate, base, parent, inside)
    for one in range(len(base)):
        if base[one] in inside:
            base[one] = top
            if not outer[one]:
                outer[one] = True
                queue.append(one)


def _common_base(one: int, other: int, mate: list[int], base: list[int], parent: list[int]) -> int:
    seen: set[int] = set()
    while True:
        one = base[one]
        seen.add(one)
        if mate[one] == -1:
            break
        one = parent[mate[one]]
    while base[other] not in seen:
        other = parent[mate[base[other]]]
    return base[other]


def _mark(
    node: int, top: int, child: int, mate: list[int], base: list[int], parent: list[int], inside: set[int]
) -> None:
    while base[node] != top:
        inside |= {base[node], base[mate[node]]}
        parent[node] = child
        child = mate[node]
        node = parent[mate[node]]


def _flip(node: int, mate: list[int], parent: list[int]) -> None:
    while node != -1:
        before = parent[node]
        following = mate[before]
        mate[node], mate[before] = before, node
        node = following
