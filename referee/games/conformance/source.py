"""Where a game's files are: its README and a hash of its code."""

import sys
from collections.abc import Iterator
from fnmatch import fnmatchcase
from hashlib import blake2b
from importlib.resources import files
from importlib.resources.abc import Traversable

from referee.games.api import Game

README = "README.md"
NOT_PLAYED = ("view*", "*.md")


def package_of(game: Game) -> str:
    """The import name of the package that holds the game's class; the module's own name for a lone module."""
    module = type(game).__module__
    return sys.modules[module].__package__ or module


def readme(game: Game) -> str | None:
    """The rules as implemented, as Markdown, from the game's folder."""
    try:
        return (files(package_of(game)) / README).read_text(encoding="utf-8")
    except (OSError, TypeError, ModuleNotFoundError):
        return None


def code_hash(package: str) -> str:
    """16 hex digits over the files of a package, so that results of other code are not mixed in.

    Left out is what neither decides a match nor goes over the wire: pictures and sentences (files named view*, code or
    data) and Markdown. Hours of matches are not to be played again for another colour; what such a change breaks shows
    in the short run that every change gets.
    """
    digest = blake2b(digest_size=8)
    for name, file in walk(files(package), ""):
        if any(fnmatchcase(file.name, pattern) for pattern in NOT_PLAYED):
            continue
        digest.update(f"{name}\0".encode())
        digest.update(blake2b(file.read_bytes()).digest())
    return digest.hexdigest()


def walk(folder: Traversable, prefix: str) -> Iterator[tuple[str, Traversable]]:
    """Files below `folder` with their paths, sorted, without caches and hidden ones."""
    for entry in sorted(folder.iterdir(), key=lambda each: each.name):
        if entry.name.startswith(".") or entry.name == "__pycache__":
            continue
        if entry.is_dir():
            yield from walk(entry, f"{prefix}{entry.name}/")
        else:
            yield prefix + entry.name, entry
