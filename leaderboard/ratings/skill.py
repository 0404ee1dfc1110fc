"""A belief about strength, and the scale it is on."""

import math
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

MU = 25.0
SIGMA = MU / 3
BETA = SIGMA / 2
"""TrueSkill's scale (Herbrich, Minka and Graepel, 2006): mean and standard deviation of an entry without matches, and
of the luck in one performance of one player."""

WIDENING = SIGMA / 2
"""What is added to the sigma of a new version, which begins with the mu of the version before."""


@dataclass(frozen=True, slots=True)
class Skill:
    """A belief about the strength of an entry: mean and standard deviation."""

    mu: float = MU
    sigma: float = SIGMA

    @property
    def conservative(self) -> float:
        """mu - 3 sigma: what tables are ranked by."""
        return self.mu - 3 * self.sigma


Array: TypeAlias = NDArray[np.float64]

FAR = 30.0
"""Standard deviations from which on tails are computed by their asymptotic series: the distribution function itself
underflows near 38, the series is exact to 1e-8 there."""

_NARROW = 1e-3
_erfc = np.frompyfunc(math.erfc, 1, 1)


def cdf(x: Array) -> Array:
    """The distribution function of the standard normal."""
    return np.asarray(_erfc(x * -math.sqrt(0.5)), dtype=np.float64) / 2


def pdf(x: Array) -> Array:
    """The density of the standard normal."""
    return np.exp(-x * x / 2) / math.sqrt(2 * math.pi)


def above(x: Array) -> tuple[Array, Array]:
    """(v, w) of a normal that is cut below -x: its mean is v, its variance 1 - w.

    These are TrueSkill's V and W for a win, x = (difference - margin) / standard deviation.
    """
    near = np.maximum(x, -FAR)
    v = pdf(near) / cdf(near)
    w = np.clip(v * (v + near), 0.0, 1.0 - 1e-15)
    far = x < -FAR
    if not far.any():
        return v, w
    distance = np.where(far, x, -FAR)
    y = 1 / (distance * distance)
    tail_v = -distance / (1 - y + 3 * y**2 - 15 * y**3)
    tail_variance = y - 6 * y**2 + 50 * y**3
    return np.where(far, tail_v, v), np.where(far, 1 - tail_variance, w)


def between(low: Array, high: Array) -> tuple[Array, Array]:
    """Mean and variance of a standard normal between `low` and `high` > `low`.

    In a narrow or far window the density is taken as exponential, which is exact to the square of the width, or to
    1 / distance squared.
    """
    mirrored = low + high > 0
    a = np.where(mirrored, -high, low)
    b = np.where(mirrored, -low, high)
    width = b - a
    plain = (b > -FAR) & (width > _NARROW)
    mass = np.where(plain, cdf(b) - cdf(a), 1.0)
    mean = (pdf(a) - pdf(b)) / mass
    variance = 1 + (a * pdf(a) - b * pdf(b)) / mass - mean * mean
    # Density exp(rate * x) over the window, rate > 0: q is half the window in units of 1 / rate.
    q = np.clip(-np.where(b > -FAR, (a + b) / 2, b) * width / 2, 1e-9, None)
    sinh = np.sinh(np.minimum(q, 300.0))
    shift = np.where(q < 1e-2, q / 3, 1 / np.tanh(q) - 1 / q)
    spread = np.where(q < 1e-2, 1 / 3, 1 / q**2 - 1 / sinh**2)
    mean = np.where(plain, mean, (a + b) / 2 + width / 2 * shift)
    variance = np.where(plain, np.clip(variance, 1e-12, 1.0), np.maximum(width**2 / 4 * spread, 1e-300))
    return np.where(mirrored, -mean, mean), variance
