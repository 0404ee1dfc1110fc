"""The interface of a player at a match: a bot process over gRPC, or a few lines in a test."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

from referee.match.effort import Effort
from referee.record.reasons import EndReason

if TYPE_CHECKING:
    from referee.wire import Received

FREE_MEMORY_VOIDS = 2
"""So many matches of one bot in one run are void because the machine had no memory left for it. From then on such an
end is the bot's own: a bot can fill what is left of the machine's memory whenever it is about to lose."""


Contact: TypeAlias = Literal["there", "lost", "back"]
"""With a bot, since a moment: it has been there, or is gone for good; its connection is broken and it may come back, or
may be broken, for nothing has come on it; or it has come back over another connection."""


@dataclass(frozen=True, slots=True)
class Wants:
    """What the bot said in Hello about the messages it gets."""

    text: bool = False
    updates: bool = False
    legal_actions: bool = True
    observation: bool = True


@dataclass(frozen=True, slots=True)
class SeatEnd:
    """The bot is gone: by which end reason, a sentence, and evidence (see `Fault.evidence`).

    A platform fault is not the bot's doing: the match is void. `machine_memory`: the kernel took the process because
    the machine had no memory left.
    """

    reason: EndReason
    detail: str
    evidence: Mapping[str, Any] = field(default_factory=dict)
    machine_memory: bool = False

    def charged(self) -> "SeatEnd":
        """The same end as the bot's own fault, after the machine's memory ended too many of its matches."""
        detail = f"{self.detail}; that ended {FREE_MEMORY_VOIDS} earlier matches of this bot, so it counts as its own"
        return replace(self, reason=EndReason.OUT_OF_MEMORY, detail=detail)


class SeatLostError(Exception):
    """A bot is gone in the middle of a match, and not by its own doing. The message is one sentence.

    `memory_of` is the seat whose process the kernel took because the machine had no memory left; None for other causes.
    """

    def __init__(self, message: str, memory_of: int | None = None) -> None:
        super().__init__(message)
        self.memory_of = memory_of


class SeatListener(Protocol):
    """The match. Called from the event loop only."""

    def on_message(self, received: "Received") -> None: ...

    def on_end(self, end: SeatEnd) -> None:
        """At most once."""


class Seat(Protocol):
    """One seat's bot."""

    @property
    def wants(self) -> Wants: ...

    @property
    def ending(self) -> bool:
        """Whether the bot is gone and `on_end` is about to say how: a deadline before that means nothing."""

    @property
    def idle_from_ns(self) -> int | None:
        """What `cpu_ns` was when its last match was over, or when it had come; None if that cannot be told."""

    @property
    def away_s(self) -> float:
        """How long the connection to it has been broken, while it may come back; 0 for one that is there or gone."""

    def contact(self, since_ns: int) -> Contact:
        """How it was since this moment."""

    def listen(self, listener: SeatListener | None) -> None:
        """From now on tell `listener`; if the bot is gone already, at once."""

    def send(self, data: bytes) -> None:
        """A message to the bot. Never blocks, never raises."""

    def freeze(self) -> None:
        """Stop the bot where it is. Harmless when it is stopped or gone."""

    def thaw(self) -> None:
        """Let it run again; it does when this returns."""

    def cpu_ns(self) -> int | None:
        """CPU time the bot has used, None if that cannot be told."""

    def effort(self) -> Effort:
        """What the bot's tasks did so far; `NO_EFFORT` if that cannot be told. Takes a tenth of a millisecond."""

    def traffic_ns(self) -> int:
        """What the event loop has spent on reading what the bot sent."""

    def process_state(self) -> str:
        """One letter, as in `ps`: R runs or is ready to, S waits, T is stopped; empty if there is no process."""

    def ready_tasks(self) -> frozenset[int]:
        """The ids of the threads that run or are ready to; empty if that cannot be told."""

    def ask_for_stacks(self) -> None:
        """Have the bot print where it is, if it can: `last_output` then has it. Without effect on one that cannot."""

    def dismiss(self) -> None:
        """The seat has left a match that goes on without it; nothing it says matters any more."""

    async def last_output(self) -> Mapping[str, Any]:
        """What the bot wrote to stdout and stderr in this match, as evidence: their ends and how much was dropped; and
        its stacks, if it was asked for them."""
