"""The result of a match: its end, its faults, and the outcome before the record is closed."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from referee.record import SeatStats, Usage
from referee.record.format import parse_usage
from referee.record.reasons import EndReason, Status, status_of
from referee.record.stacks import own_frames

__all__ = ["Fault", "MatchResult", "SeatStats"]

LAST_LINES = 10
"""Of what a bot that did not start printed, those that are shown with the failed start."""

LAST_LINE_CHARACTERS = 300
"""Of each of them: of a longer one the beginning, and the end, which says why."""


@dataclass(frozen=True, slots=True)
class Fault:
    """What a seat did wrong. `detail` is one sentence; `evidence` goes into the record's footer.

    Keys of `evidence`, each only where it applies: decision (number), kind, message (base64, its beginning),
    message_bytes, board (text), legal_count, legal (text, the first ones), limit_us, wall_us, cpu_us, lag_us (not
    charged), startup_us, startup_lag_us (until a start failed), referee_late_us, bot_waited_us (for a processor),
    bot_throttled_us (by its limit of `cores`; charged), bank_us, total_us (left of them; below 0 as far as the margin
    has paid), process_state, exit_code, exit_signal, peak_memory_bytes, stdout, stderr (of this match, their ends),
    output_dropped_bytes, earlier_output_bytes (printed before this match, not kept), stacks (of the bot's threads when
    its time was up), strikes (used so far).
    """

    seat: int
    reason: EndReason
    detail: str
    evidence: Mapping[str, Any] = field(default_factory=dict)

    def last_lines(self) -> tuple[str, ...]:
        """The last lines that the bot printed, to stderr or, if there are none, to stdout; below them where it was when
        its time was up, the innermost line last."""
        frames = own_frames(str(self.evidence.get("stacks", "")))[: LAST_LINES // 2]
        stack = ("its stack when its time was up:", *reversed(frames)) if frames else ()
        printed = (str(self.evidence.get(stream, "")).rstrip().splitlines() for stream in ("stderr", "stdout"))
        lines = next((lines for lines in printed if lines), [])[len(stack) - LAST_LINES :]
        third = LAST_LINE_CHARACTERS // 3
        return tuple(
            line if len(line) <= LAST_LINE_CHARACTERS else f"{line[:third]}...{line[-2 * third :]}"
            for line in (*lines, *stack)
        )


@dataclass(frozen=True, slots=True)
class MatchResult:
    """The result, as the record's footer has it.

    `ranking` (1 the best, ties share), `returns` and `state_hash` are empty where the match does not count.
    `startup_us`: per seat, how long the process that was started for this match took until its Hello; 0 for a process
    that had played before and for a remote bot; empty if none was started.
    `memory_of`: the seat whose process the kernel took because the machine had no memory left; the match is void.
    `usage`: per seat the provider usage that the bot reported; empty if no bot reported any.
    `record`: the closed record, compressed, of a match that was played on another machine; the runner writes it. None
    if it lies in the run folder already.
    """

    match_id: str
    status: Status
    reason: EndReason
    detail: str
    ranking: tuple[int, ...]
    returns: tuple[int, ...]
    faults: tuple[Fault | None, ...]
    seat_stats: tuple[SeatStats, ...]
    decisions: int
    wall_s: float
    state_hash: str
    startup_us: tuple[int, ...] = ()
    memory_of: int | None = None
    usage: tuple[Usage | None, ...] = ()
    record: bytes | None = field(default=None, repr=False)

    def to_json(self) -> str:
        """One line of JSON; evidence is left to the record, all but the last lines of a bot that did not start. The
        record itself travels beside it."""
        values = asdict(self)
        del values["record"]
        values["faults"] = [
            None
            if fault is None
            else {"seat": fault.seat, "reason": fault.reason, "detail": fault.detail, **_said(fault)}
            for fault in self.faults
        ]
        return json.dumps(values, separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str) -> "MatchResult":
        """Inverse of `to_json`; for anything else ValueError, TypeError, LookupError, RecursionError."""
        values = json.loads(text)
        numbers = [values["decisions"], *values["ranking"], *values["returns"], *values.get("startup_us", ())]
        numbers += [number for stats in values["seat_stats"] for number in stats.values() if number is not None]
        if any(type(number) is not int or abs(number) >= 1 << 63 for number in numbers):
            raise TypeError("something is not a whole number of 64 bits")
        details = [fault["detail"] for fault in values["faults"] if fault is not None]
        if not all(isinstance(detail, str) for detail in (values["detail"], *details)):
            raise TypeError("something is not a text")
        return cls(
            **{
                **values,
                "reason": EndReason(values["reason"]),
                "ranking": tuple(values["ranking"]),
                "returns": tuple(values["returns"]),
                "faults": tuple(
                    None
                    if fault is None
                    else Fault(
                        fault["seat"],
                        EndReason(fault["reason"]),
                        fault["detail"],
                        {"stderr": fault["last_lines"]} if "last_lines" in fault else {},
                    )
                    for fault in values["faults"]
                ),
                "seat_stats": tuple(SeatStats(**stats) for stats in values["seat_stats"]),
                "startup_us": tuple(values.get("startup_us", ())),
                "usage": tuple(None if used is None else parse_usage(used) for used in values.get("usage", ())),
            }
        )


def _said(fault: Fault) -> dict[str, str]:
    lines = fault.last_lines() if fault.reason is EndReason.START_FAILED else ()
    return {"last_lines": "\n".join(lines)} if lines else {}


@dataclass(frozen=True, slots=True)
class Outcome:
    """As `MatchResult`. `fault_seat`: the one seat whose fault ended it; `trouble`: our traceback;
    `memory_of`: the seat for which the machine had no memory left."""

    reason: EndReason
    detail: str = ""
    ranking: tuple[int, ...] = ()
    returns: tuple[int, ...] = ()
    state_hash: str = ""
    fault_seat: int | None = None
    trouble: str = ""
    memory_of: int | None = None

    @property
    def status(self) -> Status:
        return status_of(self.reason)
