"""What a bot is shown: the match, the question, the result. Everything is decoded when it is asked for."""

from __future__ import annotations

import importlib
import json
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from types import ModuleType

    from crosstown_proto.v1 import referee_pb2 as pb


class Match:
    """One match, the same object in all its turns. `store` is free for the bot's own use."""

    def __init__(
        self,
        start: pb.MatchStart,
        messages: ModuleType | None = None,
        switched_off: frozenset[str] = frozenset(),
        ready_limit_s: float = 0.0,
    ) -> None:
        """`switched_off`: what the bot asked the referee not to send, by the names of `Turn`."""
        self.id: str = start.match
        self.game: str = start.game
        self.rules_version: int = start.rules_version
        self.seat: int = start.seat
        self.players: int = start.players
        self.teams: tuple[int, ...] = tuple(start.teams)
        self.ready_limit_s = ready_limit_s
        """For `start`; 0 if the referee did not say."""
        self.first_move_limit_s: float = start.clock.first_move_us / 1e6
        self.move_limit_s: float = start.clock.move_us / 1e6
        self.bank_s: float = start.clock.bank_us / 1e6
        """For the match, above the limits of moves; 0 if there is none."""
        self.total_s: float = start.clock.total_us / 1e6
        """For all decisions of the match, to which each answer adds `increment_s`; 0 if there is none."""
        self.increment_s: float = start.clock.increment_us / 1e6
        self.bot_seed: int = start.bot_seed
        self.store: Any = None
        self._options_json = start.options
        self._options: dict[str, Any] | None = None
        self._rng: Random | None = None
        self._messages = messages
        self._switched_off = switched_off

    @property
    def options(self) -> dict[str, Any]:
        """The game's options in force, all of them."""
        if self._options is None:
            self._options = json.loads(self._options_json)
        return self._options

    @property
    def rng(self) -> Random:
        """Luck that makes the match repeatable: seeded by the referee for this seat of this match."""
        if self._rng is None:
            self._rng = Random(self.bot_seed)
        return self._rng

    @property
    def messages(self) -> ModuleType:
        """The game's generated messages: Observation, LegalActions, Action, Events. LookupError if there are none."""
        if self._messages is None:
            family = self.game.partition("/")[0]  # the games openspiel/... share their messages
            try:
                self._messages = importlib.import_module(f"crosstown_proto.v1.{family}_pb2")
            except ImportError:
                raise LookupError(
                    f"the messages of game '{self.game}' are not in crosstown_proto: set `messages` of your Bot class"
                    " to its generated module, or use only legal_count and text"
                ) from None
        return self._messages

    def must_be_sent(self, what: str) -> None:
        """LookupError if the bot switched it off: an empty message would look like an empty board."""
        if what in self._switched_off:
            raise LookupError(
                f"turn.{what} is not sent: your Bot class says wants_{what} = False; take that line out of it"
            )


@dataclass(slots=True)
class Usage:
    """The usage of a service such as the provider of a language model, for one answer.

    The record and the standings have the sums. `provider_errors` are requests without a usable reply, `unreadable`
    replies that did not have the form that the bot asked for.
    """

    requests: int = 0
    prompt_tokens: int = 0
    reply_tokens: int = 0
    provider_errors: int = 0
    unreadable: int = 0
    wait_s: float = 0.0
    """Time between requests and their replies."""
    cost_dollars: float = 0.0


class Turn:
    """One question. Answer with an index below `legal_count`. The record keeps the text in `note`. It also keeps
    `usage`, for bots that ask a language model: `turn.usage = Usage(requests=1, prompt_tokens=900)`."""

    __slots__ = ("_decide", "match", "note", "usage")

    def __init__(self, match: Match, decide: pb.Decide) -> None:
        self.match = match
        self.note = ""
        self.usage: Usage | None = None
        self._decide = decide

    @property
    def kind(self) -> str:
        """The game's name for the question, such as 'turn'."""
        return self._decide.kind

    @property
    def number(self) -> int:
        """Number of the decision within the match, over all seats, from 1."""
        return self._decide.decision

    @property
    def legal_count(self) -> int:
        return self._decide.legal_count

    @property
    def left_s(self) -> float:
        """Time for this answer when the referee sent the question, with all that bank or total can give."""
        return self._decide.clock.left_us / 1e6

    @property
    def bank_left_s(self) -> float:
        """What is left of the bank."""
        return self._decide.clock.bank_left_us / 1e6

    @property
    def total_left_s(self) -> float:
        """What is left of the total."""
        return self._decide.clock.total_left_us / 1e6

    @property
    def last_latency_s(self) -> float:
        """What the referee measured for the answer before this one; 0 at the first."""
        return self._decide.last_latency_us / 1e6

    @property
    def observation(self) -> Any:
        """The game's Observation message, from this seat's view. LookupError if `wants_observation` is False."""
        self.match.must_be_sent("observation")
        return self.match.messages.Observation.FromString(self._decide.observation)

    @property
    def observation_bytes(self) -> bytes:
        self.match.must_be_sent("observation")
        return self._decide.observation

    @property
    def legal_actions(self) -> Any:
        """The game's LegalActions message: columns, one entry per index. LookupError if `wants_legal_actions` is
        False."""
        self.match.must_be_sent("legal_actions")
        return self.match.messages.LegalActions.FromString(self._decide.legal_actions)

    @property
    def legal_actions_bytes(self) -> bytes:
        self.match.must_be_sent("legal_actions")
        return self._decide.legal_actions

    @property
    def events(self) -> list[Any]:
        """The game's Event messages: what this seat saw since the last message to it."""
        return list(self.match.messages.Events.FromString(self._decide.events).events)

    @property
    def events_bytes(self) -> bytes:
        return self._decide.events

    @property
    def board(self) -> str:
        """A drawn board; empty unless the bot wants text."""
        return self._decide.text.board

    @property
    def action_texts(self) -> list[str]:
        """Each legal action as a sentence; empty unless the bot wants text."""
        return list(self._decide.text.actions)


class Result:
    """How a match ended. `ranking` and `returns` are empty if it does not count; `fault_seat` is None or a seat."""

    def __init__(self, match: Match, end: pb.MatchEnd) -> None:
        self.match = match
        self.ranking: tuple[int, ...] = tuple(end.ranking)
        self.returns: tuple[int, ...] = tuple(end.returns)
        self.reason: str = end.reason
        self.fault_seat: int | None = end.fault_seat if end.HasField("fault_seat") else None
        self.explanation: str = end.explanation
        self._events = end.events

    @property
    def rank(self) -> int | None:
        """This seat's rank, 1 the best; None if the match does not count."""
        return self.ranking[self.match.seat] if self.ranking else None

    @property
    def events(self) -> list[Any]:
        """The game's Event messages since the last message to this seat."""
        return list(self.match.messages.Events.FromString(self._events).events)
