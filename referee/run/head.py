"""The head of a journal: how many lines it has and what they are, written to a second place.

The journal is chained, so that a line that is changed is found. A line that is cut off its end is not: for that there
is `tournament.head` beside the journal, and, where the organiser says so, a file elsewhere. Both are replaced whole.
"""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from referee.errors import JournalError
from referee.folders import temporary_beside
from referee.record.files import read_ordinary
from referee.record.format import dumps
from referee.record.journal import JournalLine, digest_of

FORMAT = 1
MOST_HEAD_BYTES = 1 << 16
"""Of the file of a head, and of that of a signature."""

ELSEWHERE = "anchor"
"""The event of a journal that says in which file its head is written as well."""


@dataclass(frozen=True, slots=True)
class Head:
    """`run` is the digest of the journal's first line, which tells runs apart; `digest` that of its first `lines`
    lines, and `chain` the chain after them."""

    run: str
    lines: int
    chain: str
    digest: str


def head_of(data: bytes, lines: Sequence[JournalLine], number: int | None = None) -> Head:
    """The head of a journal with this content, which begins with `lines`; or as it was when it had `number` lines."""
    kept = lines if number is None else lines[:number]
    if not kept:
        return Head("", 0, "", digest_of(b""))
    return Head(digest_of(data[: kept[0].end]), len(kept), kept[-1].chain, digest_of(data[: kept[-1].end]))


def head_file(journal: Path) -> Path:
    """Where the head lies in a run folder."""
    return journal.with_name("tournament.head")


def places_of(journal: Path, lines: Sequence[JournalLine]) -> list[Path]:
    """All files that the head of this journal is written to."""
    elsewhere = [Path(str(line.fields.get("file"))) for line in lines if line.kind == ELSEWHERE]
    return [head_file(journal), *elsewhere[-1:]]


def read_head(path: Path) -> Head | None:
    """The head that was written to `path`; None if there is no file. JournalError for a file that is no head."""
    try:
        return parse_head(json.loads(read_ordinary(path, MOST_HEAD_BYTES)))
    except FileNotFoundError:
        return None
    except OSError as error:
        raise JournalError(f"cannot read the head of the journal in {path}: {error.strerror}", _MOVE) from error
    except (ValueError, TypeError, KeyError, RecursionError):
        raise JournalError(f"{path} is not the head of a journal", _MOVE) from None


_MOVE = "restore the file from a copy, or move it away: what was cut off the journal is then not noticed"


def parse_head(values: Mapping[str, Any]) -> Head:
    """KeyError, TypeError or ValueError for what is no head."""
    if values["format"] != FORMAT or type(values["lines"]) is not int:
        raise ValueError("format")
    return Head(str(values["run"]), values["lines"], str(values["chain"]), str(values["digest"]))


def write_head(path: Path, head: Head) -> None:
    """Replace the file durably. OSError."""
    at = datetime.now(UTC).isoformat(timespec="milliseconds")
    write_durably(path, dumps({"format": FORMAT, **asdict(head), "at": at}) + "\n")


def write_durably(path: Path, text: str) -> None:
    """Replace the file by one with this ASCII text, whole and on the disk. OSError."""
    temporary = temporary_beside(path)
    try:
        temporary.unlink(missing_ok=True)
        with temporary.open("x", encoding="ascii") as file:  # follows no link that others have laid there
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise


def contradiction(head: Head, place: Path, data: bytes, lines: Sequence[JournalLine]) -> str:
    """A sentence if a journal does not go on from a head that was written to `place`; '' if it does."""
    if head.lines and lines and head.run != head_of(data, lines, 1).run:
        return f"{place} is of another run: its journal has another first line"
    if head.lines > len(lines):
        cut = head.lines - len(lines)
        what = "1 line was" if cut == 1 else f"{cut} lines were"
        return f"{what} cut off the end of the journal: it has {len(lines)}, and had {head.lines} by {place}"
    if head_of(data, lines, head.lines) != head:
        return f"the first {head.lines} lines of the journal are not those that it had by {place}"
    return ""
