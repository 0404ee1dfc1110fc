"""The cross-check against known values, and against the official table."""

import math
from collections import Counter
from itertools import permutations

import pytest

from leaderboard.ratings.anchors import ELO
from leaderboard.ratings.elo import PRIOR_ELO, strengths


def ranked(*groups):
    return tuple(tuple((entry,) for entry in sorted(group)) for group in groups)


def test_two_entries_have_the_odds_of_their_wins():
    found = strengths({ranked("a", "b"): 750, ranked("b", "a"): 250})
    assert found["a"].mu - found["b"].mu == pytest.approx(400 * math.log10(3), abs=1)
    # The information of n games at p is n p (1 - p); the centred error is half that of the difference.
    assert found["a"].sigma == pytest.approx(ELO / math.sqrt(1000 * 0.75 * 0.25) / 2, rel=0.01)


def test_a_draw_is_half_a_win_for_each():
    drawn = strengths({ranked("a", "b"): 40, ranked("ab"): 20, ranked("b", "a"): 20})
    halved = strengths({ranked("a", "b"): 50, ranked("b", "a"): 30})
    assert drawn["a"].mu == pytest.approx(halved["a"].mu)


def test_the_classic_three_entry_solution_is_stationary():
    """At the maximum every entry's wins are what its strengths expect (Zermelo, 1929), up to the weak prior."""
    wins = {("a", "b"): 60, ("b", "a"): 40, ("b", "c"): 70, ("c", "b"): 30, ("a", "c"): 80, ("c", "a"): 20}
    found = strengths({ranked(one, other): times for (one, other), times in wins.items()})
    for entry in "abc":
        won = sum(times for (one, _), times in wins.items() if one == entry)
        expected = sum(
            100 / (1 + 10 ** ((found[other].mu - found[entry].mu) / 400)) for other in "abc" if other != entry
        )
        assert won == pytest.approx(expected, abs=0.2 + ELO * abs(found[entry].mu) / PRIOR_ELO**2)


def test_a_tie_is_the_mean_over_all_orders():
    apart = Counter({ranked("d", *order): 1 for order in permutations("abc")})
    together = Counter({ranked("d", "abc"): 6})
    for entry, strength in strengths(apart).items():
        assert strengths(together)[entry].mu == pytest.approx(strength.mu, abs=1e-6)


def test_one_who_always_wins_stays_finite():
    found = strengths({ranked("a", "b"): 10_000})
    assert 300 < found["a"].mu < 3 * PRIOR_ELO
    assert found["b"].sigma > 50


def test_players_of_one_team_share_its_results():
    team = (("a", "b"),), (("c", "d"),)
    found = strengths({team: 3, team[::-1]: 1})
    assert found["a"].mu == pytest.approx(found["b"].mu)
    assert found["a"].mu > found["c"].mu


def test_nothing_played_gives_nothing():
    assert strengths({}) == {}
