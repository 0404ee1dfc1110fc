"""The verdict on a decision that took longer than its limit, in words and as evidence."""

from collections.abc import Sequence
from typing import Any

from referee.match.budget import Allowance
from referee.match.question import Question
from referee.match.reasons import EndReason
from referee.match.seatplay import SeatPlay

BUSY_SHARE = 4
"""Who computes for such a part of another's decision is named, should that be suspect."""


def judge_lateness(
    seat: SeatPlay, question: Question, seats: Sequence[SeatPlay], *, answered: bool
) -> tuple[EndReason, str, dict[str, Any]]:
    """Reason, sentence and evidence. It is suspect where what is charged is within the limit.

    `seats` are all of the match. `answered`: there was an answer, too late. Call it before the bot is sent anything.
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
    """What the bot's processes did while it was late. A bot that answers runs to do so, and one that sleeps has threads
    that wake for a moment: it ran (R) only if it did at the deadline and does now."""
    at_deadline = question.state
    if answered and at_deadline:
        return at_deadline
    now = seat.bot.process_state()
    return at_deadline if now == "R" and at_deadline else now


def _busy_meanwhile(seat: SeatPlay, question: Question, seats: Sequence[SeatPlay]) -> dict[str, int]:
    """Other seats that computed for a good part of the decision, as it lasted: for who has to find the cause. It
    may be a bot that loads the machine to have a match made void."""
    found: dict[str, int] = {}
    for other, before_ns in zip(seats, question.others_before_ns, strict=False):
        now_ns = other.bot.cpu_ns()
        if other is not seat and before_ns is not None and now_ns is not None:
            used_ns = now_ns - before_ns
            if used_ns * BUSY_SHARE > question.wall_ns:
                found[str(other.number)] = used_ns // 1000
    return found


def _spent_words(question: Question) -> str:
    """What is charged, which alone is compared with the limit, and where it differs what has passed."""
    charged, passed = f"{question.charged_ns / 1e9:.3f} s", f"{question.wall_ns / 1e9:.3f} s"
    return charged if charged == passed else f"{charged} charged ({passed} passed)"


def _limit_words(seat: SeatPlay, allowed: Allowance) -> str:
    """What a decision was allowed, for the author of the bot."""
    limit = f"{allowed.left_ns / 1e9:g} s"
    if allowed.reason is EndReason.BANK_EXHAUSTED:
        whole = seat.limits.bank_s or seat.limits.total_s
        kind = "the bank" if seat.limits.bank_s else "the total"
        return f"{limit} were left with all that {kind} of {whole:g} s for the match could give"
    return f"the limit is {limit}"
