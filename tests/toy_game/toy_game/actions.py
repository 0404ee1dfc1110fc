"""The actions of the toy game and their canonical text."""

from dataclasses import dataclass
from typing import ClassVar

from referee.games.api import ActionText


@dataclass(frozen=True, slots=True)
class Stash:
    """Put a card of this value aside, in secret."""

    KIND: ClassVar[str] = "stash"
    card: int


@dataclass(frozen=True, slots=True)
class Pass:
    KIND: ClassVar[str] = "pass"


@dataclass(frozen=True, slots=True)
class DrawCard:
    KIND: ClassVar[str] = "draw"


@dataclass(frozen=True, slots=True)
class Play:
    KIND: ClassVar[str] = "play"
    card: int


@dataclass(frozen=True, slots=True)
class Rob:
    KIND: ClassVar[str] = "rob"
    seat: int
    card: int


@dataclass(frozen=True, slots=True)
class Peek:
    KIND: ClassVar[str] = "peek"
    seat: int


@dataclass(frozen=True, slots=True)
class Yield:
    KIND: ClassVar[str] = "yield"


@dataclass(frozen=True, slots=True)
class Guard:
    KIND: ClassVar[str] = "guard"
    card: int


ACTION_CLASSES = (Stash, Pass, DrawCard, Play, Rob, Peek, Yield, Guard)
ACTION_TEXT = ActionText(ACTION_CLASSES)
