"""Packs the records of a run that are settled and old enough into archives (`referee.record.archive`)."""

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime

from referee.record.journal import digest_of
from referee.record.reader import unpack
from referee.record.store import Packing
from referee.run.folder import RunFolder
from referee.run.run import Run
from referee.schedule.progress import Result


def settled_matches(run: Run, results: Iterable[Result]) -> list[str]:
    """The ids of the matches that count, of seed groups of which no match is still to be played. UnknownFormat."""
    open_groups: set[int] = set()
    counted: list[tuple[str, int]] = []
    for spec, state in run.progress(results):
        if state == "open":
            open_groups.add(spec.block)
        elif state == "counts":
            counted.append((spec.match_id, spec.block))
    if run.season_over:
        open_groups.clear()
    return [match_id for match_id, group in counted if group not in open_groups]


def pack_records(
    folder: RunFolder,
    settled: Iterable[str],
    digests: Mapping[str, str],
    until: datetime,
    stop: Callable[[], bool] = lambda: False,
) -> Packing:
    """Pack the records of these matches that were closed before `until` and have a digest in the journal. A record that
    is not the one with that digest stays as it is. Needs the lock of the run. PlatformError, RecordError."""

    def fits(match_id: str, data: bytes) -> bool:
        content, problem = unpack(data)
        return not problem and digest_of(content) == digests[match_id]

    until_ns = until.timestamp() * 1e9
    stamps = folder.records.stamps()
    old = (match_id for match_id in settled if match_id in stamps and stamps[match_id].mtime_ns < until_ns)
    return folder.records.pack((match_id for match_id in old if match_id in digests), fits, stop)
