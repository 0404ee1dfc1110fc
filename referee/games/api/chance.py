"""Chance nodes say what may come and from which stream of luck; the referee decides."""

from dataclasses import dataclass
from typing import TypeAlias

Outcome: TypeAlias = int | str
"""One result of a chance node: canonical, hashable, the same in record and code, no two alike as text."""


@dataclass(frozen=True, slots=True)
class Draw:
    """The top of a shuffled deck. Outcomes are card kinds, weights the number of such cards left.

    Between two draws of the same (deck, epoch) cards leave the deck only by being drawn;
    whoever reshuffles discards, or otherwise adds cards, raises `epoch`.
    """

    deck: str
    epoch: int = 0


@dataclass(frozen=True, slots=True)
class Roll:
    """One die (or any other independent random choice).

    Named by who rolls (`seat`), in which of that seat's own turns, which roll of the turn, and which die of the
    roll, so that the same seat in the same situation meets the same luck whatever others did before. One match never
    rolls twice under the same name, which would give the same result.
    """

    name: str
    seat: int
    turn: int
    roll: int = 0
    die: int = 0


Chance: TypeAlias = Draw | Roll
