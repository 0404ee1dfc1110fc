"""Folders that a stranger has filled: looked through and removed however deep they are, and no link followed.

What the standard library has for this calls itself for each level (`os.walk` up to Python 3.11, `shutil.rmtree` up to
3.12, `Path.rglob`), and a bot's build can make any number of levels.
"""

# Part of the guardian: few and cheap imports.
# ruff: noqa: PTH101, PTH104, PTH106, PTH108, PTH112, PTH114, SIM105
import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


def walk(folder: "str | os.PathLike[str]") -> "Iterator[os.DirEntry[str]]":
    """Everything in `folder`, a folder before what it holds. Raises OSError, also for what lies too deep for a path."""
    waiting = [os.fspath(folder)]
    while waiting:
        with os.scandir(waiting.pop()) as found:
            for entry in found:
                yield entry
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)


def remove_tree(folder: "str | os.PathLike[str]") -> None:
    """Remove `folder` with all in it, such as a module cache whose folders are read-only, as far as that can be done.

    Each folder is moved up into the uppermost one before it is emptied, so no path is too long.
    """
    top = os.fspath(folder)
    if os.path.islink(top) or not os.path.isdir(top):
        return
    number, waiting = 0, [top]
    while waiting:
        place = waiting.pop()
        try:
            if not os.access(place, os.W_OK | os.X_OK):
                os.chmod(place, 0o700)
            with os.scandir(place) as found:
                entries = list(found)
        except OSError:
            continue
        for entry in entries:
            try:
                if entry.is_dir(follow_symlinks=False):
                    number += 1
                    moved = f"{top}/.{os.getpid()}-{number}-gone"
                    if not os.access(entry.path, os.W_OK | os.X_OK):
                        os.chmod(entry.path, 0o700)  # else it cannot be moved
                    os.rename(entry.path, moved)
                    waiting.append(moved)
                else:
                    os.unlink(entry.path)
            except OSError:
                pass
        if place != top:
            _remove_empty(place)
    _remove_empty(top)


def _remove_empty(place: str) -> None:
    try:
        os.rmdir(place)
    except OSError:
        pass
