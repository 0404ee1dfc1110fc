"""What the referee kept of each fault."""

from collections.abc import Iterable
from dataclasses import dataclass

from leaderboard.records import MatchRow, SeatRow
from referee.record import Record, RecordError, read_record
from referee.record.reasons import EndReason
from referee.record.store import RecordStore
from referee.texts import clean, missing_package, one_line, own_frames, without_store

LONGEST = 20_000
"""Characters of one text that a page shows."""

LAST_LINES = 12
"""Lines of a bot's output that an overview of its faults shows."""

_TEXTS = ("board", "stacks", "stdout", "stderr")


@dataclass(frozen=True, slots=True)
class Evidence:
    """One fault: a sentence, single values by name, and longer texts by name. All of it fit to be shown."""

    seat: int
    reason: str
    said: str
    values: tuple[tuple[str, str], ...]
    texts: tuple[tuple[str, str], ...]


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
    """By bot and reason, from these records. To resign is no fault that a bot's author has to mend."""
    found: dict[tuple[str, str, str], list[tuple[MatchRow, SeatRow]]] = {}
    for row in rows:
        for seat in row.seats:
            if seat.fault and seat.fault != EndReason.RESIGNED:
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
        lines = tuple(all_lines[LAST_LINES - 1 :: -1] if stacks else all_lines[-LAST_LINES:])
        said, advice = one.said, missing_package(shown)
    matches = len({row.match_id for row, _ in faults})
    return BotFault(seat.entry_id, seat.name, seat.fault, matches, row.match_id, row.stamp.name, said, lines, advice)


def last_lines(evidence: Evidence) -> str:
    """The end of what the bot printed to stderr or, if there is nothing, to stdout."""
    texts = dict(evidence.texts)
    return "\n".join((texts.get("stderr") or texts.get("stdout") or "").rstrip().splitlines()[-LAST_LINES:])


def evidence_of(record: Record) -> list[Evidence]:
    """In the order of the seats."""
    faults = record.footer.faults if record.footer else ()
    found = []
    for seat, fault in enumerate(faults):
        if fault is not None:
            single = {name: value for name, value in fault.items() if name not in (*_TEXTS, "reason", "detail")}
            values = tuple((one_line(name), one_line(_joined(value))) for name, value in single.items())
            texts = tuple((name, _shown(name, str(fault[name]))) for name in _TEXTS if fault.get(name))
            said = one_line(f"{fault.get('reason')}: {fault.get('detail', '')}".removesuffix(": "))
            found.append(Evidence(seat, str(fault.get("reason")), said, values, texts))
    return found


def _shown(name: str, text: str) -> str:
    """Of stacks the bot's own lines, of long output its beginning and its end: a traceback comes last."""
    text = without_store(text)
    if name == "stacks" and (frames := own_frames(text)):
        text = "\n".join(frames)
    if len(text) <= LONGEST:
        return clean(text, LONGEST)
    half = LONGEST // 2
    left = len(text) - 2 * half
    return (
        f"{clean(text[:half], half)}\n[... {left} more characters are in the record ...]\n{clean(text[-half:], half)}"
    )


def _joined(value: object) -> str:
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)
