"""Competing: on which streets a vehicle that just arrived may throw out whom, and the answers to choose from."""

from collections.abc import Mapping
from functools import cache
from itertools import combinations
from typing import NamedTuple

from referee.games.manhattan_traffiq.actions import Compete, Decline
from referee.games.manhattan_traffiq.city import City
from referee.games.manhattan_traffiq.options import Rules
from referee.games.manhattan_traffiq.streets import losers, streets_through


class Contest(NamedTuple):
    """A street on which the active seat is stronger than somebody; `losers` are the vertices that would be cleared."""

    street: str
    losers: list[int]


def contests(city: City, vertex: int, pieces: Mapping[int, int], seat: int, rules: Rules) -> tuple[Contest, ...]:
    """Those through `vertex`, where a vehicle of `seat` just arrived; horizontal before vertical."""
    found = []
    for street in streets_through(city, vertex, rules.colour_ends):
        weaker = losers(street.vertices, pieces, seat)
        if weaker:
            found.append(Contest(street.name, weaker))
    return tuple(found)


@cache
def compete_choices(streets: tuple[str, ...], street_by_street: bool) -> tuple[Decline | Compete, ...]:
    """The answers, declining first, then fewer streets before more."""
    sizes = range(1, len(streets) + 1) if street_by_street else (len(streets),)
    return (Decline(), *(Compete(chosen) for size in sizes for chosen in combinations(streets, size)))
