"""The seat orders of a block are fair to everyone in a group."""

from collections import Counter
from itertools import pairwise

import pytest

from referee.schedule.seat_orders import count_orders, seat_orders


@pytest.mark.parametrize("players", [2, 3, 4, 5, 6, 7])
def test_each_order_is_a_different_permutation_and_the_first_is_the_natural_one(players: int) -> None:
    orders = seat_orders(players)
    assert orders[0] == tuple(range(players))
    assert len(set(orders)) == len(orders) == count_orders(players)
    assert all(sorted(order) == list(range(players)) for order in orders)


@pytest.mark.parametrize("players", [2, 3, 4, 5, 6, 7])
def test_everyone_sits_on_every_seat_equally_often(players: int) -> None:
    taken = Counter((seat, member) for order in seat_orders(players) for seat, member in enumerate(order))
    assert len(taken) == players**2
    assert len(set(taken.values())) == 1


@pytest.mark.parametrize("players", [2, 3, 4, 5, 6, 7])
def test_everyone_follows_everyone_else_equally_often(players: int) -> None:
    followed = Counter(pair for order in seat_orders(players) for pair in pairwise(order))
    assert len(followed) == players * (players - 1)
    assert len(set(followed.values())) == 1


@pytest.mark.parametrize(("players", "orders"), [(2, 2), (3, 6), (4, 4), (5, 10), (6, 6)])
def test_many_seats_need_few_orders(players: int, orders: int) -> None:
    assert count_orders(players) == orders
