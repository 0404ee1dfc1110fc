"""The files that make a bot what it is: found, hashed, copied."""

import os
import shutil
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from hashlib import blake2b
from pathlib import Path
from typing import TypeAlias

from referee.process.built import CACHE_VARIABLE, cache_folder
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

_ID_BYTES = 8

Sources: TypeAlias = tuple[tuple[bytes, bytes], ...]
"""(path from the bot's folder, hash of the content) of every file, by path."""


class EntryError(ValueError):
    """A bot folder that cannot be made an entry. One sentence: file, what is wrong, what to do."""


def read_sources(folder: Path, manifest: Manifest) -> Sources:
    """Every source of the bot, hashed. Raises EntryError."""
    cache = Path(os.path.realpath(cache_folder()))
    if cache.is_relative_to(folder):
        raise EntryError(
            f"{folder}: the cache of builds, {cache}, lies in it; move the bot out, or set {CACHE_VARIABLE} to a"
            " folder elsewhere"
        )
    return tuple(sorted((relative, _content(folder, path)) for relative, path in _walk(folder, manifest)))


def with_protos(sources: Sources) -> Sources:
    """The sources as a build finds them: with our proto files, unless the bot has its own."""
    if has_protos(sources):
        return sources
    ours = ((f"{PROTO}/crosstown/v1/{path.name}".encode(), _hash_file(path)) for path in proto_files())
    return tuple(sorted((*sources, *ours)))


def has_protos(sources: Sources) -> bool:
    """Whether a bot has a proto folder of its own."""
    return any(relative.startswith(f"{PROTO}/".encode()) for relative, _ in sources)


def digest(header: bytes, sources: Sources) -> str:
    """16 hex digits. Each part counts with its length: no two lists of parts run together to the same bytes."""
    made = blake2b(digest_size=_ID_BYTES)
    for part in (header, *(part for pair in sources for part in pair)):
        made.update(len(part).to_bytes(8))
        made.update(part)
    return made.hexdigest()


def copy_sources(folder: Path, manifest: Manifest, target: Path) -> None:
    """The same files in a new folder `target`; links stay links. Raises EntryError or OSError."""
    target.mkdir()
    for relative, path in _walk(folder, manifest):
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
    raise EntryError("the proto files of Crosstown are not where they were installed; install it again")


def copy_protos(target: Path) -> None:
    """Lay crosstown/v1/*.proto into `target`. Raises EntryError or OSError."""
    folder = target / "crosstown" / "v1"
    folder.mkdir(parents=True)
    for path in proto_files():
        shutil.copyfile(path, folder / path.name)


def _walk(folder: Path, manifest: Manifest) -> Iterator[tuple[bytes, Path]]:
    """Every file of the bot, with its path from the folder in bytes."""
    output = BUILD_OUTPUT if manifest.build else frozenset[str]()
    artefact = (folder / manifest.run[0]).absolute() if manifest.build else None
    waiting = [folder]
    while waiting:
        try:
            inside = list(waiting.pop().iterdir())
        except OSError as error:
            raise EntryError(_unreadable(error)) from None
        for path in inside:
            if path.name in output or path == artefact or any(fnmatchcase(path.name, name) for name in LEFT_OUT):
                continue
            if path.is_symlink():
                _check_link(folder, path)
                yield os.fsencode(path.relative_to(folder)), path
            elif path.is_dir():
                waiting.append(path)
            elif path.is_file():  # a socket, pipe or device has no content to name
                yield os.fsencode(path.relative_to(folder)), path


def _check_link(folder: Path, path: Path) -> None:
    try:
        target = path.resolve()
    except RuntimeError:  # how Python says so before 3.13
        target = path
    if target == path:
        raise EntryError(f"{path}: links to itself; take the link away")
    if not target.is_relative_to(folder):
        raise EntryError(f"{path}: links to {target}, outside of the bot's folder; copy it in or take the link away")
    if not target.exists():
        raise EntryError(f"{path}: links to {target}, which does not exist; mend the link or take it away")


def _content(folder: Path, path: Path) -> bytes:
    """The hash of a file, or where a link to a folder points: what is in there counts where it stands."""
    if path.is_dir():
        return b"folder:" + os.fsencode(path.resolve().relative_to(folder))
    return _hash_file(path)


def _hash_file(path: Path) -> bytes:
    made = blake2b()
    try:
        with path.open("rb") as file:
            while chunk := file.read(1 << 20):
                made.update(chunk)
    except OSError as error:
        raise EntryError(_unreadable(error)) from None
    return b"file:" + made.digest()


def _unreadable(error: OSError) -> str:
    return f"{error.filename}: cannot be read ({error.strerror}), but belongs to the bot; check its rights"
