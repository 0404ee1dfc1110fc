"""Which record counts for a scheduled match."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from referee.record.format import RecordError
from referee.record.reader import Record, read_record
from referee.record.store import is_live
from referee.record.writer import close_record
from referee.schedule.spec import MatchSpec

COUNTS = ""
"""`Judged.why` of a record that counts."""


@dataclass(frozen=True, slots=True)
class Judged:
    """What a record is for a scheduled match. `why`: `COUNTS`, or one word on why it does not count.

    Of one that counts, per seat: ranking, faults (end reason or ''; one that a strike paid for is none); how long it
    took; the digest that anchors it; and the record itself.
    """

    why: str
    ranking: tuple[int, ...] = ()
    faults: tuple[str, ...] = ()
    wall_us: int = 0
    digest: str = ""
    record: Record | None = None


def judge(path: Path, spec: MatchSpec, seeds: Collection[str]) -> Judged:
    """Whether the record in `path` is the complete, rated result of `spec`, played on one of `seeds`.

    The words if not: unfinished, damaged, void, cancelled, foreign (of another specification).
    """
    try:
        record = read_record(path)
    except RecordError:
        return Judged("unfinished" if is_live(path) else "damaged")
    return judge_record(record, spec, seeds)


def judge_record(record: Record, spec: MatchSpec, seeds: Collection[str]) -> Judged:
    """The same of a record that was read already."""
    footer = record.footer
    if record.problems:
        return Judged("damaged")
    if footer is None:
        return Judged("unfinished")
    if footer.status != "rated":
        return Judged(footer.status if footer.status in ("void", "cancelled") else "damaged")
    if not _is_of(record, spec, seeds):
        return Judged("foreign")
    faults = footer.faults or (None,) * len(spec.seats)
    return Judged(COUNTS, footer.ranking, tuple(map(_reason, faults)), footer.wall_us, record.digest, record)


def entries_at_fault(path: Path) -> frozenset[str]:
    """Those for whose fault a seat left or was taken over in the match of this record; none if it cannot be read."""
    try:
        record = read_record(path)
    except RecordError:
        return frozenset()
    faults = record.footer.faults if record.footer is not None else ()
    return frozenset(seat.entry_id for seat, fault in zip(record.header.seats, faults, strict=False) if _reason(fault))


def _reason(fault: Mapping[str, Any] | None) -> str:
    """Of the fault for which a seat left or was taken over. One that it went on after says how many strikes it had."""
    return "" if fault is None or "strikes" in fault else str(fault.get("reason", "unknown"))


def close_if_live(path: Path) -> Path:
    """Compress a complete record that a killed referee had no time to. Where that fails, the live file serves."""
    if not is_live(path):
        return path
    try:
        return close_record(path)
    except RecordError:
        return path


def _is_of(record: Record, spec: MatchSpec, seeds: Collection[str]) -> bool:
    header, footer = record.header, record.footer
    return (
        footer is not None
        and (header.match_id, header.place, header.block, header.game)
        == (spec.match_id, spec.place, spec.block, spec.game)
        and header.options == spec.options
        and [seat.entry_id for seat in header.seats] == [seat.entry_id for seat in spec.seats]
        and footer.seed in seeds
        and len(footer.ranking) == len(spec.seats)
    )
