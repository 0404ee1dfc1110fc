"""What a run remembers of the records that it has judged, so that a restart need not read them all again.

`results.jsonl` in the run folder has lines `[seal, [[match id, size, mtime_ns, ranking, faults, wall_us, digest],
...]]`: of records that counted, what tells that a file is still the same, and what it said; the digest is the beginning
of the one in the journal. A record that is still that file, and whose digest the journal has, counts by what is
remembered.

The file is a cache. A line counts only under the seal of this run and this user (`referee.run.seal`), so one that was
cut, changed or forged, or comes from another run, is passed over, and its records are read. The file may be deleted.
"""

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

from referee.garbage import no_collection
from referee.record.store import CLOSED_SUFFIX, FileStamp
from referee.run.judging import COUNTS, Judged
from referee.run.seal import SEAL_CHARS, Sealer

NAME = "results.jsonl"

_PURPOSE = "results"
_LINE_MATCHES = 256
_DIGEST_CHARS = 32


class _Row(NamedTuple):
    """What is remembered of a record. Equal rankings and faults are one object: a run may have a million rows."""

    size_bytes: int
    mtime_ns: int
    ranking: tuple[int, ...]
    faults: tuple[str, ...]
    wall_us: int
    begins: bytes


class Remembered:
    """What was judged before, by match id; of two judgements the later."""

    def __init__(self, rows: Mapping[str, _Row] | None = None) -> None:
        self._rows = rows or {}

    def __len__(self) -> int:
        return len(self._rows)

    def judged(self, match_id: str, stamp: FileStamp, digest: str, players: int) -> Judged | None:
        """What the record is that lies in the file with this stamp; None if that has to be read. `digest` is the one
        that the journal has of the match, '' if it has none."""
        row = self._row(match_id, stamp, digest, players)
        if row is None:
            return None
        return Judged(COUNTS, row.ranking, row.faults or ("",) * players, row.wall_us, digest)

    def judged_sound(self, match_id: str, stamp: FileStamp, digest: str, players: int) -> Judged | None:
        """The same; None also if a seat had a fault."""
        found = self.judged(match_id, stamp, digest, players)
        return None if found is None or any(found.faults) else found

    def _row(self, match_id: str, stamp: FileStamp, digest: str, players: int) -> _Row | None:
        row = self._rows.get(match_id)
        if row is None or not digest:
            return None
        if (stamp.size_bytes, stamp.mtime_ns) != row[:2] or not stamp.name.endswith(CLOSED_SUFFIX):
            return None
        return row if digest.startswith(row.begins.hex()) and len(row.ranking) == players else None


def read_remembered(folder: Path, run: str) -> Remembered:
    """What the run in this folder remembers. `run` tells it from other runs."""
    rows: dict[str, _Row] = {}
    shared: dict[tuple[Any, ...], tuple[Any, ...]] = {}
    sealer = Sealer(_PURPOSE, run)
    with suppress(OSError), (folder / NAME).open("rb") as lines, no_collection():
        for line in lines:
            seal, content = line[2 : 2 + SEAL_CHARS], line[4 + SEAL_CHARS : -2]
            if seal == sealer.seal_of(content).encode():
                for match_id, size, mtime_ns, ranking, faults, wall_us, begins in json.loads(content):
                    ranks, reasons = (shared.setdefault(found, found) for found in (tuple(ranking), tuple(faults)))
                    rows[match_id] = _Row(size, mtime_ns, ranks, reasons, wall_us, bytes.fromhex(begins))
    return Remembered(rows)


class Remembering:
    """Writes the file. A disk that is full costs nothing but a slower restart."""

    def __init__(self, folder: Path, run: str) -> None:
        self._sealer = Sealer(_PURPOSE, run)
        self._file: Any = None
        self._rows: list[list[Any]] = []
        with suppress(OSError):
            path = folder / NAME
            self._file = path.open("ab", buffering=0)
            if path.stat().st_size:  # a kill may have cut the last line
                os.write(self._file.fileno(), b"\n")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._file is not None:
            self.flush()
            self._file.close()

    def note(self, match_id: str, path: Path, judged: Judged) -> None:
        """A record at this path counts."""
        if self._file is None or not path.name.endswith(CLOSED_SUFFIX):
            return
        with suppress(OSError):
            stamp = FileStamp.of(path)
            faults = judged.faults if any(judged.faults) else ()
            self._rows.append(
                [
                    match_id,
                    stamp.size_bytes,
                    stamp.mtime_ns,
                    judged.ranking,
                    faults,
                    judged.wall_us,
                    judged.digest[:_DIGEST_CHARS],
                ]
            )
        if len(self._rows) >= _LINE_MATCHES:
            self.flush()

    def flush(self) -> None:
        """Write what was noted."""
        if not self._rows:
            return
        content = json.dumps(self._rows, separators=(",", ":")).encode("ascii")
        self._rows.clear()
        with suppress(OSError):
            self._file.write(b'["%s",%s]\n' % (self._sealer.seal_of(content).encode(), content))
