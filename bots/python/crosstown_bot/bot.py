"""What an author subclasses."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from types import ModuleType

    from crosstown_bot.turn import Match, Result, Turn


class _Resign:
    def __repr__(self) -> str:
        return "RESIGN"


RESIGN = _Resign()
"""Returned by `choose`: give the match up."""


class ProviderError(Exception):
    """Raised by `choose`: a service that the bot asks, such as the provider of a language model, gave no answer in
    time. The message is one sentence with the reason.

    The seat loses the match for it, or the match is void and played again if the tournament file says so.
    """


class Bot:
    """One instance lives as long as its process and plays one match after another.

    Only `choose` must be written. Each method may be a coroutine function. An exception in any method ends the process:
    that is a crash, which loses the match, and its traceback is shown to the author. In `end`, when the match is over,
    it costs no match, but the process is gone: `crosstown match` shows the traceback below the result.
    """

    name = ""
    """For the referee's logs; tables show the registered name. Empty: the class's."""
    version = ""
    """Said to the referee. Empty: CROSSTOWN_VERSION, which `crosstown bots connect` sets to that of bot.toml."""
    games: tuple[str, ...] = ()
    """Ids of the games it plays; empty: any (a bot that returns an index can)."""
    wants_text = False
    """Ask for `Turn.board` and `Turn.action_texts`, for people and language models."""
    wants_updates = False
    """Ask for `update` to be called while others move."""
    wants_observation = True
    """False saves the work of encoding `Turn.observation`, which is then not there."""
    wants_legal_actions = True
    """False saves the work of encoding `Turn.legal_actions`, which are then not there; `Turn.legal_count` always is."""
    prints_stacks = True
    """Whether the stacks of this process say where the bot was when its time was up. False if it passes questions on to
    another program."""
    messages: ModuleType | None = None
    """The generated module of the game's messages, for games whose messages are not in `crosstown_proto`."""

    def __init__(self, options: Mapping[str, Any]) -> None:
        """`options` are those of bot.toml, with the tournament's over them."""
        self.options = options

    def start(self, match: Match) -> Awaitable[None] | None:
        """A match begins. There is time: the limit is the one for becoming ready, not the one for a move."""

    def choose(self, turn: Turn) -> Any:
        """Answer one question: an index below `turn.legal_count`, or the game's own Action message (or its bytes).

        RESIGN gives the match up. ProviderError says that a service which the bot asks gave no answer.
        """
        raise TypeError(f"{type(self).__name__} has no method choose(self, turn)")

    def update(self, match: Match, events: list[Any]) -> Awaitable[None] | None:
        """Others have moved; `events` are the game's Event messages."""

    def end(self, result: Result) -> Awaitable[None] | None:
        """The match is over."""
