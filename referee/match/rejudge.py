"""Judges a match again from its record: does each fault follow from the evidence that was kept for it?

A time-out stands if the time that was charged (wall time less what was not the bot's doing) is above the limit, and the
limit is one that the header's clock gives. An illegal or malformed answer stands if the game still refuses the bytes
that were kept, an oversized one if it is larger than the header allows. An exit, a broken stream, a flood or a
resignation is a fact that the record can only tell. A verdict whose fault does not stand is void.

Of a seat's faults the record keeps the evidence of the last one; that of strikes before it is not kept.
"""

import base64
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from google.protobuf.message import DecodeError

from referee.games.api import Game
from referee.games.registry import get_game
from referee.match.time_control import Budget
from referee.record import Record, RecordError, verify_record
from referee.record.reasons import TIMED_OUT, EndReason, Status, status_of
from referee.schedule.spec import CLOCK_KEYS, Limits, SpecError
from referee.wire import BotMessage
from referee.wire.encode import shown_index

_ANSWERS = (EndReason.ILLEGAL_ACTION, EndReason.MALFORMED_MESSAGE)


@dataclass(frozen=True, slots=True)
class Finding:
    """What the evidence says of one seat's fault, in a sentence."""

    seat: int
    reason: str
    stands: bool
    why: str


@dataclass(frozen=True, slots=True)
class Judgement:
    """The verdict that follows: as in a footer. `ranking` is empty where the match is void."""

    status: Status
    reason: EndReason
    ranking: tuple[int, ...]
    findings: tuple[Finding, ...]

    @property
    def stands(self) -> bool:
        return all(finding.stands for finding in self.findings)


def rejudge(record: Record, games: Callable[[str], Game] = get_game, *, extra_us: int = 0) -> Judgement:
    """Judge a complete record again; `extra_us` is what an organiser adds to every limit of time.

    RecordError if the record does not verify: what is wrong in itself is no evidence.
    """
    verdict = verify_record(record, games)
    if verdict.status != "ok" or record.footer is None:
        raise RecordError(f"{verdict}: only a complete record that verifies can be judged again")
    footer = record.footer
    findings = tuple(
        _finding(record, games(record.header.game), seat, fault, extra_us)
        for seat, fault in enumerate(footer.faults)
        if fault is not None
    )
    fallen = [finding for finding in findings if not finding.stands]
    if not fallen:
        reason = EndReason(footer.reason)
        return Judgement(status_of(reason), reason, footer.ranking, findings)
    timed = any(finding.reason in TIMED_OUT for finding in fallen)
    reason = EndReason.SUSPECT_TIMEOUT if timed else EndReason.PLATFORM_FAULT
    return Judgement(status_of(reason), reason, (), findings)


def _finding(record: Record, game: Game, seat: int, fault: Mapping[str, Any], extra_us: int) -> Finding:
    reason = str(fault.get("reason", ""))
    if reason in TIMED_OUT:
        stands, why = _time(fault, extra_us, _clock_of(record, seat))
    elif reason == EndReason.OVERSIZED_MESSAGE:
        stands, why = _size(fault, record.header.limits.get("max_message_bytes"))
    elif reason in _ANSWERS and isinstance(fault.get("message"), str):
        stands, why = _answer(game, fault)
    else:
        stands, why = True, "the record can only say that it happened"
    return Finding(seat, reason, stands, why)


def _number(value: object) -> int | None:
    """A count or a time that may be one: whole, not negative, of 63 bits."""
    return value if isinstance(value, int) and type(value) is int and 0 <= value < 1 << 63 else None


def _clock_of(record: Record, seat: int) -> Limits | None:
    """The clock of a seat by the header; None if that tells none."""
    told = {**record.header.limits, **record.header.seats[seat].clock}
    if "move_s" not in told:
        return None
    try:
        return Limits(**{name: told[name] for name in CLOCK_KEYS if name in told})  # type: ignore[arg-type]
    except SpecError:
        return None


def _limits_us(clock: Limits, fault: Mapping[str, Any]) -> list[int]:
    """What a first and a later decision may take, with what was left of bank and total by the evidence."""
    budget = Budget(clock)
    if budget.bank_ns is not None:
        budget.bank_ns = min(budget.bank_ns, _left_ns(fault.get("bank_us")))
    if budget.total_ns is not None:
        budget.total_ns = _left_ns(fault.get("total_us"))
    return [budget.allow(first=first).limit_ns // 1000 for first in (True, False)]


def _left_ns(value: object) -> int:
    """What was left of a bank or a total by the evidence, below zero where the margin had paid; 0 if none was kept."""
    return value * 1000 if type(value) is int and _number(abs(value)) is not None else 0


def _time(fault: Mapping[str, Any], extra_us: int, clock: Limits | None) -> tuple[bool, str]:
    wall_us, lag_us, limit_us = (_number(fault.get(name)) for name in ("wall_us", "lag_us", "limit_us"))
    if wall_us is None or lag_us is None or limit_us is None:
        return False, "no times were kept"
    if clock is not None and not any(abs(limit_us - given_us) <= 1 for given_us in _limits_us(clock, fault)):
        return False, f"its limit of {limit_us / 1e6:.3f} s is not one that the clock in the header gives"
    charged_us, allowed_us = max(0, wall_us - lag_us), limit_us + extra_us
    stands = charged_us > allowed_us
    sign = "more" if stands else "no more"
    digits = 6 if stands and charged_us - allowed_us < 1000 else 3  # so that it is seen to be more
    charged, allowed = (f"{time_us / 1e6:.{digits}f} s" for time_us in (charged_us, allowed_us))
    return stands, f"charged with {charged}, {sign} than the {allowed} allowed"


def _size(fault: Mapping[str, Any], limit: object) -> tuple[bool, str]:
    size, limit_bytes = _number(fault.get("message_bytes")), _number(limit)
    if size is None or limit_bytes is None:
        return True, "the record can only say that it happened"
    return size > limit_bytes, f"a message of {size} bytes, the limit is {limit_bytes}"


def _answer(game: Game, fault: Mapping[str, Any]) -> tuple[bool, str]:
    """Whether the bytes that were kept are still no answer. A long message was kept only in part."""
    size, legal, count = _number(fault.get("message_bytes")), fault.get("legal"), _number(fault.get("legal_count"))
    try:
        raw = base64.b64decode(fault["message"], validate=True)
    except ValueError:
        return True, "what was kept of the message cannot be read"
    if size is not None and len(raw) < size:
        return True, "the message was kept only in part"
    try:
        message = BotMessage.FromString(raw)
    except DecodeError:
        return True, "the bytes are no message"
    choice = message.move.WhichOneof("choice") if message.HasField("move") else None
    if choice == "index" and count is not None:
        stands = message.move.index >= count
        return stands, f"index {shown_index(message.move.index)} of {count} legal actions"
    if choice != "action" or not isinstance(legal, list):
        return True, "the message chooses nothing"
    try:
        text = game.format_action(game.codec.decode_action(message.move.action))
    except Exception as error:  # hostile bytes
        return True, f"the action cannot be decoded: {type(error).__name__}"
    if count is not None and len(legal) < count and text not in legal:
        return True, f"{text} is not among the legal actions that were kept"
    return text not in legal, f"{text} is {'not ' if text not in legal else ''}among the legal actions"
