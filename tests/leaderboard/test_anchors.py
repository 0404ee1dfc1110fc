"""Anchors: fixed ratings are exact, and all others keep their differences and errors."""

import random
from collections import Counter
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leaderboard.controls import Counted
from leaderboard.ratings.anchors import ELO_PER_MU
from leaderboard.ratings.elo import strengths
from leaderboard.ratings.official import rate_results
from leaderboard.standings import standings


def field(seed: int, bots: int = 5, drawn: float = 0.1) -> Counter:
    """Results of a round robin of bots "a", "b", ... of which later ones are stronger."""
    chance = random.Random(seed)
    found: Counter = Counter()
    for one, other in combinations("abcdefgh"[:bots], 2):
        for _ in range(chance.randint(1, 12)):
            first, second = (one,), (other,)
            if chance.random() < drawn:
                found[((first, second),)] += 1
            elif chance.random() < 0.35:
                found[((first,), (second,))] += 1
            else:
                found[((second,), (first,))] += 1
    return found


@given(seed=st.integers(0, 1000), value=st.integers(-3000, 3000))
@settings(max_examples=15)
def test_one_anchor_moves_the_scale_and_no_difference(seed, value):
    results = field(seed)
    plain, fixed = rate_results(results), rate_results(results, anchors={"b": value})
    assert (fixed.skills["b"].mu, fixed.skills["b"].sigma) == (25.0, 0.0)
    for entry in "acde":
        gap = plain.skills[entry].mu - plain.skills["b"].mu
        assert fixed.skills[entry].mu - 25.0 == pytest.approx(gap, abs=1e-5)
        assert fixed.skills[entry].sigma ** 2 == pytest.approx(plain._variance(entry, "b"), rel=1e-4)
        assert fixed.better(entry, "a") == pytest.approx(plain.better(entry, "a"), abs=1e-5)
    assert sorted("abcde", key=fixed.conservative) == sorted("abcde", key=plain.conservative), "no rank changes"
    elo, moved = strengths(results), strengths(results, {"b": value})
    assert (moved["b"].mu, moved["b"].sigma) == (value, 0.0)
    for entry in "acde":
        assert moved[entry].mu - value == pytest.approx(elo[entry].mu - elo["b"].mu, abs=1e-5)


@given(seed=st.integers(0, 1000), gap=st.integers(-400, 400))
@settings(max_examples=15)
def test_several_anchors_are_exact_in_any_order_and_the_others_fit_the_results_best(seed, gap):
    results = field(seed)
    anchors = {"a": 1000, "c": 1000 + gap}
    official = rate_results(results, anchors=anchors)
    assert official.skills["c"].mu - official.skills["a"].mu == pytest.approx(gap / ELO_PER_MU, abs=1e-9)
    assert official.skills["c"].sigma == official.skills["a"].sigma == 0.0
    elo = strengths(results, anchors)
    assert {entry: elo[entry].mu for entry in anchors} == anchors
    turned = dict(reversed(anchors.items()))
    shuffled = dict(random.Random(seed).sample(list(results.items()), len(results)))
    assert strengths(shuffled, turned) == elo
    assert np.array_equal(rate_results(shuffled, anchors=turned).covariance, official.covariance)
    for entry in "bde":  # what is free is where its wins are those that are expected, up to the weak prior
        won = expected = 0.0
        for result, times in results.items():
            ids = [team[0] for group in result for team in group]
            if entry in ids:
                other = next(id_ for id_ in ids if id_ != entry)
                expected += times / (1 + 10 ** ((elo[other].mu - elo[entry].mu) / 400))
                won += times * (0.5 if len(result) == 1 else result[0][0][0] == entry)
        assert won == pytest.approx(expected, abs=0.5)


def test_a_fixed_difference_that_the_results_suggest_changes_little():
    results = field(7)
    free = rate_results(results)
    gap = (free.skills["d"].mu - free.skills["a"].mu) * ELO_PER_MU
    fixed = rate_results(results, anchors={"a": 0, "d": gap})
    moved = [fixed.skills[entry].mu - fixed.skills["a"].mu for entry in "bce"]
    assert moved == pytest.approx([free.skills[entry].mu - free.skills["a"].mu for entry in "bce"], abs=0.02)
    assert all(fixed.skills[entry].sigma < free._variance(entry, "a") ** 0.5 for entry in "bce")


def test_teams_and_several_seats_take_anchors_too():
    results = {((("a", "b"),), (("c", "d"),)): 3, ((("c",),), (("a",),), (("d",),)): 2, ((("b",), ("d",)),): 1}
    official = rate_results(results, anchors={"a": 900, "d": 1100})
    assert official.settled
    assert official.skills["d"].mu - official.skills["a"].mu == pytest.approx(200 / ELO_PER_MU)
    assert strengths(results, {"a": 900, "d": 1100})["a"].mu == 900


def test_groups_that_have_not_met_have_a_common_scale_through_their_anchors():
    results = {((("a",),), (("b",),)): 5, ((("c",),), (("d",),)): 5, ((("e",),), (("f",),)): 5}
    official = rate_results(results, anchors={"a": 1500, "c": 1000})
    assert official.groups == [frozenset("abcd"), frozenset("ef")]
    assert official.skills["a"].mu > official.skills["b"].mu
    assert official.skills["c"].mu > official.skills["d"].mu
    assert official.skills["e"].mu + official.skills["f"].mu == pytest.approx(50)
    elo = strengths(results, {"a": 1500, "c": 1000})
    assert elo["e"].mu + elo["f"].mu == pytest.approx(0)
    assert official.better("a", "c") == 1.0
    assert official.better("c", "a") == 0.0


def test_all_columns_of_a_table_follow_the_anchor(make_row):
    rows = [make_row(place, {"a": 1, "b": 2} if place % 3 else {"a": 2, "b": 1}) for place in range(12)]
    plain = {row.entry_id: row for row in standings(rows)}
    counted = Counted(tuple(rows), anchors={"b": 1000.0, "nobody": 7.0})
    found = {row.entry_id: row for row in standings(counted)}
    assert (found["b"].elo, found["b"].elo_error) == (1000, 0)
    assert (found["b"].mu, found["b"].sigma, found["b"].low, found["b"].live_mu) == (25, 0, 25, 25)
    for name, level in (("mu", 25), ("live_mu", 25), ("elo", 1000)):
        gap = getattr(plain["a"], name) - getattr(plain["b"], name)
        assert getattr(found["a"], name) - level == pytest.approx(gap, abs=1e-5)
    assert "Anchored: b 1000 (Elo)" in counted.caption().replace("B", "b")
    assert "Anchored" not in replace(counted, anchors={"nobody": 7.0}).caption()
