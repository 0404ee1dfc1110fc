"""The files of a bot version: found, hashed, copied."""

import os
import shutil
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fnmatch import fnmatchcase
from hashlib import blake2b
from pathlib import Path
from typing import TypeAlias

from referee.errors import ExpectedError
from referee.folders import CACHE_VARIABLE, cache_folder
from referee.process.manifest import BUILD_OUTPUT, Manifest

LEFT_OUT = (
    *(".git", ".hg", ".svn", ".jj"),
    *(".venv", ".idea", ".vscode", ".vs", ".DS_Store", ".*.sw?", ".#*", "__pycache__"),
    *(
        ".mypy_cache",
        ".pytest_cache",
        ".ruff_cache",
        ".hypothesis",
        ".cache",
        ".gradle",
        ".tox",
        ".nox",
        ".eslintcache",
    ),
)
"""Names of files and folders, at any depth, that are no part of a bot: what other tools keep for themselves."""

PROTO = "proto"
"""A folder that a build finds beside the sources, whether or not the bot has one of its own."""

SIZE_VARIABLE = "CROSSTOWN_BOT_MIB"
MOST_MIB = 4096
"""What a bot's files may have together; `SIZE_VARIABLE` says otherwise."""

MOST_FILES = 50_000
MOST_DEPTH = 40
"""Files and folders of a bot, and how deep they may lie: they are all looked at before each run."""

ID_BYTES = 8
LEAST_BYTES = 4096
"""What a file counts at least where the room it takes is counted: empty ones take some, too."""
_CHUNK_BYTES = 1 << 20

Sources: TypeAlias = tuple[tuple[bytes, bytes], ...]
"""(path from the bot's folder, hash of the content) of every file, by path."""


@dataclass(frozen=True, slots=True)
class _File:
    """A file of a bot by its path from the folder, and where its content lies: elsewhere in there for a link."""

    path: Path
    real: Path

    @property
    def is_link(self) -> bool:
        return self.real != self.path


class EntryError(ExpectedError):
    """A bot folder that cannot be made an entry. The sentence names the file."""


def read_sources(folder: Path, manifest: Manifest) -> Sources:
    """Every source of the bot, hashed. Raises EntryError; for a folder that is too large before a file is read."""
    cache = Path(os.path.realpath(cache_folder()))
    if cache.is_relative_to(folder):
        raise EntryError(
            f"{folder}: the cache of builds, {cache}, is in it",
            f"move the bot out, or set {CACHE_VARIABLE} to a folder elsewhere",
        )
    return _hashed(folder, _sources(folder, manifest))


def read_all(folder: Path) -> Sources:
    """Every file in `folder`, hashed, whatever its name: of a copy, in which nothing is left out. Raises EntryError."""
    return _hashed(folder, _walk(folder))


def _hashed(folder: Path, files: Iterable[_File]) -> Sources:
    return tuple(sorted((os.fsencode(file.path), hash_within(folder, file.real)) for file in list(files)))


def with_kinds(folder: Path, sources: Sources) -> Sources:
    """The same with what the hash of a content does not say: where a link leads, and whether a file may be executed.
    EntryError."""
    kinds = []
    for relative, content in sources:
        path = Path(os.fsdecode(relative))
        real = find_within(folder, path)
        kinds.append((relative, content + kind_of(folder, path) if real == path else b"link:" + os.fsencode(real)))
    return tuple(kinds)


def kind_of(folder: Path, relative: Path) -> bytes:
    """Whether a file may be executed, as a part of a hash. EntryError."""
    try:
        return b"x" if (folder / relative).lstat().st_mode & 0o111 else b"-"
    except OSError as error:
        raise _unreadable(folder / relative, error) from None


def with_protos(sources: Sources) -> Sources:
    """The sources as a build finds them: with our proto files, unless the bot has its own."""
    if has_protos(sources):
        return sources
    ours = (
        (f"{PROTO}/crosstown/v1/{path.name}".encode(), hash_within(path.parent, Path(path.name)))
        for path in proto_files()
    )
    return tuple(sorted((*sources, *ours)))


def has_protos(sources: Sources) -> bool:
    """Whether a bot has a proto folder of its own."""
    return any(relative.startswith(f"{PROTO}/".encode()) for relative, _ in sources)


def digest(header: bytes, sources: Sources) -> str:
    """16 hex digits. Each part counts with its length: no two lists of parts run together to the same bytes."""
    made = blake2b(digest_size=ID_BYTES)
    for part in (header, *(part for pair in sources for part in pair)):
        made.update(len(part).to_bytes(8))
        made.update(part)
    return made.hexdigest()


def copy_sources(folder: Path, manifest: Manifest, target: Path) -> None:
    """The same files in a new folder `target`; links stay links. Raises EntryError or OSError."""
    target.mkdir()
    for file in list(_sources(folder, manifest)):
        copy = target / file.path
        copy.parent.mkdir(parents=True, exist_ok=True)
        if file.is_link:
            copy.symlink_to(os.path.relpath(file.real, file.path.parent))
        else:
            copy_within(folder, file.real, copy)


def copied(places: Iterable[str], folder: Path, target: Path) -> list[Path]:
    """Where in `target`, a copy of the bot's `folder`, those of these places lie that are within the folder."""
    within = [Path(place).relative_to(folder) for place in places if Path(place).is_relative_to(folder)]
    return [target / path for path in within if path.parts]


def proto_files() -> list[Path]:
    """crosstown/v1/*.proto, of the installed package or the checkout it runs from. EntryError if there are none."""
    package = Path(__file__).parents[1]
    folder = next((place / "proto" for place in (package, package.parent) if (place / "proto").is_dir()), package)
    if found := sorted((folder / "crosstown" / "v1").glob("*.proto")):
        return found
    raise EntryError("the proto files of Crosstown are not where they were installed", "install it again")


def copy_protos(target: Path) -> None:
    """Lay crosstown/v1/*.proto into `target`. Raises EntryError or OSError."""
    folder = target / "crosstown" / "v1"
    folder.mkdir(parents=True)
    for path in proto_files():
        shutil.copyfile(path, folder / path.name)


def _sources(folder: Path, manifest: Manifest) -> Iterator[_File]:
    """The files that make the bot what it is."""
    output = BUILD_OUTPUT if manifest.build else frozenset[str]()
    artefact = (folder / manifest.run[0]).absolute() if manifest.build else None
    return _walk(folder, output, artefact)


def _walk(folder: Path, output: frozenset[str] | None = None, artefact: Path | None = None) -> Iterator[_File]:
    """Every file, and links that stay within. `output`: what is left out besides `LEFT_OUT`; None to leave out nothing.
    EntryError if there is more than a bot may have."""
    room = Room(folder)
    filled: set[Path] = set()
    linked: list[_File] = []
    waiting = [(Path(), 1)]
    while waiting:
        inside, depth = waiting.pop()
        if depth > MOST_DEPTH:
            where = folder / inside
            raise EntryError(f"{where}: is more than {MOST_DEPTH} folders deep in the bot's folder", "remove it")
        with _opened(folder, inside) as number:
            try:
                with os.scandir(number) as found:
                    for each in found:
                        relative = inside / each.name
                        path = folder / relative
                        room.count(path)
                        if output is not None and (path == artefact or _is_left_out(path.name, output)):
                            continue
                        if each.is_symlink():
                            target = find_within(folder, relative)
                            parts = target.parts if output is not None else ()
                            if name := next((part for part in parts if _is_left_out(part, output or frozenset())), ""):
                                what = f"links to {name}, which cannot be part of a bot"
                                raise EntryError(f"{path}: {what}", "remove the link")
                            filled.update(relative.parents)
                            if (folder / target).is_dir():
                                linked.append(_File(relative, target))
                            yield _File(relative, target)
                        elif each.is_dir(follow_symlinks=False):
                            waiting.append((relative, depth + 1))
                        elif each.is_file(follow_symlinks=False):  # a socket, pipe or device has no content to name
                            room.take(path, each.stat(follow_symlinks=False))
                            filled.update(relative.parents)
                            yield _File(relative, relative)
            except OSError as error:
                raise _unreadable(folder / inside, error) from None
    for link in linked:
        if link.real not in filled:  # nobody keeps it: a bot is its files
            what = f"links to {link.real}, a folder without a file"
            raise EntryError(f"{folder / link.path}: {what}", "put a file into the folder, or remove the link")


class Room:
    """What is left of what a bot's folder may hold."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._most_bytes = mib_of(SIZE_VARIABLE, MOST_MIB) << 20
        self._bytes = self._files = 0

    def count(self, path: Path) -> None:
        self._files += 1
        if self._files > MOST_FILES:
            raise EntryError(
                f"{self._folder}: holds more than {MOST_FILES} files and folders, {path} among them",
                "a bot has what it needs to be built and to play, keep the rest elsewhere",
            )

    def take(self, path: Path, found: os.stat_result) -> int:
        """Its bytes."""
        self._bytes += found.st_size
        if self._bytes > self._most_bytes:
            on_disk = found.st_blocks * 512
            sparse = f", {_size(on_disk)} on the disk" if on_disk < found.st_size // 2 else ""
            raise EntryError(
                f"{self._folder}: holds more than {_size(self._most_bytes)}, the file {path}"
                f" ({_size(found.st_size)}{sparse}) among them",
                f"keep large data elsewhere and grant it with `read`, or set {SIZE_VARIABLE} to more MiB",
            )
        return found.st_size


def mib_of(variable: str, usual: int, also: str = "") -> int:
    """The MiB that an environment variable says, else `usual`. Raises EntryError."""
    given = os.environ.get(variable, "")
    if given and not (given.isascii() and given.isdecimal() and len(given) <= 9):
        raise EntryError(f"{variable} is a number of MiB, such as {usual}{also}, not {given!r}", "correct it")
    return int(given) if given else usual


def _size(number: int) -> str:
    for unit, power in (("GiB", 30), ("MiB", 20), ("KiB", 10)):
        if number >= 1 << power:
            return f"{number / (1 << power):.4g} {unit}"
    return f"{number} bytes"


def _is_left_out(name: str, output: frozenset[str]) -> bool:
    return name in output or any(fnmatchcase(name, pattern) for pattern in LEFT_OUT)


def find_within(folder: Path, relative: Path) -> Path:
    """Where what lies in a folder has its content, from there: elsewhere if it is a link. EntryError if that is
    outside, or nowhere."""
    if not (folder / relative).is_symlink():
        return relative
    folder = Path(os.path.realpath(folder))  # a link may be on the way to the cache, too
    path = folder / relative
    try:
        target = path.resolve()
    except RuntimeError:  # how Python says so before 3.13
        target = path
    if target == path:
        raise EntryError(f"{path}: links to itself", "remove the link")
    if not target.is_relative_to(folder):
        raise EntryError(f"{path}: links to {target}, outside of the bot's folder", "copy it in or remove the link")
    if not target.exists():
        raise EntryError(f"{path}: links to {target}, which does not exist", "correct or remove the link")
    return target.relative_to(folder)


@contextmanager
def _opened(folder: Path, relative: Path) -> Iterator[int]:
    """A file descriptor of what lies there, for reading.

    No link is followed on the way: a bot's author may put one in the place of a folder or a file after it was looked
    at, and we may read what they may not. Raises EntryError.
    """
    flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK  # not waiting for the other end of a pipe
    try:
        number = os.open(folder, flags | os.O_DIRECTORY)
        for name in relative.parts:
            outer = number
            try:
                number = os.open(name, flags | os.O_NOFOLLOW, dir_fd=outer)
            finally:
                os.close(outer)
    except OSError as error:
        raise _unreadable(folder / relative, error) from None
    try:
        yield number
    finally:
        os.close(number)


def _read(number: int, path: Path) -> Iterator[bytes]:
    """The content of a file. EntryError for what is no file any more, or grows for as long as it is read."""
    found = os.fstat(number)
    left = found.st_size
    try:
        while stat.S_ISREG(found.st_mode) and left >= 0 and (chunk := os.read(number, _CHUNK_BYTES)):
            left -= len(chunk)
            yield chunk
    except OSError as error:
        raise _unreadable(path, error) from None
    if left < 0 or not stat.S_ISREG(found.st_mode):
        raise EntryError(f"{path}: was changed while it was read", "try again")


def hash_within(folder: Path, relative: Path) -> bytes:
    """The hash of a file, or the path of a folder, whose files count where they stand. Raises EntryError, also where a
    link is on the way."""
    with _opened(folder, relative) as number:
        if stat.S_ISDIR(os.fstat(number).st_mode):
            return b"folder:" + os.fsencode(relative)
        made = blake2b()
        for chunk in _read(number, folder / relative):
            made.update(chunk)
        return b"file:" + made.digest()


def copy_within(folder: Path, relative: Path, copy: Path) -> None:
    """Lay a copy of a file at `copy`, where nothing is, with its time, and for all to execute if it may be executed.
    Raises EntryError, also where a link is on the way, or OSError."""
    with _opened(folder, relative) as number, copy.open("xb") as written:
        for chunk in _read(number, folder / relative):
            written.write(chunk)
        found = os.fstat(number)
        os.fchmod(written.fileno(), 0o755 if found.st_mode & 0o111 else 0o644)
        written.flush()
        os.utime(written.fileno(), ns=(found.st_atime_ns, found.st_mtime_ns))


def _unreadable(path: Path, error: OSError) -> EntryError:
    return EntryError(f"{path}: cannot be read ({error.strerror}), but belongs to the bot", "check its rights")
