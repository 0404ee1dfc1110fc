"""An entry: one bot version with its options, named by a hash of its content."""

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from difflib import get_close_matches
from hashlib import blake2b
from pathlib import Path
from types import MappingProxyType

from referee.process.built import cache_folder, read_built
from referee.process.manifest import BUILD_OUTPUT, Manifest, ManifestError, OptionValue, is_option_value, load_manifest
from referee.process.names import BotNameError, check_name
from referee.process.program import find_argv

_ID_BYTES = 8
_CACHES = frozenset({"__pycache__"})


class EntryError(ValueError):
    """A bot folder that cannot be made an entry. One sentence: file, what is wrong, what to do."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A bot as it competes. `id` is 16 hex digits over source, options and argv.

    `folder` is the bot's own, absolute; it runs in `home`, that folder or the copy of it that was built.
    `argv` is what to execute on this machine and no part of the id; `options` is the manifest's with those of the
    tournament over them.
    """

    id: str
    name: str
    folder: Path
    manifest: Manifest
    options: Mapping[str, OptionValue]
    argv: tuple[str, ...]
    home: Path


def load_entry(folder: Path, name: str | None = None, options: Mapping[str, OptionValue] | None = None) -> Entry:
    """Reads a bot folder. `name` replaces the manifest's, `options` override its options.

    Raises ManifestError, EntryError or BotNameError.
    """
    with suppress(RuntimeError):  # a link that leads to itself: no folder, as is said at once
        folder = folder.resolve()
    manifest = load_manifest(folder)
    resolved = _resolve_options(manifest, options or {})
    built = read_built(cache_folder() / source_id(folder, manifest)) if manifest.build else None
    home = built.folder if built else folder
    return Entry(
        id=_hash(folder, manifest, resolved),
        name=manifest.name if name is None else check_name(name),
        folder=folder,
        manifest=manifest,
        options=MappingProxyType(resolved),
        argv=find_argv(home, manifest),
        home=home,
    )


def source_id(folder: Path, manifest: Manifest) -> str:
    """16 hex digits over the sources alone: what a build depends on. Raises EntryError."""
    return _hash(folder, manifest, {})


def _resolve_options(manifest: Manifest, given: Mapping[str, OptionValue]) -> dict[str, OptionValue]:
    resolved = dict(manifest.options)
    for option, value in given.items():
        if option not in resolved:
            near = get_close_matches(option, resolved, n=1)
            advice = f"did you mean '{near[0]}'?" if near else f"it has: {', '.join(resolved) or 'none'}"
            raise EntryError(f"bot '{manifest.name}' has no option '{option}'; {advice}")
        if not is_option_value(value) or type(value) is not type(resolved[option]):
            raise EntryError(
                f"bot '{manifest.name}' option '{option}' must be like {resolved[option]!r}, not {value!r}"
            )
        resolved[option] = value
    return resolved


def _hash(folder: Path, manifest: Manifest, options: Mapping[str, OptionValue]) -> str:
    digest = blake2b(digest_size=_ID_BYTES)

    def add(part: bytes) -> None:
        # Each part with its length, so that no two lists of parts run together to the same bytes.
        digest.update(len(part).to_bytes(8))
        digest.update(part)

    add(json.dumps([list(manifest.run), sorted(options.items())]).encode())
    for relative, path in sorted(_sources(folder, manifest)):
        add(relative)
        add(_content(folder, path))
    return digest.hexdigest()


def _sources(folder: Path, manifest: Manifest) -> Iterator[tuple[bytes, Path]]:
    """Every file that makes the bot what it is, with its path from the folder in bytes."""
    skipped = _CACHES | (BUILD_OUTPUT if manifest.build else frozenset())
    artefact = (folder / manifest.run[0]).absolute() if manifest.build else None
    waiting = [folder]
    while waiting:
        try:
            inside = list(waiting.pop().iterdir())
        except OSError as error:
            raise EntryError(_unreadable(error)) from None
        for path in inside:
            if path.name.startswith(".") or path.name in skipped or path == artefact:
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
    digest = blake2b()
    try:
        with path.open("rb") as file:
            while chunk := file.read(1 << 20):
                digest.update(chunk)
    except OSError as error:
        raise EntryError(_unreadable(error)) from None
    return b"file:" + digest.digest()


def _unreadable(error: OSError) -> str:
    return f"{error.filename}: cannot be read ({error.strerror}), but belongs to the bot; check its rights"


__all__ = ["BotNameError", "Entry", "EntryError", "ManifestError", "load_entry"]
