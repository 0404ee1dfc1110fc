"""Where match records lie and what their files are called. Nothing else knows, so another store can be put here.

    <run>/matches/<match id>.jsonl              a match that goes on, or was cut off
    <run>/matches/<match id>.jsonl.gz           a closed record; it replaces the live one beside it
    <run>/matches/void/<match id>.<n>-<why>...  a record that was set aside: it does not count
    <run>/matches/packed/<day>.<n>.pack.gz      many closed records of one day (`referee.record.archive`)

A record is named by a path everywhere else: a packed one by the path that its file had. `contents` has the bytes of
both. A file wins over a packed record of the same name.
"""

import os
import re
import time
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Container, Iterable, Iterator, KeysView, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache, partial
from glob import escape
from hashlib import blake2b
from operator import itemgetter
from pathlib import Path
from typing import TypeAlias, TypeVar

from referee.errors import PlatformError
from referee.record.archive import SUFFIX, Archive, Packed, open_archive, write_archive
from referee.record.files import read_ordinary
from referee.record.format import RecordError

T = TypeVar("T")

LIVE_SUFFIX = ".jsonl"
CLOSED_SUFFIX = ".jsonl.gz"

_MATCHES = "matches"
_ASIDE = "void"
_PACKED = "packed"
_MOST_RECORDS = 20_000
_MOST_BYTES = 64 << 20
"""An archive has no more records, and begins no further one beyond so many bytes."""

_MATCH_ID = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9_.-]{0,199}")


@dataclass(frozen=True, slots=True)
class FileStamp:
    """Which file a row was read from, and what tells that it is still the same."""

    name: str
    size_bytes: int
    mtime_ns: int

    @classmethod
    def of(cls, path: Path) -> "FileStamp":
        """That of a packed record is the one that its file had. OSError if the file is gone; RecordError if an archive
        is damaged."""
        try:
            return cls._of(path.name, path.stat())
        except FileNotFoundError:
            if found := _find_packed(path):
                return cls._of_packed(found[1])
            raise

    @classmethod
    def _of(cls, name: str, stat: os.stat_result) -> "FileStamp":
        return cls(name, stat.st_size, stat.st_mtime_ns)

    @classmethod
    def _of_packed(cls, packed: Packed) -> "FileStamp":
        return cls(packed.name, packed.size_bytes, packed.mtime_ns)


class Records(Mapping[str, Path]):
    """The records in `folder` by match id, sorted: a path for each, made when it is asked for. `stamps` has what tells
    that a file is still the same."""

    def __init__(self, folder: Path, stamps: dict[str, FileStamp]) -> None:
        self._folder = folder
        self.stamps = stamps

    def __getitem__(self, match_id: str) -> Path:
        return self._folder / self.stamps[match_id].name

    def __iter__(self) -> Iterator[str]:
        return iter(self.stamps)

    def __len__(self) -> int:
        return len(self.stamps)

    def __contains__(self, match_id: object) -> bool:
        return match_id in self.stamps

    def keys(self) -> KeysView[str]:
        return self.stamps.keys()


@dataclass(frozen=True, slots=True)
class Batch:
    """Some of the records of a folder. `mark` is another one when one of them came, went or changed; `name` stays while
    records are only added behind all others. `stamps` are by match id, sorted; those of an archive are read then."""

    name: str
    mark: str
    stamps: Callable[[], Mapping[str, FileStamp]]


@dataclass(frozen=True, slots=True)
class Packing:
    """What was packed: how many records, into how many archives; `kept` are the ids of matches whose records were left
    as they are, for they are not what they should be."""

    records: int = 0
    archives: int = 0
    kept: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RecordStore:
    """The records in `folder`: those of matches that count or go on. Those that were set aside lie in `aside`.

    RecordError from whatever lists or finds records, if an archive is damaged.
    """

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

    def paths(self) -> Records:
        """The record of each match, by match id, sorted. The closed file wins over a live one beside it."""
        return Records(self.folder, self.stamps())

    def last_paths(self, number: int) -> list[Path]:
        """The records of the last matches, by match id, sorted."""
        paths = self.paths()
        return [paths[match_id] for match_id in [*paths][-number:]]

    def aside_paths(self) -> dict[str, Path]:
        """The records that were set aside, by their names, sorted."""
        return _paths(self.aside)

    def stamps(self) -> dict[str, FileStamp]:
        """The same as `paths`, with what tells that a file is still the same."""
        found = self._file_stamps()
        packed = self._packed_stamps()
        for name, stamp in found.items() if packed else ():
            if stamp.size_bytes < 0 and name in packed:
                found[name] = packed[name]
        return _sorted(packed | found) if packed else found

    def _file_stamps(self) -> dict[str, FileStamp]:
        """The same of the records that have a file of their own."""
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
                except OSError:  # packed since, gone, or a broken link: reading it will tell
                    found[record_name] = FileStamp(name, -1, -1)
        return _sorted(found)

    def batches(self, most: int) -> Iterator[Batch]:
        """All that `stamps` has, in parts: each archive, and the files by `most`. Reads no archive."""
        files = self._file_stamps()
        names = list(files)
        for archive in archives_in(self.folder):
            first, last = _record_name(archive.first), _record_name(archive.last)
            near = names[bisect_left(names, first) : bisect_right(names, last)]
            doubled: list[str] = []
            for name in near:
                if name in files and archive.find(f"{name}{CLOSED_SUFFIX}"):
                    if files[name].size_bytes < 0:  # packed since
                        del files[name]
                    else:
                        doubled.append(name)
            mark = f"{archive.stat.st_size} {archive.stat.st_mtime_ns} {' '.join(doubled)}"
            yield Batch(archive.path.name, mark, partial(_stamps_of, archive, frozenset(doubled)))
        parts = list(files.items())
        for number in range(0, len(parts), most):
            part = dict(parts[number : number + most])
            lines = "\n".join(f"{one.name} {one.size_bytes} {one.mtime_ns}" for one in part.values())
            mark = blake2b(lines.encode("utf-8", "surrogateescape"), digest_size=16).hexdigest()
            yield Batch(f"files {number // most}", mark, partial(dict, part))

    def last(self, most: int) -> tuple[list[Path], int]:
        """The last records by match id, sorted, at most `most` of them, and how many there are in all. Reads of the
        archives only what that takes."""
        archives = archives_in(self.folder)
        found = _paths(self.folder)
        packed = {path.name for path in found.values() if path.name.endswith(CLOSED_SUFFIX) and _find_packed(path)}
        names = [(match_id, path.name) for match_id, path in found.items()]
        total = len(found) + sum(archive.number for archive in archives) - len(packed)
        for archive in sorted(archives, key=lambda archive: archive.last, reverse=True):
            names = sorted(names)[-most:]
            if len(names) == most and _record_name(archive.last) < names[0][0]:
                break
            names += [
                (_record_name(name), name) for name in archive.last_names(most) if _record_name(name) not in found
            ]
        return [self.folder / name for _, name in sorted(names)[-most:]], total

    def packed(self) -> set[str]:
        """The ids of the matches whose records are in archives alone."""
        packed = self._packed_stamps().keys()
        return packed - _paths(self.folder).keys() if packed else set()

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
        lines += [f"{one.path.name} {one.stat.st_size} {one.stat.st_mtime_ns}" for one in archives_in(self.folder)]
        lines.sort()
        digest = blake2b(repr(more).encode(), digest_size=16, person=b"crosstown-list")
        digest.update("\n".join(lines).encode("utf-8", "surrogateescape"))
        return digest.hexdigest()

    def changed_ns(self) -> int:
        """Another number when a record came or went; a live record that grows changes nothing. 0 without a folder."""
        latest_ns = 0
        for folder in (self.folder, self.folder / _PACKED):
            with suppress(OSError):
                latest_ns = max(latest_ns, folder.stat().st_mtime_ns)
        return latest_ns

    def find(self, match_id: str) -> Path | None:
        """The record of a match that was not set aside."""
        return _find(self.folder, match_id)

    def find_anywhere(self, name: str) -> Path | None:
        """The record of this name, also of one that was set aside."""
        return _find(self.folder, name) or _find(self.aside, name)

    def live(self) -> list[str]:
        """The ids of the matches that go on, or were cut off. The folder is not listed again while no record came or
        went."""
        try:
            stat = self.folder.stat()
            list_them = _list_live if _is_settled(stat) else _list_live.__wrapped__
            return list(list_them(self.folder, stat.st_ino, stat.st_mtime_ns))
        except OSError:
            return []

    def at(self, stamp: FileStamp) -> Path:
        """The record that a stamp is of."""
        return self.folder / stamp.name

    def make(self) -> None:
        """OSError if the folders cannot be made."""
        self.aside.mkdir(parents=True, exist_ok=True)

    def tidy(self) -> Records:
        """As `paths`, and remove what a killed referee left: parts of copies, live files that a closed one has
        replaced, and closed files that were packed. What replaces them is complete before it appears. PlatformError."""
        found: dict[str, FileStamp] = {}
        try:
            for left in (self.folder / _PACKED).glob(".*.tmp"):
                left.unlink()
            packed = self._packed_stamps()
            with os.scandir(self.folder) as entries:
                names = sorted(((entry.name, entry) for entry in entries), key=itemgetter(0))
            for name, entry in names:
                if name.startswith(".") and name.endswith(".tmp"):
                    (self.folder / name).unlink()
                elif name.endswith(LIVE_SUFFIX):
                    found[name.removesuffix(LIVE_SUFFIX)] = FileStamp._of(name, entry.stat())
                elif name.endswith(CLOSED_SUFFIX):
                    match_id = name.removesuffix(CLOSED_SUFFIX)
                    if match_id in found:
                        live_path(self.folder, match_id).unlink()
                    found[match_id] = FileStamp._of(name, entry.stat())
                    if match_id in packed and (known := _find_packed(path := self.folder / name)):
                        _drop_copy(path, *known)
        except OSError as error:
            raise _trouble(error, self.folder) from error
        except RecordError as error:
            raise PlatformError(str(error), error.next_step) from error
        return Records(self.folder, _sorted(packed | found) if packed else found)

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
            packed = _find_packed(path)
            if packed is None or path.exists():
                path.rename(target)
            if packed is not None:
                target = self._take_out(*packed, target)
        except OSError as error:
            raise _trouble(error, self.folder) from error
        return target

    def _take_out(self, archive: Archive, packed: Packed, target: Path) -> Path:
        """Put a packed record aside as a file, then make its archive again without it. After a kill in between both are
        there, and the next time that file is taken. OSError."""
        data = archive.read(packed)
        aside = (path for path in self.aside_of(_record_name(packed.name)) if path.read_bytes() == data)
        if there := next(aside, None):
            target = there
        else:
            _write_whole(target, data, packed.mtime_ns)
        rest = [one for one in archive if one.name != packed.name]
        if rest:
            write_archive(archive.path, ((one.name, one.mtime_ns, archive.read(one)) for one in rest))
        else:
            archive.path.unlink()
        return target

    def pack(
        self,
        match_ids: Iterable[str],
        fits: Callable[[str, bytes], bool],
        stop: Callable[[], bool] = lambda: False,
    ) -> Packing:
        """Move the closed records of these matches into archives, those of one day (UTC) together. A record that `fits`
        refuses, given match id and bytes, stays in its file. `stop` is asked before each archive. After a kill at any
        moment each record is in its file, in an archive, or in both. PlatformError."""
        done = Packing()
        try:
            packed = {one.name for one in self._packed()}
            by_day: dict[str, list[Path]] = {}
            for match_id in sorted(match_ids, reverse=True):
                path = self.folder / f"{match_id}{CLOSED_SUFFIX}"
                if _MATCH_ID.fullmatch(match_id) and path.name not in packed and path.is_file():
                    day = datetime.fromtimestamp(path.stat().st_mtime, UTC).date().isoformat()
                    by_day.setdefault(day, []).append(path)
            for day in sorted(by_day):
                while by_day[day] and not stop():
                    done = self._pack_some(day, by_day[day], fits, done)
        except OSError as error:
            raise _trouble(error, self.folder) from error
        return done

    def _pack_some(self, day: str, waiting: list[Path], fits: Callable[[str, bytes], bool], done: Packing) -> Packing:
        """Make one archive of what waits last. OSError."""
        chosen: dict[str, tuple[str, int, bytes]] = {}
        kept: list[str] = []
        size_bytes = 0
        while waiting and len(chosen) < _MOST_RECORDS and size_bytes < _MOST_BYTES:
            path = waiting.pop()
            mtime_ns, data = path.stat().st_mtime_ns, path.read_bytes()
            if fits(_record_name(path.name), data):
                chosen[path.name] = path.name, mtime_ns, data
                size_bytes += len(data)
            else:
                kept.append(_record_name(path.name))
        if chosen:
            folder = self.folder / _PACKED
            folder.mkdir(exist_ok=True)
            number = 1
            while (target := folder / f"{day}.{number}{SUFFIX}").exists():
                number += 1
            write_archive(target, chosen.values())
            archive = open_archive(target)
            for packed in archive:
                _drop_copy(self.folder / packed.name, archive, packed)
        return Packing(done.records + len(chosen), done.archives + bool(chosen), (*done.kept, *kept))

    def _packed(self) -> Iterator[Packed]:
        return (one for archive in archives_in(self.folder) for one in archive)

    def _packed_stamps(self) -> dict[str, FileStamp]:
        """By match id, of all packed records. RecordError if an archive is damaged."""
        found: dict[str, FileStamp] = {}
        for archive in archives_in(self.folder):
            found |= _stamps_of(archive)
        return found

    def aside_of(self, match_id: str) -> Iterator[Path]:
        """The records of a match that were set aside, sorted."""
        yield from sorted(self.aside.glob(f"{escape(match_id)}.*-*"))


def _stamps_of(archive: Archive, without: Container[str] = ()) -> dict[str, FileStamp]:
    """By match id, of all records in an archive but these. RecordError if it is damaged."""
    found = {
        name.removesuffix(CLOSED_SUFFIX): FileStamp(name, size, mtime_ns) for name, size, mtime_ns in archive.stamps()
    }
    return {name: stamp for name, stamp in found.items() if name not in without} if without else found


def contents(path: Path) -> bytes:
    """The bytes of a record, of its file or packed. OSError if there is none; RecordError if an archive is damaged."""
    try:
        return read_ordinary(path)
    except FileNotFoundError:
        for may_have_changed in (True, False):  # while it was read, an archive may be made again without some record
            if (found := _find_packed(path)) is None:
                break
            try:
                return found[0].read(found[1])
            except RecordError:
                if not may_have_changed:
                    raise
        raise


def is_packed(path: Path) -> bool:
    """Whether a record is in an archive alone."""
    return not path.exists() and _find_packed(path) is not None


def archives_in(folder: Path) -> list[Archive]:
    """The archives of the records that lie in `folder`, sorted by name. RecordError if one is damaged."""
    found = []
    for path, _, _ in _archives(folder):
        with suppress(FileNotFoundError):  # its last record was set aside since
            found.append(open_archive(path))
    return found


_Range: TypeAlias = tuple[Path, str, str]
"""An archive, and the names of its first and its last record."""

SETTLED_NS = 2_000_000_000
"""What was changed less long ago may be changed again at what its time of change says is the same moment."""


def _archives(folder: Path) -> tuple[_Range, ...]:
    """An archive never changes, and its folder does whenever one comes or goes."""
    try:
        stat = (folder / _PACKED).stat()
        list_them = _list_archives if _is_settled(stat) else _list_archives.__wrapped__
        return list_them(folder, stat.st_ino, stat.st_mtime_ns)
    except (FileNotFoundError, NotADirectoryError):
        return ()


def _is_settled(folder: os.stat_result) -> bool:
    return time.time_ns() - folder.st_mtime_ns > SETTLED_NS


@lru_cache(maxsize=64)
def _list_live(folder: Path, _inode: int, _mtime_ns: int) -> tuple[str, ...]:
    found = sorted(name for name in os.listdir(folder) if name.endswith(LIVE_SUFFIX) and name[0] != ".")  # noqa: PTH208
    ids = (name.removesuffix(LIVE_SUFFIX) for name in found)
    return tuple(match_id for match_id in ids if not (folder / f"{match_id}{CLOSED_SUFFIX}").exists())


@lru_cache(maxsize=64)
def _list_archives(folder: Path, _inode: int, _mtime_ns: int) -> tuple[_Range, ...]:
    with os.scandir(folder / _PACKED) as entries:
        names = sorted(name for entry in entries if (name := entry.name).endswith(SUFFIX) and name[0] != ".")
    found = []
    for name in names:
        with suppress(FileNotFoundError):
            archive = open_archive(folder / _PACKED / name)
            found.append((archive.path, archive.first, archive.last))
    return tuple(found)


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
    with os.scandir(folder) as entries:
        names = sorted(entry.name for entry in entries)  # x.jsonl comes before x.jsonl.gz, which replaces it
    return {record: folder / name for name in names if (record := _record_name(name))}


def _find(folder: Path, name: str) -> Path | None:
    if _MATCH_ID.fullmatch(name):
        for suffix in (CLOSED_SUFFIX, LIVE_SUFFIX):
            path = folder / f"{name}{suffix}"
            if path.is_file():
                return path
        closed = folder / f"{name}{CLOSED_SUFFIX}"
        if _find_packed(closed):
            return closed
    return None


def _find_packed(path: Path) -> tuple[Archive, Packed] | None:
    """Where the record lies that had this path."""
    if path.name.endswith(CLOSED_SUFFIX) and _MATCH_ID.fullmatch(_record_name(path.name)):
        for archive_path, first, last in _archives(path.parent):
            if first <= path.name <= last:
                with suppress(FileNotFoundError):  # its last record was set aside since
                    archive = open_archive(archive_path)
                    if packed := archive.find(path.name):
                        return archive, packed
    return None


def _drop_copy(path: Path, archive: Archive, packed: Packed) -> None:
    """Remove the file of a record, if the archive has the same bytes. OSError."""
    if path.read_bytes() == archive.read(packed):
        path.unlink()


def _write_whole(path: Path, data: bytes, mtime_ns: int) -> None:
    """OSError leaves nothing."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with temporary.open("wb") as file:
            file.write(data)
            file.flush()
            os.utime(file.fileno(), ns=(mtime_ns, mtime_ns))
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def _sorted(found: dict[str, T]) -> dict[str, T]:
    return {name: found[name] for name in sorted(found)}


def _record_name(file_name: str) -> str:
    if file_name.startswith("."):
        return ""
    for suffix in (CLOSED_SUFFIX, LIVE_SUFFIX):
        if file_name.endswith(suffix):
            return file_name.removesuffix(suffix)
    return ""


def _trouble(error: OSError, folder: Path) -> PlatformError:
    return PlatformError(
        f"cannot change {error.filename or folder}: {error.strerror}",
        "free some space or check the rights of the folder, then run the same command again",
    )
