"""What an organiser may ask of a Swiss pairing: forbidden pairs, fixed tables, byes by request."""

import random
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.schedule.formats import stages, swiss
from referee.schedule.formats.pairing import kept_apart_by, make_pairs, maximum_matching
from tests.referee.schedule.played import by_chance, by_strength, field_of, played_out, rounds_of

SIZES = st.integers(2, 40)


def schools(bots, size):
    """Bots in groups of one school each."""
    return [[f"bot{bot}" for bot in range(first, min(first + size, bots))] for first in range(0, bots, size)]


def pairs_of(field):
    return {
        frozenset((field.names.index(one), field.names.index(other)))
        for group in field.settings["forbidden"]
        for one, other in combinations(group, 2)
    }


@pytest.mark.slow
@given(SIZES, st.integers(2, 5), st.integers(2, 4), st.randoms(use_true_random=False), st.data())
@settings(max_examples=40, deadline=None)
def test_forbidden_pairs_never_meet_whoever_leaves_and_joins(bots, size, players, chance, data):
    groups = [group for group in schools(bots, size) if len(group) > 1]
    if not groups or players > bots:
        return
    leaving = data.draw(st.dictionaries(st.integers(0, bots - 1), st.integers(0, 3 * bots), max_size=bots // 3))
    joining = data.draw(st.lists(st.integers(0, 2 * bots), max_size=3))
    field = field_of(swiss.FORMAT, bots, players, forbidden=groups, rounds=5)
    blocks, _, notices = played_out(swiss.FORMAT, field, by_chance(chance), leaving, joining)
    forbidden = pairs_of(field)
    for tables in rounds_of(blocks):
        seated = [bot for group in tables for bot in group]
        assert len(seated) == len(set(seated))
        for group in tables:
            assert not any(frozenset(pair) in forbidden for pair in combinations(group, 2))
    assert all("forbidden pair" in text and ("sit out" in text or "meet again" in text) for text in notices)


@given(SIZES, st.data())
@settings(max_examples=60, deadline=None)
def test_with_forbidden_pairs_as_many_bots_play_as_can(bots, data):
    apart = data.draw(st.sets(st.sampled_from(list(combinations(range(bots), 2))), max_size=bots * bots // 3))
    met = data.draw(st.dictionaries(st.sampled_from(list(combinations(range(bots), 2))), st.integers(1, 2)))
    forbidden = frozenset(map(frozenset, apart))
    byes = Counter(data.draw(st.dictionaries(st.integers(0, bots - 1), st.integers(0, 2))))
    pairs, out = make_pairs(
        range(bots), 2, {}, {frozenset(pair): times for pair, times in met.items()}, byes, forbidden
    )
    graph = [
        frozenset(other for other in range(bots) if other != one and frozenset((one, other)) not in forbidden)
        for one in range(bots)
    ]
    assert len(out) == maximum_matching(graph).count(-1)
    assert sorted([*out, *(bot for pair in pairs for bot in pair)]) == list(range(bots))
    assert not any(frozenset(pair) in forbidden for pair in pairs)


@given(st.integers(2, 8), st.data())
@settings(max_examples=60, deadline=None)
def test_with_forbidden_pairs_there_are_as_few_rematches_as_trying_everything_finds(half, data):
    bots = range(2 * (half // 2 + 1))
    everyone = list(combinations(bots, 2))
    forbidden = frozenset(map(frozenset, data.draw(st.sets(st.sampled_from(everyone), max_size=len(bots)))))
    met = {frozenset(pair): 1 for pair in data.draw(st.sets(st.sampled_from(everyone)))}

    def least(left):
        if not left:
            return 0
        first, *rest = left
        return min(
            (
                met.get(frozenset((first, other)), 0) + least(tuple(one for one in rest if one != other))
                for other in rest
                if frozenset((first, other)) not in forbidden
            ),
            default=1000,
        )

    best = least(tuple(bots))
    pairs, out = make_pairs(bots, 2, {}, met, Counter(), forbidden)
    if best < 1000:
        assert not out
        assert sum(met.get(frozenset(pair), 0) for pair in pairs) == best
    else:
        assert out


def test_a_file_whose_forbidden_pairs_make_a_round_impossible_is_refused_by_their_names():
    field = field_of(swiss.FORMAT, 6, forbidden=[["bot0", "bot1", "bot2", "bot3"], ["bot4", "bot5"]])
    assert swiss.FORMAT.check(field) == (
        "round 1: 'bot2' and 'bot3' sit out, since the forbidden pairs 'bot0' - 'bot1', 'bot0' - 'bot2', "
        "'bot0' - 'bot3', 'bot1' - 'bot2', 'bot1' - 'bot3', 'bot2' - 'bot3' leave no table for them"
    )


def test_a_bot_that_may_meet_nobody_is_refused_even_if_it_would_get_the_bye_of_the_first_round():
    field = field_of(swiss.FORMAT, 3, forbidden=[["bot0", "bot2"], ["bot1", "bot2"]])
    assert swiss.FORMAT.check(field) == (
        "'bot2' never has a table, since the forbidden pairs 'bot2' - 'bot0', 'bot2' - 'bot1' leave too few opponents"
    )
    assert swiss.FORMAT.check(field_of(swiss.FORMAT, 5, forbidden=[["bot0", "bot2"], ["bot1", "bot2"]])) == ""


def test_a_round_that_becomes_impossible_says_which_forbidden_pairs_and_goes_on():
    field = field_of(swiss.FORMAT, 4, forbidden=[["bot0", "bot1"]], rounds=3)
    assert swiss.FORMAT.check(field) == ""
    blocks, table, notices = played_out(swiss.FORMAT, field, by_strength, leaving={2: 2, 3: 2})
    assert len(rounds_of(blocks)) == 1
    assert notices[0] == (
        "round 2: 'bot0' and 'bot1' sit out, since the forbidden pair 'bot0' - 'bot1' leaves no table for them"
    )
    assert {row.bot: row.columns["byes"] for row in table} == {0: "2", 1: "2", 2: "0", 3: "0"}


def test_a_rematch_that_forbidden_pairs_make_necessary_says_which():
    field = field_of(swiss.FORMAT, 4, forbidden=[["bot0", "bot1"], ["bot2", "bot3"]], rounds=3)
    assert swiss.FORMAT.check(field) == ""
    _, _, notices = played_out(swiss.FORMAT, field, by_strength)
    assert notices == [
        "round 3: 'bot0' - 'bot2', 'bot1' - 'bot3' meet again, since the forbidden pairs 'bot0' - 'bot1', "
        "'bot2' - 'bot3' leave too few other pairs"
    ]
    gone = field_of(swiss.FORMAT, 5, forbidden=[["bot0", "bot4"]], rounds=4)
    blocks, _, notices = played_out(swiss.FORMAT, gone, by_strength, leaving={4: 0})
    assert not any("meet again" in text for text in notices), "the rematches of round 4 have nothing to do with it"
    assert len(rounds_of(blocks)) == 4


def test_a_round_that_forbidden_pairs_keep_from_the_fide_rules_says_which():
    field = field_of(swiss.FORMAT, 4, forbidden=[["bot0", "bot1"], ["bot2", "bot3"]], rounds=3, pairing="fide")
    _, _, notices = played_out(swiss.FORMAT, field, by_strength)
    assert notices[0] == (
        "round 3: no pairing keeps the FIDE rules, since the forbidden pairs 'bot0' - 'bot1', 'bot2' - 'bot3' leave "
        "too few other pairs; so the usual pairing is used"
    )


@pytest.mark.parametrize("pairing", ["usual", "fide"])
def test_a_round_that_forbidden_pairs_only_together_keep_from_other_pairs_says_so(pairing):
    """Of bot0 - bot2 and bot1 - bot3 neither alone would be of use: the other two have met."""
    field = field_of(
        swiss.FORMAT,
        4,
        forbidden=[["bot0", "bot2"], ["bot1", "bot3"]],
        rounds=3,
        fixed=[{"round": 1, "bots": ["bot0", "bot3"]}, {"round": 2, "bots": ["bot2", "bot3"]}],
        byes=[{"round": 2, "bots": ["bot0", "bot1"]}],
        pairing=pairing,
    )
    _, _, notices = played_out(swiss.FORMAT, field, by_strength)
    assert notices[-1] == ("round 3: 'bot2' - 'bot3' meet again, since the forbidden pairs leave too few other pairs")
    assert (pairing == "fide") == any(
        text.startswith("round 3: no pairing keeps the FIDE rules, since the forbidden pairs leave too few other pairs")
        for text in notices
    )


@given(st.integers(2, 12), st.data())
@settings(max_examples=60, deadline=None)
def test_each_forbidden_pair_that_is_named_would_let_more_bots_play(bots, data):
    everyone = [frozenset(pair) for pair in combinations(range(bots), 2)]
    forbidden = frozenset(data.draw(st.sets(st.sampled_from(everyone))))

    def paired(apart):
        return bots - len(make_pairs(range(bots), 2, {}, {}, Counter(), apart)[1])

    named = {frozenset(pair) for pair in kept_apart_by(range(bots), (), 2, forbidden)}
    for pair in forbidden:
        assert (paired(forbidden - {pair}) > paired(forbidden)) == (pair in named)


# Clubs


def in_clubs(clubs, bots, late=0, **given):
    """A field of a Swiss whose bots, and those that join it late, have these clubs in turn."""
    field = field_of(swiss.FORMAT, bots, **given)
    all_clubs = tuple(clubs[bot % len(clubs)] for bot in range(bots + late))
    return replace(field, clubs=all_clubs, late=tuple(f"late{bot}" for bot in range(late)))


@given(st.integers(4, 40), st.integers(2, 6), st.integers(0, 3), st.randoms(use_true_random=False), st.data())
@settings(max_examples=40, deadline=None)
def test_bots_of_one_club_never_meet_and_neither_do_those_that_join_late(bots, clubs, late, chance, data):
    leaving = data.draw(st.dictionaries(st.integers(0, bots - 1), st.integers(0, 3 * bots), max_size=bots // 3))
    names = ["", *(f"club {number}" for number in range(1, clubs))]
    pairing = data.draw(st.sampled_from(["usual", "fide"]))
    field = in_clubs(names, bots, late, rounds=4, pairing=pairing)
    joining = sorted(data.draw(st.lists(st.integers(0, bots), min_size=late, max_size=late)))
    blocks, table, _ = played_out(swiss.FORMAT, field, by_chance(chance), leaving, joining)
    assert {row.bot for row in table} <= set(range(bots + late))
    for block in blocks:
        one, other = (field.clubs[bot] for bot in block.block.group)
        assert one != other or not one


def test_a_round_that_clubs_make_impossible_names_the_club():
    field = replace(field_of(swiss.FORMAT, 6), clubs=("north",) * 4 + ("", ""))
    assert swiss.FORMAT.check(field) == (
        "round 1: 'bot2' and 'bot3' sit out, since the club 'north' ('bot0', 'bot1', 'bot2', 'bot3') leaves no table "
        "for them"
    )
    fixed = [{"round": 1, "bots": ["bot0", "bot1"]}]
    field = replace(field_of(swiss.FORMAT, 4, fixed=fixed), clubs=("north", "north", "", ""))
    assert swiss.FORMAT.check(field) == (
        "round 1: 'bot0' and 'bot1' are fixed at one table, and they are of the club 'north'"
    )


def test_clubs_follow_the_bots_through_seeding_and_stages():
    seeded = replace(
        field_of(swiss.FORMAT, 4, rounds=1, seeding=["bot3", "bot2", "bot1", "bot0"]), clubs=("a", "b", "a", "b")
    )
    blocks, _, _ = played_out(swiss.FORMAT, seeded, by_strength)
    assert all(sum(block.block.group) % 2 for block in blocks), "0 and 2 are of one club, and 1 and 3"
    usual = {"name": "s", "format": "swiss", "blocks": 1, "groups": 2, "advance": None}
    wanted = {one.name: one.default for one in stages.settings_of(swiss.FORMAT) if not one.later} | {"rounds": 2}
    field = field_of(stages.FORMAT, 8, stages=[{**usual, "settings": wanted}])
    blocks, _, _ = played_out(stages.FORMAT, replace(field, clubs=("a", "", "", "", "", "", "", "a")), by_strength)
    assert len(blocks) == 8
    assert all(block.block.group != (0, 7) for block in blocks), "both are in group A"


def test_late_bots_are_named_in_a_notice():
    field = replace(field_of(swiss.FORMAT, 2, rounds=2), clubs=("north", "", "north"), late=("ann again",))
    *_, notices = played_out(swiss.FORMAT, field, by_strength, leaving={1: 1}, joining=[1])
    assert notices == [
        "round 2: 'bot0' and 'ann again' sit out, since the club 'north' ('bot0', 'ann again') leaves no table for them"
    ]


@given(st.integers(4, 40), st.randoms(use_true_random=False), st.integers(1, 4))
@settings(max_examples=25, deadline=None)
def test_fixed_tables_are_played_and_requested_byes_are_given(bots, chance, number):
    round_of = {round_: chance.sample(range(bots), 4) for round_ in range(1, number + 1)}
    field = field_of(
        swiss.FORMAT,
        bots,
        rounds=number,
        fixed=[{"round": round_, "bots": [f"bot{bot}" for bot in some[:2]]} for round_, some in round_of.items()],
        byes=[{"round": round_, "bots": [f"bot{some[2]}"]} for round_, some in round_of.items()],
    )
    assert swiss.FORMAT.check(field) == ""
    blocks, table, notices = played_out(swiss.FORMAT, field, by_chance(chance))
    assert not notices
    made = rounds_of(blocks)
    out = Counter()
    for round_, some in round_of.items():
        seated = {bot for group in made[round_ - 1] for bot in group}
        assert tuple(some[:2]) in made[round_ - 1]
        assert some[2] not in seated
        sat_out = set(range(bots)) - seated
        assert len(sat_out) == 2 - bots % 2 or len(sat_out) == 1 + (bots - 1) % 2
        out.update(sat_out)
    assert {row.bot: int(row.columns["byes"]) for row in table} == {bot: out[bot] for bot in range(bots)}


@pytest.mark.parametrize("pairing", ["usual", "fide"])
@pytest.mark.parametrize("byes", [{2: [0, 1]}, {1: [0], 2: [1]}, {1: [0, 1, 2], 3: [0]}])
@pytest.mark.parametrize("bots", [5, 6])
def test_matches_that_requested_byes_take_away_are_not_counted_beforehand(bots, byes, pairing):
    wanted = [{"round": round_, "bots": [f"bot{bot}" for bot in asked]} for round_, asked in byes.items()]
    field = field_of(swiss.FORMAT, bots, rounds=3, byes=wanted, pairing=pairing)
    blocks, _, _ = played_out(swiss.FORMAT, field, by_strength)
    matches = sum(len(block.matches) for block in blocks)
    assert (swiss.FORMAT.extent(field).least, swiss.FORMAT.extent(field).most) == (matches, matches)


@pytest.mark.parametrize(("given", "points"), [(None, "0.5"), (0, "0"), (1, "1")])
def test_a_requested_bye_is_worth_what_the_file_says(given, points):
    more = {} if given is None else {"requested_bye": given}
    field = field_of(swiss.FORMAT, 4, rounds=1, byes=[{"round": 1, "bots": ["bot0", "bot1"]}], **more)
    blocks, table, _ = played_out(swiss.FORMAT, field, by_strength)
    assert rounds_of(blocks) == [[(2, 3)]]
    assert {row.columns["points"] for row in table if row.bot < 2} == {points}


def test_who_asked_for_a_bye_can_still_be_drawn_for_one():
    field = field_of(swiss.FORMAT, 3, rounds=2, byes=[{"round": 1, "bots": ["bot2"]}])
    blocks, table, _ = played_out(swiss.FORMAT, field, by_strength)
    assert rounds_of(blocks) == [[(0, 1)], [(0, 2)]] or rounds_of(blocks)[1] == [(0, 1)]
    assert sum(int(row.columns["byes"]) for row in table) == 2


def test_a_fixed_table_of_a_bot_that_is_out_is_not_played_and_the_notice_says_so():
    field = field_of(swiss.FORMAT, 6, rounds=2, fixed=[{"round": 2, "bots": ["bot0", "bot5"]}])
    blocks, _, notices = played_out(swiss.FORMAT, field, by_strength, leaving={5: 3})
    assert notices == ["round 2: the fixed table of 'bot0' and 'bot5' is not played, since 'bot5' is out of the run"]
    assert len(rounds_of(blocks)[1]) == 2


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"fixed": [{"round": 9, "bots": ["bot0", "bot1"]}]}, "'fixed' names round 9, and there are 3 rounds"),
        ({"byes": [{"round": 4, "bots": ["bot0"]}]}, "'byes' names round 4, and there are 3 rounds"),
        (
            {"fixed": [{"round": 1, "bots": ["bot0", "bot1"]}], "byes": [{"round": 1, "bots": ["bot1"]}]},
            "round 1: 'bot1' is fixed twice, at a table or for a bye",
        ),
        (
            {"fixed": [{"round": 2, "bots": ["bot0", "bot1", "bot2"]}]},
            "round 2: the table of 'bot0', 'bot1' and 'bot2' needs 2 bots, not 3",
        ),
        (
            {"fixed": [{"round": 2, "bots": ["bot0", "bot1"]}], "forbidden": [["bot1", "bot0"]]},
            "round 2: 'bot0' and 'bot1' are fixed at one table, and they are a forbidden pair",
        ),
    ],
)
def test_settings_that_contradict_each_other_are_refused(given, words):
    assert swiss.FORMAT.check(field_of(swiss.FORMAT, 6, rounds=3, **given)) == words


# Tie-breaks


def column(table, name):
    return {row.bot: row.columns[name] for row in table}


def test_each_tie_break_is_what_its_definition_says():
    names = ["buchholz-cut-1", "median-buchholz", "wins", "direct-encounter", "buchholz", "sonneborn-berger"]
    field = field_of(swiss.FORMAT, 8, rounds=3, tie_breaks=names)
    blocks, table, _ = played_out(swiss.FORMAT, field, by_strength)
    assert list(table[0].columns) == ["points", *names, "byes"]
    points = {bot: Fraction(text) for bot, text in column(table, "points").items()}
    met = {bot: [] for bot in range(8)}
    for block in blocks:
        one, other = block.block.group
        met[one].append(other)
        met[other].append(one)
    for bot in range(8):
        theirs = sorted(points[other] for other in met[bot])
        beaten = [other for other in met[bot] if other > bot]
        expected = {
            "buchholz": sum(theirs),
            "buchholz-cut-1": sum(theirs[1:]),
            "median-buchholz": sum(theirs[1:-1]),
            "sonneborn-berger": sum(points[other] for other in beaten),
            "wins": 2 * len(beaten),  # a block is two matches
        }
        assert {name: Fraction(column(table, name)[bot]) for name in expected} == expected


def test_the_direct_encounter_decides_among_those_that_have_all_met():
    def upset(result, bots):
        return by_strength(result, bots[::-1])[::-1] if set(bots) != {1, 2} else [1 + (bot == 1) for bot in bots]

    field = field_of(swiss.FORMAT, 4, rounds=3, tie_breaks=["direct-encounter"])
    _, table, _ = played_out(swiss.FORMAT, field, upset)
    assert [(row.bot, row.columns["points"]) for row in table] == [(0, "3"), (2, "2"), (1, "1"), (3, "0")]
    tied = field_of(swiss.FORMAT, 8, rounds=1, tie_breaks=["direct-encounter"])
    _, table, _ = played_out(swiss.FORMAT, tied, by_strength)
    assert [row.rank for row in table] == [1] * 4 + [5] * 4


def test_tie_breaks_decide_pairings_too():
    usual, other = (
        played_out(swiss.FORMAT, field_of(swiss.FORMAT, 10, rounds=5, **more), by_chance(random.Random(7)))[0]
        for more in ({}, {"tie_breaks": ["wins"]})
    )
    assert rounds_of(usual)[:1] == rounds_of(other)[:1]
    assert [block.block for block in usual] != [block.block for block in other]
