"""League: nobody starves, tables are even, and nothing depends on who is slow."""

from collections import Counter
from itertools import combinations
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.schedule.formats import league
from referee.schedule.formats.api import Field, Need, RoundResults, Variant
from referee.schedule.formats.simulate import simulate
from referee.schedule.seat_orders import team_orders


def field_of(bots, players=(2,), blocks=100, **given_settings):
    wanted = {setting.name: setting.default for setting in league.SETTINGS} | given_settings
    names = tuple(f"bot{number}" for number in range(bots))
    variants = tuple(Variant("toy", n, tuple(range(n)), team_orders(tuple(range(n)))) for n in players)
    return Field(names, variants, 1, blocks, wanted)


def by_strength(result, bots):
    chance = Random(f"{result.number}-{len(result.matches)}")
    worth = {bot: -bot + chance.gauss(0, 3) for bot in bots}
    return [1 + sum(worth[other] > worth[bot] for other in bots) for bot in bots]


@given(st.integers(2, 13).flatmap(lambda n: st.tuples(st.just(n), st.integers(2, min(n, 6)))), st.integers(1, 150))
@settings(max_examples=30, deadline=None)
def test_matches_per_bot_differ_by_at_most_one_block_at_any_moment(shape, blocks):
    bots, players = shape
    played = Counter(dict.fromkeys(range(bots), 0))
    for block in simulate(league.FORMAT, field_of(bots, (players,), blocks), by_strength):
        played.update(block.block.group)
        assert max(played.values()) - min(played.values()) <= 1


@pytest.mark.slow
@pytest.mark.parametrize("close", [False, True])
def test_after_a_thousand_blocks_nobody_starved_and_the_top_ten_have_all_met_sch6(close):
    bots = 20
    played, met = Counter(), Counter()
    for block in simulate(league.FORMAT, field_of(bots, (2,), 1000, close=close), by_strength):
        played.update(block.block.group)
        met[frozenset(block.block.group)] += 1
    mean = sum(played.values()) / bots
    assert all(abs(played[bot] - mean) <= 0.1 * mean for bot in range(bots))
    assert all(met[frozenset(pair)] for pair in combinations(range(10), 2))


def test_close_tables_spend_matches_where_the_order_is_unclear_sch17():
    def distance(close):
        total = 0
        for block in simulate(league.FORMAT, field_of(20, (2,), 1000, close=close), by_strength):
            one, other = block.block.group
            total += abs(one - other)
        return total

    assert distance(True) < 0.75 * distance(False)


def test_numbers_of_seats_are_mixed_evenly_and_the_leader_plays_them_all_sch5():
    kinds = Counter()
    for block in simulate(league.FORMAT, field_of(6, (2, 4), 240), by_strength):
        kinds.update((bot, len(block.block.group)) for bot in block.block.group)
    for players in (2, 4):
        counts = [kinds[bot, players] for bot in range(6)]
        assert max(counts) - min(counts) <= 1


def test_with_too_few_bots_left_tables_get_smaller_instead_of_standing_still_sch8():
    leaving = {0: 20, 1: 20}
    made = list(simulate(league.FORMAT, field_of(4, (2, 3, 4), 60), by_strength, leaving))
    late = [block.block.group for block in made if block.number > 30]
    assert late
    assert all(len(group) == 2 and not {0, 1} & set(group) for group in late)
    assert len(made) == 60


def test_a_precision_ends_the_league_before_its_budget():
    field = field_of(4, (2,), 5000, precision=0.1)
    made = list(simulate(league.FORMAT, field, by_strength))
    assert 50 < len(made) < 5000
    tighter = list(simulate(league.FORMAT, field_of(4, (2,), 5000, precision=0.05), by_strength))
    assert len(tighter) > 2 * len(made)


@pytest.mark.parametrize("all_win", [True, False])
def test_a_precision_is_not_believed_too_early_when_nothing_varies(all_win):
    def outcome(result, bots):
        return [1 + sum(other < bot for other in bots) for bot in bots] if all_win else [1] * len(bots)

    made = list(simulate(league.FORMAT, field_of(2, (2,), 5000, precision=0.1), outcome))
    assert len(made) > 2 * league.LEAST_BLOCKS


@given(st.integers(1, 40), st.integers(0, 2**32))
@settings(max_examples=12, deadline=None)
def test_results_are_used_a_window_back_so_their_order_changes_nothing(window, seed):
    """Driven with results that come in late and in bursts: the same tables as when each comes at once."""
    field = field_of(6, (2,), 120, close=True, window=window)
    calm = [block.block for block in simulate(league.FORMAT, field, by_strength)]
    chance = Random(seed)
    plan = league.FORMAT.plan(field)
    settled = list(simulate(league.FORMAT, field, by_strength))
    made, told, known, answer = [], 0, 0, None
    while True:
        try:
            step = plan.send(answer)
        except StopIteration:
            break
        answer = None
        if isinstance(step, Need):
            assert step.blocks <= max(0, len(made) - window)
            known = max(known, step.blocks, chance.randint(known, len(made)))  # more may be known already
            answer = RoundResults(tuple(settled[told : step.blocks]), field.bots, frozenset())
            told = max(told, step.blocks)
        else:
            made.append(step)
    assert made == calm


def test_who_joins_late_is_not_seated_at_every_table():
    field = field_of(6, (2,), 200)
    plan = league.FORMAT.plan(field)
    played, answer = Counter(), None
    for _ in range(400):
        step = plan.send(answer)
        answer = None
        if isinstance(step, Need):
            answer = RoundResults((), 7 if sum(played.values()) >= 120 else 6, frozenset())
        else:
            played.update(step.group)
        if sum(played.values()) == 300:
            break
    assert 20 <= played[6] <= 30
