"""What happens in a match.

Where information is perfect everybody is told every action and outcome. Elsewhere OpenSpiel does not say who may know
of an action: nobody is told, and a seat learns what it may know from its next observation.
"""

from dataclasses import dataclass
from typing import ClassVar, TypeAlias


@dataclass(frozen=True, slots=True)
class Acted:
    """A seat chose an action."""

    KIND: ClassVar[str] = "acted"
    seat: int
    id: int
    text: str


@dataclass(frozen=True, slots=True)
class Chanced:
    """Chance decided."""

    KIND: ClassVar[str] = "chanced"
    id: int
    text: str


@dataclass(frozen=True, slots=True)
class Withdrew:
    """A seat left the match."""

    KIND: ClassVar[str] = "withdrew"
    seat: int


OpenSpielEvent: TypeAlias = Acted | Chanced | Withdrew
