"""What matchmaking believes is TrueSkill's, and a new version begins where the one before was."""

import math
from random import Random

import pytest
from trueskill import Rating, TrueSkill

from leaderboard.ratings.skill import SIGMA, WIDENING
from referee.ladder.beliefs import DRAWS, Belief, Beliefs


def after(ranking, *skills):
    beliefs = Beliefs({str(number): Belief(*skill) for number, skill in enumerate(skills)})
    beliefs.apply([*beliefs.known], range(len(skills)), ranking)
    return [(belief.mu, belief.sigma) for belief in beliefs.known.values()]


@pytest.mark.parametrize("ranking", [(1, 2), (2, 1), (1, 1)])
@pytest.mark.parametrize("skills", [((25, 8), (25, 8)), ((30, 2), (20, 5)), ((20, 1), (30, 7)), ((5, 1), (45, 1))])
def test_two_bots_come_out_as_the_package_has_them(ranking, skills):
    environment = TrueSkill(25, SIGMA, SIGMA / 2, 0, DRAWS)
    expected = environment.rate([(Rating(*skill),) for skill in skills], ranking)
    assert after(ranking, *skills) == [pytest.approx(tuple(one), rel=1e-3) for (one,) in expected]


def test_a_match_of_two_is_the_shortest_case_of_a_match_of_several_to_the_last_bit():
    chance = Random(1)
    quick, whole = ([Belief(25 + 5 * number, 1 + number) for number in range(4)] for _ in range(2))
    beliefs = [Beliefs(dict(zip("abcd", known, strict=True))) for known in (quick, whole)]
    for _ in range(300):
        entries, ranking = chance.sample("abcd", 2), chance.choice([(1, 2), (2, 1), (1, 1)])
        prior = {name: (belief.mu, belief.sigma**2) for name, belief in beliefs[1].known.items()}
        beliefs[0].apply(entries, (0, 1), ranking)
        beliefs[1]._apply(entries, (0, 1), ranking, frozenset(entries), prior)
        assert beliefs[0] == beliefs[1]


def test_of_several_bots_the_best_gains_and_the_worst_loses():
    found = after((2, 1, 3, 4), *[(25, 5)] * 4)
    assert found[1][0] > 25 > found[3][0]
    assert all(0 < sigma < 5 for _, sigma in found)


def test_team_mates_gain_together():
    beliefs = Beliefs({name: Belief() for name in "abcd"})
    beliefs.apply("abcd", (0, 1, 0, 1), (1, 2, 1, 2))
    assert beliefs.known["a"].mu == beliefs.known["c"].mu > beliefs.known["b"].mu


def test_a_bot_that_meets_itself_is_left_whole():
    beliefs = Beliefs({"a": Belief()})
    beliefs.apply(("a", "a"), (0, 1), (1, 2))
    assert beliefs.known["a"].mu == pytest.approx(25.0)


def test_a_new_version_carries_the_rating_with_widened_sigma():
    beliefs = Beliefs()
    beliefs.joined("one", "ann")
    beliefs.joined("other", "bob")
    for _ in range(30):
        beliefs.apply(("one", "other"), (0, 1), (1, 2))
    beliefs.joined("two", "ann")
    before, now = beliefs.known["one"], beliefs.known["two"]
    assert now.mu == before.mu > 25
    assert now.sigma == pytest.approx(min(SIGMA, math.hypot(before.sigma, WIDENING)))
    assert beliefs.known["one"] is before
    beliefs.joined("one", "ann")
    assert beliefs.known["one"] is before, "a version that is made active again goes on with its own"
