"""The official table: no order, published numbers, exact integrals, a second implementation, honest intervals."""

import math
import random
from collections import Counter
from itertools import combinations
from statistics import NormalDist

import numpy as np
import pytest
import trueskill

from leaderboard.ratings import official
from leaderboard.ratings.official import INTERVAL_95, rate, rate_results
from leaderboard.ratings.skill import BETA, SIGMA
from leaderboard.results import groups_of, result_of


def ranked(*groups):
    """A result of teams of one: ranked("a", "bc") has a before b and c, who tie."""
    return tuple(tuple((entry,) for entry in sorted(group)) for group in groups)


def uncentred(results, draw=None):
    """Means and standard deviations with the level that the prior gives, for comparison with single matches."""
    entries = sorted({e for result in results for group in result for team in group for e in team})
    belief = official._Belief(
        official.make_sites(results, {entry: place for place, entry in enumerate(entries)}), len(entries)
    )
    assert belief.settle(official._margin(draw or 0.0), 1e-9)
    return {e: (m, s) for e, m, s in zip(entries, belief.mean, np.sqrt(np.diag(belief.covariance)), strict=True)}


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        # As in test_guarded. The calculator's tau adds (25/300)^2 to the variance: nothing at this precision.
        (ranked("a", "b"), [(29.396, 7.171), (20.604, 7.171)]),
        (ranked("ab"), [(25.0, 6.458), (25.0, 6.458)]),
        (ranked("a", "b", "c"), [(31.675, 6.656), (25.0, 6.208), (18.325, 6.656)]),
        (ranked("a", "b", "c", "d"), [(33.207, 6.348), (27.401, 5.787), (22.599, 5.787), (16.793, 6.348)]),
    ],
)
def test_one_match_has_the_published_numbers(result, expected):
    for found, (mu, sigma) in zip(uncentred({result: 1}, 0.1).values(), expected, strict=True):
        assert found == pytest.approx((mu, sigma), abs=2e-3)


@pytest.mark.parametrize(
    ("teams", "ranks"),
    [
        ((("a", "b"), ("c", "d")), (0, 1)),
        ((("a", "b"), ("c", "d")), (0, 0)),
        ((("a",), ("b", "c")), (0, 1)),
        ((("a", "b"), ("c", "d"), ("e", "f")), (0, 1, 2)),
        ((("a",), ("b",), ("c",), ("d",), ("e",), ("f",)), (0, 1, 2, 3, 4, 5)),
    ],
)
def test_one_match_has_the_numbers_of_the_trueskill_package(teams, ranks):
    package = trueskill.TrueSkill(tau=0, draw_probability=0.1)
    rated = package.rate([tuple(trueskill.Rating() for _ in team) for team in teams], ranks=ranks)
    theirs = {entry: r for team, group in zip(teams, rated, strict=True) for entry, r in zip(team, group, strict=True)}
    result = tuple(
        tuple(team for team, rank in zip(teams, ranks, strict=True) if rank == wanted) for wanted in sorted(set(ranks))
    )
    for entry, found in uncentred({result: 1}, 0.1).items():
        assert found == pytest.approx((theirs[entry].mu, theirs[entry].sigma), abs=2e-3)


def exact_moments(results, draw, points=121, reach=5.0):
    """The same posterior by summing over a grid of both skills: no approximation but the grid."""
    margin = official._margin(draw) * math.sqrt(2) * BETA
    luck = NormalDist(0, math.sqrt(2) * BETA)
    axis = np.linspace(-reach * SIGMA, reach * SIGMA, points)
    a, b = np.meshgrid(axis, axis, indexing="ij")
    density = np.exp(-(a**2 + b**2) / (2 * SIGMA**2))
    cdf = np.vectorize(luck.cdf)
    for result, times in results.items():
        if len(result) == 1:
            likelihood = cdf(margin - (a - b)) - cdf(-margin - (a - b))
        else:
            likelihood = cdf((a - b if result[0][0][0] == "a" else b - a) - margin)
        density = density * likelihood**times
    density /= density.sum()
    mean = (a * density).sum()
    return 25 + mean, math.sqrt(((a - mean) ** 2 * density).sum())


@pytest.mark.parametrize(("wins", "draws", "losses"), [(1, 0, 0), (3, 0, 1), (5, 3, 2), (0, 6, 0), (12, 0, 0)])
def test_two_entries_have_the_moments_of_the_exact_posterior(wins, draws, losses):
    results = Counter({ranked("a", "b"): wins, ranked("ab"): draws, ranked("b", "a"): losses})
    results += Counter()  # without the zeros
    found = uncentred(results, 0.2)["a"]
    mean, deviation = exact_moments(results, 0.2)
    assert found[0] == pytest.approx(mean, abs=0.15)
    assert found[1] == pytest.approx(deviation, rel=0.03)  # the true one is skewed where one side wins all


def one_by_one(results, draw):
    """A second implementation: sites of single matches in turn, each a rank-one change of the joint normal."""
    entries = sorted({e for result in results for group in result for team in group for e in team})
    place = {entry: number for number, entry in enumerate(entries)}
    margin = official._margin(draw) * math.sqrt(2) * BETA
    mean, covariance = np.zeros(len(entries)), np.eye(len(entries)) * SIGMA**2
    matches = [result for result, times in results.items() for _ in range(times)]
    sites = [(0.0, 0.0)] * len(matches)
    normal = NormalDist()
    for _ in range(200):
        biggest = 0.0
        for number, result in enumerate(matches):
            (one,), (other,) = (result[0][0], result[0][1]) if len(result) == 1 else (result[0][0], result[1][0])
            row = np.zeros(len(entries))
            row[place[one]], row[place[other]] = 1, -1
            gap, spread = row @ mean, row @ covariance @ row
            precision, shift = sites[number]
            variance = 1 / (1 / spread - precision)
            middle = variance * (gap / spread - shift)
            c = math.sqrt(variance + 2 * BETA**2)
            if len(result) == 1:
                low, high = (-margin - middle) / c, (margin - middle) / c
                mass = normal.cdf(high) - normal.cdf(low)
                v = (normal.pdf(low) - normal.pdf(high)) / mass
                w = v * v + (high * normal.pdf(high) - low * normal.pdf(low)) / mass
            else:
                x = (middle - margin) / c
                v = normal.pdf(x) / normal.cdf(x)
                w = v * (v + x)
            after_mean, after = middle + variance / c * v, variance * (1 - variance / c**2 * w)
            new = (1 / after - 1 / variance, after_mean / after - middle / variance)
            change, push = new[0] - precision, new[1] - shift
            sites[number] = new
            column = covariance @ row
            mean = mean + column * (push - change * gap) / (1 + change * spread)
            covariance = covariance - np.outer(column, column) * change / (1 + change * spread)
            biggest = max(biggest, abs(change), abs(push))
        if biggest < 1e-10:
            break
    return mean - mean.mean()


@pytest.mark.parametrize("seed", range(3))
def test_a_second_implementation_agrees(seed):
    chance = random.Random(seed)
    results = Counter(
        chance.choice([ranked(a, b), ranked(a, b), ranked(b, a), ranked(a + b)])
        for a, b in combinations("abcdef", 2)
        for _ in range(4)
    )
    rated = rate_results(results)
    theirs = one_by_one(results, rated.draw_probability)
    ours = [rated.skills[entry].mu - 25 for entry in "abcdef"]
    assert ours == pytest.approx(list(theirs), abs=1e-4)


def test_results_of_two_have_the_same_numbers_by_the_general_way(monkeypatch):
    chance = random.Random(7)
    _, results = simulate(chance, 8, 120, 2, 3.0)
    quick = rate_results(results)
    monkeypatch.setattr(
        official,
        "PairSites",
        lambda players, times, drawn: official.Sites([[1, 1]] if drawn else [[1], [1]], players, times),
    )
    general = rate_results(results)
    for entry, skill in quick.skills.items():
        assert general.skills[entry].mu == pytest.approx(skill.mu, abs=1e-5)
        assert general.skills[entry].sigma == pytest.approx(skill.sigma, abs=1e-5)


def simulate(chance, entries, matches, players, width):
    """Results of performances that count in whole points of `width` (0: no ties), and the true skills."""
    names = [f"e{number:02d}" for number in range(entries)]
    skills = {name: chance.gauss(0, SIGMA) for name in names}
    results = Counter()
    for _ in range(matches):
        performed = {}
        for name in chance.sample(names, players):
            performance = skills[name] + chance.gauss(0, BETA)
            performed.setdefault(-math.floor(performance / width) if width else -performance, []).append(name)
        results[ranked(*[performed[points] for points in sorted(performed)])] += 1
    return skills, results


@pytest.mark.parametrize(("players", "width", "most"), [(2, 0.0, 1e-5), (2, 2.0, 1e-5), (4, 2.0, 1e-5)])
def test_neither_order_nor_names_matter(players, width, most):
    """Other names make another order of the same sums, so only the last digits may differ."""
    chance = random.Random(1)
    _, results = simulate(chance, 12, 150, players, width)
    reference = rate_results(results).skills
    for _ in range(3):
        items = list(results.items())
        chance.shuffle(items)
        assert rate_results(dict(items)).skills == reference
        names = list(reference)
        other = dict(zip(names, chance.sample(names, len(names)), strict=True))
        renamed = Counter(
            {
                tuple(tuple(sorted((other[entry],) for (entry,) in group)) for group in result): times
                for result, times in results.items()
            }
        )
        again = rate_results(renamed).skills
        for name in names:
            assert again[other[name]].mu == pytest.approx(reference[name].mu, abs=most)
            assert again[other[name]].sigma == pytest.approx(reference[name].sigma, abs=most)


def coverage(seed, fields, entries, matches, players, width):
    """The share of 95 % intervals that hold the true skill, against the true mean."""
    chance = random.Random(seed)
    held = 0
    for _ in range(fields):
        skills, results = simulate(chance, entries, matches, players, width)
        rated = rate_results(results, 1e-4)
        true_mean = sum(skills[entry] for entry in rated.skills) / len(rated.skills)
        for entry, skill in rated.skills.items():
            held += abs(skill.mu - 25 - (skills[entry] - true_mean)) < INTERVAL_95 * skill.sigma
    return held / (fields * entries)


def test_intervals_cover_the_truth_in_a_small_sample():
    assert 0.91 < coverage(2, 50, 16, 240, 2, 0.0) < 0.985


@pytest.mark.long
@pytest.mark.parametrize(
    ("matches", "players", "width"), [(380, 2, 0.0), (1900, 2, 0.0), (380, 2, 2.0), (150, 4, 0.0), (150, 4, 2.0)]
)
def test_intervals_cover_93_to_97_of_5000(matches, players, width):
    assert 0.93 <= coverage(3, 260, 20, matches, players, width) <= 0.97


def test_the_draw_probability_is_that_of_equal_entries_not_the_share_of_draws():
    chance = random.Random(4)
    width = 3.0
    _, results = simulate(chance, 12, 4000, 2, width)
    luck = NormalDist(0, math.sqrt(2) * BETA)
    points = [step * width / 500 for step in range(-500, 501)]
    equal = sum((1 - abs(x) / width) * luck.pdf(x) for x in points) * width / 500
    share = sum(times for result, times in results.items() if len(result) == 1) / 4000
    assert rate_results(results).draw_probability == pytest.approx(equal, abs=0.03)
    assert share < equal - 0.05


@pytest.mark.parametrize("losses", [1, 100, 10_000])
def test_straight_losses_stay_finite(losses):
    rated = rate_results({ranked("a", "b"): losses})
    assert rated.settled
    assert 25 < rated.skills["a"].mu < 60
    assert 0 < rated.skills["b"].sigma < SIGMA
    assert rated.better("a", "b") > 0.5


def test_a_strict_hierarchy_and_one_upset_settle():
    entries = "abcdefghij"
    results = Counter({ranked(a, b): 1000 for a, b in combinations(entries, 2)})
    results[ranked("j", "a")] = 1
    rated = rate_results(results)
    assert rated.settled
    order = sorted(entries, key=lambda entry: -rated.skills[entry].mu)
    assert order == list(entries)


def test_tied_entries_are_treated_alike():
    rated = rate_results({ranked("a", "bcd", "e"): 3})
    for name in "cd":
        assert rated.skills[name].mu == pytest.approx(rated.skills["b"].mu, abs=1e-6)
        assert rated.skills[name].sigma == pytest.approx(rated.skills["b"].sigma, abs=1e-6)


def test_only_draws_are_equal_strength_and_still_evidence():
    rated = rate_results({ranked("ab"): 50})
    assert rated.skills["a"].mu == pytest.approx(25, abs=1e-6)
    assert rated.skills["a"].sigma < 3
    assert rated.better("a", "b") == pytest.approx(0.5, abs=1e-6)


def test_team_members_who_always_play_together_are_told_alike(make_row):
    rows = [make_row(place, {"a": 1, "b": 2, "c": 1, "d": 2}, teams=(0, 1, 0, 1)) for place in range(10)]
    skills = rate(rows).skills
    assert skills["a"].mu == pytest.approx(skills["c"].mu)
    assert skills["a"].mu > 25 > skills["b"].mu
    assert skills["a"].sigma > 4, "who of the two is strong stays unknown"


def test_the_mean_of_the_field_is_25_and_nobody_without_a_match_moves_it(make_row):
    skills = rate([make_row(place, {"a": 1, "b": 2, "c": 3}) for place in range(9)]).skills
    assert sum(skill.mu for skill in skills.values()) / 3 == pytest.approx(25)


def test_no_results_give_no_ratings(make_row):
    assert rate([]).skills == {}
    row = make_row(0, {"a": 1})
    assert result_of(row) is None
    assert rate([row]).skills == {}


def test_groups_are_those_that_have_met_directly_or_through_others():
    dice = random.Random(3)
    for _ in range(30):
        entries = [f"e{number:02d}" for number in range(14)]
        results = [tuple(((entry,),) for entry in dice.sample(entries, dice.choice((2, 2, 3)))) for _ in range(8)]
        group = {entry: {entry} for result in results for ((entry,),) in result}
        for result in results:
            met = set().union(*(group[entry] for ((entry,),) in result))
            group |= dict.fromkeys(met, met)
        apart = {frozenset(found) for found in group.values()}
        found = groups_of(results)
        assert set(found) == apart
        assert len(found) == len(apart)
        assert [len(one) for one in found] == sorted((len(one) for one in found), reverse=True)


def test_results_that_are_computed_in_parts_give_the_same_ratings(monkeypatch):
    dice = random.Random(4)
    entries = [f"e{number}" for number in range(9)]
    results = Counter(tuple(((entry,),) for entry in dice.sample(entries, 4)) for _ in range(60))
    whole = rate_results(results)
    monkeypatch.setattr(official, "_AT_ONCE", 7)
    parts = rate_results(results)
    for entry in entries:
        assert parts.skills[entry].mu == pytest.approx(whole.skills[entry].mu, abs=1e-9)
        assert parts.skills[entry].sigma == pytest.approx(whole.skills[entry].sigma, abs=1e-9)


@pytest.mark.parametrize("size", [1, 7, 256, 257, 601])
def test_the_inverse_by_halves_is_the_inverse(size):
    dice = np.random.default_rng(size)
    root = dice.normal(size=(size, size))
    matrix = root @ root.T / size + np.eye(size) / SIGMA**2
    assert np.allclose(official.positive_inverse(matrix) @ matrix, np.eye(size), atol=1e-9)
