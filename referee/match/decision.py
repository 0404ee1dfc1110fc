"""One seat in a match, and one decision of it: what was asked, what came back, its times, and evidence of faults."""

import base64
import os
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol

from referee.games.api import ActionSyntaxError, Game, State, text_board
from referee.match.effort import Effort
from referee.match.result import Fault
from referee.match.seat import Seat, SeatEnd
from referee.match.time_control import Allowance, Budget, Handle, TimeSource
from referee.record.format import Usage
from referee.record.reasons import EndReason
from referee.schedule.spec import Limits
from referee.wire import BotMessage, Received
from referee.wire.encode import ClockMessage, UsageMessage, shown_index

CORES = len(os.sched_getaffinity(0))
"""Of this process: where it is bound to some, the bots that it starts are as well."""


LOOKS = 8
"""Within a decision's limit, at the mean, at the processes of a bot where no control group counts what they use."""

LEAST_SHOWN_NS = 1_000_000
"""Of what reading a bot's messages took: below it is what any answer takes."""

_LEAST_LOOK_NS = 2_000_000


class Question:
    """One seat, one decision. Times are monotonic nanoseconds; `limit_ns` has the margin in it."""

    __slots__ = (
        "action",
        "allowance",
        "charged_ns",
        "cpu_before_ns",
        "cpu_us",
        "effort_before",
        "effort_now",
        "held",
        "kind",
        "lag_before_ns",
        "lag_ns",
        "lag_probed_ns",
        "legal",
        "limit_ns",
        "note",
        "number",
        "open",
        "others_before_ns",
        "probe_ns",
        "ready",
        "seat",
        "sent_ns",
        "state",
        "throttled_ns",
        "timer",
        "traffic_before_ns",
        "traffic_ns",
        "waited_ns",
        "wall_ns",
        "watcher",
    )

    def __init__(self, seat: int, number: int, kind: str, legal: Sequence[Any], allowance: Allowance) -> None:
        self.seat = seat
        self.number = number
        self.kind = kind
        self.legal = legal
        self.allowance = allowance
        self.limit_ns = allowance.limit_ns
        self.sent_ns = 0
        self.probe_ns = 0
        """When the bot's tasks are first looked at, if there is no answer by then."""
        self.lag_before_ns = 0
        self.lag_probed_ns: int | None = None
        """As `lag_before_ns`, when the decision had lasted a little."""
        self.cpu_before_ns: int | None = None
        self.traffic_before_ns = 0
        self.traffic_ns = 0
        """What the referee has spent since then on reading what the bot sent."""
        self.effort_before: Effort | None = None
        """Where the bot's tasks stood when the decision had lasted a little; None while it has not, and where what
        they do excuses nothing."""
        self.timer: Handle | None = None
        self.watcher: Handle | None = None
        self.open = True
        self.action: Any = None
        self.note = ""
        self.wall_ns = 0
        self.effort_now: Effort | None = None
        """The same when the decision was last measured, once it matters."""
        self.ready = frozenset[int]()
        """Those of them that ran or were ready to, just before that."""
        self.held: Mapping[int, int] | None = None
        """Those that may have been waiting for a processor ever since the first look after the deadline, each with its
        time on one so far; None before that look."""
        self.others_before_ns: Sequence[int | None] = ()
        """Per seat the processor time it had used when the decision had lasted a little."""
        self.state = ""
        """That of the bot's processes at the deadline, before anything woke them; '' before it."""
        self.lag_ns = 0
        """How late the referee was, as far as is known."""
        self.waited_ns = 0
        """How long others kept the bot from running, at the least."""
        self.throttled_ns = 0
        """How long the bot's own limit on processor time did; that is its own affair."""
        self.cpu_us = -1
        self.charged_ns = 0
        """The time that counts against the limit: without the part that was not the bot's doing."""

    def close(self) -> None:
        """No answer counts from now on."""
        self.open = False
        for timer in (self.timer, self.watcher):
            if timer is not None:
                timer.cancel()
        self.timer = self.watcher = None

    def watch(self, clock: TimeSource, look: Callable[[], Effort]) -> None:
        """From here on look at the bot's processes now and then, at moments that it cannot foresee. Once they are not
        the same as at first no wait is excused: what helpers used that are gone at the end is in no count, and it may
        have been them that it waited for. Not where a control group counts all.
        """
        if self.effort_before is not None and self.effort_before.processes:
            after_ns = _LEAST_LOOK_NS + int(random.expovariate(LOOKS / max(self.limit_ns, 1)))
            self.watcher = clock.call_at(clock.now_ns() + after_ns, partial(self._look, clock, look))

    def _look(self, clock: TimeSource, look: Callable[[], Effort]) -> None:
        if self.open and self.effort_before is not None:
            if look().processes != self.effort_before.processes:
                self.effort_before, self.waited_ns = None, 0
                self._charge()
            self.watch(clock, look)

    def measure(self, now_ns: int, clock: TimeSource, cpu_now_ns: int | None, traffic_now_ns: int) -> None:
        """Note the times up to now.

        The referee's lateness matters at both ends: before the decision had lasted a little the question may not have
        been under way, and since the last look an answer may have lain there. In between it kept nobody waiting, for
        what came was seen at the look; else a bot that sleeps past its limit would get away with it on a busy machine.
        """
        self.wall_ns = wall_ns = now_ns - self.sent_ns
        lag_now_ns = clock.lag_ns()
        lag_ns = lag_now_ns - self.lag_before_ns
        if self.lag_probed_ns is not None:
            since_ns = max(self.lag_probed_ns, clock.looked_lag_ns())
            lag_ns = self.lag_probed_ns - self.lag_before_ns + lag_now_ns - since_ns
        if cpu_now_ns is not None and self.cpu_before_ns is not None:
            cpu_ns = cpu_now_ns - self.cpu_before_ns
            self.cpu_us = cpu_ns // 1000
            # Who leaves less than one processor to all others makes the referee late.
            lag_ns = max(0, lag_ns - max(0, cpu_ns - (CORES - 1) * wall_ns))
        # So does who sends much: while the referee reads it, it reads nobody else's messages.
        self.traffic_ns = traffic_now_ns - self.traffic_before_ns
        self.lag_ns = max(0, lag_ns - self.traffic_ns)
        self._charge()

    def weigh(self, effort: Effort, ready: frozenset[int]) -> None:
        """Note what the bot's tasks did up to now, and which were `ready` before that. After `measure`."""
        self.effort_now, self.ready = effort, ready
        if self.effort_before is not None:
            self.waited_ns = effort.excused_ns(self.effort_before, max(self.cpu_us, 0) * 1000)
            self.throttled_ns = effort.throttled_ns - self.effort_before.throttled_ns
            self._charge()

    def _charge(self) -> None:
        """While the referee was late an answer may have lain there, whatever the bot did: that is always taken off.
        That the bot waited for a processor is taken off as far as it did not compute all the same."""
        noticed_ns = self.wall_ns - self.lag_ns
        self.charged_ns = max(0, noticed_ns - self.waited_ns, min(noticed_ns, self.cpu_us * 1000))

    @property
    def lag_us(self) -> int:
        """For the record: the part of the time that is not charged."""
        return (self.wall_ns - self.charged_ns) // 1000

    def times(self) -> dict[str, int]:
        """As evidence."""
        return {
            "limit_us": self.limit_ns // 1000,
            "wall_us": self.wall_ns // 1000,
            "cpu_us": self.cpu_us,
            "lag_us": self.lag_us,
            "referee_late_us": self.lag_ns // 1000,
            "bot_waited_us": self.waited_ns // 1000,
            **({"bot_traffic_us": self.traffic_ns // 1000} if self.traffic_ns >= LEAST_SHOWN_NS else {}),
            **({"bot_throttled_us": self.throttled_ns // 1000} if self.throttled_ns else {}),
        }


GOES_ON_AFTER = frozenset(
    {
        EndReason.ILLEGAL_ACTION,
        EndReason.MALFORMED_MESSAGE,
        EndReason.OVERSIZED_MESSAGE,
        EndReason.MOVE_TIMEOUT,
        EndReason.BANK_EXHAUSTED,
        EndReason.PROVIDER_ERROR,
    }
)
"""Faults after which there is still a bot to ask: those a strike can pay for."""


class Judge(Protocol):
    """The match, for its seats."""

    def take_message(self, seat: "SeatPlay", received: Received) -> None: ...

    def take_end(self, seat: "SeatPlay", end: SeatEnd) -> None: ...


class SeatPlay:
    """One seat of a match in play; the listener of its bot."""

    __slots__ = (
        "asked_before",
        "bot",
        "budget",
        "clock",
        "cpu_from_ns",
        "cpu_us",
        "decisions",
        "dropped",
        "dropped_bytes",
        "excused_ns",
        "fault",
        "idle_cpu_us",
        "judge",
        "lag_us",
        "last_latency_us",
        "left",
        "limits",
        "most_strikes",
        "number",
        "off_turn_cpu_us",
        "probe",
        "probe_at_ns",
        "question",
        "ready",
        "seen",
        "strikes",
        "struck",
        "taken",
        "told",
        "total_us",
        "usage",
        "wants",
        "worst_charged_us",
        "worst_us",
    )

    def __init__(self, judge: Judge, number: int, bot: Seat, limits: Limits, most_strikes: int) -> None:
        self.judge = judge
        self.number = number
        self.bot = bot
        self.wants = bot.wants
        self.limits = limits
        self.budget = Budget(limits)
        self.clock = clock_message(limits)
        """As it goes into each Decide; what is left is filled in."""
        self.ready = False
        self.asked_before = False
        self.question: Question | None = None
        self.seen = 0
        """How many events of the match it has been told."""
        self.fault: Fault | None = None
        self.left: int | None = None
        """When it left, among those that did: 1 for the first."""
        self.most_strikes = most_strikes
        self.strikes = 0
        """How many faults it was allowed to go on after."""
        self.struck: Fault | None = None
        """The last of them."""
        self.taken = False
        """Whether the referee plays for it."""
        self.told = False
        """Whether MatchEnd was sent."""
        self.last_latency_us = 0
        self.lag_us = self.worst_charged_us = 0
        self.decisions = self.total_us = self.worst_us = self.cpu_us = self.dropped = self.off_turn_cpu_us = 0
        self.idle_cpu_us = 0
        """Processor time between the bot's last match and this one."""
        self.excused_ns = 0
        """Of its answered decisions together: what was not charged."""
        self.dropped_bytes = 0
        """Of the messages that answered nothing asked."""
        self.cpu_from_ns: int | None = None
        self.usage: Usage | None = None
        """The provider usage that the bot reported in this match."""
        self.probe: Handle | None = None
        """A timer that fires at `probe_at_ns` and looks at a decision that is still open."""
        self.probe_at_ns = 0

    def on_message(self, received: Received) -> None:
        self.judge.take_message(self, received)

    def on_end(self, end: SeatEnd) -> None:
        self.judge.take_end(self, end)

    def begin(self) -> None:
        """From here on its processor time counts."""
        self.cpu_from_ns, idle_from_ns = self.bot.cpu_ns(), self.bot.idle_from_ns
        if self.cpu_from_ns is not None and idle_from_ns is not None:
            self.idle_cpu_us = max(0, self.cpu_from_ns - idle_from_ns) // 1000

    def finish(self) -> None:
        """The match is over for it. A bot that is gone has no more to tell."""
        cpu_ns = self.bot.cpu_ns()
        if cpu_ns is not None and self.cpu_from_ns is not None:
            self.off_turn_cpu_us = max(0, (cpu_ns - self.cpu_from_ns) // 1000 - self.cpu_us)

    def add_usage(self, said: UsageMessage) -> None:
        """Add the usage that the bot reports with an answer."""
        more = Usage(
            said.requests,
            said.prompt_tokens,
            said.reply_tokens,
            said.provider_errors,
            said.unreadable,
            said.wait_us,
            said.cost_nanos,
        )
        self.usage = (self.usage or Usage()).plus(more)

    @property
    def is_out(self) -> bool:
        """Whether no bot plays it any more."""
        return self.taken or self.left is not None

    def goes_on_after(self, fault: Fault) -> bool:
        """Whether a strike pays for `fault`. None does for a bot that is gone: its last fault is why it leaves."""
        return self.has_strike_for(fault) and not self.bot.ending

    def has_strike_for(self, fault: Fault) -> bool:
        """Whether a strike pays for `fault` if the bot is still there when it is settled."""
        return fault.reason in GOES_ON_AFTER and self.can_be_struck

    @property
    def can_be_struck(self) -> bool:
        """Whether it has a strike left."""
        return self.strikes < self.most_strikes

    def allow(self) -> Allowance:
        """What the decision that begins now may take; `clock` then says so."""
        budget, clock = self.budget, self.clock
        allowance = budget.allow(first=not self.asked_before)
        self.asked_before = True
        clock.left_us = allowance.left_ns // 1000
        if budget.bank_ns is not None:
            clock.bank_left_us = max(0, budget.bank_ns) // 1000
        if budget.total_ns is not None:
            clock.total_left_us = max(0, budget.total_ns) // 1000
        return allowance

    def count(self, question: Question) -> None:
        """One more decision was answered."""
        wall_us, cpu_us, lag_us = question.wall_ns // 1000, question.cpu_us, question.lag_us
        if self.budget.counts:
            self.budget.spend(question.charged_ns)
        self.excused_ns += question.wall_ns - question.charged_ns
        self.decisions += 1
        self.total_us += wall_us
        self.worst_us = max(self.worst_us, wall_us)
        self.lag_us += lag_us
        self.worst_charged_us = max(self.worst_charged_us, wall_us - lag_us)
        self.cpu_us += max(cpu_us, 0)
        self.last_latency_us = wall_us


def clock_message(limits: Limits) -> ClockMessage:
    """The limits as they are sent to the bot, with the full bank and total."""
    bank_us, total_us = int(limits.bank_s * 1e6), int(limits.total_s * 1e6)
    return ClockMessage(
        first_move_us=int(limits.first_move_s * 1e6),
        move_us=int(limits.move_s * 1e6),
        bank_us=bank_us,
        bank_left_us=bank_us,
        total_us=total_us,
        total_left_us=total_us,
        increment_us=int(limits.increment_s * 1e6),
        margin_us=int(limits.margin_s * 1e6),
    )


_SHOWN = 500
_EXAMPLES = 3


@dataclass(frozen=True, slots=True)
class Refusal:
    """An answer that is none: a fault of the seat."""

    reason: EndReason
    detail: str

    def of_provider(self, *, charged: bool) -> "Refusal":
        """This refusal where provider errors void a match. If the seat is `charged`, it stays the seat's fault."""
        if self.reason is not EndReason.PROVIDER_ERROR:
            return self
        if charged:
            return replace(self, detail=f"{self.detail}; no more attempts are void for that, so it counts as its fault")
        return replace(self, reason=EndReason.PROVIDER_ERROR_VOID)


def read_choice(message: BotMessage, question: Question, game: Game) -> Any:
    """The action that a Move chooses among `question.legal`, or a Refusal."""
    move, number, legal = message.move, question.number, question.legal
    choice = move.WhichOneof("choice")
    if choice == "index":
        if move.index < len(legal):
            return legal[move.index]
        detail = f"index {shown_index(move.index)} in decision {number}: expected 0 to {len(legal) - 1}"
        return Refusal(EndReason.ILLEGAL_ACTION, detail)
    if choice == "provider_error":
        said = " ".join(move.provider_error[:_SHOWN].split())
        return Refusal(EndReason.PROVIDER_ERROR, f"no answer from its provider in decision {number}: {said}")
    if choice is None:
        detail = f"the move of decision {number} has neither an index nor an action"
        return Refusal(EndReason.MALFORMED_MESSAGE, detail)
    try:
        action = game.codec.decode_action(move.action)
    except Exception as error:  # hostile bytes: whatever the game's decoder makes of them is the bot's doing
        what = str(error) if isinstance(error, ActionSyntaxError) else f"{type(error).__name__}: {error}"
        detail = f"the action of decision {number} cannot be decoded: {what[:_SHOWN]}"
        return Refusal(EndReason.MALFORMED_MESSAGE, detail)
    if action in legal:
        return legal[legal.index(action)]  # equal, and as the game itself writes it
    what = game.format_action(action)[:_SHOWN]
    some = ", ".join(game.format_action(other) for other in legal[:_EXAMPLES])
    expected = some if len(legal) <= _EXAMPLES else f"{some}, ..."
    detail = f"{what} in decision {number} is not one of the {len(legal)} legal actions; expected one of {expected}"
    return Refusal(EndReason.ILLEGAL_ACTION, detail)


SHOWN_BYTES = 1024
SHOWN_STRAY_BYTES = 48
SHOWN_ACTIONS = 100
SHOWN_TEXT = 8192


def message_evidence(raw: bytes) -> dict[str, Any]:
    """The beginning of a message and its whole size."""
    return {"message": base64.b64encode(raw[:SHOWN_BYTES]).decode("ascii"), "message_bytes": len(raw)}


def stray_text(raw: bytes) -> str:
    """The beginning of a message that was dropped."""
    return base64.b64encode(raw[:SHOWN_STRAY_BYTES]).decode("ascii")


def position_evidence(game: Game, state: State, seat: int, legal: Sequence[Any]) -> dict[str, Any]:
    """What the seat could see when it was asked: the board and the beginning of its list."""
    return {
        "board": text_board(game, state.observation(seat))[:SHOWN_TEXT],
        "legal_count": len(legal),
        "legal": [game.format_action(action) for action in legal[:SHOWN_ACTIONS]],
    }


def stray_kind(message: BotMessage, match_id: str, last_number: int) -> str:
    """Why a message answers nothing that is asked: one word for the record."""
    body = message.WhichOneof("body")
    if body == "move":
        if message.move.match != match_id:
            return "other_match"
        return "late_or_repeated" if 0 < message.move.decision <= last_number else "unknown_decision"
    if body == "ready" or body == "resign":
        other = message.ready.match if body == "ready" else message.resign.match
        return "other_match" if other != match_id else "repeated"
    return "unexpected_hello" if body == "hello" else "empty"


def cut_note(note: str, max_bytes: int) -> str:
    """The longest beginning of `note` that has at most `max_bytes` bytes of UTF-8."""
    if len(note) * 4 <= max_bytes:
        return note
    return note.encode("utf-8", "replace")[:max_bytes].decode("utf-8", "ignore")
