"""Thirty accounts that throw games: the simulation whose table docs/ladder_security.md shows."""

import pytest

from benchmarks.many_accounts import ACCOMPLICES, BLOCKS, CHEATER, field_of, lift, play


@pytest.mark.slow
@pytest.mark.parametrize("cheater_approved", [False, True])
@pytest.mark.parametrize("seed", [0, 1])
def test_thirty_accounts_that_throw_games_lift_one_bot_by_less_than_one_sigma(
    seed: int, cheater_approved: bool
) -> None:
    assert abs(lift(seed, cheater_approved=cheater_approved, accomplices_approved=False)) < 1


def test_without_the_rule_they_lift_it_by_many() -> None:
    assert lift(0, cheater_approved=True, accomplices_approved=True) > 3


def test_the_accomplices_do_throw_and_no_bot_meets_one_owner_too_often() -> None:
    bots = field_of(3, throws=True, cheater_approved=True, accomplices_approved=True)
    division = play(bots, 3)
    thrown = [
        row for row in division.rows
        if any(seat.name == CHEATER for seat in row.seats) and any(bots[seat.name].throws for seat in row.seats)
    ]  # fmt: skip
    assert len(thrown) > 10
    assert all(seat.rank == 1 for row in thrown for seat in row.seats if seat.name == CHEATER)
    assert sum(bot.throws for bot in bots.values()) == ACCOMPLICES
    assert len(division.rows) == BLOCKS * len(bots) // 2 * 2
    for bot in bots.values():
        if bot.blocks >= 10 and bot.met:
            assert max(bot.met.values()) <= bot.blocks * 0.2 + 1
