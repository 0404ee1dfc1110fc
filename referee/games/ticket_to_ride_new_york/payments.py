"""Where paid cards came from that nobody had seen a seat get: places for them among its unseen draws.

A *unit* is one such card: (seat, number of the card, end), drawn before position `end`. It takes one of the seat's
draws and one card of that layer's pool. With one layer any place will do; with several, one unit's choice can leave
none to another's. So units are put where they disturb least, turning out others if need be; a unit that was turned
out of a layer stays away from it for a while.
"""

from collections.abc import Sequence
from random import Random
from typing import TypeAlias

Unit: TypeAlias = tuple[int, int, int]

_STEPS = 600
"""Of one search, before it starts again; a search that succeeds takes hardly more than four for each unit."""
_SEARCHES = 400
_DISTURBS, _TOO_SOON = 2, 3
"""What it costs to turn out a unit, and to go back."""
_AWAY = 5, 15
"""For how many steps a unit stays away, at least and below."""
_NOBODY = -1


def place_units(
    units: Sequence[Unit],
    owners: bytes,
    starts: Sequence[int],
    pools: Sequence[Sequence[int]],
    open_at: set[int],
    rng: Random,
) -> list[tuple[int, Unit]] | None:
    """Per unit a position of `open_at`; None if no places were found.

    `starts` are the positions where the layers begin, and the end; `pools` seven counts per layer.
    """
    layer_of = [layer for layer in range(len(pools)) for _ in range(starts[layer], starts[layer + 1])]
    choices = [
        [at for at in range(end) if owners[at] == seat and at in open_at and pools[layer_of[at]][card - 1]]
        for seat, card, end in units
    ]
    if not all(choices):
        return None
    for _ in range(_SEARCHES):
        placed = _search(units, choices, layer_of, pools, rng)
        if placed is not None:
            return list(zip(placed, units, strict=True))
    return None


def _search(
    units: Sequence[Unit],
    choices: Sequence[Sequence[int]],
    layer_of: Sequence[int],
    pools: Sequence[Sequence[int]],
    rng: Random,
) -> list[int] | None:
    """Per unit its position."""
    left = [list(pool) for pool in pools]
    taker = [_NOBODY] * len(layer_of)
    place = [_NOBODY] * len(units)
    away: dict[tuple[int, int], int] = {}
    waiting = list(range(len(units)))
    for step in range(_STEPS):
        if not waiting:
            return place
        unit = waiting.pop(int(rng.random() * len(waiting)))
        card = units[unit][1]
        costs = []
        for at in choices[unit]:
            layer, other = layer_of[at], taker[at]
            cost = 0 if other == _NOBODY else _DISTURBS
            if not left[layer][card - 1] and (other == _NOBODY or units[other][1] != card):
                cost += _DISTURBS
            if away.get((unit, layer), 0) > step:
                cost += _TOO_SOON
            costs.append(cost)
        least = min(costs)
        best = [at for at, cost in zip(choices[unit], costs, strict=True) if cost == least]
        at = best[int(rng.random() * len(best))]
        layer = layer_of[at]
        turned_out = [taker[at]] if taker[at] != _NOBODY else []
        if not left[layer][card - 1] and not (turned_out and units[turned_out[0]][1] == card):
            same = [
                other
                for other, (_, kind, _) in enumerate(units)
                if kind == card and place[other] != _NOBODY and layer_of[place[other]] == layer
            ]
            turned_out.append(rng.choice(same))
        for other in turned_out:
            taker[place[other]], place[other] = _NOBODY, _NOBODY
            left[layer][units[other][1] - 1] += 1
            away[other, layer] = step + rng.randrange(*_AWAY)
            waiting.append(other)
        taker[at], place[unit] = unit, at
        left[layer][card - 1] -= 1
    return None
