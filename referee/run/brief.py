"""The lines of a journal without the digests of records, kept beside it, so that a table of a run with many matches
need not read them all again.

`tournament.brief` is a cache: `[seal, {...}]` with the lines, the digest of the part of the journal that they are, and
the size, times and inode of the file. It is used as it is if the journal is still that file and ends in the same chain.
If the journal has grown, its beginning has to have that digest, and only what follows is read. It may be deleted.
"""

import json
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from referee.folders import temporary_beside
from referee.garbage import no_collection
from referee.record.files import read_ordinary
from referee.record.journal import MOST_JOURNAL_BYTES, JournalLine, chain_before, digest_of, parse_lines
from referee.record.store import SETTLED_NS
from referee.run.seal import is_sealed, seal_of

NAME = "tournament.brief"
WORTH_BYTES = 1 << 20
"""A shorter journal is read as it is; what is kept is written again when as much has come, or when the journal has
changed and nothing is written to it now."""

_PURPOSE = "journal"


@dataclass(frozen=True, slots=True)
class _Kept:
    """`stamp` is of the file, `digest` of the part of it that the lines are."""

    stamp: list[int]
    digest: str
    lines: tuple[JournalLine, ...]

    def is_of(self, data: bytes) -> bool:
        """Whether a journal with this content begins with these lines."""
        end = self.lines[-1].end
        return end <= len(data) and digest_of(data[:end]) == self.digest


def brief_lines(journal: Path) -> tuple[JournalLine, ...]:
    """The whole lines of a journal, those with digests without them; none if there is no file. JournalDamage,
    OSError."""
    try:
        stat = journal.stat()
    except FileNotFoundError:
        return ()
    stamp = [stat.st_ino, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns]
    if stat.st_size < WORTH_BYTES:
        return parse_lines(journal, read_ordinary(journal, MOST_JOURNAL_BYTES), without_digests=True)
    kept = _read(journal.with_name(NAME))
    if kept is not None and kept.stamp == stamp and kept.lines[-1].chain == chain_before(journal, kept.lines[-1].end):
        return kept.lines
    data = read_ordinary(journal, MOST_JOURNAL_BYTES)
    known = kept.lines if kept is not None and kept.is_of(data) else ()
    lines = (*known, *parse_lines(journal, data, known, without_digests=True))
    rests = time.time_ns() - stat.st_mtime_ns > SETTLED_NS
    if lines and (rests or not known or lines[-1].end - known[-1].end >= WORTH_BYTES):
        _write(journal.with_name(NAME), _Kept(stamp, digest_of(data[: lines[-1].end]), lines))
    return lines


def _read(path: Path) -> _Kept | None:
    """None if there is none that this user has made."""
    with suppress(OSError, ValueError), no_collection():
        seal, content = read_ordinary(path).decode("ascii").split("\n", 1)
        if is_sealed(seal, _PURPOSE, content):
            stamp, digest, lines = json.loads(content)
            return _Kept(stamp, digest, tuple(_line(values) for values in lines))
    return None


def _line(values: Sequence[Any]) -> JournalLine:
    kind, at, chain, end, *fields = values
    return JournalLine(kind, at, fields[0] if fields else {}, chain, end)


def _write(path: Path, kept: _Kept) -> None:
    """A disk that is full, or a folder that cannot be written, costs nothing but time."""
    lines = [
        [line.kind, line.at, line.chain, line.end, *([dict(line.fields)] if line.fields else [])] for line in kept.lines
    ]
    content = json.dumps([kept.stamp, kept.digest, lines], separators=(",", ":"))
    fresh = temporary_beside(path)
    with suppress(OSError):
        try:
            fresh.write_text(f"{seal_of(_PURPOSE, content)}\n{content}", encoding="ascii")
            fresh.replace(path)
        finally:
            fresh.unlink(missing_ok=True)
