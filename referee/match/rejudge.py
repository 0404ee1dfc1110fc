"""Judges a match again from its record: does each fault follow from the evidence that was kept for it?

A time-out stands if the time that was charged (wall time less what was not the bot's doing) is above the limit. An
illegal or malformed answer stands if the game still refuses the bytes that were kept. An exit, a broken stream, a flood
or a resignation is a fact that the record can only tell. A verdict whose fault does not stand is void.
"""

import base64
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from google.protobuf.message import DecodeError

from referee.games.api import Game
from referee.games.registry import get_game
from referee.match.reasons import EndReason, Status, status_of
from referee.record import Record, RecordError, verify_record
from referee.wire import BotMessage

_TIMES = (EndReason.MOVE_TIMEOUT, EndReason.BANK_EXHAUSTED)
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
    timed = any(finding.reason in _TIMES for finding in fallen)
    reason = EndReason.SUSPECT_TIMEOUT if timed else EndReason.PLATFORM_FAULT
    return Judgement(status_of(reason), reason, (), findings)


def _finding(record: Record, game: Game, seat: int, fault: Mapping[str, Any], extra_us: int) -> Finding:
    reason = str(fault.get("reason", ""))
    if reason in _TIMES:
        stands, why = _time(fault, extra_us)
    elif reason in _ANSWERS and isinstance(fault.get("message"), str):
        stands, why = _answer(game, fault)
    else:
        stands, why = True, "the record can only tell that it happened"
    return Finding(seat, reason, stands, why)


def _time(fault: Mapping[str, Any], extra_us: int) -> tuple[bool, str]:
    times = [fault.get(name) for name in ("wall_us", "lag_us", "limit_us")]
    if not all(type(value) is int for value in times):
        return False, "no times were kept"
    wall_us, lag_us, limit_us = (int(value) for value in times if value is not None)
    charged_us, allowed_us = wall_us - lag_us, limit_us + extra_us
    stands = charged_us > allowed_us
    sign = "more" if stands else "no more"
    return stands, f"charged with {charged_us / 1e6:.3f} s, {sign} than the {allowed_us / 1e6:.3f} s allowed"


def _answer(game: Game, fault: Mapping[str, Any]) -> tuple[bool, str]:
    """Whether the bytes that were kept are still no answer. A long message was kept only in part."""
    size, legal, count = fault.get("message_bytes"), fault.get("legal"), fault.get("legal_count")
    try:
        raw = base64.b64decode(fault["message"], validate=True)
    except ValueError:
        return True, "what was kept of the message cannot be read"
    if type(size) is int and len(raw) < size:
        return True, "the message was kept only in part"
    try:
        message = BotMessage.FromString(raw)
    except DecodeError:
        return True, "the bytes are no message"
    choice = message.move.WhichOneof("choice") if message.HasField("move") else None
    if choice == "index" and type(count) is int:
        stands = message.move.index >= count
        return stands, f"index {message.move.index} of {count} legal actions"
    if choice != "action" or not isinstance(legal, list):
        return True, "the message chooses nothing"
    try:
        text = game.format_action(game.codec.decode_action(message.move.action))
    except Exception as error:  # hostile bytes
        return True, f"the action cannot be decoded: {type(error).__name__}"
    if type(count) is int and len(legal) < count and text not in legal:
        return True, f"{text} is not among the legal actions that were kept"
    return text not in legal, f"{text} is {'not ' if text not in legal else ''}among the legal actions"
