"""A test that may be looked at after every block: is A's mean score above one bound, or below another?

Scores are of whole blocks, between 0 and 1, 0.5 where A and B are equal. Nothing else is assumed of them: not that
they are normal, nor that their variance is known; draws, luck that the seats share, and matches that hang together
within a block are all allowed for.

The evidence is the wealth of a gambler (Shafer and Vovk; Waudby-Smith and Ramdas, 2023). One who doubts that the mean
is at most m bets a share f of the wealth on each block in a game that pays score / m for each unit: if the mean is at
most m no strategy expects to gain, so that the wealth ever exceeds 1 / alpha with probability alpha at most (Ville's
inequality), whenever one looks and whenever one stops. The wealth here is the mean over the shares in `SHARES`. All m
that are not yet refuted from either side are an interval that is right at all times at once.

The other test is the one that testers of chess engines use: the sequential probability ratio test of Wald (1945) with a
generalised likelihood ratio, on the mean scores of pairs of matches (the pentanomial model). It needs fewer blocks and
promises its error probabilities only approximately.
"""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

Verdict: TypeAlias = Literal["accepted", "rejected", "undecided"]
Test: TypeAlias = Literal["betting", "sprt"]

CELLS = (0.0, 0.25, 0.5, 0.75, 1.0)
"""Mean scores of two matches."""
LEAST = 1e-3
"""What a cell without a block counts in the likelihood ratio, so that no outcome is impossible."""

SHARES = tuple(2.0**-step for step in range(9))
"""Fractions of the wealth that are bet: bold ones tell big differences soon, timid ones small differences at all."""

_LEAST_RATE = 1e-6
"""Growth of the logarithm of the evidence per block, below which no number of blocks would do."""
_MOST_STEPS, _LEAST_REST = 200, 1e-12
_ELO = 400.0
_MOST_ELO = 100_000.0


@dataclass(frozen=True, slots=True)
class Question:
    """Whether A's mean score is above `low` (accept) or below `high` (reject).

    If it is `low` or less, A is accepted with probability `alpha` at most; if it is `high` or more, rejected with
    probability `beta` at most. Between them either verdict is right. ValueError says what makes no sense.
    """

    low: float
    high: float
    alpha: float = 0.05
    beta: float = 0.05
    test: Test = "betting"

    def __post_init__(self) -> None:
        if not 0 < self.low < self.high < 1:
            raise ValueError(f"the bounds must be 0 < low < high < 1, not {self.low:g} and {self.high:g}")
        for name, value in (("alpha", self.alpha), ("beta", self.beta)):
            if not 0 < value < 0.5:
                raise ValueError(f"{name} must be between 0 and 0.5, not {value:g}")


@dataclass(slots=True)
class Evidence:
    """What the blocks so far say. `add` is called once per block, in schedule order."""

    question: Question
    scores: list[float] = field(default_factory=list)
    verdict: Verdict = "undecided"
    _counts: Counter[float] = field(default_factory=Counter)
    _up: list[float] = field(default_factory=lambda: [0.0] * len(SHARES))
    _down: list[float] = field(default_factory=lambda: [0.0] * len(SHARES))

    def add(self, score: float) -> Verdict:
        """One more whole block. The first verdict stands: later blocks do not change it."""
        if not 0 <= score <= 1:
            raise ValueError(f"a score is between 0 and 1, not {score}")
        if self.verdict != "undecided":
            return self.verdict
        self.scores.append(score)
        self._counts[score] += 1
        _bet(self._up, score, self.question.low)
        _bet(self._down, 1 - score, 1 - self.question.high)
        above_low, below_high = self._logs()
        if above_low >= -math.log(self.question.alpha):
            self.verdict = "accepted"
        elif below_high >= -math.log(self.question.beta):
            self.verdict = "rejected"
        return self.verdict

    def _logs(self) -> tuple[float, float]:
        """Logarithms of the evidence against `low` and against `high`.

        That of the SPRT is scaled, so that its bounds are those of the other test, too.
        """
        question = self.question
        if question.test == "sprt":
            return self.llr - math.log1p(-question.beta), -self.llr - math.log1p(-question.alpha)
        return _log_mean(self._up), _log_mean(self._down)

    @property
    def llr(self) -> float:
        """The logarithm of the generalised likelihood ratio of `high` to `low`."""
        return llr(self._counts, self.question.low, self.question.high)

    @property
    def llr_bounds(self) -> tuple[float, float]:
        """The SPRT rejects A at the first and accepts A at the second."""
        alpha, beta = self.question.alpha, self.question.beta
        return math.log(beta / (1 - alpha)), math.log((1 - beta) / alpha)

    @property
    def against_low(self) -> float:
        """How many times as likely it is, at least, that the mean is above `low`: accepted at 1 / alpha."""
        return math.exp(min(self._logs()[0], 700.0))

    @property
    def against_high(self) -> float:
        """The same for below `high`: rejected at 1 / beta."""
        return math.exp(min(self._logs()[1], 700.0))

    @property
    def mean(self) -> float | None:
        """The estimate of A's score; None without a block."""
        return sum(self.scores) / len(self.scores) if self.scores else None

    def interval(self, alpha: float = 0.05) -> tuple[float, float]:
        """Holds A's mean score with probability 1 - alpha, at whatever block one stops."""
        return interval(self.scores, alpha)

    def more_blocks(self) -> int | None:
        """About how many more blocks lead to a verdict, if scores go on as they were; None where that cannot be said:
        too few blocks, or a mean so close to a bound that no number would do."""
        if len(self.scores) < 4:
            return None
        question, (above_low, below_high) = self.question, self._logs()
        if question.test == "sprt":
            rates = above_low / len(self.scores), below_high / len(self.scores)
        else:
            mirrored = [1 - score for score in self.scores]
            rates = _growths(self.scores, question.low), _growths(mirrored, 1 - question.high)
        wanted = [
            math.ceil(max(-math.log(error) - log_wealth, 0.0) / rate)
            for rate, log_wealth, error in zip(
                rates, (above_low, below_high), (question.alpha, question.beta), strict=True
            )
            if rate > _LEAST_RATE
        ]
        return min(wanted, default=None)


def llr(counts: Mapping[float, int], low: float, high: float) -> float:
    """The logarithm of the likelihood ratio of two distributions of scores: the most likely one with the mean `high`
    to the most likely one with the mean `low`, on these counts (Van den Bergh, proposition 1.1 of 'Comparing the
    approximations for the generalized log likelihood ratio of a multinomial distribution'). 0 without scores."""
    if not counts:
        return 0.0
    cells = {score: max(float(counts.get(score, 0)), LEAST) for score in {*CELLS, *counts}}
    at_low, at_high = _tilt(cells, low), _tilt(cells, high)
    return sum(
        number * math.log((1 + at_low * (score - low)) / (1 + at_high * (score - high)))
        for score, number in cells.items()
    )


def _tilt(cells: Mapping[float, float], mean: float) -> float:
    """theta in p_i = q_i / (1 + theta (x_i - mean)), the most likely distribution with this mean; q is the observed
    one, and 0 and 1 are among the x. Newton's method for sum p_i (x_i - mean) = 0, which falls as theta rises."""
    low, high, theta, total = -1 / (1 - mean), 1 / mean, 0.0, sum(cells.values())
    for _ in range(_MOST_STEPS):
        parts = [(number, (score - mean) / (1 + theta * (score - mean))) for score, number in cells.items()]
        rest = sum(number * part for number, part in parts)
        low, high = (theta, high) if rest > 0 else (low, theta)
        if abs(rest) < _LEAST_REST * total:
            break
        next_theta = theta + rest / sum(number * part * part for number, part in parts)
        theta = next_theta if low < next_theta < high else (low + high) / 2
    return theta


def interval(scores: Sequence[float], alpha: float = 0.05) -> tuple[float, float]:
    """All means that the scores do not refute, from either side, at alpha / 2 each. The whole of 0..1 without
    scores."""
    limit = math.log(2 / alpha)
    seen = Counter(scores)
    mirrored = Counter({1 - score: number for score, number in seen.items()})
    low = _edge(lambda mean: _wealth(seen, mean) >= limit)
    high = 1 - _edge(lambda rest: _wealth(mirrored, rest) >= limit)
    return low, high


def score_of_elo(elo: float) -> float:
    """The mean score of a side that is `elo` points stronger, on the logistic scale."""
    if elo < -_MOST_ELO:  # where the power would be too large for a number
        return 0.0
    return 1 / (1 + 10 ** (-elo / _ELO))


def elo_of_score(score: float) -> float:
    """Its inverse; infinite at 0 and 1."""
    if score <= 0 or score >= 1:
        return math.copysign(math.inf, score - 0.5)
    return _ELO * math.log10(score / (1 - score))


def _bet(log_wealths: list[float], score: float, bound: float) -> None:
    for place, share in enumerate(SHARES):
        factor = 1 - share + share * score / bound
        log_wealths[place] += math.log(factor) if factor > 0 else -math.inf


def _log_mean(logs: Sequence[float]) -> float:
    most = max(logs)
    if most == -math.inf:
        return most
    return most + math.log(sum(math.exp(value - most) for value in logs) / len(logs))


def _wealth(counts: Mapping[float, int], bound: float) -> float:
    """The logarithm of the mean wealth of those who bet that the mean is above `bound`."""
    logs = []
    for share in SHARES:
        total = 0.0
        for score, number in counts.items():
            factor = 1 - share + share * score / bound
            total += number * math.log(factor) if factor > 0 else -math.inf
        logs.append(total)
    return _log_mean(logs)


def _edge(refuted: Callable[[float], bool]) -> float:
    """The least mean that is not refuted: the wealth falls as the mean rises. 0 if none is."""
    low, high = 1e-9, 1 - 1e-9
    if not refuted(low):
        return 0.0
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if refuted(middle) else (low, middle)
    return low


def _growths(scores: Sequence[float], bound: float) -> float:
    """The growth of the best share."""
    return max(_growth(share, scores, bound) for share in SHARES)


def _growth(share: float, scores: Sequence[float], bound: float) -> float:
    """Mean growth of the logarithm of the wealth per block, had all been bet this way."""
    factors = [1 - share + share * score / bound for score in scores]
    return sum(math.log(factor) for factor in factors) / len(scores) if min(factors) > 0 else -math.inf
