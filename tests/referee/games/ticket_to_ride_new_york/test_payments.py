"""Places for paid cards among unseen draws, against trying them all."""

from itertools import permutations
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.games.ticket_to_ride_new_york.payments import Unit, place_units


@st.composite
def played(draw: st.DrawFn) -> tuple[list[Unit], bytes, list[int], list[list[int]]]:
    """Draws from small layers by two seats, and payments out of them as they could have been made."""
    owners: list[int] = []
    starts = [0]
    pools: list[list[int]] = []
    units: list[Unit] = []
    hands: dict[int, list[int]] = {0: [], 1: []}
    for _ in range(draw(st.integers(1, 3))):
        pool = [0] * 7
        for _ in range(draw(st.integers(0, 4))):
            seat, card = draw(st.integers(0, 1)), draw(st.integers(1, 3))
            owners.append(seat)
            hands[seat].append(card)
            pool[card - 1] += 1
            for payer in (0, 1):
                while hands[payer] and draw(st.booleans()):
                    paid = hands[payer].pop(draw(st.integers(0, len(hands[payer]) - 1)))
                    units.append((payer, paid, len(owners)))
        starts.append(len(owners))
        pools.append(pool)
    return units, bytes(owners), starts, pools


@given(played(), st.integers(0, 5))
@settings(max_examples=300, deadline=None)
def test_there_are_places_for_what_was_really_paid(
    match: tuple[list[Unit], bytes, list[int], list[list[int]]], seed: int
) -> None:
    units, owners, starts, pools = match
    placed = place_units(units, owners, starts, pools, set(range(len(owners))), Random(seed))
    assert placed is not None
    check(placed, units, owners, starts, pools)


def check(
    placed: list[tuple[int, Unit]], units: list[Unit], owners: bytes, starts: list[int], pools: list[list[int]]
) -> None:
    assert sorted(unit for _, unit in placed) == sorted(units)
    assert len({at for at, _ in placed}) == len(placed)
    left = [pool[:] for pool in pools]
    for at, (seat, card, end) in placed:
        layer = max(number for number, start in enumerate(starts[:-1]) if start <= at and at < starts[number + 1])
        assert owners[at] == seat
        assert at < end
        left[layer][card - 1] -= 1
        assert left[layer][card - 1] >= 0


def tight() -> tuple[list[Unit], bytes, list[int], list[list[int]]]:
    """Seat 0 has paid all it drew, and only one way fits: red of the first and third deck, blue of the second."""
    pools = [[2, 0, 0, 1, 0, 0, 0], [0, 0, 0, 1, 0, 0, 1], [1, 0, 0, 0, 0, 0, 0]]
    return [(0, 1, 5), (0, 4, 5), (0, 1, 5)], bytes([0, 1, 1, 0, 0]), [0, 3, 4, 5], pools


@pytest.mark.parametrize("seed", range(20))
def test_the_only_way_is_found(seed: int) -> None:
    units, owners, starts, pools = tight()
    placed = place_units(units, owners, starts, pools, set(range(5)), Random(seed))
    assert placed is not None
    check(placed, units, owners, starts, pools)


def test_what_cannot_be_placed_is_told() -> None:
    units, owners, starts, pools = tight()
    assert place_units([*units, (1, 2, 5)], owners, starts, pools, set(range(5)), Random(0)) is None
    assert place_units([(0, 1, 0)], owners, starts, pools, set(range(5)), Random(0)) is None


def test_all_ways_that_fit_come_up() -> None:
    owners, starts, pools = bytes([0, 0, 0]), [0, 2, 3], [[1, 1, 0, 0, 0, 0, 0], [1, 0, 0, 0, 0, 0, 0]]
    units: list[Unit] = [(0, 1, 3), (0, 2, 3)]
    found = set()
    for seed in range(200):
        placed = place_units(units, owners, starts, pools, {0, 1, 2}, Random(seed))
        assert placed is not None
        found.add(tuple(sorted((at, unit[1]) for at, unit in placed)))
    layers = (0, 0, 1)
    fitting = {
        tuple(sorted(zip(places, (1, 2), strict=True)))
        for places in permutations(range(3), 2)
        if pools[layers[places[0]]][0] and pools[layers[places[1]]][1]
    }
    assert found == fitting
