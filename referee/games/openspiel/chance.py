"""OpenSpiel's probabilities as integer weights."""

from collections.abc import Sequence

TOTAL = 1 << 53
"""The sum of the weights where outcomes are not all equally likely: as fine as a float."""


def are_even(weights: Sequence[tuple[int, int]]) -> bool:
    """Whether the outcomes of a chance node, see `weights_of`, are equally likely."""
    return all(weight == 1 for _, weight in weights)


def weights_of(outcomes: Sequence[tuple[int, float]]) -> tuple[tuple[int, int], ...]:
    """Outcomes with positive integer weights: 1 each if they are equally likely, otherwise TOTAL together.

    An outcome that is listed twice is one outcome; one of probability 0 is none.
    """
    chances: dict[int, float] = {}
    for outcome, probability in outcomes:
        if probability > 0:
            chances[outcome] = chances.get(outcome, 0.0) + probability
    least, most = min(chances.values()), max(chances.values())
    if most - least <= 1e-9 * most:
        return tuple((outcome, 1) for outcome in chances)
    total = sum(chances.values())
    weights = {outcome: max(1, int(probability / total * TOTAL)) for outcome, probability in chances.items()}
    likeliest = max(weights, key=lambda outcome: weights[outcome])
    weights[likeliest] += TOTAL - sum(weights.values())
    return tuple(weights.items())
