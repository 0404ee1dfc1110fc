"""What a run remembers of the records that it has judged, so that a restart need not read them all again.

`results.jsonl` in the run folder has a line for each record that counted: its name, size and modification time, then
what it said. A record that is still that file counts by what is remembered; its digest is compared with the journal's
as ever. The file is a cache: it may be deleted, and lines that cannot be read are passed over.
"""

import json
import os
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from referee.garbage import no_collection
from referee.record.store import FileStamp
from referee.run.judging import COUNTS, Judged

NAME = "results.jsonl"


def read_remembered(folder: Path) -> dict[str, tuple[FileStamp, Judged]]:
    """By match id; the last line about a match counts."""
    found: dict[str, tuple[FileStamp, Judged]] = {}
    with suppress(OSError), (folder / NAME).open("rb") as lines, no_collection():
        for line in lines:
            with suppress(ValueError, TypeError):
                match_id, name, size, mtime_ns, ranking, faults, wall_us, digest = json.loads(line)
                stamp = FileStamp(str(name), int(size), int(mtime_ns))
                found[str(match_id)] = (
                    stamp,
                    Judged(COUNTS, tuple(map(int, ranking)), tuple(map(str, faults)), int(wall_us), str(digest)),
                )
    return found


class Remembering:
    """Writes the file. A disk that is full costs nothing but a slower restart."""

    def __init__(self, folder: Path) -> None:
        self._file: Any = None
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
            self._file.close()

    def note(self, match_id: str, path: Path, judged: Judged) -> None:
        """A record at this path counts."""
        if self._file is None:
            return
        with suppress(OSError):
            stamp = FileStamp.of(path)
            values = [
                match_id,
                stamp.name,
                stamp.size_bytes,
                stamp.mtime_ns,
                judged.ranking,
                judged.faults,
                judged.wall_us,
                judged.digest,
            ]
            self._file.write(json.dumps(values, separators=(",", ":")).encode("ascii") + b"\n")
