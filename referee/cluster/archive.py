"""Bots on their way to a machine: the sources of a version as one archive, which has the same hash in every store, and
builds of the organiser."""

import gzip
import io
import json
import tarfile
import tempfile
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, cast

from referee.process.manifest import load_manifest
from referee.process.sources import EntryError, read_all, read_sources
from referee.process.store import Built, Version, hold, put
from referee.process.trees import walk

MOST_BUILD_BYTES, MOST_PACKED_BYTES = 1 << 30, 64 << 20
"""A machine makes larger builds itself: those of one bot with more bytes of files, or with larger archives. An archive
is in the memory of the runner, of the scheduler and of the machine while it is sent."""

LAST_TIME_S = 1 << 33
"""No file that is sent has a later time. Some file systems keep times that others cannot have."""


@dataclass(frozen=True, slots=True)
class Parcel:
    """A bot version as it is sent to a machine: the archive of its sources, and builds, each with its archive."""

    sources: bytes
    builds: tuple[tuple[Built, bytes], ...] = ()

    def to_bytes(self) -> bytes:
        builds = [{"built": _values(built), "bytes": len(archive)} for built, archive in self.builds]
        line = json.dumps({"sources": len(self.sources), "builds": builds}, separators=(",", ":")).encode("ascii")
        return b"".join((line, b"\n", self.sources, *(archive for _, archive in self.builds)))

    @classmethod
    def from_bytes(cls, data: bytes) -> "Parcel":
        """Inverse of `to_bytes`; the machine chooses folder and log of a build. EntryError for anything else."""
        line = data[: data.find(b"\n") + 1]
        rest = memoryview(data)[len(line) :]  # large: only its parts are copied
        try:
            values = json.loads(line)
            end = values["sources"]
            sources, builds = bytes(rest[:end]), []
            for one in values["builds"]:
                begin, end = end, end + one["bytes"]
                builds.append((Built(**one["built"], folder=Path(), log=Path()), bytes(rest[begin:end])))
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            raise EntryError(f"a bot arrived damaged ({error})", "see the network and the disk") from None
        if len(rest) != end:
            raise EntryError(f"a bot arrived damaged ({len(rest)} bytes, not {end})", "see the network and the disk")
        return cls(sources, tuple(builds))


def _values(built: Built) -> Mapping[str, Any]:
    return {name: value for name, value in asdict(built).items() if name not in ("folder", "log")}


def pack(store: Path, content: str) -> bytes:
    """The sources of a stored version, as a tar.gz. The same bytes each time. EntryError if it is not there."""
    version = hold(store, content)
    if version is None:
        raise EntryError(f"{store / content}: no copy of this bot is there any more", "run the same command again")
    made = io.BytesIO()
    with (
        gzip.GzipFile(fileobj=made, mode="wb", compresslevel=6, mtime=0) as compressed,
        tarfile.open(fileobj=compressed, mode="w", format=tarfile.PAX_FORMAT) as tar,
    ):
        for relative, _ in read_all(version.folder):
            path = version.folder / relative.decode(errors="surrogateescape")
            tar.add(path, str(path.relative_to(version.folder)), recursive=False, filter=_plain)
    return made.getvalue()


def unpack(store: Path, content: str, archive: bytes) -> Version:
    """The version in this store, unpacked into it unless it is there. EntryError if the archive has another version."""
    if found := hold(store, content):
        return found
    store.mkdir(parents=True, exist_ok=True)
    # Beside the store, which removes what nobody holds.
    with tempfile.TemporaryDirectory(prefix=".sent-", dir=store.parent) as name:
        folder = Path(name).resolve() / "bot"
        folder.mkdir()
        try:
            with tarfile.open(fileobj=io.BytesIO(archive), mode="r:gz") as tar:
                tar.extractall(folder, filter="data")
        except (tarfile.TarError, OSError, EOFError, ValueError, OverflowError) as error:
            raise EntryError(f"a bot arrived damaged, or cannot be unpacked ({error})", "see the disk") from None
        manifest = load_manifest(folder)
        version = put(store, folder, manifest, read_sources(folder, manifest))
    if version.content != content:
        raise EntryError(f"a bot arrived as {version.content}, not {content}", "use the same Crosstown everywhere")
    return version


def fits(builds: Iterable[Built]) -> bool:
    """Whether these builds of a bot are small enough to be sent. OSError if they cannot be packed."""
    left, packed, together = MOST_BUILD_BYTES, _Counter(), tuple(builds)
    for built in together:
        for entry in walk(built.folder):
            left -= entry.stat(follow_symlinks=False).st_size
            if left < 0:
                return False
    for built in together:
        _write_build(built, packed)
        if packed.bytes > MOST_PACKED_BYTES:
            return False
    return True


def pack_build(built: Built) -> bytes:
    """The files of a build, as a tar.gz. OSError if it is gone."""
    made = io.BytesIO()
    _write_build(built, made)
    return made.getvalue()


class _Counter(io.RawIOBase):
    """A file that keeps nothing of what is written to it, and counts it."""

    def __init__(self) -> None:
        self.bytes = 0

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        size = memoryview(data).nbytes
        self.bytes += size
        return size


def _write_build(built: Built, to: io.IOBase) -> None:
    with (
        gzip.GzipFile(fileobj=cast(Any, to), mode="wb", compresslevel=1) as compressed,
        tarfile.open(fileobj=compressed, mode="w", format=tarfile.PAX_FORMAT) as tar,
    ):
        for entry in walk(built.folder):
            if entry.is_symlink() or entry.is_dir(follow_symlinks=False) or entry.is_file(follow_symlinks=False):
                name = str(Path(entry.path).relative_to(built.folder))
                tar.add(entry.path, name, recursive=False, filter=_without_owner)


def unpack_build(archive: bytes, folder: Path) -> None:
    """Lay the files of a build into an empty folder. EntryError if the archive is damaged; OSError."""
    try:
        with tarfile.open(fileobj=io.BytesIO(archive), mode="r:gz") as tar:
            tar.extractall(folder, filter="tar")
    except (tarfile.TarError, EOFError, gzip.BadGzipFile, zlib.error, ValueError, OverflowError) as error:
        raise EntryError(f"a build arrived damaged ({error})", "see the network and the disk") from None


def _without_owner(info: tarfile.TarInfo) -> tarfile.TarInfo:
    """The member without its owner. Its time stays, if every file system can have it: an interpreter compares the time
    with that of its compiled files."""
    info.mtime = min(max(info.mtime, 0), LAST_TIME_S)
    info.uid = info.gid = 0
    info.uname = info.gname = ""
    return info


def _plain(info: tarfile.TarInfo) -> tarfile.TarInfo:
    """The member without the attributes that differ between machines."""
    info.uid = info.gid = 0
    info.uname = info.gname = ""
    info.mtime = 0
    info.mode = 0o755 if info.mode & 0o111 else 0o644
    return info
