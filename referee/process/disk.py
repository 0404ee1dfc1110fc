"""How much of a disk is free."""

import os
from contextlib import suppress
from pathlib import Path

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
