"""Ratings against published numbers, a second implementation, and the ends of the scale."""

import math
import random
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leaderboard.ratings import (
    MAX_DRAW_PROBABILITY,
    GuardedTrueSkill,
    Skill,
    draw_probability,
    rate,
    rate_teams,
)


def exact_cdf(x: float) -> float:
    return math.erfc(-x / math.sqrt(2)) / 2


def exact_pdf(x: float) -> float:
    return math.exp(-x * x / 2) / math.sqrt(2 * math.pi)


def closed_form_win(winner: Skill, loser: Skill, margin: float, beta: float) -> tuple[Skill, Skill]:
    """The two-player update of the TrueSkill paper, written from its formulas."""
    c = math.sqrt(2 * beta**2 + winner.sigma**2 + loser.sigma**2)
    x = (winner.mu - loser.mu - margin) / c
    v = exact_pdf(x) / exact_cdf(x)
    w = v * (v + x)
    return (
        Skill(winner.mu + winner.sigma**2 / c * v, winner.sigma * math.sqrt(1 - winner.sigma**2 / c**2 * w)),
        Skill(loser.mu - loser.sigma**2 / c * v, loser.sigma * math.sqrt(1 - loser.sigma**2 / c**2 * w)),
    )


def close(skill: Skill, mu: float, sigma: float, tolerance: float = 1e-3) -> bool:
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
    environment = GuardedTrueSkill(tau=25 / 300, draw_probability=0.1)
    rated = environment.rate([(environment.create_rating(),) for _ in ranks], ranks=ranks)
    for (rating,), (mu, sigma) in zip(rated, expected, strict=True):
        assert close(Skill(rating.mu, rating.sigma), mu, sigma, 1.5e-3)


@given(st.floats(-60, 60), st.floats(0.7, 9), st.floats(0.7, 9))
def test_two_players_agree_with_the_closed_form(gap, sigma_one, sigma_two):
    environment = GuardedTrueSkill(tau=0, draw_probability=0)
    one, two = Skill(25 + gap, sigma_one), Skill(25, sigma_two)
    ours = rate_teams(environment, [(one,), (two,)], [1, 2])
    theirs = closed_form_win(one, two, 0.0, environment.beta)
    for (skill,), reference in zip(ours, theirs, strict=True):
        assert close(skill, reference.mu, reference.sigma, 2e-4)


@pytest.mark.parametrize("x", [-29.9, -30.1, -35.0])
def test_the_tail_joins_the_exact_functions(x):
    environment = GuardedTrueSkill(draw_probability=0)
    v = exact_pdf(x) / exact_cdf(x)
    assert environment.v_win(x, 0) == pytest.approx(v, rel=1e-6)
    assert environment.w_win(x, 0) == pytest.approx(v * (v + x), abs=2e-4)
    near, far = 1.0 + x, -1.0 + x
    mass = exact_cdf(near) - exact_cdf(far)
    v_draw = (exact_pdf(far) - exact_pdf(near)) / mass
    assert environment.v_draw(-x, 1.0) == pytest.approx(v_draw, rel=1e-4)
    assert environment.v_draw(x, 1.0) == pytest.approx(-v_draw, rel=1e-4)
    assert environment.w_draw(-x, 1.0) == pytest.approx(1, abs=2e-3)


@pytest.mark.parametrize("gap", [10.0, 100.0, 231.0, 1e3, 1e6])
@pytest.mark.parametrize("players", [2, 4, 8])
@pytest.mark.parametrize("draw", [0.0, 1e-5, 0.1, 0.99])
def test_no_gap_is_too_wide(gap, players, draw):
    environment = GuardedTrueSkill(tau=0, draw_probability=draw)
    groups = [(Skill(25 + gap * seat, 1.0),) for seat in range(players)]
    for ranks in ([1] * players if draw else list(range(1, players + 1)), list(range(1, players + 1))):
        for group in (groups, groups[::-1]):
            for (skill,) in rate_teams(environment, group, ranks):
                assert math.isfinite(skill.mu)
                assert 0 < skill.sigma <= 1.0 + 1e-9


def test_ten_thousand_straight_losses_stay_finite(make_row):
    rows = [make_row(place, {"loser": 2, "winner": 1}) for place in range(10_000)]
    skills = rate(rows)
    assert math.isfinite(skills["loser"].mu)
    assert skills["loser"].sigma > 0
    assert skills["winner"].conservative > skills["loser"].conservative


def test_ratings_do_not_depend_on_the_order_of_arrival(make_row):
    chance = random.Random(5)
    bots = ["ann", "bob", "cyd"]
    rows = [
        make_row(place, dict(zip(chance.sample(bots, 2), chance.choice([(1, 2), (2, 1), (1, 1)]), strict=True)))
        for place in range(60)
    ]
    reference = rate(rows)
    for _ in range(3):
        chance.shuffle(rows)
        assert rate(rows) == reference


def test_tied_players_are_treated_alike_wherever_they_sit(make_row):
    environment = GuardedTrueSkill(tau=0, draw_probability=0.2)
    for order in permutations(range(4)):
        ranks = [1, 2, 2, 2]
        rated = rate_teams(environment, [(Skill(),) for _ in order], ranks)
        tied = [rated[seat][0] for seat in (1, 2, 3)]
        assert all(skill.mu == pytest.approx(tied[0].mu, abs=1e-9) for skill in tied)
        assert all(skill.sigma == pytest.approx(tied[0].sigma, abs=1e-9) for skill in tied)


def test_team_members_rise_and_fall_together(make_row):
    row = make_row(0, {"a": 1, "b": 2, "c": 1, "d": 2}, teams=(0, 1, 0, 1))
    skills = rate([row])
    assert skills["a"] == skills["c"]
    assert skills["b"] == skills["d"]
    assert skills["a"].mu > 25 > skills["b"].mu


@pytest.mark.parametrize(
    ("results", "expected"),
    [
        ([], 0.0),
        ([{"a": 1, "b": 2}] * 4, 0.0),
        ([{"a": 1, "b": 2}] * 3 + [{"a": 1, "b": 1}], 0.25),
        ([{"a": 1, "b": 1}] * 4, MAX_DRAW_PROBABILITY),
        ([{"a": 1, "b": 1, "c": 3}], 0.5),
    ],
)
def test_the_draw_probability_is_the_share_of_ties(make_row, results, expected):
    assert draw_probability([make_row(place, ranks) for place, ranks in enumerate(results)]) == expected


def test_only_draws_leave_everyone_where_they_were(make_row):
    skills = rate([make_row(place, {"a": 1, "b": 1}) for place in range(50)])
    assert skills["a"].mu == pytest.approx(25)
    assert skills["a"].sigma < 25 / 3


def test_a_match_of_a_bot_against_itself_is_not_rated(make_row):
    row = make_row(0, {"a": 1, "b": 2})
    seats = tuple(type(seat)(**{**_fields(seat), "entry_id": "a"}) for seat in row.seats)
    assert rate([type(row)(**{**_fields(row), "seats": seats})]) == {}


def _fields(value):
    return {name: getattr(value, name) for name in value.__dataclass_fields__}


@pytest.mark.parametrize("tied", [4, 5, 6])
def test_many_tied_players_change_alike_and_whatever_their_seats(tied):
    environment = GuardedTrueSkill(tau=0.0, draw_probability=0.2)
    alike = rate_teams(environment, [(Skill(),)] * (tied + 1), [1] + [2] * tied)
    assert {(round(skill.mu, 9), round(skill.sigma, 9)) for (skill,) in alike[1:]} == {
        (round(alike[1][0].mu, 9), round(alike[1][0].sigma, 9))
    }
    field = [(Skill(20.0 + seat, 4.0),) for seat in range(tied)]
    there = rate_teams(environment, field, [1] * tied)
    back = rate_teams(environment, field[::-1], [1] * tied)[::-1]
    for (one,), (other,) in zip(there, back, strict=True):
        assert one.mu == pytest.approx(other.mu, abs=1e-9)
        assert one.sigma == pytest.approx(other.sigma, abs=1e-9)


def test_a_tie_of_six_asks_the_package_a_dozen_times_not_720(monkeypatch):
    environment, calls = GuardedTrueSkill(tau=0.0, draw_probability=0.2), []
    real = environment.rate
    monkeypatch.setattr(environment, "rate", lambda *args, **keys: calls.append(1) or real(*args, **keys))
    rate_teams(environment, [(Skill(),)] * 6, [1] * 6)
    assert len(calls) == 12
