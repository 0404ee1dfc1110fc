"""One match of TrueSkill by message passing: teams in a chain from the best to the last (Herbrich, Minka and Graepel,
2006), in plain numbers.

Every two neighbours are compared. A comparison cuts the normal difference of their performances at the margin and
tells both teams, as a normal message, what that means for them; messages run along the chain and back until none moves
by more than `SETTLED`, at most `MOST_ROUNDS` times: the schedule and the limits of the trueskill package.
"""

import math
from collections.abc import Callable, Sequence
from typing import TypeAlias

SETTLED = 1e-4
MOST_ROUNDS = 10

Message: TypeAlias = tuple[float, float]
"""A normal as precision and precision times mean; (0, 0) says nothing."""

Cut: TypeAlias = Callable[[float, float], tuple[float, float]]
"""(difference, margin) in standard deviations -> V and W."""


def messages(teams: Sequence[Message], margins: Sequence[float], cuts: Sequence[Cut]) -> list[Message]:
    """What a match says about the performance of each team.

    `teams` are their performances before it, the best first; `margins` and `cuts` belong to each two neighbours.
    """
    last = len(teams) - 1
    from_above = [(0.0, 0.0)] * (last + 1)
    from_below = [(0.0, 0.0)] * (last + 1)
    found = [(0.0, 0.0)] * last

    def compare(place: int) -> float:
        """Bring the comparison of a team with the next one up to date; returns by how much it moved."""
        (pi, tau), (other_pi, other_tau) = teams[place], teams[place + 1]
        above, below = from_above[place], from_below[place + 1]
        pi, tau, other_pi, other_tau = pi + above[0], tau + above[1], other_pi + below[0], other_tau + below[1]
        variance = 1 / pi + 1 / other_pi
        gap = tau / pi - other_tau / other_pi
        deviation = math.sqrt(variance)
        v, w = cuts[place](gap / deviation, margins[place] / deviation)
        after_pi = 1 / (variance * (1 - w))
        after_tau = (gap / variance + v / deviation) / (1 - w)
        before_pi, before_tau = found[place]
        found[place] = after_pi - 1 / variance, after_tau - gap / variance
        return max(abs(found[place][1] - before_tau), math.sqrt(abs(found[place][0] - before_pi)))

    def downwards(place: int) -> None:
        """Tell the lower of two neighbours."""
        above = from_above[place]
        pi, tau = teams[place][0] + above[0], teams[place][1] + above[1]
        from_above[place + 1] = _through(found[place], tau / pi, 1 / pi, -1.0)

    def upwards(place: int) -> None:
        """Tell the upper one."""
        below = from_below[place + 1]
        pi, tau = teams[place + 1][0] + below[0], teams[place + 1][1] + below[1]
        from_below[place] = _through(found[place], tau / pi, 1 / pi, 1.0)

    for _ in range(MOST_ROUNDS if last > 1 else 0):
        moved = 0.0
        for place in range(last - 1):
            moved = max(moved, compare(place))
            downwards(place)
        for place in range(last - 1, 0, -1):
            moved = max(moved, compare(place))
            upwards(place)
        if moved <= SETTLED:
            break
    if last == 1:
        compare(0)
    upwards(0)
    downwards(last - 1)
    return [(a[0] + b[0], a[1] + b[1]) for a, b in zip(from_above, from_below, strict=True)]


def _through(message: Message, mean: float, variance: float, sign: float) -> Message:
    """What a comparison says of one side, the other being known as far as it is."""
    if message[0] <= 0:
        return 0.0, 0.0
    pi = 1 / (variance + 1 / message[0])
    return pi, pi * (mean + sign * message[1] / message[0])
