"""Whose fault is a late answer? The bot's, the referee's, or the machine's: the rules, and the verdict with evidence.

Only time that is the bot's own doing counts against its limit. Time in which the referee was late, or in which other
processes kept the bot from running, is excused, up to a bound. A decision that exceeds the bound is a suspect time-out.
"""

from collections.abc import Sequence
from typing import Any

from referee.match.decision import Question, SeatPlay
from referee.match.effort import NO_EFFORT
from referee.match.seat import Seat
from referee.match.time_control import Allowance
from referee.record.reasons import EndReason

LOOK_NS = 10_000_000
"""A bot with threads that are ready to run at its deadline is checked again after this time: if each of them has run,
its time is up."""

MOST_LIMITS = 10
"""A decision may last this many times its limit through no fault of the bot; then the time-out is suspect. On a machine
that is busy eight times over, a bot that computes past its limit still reaches the limit within that time."""

LEAST_MOST_NS = 1_000_000_000
"""The least value of that bound. Otherwise a bot with hardly any time left on its clock could have a match made void by
the next tenth of a second in which the machine stands still."""

MOST_LIMITS_OF_A_MATCH = 20
MOST_OF_A_MATCH_NS = 60_000_000_000
"""In one match a seat is excused this many limits, or this long if longer, for all its decisions together. After that,
a decision that lasts longer than its limit is suspect at once: no bot may think for long at the expense of others."""

PROBE_NS = 20_000_000
PROBE_SHARE = 8
"""After PROBE_NS, or this share of its limit, a decision is worth a look at what the bot's tasks do. What kept the bot
from running before that is not excused: it is less than the share, and mostly less than the margin."""

COUNTED_PROBE_NS = 1_000_000
"""As PROBE_NS where bank or total pay for each decision, and no margin covers what is not excused."""

BUSY_SHARE = 4
"""A suspect time-out names each other seat that computed for more than 1/BUSY_SHARE of the decision."""


def probe_after_ns(seat: SeatPlay, question: Question) -> int:
    """The time after which the bot's tasks are first looked at."""
    return min(COUNTED_PROBE_NS if seat.budget.counts else PROBE_NS, question.limit_ns // PROBE_SHARE)


def time_left_ns(seat: SeatPlay, question: Question) -> int | None:
    """The time after which to check again, or None if the time is up. Call `Question.measure` first.

    Time that was not the bot's doing is given back, up to the bounds of the decision and of the match.
    """
    excused_ns = seat.excused_ns + question.wall_ns - question.charged_ns
    if excused_ns > max(MOST_LIMITS_OF_A_MATCH * question.limit_ns, MOST_OF_A_MATCH_NS):
        return None
    if question.wall_ns > max(MOST_LIMITS * question.limit_ns, LEAST_MOST_NS):
        return None
    left_ns = question.limit_ns - question.charged_ns
    if left_ns >= 0:
        question.held = None
        return left_ns
    return LOOK_NS if is_held_up(question) else None


def is_held_up(question: Question) -> bool:
    """Whether a thread of the bot may have been waiting for a processor when the question was measured last: a wait is
    counted only when it is over. Judged by that same reading: with a newer one, a wait that ended between the two would
    count as progress and be in no sum.

    Each thread by itself: those of gRPC run for a moment now and then, while the one that thinks waits. None joins that
    was not ready at the first look, or a bot with many threads would always have one that waits.
    """
    if question.effort_before is None or question.effort_now is None:
        return False
    if question.cpu_us * 1000 > question.limit_ns:  # the bot has computed for longer than it may, whatever waits
        return False
    ran = {task: ran for task, (ran, _) in question.effort_now.tasks.items() if task in question.ready}
    if question.held is not None:
        ran = {task: ran_ns for task, ran_ns in ran.items() if question.held.get(task) == ran_ns}
    question.held = ran
    return bool(ran)


class Waits:
    """What keeps a bot from running while it gets ready, from the first look at it on."""

    def __init__(self, bot: Seat) -> None:
        self._bot = bot
        self._before = NO_EFFORT
        self._cpu_before_ns = 0

    def look(self) -> None:
        self._before, self._cpu_before_ns = self._bot.effort(), self._bot.cpu_ns() or 0

    def excused_ns(self) -> int:
        """How long others kept it from running since, at the least."""
        cpu_ns = (self._bot.cpu_ns() or 0) - self._cpu_before_ns
        return self._bot.effort().excused_ns(self._before, cpu_ns)


def judge_lateness(
    seat: SeatPlay, question: Question, seats: Sequence[SeatPlay], *, answered: bool
) -> tuple[EndReason, str, dict[str, Any]]:
    """The end reason, sentence and evidence of a late answer. Suspect if the charged time is within the limit.

    `seats` are all seats of the match. `answered`: an answer came too late. Call this before sending the bot anything.
    """
    allowed = question.allowance
    times = f"after {_spent_words(question)}, {_limit_words(seat, allowed)}"
    what = "an answer" if answered else "no answer"
    detail = f"decision {question.number} ({question.kind}): {what} {times}"
    evidence: dict[str, Any] = {"process_state": _state(seat, question, answered=answered)}
    if seat.budget.bank_ns is not None:
        evidence["bank_us"] = seat.budget.bank_ns // 1000
    if seat.budget.total_ns is not None:
        evidence["total_us"] = seat.budget.total_ns // 1000
    if question.charged_ns > question.limit_ns:
        return allowed.reason, detail, evidence
    late = [f"the referee was late by {question.lag_ns / 1e9:.3f} s"] if question.lag_ns else []
    if question.waited_ns:
        late.append(f"others kept the bot from running for {question.waited_ns / 1e9:.3f} s")
    if busy := _busy_meanwhile(seat, question, seats):
        evidence["busy_seats_us"] = busy
        late += [f"the bot of seat {number} computed for {us / 1e6:.3f} s" for number, us in busy.items()]
    return EndReason.SUSPECT_TIMEOUT, f"{detail}; {' and '.join(late)}", evidence


def _state(seat: SeatPlay, question: Question, *, answered: bool) -> str:
    """The state of the bot's processes while it was late.

    It is R (running) only if it was at the deadline and is now: a bot runs in order to answer, and a sleeping one has
    threads that wake for a moment.
    """
    at_deadline = question.state
    if answered and at_deadline:
        return at_deadline
    now = seat.bot.process_state()
    return at_deadline if now == "R" and at_deadline else now


def _busy_meanwhile(seat: SeatPlay, question: Question, seats: Sequence[SeatPlay]) -> dict[str, int]:
    """Processor time of other seats that computed for a large part of the decision, to help find the cause.

    One of them may be a bot that loads the machine to have a match made void.
    """
    found: dict[str, int] = {}
    for other, before_ns in zip(seats, question.others_before_ns, strict=False):
        now_ns = other.bot.cpu_ns()
        if other is not seat and before_ns is not None and now_ns is not None:
            used_ns = now_ns - before_ns
            if used_ns * BUSY_SHARE > question.wall_ns:
                found[str(other.number)] = used_ns // 1000
    return found


def _spent_words(question: Question) -> str:
    """The charged time, which is compared with the limit, and the passed time where it differs: in milliseconds, or as
    fine as it takes to see that the limit was exceeded."""
    limit_ns = question.allowance.left_ns
    digits = 3
    while digits < 9 and question.charged_ns > limit_ns and round(question.charged_ns, digits - 9) <= limit_ns:
        digits += 3
    charged, passed = (f"{time_ns / 1e9:.{digits}f} s" for time_ns in (question.charged_ns, question.wall_ns))
    return charged if charged == passed else f"{charged} charged ({passed} passed)"


def _limit_words(seat: SeatPlay, allowed: Allowance) -> str:
    """The time that the decision was allowed, in words for the author of the bot."""
    limit = f"{allowed.left_ns / 1e9:g} s"
    if allowed.reason is EndReason.BANK_EXHAUSTED:
        whole = seat.limits.bank_s or seat.limits.total_s
        kind = "the bank" if seat.limits.bank_s else "the total"
        return f"{limit} were left with all that {kind} of {whole:g} s for the match could give"
    return f"the limit is {limit}"
