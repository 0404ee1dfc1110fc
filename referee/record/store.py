"""Where match records lie and what their files are called. Nothing else knows, so another store can be put here.

    <run>/matches/<match id>.jsonl              a match that goes on, or was cut off
    <run>/matches/<match id>.jsonl.gz           a closed record; it replaces the live one beside it
    <run>/matches/void/<match id>.<n>-<why>...  a record that was set aside: it does not count

A record is named by a path everywhere else. `read_record` and `RecordWriter` read and write what lies there.
"""

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from glob import escape
from hashlib import blake2b
from operator import itemgetter
from pathlib import Path

from referee.errors import PlatformError

LIVE_SUFFIX = ".jsonl"
CLOSED_SUFFIX = ".jsonl.gz"

_MATCHES = "matches"
_ASIDE = "void"
_MATCH_ID = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9_.-]{0,199}")


@dataclass(frozen=True, slots=True)
class FileStamp:
    """Which file a row was read from, and what tells that it is still the same."""

    name: str
    size_bytes: int
    mtime_ns: int

    @classmethod
    def of(cls, path: Path) -> "FileStamp":
        """OSError if the file is gone."""
        return cls._of(path.name, path.stat())

    @classmethod
    def _of(cls, name: str, stat: os.stat_result) -> "FileStamp":
        return cls(name, stat.st_size, stat.st_mtime_ns)


@dataclass(frozen=True, slots=True)
class RecordStore:
    """The records in `folder`: those of matches that count or go on. Those that were set aside lie in `aside`."""

    folder: Path

    @classmethod
    def of_run(cls, run: Path) -> "RecordStore":
        """That of a run folder."""
        return cls(run / _MATCHES)

    @classmethod
    def found_in(cls, folder: Path) -> "RecordStore":
        """That of a run folder, or of any folder with records."""
        store = cls.of_run(folder)
        return store if store.folder.is_dir() else cls(folder)

    @property
    def aside(self) -> Path:
        return self.folder / _ASIDE

    @property
    def exists(self) -> bool:
        return self.folder.is_dir()

    def __contains__(self, match_id: object) -> bool:
        """Whether the match has a record that was not set aside."""
        return isinstance(match_id, str) and self.find(match_id) is not None

    def paths(self) -> dict[str, Path]:
        """The record of each match, by match id, sorted. The closed file wins over a live one beside it."""
        return _paths(self.folder)

    def aside_paths(self) -> dict[str, Path]:
        """The records that were set aside, by their names, sorted."""
        return _paths(self.aside)

    def stamps(self) -> dict[str, FileStamp]:
        """The same as `paths`, with what tells that a file is still the same."""
        try:
            with os.scandir(self.folder) as entries:
                names = sorted(((entry.name, entry) for entry in entries), key=itemgetter(0))
        except (FileNotFoundError, NotADirectoryError):
            return {}
        found: dict[str, FileStamp] = {}
        for name, entry in names:  # sorted: x.jsonl comes before x.jsonl.gz, which replaces it
            if record_name := _record_name(name):
                try:
                    found[record_name] = FileStamp._of(name, entry.stat())
                except OSError:  # gone since, or a broken link: reading it will tell
                    found[record_name] = FileStamp(name, -1, -1)
        return found

    def fingerprint(self, *more: object) -> str:
        """Of the records and whatever else a table is computed from: another one, if any file was added, taken or
        changed."""
        lines: list[str] = []
        try:
            with os.scandir(self.folder) as entries:
                for entry in entries:
                    if entry.name.endswith((CLOSED_SUFFIX, LIVE_SUFFIX)):
                        stat = entry.stat(follow_symlinks=False)
                        lines.append(f"{entry.name} {stat.st_size} {stat.st_mtime_ns}")
        except OSError as error:  # no folder yet, or a file that is gone since
            lines.append(str(error))
        lines.sort()
        digest = blake2b(repr(more).encode(), digest_size=16, person=b"crosstown-list")
        digest.update("\n".join(lines).encode("utf-8", "surrogateescape"))
        return digest.hexdigest()

    def changed_ns(self) -> int:
        """Another number when a record came or went; a live record that grows changes nothing. 0 without a folder."""
        try:
            return self.folder.stat().st_mtime_ns
        except OSError:
            return 0

    def find(self, match_id: str) -> Path | None:
        """The record of a match that was not set aside."""
        return _find(self.folder, match_id)

    def find_anywhere(self, name: str) -> Path | None:
        """The record of this name, also of one that was set aside."""
        return _find(self.folder, name) or _find(self.aside, name)

    def live(self) -> list[str]:
        """The ids of the matches that go on, or were cut off."""
        try:
            with os.scandir(self.folder) as entries:
                found = sorted(name for entry in entries if (name := entry.name).endswith(LIVE_SUFFIX))
        except OSError:
            return []
        ids = [name.removesuffix(LIVE_SUFFIX) for name in found if not name.startswith(".")]
        return [match_id for match_id in ids if not (self.folder / f"{match_id}{CLOSED_SUFFIX}").exists()]

    def at(self, stamp: FileStamp) -> Path:
        """The record that a stamp is of."""
        return self.folder / stamp.name

    def make(self) -> None:
        """OSError if the folders cannot be made."""
        self.aside.mkdir(parents=True, exist_ok=True)

    def tidy(self) -> dict[str, Path]:
        """As `paths`, and remove what a killed referee left: parts of copies, and live files that a closed one has
        replaced. A closed file is complete before it appears. PlatformError."""
        found: dict[str, Path] = {}
        try:
            for path in sorted(self.folder.iterdir(), key=lambda path: path.name):
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

    def tidy_match(self, match_id: str) -> None:
        """The same for one match, whose worker was killed."""
        with suppress(OSError):
            if (self.folder / f"{match_id}{CLOSED_SUFFIX}").exists():
                (self.folder / f"{match_id}{LIVE_SUFFIX}").unlink(missing_ok=True)
            for path in self.folder.glob(f".{match_id}.*.tmp"):
                path.unlink()

    def set_aside(self, path: Path, why: str) -> Path:
        """Move a record that does not count; it is kept, never counted. `why` is one word. PlatformError."""
        suffix = CLOSED_SUFFIX if path.name.endswith(CLOSED_SUFFIX) else LIVE_SUFFIX
        stem = path.name.removesuffix(suffix)
        try:
            self.aside.mkdir(parents=True, exist_ok=True)
            number = 1
            while any(self.aside.glob(f"{escape(stem)}.{number}-*")):
                number += 1
            target = self.aside / f"{stem}.{number}-{why}{suffix}"
            path.rename(target)
        except OSError as error:
            raise _trouble(error) from error
        return target

    def aside_of(self, match_id: str) -> Iterator[Path]:
        """The records of a match that were set aside, sorted."""
        yield from sorted(self.aside.glob(f"{escape(match_id)}.*-*"))


def record_name(path: Path) -> str:
    """What a record is called, without its suffix: the match id; of one that was set aside more follows. '' for a file
    that is not called like a record."""
    return _record_name(path.name)


def match_id_of(path: Path) -> str:
    """The id of the match that a record is of, by its name; '' if the file is not called like a record."""
    name = record_name(path)
    return name.partition(".")[0] if is_aside(path) else name


def why_aside(path: Path) -> str:
    """Why a record was set aside, by its name; '' for one that was not."""
    return record_name(path).partition(".")[2].partition("-")[2] or "void" if is_aside(path) else ""


def is_aside(path: Path) -> bool:
    """Whether a record was set aside."""
    return path.parent.name == _ASIDE


def counts_in(path: Path) -> Path | None:
    """The run folder in which a record lies and was not set aside; None for one that lies elsewhere."""
    return path.parent.parent if path.parent.name == _MATCHES else None


def run_of(path: Path) -> Path | None:
    """The run folder in which a record lies, also one that was set aside; None for one that lies elsewhere."""
    folder = path.parent.parent if is_aside(path) else path.parent
    return folder.parent if folder.name == _MATCHES else None


def is_live(path: Path) -> bool:
    """Whether a record may still grow: what seats hide from each other must not be shown yet."""
    return not path.name.endswith(CLOSED_SUFFIX)


def names_record(word: str) -> bool:
    """Whether a word is the path of a record, by how it ends."""
    return word.endswith((CLOSED_SUFFIX, LIVE_SUFFIX))


def live_path(folder: Path, match_id: str) -> Path:
    """Where a match that goes on is recorded."""
    return folder / f"{match_id}{LIVE_SUFFIX}"


def closed_path(live: Path) -> Path:
    """Where a live record lies once it is closed."""
    return live.with_name(live.name.removesuffix(LIVE_SUFFIX) + CLOSED_SUFFIX)


def _paths(folder: Path) -> dict[str, Path]:
    if not folder.is_dir():
        return {}
    paths = sorted(folder.iterdir())  # x.jsonl comes before x.jsonl.gz, which replaces it
    return {name: path for path in paths if (name := _record_name(path.name))}


def _find(folder: Path, name: str) -> Path | None:
    if _MATCH_ID.fullmatch(name):
        for suffix in (CLOSED_SUFFIX, LIVE_SUFFIX):
            path = folder / f"{name}{suffix}"
            if path.is_file():
                return path
    return None


def _record_name(file_name: str) -> str:
    if file_name.startswith("."):
        return ""
    for suffix in (CLOSED_SUFFIX, LIVE_SUFFIX):
        if file_name.endswith(suffix):
            return file_name.removesuffix(suffix)
    return ""


def _trouble(error: OSError) -> PlatformError:
    return PlatformError(
        f"cannot change {error.filename}: {error.strerror}",
        "free some space or check the rights of the folder, then run the same command again",
    )
