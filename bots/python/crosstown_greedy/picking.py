"""Choosing among worths."""

from collections.abc import Sequence
from random import Random


def best(worths: Sequence[float], rng: Random) -> int:
    """Index of the highest worth; equal ones are chosen among by chance."""
    top = max(worths)
    return rng.choice([index for index, worth in enumerate(worths) if worth == top])
