"""The orders of seats of one block."""

import math
from collections.abc import Sequence
from functools import cache
from itertools import combinations, permutations

ALL_ORDERS_UP_TO = 3
"""Seats up to which a block holds every order; with more there are too many (720 with six)."""

_MAX_PARTNER_ROUNDS = 5

Order = tuple[int, ...]


def seat_orders(players: int) -> list[Order]:
    """Orders in which the members 0..players-1 of a group take the seats, the natural one first.

    Up to three seats every order. With more the rows of a Williams square (E. J. Williams, 1949): everyone sits on
    every seat equally often, and everyone has everyone else to its left equally often.
    """
    if players <= ALL_ORDERS_UP_TO:
        return list(permutations(range(players)))
    zigzag = [(players - step // 2) % players if step % 2 == 0 else step // 2 + 1 for step in range(players)]
    rows = [tuple((member + shift) % players for member in zigzag) for shift in range(players)]
    if players % 2:
        rows += [row[::-1] for row in rows]
    # Members are named so that the first row is the natural order.
    names = {member: number for number, member in enumerate(rows[0])}
    return [tuple(names[member] for member in row) for row in rows]


@cache
def team_orders(teams: tuple[int, ...]) -> tuple[Order, ...]:
    """The orders of a block where seats of equal `teams` play together: everyone is everyone's partner equally often.

    Without teams those of `seat_orders`. With teams these are played under further names of the members, chosen one
    after the other for the most even partners, until these are even.
    """
    rows = seat_orders(len(teams))
    orders = list(rows)
    if len(set(teams)) == len(teams):
        return tuple(orders)
    for _ in range(_MAX_PARTNER_ROUNDS):
        if _unevenness(orders, teams) == 0:
            break
        orders = min(
            (orders + [tuple(names[member] for member in row) for row in rows] for names in permutations(rows[0])),
            key=lambda made: _unevenness(made, teams),
        )
    return tuple(orders)


def _unevenness(orders: Sequence[Order], teams: tuple[int, ...]) -> int:
    """Spread of how often two members are partners; squares tell apart what has the same spread."""
    partners = dict.fromkeys(combinations(range(len(teams)), 2), 0)
    for order in orders:
        for one, other in combinations(range(len(teams)), 2):
            if teams[one] == teams[other]:
                partners[min(order[one], order[other]), max(order[one], order[other])] += 1
    total, size = sum(partners.values()), len(partners)
    return sum((count * size - total) ** 2 for count in partners.values())


def count_orders(players: int) -> int:
    """`len(seat_orders(players))`."""
    if players <= ALL_ORDERS_UP_TO:
        return math.factorial(players)
    return players * (2 if players % 2 else 1)
