"""What viewers of the toy game get: one observation and the payloads of events."""

from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True, slots=True)
class Observation:
    """All that `viewer` (-1: a spectator) may see.

    Counts of cards run from value 1 to 5, those of weather tiles in the order of the box.
    """

    KIND: ClassVar[str] = "observation"
    viewer: int
    phase: str
    turn: int
    pending: tuple[int, ...]
    hand: tuple[int, ...]
    hand_sizes: tuple[int, ...]
    stashed: tuple[bool, ...]
    stashes: tuple[int, ...]
    """Per seat the value of its stash, 0 where there is none or the viewer does not know it."""
    coins: tuple[int, ...]
    bank: int
    deck_size: int
    discards: tuple[int, ...]
    weather: tuple[int, ...]
    weather_epoch: int
    turns: tuple[int, ...]
    left: tuple[int, ...]
    peeks: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class Dealt:
    """A card came to a seat; `card` is 0 for those who may not see it."""

    KIND: ClassVar[str] = "dealt"
    seat: int
    card: int


@dataclass(frozen=True, slots=True)
class Stashed:
    KIND: ClassVar[str] = "stashed"
    seat: int
    card: int


@dataclass(frozen=True, slots=True)
class Passed:
    KIND: ClassVar[str] = "passed"
    seat: int


@dataclass(frozen=True, slots=True)
class Played:
    KIND: ClassVar[str] = "played"
    seat: int
    card: int


@dataclass(frozen=True, slots=True)
class Weather:
    KIND: ClassVar[str] = "weather"
    tile: str


@dataclass(frozen=True, slots=True)
class Gained:
    KIND: ClassVar[str] = "gained"
    seat: int
    die: int
    coins: int


@dataclass(frozen=True, slots=True)
class Robbing:
    KIND: ClassVar[str] = "robbing"
    seat: int
    target: int
    card: int


@dataclass(frozen=True, slots=True)
class Guarded:
    KIND: ClassVar[str] = "guarded"
    seat: int
    card: int


@dataclass(frozen=True, slots=True)
class Robbed:
    KIND: ClassVar[str] = "robbed"
    seat: int
    coins: int


@dataclass(frozen=True, slots=True)
class Peeked:
    KIND: ClassVar[str] = "peeked"
    seat: int
    target: int
    card: int


@dataclass(frozen=True, slots=True)
class Left:
    """A seat left; its cards, face up, as counts by value."""

    KIND: ClassVar[str] = "left"
    seat: int
    cards: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Ended:
    KIND: ClassVar[str] = "ended"
    stashes: tuple[int, ...]


PAYLOAD_CLASSES = (
    Dealt,
    Stashed,
    Passed,
    Played,
    Weather,
    Gained,
    Robbing,
    Guarded,
    Robbed,
    Peeked,
    Left,
    Ended,
)
