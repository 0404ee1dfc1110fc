"""The orders of seats of one block."""

import math
from itertools import permutations

ALL_ORDERS_UP_TO = 3
"""Seats up to which a block holds every order; with more there are too many (720 with six)."""


def seat_orders(players: int) -> list[tuple[int, ...]]:
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


def count_orders(players: int) -> int:
    """`len(seat_orders(players))`."""
    if players <= ALL_ORDERS_UP_TO:
        return math.factorial(players)
    return players * (2 if players % 2 else 1)
