"""One match at a time against published numbers, the package, exact formulas, and the ends of the scale."""

import math
from itertools import permutations, product

import numpy as np
import pytest
import trueskill
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from leaderboard import gauss, guarded
from leaderboard.chain import messages
from leaderboard.guarded import above, rate_teams, rate_two, within
from leaderboard.skill import BETA, Skill


class ExactTrueSkill(trueskill.TrueSkill):
    """The package with our corrections, which are exact where its own are approximate."""

    def v_win(self, diff, draw_margin):
        return above(diff - draw_margin)[0]

    def w_win(self, diff, draw_margin):
        return above(diff - draw_margin)[1]

    def v_draw(self, diff, draw_margin):
        return within(diff, draw_margin)[0]

    def w_draw(self, diff, draw_margin):
        return within(diff, draw_margin)[1]


@pytest.fixture
def all_orders(monkeypatch):
    """Those of four tied teams, too: otherwise the mean is over their rotations, which is seen in 1e-3."""
    monkeypatch.setattr(guarded, "MANY_TIED", 4)


def by_the_package(groups, ranks, draw):
    """Its ratings, the mean over all orders of teams that tie."""
    package = ExactTrueSkill(tau=0.0, draw_probability=draw)
    ties = [[team for team, rank in enumerate(ranks) if rank == wanted] for wanted in sorted(set(ranks))]
    sums = [[[0.0, 0.0] for _ in group] for group in groups]
    orders = list(product(*map(permutations, ties)))
    for parts in orders:
        order = [team for part in parts for team in part]
        rated = package.rate(
            [tuple(trueskill.Rating(skill.mu, skill.sigma) for skill in groups[team]) for team in order],
            ranks=[ranks[team] for team in order],
        )
        for team, group in zip(order, rated, strict=True):
            for total, rating in zip(sums[team], group, strict=True):
                total[0] += rating.mu / len(orders)
                total[1] += rating.sigma**2 / len(orders)
    return [[(mu, math.sqrt(square)) for mu, square in group] for group in sums]


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


@given(
    st.lists(st.lists(SKILLS, min_size=1, max_size=2).map(tuple), min_size=2, max_size=4),
    st.lists(st.integers(1, 3), min_size=4, max_size=4),
    st.floats(0.01, 0.9),
)
@example([(Skill(5, 1),), (Skill(5, 1),), (Skill(5, 1),), (Skill(6, 1),)], [1, 1, 1, 1], 0.5)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_free_for_alls_and_teams_with_ties_have_the_numbers_of_the_package(all_orders, groups, ranks, draw):
    ranks = sorted(ranks[: len(groups)])
    for ours, theirs in zip(rate_teams(groups, ranks, draw), by_the_package(groups, ranks, draw), strict=True):
        for skill, (mu, sigma) in zip(ours, theirs, strict=True):
            assert close(skill, mu, sigma, 1e-6)


@given(st.floats(-60, 60), st.floats(0.7, 9), st.floats(0.7, 9), st.floats(0.01, 0.9), st.booleans())
def test_the_closed_form_for_two_agrees_with_the_package(gap, sigma_one, sigma_two, draw, drawn):
    package = trueskill.TrueSkill(tau=0, draw_probability=draw)
    margin = trueskill.calc_draw_margin(draw, 2, package)
    one, two = Skill(25 + gap, sigma_one), Skill(25, sigma_two)
    ours = rate_two(one, two, margin, BETA, drawn=drawn)
    theirs = trueskill.rate_1vs1(
        trueskill.Rating(one.mu, one.sigma), trueskill.Rating(two.mu, two.sigma), drawn=drawn, env=package
    )
    for skill, rating in zip(ours, theirs, strict=True):
        assert close(skill, rating.mu, rating.sigma, 1e-3)


@pytest.mark.parametrize("x", [-35.0, -30.1, -29.9, -5.0, 0.0, 3.0, 40.0])
def test_corrections_are_those_of_the_normal_distribution(x):
    tail = math.erfc(-x / math.sqrt(2)) / 2
    v = math.exp(-x * x / 2) / math.sqrt(2 * math.pi) / tail
    assert above(x)[0] == pytest.approx(v, rel=1e-6, abs=1e-12)
    assert above(x)[1] == pytest.approx(v * (v + x), abs=2e-4)


@given(st.floats(-200, 200), st.floats(1e-6, 20))
def test_arrays_and_single_numbers_have_the_same_corrections(x, margin):
    v, w = gauss.above(np.array([x]))
    assert (v[0], w[0]) == pytest.approx(above(x), rel=1e-9, abs=1e-12)
    mean, variance = gauss.between(np.array([-margin - x]), np.array([margin - x]))
    assert (mean[0], 1 - variance[0]) == pytest.approx(within(x, margin), rel=1e-9, abs=1e-9)
    assert abs(mean[0] + x) <= margin * (1 + 1e-9)
    assert 0 < variance[0] <= 1


@pytest.mark.parametrize(("low", "high"), [(-0.5, 0.5), (-2.0, -1.9995), (1.0, 1.0008), (-31.0, -29.5), (29.0, 33.0)])
def test_the_moments_of_a_window_are_those_of_the_integral(low, high):
    x = np.linspace(low, high, 200_001)
    density = np.exp((min(abs(low), abs(high)) ** 2 - x * x) / 2)
    mean = (x * density).sum() / density.sum()
    variance = ((x - mean) ** 2 * density).sum() / density.sum()
    found = gauss.between(np.array([low]), np.array([high]))
    assert found[0][0] == pytest.approx(mean, rel=1e-4)
    assert found[1][0] == pytest.approx(variance, rel=5e-3)


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


def test_a_tie_of_six_takes_a_dozen_chains_not_720(monkeypatch):
    calls = []
    monkeypatch.setattr(guarded, "messages", lambda *words: calls.append(1) or messages(*words))
    rate_teams([(Skill(),)] * 6, [1] * 6, 0.2)
    assert len(calls) == 12
