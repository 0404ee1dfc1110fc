"""Every format is a fair, complete, lazy and pure schedule: general rules over many fields."""

import math
import tracemalloc
from collections import Counter
from dataclasses import replace
from itertools import combinations, islice
from zlib import crc32

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.schedule.formats import round_robin
from referee.schedule.formats.api import BlockResult, Byes, Extent, Field, MatchScore, Need, RoundResults, Variant
from referee.schedule.formats.designs import count_groups, groups
from referee.schedule.formats.registry import UnknownFormat, format_names, get_format, own_formats
from referee.schedule.formats.simulate import simulate
from referee.schedule.seat_orders import team_orders


def field_of(bots: int, players=(2,), blocks: int = 1, seed: int = 1, **given_settings) -> Field:
    style = given_settings.pop("style", round_robin.FORMAT)
    wanted = {setting.name: setting.default for setting in style.settings} | given_settings
    variants = tuple(Variant("toy", count, tuple(range(count)), team_orders(tuple(range(count)))) for count in players)
    return Field(tuple(f"bot{number}" for number in range(bots)), variants, seed, blocks, wanted)


def by_strength(result, bots):
    """The lower number wins."""
    return [1 + sum(other < bot for other in bots) for bot in bots]


def by_luck(result, bots):
    """Any order, ties too, as a function of who plays."""
    worth = {bot: crc32(f"{result.number} {len(result.matches)} {bot}".encode()) % 4 for bot in bots}
    return [1 + sum(worth[other] > worth[bot] for other in bots) for bot in bots]


def played_out(style, field, outcome=by_luck, leaving=None):
    """All blocks and the format's table."""
    blocks = []
    running = simulate(style, field, outcome, leaving)
    while True:
        try:
            blocks.append(next(running))
        except StopIteration as end:
            return blocks, end.value


FIELDS = st.integers(2, 13).flatmap(lambda bots: st.tuples(st.just(bots), st.integers(2, min(bots, 6))))
GENERAL = ("round-robin", "gauntlet", "swiss", "knockout", "league")
STYLES = {style.name: style for style in own_formats() if style.name in GENERAL}


# Designs


@pytest.mark.parametrize("bots", range(2, 14))
@pytest.mark.parametrize("size", range(1, 7))
def test_groups_are_complete_without_repeats(bots, size):
    found = [tuple(sorted(group)) for group in groups(range(bots), size)]
    assert sorted(found) == list(combinations(range(bots), size))
    assert len(found) == count_groups(bots, size)


@pytest.mark.parametrize(("bots", "size"), [(n, k) for n in range(3, 14) for k in range(2, min(n, 6) + 1)])
def test_a_schedule_stopped_anywhere_is_nearly_fair_in_matches_sch6(bots, size):
    played: Counter[int] = Counter()
    worst = 0
    for group in groups(range(bots), size):
        played.update(group)
        worst = max(worst, max(played.values()) - min(played[bot] for bot in range(bots)))
    assert worst <= (2 if size == 2 else 3)
    assert len(set(played.values())) == 1


@pytest.mark.parametrize(
    ("bots", "size", "meetings"), [(7, 3, 1), (13, 4, 1), (11, 5, 2), (7, 4, 2), (6, 5, 4), (5, 4, 3)]
)
def test_where_a_design_is_known_it_comes_first_and_all_meet_equally_often(bots, size, meetings):
    """Difference sets: (7,3,1), (13,4,1), (11,5,2), (7,4,2); and all but one."""
    met = Counter(pair for group in islice(groups(range(bots), size), bots) for pair in combinations(sorted(group), 2))
    assert {met[pair] for pair in combinations(range(bots), 2)} == {meetings}


def test_a_large_field_of_large_tables_begins_at_once():
    first = list(islice(groups(range(40), 6), 400))
    played = Counter(bot for group in first for bot in group)
    assert max(played.values()) - min(played.values()) <= 3


# Every format


@given(FIELDS, st.sampled_from(sorted(STYLES)), st.integers(1, 2), st.sampled_from([by_luck, by_strength]))
@settings(max_examples=50, deadline=None)
def test_what_a_format_yields_is_well_formed_and_as_many_as_it_says(shape, name, blocks, outcome):
    bots, players = shape
    style = STYLES[name]
    field = field_of(bots, (players,), 12 * blocks if name == "league" else blocks, style=style)
    assert style.check(field) == ""
    made, _ = played_out(style, field, outcome)
    extent = style.extent(field)
    matches = [match for block in made for match in block.matches]
    assert extent.least <= len(matches) <= extent.most
    assert [match.place for match in matches] == list(range(len(matches)))
    for block in made:
        assert len(set(block.block.group)) == players
        seats = Counter((bot, seat) for match in block.matches for seat, bot in enumerate(match.bots))
        assert len(set(seats.values())) == 1, "in a block everyone sits everywhere equally often"
        assert len(seats) == players * players


@pytest.mark.slow
@given(FIELDS, st.sampled_from(sorted(STYLES)), st.data())
@settings(max_examples=30, deadline=None)
def test_a_plan_is_a_function_of_field_and_results_alone(shape, name, data):
    bots, players = shape
    style = STYLES[name]
    field = field_of(bots, (players,), 6, style=style)
    leaving = data.draw(st.dictionaries(st.integers(0, bots - 1), st.integers(0, 8), max_size=2))
    first, table = played_out(style, field, leaving=leaving)
    again, same = played_out(style, field, leaving=leaving)
    assert first == again
    assert table == same


@pytest.mark.parametrize("name", sorted(STYLES))
def test_several_games_and_numbers_of_seats_in_one_tournament(name):
    style = STYLES[name]
    field = field_of(7, (2, 3, 4), 30 if name == "league" else 1, style=style)
    made, _ = played_out(style, field)
    sizes = Counter(len(block.block.group) for block in made)
    # A knockout of seven has three rounds; with two left only a table of two can be filled.
    assert set(sizes) >= ({2, 3} if name in ("knockout", "swiss") else {2, 3, 4})
    assert style.extent(field).least <= sum(len(block.matches) for block in made) <= style.extent(field).most


def told_of_leaving(style, field, leaving, outcome=by_luck):
    """Per block: who was in it, its round, and who the plan had been told is out, with the round it was in then.

    `leaving` has per bot the number of the block from which on it is out.
    """
    plan, answer, made, fresh, told = style.plan(field), None, [], [], {}
    while True:
        try:
            step = plan.send(answer)
        except StopIteration:
            return made
        answer = None
        if isinstance(step, Byes):
            continue
        if isinstance(step, Need):
            wanted = len(made) if step.blocks is None else min(step.blocks, len(made))
            gone = frozenset(bot for bot, when in leaving.items() if when <= len(made))
            for bot in gone:
                told.setdefault(bot, made[-1][1] if made else 0)
            answer = RoundResults(tuple(one for one in fresh if one.number < wanted), field.bots, gone)
            fresh = [one for one in fresh if one.number >= wanted]
            continue
        gone = {bot for bot, when in leaving.items() if when <= len(made)}
        match = MatchScore(len(made), "m", "toy", step.group, step.group, tuple(range(len(step.group))))
        if gone & set(step.group):
            match = replace(match, absent=tuple(gone & set(step.group)))
        else:
            match = replace(match, ranking=tuple(outcome(BlockResult(len(made), 0, step, ()), step.group)))
        fresh.append(BlockResult(len(made), len(made), step, (match,)))
        made.append((set(step.group), step.round, dict(told)))


LEAVING = st.integers(3, 9).flatmap(
    lambda bots: st.tuples(st.just(bots), st.dictionaries(st.integers(0, bots - 1), st.integers(0, 12)))
)


@pytest.mark.parametrize("name", ["swiss", "knockout", "league"])
@given(LEAVING)
@settings(max_examples=40, deadline=None)
def test_a_format_that_looks_at_results_pairs_nobody_who_is_out(name, shape):
    bots, leaving = shape
    style = STYLES[name]
    for group, round_, told in told_of_leaving(style, field_of(bots, (2,), 10, style=style, window=2), leaving):
        for bot in group & set(told):
            # A table that is under way in a knockout is played to its end, which costs nothing: all of it is cancelled.
            assert name == "knockout"
            assert round_ == told[bot]


@pytest.mark.parametrize("name", ["swiss", "knockout", "league"])
def test_when_all_leave_a_format_ends(name):
    style = STYLES[name]
    made = told_of_leaving(style, field_of(6, (2,), 1000, style=style, window=2), dict.fromkeys(range(6), 5))
    assert len(made) <= {"swiss": 3000, "knockout": 3 * 1002, "league": 8}[name]
    assert {round_ for _, round_, _ in made} <= {0, 1}


@pytest.mark.parametrize("name", ["round-robin", "gauntlet"])
@given(LEAVING)
@settings(max_examples=20, deadline=None)
def test_where_the_schedule_is_fixed_leaving_cancels_matches_and_moves_no_other(name, shape):
    bots, leaving = shape
    field = field_of(bots, (2,), 3, style=STYLES[name])
    whole, _ = played_out(STYLES[name], field)
    made, _ = played_out(STYLES[name], field, leaving=leaving)
    assert [block.block for block in made] == [block.block for block in whole]
    for block in made:
        out = any(leaving.get(bot, math.inf) <= block.number for bot in block.block.group)
        assert block.complete == (not out)


# Round robin


@given(FIELDS, st.integers(1, 3))
@settings(max_examples=30, deadline=None)
def test_a_round_robin_is_complete_and_every_cycle_is(shape, blocks):
    bots, players = shape
    made, _ = played_out(round_robin.FORMAT, field_of(bots, (players,), blocks))
    size = math.comb(bots, players)
    for cycle in range(blocks):
        here = [tuple(sorted(block.block.group)) for block in made[cycle * size : (cycle + 1) * size]]
        assert sorted(here) == list(combinations(range(bots), players))


def test_mirrors_are_one_match_of_a_bot_against_itself():
    made, _ = played_out(round_robin.FORMAT, field_of(3, (2,), 2, mirrors=True))
    mirrors = [block for block in made if len(set(block.block.group)) == 1]
    assert [block.block.group for block in mirrors] == [(0, 0), (1, 1), (2, 2)] * 2
    assert all(len(block.matches) == 1 for block in mirrors)
    assert round_robin.FORMAT.extent(field_of(3, (2,), 2, mirrors=True)) == Extent(18, 18)


def test_the_same_seeds_serve_every_group_of_a_cycle_when_asked_sch2():
    made, _ = played_out(round_robin.FORMAT, field_of(4, (2,), 2, same_seeds=True))
    assert [block.block.seed_group for block in made] == [0] * 6 + [1] * 6


def test_player_counts_per_bot_are_equal_in_a_mixed_round_robin_sch5():
    made, _ = played_out(round_robin.FORMAT, field_of(6, (2, 3, 4), 1))
    kinds = Counter((bot, len(block.block.group)) for block in made for bot in block.block.group)
    for players in (2, 3, 4):
        assert len({kinds[bot, players] for bot in range(6)}) == 1


def walk_in_constant_memory(matches: int) -> int:
    """Bytes in use at the most while a lazy round robin of so many matches is walked through."""
    field = field_of(40, (2,), 10_000_000)
    plan = round_robin.FORMAT.plan(field)
    news = None
    tracemalloc.start()
    try:
        for _ in range(matches // 2):
            step = plan.send(news)
            news = None
            if isinstance(step, Need):
                news = RoundResults((), field.bots, frozenset())
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_a_plan_takes_constant_memory():
    assert walk_in_constant_memory(40_000) < 200_000


# Gauntlet


def test_a_gauntlet_is_no_round_robin_sch3():
    style = STYLES["gauntlet"]
    made, _ = played_out(style, field_of(4, (2,), 1, style=style))
    assert [block.block.group for block in made] == [(0, 1), (0, 2), (0, 3)]
    made, _ = played_out(style, field_of(4, (2,), 1, style=style, challengers=["bot3", "bot1"]))
    assert [block.block.group for block in made] == [(1, 0), (3, 0), (1, 2), (3, 2)]


@given(FIELDS, st.data())
@settings(max_examples=30, deadline=None)
def test_each_gauntlet_table_has_one_challenger_and_all_of_them_meet_the_same(shape, data):
    bots, players = shape
    style = STYLES["gauntlet"]
    ours = data.draw(st.sets(st.integers(0, bots - 1), min_size=1, max_size=bots - players + 1))
    field = field_of(bots, (players,), 1, style=style, challengers=[f"bot{bot}" for bot in sorted(ours)])
    assert style.check(field) == ""
    made, _ = played_out(style, field)
    met = {bot: set() for bot in ours}
    for block in made:
        (challenger,) = ours & set(block.block.group)
        met[challenger].add(frozenset(block.block.group) - {challenger})
    rest = [bot for bot in range(bots) if bot not in ours]
    assert all(found == set(map(frozenset, combinations(rest, players - 1))) for found in met.values())


def test_a_gauntlet_of_challengers_alone_is_refused():
    style = STYLES["gauntlet"]
    field = field_of(3, (2,), 1, style=style, challengers=["bot0", "bot1", "bot2"])
    assert "one challenger and 1 of the rest" in style.check(field)


# Finding them


def test_an_unknown_format_and_names():
    assert format_names()[:5] == ["round-robin", "gauntlet", "swiss", "knockout", "league"]
    assert get_format("swiss").name == "swiss"
    with pytest.raises(UnknownFormat, match="unknown format 'suisse'"):
        get_format("suisse")
