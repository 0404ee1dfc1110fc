"""What happens in a match.

In games of perfect information every seat gets every action and outcome. In other games OpenSpiel does not specify
which seats may know of an action: no seat gets the event, and its next observation has what it may know.
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
