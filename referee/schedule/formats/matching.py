"""Maximum matching in a general graph: whether bots can be paired without meeting again.

Edmonds' blossom algorithm (Paths, trees, and flowers, 1965), contracting blossoms by their base, O(n^3).
"""

from collections import deque
from collections.abc import Sequence

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
                    return True
                outer[mate[other]] = True
                queue.append(mate[other])
    return False


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
