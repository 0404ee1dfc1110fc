"""An archive: one file with many closed records, each of which can be read alone.

    a gzip file for each record      the bytes of its closed file, unchanged
    a gzip file with the index       a line for each record, sorted: name, offset, size, mtime_ns, hash of its bytes
    a gzip file of fixed size        where the index begins, its size, the newest mtime, the first name and the last,
                                     and how many records there are

So the whole is a gzip file, too: `zcat ARCHIVE` prints the lines of all records, then the index. An archive never
changes. It is written under another name, and renamed once it is on the disk.
"""

import gzip
import os
import struct
import zlib
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path

from referee.record.files import MOST_BYTES, open_ordinary
from referee.record.format import RecordError
from referee.record.sync_folder import sync_folder

SUFFIX = ".pack.gz"

_END_CHARS = 600
_MOST_INDEX_BYTES = 32 << 20
"""That of the most records that an archive is given has 7 MB. A small file from a stranger could else take all
memory."""
_HEADER = bytes.fromhex("1f8b08000000000000ff")
_SECOND_NS = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Packed:
    """One record in an archive. `mtime_ns` is that of the file it was; `digest` is of its bytes."""

    name: str
    offset: int
    size_bytes: int
    mtime_ns: int
    digest: str


@dataclass(frozen=True, slots=True)
class Archive:
    """An archive whose end was read. `changed_ns` is 0, or when the file was changed after it was made: then what is
    known of its records from before is not to be relied on. `number` is how many records it has."""

    path: Path
    stat: os.stat_result
    index_at: int
    index_bytes: int
    first: str
    last: str
    changed_ns: int
    number: int

    def __iter__(self) -> Iterator[Packed]:
        """All records. RecordError if the index is damaged."""
        return map(self._packed, self._index())

    def stamps(self) -> Iterator[tuple[str, int, int]]:
        """Name, size and mtime_ns of all records, sorted, which is quicker. RecordError if the index is damaged."""
        changed_ns = self.changed_ns
        for line in self._index():
            try:
                name, _, size, mtime_ns, _ = line.split(b" ")
                yield name.decode(), int(size), changed_ns or int(mtime_ns)
            except ValueError:
                raise self._bad_line(line) from None

    def last_names(self, most: int) -> list[str]:
        """The last names, sorted. RecordError if the index is damaged."""
        return [self._packed(line).name for line in self._index()[-most:]]

    def find(self, name: str) -> Packed | None:
        """One record. RecordError if the index is damaged."""
        if not self.first <= name <= self.last:
            return None
        index, begins = self._index(), name.encode() + b" "
        at = bisect_left(index, begins)
        return self._packed(index[at]) if at < len(index) and index[at].startswith(begins) else None

    def read(self, packed: Packed) -> bytes:
        """The bytes of a record. RecordError if they are not those that were packed."""
        try:
            with open_ordinary(self.path) as file:
                file.seek(packed.offset)
                data = file.read(packed.size_bytes)
        except OSError as error:
            raise _damaged(self.path, str(error.strerror)) from error
        if _digest(data) != packed.digest:
            raise _damaged(self.path, f"the bytes of {packed.name} are not those that were packed")
        return data

    def _index(self) -> list[bytes]:
        return _read_index(*_key(self.path, self.stat), self.index_at, self.index_bytes)

    def _packed(self, line: bytes) -> Packed:
        try:
            name, offset, size, mtime_ns, digest = line.decode().split(" ")
            packed = Packed(name, int(offset), int(size), self.changed_ns or int(mtime_ns), digest)
            if not (0 <= packed.offset <= self.index_at and 0 <= packed.size_bytes <= MOST_BYTES):
                raise ValueError("it lies elsewhere")
            return packed
        except ValueError:
            raise self._bad_line(line) from None

    def _bad_line(self, line: bytes) -> RecordError:
        return _damaged(self.path, f"its index has the line {line[:80]!r}")


def open_archive(path: Path) -> Archive:
    """FileNotFoundError if there is none; RecordError if it is damaged."""
    try:
        stat = path.stat()
        return _open(path, stat.st_ino, stat.st_ctime_ns, stat.st_size, stat.st_mtime_ns)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise _damaged(path, str(error.strerror)) from error


def write_archive(path: Path, records: Iterable[tuple[str, int, bytes]]) -> None:
    """Make an archive of records, given by name, mtime_ns and bytes; at least one. It replaces the one of the same
    path. On return it is on the disk. OSError leaves what was there."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    lines: list[str] = []
    names: list[str] = []
    offset, newest_ns = 0, 0
    try:
        fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o644)
        with os.fdopen(fd, "wb") as file:
            for name, mtime_ns, data in records:
                file.write(data)
                lines.append(f"{name} {offset} {len(data)} {mtime_ns} {_digest(data)}\n")
                names.append(name)
                offset += len(data)
                newest_ns = max(newest_ns, mtime_ns)
            newest_ns -= newest_ns % _SECOND_NS  # not every file system keeps parts of a second
            index = gzip.compress("".join(sorted(lines)).encode(), mtime=0)
            file.write(index)
            end = f"{offset} {len(index)} {newest_ns} {min(names)} {max(names)} {len(names)}"
            file.write(_stored(end.ljust(_END_CHARS - 1) + "\n"))
            file.flush()
            os.utime(file.fileno(), ns=(newest_ns, newest_ns))
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    # One that was removed may have had the same inode number, size and times.
    _open.cache_clear()
    _read_index.cache_clear()
    sync_folder(path.parent)


@lru_cache(maxsize=1024)
def _open(path: Path, _inode: int, _ctime_ns: int, size: int, mtime_ns: int) -> Archive:
    end_bytes = len(_stored(" " * _END_CHARS))
    with open_ordinary(path) as file:
        stat = os.fstat(file.fileno())
        file.seek(max(0, size - end_bytes))
        end = file.read()
    try:
        index_at, index_bytes, newest_ns, first, last, *more = gzip.decompress(end).decode().split()
        changed_ns = 0 if mtime_ns == int(newest_ns) else mtime_ns
        at, size = int(index_at), int(index_bytes)
        if not (0 <= at <= stat.st_size and 0 <= size <= _MOST_INDEX_BYTES):
            raise ValueError("the index lies elsewhere, or is too long")
        # Archives of older versions do not say it.
        number = int(more[0]) if more else len(_read_index(*_key(path, stat), at, size))
        return Archive(path, stat, at, size, first, last, changed_ns, number)
    except (ValueError, OSError, EOFError, zlib.error):
        raise _damaged(path, "its end is not that of an archive") from None


def _key(path: Path, stat: os.stat_result) -> tuple[Path, int, int, int]:
    """By what a cache knows a file again."""
    return path, stat.st_ino, stat.st_ctime_ns, stat.st_mtime_ns


@lru_cache(maxsize=16)
def _read_index(path: Path, _inode: int, _ctime_ns: int, _mtime_ns: int, at: int, size: int) -> list[bytes]:
    try:
        with open_ordinary(path) as file:
            file.seek(at)
            unpacker = zlib.decompressobj(wbits=31)
            index = unpacker.decompress(file.read(size), _MOST_INDEX_BYTES)
    except (OSError, EOFError, zlib.error) as error:
        raise _damaged(path, f"its index cannot be read: {error}") from None
    if not unpacker.eof or unpacker.unused_data:
        raise _damaged(path, "its index is cut, or too long")
    return index.splitlines()


def _stored(text: str) -> bytes:
    """A gzip file with this text, not compressed: as long for every text of this length, whoever makes it."""
    data = text.encode()
    block = struct.pack("<BHH", 1, len(data), len(data) ^ 0xFFFF)
    return _HEADER + block + data + struct.pack("<II", zlib.crc32(data), len(data))


def _digest(data: bytes) -> str:
    return blake2b(data, digest_size=8).hexdigest()


def _damaged(path: Path, what: str) -> RecordError:
    return RecordError(f"the archive {path} is damaged: {what}", "restore the file from a copy")
