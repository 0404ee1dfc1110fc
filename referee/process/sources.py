"""The files of a bot version: found, hashed, copied."""

import os
import shutil
import stat
from collections.abc import Iterable, Iterator
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

Sources: TypeAlias = tuple[tuple[bytes, bytes], ...]
"""(path from the bot's folder, hash of the content) of every file, by path."""

_File: TypeAlias = tuple[bytes, Path]


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
    return tuple(sorted((relative, _content(folder, path)) for relative, path in list(files)))


def with_protos(sources: Sources) -> Sources:
    """The sources as a build finds them: with our proto files, unless the bot has its own."""
    if has_protos(sources):
        return sources
    ours = ((f"{PROTO}/crosstown/v1/{path.name}".encode(), hash_file(path)) for path in proto_files())
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
    for relative, path in list(_sources(folder, manifest)):
        copy = target / os.fsdecode(relative)
        copy.parent.mkdir(parents=True, exist_ok=True)
        if path.is_symlink():
            copy.symlink_to(os.path.relpath(path.resolve(), path.parent.resolve()))
        else:
            shutil.copy2(path, copy)


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
    """Every file, with its path from the folder in bytes; links that stay within. `output`: what is left out besides
    `LEFT_OUT`; None to leave out nothing. EntryError if there is more than a bot may have."""
    room = Room(folder)
    waiting = [(folder, 1)]
    while waiting:
        inside, depth = waiting.pop()
        if depth > MOST_DEPTH:
            raise EntryError(f"{inside}: is more than {MOST_DEPTH} folders deep in the bot's folder", "remove it")
        try:
            with os.scandir(inside) as found:
                for each in found:
                    path = Path(each.path)
                    room.count(path)
                    if output is not None and (path == artefact or _is_left_out(path.name, output)):
                        continue
                    if each.is_symlink():
                        target = _target(folder, path)
                        name = next((part for part in target.parts if _is_left_out(part, output or frozenset())), "")
                        if output is not None and name:
                            raise EntryError(
                                f"{path}: links to {name}, which cannot be part of a bot", "remove the link"
                            )
                        yield os.fsencode(path.relative_to(folder)), path
                    elif each.is_dir():
                        waiting.append((path, depth + 1))
                    elif each.is_file():  # a socket, pipe or device has no content to name
                        room.take(path, each.stat(follow_symlinks=False))
                        yield os.fsencode(path.relative_to(folder)), path
        except OSError as error:
            raise _unreadable(error) from None


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


def _target(folder: Path, path: Path) -> Path:
    """Where a link leads, from the folder."""
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


def _content(folder: Path, path: Path) -> bytes:
    """The hash of a file, or where a link to a folder points: what is in there counts where it stands."""
    if path.is_dir():
        return b"folder:" + os.fsencode(path.resolve().relative_to(folder))
    return hash_file(path)


def hash_file(path: Path) -> bytes:
    """EntryError for what is no file any more, or grows for as long as it is read."""
    made = blake2b()
    try:
        # Not waiting for the other end of a pipe that was laid there just now.
        number = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(number, "rb") as file:
            found = os.fstat(number)
            left = found.st_size
            while left >= 0 and (chunk := file.read(1 << 20)):
                made.update(chunk)
                left -= len(chunk)
    except OSError as error:
        raise _unreadable(error) from None
    if left < 0 or not stat.S_ISREG(found.st_mode):
        raise EntryError(f"{path}: was changed while it was read", "try again")
    return b"file:" + made.digest()


def _unreadable(error: OSError) -> EntryError:
    what = f"{error.filename}: cannot be read ({error.strerror}), but belongs to the bot"
    return EntryError(what, "check its rights")
