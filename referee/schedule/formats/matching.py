"""The best matching of a weighted graph: who is paired when some pairs are better than others."""

from collections.abc import Mapping


def best_matching(weights: Mapping[tuple[int, int], int], *, most_pairs: bool = True) -> dict[int, int]:
    """Per node its mate: of the matchings with the most pairs, or of all, the one with the greatest sum of weights.
    These are exact whole numbers of any size. Nodes that stay alone are not in it."""
    import networkx  # takes a fifth of a second, and few schedules need it

    graph = networkx.Graph()
    graph.add_nodes_from(sorted({node for pair in weights for node in pair}))
    graph.add_weighted_edges_from((one, other, weight) for (one, other), weight in sorted(weights.items()))
    pairs = networkx.max_weight_matching(graph, maxcardinality=most_pairs)
    return {one: other for pair in pairs for one, other in (pair, pair[::-1])}
