"""One match at a time against published numbers, the package, exact formulas, and the ends of the scale."""

import math
from itertools import permutations

import numpy as np
import pytest
import trueskill
from hypothesis import example, given, settings
from hypothesis import strategies as st

from leaderboard.ratings import live
from leaderboard.ratings import skill as normal
from leaderboard.ratings.live import GuardedTrueSkill, rate_match
from leaderboard.ratings.skill import BETA, Skill


def rate_teams(groups, ranks, draw, environment=GuardedTrueSkill):
    """The skills after one match of teams in this order; `ranks` ascend."""
    teams = [tuple(f"{team}.{player}" for player, _ in enumerate(group)) for team, group in enumerate(groups)]
    skills = {
        entry: skill
        for team, group in zip(teams, groups, strict=True)
        for entry, skill in zip(team, group, strict=True)
    }
    result = tuple(
        tuple(team for team, rank in zip(teams, ranks, strict=True) if rank == wanted) for wanted in sorted(set(ranks))
    )
    rated = rate_match(environment(tau=0.0, draw_probability=draw), result, skills)
    return [tuple(rated[entry] for entry in team) for team in teams]


def close(skill: Skill, mu: float, sigma: float, tolerance: float) -> bool:
    return abs(skill.mu - mu) < tolerance and abs(skill.sigma - sigma) < tolerance


@pytest.mark.parametrize(
    ("ranks", "expected"),
    [
        # Moser, "Computing your skill", and the original calculator: default parameters, tau 25/300, draw 10 %.
        ([1, 2], [(29.396, 7.171), (20.604, 7.171)]),
        ([1, 1], [(25.0, 6.458), (25.0, 6.458)]),
        ([1, 2, 3], [(31.675, 6.656), (25.0, 6.208), (18.325, 6.656)]),
        ([1, 1, 1], [(25.0, 5.698), (25.0, 5.695), (25.0, 5.698)]),
        ([1, 2, 3, 4], [(33.207, 6.348), (27.401, 5.787), (22.599, 5.787), (16.793, 6.348)]),
    ],
)
def test_published_examples(ranks, expected):
    new = Skill(25.0, math.hypot(25 / 3, 25 / 300))
    # The published middle of three who tie is surer by 0.0025 than those beside it; ours are alike.
    for (skill,), (mu, sigma) in zip(rate_teams([(new,) for _ in ranks], ranks, 0.1), expected, strict=True):
        assert close(skill, mu, sigma, 3e-3)


SKILLS = st.builds(Skill, st.floats(5, 45), st.floats(0.7, 9))


@given(st.lists(st.lists(SKILLS, min_size=1, max_size=2).map(tuple), min_size=2, max_size=5), st.floats(0.01, 0.9))
@example([(Skill(5.0, 1.0),), (Skill(5.0, 1.0),), (Skill(44.0, 1.0),)], 0.875)
@example([(Skill(5.0, 1.0),), (Skill(5.0, 5.0),), (Skill(26.0, 1.0), Skill(45.0, 1.0))], 0.5)
@settings(max_examples=60, deadline=None)
def test_matches_without_a_tie_have_the_numbers_of_the_package_alone(groups, draw):
    ranks = list(range(len(groups)))
    package = trueskill.TrueSkill(tau=0.0, draw_probability=draw)
    theirs = package.rate([tuple(trueskill.Rating(skill.mu, skill.sigma) for skill in group) for group in groups])
    for ours, rated in zip(rate_teams(groups, ranks, draw), theirs, strict=True):
        for skill, rating in zip(ours, rated, strict=True):
            assert close(skill, rating.mu, rating.sigma, 1e-4)  # at which the package stops its rounds


@given(SKILLS, SKILLS, st.floats(0.1, 0.9))
def test_a_draw_of_two_has_the_numbers_of_the_package_alone(one, other, draw):
    package = trueskill.TrueSkill(tau=0.0, draw_probability=draw)
    theirs = trueskill.rate_1vs1(
        trueskill.Rating(one.mu, one.sigma), trueskill.Rating(other.mu, other.sigma), drawn=True, env=package
    )
    for (skill,), rating in zip(rate_teams([(one,), (other,)], [1, 1], draw), theirs, strict=True):
        assert close(skill, rating.mu, rating.sigma, 1e-9)


@pytest.mark.parametrize("gap", [250.0, 400.0])
@pytest.mark.parametrize("ranks", [[1, 2], [1, 1]])
def test_the_guard_rates_what_the_package_alone_refuses(gap, ranks):
    groups = [(Skill(25.0, 1.0),), (Skill(25.0 + gap, 1.0),)]
    with pytest.raises(FloatingPointError):
        rate_teams(groups, ranks, 0.1, trueskill.TrueSkill)
    (lower,), (higher,) = rate_teams(groups, ranks, 0.1)
    assert lower.mu > 25
    assert higher.mu < 25 + gap


@pytest.mark.parametrize(("gap", "draw"), [(50.0, 1e-3), (3.0, 1e-5), (0.0, 1e-4)])
def test_a_draw_within_a_narrow_margin_makes_both_surer_where_the_package_alone_is_wrong(gap, draw):
    """The moments are those of the difference between minus and plus the margin, which is next to a point."""
    groups = [(Skill(25.0, 2.0),), (Skill(25.0 + gap, 2.0),)]
    variance = 2 * 2.0**2 + 2 * BETA**2
    for (skill,), sign in zip(rate_teams(groups, [1, 1], draw), (1, -1), strict=True):
        assert skill.mu == pytest.approx(25 + (gap if sign < 0 else 0) + sign * gap * 4 / variance, abs=2e-2)
        assert skill.sigma == pytest.approx(math.sqrt(4 - 16 / variance), abs=1e-4)


@given(st.floats(-9.9, 9.9), st.floats(0.03, 20))
def test_the_corrections_of_the_guard_go_on_where_those_of_the_package_end(diff, margin):
    package = trueskill.TrueSkill()
    assert live._win(diff)[0] == pytest.approx(package.v_win(diff, 0.0), abs=2e-6)
    assert 1 - live._win(diff)[1] == pytest.approx(1 - package.w_win(diff, 0.0), rel=2e-3, abs=1e-9)
    if abs(diff) - margin < 9:
        assert live._draw(diff, margin)[0] == pytest.approx(package.v_draw(diff, margin), abs=2e-6)


@pytest.mark.parametrize("x", [-35.0, -30.1, -29.9, -5.0, 0.0, 3.0, 40.0])
def test_corrections_are_those_of_the_normal_distribution(x):
    tail = math.erfc(-x / math.sqrt(2)) / 2
    v = math.exp(-x * x / 2) / math.sqrt(2 * math.pi) / tail
    found = normal.above(np.array([x]))
    assert found[0][0] == pytest.approx(v, rel=1e-6, abs=1e-12)
    assert found[1][0] == pytest.approx(v * (v + x), abs=2e-4)


@given(st.floats(-200, 200), st.floats(1e-6, 20))
def test_the_mean_of_a_window_is_in_it(x, margin):
    mean, variance = normal.between(np.array([-margin - x]), np.array([margin - x]))
    assert abs(mean[0] + x) <= margin * (1 + 1e-9)
    assert 0 < variance[0] <= 1


@pytest.mark.parametrize(("low", "high"), [(-0.5, 0.5), (-2.0, -1.9995), (1.0, 1.0008), (-31.0, -29.5), (29.0, 33.0)])
def test_the_moments_of_a_window_are_those_of_the_integral(low, high):
    x = np.linspace(low, high, 200_001)
    density = np.exp((min(abs(low), abs(high)) ** 2 - x * x) / 2)
    mean = (x * density).sum() / density.sum()
    variance = ((x - mean) ** 2 * density).sum() / density.sum()
    found = normal.between(np.array([low]), np.array([high]))
    assert found[0][0] == pytest.approx(mean, rel=1e-4)
    assert found[1][0] == pytest.approx(variance, rel=5e-3)


@pytest.mark.slow
@pytest.mark.parametrize("gap", [10.0, 100.0, 231.0, 1e3, 1e6])
@pytest.mark.parametrize("players", [2, 4, 8])
@pytest.mark.parametrize("draw", [1e-5, 0.1, 0.99])
def test_no_gap_is_too_wide(gap, players, draw):
    groups = [(Skill(25 + gap * seat, 1.0),) for seat in range(players)]
    for ranks in ([1] * players, list(range(1, players + 1))):
        for group in (groups, groups[::-1]):
            for (skill,) in rate_teams(group, ranks, draw):
                assert math.isfinite(skill.mu)
                assert 0 < skill.sigma <= 1.0 + 1e-9


def test_tied_players_are_treated_alike_wherever_they_sit():
    for order in permutations(range(4)):
        rated = rate_teams([(Skill(),) for _ in order], [1, 2, 2, 2], 0.2)
        tied = [rated[seat][0] for seat in (1, 2, 3)]
        assert all(skill.mu == pytest.approx(tied[0].mu, abs=1e-9) for skill in tied)
        assert all(skill.sigma == pytest.approx(tied[0].sigma, abs=1e-9) for skill in tied)


@pytest.mark.parametrize("tied", [4, 5, 6])
def test_many_tied_players_change_alike_and_whatever_their_seats(tied):
    alike = rate_teams([(Skill(),)] * (tied + 1), [1] + [2] * tied, 0.2)
    assert len({(round(skill.mu, 9), round(skill.sigma, 9)) for (skill,) in alike[1:]}) == 1
    field = [(Skill(20.0 + seat, 4.0),) for seat in range(tied)]
    there = rate_teams(field, [1] * tied, 0.2)
    back = rate_teams(field[::-1], [1] * tied, 0.2)[::-1]
    for (one,), (other,) in zip(there, back, strict=True):
        assert one.mu == pytest.approx(other.mu, abs=1e-9)
        assert one.sigma == pytest.approx(other.sigma, abs=1e-9)


@pytest.mark.parametrize(("tied", "chains"), [(2, 1), (3, 6), (4, 8), (6, 12)])
def test_a_tie_of_six_takes_a_dozen_chains_not_720(tied, chains):
    calls = []

    class Counting(GuardedTrueSkill):
        def rate(self, *words):
            calls.append(1)
            return super().rate(*words)

    rate_teams([(Skill(),)] * tied, [1] * tied, 0.2, Counting)
    assert len(calls) == chains
