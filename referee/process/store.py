"""Bot versions and their builds on disk: copies of sources under the hash of their content, read-only and shared.

STORE/<content>/bot/         the files; the modes say only whether a file may be executed
STORE/<content>/size         their size on disk in bytes; its modification time is the last use
STORE/<content>/lines        name, size and time of each of them
STORE/.half-<random>/        a copy in progress, renamed when complete, so that no other process sees a part of it
STORE/.bad-<random>/         a copy whose content no longer matches its name
CACHE/<source id>/lock       held during a build
CACHE/<source id>/built.json names the current build; written last; its modification time is the last use
CACHE/<source id>/<number>/  one build: bot/ is what runs, log.txt what fetch and build printed, files a hash over what
                             is in bot/, lines as above, size its bytes on disk, once they were counted
CACHE/homes/, CACHE/bots/    see `homes`, and STORE above

A process that uses a version or a build holds a shared lock on its folder. What nobody holds may be removed.
"""

import fcntl
import json
import os
import re
import secrets
import stat
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import ClassVar
from weakref import WeakValueDictionary

from referee.errors import PlatformError
from referee.folders import cache_folder
from referee.process.manifest import Manifest
from referee.process.program import is_of_bot
from referee.process.sources import LEAST_BYTES, EntryError, Sources, copy_sources, copy_within, mib_of, read_all
from referee.process.trees import remove_tree, walk
from referee.texts import one_line

_MOST_TRIES = 5


@dataclass(frozen=True, slots=True)
class Built:
    """A whole build. `folder` is what runs; `artefacts` is a hash over the files in it that the build made or changed.

    `toolchain` is what the manifest's command printed, empty without one; `sandbox` is the profile it was built under;
    `warm`: it began with what earlier builds of this bot had left in its home (see `homes`).
    """

    source_id: str
    folder: Path
    log: Path
    fetch_s: float
    build_s: float
    toolchain: str
    artefacts: str
    sandbox: str
    warm: bool = False

    def __str__(self) -> str:
        """For records and people: what was made, and with what."""
        # Of a build that an older version kept, the toolchain's words may be raw.
        return f"{self.artefacts} by {one_line(self.toolchain)}" if self.toolchain else self.artefacts


class Hold:
    """As long as this lives, here or in a process that was forked with it, a build, or a bot version in the store, is
    not removed."""

    _known: ClassVar[WeakValueDictionary[tuple[int, int], "Hold"]] = WeakValueDictionary()
    """By device and inode, which stay taken while they are held: one file descriptor for any number of users."""

    @classmethod
    def on(cls, home: Path) -> "Hold":
        """OSError if it is gone, or going."""
        found = home.stat()
        hold = cls._known.get((found.st_dev, found.st_ino))
        if hold is None:
            hold = cls(home)
            opened = os.fstat(hold._file)
            cls._known[opened.st_dev, opened.st_ino] = hold
        return hold

    def __init__(self, home: Path) -> None:
        """A file descriptor of its own; see `on`."""
        self._file = -1
        self._file = os.open(home, os.O_RDONLY | os.O_DIRECTORY)
        try:
            fcntl.flock(self._file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except OSError:
            os.close(self._file)
            self._file = -1
            raise

    def is_of(self, home: Path) -> bool:
        """Whether what is held is what lies at `home` now."""
        try:
            return os.path.samestat(os.fstat(self._file), home.stat())
        except OSError:
            return False

    def __del__(self) -> None:
        if self._file >= 0:
            os.close(self._file)


def read_built(place: Path) -> Built | None:
    """The build that counts in CACHE/<source id>; None if there is no whole one that can be read."""
    try:
        values = json.loads((place / "built.json").read_bytes())
        home = place / str(int(values.pop("number")))
        built = Built(**{**values, "folder": home / "bot", "log": home / "log.txt"})
        return built if built.folder.is_dir() else None
    except (OSError, ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError):
        return None


def is_as_made(built: Built) -> bool:
    """Whether the files of a build are still those with which it was made, by their names, sizes and times. A bot that
    plays without a sandbox may write there. True for a build of an older version, which did not keep that.
    """
    try:
        kept = built.folder.parent / "files"
        return not kept.exists() or kept.read_bytes() == _listing(built.folder)
    except OSError:
        return False


def _listing(folder: Path) -> bytes:
    """32 hex digits over the files below the folder. OSError."""
    return blake2b(b"\0".join(_lines(folder, walk(folder))), digest_size=_CONTENT_BYTES).hexdigest().encode()


def _lines(folder: Path, entries: Iterable[os.DirEntry[str]]) -> list[bytes]:
    """Name, size and time of each file of the folder's `entries`, without what Python compiled there, and of each link.
    Sorted. OSError."""
    found: list[tuple[str, int, int]] = []
    for entry in entries:
        if entry.is_dir(follow_symlinks=False) or "/__pycache__/" in entry.path:
            continue
        stat_ = entry.stat(follow_symlinks=False)
        found.append((entry.path[len(str(folder)) :], stat_.st_size, stat_.st_mtime_ns))
    return [f"{name}\0{size}\0{ns}".encode(errors="surrogateescape") for name, size, ns in sorted(found)]


def _keep_lines(folder: Path) -> None:
    (folder.parent / "lines").write_bytes(b"\0\0".join(_lines(folder, walk(folder))))


def has_changed(folder: Path) -> bool:
    """Whether a file of a build, or of a bot in the store, is not as it was made, by size and time, or is gone. Of what
    was added only programs count, and compiled Python beside a bot's sources: they may run in place of what was there.
    A bot that plays without a sandbox may write there. False for what an older version made.
    """
    try:
        kept = folder.parent / "lines"
        if not kept.exists():
            return False
        is_built = (folder.parent / "files").exists()  # a build may have compiled its own
        entries = list(walk(folder))
        if not is_built and any(entry.name == "__pycache__" for entry in entries):
            return True
        before, now = set(kept.read_bytes().split(b"\0\0")) - {b""}, set(_lines(folder, entries))
        return not before <= now or any(line.partition(b"\0")[0].endswith(_PROGRAMS) for line in now - before)
    except OSError:
        return True


_PROGRAMS = tuple(
    f".{ending}".encode()
    for ending in "py pyc so js mjs cjs node ts pl pm rb lua php class jar sh".split()  # noqa: SIM905
)
"""Endings of what an interpreter may find before the bot's own: a package `helper/` goes before `helper.py`."""


def is_whole(folder: Path, content: str) -> bool:
    """Whether the files of a version are what its name says. What was added counts as for `has_changed`. EntryError."""
    sources = read_all(folder)
    with suppress(OSError):
        lines = (folder.parent / "lines").read_bytes().split(b"\0\0")
        known = {line.partition(b"\0")[0].removeprefix(b"/") for line in lines}
        if any(name.endswith(_PROGRAMS) for name, _ in sources if name not in known):
            return False
        sources = tuple(source for source in sources if source[0] in known)
    return content_of(folder, sources) == content


def hold_built(place: Path, *, in_play: bool = False) -> tuple[Built, Hold] | None:
    """The build that counts in CACHE/<source id>, which now stays; None if there is none, or if it was changed since it
    was made. `in_play`: another process of the run may play from it; then what was added counts as for `has_changed`.
    """
    for _ in range(_MOST_TRIES):  # another may take its place, and remove it, between the two
        built = read_built(place)
        if built is None:
            break
        with suppress(OSError):
            hold = Hold.on(built.folder.parent)
            if read_built(place) == built:
                if has_changed(built.folder) if in_play else not is_as_made(built):
                    break
                note_use(mark_of(built))
                return built, hold
    return None


def mark_of(kept: "Built | Version") -> Path:
    """The file whose modification time is the last use of a build or of a version."""
    home = kept.folder.parent
    return home / "size" if isinstance(kept, Version) else home.parent / "built.json"


def note_use(mark: Path) -> None:
    """What this file belongs to is used now: of its kind it is the last that is removed."""
    with suppress(OSError):
        os.utime(mark)


def write_built(place: Path, built: Built) -> None:
    """From now on this is the build that counts."""
    values = {name: value for name, value in asdict(built).items() if name not in ("folder", "log")}
    (built.folder.parent / "files").write_bytes(_listing(built.folder))
    _keep_lines(built.folder)
    half = place / "built.half"
    half.write_text(json.dumps({"number": int(built.folder.parent.name), **values}, indent=2) + "\n")
    half.rename(place / "built.json")


def next_home(place: Path) -> Path:
    """The folder for a new build, which is made."""
    numbers = [int(path.name) for path in place.iterdir() if path.name.isdecimal()]
    home = place / str(max(numbers, default=0) + 1)
    home.mkdir()
    return home


def remove_older(place: Path, but: Path | None) -> None:
    """Removes all builds but one, whole or not, if nobody plays from them."""
    for path in place.iterdir():
        if path == but or not path.is_dir():
            continue
        with suppress(OSError):
            file = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                remove_tree(path)
            finally:
                os.close(file)


def discard_builds(place: Path) -> bool:
    """Remove all builds in CACHE/<source id>, except those that somebody plays from; whether none is left. Not during a
    build, which goes on."""
    try:
        with (place / "lock").open("wb") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            remove_older(place, None)
            if any(path.is_dir() for path in place.iterdir()):
                return False
            (place / "built.json").unlink(missing_ok=True)
            return True
    except OSError:
        return False


BUILDS_VARIABLE = "CROSSTOWN_BUILDS_MIB"
MOST_BUILDS_MIB = 20480

_UNCOUNTABLE_BYTES = 4 << 30

_SOURCE_ID = re.compile("[0-9a-f]{16}")


def most_builds_mib() -> int:
    """What the builds of a machine of a cluster may take of the disk together. EntryError."""
    return mib_of(BUILDS_VARIABLE, MOST_BUILDS_MIB)


def evict_builds(cache: Path, most_bytes: int, missing: int = 0) -> bool:
    """Remove builds until they take no more than `most_bytes`, and `missing` bytes less than now if they take so much;
    those first that were used longest ago. Never one that somebody holds or makes. Whether enough were removed."""
    found: list[tuple[int, int, Path]] = []
    with suppress(OSError):
        places = [path for path in cache.iterdir() if _SOURCE_ID.fullmatch(path.name)]
        found = [(*account, path) for path in places if (account := _account_of_builds(path))]
    total = sum(size for _, size, _ in found)
    most = min(most_bytes, total - missing if missing <= total else total)
    for _, size, place in sorted(found):
        if total <= most:
            break
        if discard_builds(place):
            total -= size
    return total <= most


def _account_of_builds(place: Path) -> tuple[int, int] | None:
    """When the builds in CACHE/<source id> were used last, 0 if none of them counts, and their bytes on the disk. None
    if there are none, and while one is made, whose limits hold."""
    try:
        with (place / "lock").open("ab") as lock:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
            homes = [path for path in place.iterdir() if path.name.isdecimal()]
            size = sum(map(_size_of_build, homes))
        counts = place / "built.json"
        return (counts.stat().st_mtime_ns if counts.exists() else 0, size) if homes else None
    except OSError:
        return None


def _size_of_build(home: Path) -> int:
    kept = home / "size"
    with suppress(OSError, ValueError):
        return int(kept.read_text())
    try:
        size = sum(max(entry.stat(follow_symlinks=False).st_blocks * 512, LEAST_BYTES) for entry in walk(home))
    except OSError:  # a killed build may have left folders that lie too deep for a path
        return _UNCOUNTABLE_BYTES
    kept.write_text(f"{size}\n")
    return size


MOST_VARIABLE = "CROSSTOWN_STORE_MIB"
MOST_MIB = 10240
MOST_VERSIONS = 2000
"""What the store may hold; versions in use are kept all the same."""

_CONTENT_BYTES = 16
_CONTENT = re.compile(f"[0-9a-f]{{{2 * _CONTENT_BYTES}}}")
_LEFT = re.compile(r"\.(half|bad|gone)-\w+")
"""What a killed process may have left in the store."""


@dataclass(frozen=True, slots=True)
class Version:
    """A bot version in the store. `content` is its hash, `folder` the files; they stay there as long as this lives."""

    content: str
    folder: Path
    hold: Hold = field(repr=False, compare=False)


class DamagedError(EntryError):
    """A stored version whose files are not what they were."""


def store_folder() -> Path:
    """Where bot versions are kept for this user: `bots` in the cache folder."""
    return cache_folder() / "bots"


def put(store: Path, folder: Path, manifest: Manifest, sources: Sources, *, evicting: bool = True) -> Version:
    """The version with these sources of the bot in `folder`, which are copied unless they are in the store already.

    A stored version that is damaged is replaced. `evicting`: the store is a cache, and what was asked for longest ago
    goes when it is full. Raises EntryError; PlatformError if this machine has no place for it.
    """
    content = content_of(folder, sources)
    with suppress(DamagedError):
        if found := hold(store, content):
            return found
    made = _take_in(store, content, folder, lambda copy: copy_sources(folder, manifest, copy))
    if evicting:
        evict(store, most_bytes=mib_of(MOST_VARIABLE, MOST_MIB) << 20, most_versions=MOST_VERSIONS)
    return made


def put_again(store: Path, content: str) -> Version | None:
    """The version with this content, made again from its damaged copy; None if more is wrong with that than files that
    were added. A bot that plays without a sandbox may write there. Raises EntryError."""
    damaged = store / content / "bot"

    def fill(copy: Path) -> None:
        copy.mkdir()
        for line in (damaged.parent / "lines").read_bytes().split(b"\0\0"):
            relative = Path(os.fsdecode(line.partition(b"\0")[0].lstrip(b"/")))
            if ".." in relative.parts:
                raise EntryError(f"{damaged.parent / 'lines'}: was changed", _RESTORE)
            (copy / relative).parent.mkdir(parents=True, exist_ok=True)
            if (damaged / relative).is_symlink():
                (copy / relative).symlink_to((damaged / relative).readlink())
            else:
                copy_within(damaged, relative, copy / relative)

    try:
        return _take_in(store, content, damaged, fill)
    except (EntryError, PlatformError):
        return None


def _take_in(store: Path, content: str, source: Path, fill: Callable[[Path], None]) -> Version:
    """The version with this content, whose files `fill` lays into a new folder. A damaged one that lies there is set
    aside. Raises as `put`."""
    try:
        with _half(store) as half:
            fill(half / "bot")
            size = _close(half / "bot")
            if content_of(half / "bot", read_all(half / "bot")) != content:
                raise EntryError(f"{source}: was changed while it was copied", "try again")
            (half / "size").write_text(f"{size}\n")
            _keep_lines(half / "bot")
            with _alone(store):
                _set_aside_bad(store, content)
                with suppress(OSError):  # another process was as fast: its copy is the same
                    half.rename(store / content)
                kept = _held(store / content)
    except OSError as error:
        raise _trouble(store, source, error) from None
    if kept is None:
        raise EntryError(f"{store / content}: the copy of {source} was removed while it was made", "try again")
    return Version(content, store / content / "bot", kept)


def hold(store: Path, content: str) -> Version | None:
    """The version with this content, which stays as long as somebody has what is returned; None if it is not there.

    Raises DamagedError if its files are not what its name says, EntryError if they cannot be read.
    """
    place = store / content
    kept = _held(place)
    if kept is None:
        return None
    try:
        found = content_of(place / "bot", read_all(place / "bot"))
    except EntryError as error:
        raise DamagedError(f"{place / 'bot'}: the stored copy of a bot is damaged ({error})", _RESTORE) from None
    if found != content:
        raise DamagedError(f"{place / 'bot'}: the stored copy of a bot was changed", _RESTORE)
    version = Version(content, place / "bot", kept)
    note_use(mark_of(version))
    return version


def _held(place: Path) -> Hold | None:
    """None for what is not there, or has just been removed or replaced."""
    try:
        kept = Hold.on(place)
    except OSError:
        return None
    return kept if kept.is_of(place) else None


_RESTORE = "remove it and put the bot's own folder back"


def content_of(folder: Path, sources: Sources) -> str:
    """32 hex digits over the files of a bot in `folder`: names, contents, and which of them may be executed. Raises
    EntryError."""
    made = blake2b(digest_size=_CONTENT_BYTES, person=b"crosstown-bot")
    for relative, content in sources:
        path = folder / os.fsdecode(relative)
        try:
            found = path.lstat().st_mode
        except OSError:
            raise EntryError(f"{path}: was changed while it was read", "try again") from None
        mode = b"x" if stat.S_ISREG(found) and found & 0o111 else b"-"
        for part in (relative, content, mode):
            made.update(len(part).to_bytes(8))
            made.update(part)
    return made.hexdigest()


def evict(store: Path, *, most_bytes: int, most_versions: int) -> None:
    """Remove versions until no more than these are left, those first that were asked for longest ago, and what killed
    processes have left. Never one that somebody holds, nor what is not named as ours is: the folder of the cache may be
    one that holds a user's own `bots`."""
    versions: list[tuple[int, int, Path]] = []
    with suppress(OSError):
        for path in store.iterdir():
            if _LEFT.fullmatch(path.name):
                _remove_unused(path)
            elif _CONTENT.fullmatch(path.name) and (found := _account(path)):
                versions.append((*found, path))
    total, number = sum(size for _, size, _ in versions), len(versions)
    for _, size, path in sorted(versions):
        if total <= most_bytes and number <= most_versions:
            return
        if _remove_unused(path):
            total, number = total - size, number - 1


def discard(store: Path, content: str) -> bool:
    """Remove a version, unless somebody holds it; whether it is gone now."""
    return _remove_unused(store / content)


@contextmanager
def _half(store: Path) -> Iterator[Path]:
    """A new folder that nobody removes while this lasts; what is left of it at the end goes."""
    store.mkdir(parents=True, exist_ok=True)
    with _alone(store):
        half = Path(tempfile.mkdtemp(prefix=".half-", dir=store))
        kept = Hold(half)
    try:
        half.chmod(0o755)
        yield half
    finally:
        remove_tree(half)
        del kept


@contextmanager
def _alone(store: Path) -> Iterator[None]:
    """Nobody else takes a place in the store or removes one: what lies there is held, or removed, as it was found."""
    file = os.open(store, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
    finally:
        os.close(file)


def _close(folder: Path) -> int:
    """Makes all in `folder` read-only; the bytes on the disk."""
    size = 0
    for parent, _, files in os.walk(folder, topdown=False):
        for name in files:
            path = Path(parent, name)
            if not path.is_symlink():
                path.chmod(0o555 if path.stat().st_mode & 0o111 else 0o444)
                size += max(path.stat().st_blocks * 512, LEAST_BYTES)
        Path(parent).chmod(0o555)
    return size


def _set_aside_bad(store: Path, content: str) -> None:
    """Who plays from the damaged version goes on with it, by the folder it has open."""
    try:
        whole = hold(store, content) is not None
    except DamagedError:
        whole = False
    if not whole and (store / content).exists():
        (store / content).rename(store / f".bad-{secrets.token_hex(8)}")


def _remove_unused(path: Path) -> bool:
    """Whether it could be removed: nobody holds it."""
    with suppress(OSError):
        file = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
        try:
            with _alone(path.parent):
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if not os.path.samestat(os.fstat(file), path.stat()):
                    return False
                gone = path.with_name(f".gone-{secrets.token_hex(8)}")
                path.rename(gone)
            remove_tree(gone)
        finally:
            os.close(file)
        return True
    return False


def _account(path: Path) -> tuple[int, int] | None:
    """When the version was asked for last, and its bytes; None if it is gone."""
    try:
        file = path / "size"
        return file.stat().st_mtime_ns, int(file.read_text())
    except ValueError:
        return 0, 0
    except OSError:
        return (0, 0) if path.is_dir() else None


def _trouble(store: Path, source: Path, error: OSError) -> EntryError | PlatformError:
    place = error.filename2 or error.filename or store
    why = error.strerror or error
    if is_of_bot(error, source):
        return EntryError(f"{place}: the bot cannot be copied ({why})", "check the bot's folder, and try again")
    return PlatformError(
        f"{place}: a bot cannot be copied to play from there ({why})",
        "free some space, or set CROSSTOWN_CACHE to a folder that can be written",
    )
