"""The interface of what plays matches for the pages. Nothing here starts a process or knows the protocol."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Protocol

from referee.errors import ExpectedError
from referee.games.api import Option

HUMAN: Final = "human"
"""In `Setup.seats`: a person."""
BOT_MOVE_S: Final = 1
"""Seconds that a bot has for a move if the person does not change them."""


class PlayRefused(ExpectedError):
    """A match that cannot be started."""


@dataclass(frozen=True, slots=True)
class Opponent:
    """A bot that can be asked to play; `id` means something to the host alone."""

    id: str
    name: str
    version: str


@dataclass(frozen=True, slots=True)
class Setup:
    """What was chosen on the page: per seat HUMAN or the id of an opponent; options as typed, by name."""

    game: str
    seats: tuple[str, ...]
    options: Mapping[str, str] = field(default_factory=dict)
    name: str = HUMAN
    bot_move_s: float = BOT_MOVE_S


@dataclass(frozen=True, slots=True)
class Question:
    """What a person is asked: what the seat sees, what it may do, and the seconds that are left (None: no limit)."""

    decision: int
    kind: str
    observation: Any
    legal: Sequence[Any]
    left_s: float | None


@dataclass(frozen=True, slots=True)
class Standpoint:
    """Where a person's match is. `number` is another one after every change; `events` are the payloads this seat got so
    far, `seen` is the observation that came with the last of them; `over` says how the match ended, '' before that, and
    `notice` is what the person should know while nothing is asked."""

    number: int
    question: Question | None
    events: Sequence[Any]
    over: str
    notice: str = ""
    seen: Any = None


class HumanSeat(Protocol):
    """One person's place in one match. Every method may be called from any thread and returns at once."""

    @property
    def match_id(self) -> str: ...
    @property
    def game(self) -> str: ...
    @property
    def seat(self) -> int: ...
    @property
    def begun_at(self) -> str:
        """UTC, ISO 8601."""

    @property
    def names(self) -> Sequence[str]:
        """Per seat who plays there."""

    @property
    def key(self) -> str:
        """The secret word of this seat: a browser that sends it plays the seat."""

    @property
    def number(self) -> int:
        """Of the standpoint."""

    @property
    def over(self) -> str:
        """How the match ended, '' before that."""

    def now(self) -> Standpoint: ...

    def seen(self) -> None:
        """Somebody follows the page of this seat. The host may end a match without followers."""

    def answer(self, decision: int, index: int | None) -> bool:
        """Take the legal action at `index`; None resigns. False if that is not asked, or not any more."""


class PlayHost(Protocol):
    """Starts matches with people in them. Their records go to the run folder `run`, as those of any match."""

    @property
    def run(self) -> Path: ...

    def opponents(self, game: str) -> Sequence[Opponent]:
        """The bots that say that they play it."""

    def options(self, game: str) -> Sequence[Option]:
        """Those of its options that may be set here."""

    def start(self, setup: Setup, visitor: str) -> Sequence[HumanSeat]:
        """Begin a match for the visitor of this address; its people's seats. May take a while: bots are built.
        PlayRefused."""

    def going_on(self) -> Sequence[HumanSeat]:
        """The open seats of live matches that anyone who may start a match may take; none where strangers play."""

    def seat(self, match_id: str, key: str) -> HumanSeat | None:
        """None if there is no such seat, or the key is another's."""
