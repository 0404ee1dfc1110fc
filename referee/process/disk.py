"""How much of a disk is free, and how much of it a command has taken."""

import os
import stat
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from referee.process.processes import below, processes
from referee.process.trees import walk

LEAST_FREE = 0.05
"""A machine of a cluster begins no build while less of the disk of its cache is free."""


def free_share(path: Path) -> float:
    """The share of the disk of `path` that this user may still fill: of bytes or of files, whichever is less; 1.0 where
    that cannot be told."""
    try:
        found = os.statvfs(_existing(path))
    except OSError:
        return 1.0
    shares = [found.f_bavail / found.f_blocks] if found.f_blocks else []
    shares += [found.f_favail / found.f_files] if found.f_files else []
    return min(shares, default=1.0)


def missing_bytes(path: Path) -> int:
    """The bytes that have to be removed from the disk of `path` until `LEAST_FREE` of it is free; 0 if none."""
    with suppress(OSError):
        found = os.statvfs(_existing(path))
        return max(0, round(LEAST_FREE * found.f_blocks) - found.f_bavail) * found.f_frsize
    return 0


def _existing(path: Path) -> Path:
    while not path.exists() and path != path.parent:
        path = path.parent
    return path


class DiskUse(NamedTuple):
    """Of a disk: bytes and files. Most file systems have a number of files that is soon used up by empty ones."""

    size: int
    files: int

    def minus(self, other: "DiskUse") -> "DiskUse":
        return DiskUse(self.size - other.size, self.files - other.files)

    def fits(self, most: "DiskUse") -> bool:
        return self.size <= most.size and self.files <= most.files


class DiskWatch:
    """How much of the disk of `folder` a command has taken since now.

    It can write to the folders in `own` alone. Without any, all that the disk loses counts as its own.
    """

    def __init__(self, folder: Path, own: Collection[Path], most: DiskUse) -> None:
        self._folder = folder
        self._own = own
        self._most = most
        self._own_before = _in_folders(own)
        self._begun = self._counted = _free(folder)
        self._left = most
        self.is_sure = True
        """Whether what `excess` returned last is the command's own."""

    def excess(self, above: int) -> DiskUse | None:
        """What the command has taken, if it is more than `most`. Its processes are those below the process `above`.

        The disk is asked first. Files are counted only once it has lost what the command may still take, as others
        fill it too. All counts as the command's own where its files cannot be counted, or once the disk is nearly
        full: files without a name can be kept where nobody can count them, such as in a message that nobody reads.
        """
        free = _free(self._folder)
        if self._counted.minus(free).fits(self._left):
            self._counted = DiskUse(max(free.size, self._counted.size), max(free.files, self._counted.files))
            return None
        taken, self.is_sure = self._begun.minus(free), not self._own
        if self._own and free_share(self._folder) >= LEAST_FREE:
            with suppress(OSError):
                named = _in_folders(self._own).minus(self._own_before)
                nameless = _without_name(above, self._folder.stat().st_dev)
                taken, self.is_sure = DiskUse(named.size + nameless.size, named.files + nameless.files), True
        if not taken.fits(self._most):
            return taken
        self._counted, self._left = free, self._most.minus(taken)
        return None


def _free(folder: Path) -> DiskUse:
    found = os.statvfs(folder)
    return DiskUse(found.f_bavail * found.f_frsize, found.f_ffree)


def _in_folders(folders: Collection[Path]) -> DiskUse:
    """Raises OSError where a folder cannot be read."""
    seen, size = set(), 0
    for folder in folders:
        for entry in walk(folder):
            with suppress(FileNotFoundError):
                found = entry.stat(follow_symlinks=False)
                if (found.st_dev, found.st_ino) not in seen:
                    seen.add((found.st_dev, found.st_ino))
                    size += found.st_blocks * 512
    return DiskUse(size, len(seen))


def _without_name(above: int, device: int) -> DiskUse:
    """The removed files on a device that the processes below `above` hold open, or mapped as far as they are mapped.
    Raises OSError where that cannot be told."""
    sizes: dict[int, int] = {}
    for pid in below(above, processes()):
        with suppress(FileNotFoundError, ProcessLookupError):  # it has ended
            for line in Path(f"/proc/{pid}/maps").read_bytes().splitlines():
                if line.endswith(b" (deleted)"):
                    span, _, offset, place, inode, *_ = line.split()
                    first, end = (int(word, 16) for word in span.split(b"-"))
                    if os.makedev(*(int(word, 16) for word in place.split(b":"))) == device:
                        upto = int(offset, 16) + end - first
                        sizes[int(inode)] = max(upto, sizes.get(int(inode), 0))
            for file in Path(f"/proc/{pid}/fd").iterdir():
                with suppress(FileNotFoundError):  # closed since
                    found = file.stat()
                    if stat.S_ISREG(found.st_mode) and found.st_nlink == 0 and found.st_dev == device:
                        sizes[found.st_ino] = max(found.st_blocks * 512, sizes.get(found.st_ino, 0))
    return DiskUse(sum(sizes.values()), len(sizes))
