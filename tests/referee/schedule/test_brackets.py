"""Knockouts: fixed brackets, the match for the third rank, double elimination, forbidden pairs."""

from collections import Counter
from dataclasses import replace
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.schedule.formats import knockout
from tests.referee.schedule.played import by_chance, by_strength, field_of, played_out, rounds_of

SIZES = st.integers(2, 40)
CHANCE = st.randoms(use_true_random=False)


def leaving_bots(data, bots):
    return data.draw(st.dictionaries(st.integers(0, bots - 1), st.integers(0, 2 * bots), max_size=bots // 3))


def played(bots, outcome, leaving=None, **given):
    field = field_of(knockout.FORMAT, bots, extra=0, **given)
    assert knockout.FORMAT.check(field) == ""
    return field, *played_out(knockout.FORMAT, field, outcome, leaving)


@given(SIZES, CHANCE, st.booleans())
@settings(max_examples=40, deadline=None)
def test_all_byes_of_a_fixed_bracket_are_in_its_first_round(bots, chance, bronze):
    field, blocks, table, _ = played(bots, by_chance(chance), bracket="fixed", bronze=bronze)
    made = rounds_of(blocks)
    size = 1 << (bots - 1).bit_length()
    tables = [bots - size // 2] + [size >> number for number in range(2, size.bit_length())]
    tables[-1] += bronze and bots > 3
    assert [len(groups) for groups in made] == tables
    sat_out = set(range(bots)) - {bot for group in made[0] for bot in group}
    assert sat_out == set(range(size - bots))
    assert [row.rank for row in table].count(1) == 1
    assert sorted(row.bot for row in table) == list(range(bots))
    matches = sum(len(block.matches) for block in blocks)
    assert knockout.FORMAT.extent(field).least <= matches <= knockout.FORMAT.extent(field).most


def test_winners_of_neighbouring_tables_meet_in_a_fixed_bracket_even_after_an_upset():
    def upset(result, bots):
        return [2 if bot == 0 else 1 for bot in bots] if 0 in bots else by_strength(result, bots)

    _, blocks, _, _ = played(8, upset, bracket="fixed")
    assert rounds_of(blocks) == [[(0, 7), (3, 4), (1, 6), (2, 5)], [(3, 7), (1, 2)], [(1, 3)]]


@given(SIZES, CHANCE, st.data())
@settings(max_examples=30, deadline=None)
def test_a_fixed_bracket_ends_with_one_bot_whoever_leaves(bots, chance, data):
    leaving = leaving_bots(data, bots)
    _, blocks, table, _ = played(bots, by_chance(chance), leaving, bracket="fixed", bronze=True)
    assert sorted(row.bot for row in table) == list(range(bots))
    for number, groups in enumerate(rounds_of(blocks), start=1):
        seated = Counter(bot for group in groups for bot in group)
        assert set(seated.values()) <= {1}, number
    assert [row.rank for row in table].count(1) == 1 or len(leaving) > 1


@pytest.mark.parametrize(
    ("bots", "bracket"), [*((bots, "fixed") for bots in (4, 5, 6, 7, 8, 13)), (4, "reseeded"), (8, "reseeded")]
)
def test_the_losers_of_the_semi_finals_play_for_the_third_rank(bots, bracket):
    _, blocks, table, _ = played(bots, by_strength, bracket=bracket, bronze=True)
    assert rounds_of(blocks)[-1] == [(0, 1), (2, 3)]
    assert [(row.bot, row.rank) for row in table[:4]] == [(0, 1), (1, 2), (2, 3), (3, 4)]


def test_without_two_semi_finals_there_is_no_table_for_the_third_rank():
    field, blocks, table, _ = played(5, by_strength, bronze=True)
    assert rounds_of(blocks) == [[(1, 4), (2, 3)], [(0, 2)], [(0, 1)]]
    assert [(row.bot, row.rank) for row in table] == [(0, 1), (1, 2), (2, 3), (3, 4), (4, 4)]
    assert knockout.FORMAT.extent(field).most == 8


def test_a_loser_of_a_semi_final_has_the_third_rank_where_the_other_has_left():
    _, blocks, table, _ = played(4, by_strength, leaving={3: 2}, bracket="fixed", bronze=True)
    assert rounds_of(blocks) == [[(0, 3), (1, 2)], [(0, 1)]]
    assert [(row.bot, row.rank) for row in table] == [(0, 1), (1, 2), (2, 3), (3, 4)]


@pytest.mark.parametrize("given", [{}, {"bracket": "fixed"}])
def test_winners_of_a_round_that_leave_before_the_next_one_rank_above_its_losers(given):
    _, blocks, table, _ = played(4, by_strength, leaving={0: 2, 1: 2}, **given)
    assert rounds_of(blocks) == [[(0, 3), (1, 2)]]
    assert [(row.bot, row.rank) for row in table] == [(0, 1), (1, 1), (2, 3), (3, 3)]


@pytest.mark.parametrize("given", [{}, {"bracket": "fixed"}, {"double": True}])
def test_a_winner_that_leaves_after_the_end_stays_the_winner(given):
    _, blocks, _, _ = played(4, by_strength, **given)
    _, again, table, _ = played(4, by_strength, leaving={0: len(blocks)}, **given)
    assert [block.block for block in again] == [block.block for block in blocks]
    assert [(row.bot, row.rank) for row in table[:2]] == [(0, 1), (1, 2)]


# Double elimination


@given(SIZES, CHANCE, st.integers(1, 3))
@settings(max_examples=40, deadline=None)
def test_a_bot_is_out_after_the_second_table_that_it_lost(bots, chance, best_of):
    field, blocks, table, _ = played(bots, by_chance(chance), double=True, best_of=best_of)
    points, tables = Counter(), {}
    for block in blocks:
        tables[block.block.round, block.block.group] = None
        for match in block.matches:
            for bot, rank in zip(match.bots, match.ranking, strict=True):
                others = [other for other in match.ranking if other != rank] or [rank]
                points[block.block.round, block.block.group, bot] += 2 * (rank < others[0]) + (rank == others[0])
    lost = Counter()
    for round_, group in tables:
        assert all(lost[bot] < 2 for bot in group), (round_, group)
        order = sorted(group, key=lambda bot: (-points[round_, group, bot], bot))
        lost[order[1]] += 1
    winner = table[0].bot
    assert [row.rank for row in table].count(1) == 1
    assert lost[winner] < 2
    assert all(lost[bot] == 2 for bot in range(bots) if bot != winner)
    assert 2 * bots - 2 <= len(tables) <= 2 * bots - 1
    matches = sum(len(block.matches) for block in blocks)
    assert knockout.FORMAT.extent(field).least <= matches <= knockout.FORMAT.extent(field).most


def test_who_loses_the_first_table_can_still_win_a_double_elimination():
    def late(result, bots):
        return by_strength(result, bots) if result.block.round == 1 else [1 + (bot != 3) for bot in bots]

    _, blocks, table, _ = played(4, late, double=True)
    assert table[0].bot == 3
    assert rounds_of(blocks)[-2:] == [[(0, 3)], [(0, 3)]]


@given(SIZES, CHANCE, st.data())
@settings(max_examples=30, deadline=None)
def test_a_double_elimination_ends_whoever_leaves(bots, chance, data):
    leaving = leaving_bots(data, bots)
    _, blocks, table, _ = played(bots, by_chance(chance), leaving, double=True)
    assert sorted(row.bot for row in table) == list(range(bots))
    for groups in rounds_of(blocks):
        assert set(Counter(bot for group in groups for bot in group).values()) <= {1}


# Forbidden pairs


@given(SIZES, CHANCE, st.booleans(), st.data())
@settings(max_examples=40, deadline=None)
def test_forbidden_pairs_meet_only_where_no_other_draw_keeps_them_apart(bots, chance, double, data):
    size = data.draw(st.integers(2, 4))
    groups = [[f"bot{bot}" for bot in range(first, min(first + size, bots))] for first in range(0, bots - 1, size)]
    field, blocks, _, notices = played(
        bots, by_chance(chance), forbidden=[group for group in groups if len(group) > 1], double=double
    )
    forbidden = {frozenset(pair) for group in groups for pair in combinations(group, 2)}
    met = [
        (number, pair)
        for number, tables in enumerate(rounds_of(blocks), start=1)
        for pair in tables
        if frozenset(field.names[bot] for bot in pair) in forbidden
    ]
    assert len(met) <= len(notices)
    for number, (one, other) in met:
        names = f"'{field.names[one]}' and '{field.names[other]}'"
        assert any(text.startswith(f"round {number}: the forbidden pair {names} meets") for text in notices)
    if bots > 2 * size:
        assert all(number > 1 for number, _ in met)


@pytest.mark.parametrize(("given", "first"), [({}, [(0, 2), (1, 3)]), ({"bracket": "fixed"}, [(0, 3), (1, 2)])])
def test_bots_of_one_club_meet_as_late_as_can_be_and_a_fixed_bracket_stays(given, first):
    field = replace(field_of(knockout.FORMAT, 4, extra=0, **given), clubs=("north", "south", "south", "north"))
    assert knockout.FORMAT.check(field) == ""
    blocks, _, notices = played_out(knockout.FORMAT, field, by_strength)
    assert rounds_of(blocks)[0] == first
    assert notices == []
    pair = replace(field_of(knockout.FORMAT, 2, extra=0), clubs=("north", "north"))
    *_, notices = played_out(knockout.FORMAT, pair, by_strength)
    assert notices == ["round 1: 'bot0' and 'bot1' of the club 'north' meet, since no draw keeps all such pairs apart"]


def test_tables_of_more_than_two_seats_take_no_notice_of_clubs():
    field = field_of(knockout.FORMAT, 8, 4)
    usual, clubs = (
        played_out(knockout.FORMAT, one, by_strength)[0] for one in (field, replace(field, clubs=("a",) * 8))
    )
    assert rounds_of(usual) == rounds_of(clubs)


@pytest.mark.parametrize(
    ("players", "given", "words"),
    [
        (4, {"bronze": True}, "'knockout.bronze' is for matches of two seats, not of 4"),
        (4, {"double": True}, "'knockout.double' is for matches of two seats, not of 4"),
        (3, {"bracket": "fixed"}, "'knockout.bracket = 'fixed'' is for matches of two seats, not of 3"),
        (2, {"double": True, "bronze": True}, "'knockout.bronze' does not go with 'knockout.double'"),
        (2, {"double": True, "bracket": "fixed"}, "'knockout.double' needs a bracket that is drawn in each round"),
        (2, {"forbidden": [["bot0", "bot1"]], "bracket": "fixed"}, "'knockout.forbidden' needs a bracket that is"),
    ],
)
def test_settings_that_do_not_go_together_are_refused(players, given, words):
    assert words in knockout.FORMAT.check(field_of(knockout.FORMAT, 8, players, **given))
