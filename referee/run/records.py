"""The records in a run folder: which of them count for a scheduled match, and where the others go."""

from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass
from glob import escape
from pathlib import Path
from typing import Any

from referee.errors import PlatformError
from referee.record.format import CLOSED_SUFFIX, LIVE_SUFFIX, RecordError
from referee.record.reader import Record, read_record
from referee.record.writer import close_record
from referee.run.folder import RunFolder
from referee.schedule.spec import MatchSpec

COUNTS = ""
"""`Judged.why` of a record that counts."""


@dataclass(frozen=True, slots=True)
class Judged:
    """What a record is for a scheduled match. `why`: `COUNTS`, or one word on why it does not count.

    Of one that counts, per seat: ranking, faults (end reason or ''; one that a strike paid for is none); how long it
    took; and the digest that anchors it.
    """

    why: str
    ranking: tuple[int, ...] = ()
    faults: tuple[str, ...] = ()
    wall_us: int = 0
    digest: str = ""


def record_files(folder: RunFolder) -> dict[str, Path]:
    """The record of each match in `matches/`, by match id. Left-overs of a killed referee are removed on the way.

    A closed file is complete before it appears, so a live one beside it is only not deleted yet.
    """
    found: dict[str, Path] = {}
    try:
        for path in sorted(folder.matches.iterdir()):
            if path.name.startswith(".") and path.name.endswith(".tmp"):
                path.unlink()
            elif path.name.endswith(LIVE_SUFFIX):
                found[path.name.removesuffix(LIVE_SUFFIX)] = path
            elif path.name.endswith(CLOSED_SUFFIX):
                match_id = path.name.removesuffix(CLOSED_SUFFIX)
                if match_id in found:
                    found[match_id].unlink()
                found[match_id] = path
    except OSError as error:
        raise _trouble(error) from error
    return found


def judge(path: Path, spec: MatchSpec, seeds: Collection[str]) -> Judged:
    """Whether the record in `path` is the complete, rated result of `spec`, played on one of `seeds`.

    The words if not: unfinished, damaged, void, cancelled, foreign (of another specification).
    """
    try:
        record = read_record(path)
    except RecordError:
        return Judged("unfinished" if path.name.endswith(LIVE_SUFFIX) else "damaged")
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
    return Judged(COUNTS, footer.ranking, tuple(map(_reason, faults)), footer.wall_us, record.digest)


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
    if not path.name.endswith(LIVE_SUFFIX):
        return path
    try:
        return close_record(path)
    except RecordError:
        return path


def clear_leftovers(folder: RunFolder, match_id: str) -> None:
    """Remove what a worker that was killed while it closed this match's record left: a part of the copy, or the live
    record that the whole copy has replaced."""
    with suppress(OSError):
        if (folder.matches / f"{match_id}{CLOSED_SUFFIX}").exists():
            (folder.matches / f"{match_id}{LIVE_SUFFIX}").unlink(missing_ok=True)
        for path in folder.matches.glob(f".{match_id}.*.tmp"):
            path.unlink()


def set_aside(folder: RunFolder, path: Path, why: str) -> Path:
    """Move a record that does not count to `matches/void/<match id>.<number>-<why>...`; it is kept, never counted."""
    suffix = CLOSED_SUFFIX if path.name.endswith(CLOSED_SUFFIX) else LIVE_SUFFIX
    stem = path.name.removesuffix(suffix)
    try:
        folder.void.mkdir(parents=True, exist_ok=True)
        number = 1
        while any(folder.void.glob(f"{escape(stem)}.{number}-*")):
            number += 1
        target = folder.void / f"{stem}.{number}-{why}{suffix}"
        path.rename(target)
    except OSError as error:
        raise _trouble(error) from error
    return target


def place_of(match_id: str) -> int | None:
    """The place in a match id, by its form alone."""
    digits = match_id[1:].partition("-")[0]
    return int(digits) if match_id.startswith("m") and digits.isascii() and digits.isdigit() else None


def live_or_closed(folder: RunFolder, match_id: str) -> Path | None:
    """The record of a match where there is one."""
    for suffix in (CLOSED_SUFFIX, LIVE_SUFFIX):
        path = folder.matches / f"{match_id}{suffix}"
        if path.exists():
            return path
    return None


def _is_of(record: Record, spec: MatchSpec, seeds: Collection[str]) -> bool:
    header, footer = record.header, record.footer
    return (
        footer is not None
        and (header.match_id, header.place, header.block, header.game)
        == (spec.match_id, spec.place, spec.block, spec.game)
        and [seat.entry_id for seat in header.seats] == [seat.entry_id for seat in spec.seats]
        and footer.seed in seeds
        and len(footer.ranking) == len(spec.seats)
    )


def _trouble(error: OSError) -> PlatformError:
    return PlatformError(
        f"cannot change {error.filename}: {error.strerror}",
        "free some space or check the rights of the folder, then run the same command again",
    )
