"""Paths: the fixed ones of every sandbox, safe tests of a path, and the identity of a folder.

The tests return False for a path that the referee may not look at, where the methods of `Path` raise up to Python 3.13:
PATH, and what bots name, may lie in folders that the referee may not enter.
"""

import ctypes
import os
import struct
from pathlib import Path

SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
"""Always there, read-only."""

HOME = "/tmp"  # noqa: S108 - private to each bot
"""What a bot's HOME and TMPDIR are: a small file system in memory, its own."""


def is_there(path: Path) -> bool:
    return os.path.exists(path)  # noqa: PTH110


def is_folder(path: Path) -> bool:
    return os.path.isdir(path)  # noqa: PTH112


def is_file(path: Path) -> bool:
    return os.path.isfile(path)  # noqa: PTH113


def is_link(path: Path) -> bool:
    return os.path.islink(path)  # noqa: PTH114


_AT_FDCWD = -100
_STATX_BTIME = 0x800
_STATX_BYTES = 256
_BTIME = struct.Struct("=qI")
_MASK_AT, _BTIME_AT = 0, 80
"""Where struct statx (statx(2)) has what it knows, and when the file was made."""


def identity(folder: Path) -> tuple[int, int, int, int]:
    """Its device, its inode number and when it was made, in s and ns; inode numbers alone are used again.

    All 0 if it is not there; the times 0 where the file system does not keep them.
    """
    try:
        found = folder.stat()
    except OSError:
        return 0, 0, 0, 0
    return found.st_dev, found.st_ino, *_born(folder)


def _born(folder: Path) -> tuple[int, int]:
    statx = getattr(ctypes.CDLL(None, use_errno=True), "statx", None)  # glibc has it since 2.28
    room = ctypes.create_string_buffer(_STATX_BYTES)
    if statx is None or statx(_AT_FDCWD, os.fsencode(folder), 0, _STATX_BTIME, room) != 0:
        return 0, 0
    if not int.from_bytes(room.raw[_MASK_AT : _MASK_AT + 4], "little") & _STATX_BTIME:
        return 0, 0
    seconds, nanoseconds = _BTIME.unpack_from(room.raw, _BTIME_AT)
    return seconds, nanoseconds
