"""Swiss and knockout: who meets whom in a round, who sits out, who goes on."""

import random
from collections import Counter, defaultdict
from fractions import Fraction
from functools import cache
from itertools import combinations, pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.schedule.formats import knockout, swiss
from referee.schedule.formats.api import Field, Need, RoundResults, Variant
from referee.schedule.formats.pairing import make_tables, maximum_matching
from referee.schedule.formats.points import block_points
from referee.schedule.formats.simulate import simulate
from referee.schedule.seat_orders import team_orders

FIELDS = st.integers(2, 13).flatmap(lambda bots: st.tuples(st.just(bots), st.integers(2, min(bots, 6))))


def field_of(style, bots, players=2, blocks=1, **given_settings):
    wanted = {setting.name: setting.default for setting in style.settings} | given_settings
    teams = tuple(range(players))
    names = tuple(f"bot{number}" for number in range(bots))
    return Field(names, (Variant("toy", players, teams, team_orders(teams)),), 1, blocks, wanted)


def played_out(style, field, outcome, leaving=None):
    blocks = []
    running = simulate(style, field, outcome, leaving)
    while True:
        try:
            blocks.append(next(running))
        except StopIteration as end:
            return blocks, end.value


def by_strength(result, bots):
    return [1 + sum(other < bot for other in bots) for bot in bots]


def by_weakness(result, bots):
    return [1 + sum(other > bot for other in bots) for bot in bots]


def all_draw(result, bots):
    return [1] * len(bots)


def by_table(table):
    """Results drawn by hypothesis: per block number and bot a worth; ties are possible."""

    def outcome(result, bots):
        worth = [table[(result.number * 13 + bot) % len(table)] for bot in bots]
        return [1 + sum(other > one for other in worth) for one in worth]

    return outcome


WORTHS = st.lists(st.integers(0, 3), min_size=1, max_size=40)


def rounds_of(blocks):
    """Per round its tables, in order."""
    found = defaultdict(list)
    for block in blocks:
        if block.block.group not in found[block.block.round]:
            found[block.block.round].append(block.block.group)
    return [found[number] for number in sorted(found)]


def fewest_rematches(bots, met):
    """By trying everything: how many old meetings a pairing of `bots` (an even number) cannot do without."""

    @cache
    def least(left):
        if not left:
            return 0
        first, *rest = left
        return min(
            (frozenset((first, other)) in met) + least(tuple(one for one in rest if one != other)) for other in rest
        )

    return least(tuple(bots))


# Swiss


@given(st.integers(2, 9), st.integers(1, 9), WORTHS)
@settings(max_examples=30, deadline=None)
def test_nobody_meets_anybody_twice_while_that_is_avoidable(bots, rounds, worths):
    blocks, _ = played_out(swiss.FORMAT, field_of(swiss.FORMAT, bots, rounds=rounds), by_table(worths))
    met = set()
    byes = Counter(dict.fromkeys(range(bots), 0))
    for tables in rounds_of(blocks):
        playing = sorted(bot for group in tables for bot in group)
        repeated = sum(frozenset(group) in met for group in tables)
        out = set(range(bots)) - set(playing)
        # Whoever could have sat out instead, by the rule of byes, would not have saved a meeting.
        fewest = min(byes.values())
        could = [bot for bot in range(bots) if byes[bot] == fewest] if out else [None]
        best = min(fewest_rematches([bot for bot in range(bots) if bot != one], met) for one in could)
        assert repeated == best if best == 0 or not out else repeated <= fewest_rematches(playing, met)
        met |= {frozenset(group) for group in tables}
        byes.update(out)


def strangers_can_be_seated(bots, players, met):
    """By trying everything: whether tables are possible at which nobody meets anybody again."""

    @cache
    def possible(left):
        if not left:
            return True
        first, *rest = left
        free = [bot for bot in rest if frozenset((first, bot)) not in met]
        return any(
            possible(tuple(bot for bot in rest if bot not in others))
            for others in combinations(free, players - 1)
            if not any(frozenset(pair) in met for pair in combinations(others, 2))
        )

    return possible(tuple(sorted(bots)))


def fair_byes(bots, byes, number):
    """All sets of bots that may sit out: nobody does while somebody outside has fewer byes."""
    return [
        set(some)
        for some in combinations(range(bots), number)
        if max((byes[bot] for bot in some), default=0) <= min(byes[bot] for bot in range(bots) if bot not in some)
    ]


@pytest.mark.slow
@pytest.mark.parametrize("players", [2, 3, 4, 5, 6])
@pytest.mark.parametrize("bots", range(2, 14))
@pytest.mark.parametrize("seed", [1, 2])
def test_nobody_meets_anybody_again_at_tables_of_any_size_while_that_is_avoidable(bots, players, seed):
    if players > bots:
        assert swiss.FORMAT.check(field_of(swiss.FORMAT, bots, players)) != ""
        return
    worths = random.Random(seed * 1000 + bots * 10 + players).choices(range(4), k=40)
    blocks, _ = played_out(swiss.FORMAT, field_of(swiss.FORMAT, bots, players, rounds=6), by_table(worths))
    met, byes = set(), Counter()
    for tables in rounds_of(blocks):
        pairs = [frozenset(pair) for group in tables for pair in combinations(group, 2)]
        if any(pair in met for pair in pairs):
            for out in fair_byes(bots, byes, bots % players):
                assert not strangers_can_be_seated(set(range(bots)) - out, players, met), (tables, out)
        met.update(pairs)
        byes.update(set(range(bots)) - {bot for group in tables for bot in group})


class CountedMeetings(Counter):
    """Meetings that say how often they were looked up, and give up when that is far too often."""

    def __init__(self, bots, most):
        super().__init__(dict.fromkeys(map(frozenset, combinations(range(bots), 2)), 1))
        self.looks, self.most = 0, most

    def get(self, pair, default=None):
        self.looks += 1
        assert self.looks <= self.most, "the search goes on for too long"
        return super().get(pair, default)


@pytest.mark.parametrize(("bots", "players"), [(41, 6), (35, 6), (23, 4)])
def test_the_search_for_tables_of_strangers_ends_where_all_have_met(bots, players):
    # Of 41 bots, 749,398 sets of five may sit out; to look at them all takes minutes.
    met = CountedMeetings(bots, most=500_000)
    tables, out = make_tables(range(bots), players, {}, met, Counter())
    assert len(out) == bots % players
    assert sorted([*out, *(bot for table in tables for bot in table)]) == list(range(bots))


@pytest.mark.parametrize("bots", [29, 35])
def test_the_search_for_tables_of_strangers_ends_where_nearly_all_have_met(bots):
    met = CountedMeetings(bots, most=500_000)
    for pair in combinations(range(0, bots, 2), 2):
        del met[frozenset(pair)]
    tables, _ = make_tables(range(bots), 6, {}, met, Counter())
    assert len(tables) == bots // 6


@given(FIELDS, st.integers(1, 8), WORTHS)
@settings(max_examples=40, deadline=None)
def test_byes_are_few_and_go_round(shape, rounds, worths):
    bots, players = shape
    field = field_of(swiss.FORMAT, bots, players, rounds=rounds)
    blocks, table = played_out(swiss.FORMAT, field, by_table(worths))
    byes = Counter(dict.fromkeys(range(bots), 0))
    made = rounds_of(blocks)
    assert len(made) == rounds
    for tables in made:
        out = set(range(bots)) - {bot for group in tables for bot in group}
        assert len(out) == bots % players < players
        byes.update(out)
        assert max(byes.values()) - min(byes.values()) <= 1
    assert {row.bot: row.columns["byes"] for row in table} == {bot: str(byes[bot]) for bot in range(bots)}


def test_the_best_of_an_odd_field_comes_first_without_meeting_all():
    blocks, table = played_out(swiss.FORMAT, field_of(swiss.FORMAT, 13), by_strength)
    assert len(rounds_of(blocks)) == 4
    assert [row.bot for row in table[:2]] == [0, 1]
    assert table[0].rank == 1


def test_those_with_equal_points_meet():
    blocks, _ = played_out(swiss.FORMAT, field_of(swiss.FORMAT, 8, rounds=3), by_strength)
    first, second, third = rounds_of(blocks)
    assert first == [(0, 4), (1, 5), (2, 6), (3, 7)]
    assert second == [(0, 2), (1, 3), (4, 6), (5, 7)]
    assert third[0] == (0, 1)


def test_ties_are_broken_by_buchholz_then_sonneborn_berger():
    _, table = played_out(swiss.FORMAT, field_of(swiss.FORMAT, 8, rounds=3), by_strength)
    assert [row.columns["points"] for row in table] == ["3", "2", "2", "2", "1", "1", "1", "0"]
    keys = [tuple(float(row.columns[name]) for name in ("points", "buchholz", "sonneborn-berger")) for row in table]
    assert keys == sorted(keys, reverse=True)
    ranks = [row.rank for row in table]
    assert all((one == other) == (keys[i] == keys[i + 1]) for i, (one, other) in enumerate(pairwise(ranks)))


@pytest.mark.parametrize(("players", "bye", "points"), [(2, None, "1"), (4, None, "0.5"), (2, 0.5, "0.5")])
def test_what_a_bye_is_worth(players, bye, points):
    field = field_of(swiss.FORMAT, players + 1, players, rounds=1, bye=bye)
    _, table = played_out(swiss.FORMAT, field, all_draw)
    (sat_out,) = [row for row in table if row.columns["byes"] == "1"]
    assert sat_out.columns["points"] == points


def as_it_stands(field, results=()):
    """The table of somebody who looks while the first round goes on."""
    plan = swiss.FORMAT.plan(field)
    next(plan)
    step = plan.send(RoundResults((), field.bots, frozenset()))
    while not isinstance(step, Need):
        step = next(plan)
    with pytest.raises(StopIteration) as end:
        plan.send(RoundResults(tuple(results), field.bots, frozenset(), over=True))
    return [(row.bot, row.rank, row.columns["points"], row.columns["byes"]) for row in end.value.value]


def test_a_bye_counts_when_its_round_is_over_and_not_before():
    field = field_of(swiss.FORMAT, 3, blocks=2, rounds=2)
    assert as_it_stands(field) == [(0, 1, "0", "0"), (1, 1, "0", "0"), (2, 1, "0", "0")]
    first = next(simulate(swiss.FORMAT, field, by_strength))
    assert as_it_stands(field, [first]) == [(0, 1, "0.5", "0"), (1, 2, "0", "0"), (2, 3, "0", "0")]
    _, table = played_out(swiss.FORMAT, field, by_strength)
    assert [(row.bot, row.columns["points"], row.columns["byes"]) for row in table] == [
        (0, "2", "0"),
        (1, "1", "1"),
        (2, "1", "1"),
    ]


def test_who_withdraws_is_paired_no_more_and_its_opponent_gets_the_match_sch13():
    field = field_of(swiss.FORMAT, 6, rounds=3)
    blocks, table = played_out(swiss.FORMAT, field, by_weakness, leaving={5: 2})
    assert len(rounds_of(blocks)) == 3
    gone_at = next(block for block in blocks if 5 in block.block.group)
    (other,) = set(gone_at.block.group) - {5}
    assert not gone_at.complete
    assert block_points(gone_at) == {5: Fraction(0), other: Fraction(1)}
    assert all(5 not in block.block.group for block in blocks if block.number > gone_at.number)
    assert len(table) == 6


@given(st.integers(2, 10), st.data())
@settings(max_examples=40, deadline=None)
def test_the_matching_is_as_large_as_trying_everything(nodes, data):
    pairs = data.draw(st.sets(st.sampled_from(list(combinations(range(nodes), 2)))))
    graph = [
        frozenset({a for a, b in pairs if b == node} | {b for a, b in pairs if a == node}) for node in range(nodes)
    ]
    mate = maximum_matching(graph)
    for node, other in enumerate(mate):
        assert other == -1 or (mate[other] == node and other in graph[node])

    @cache
    def most(left):
        if not left:
            return 0
        first, *rest = left
        without = most(tuple(rest))
        return max([without, *(1 + most(tuple(o for o in rest if o != one)) for one in rest if one in graph[first])])

    assert sum(other != -1 for other in mate) // 2 == most(tuple(range(nodes)))


# Knockout


@given(FIELDS, WORTHS, st.integers(1, 3))
@settings(max_examples=50, deadline=None)
def test_a_knockout_ends_with_one_bot_and_byes_are_few(shape, worths, best_of):
    bots, players = shape
    field = field_of(knockout.FORMAT, bots, players, best_of=best_of)
    blocks, table = played_out(knockout.FORMAT, field, by_table(worths))
    assert [row.rank for row in table].count(1) == 1
    assert sorted(row.bot for row in table) == list(range(bots))
    tables = [len(made) for made in rounds_of(blocks)]
    assert tables == sorted(tables, reverse=True)
    assert tables[-1] == 1


@given(FIELDS, st.randoms(use_true_random=False))
@settings(max_examples=50, deadline=None)
def test_at_most_one_less_than_a_table_sits_out_and_byes_go_round(shape, chance):
    bots, players = shape
    alive, byes = list(range(bots)), Counter()
    while len(alive) >= players:
        ties, out = knockout.draw(alive, players, byes, max(1, players // 2))
        assert len(out) == len(alive) % players
        assert sorted([*out, *(bot for tie in ties for bot in tie.members)]) == sorted(alive)
        byes.update(out)
        assert max(byes[bot] for bot in alive) - min(byes[bot] for bot in alive) <= 1
        alive = out + [bot for tie in ties for bot in chance.sample(tie.members, tie.advance)]


def test_the_best_meet_late_and_the_strongest_wins():
    blocks, table = played_out(knockout.FORMAT, field_of(knockout.FORMAT, 8), by_strength)
    assert rounds_of(blocks) == [[(0, 7), (1, 6), (2, 5), (3, 4)], [(0, 3), (1, 2)], [(0, 1)]]
    assert [(row.bot, row.rank) for row in table] == [(0, 1), (1, 2), (2, 3), (3, 3), (4, 5), (5, 5), (6, 5), (7, 5)]


def test_with_an_odd_field_one_bot_a_round_sits_out_and_not_always_the_same():
    blocks, table = played_out(knockout.FORMAT, field_of(knockout.FORMAT, 5), by_strength)
    assert rounds_of(blocks) == [[(1, 4), (2, 3)], [(0, 2)], [(0, 1)]]
    assert table[0].bot == 0


def test_best_of_ends_when_the_result_is_out_of_reach():
    blocks, _ = played_out(knockout.FORMAT, field_of(knockout.FORMAT, 2, best_of=5), by_strength)
    assert len(blocks) == 3


def test_a_tie_gets_extra_blocks_then_the_higher_seed_goes_on():
    blocks, table = played_out(knockout.FORMAT, field_of(knockout.FORMAT, 2, best_of=3, extra=2), all_draw)
    assert len(blocks) == 5
    assert table[0].bot == 0


def test_an_extra_block_that_is_won_decides():
    def outcome(result, bots):
        return [1 + (bot == 0) for bot in bots] if result.number == 3 else [1, 1]

    blocks, table = played_out(knockout.FORMAT, field_of(knockout.FORMAT, 2, best_of=3, extra=2), outcome)
    assert len(blocks) == 4
    assert table[0].bot == 1


def test_tables_of_four_send_half_on_and_the_best_of_the_fallen_fill_the_last_table():
    blocks, table = played_out(knockout.FORMAT, field_of(knockout.FORMAT, 10, 4), by_strength)
    assert [len(tables) for tables in rounds_of(blocks)] == [2, 1, 1]
    assert [len(group) for tables in rounds_of(blocks) for group in tables] == [4] * 4
    assert table[0].bot == 0


def test_a_bracket_follows_from_results_so_no_stale_winner_stays_sch19():
    def upset(result, bots):
        return by_weakness(result, bots) if result.number == 0 else by_strength(result, bots)

    calm, _ = played_out(knockout.FORMAT, field_of(knockout.FORMAT, 4), by_strength)
    changed, _ = played_out(knockout.FORMAT, field_of(knockout.FORMAT, 4), upset)
    assert rounds_of(calm) == [[(0, 3), (1, 2)], [(0, 1)]]
    assert rounds_of(changed) == [[(0, 3), (1, 2)], [(1, 3)]]


def test_who_withdraws_in_a_knockout_loses_its_table():
    blocks, table = played_out(knockout.FORMAT, field_of(knockout.FORMAT, 4), by_strength, leaving={1: 1})
    assert rounds_of(blocks) == [[(0, 3), (1, 2)], [(0, 2)]]
    assert not blocks[1].complete
    assert [row.bot for row in table] == [0, 2, 1, 3]


def test_who_withdraws_between_two_rounds_is_not_drawn():
    blocks, table = played_out(knockout.FORMAT, field_of(knockout.FORMAT, 4), by_strength, leaving={0: 1})
    assert rounds_of(blocks) == [[(0, 3), (1, 2)]]
    assert table[0].bot == 1
