"""What the referee kept of each fault."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from leaderboard.records import MatchRow, SeatRow
from leaderboard.titles import in_words, with_names
from referee.errors import without_middle
from referee.record import Record, RecordError, read_record
from referee.record.reasons import is_fault
from referee.record.stacks import own_frames
from referee.record.store import RecordStore
from referee.record.times import in_seconds, late_us, margin_us
from referee.texts import clean, missing_package, one_line, without_store

LONGEST = 20_000
"""Characters of one text that a page shows."""

LAST_LINES = 12
"""Lines of a bot's output that an overview of its faults shows."""

_LONG_LINE = 1000
"""Characters of one of them; of a longer one the beginning and the end are shown."""

_TEXTS = ("board", "stacks", "stdout", "stderr")
_NAMES = {
    "kind": "question",
    "message": "message (base64)",
    "message_bytes": "size of the message",
    "legal_count": "legal actions",
    "legal": "the first of them",
    "limit_us": "limit",
    "wall_us": "time passed",
    "lag_us": "not charged of it",
    "charged_us": "time charged",
    "cpu_us": "processor time of the bot",
    "referee_late_us": "referee was late by",
    "bot_waited_us": "bot waited for a processor",
    "bot_traffic_us": "referee read the bot's messages for",
    "bot_throttled_us": "bot held back by its limit of cores",
    "bank_us": "left of the bank",
    "total_us": "left of the time for the match",
    "startup_us": "time charged since the start",
    "startup_lag_us": "not charged of the start",
    "busy_seats_us": "other bots computed",
    "process_state": "bot at its deadline",
    "strikes": "strikes so far",
}
_TITLES = {
    "board": "The position",
    "stacks": "Where the bot was, the innermost line first",
    "stdout": "What the bot printed (stdout)",
    "stderr": "What the bot printed (stderr)",
}
_STATES = {
    "R": "running or ready to run",
    "S": "not running: sleeping, or waiting for something",
    "D": "waiting for a disk",
    "T": "stopped",
    "Z": "ended",
}
_SHOWN_LEGAL = 5
_MUCH = 2
"""A bot that used this part of the time that passed was computing."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """One fault: a sentence, single values by name in words, and longer texts by name. All of it fit to be shown.

    `cause` is what the times say of why a bot was late, '' if nothing.
    """

    seat: int
    reason: str
    said: str
    values: tuple[tuple[str, str], ...]
    texts: tuple[tuple[str, str], ...]
    cause: str = ""

    @property
    def last_lines(self) -> str:
        """The end of what the bot printed to stderr or, if there is nothing, to stdout."""
        texts = dict(self.texts)
        return "\n".join((texts.get("stderr") or texts.get("stdout") or "").rstrip().splitlines()[-LAST_LINES:])


@dataclass(frozen=True, slots=True)
class BotFault:
    """The last fault of a bot for one reason: in how many matches there was one, what the referee said of the last one,
    where the bot was (the innermost line last) or the last lines that it printed, and what to do if that is known.
    `record` is a file's name.
    """

    entry_id: str
    name: str
    reason: str
    matches: int
    match_id: str
    record: str
    said: str
    lines: tuple[str, ...]
    advice: str


def last_faults(rows: Iterable[MatchRow], records: RecordStore) -> list[BotFault]:
    """By bot and reason, from these records."""
    found: dict[tuple[str, str, str], list[tuple[MatchRow, SeatRow]]] = {}
    for row in rows:
        for seat in row.seats:
            if is_fault(seat.fault):
                found.setdefault((seat.name, seat.entry_id, seat.fault), []).append((row, seat))
    return [_last_fault(sorted(found[key], key=lambda pair: pair[0].place), records) for key in sorted(found)]


def _last_fault(faults: list[tuple[MatchRow, SeatRow]], records: RecordStore) -> BotFault:
    row, seat = faults[-1]
    said, lines, advice = seat.fault, tuple[str, ...](), ""
    try:
        kept = [one for one in evidence_of(read_record(records.at(row.stamp))) if one.seat == seat.seat]
    except (RecordError, OSError):  # the row is known, the file is gone or damaged: `crosstown verify` tells
        kept = []
    for one in kept:
        texts = dict(one.texts)
        stacks = texts.get("stacks", "")
        shown = stacks or texts.get("stderr") or texts.get("stdout") or ""
        all_lines = shown.rstrip().splitlines()
        last = all_lines[LAST_LINES - 1 :: -1] if stacks else all_lines[-LAST_LINES:]
        lines = tuple(without_middle(line, _LONG_LINE, _LONG_LINE // 3, _LONG_LINE // 3) for line in last)
        said, advice = one.said, missing_package(shown)
    matches = len({row.match_id for row, _ in faults})
    return BotFault(seat.entry_id, seat.name, seat.fault, matches, row.match_id, row.stamp.name, said, lines, advice)


def evidence_of(record: Record) -> list[Evidence]:
    """Of the faults of a match, in the order of the seats."""
    faults = record.footer.faults if record.footer else ()
    found = []
    for seat, fault in enumerate(faults):
        if fault is not None and is_fault(str(fault.get("reason"))):
            single = {name: value for name, value in fault.items() if name not in (*_TEXTS, "reason", "detail")}
            if late_us(fault):
                single["charged_us"] = late_us(fault)
            names, margin = record.header.names, margin_us(record.header, seat)
            values = tuple(
                (one_line(_NAMES.get(name, _plain_name(name))), one_line(_in_words(name, value, names, margin)))
                for name, value in single.items()
            )
            texts = tuple((name, _shown(name, str(fault[name]), names)) for name in _TEXTS if fault.get(name))
            said = one_line(f"{fault.get('reason')}: {fault.get('detail', '')}".removesuffix(": "))
            found.append(Evidence(seat, str(fault.get("reason")), said, values, texts, _cause(fault)))
    return found


def _cause(fault: Mapping[str, Any]) -> str:
    """What a bot did that timed out, as far as its processor time tells."""
    wall, cpu = fault.get("wall_us"), fault.get("cpu_us")
    if not late_us(fault) or not isinstance(wall, int) or not isinstance(cpu, int) or cpu < 0:
        return ""
    used = f"The bot used {in_seconds(cpu)} of processor time in {in_seconds(wall)}"
    if cpu * _MUCH >= wall:
        return f"{used}: it was computing."
    if fault.get("process_state") == "S":
        return f"{used} and was not running at its deadline: it slept, or waited for something."
    return f"{used}."


def _plain_name(name: str) -> str:
    return in_words(name.removesuffix("_us").removesuffix("_bytes"))


def _in_words(name: str, value: object, names: tuple[str, ...], margin: int) -> str:
    """A value of the evidence, with its unit."""
    if name == "limit_us" and isinstance(value, int):
        more = f" (and {in_seconds(margin)} of margin before the referee ends the wait)" if margin else ""
        return in_seconds(max(0, value - margin)) + more
    if name == "process_state":
        return _STATES.get(str(value), str(value) or "not known")
    if name == "busy_seats_us" and isinstance(value, dict):
        return ", ".join(
            f"{with_names(f'seat {seat}', names)} {in_seconds(us) if isinstance(us, int) else us}"
            for seat, us in value.items()
        )
    if name == "legal" and isinstance(value, list) and len(value) > _SHOWN_LEGAL:
        return f"{', '.join(map(str, value[:_SHOWN_LEGAL]))}, and more"
    if name.endswith("_us") and isinstance(value, int):
        return "not known" if value < 0 and name == "cpu_us" else in_seconds(value)
    if name.endswith("_bytes") and isinstance(value, int):
        return f"{value} bytes"
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def output_title(name: str) -> str:
    """What one of the `texts` of evidence is."""
    return _TITLES.get(name, in_words(name))


def _shown(name: str, text: str, names: Sequence[str]) -> str:
    """Of stacks the bot's own lines, of long output its beginning and its end: a traceback comes last. A board, which
    is kept without names, gets those of the bots."""
    text = with_names(text, names) if name == "board" else without_store(text)
    if name == "stacks" and (frames := own_frames(text)):
        text = "\n".join(frames)
    if len(text) <= LONGEST:
        return clean(text, LONGEST)
    half = LONGEST // 2
    left = len(text) - 2 * half
    return (
        f"{clean(text[:half], half)}\n[... {left} more characters are in the record ...]\n{clean(text[-half:], half)}"
    )
