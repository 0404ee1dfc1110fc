"""A belief about strength, and the scale it is on."""

from dataclasses import dataclass

MU = 25.0
SIGMA = MU / 3
BETA = SIGMA / 2
"""TrueSkill's scale (Herbrich, Minka and Graepel, 2006): mean and standard deviation of an entry nobody has seen, and
of the luck in one performance of one player."""


@dataclass(frozen=True, slots=True)
class Skill:
    """A belief about the strength of an entry: mean and standard deviation."""

    mu: float = MU
    sigma: float = SIGMA

    @property
    def conservative(self) -> float:
        """mu - 3 sigma: what tables are ranked by."""
        return self.mu - 3 * self.sigma
