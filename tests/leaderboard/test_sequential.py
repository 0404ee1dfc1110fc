"""The sequential test keeps its promises whatever scores are like, and its interval holds at all times."""

import math
import random
from statistics import NormalDist

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leaderboard.sequential import CELLS, Evidence, Question, elo_of_score, interval, llr, score_of_elo

QUESTION = Question(0.5, 0.6)


def block(chance, win, draw=0.0, luck=0.0):
    """Mean score of two matches; with probability `luck` the seats' shared luck decides both for one seat."""
    if chance.random() < luck:
        return 0.5
    return sum(0.5 if chance.random() < draw else float(chance.random() < win) for _ in range(2)) / 2


WORLDS = {
    # name: (score, how one block is drawn)
    "no draws, at low": (0.5, lambda chance: block(chance, 0.5)),
    "no draws, at high": (0.6, lambda chance: block(chance, 0.6)),
    "mostly draws, at low": (0.5, lambda chance: block(chance, 0.5, draw=0.9)),
    "mostly draws, at high": (0.6, lambda chance: block(chance, 1.0, draw=0.8)),
    "all draws": (0.5, lambda chance: 0.5),
    "shared luck, at low": (0.5, lambda chance: block(chance, 0.5, luck=0.7)),
    "one side wins all": (1.0, lambda chance: 1.0),
    "the other side wins all": (0.0, lambda chance: 0.0),
    "all or nothing, at low": (0.5, lambda chance: float(chance.random() < 0.5)),
    "all or nothing, at high": (0.6, lambda chance: float(chance.random() < 0.6)),
    "rarely, but then much": (0.5, lambda chance: 0.45 if chance.random() < 10 / 11 else 1.0),
}


def wrong_verdicts(world, comparisons, cap, seed=1):
    """How many verdicts are wrong, and how many intervals at the end do not hold the true score."""
    score, draw = WORLDS[world]
    chance = random.Random(seed)
    wrong = outside = rounds = 0
    for _ in range(comparisons):
        evidence = Evidence(QUESTION)
        for _ in range(cap):
            if evidence.add(draw(chance)) != "undecided":
                break
        wrong += score <= QUESTION.low and evidence.verdict == "accepted"
        wrong += score >= QUESTION.high and evidence.verdict == "rejected"
        low, high = evidence.interval(0.05)
        outside += not low - 1e-9 <= score <= high + 1e-9
        rounds += len(evidence.scores)
    shares = f"{wrong / comparisons:.4f} wrong, {outside / comparisons:.4f} outside"
    print(f"{world}: {shares}, {rounds / comparisons:.0f} rounds")
    return wrong, outside


def most_compatible(number, rate):
    """The count that a binomial of this rate exceeds with probability 1 % (normal approximation, continuity)."""
    return number * rate + NormalDist().inv_cdf(0.99) * math.sqrt(number * rate * (1 - rate)) + 0.5


@pytest.mark.parametrize("world", WORLDS)
def test_errors_are_compatible_with_the_nominal_ones_in_a_small_sample(world):
    wrong, outside = wrong_verdicts(world, 60, 300)
    assert wrong <= most_compatible(60, 0.05)
    assert outside <= most_compatible(60, 0.05)


@pytest.mark.long
@pytest.mark.parametrize("world", WORLDS)
def test_errors_are_compatible_with_the_nominal_ones_over_2000_comparisons(world):
    wrong, outside = wrong_verdicts(world, 2000, 1000)
    assert wrong <= most_compatible(2000, 0.05)
    assert outside <= most_compatible(2000, 0.05)


@pytest.mark.parametrize(
    ("score", "verdict", "most"), [(1.0, "accepted", 8), (0.0, "rejected", 8), (0.5, "rejected", 30)]
)
def test_what_never_varies_is_decided_soon(score, verdict, most):
    evidence = Evidence(QUESTION)
    blocks = next(number for number in range(1, 1000) if evidence.add(score) != "undecided")
    assert evidence.verdict == verdict
    assert blocks <= most


def test_a_clear_difference_is_found():
    chance = random.Random(3)
    lengths = []
    for _ in range(40):
        evidence = Evidence(QUESTION)
        while evidence.add(block(chance, 0.7)) == "undecided":
            pass
        assert evidence.verdict == "accepted"
        lengths.append(len(evidence.scores))
    assert sum(lengths) / 40 < 60


def test_the_first_verdict_stands_whatever_comes_later_rat14():
    evidence = Evidence(QUESTION)
    while evidence.add(1.0) == "undecided":
        pass
    before = list(evidence.scores)
    assert evidence.add(0.0) == "accepted"
    assert evidence.scores == before


@given(st.lists(st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0]), max_size=40), st.randoms())
def test_the_interval_holds_the_mean_is_symmetric_and_does_not_mind_the_order(scores, chance):
    low, high = interval(scores)
    assert 0 <= low <= high <= 1
    if scores:
        assert low - 1e-9 <= sum(scores) / len(scores) <= high + 1e-9
    mirrored = interval([1 - score for score in scores])
    assert mirrored == pytest.approx((1 - high, 1 - low), abs=1e-6)
    mixed = scores[:]
    chance.shuffle(mixed)
    assert interval(mixed) == pytest.approx((low, high), abs=1e-9)


def test_a_verdict_and_its_interval_do_not_contradict_each_other():
    chance = random.Random(5)
    for win in (0.4, 0.5, 0.55, 0.6, 0.8):
        evidence = Evidence(QUESTION)
        while evidence.add(block(chance, win)) == "undecided":
            pass
        low, high = evidence.interval(QUESTION.alpha + QUESTION.beta)
        if evidence.verdict == "accepted":
            assert low > QUESTION.low - 1e-9
        else:
            assert high < QUESTION.high + 1e-9


def test_what_more_it_takes_is_about_right():
    chance = random.Random(6)
    evidence = Evidence(QUESTION)
    assert evidence.more_blocks() is None
    scores = [0.75, 0.5, 0.75, 1.0, 0.25] * 200
    for score in scores[:20]:
        evidence.add(score)
    expected = evidence.more_blocks()
    chance.shuffle(scores)
    taken = next(number for number, score in enumerate(scores, start=1) if evidence.add(score) != "undecided")
    assert expected is not None
    assert 0.3 * expected < taken < 3 * expected


def test_without_a_block_nothing_is_known():
    evidence = Evidence(QUESTION)
    assert (evidence.mean, evidence.interval(), evidence.against_low, evidence.against_high) == (None, (0, 1), 1, 1)


@pytest.mark.parametrize(
    "bounds", [(0.6, 0.5), (0.5, 0.5), (0.0, 0.5), (0.5, 1.0), (0.5, 0.6, 0.0), (0.5, 0.6, 0.05, 0.5), (0.5, math.nan)]
)
def test_bounds_that_make_no_sense_are_refused(bounds):
    with pytest.raises(ValueError, match="must be"):
        Question(*bounds)


@pytest.mark.parametrize("score", [-0.1, 1.1, math.nan])
def test_a_score_outside_0_to_1_is_refused(score):
    with pytest.raises(ValueError, match="between 0 and 1"):
        Evidence(QUESTION).add(score)


@pytest.mark.parametrize(("elo", "score"), [(0, 0.5), (400, 10 / 11), (-400, 1 / 11)])
def test_elo_and_score_are_each_others_inverse(elo, score):
    assert score_of_elo(elo) == pytest.approx(score)
    assert elo_of_score(score) == pytest.approx(elo, abs=1e-9)
    assert elo_of_score(1.0) == math.inf
    assert elo_of_score(0.0) == -math.inf


# "logistic pentanomial 1" and "2" in app/tests/sprt_test.cpp of Disservin/fastchess, alpha = beta = 0.05: Elo bounds,
# pairs with 0, 1/2, 1, 3/2 and 2 points, and the LLR there. Both are below -2.94, so fastchess accepts H0.
FASTCHESS = [
    ((0.5, 2.5), (223, 9863, 21279, 10037, 246), -3.07),
    ((0.0, 2.0), (871, 26175, 55983, 26678, 821), -4.98),
]


@pytest.mark.parametrize(("elo", "pairs", "figure"), FASTCHESS)
def test_the_llr_of_pairs_is_the_one_that_fastchess_has_for_a_published_example(elo, pairs, figure):
    low, high = map(score_of_elo, elo)
    assert llr(dict(zip(CELLS, pairs, strict=True)), low, high) == pytest.approx(figure, abs=0.005)
    mirrored = dict(zip(CELLS, reversed(pairs), strict=True))
    assert llr(mirrored, 1 - high, 1 - low) == pytest.approx(-figure, abs=0.005)


@pytest.mark.slow
@pytest.mark.parametrize("mirrored", [False, True])
def test_the_sprt_decides_a_published_example_as_fastchess_does(mirrored):
    elo, pairs, figure = FASTCHESS[0]
    scores = [score for score, number in zip(CELLS, pairs, strict=True) for _ in range(number)]
    random.Random(1).shuffle(scores)
    low, high = map(score_of_elo, elo)
    if mirrored:
        low, high, scores = 1 - high, 1 - low, [1 - score for score in scores]
    evidence = Evidence(Question(low, high, test="sprt"))
    assert evidence.llr_bounds == (pytest.approx(-2.94, abs=0.005), pytest.approx(2.94, abs=0.005))
    for score in scores:
        evidence.add(score)
    assert evidence.verdict == ("accepted" if mirrored else "rejected")
    assert abs(evidence.llr) < abs(figure) + 0.02  # it stopped at the bound, or a little later


def test_the_default_test_is_still_undecided_at_the_end_of_that_example():
    elo, pairs, _ = FASTCHESS[0]
    scores = [score for score, number in zip(CELLS, pairs, strict=True) for _ in range(number)]
    random.Random(1).shuffle(scores)
    evidence = Evidence(Question(*map(score_of_elo, elo)))
    for score in scores:
        evidence.add(score)
    assert evidence.verdict == "undecided"
    assert evidence.against_high > evidence.against_low


def test_before_the_first_pair_the_llr_is_0_and_equal_pairs_do_not_break_it():
    evidence = Evidence(Question(0.5, 0.6, test="sprt"))
    assert (evidence.llr, evidence.verdict) == (0.0, "undecided")
    while evidence.add(1.0) == "undecided":
        pass
    assert evidence.verdict == "accepted"
    assert len(evidence.scores) < 40
    level = Evidence(Question(0.5, 0.6, test="sprt"))
    while level.add(0.5) == "undecided":
        pass
    assert level.verdict == "rejected"


def test_the_sprt_errs_about_as_often_as_it_promises_and_stops_sooner_than_the_default():
    wrong, lengths = 0, {"sprt": 0, "betting": 0}
    for world in ("no draws, at low", "mostly draws, at high"):
        score, draw = WORLDS[world]
        for test in lengths:
            chance = random.Random(7)
            for _ in range(40):
                evidence = Evidence(Question(0.5, 0.6, test=test))
                while evidence.add(draw(chance)) == "undecided":
                    pass
                lengths[test] += len(evidence.scores)
                if test == "sprt":
                    wrong += evidence.verdict != ("rejected" if score == 0.5 else "accepted")
    assert wrong <= most_compatible(80, 0.07)
    assert lengths["sprt"] < lengths["betting"]


def test_what_more_the_sprt_takes_is_about_right():
    scores = [0.75, 0.5, 0.75, 0.5, 0.25, 0.75] * 100
    evidence = Evidence(Question(0.5, 0.55, test="sprt"))
    for score in scores[:24]:
        evidence.add(score)
    expected = evidence.more_blocks()
    taken = next(number for number, score in enumerate(scores[24:], start=1) if evidence.add(score) != "undecided")
    assert expected is not None
    assert 0.5 * expected < taken < 2 * expected
