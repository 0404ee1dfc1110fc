"""Reads files of a run, whose folder may come from a stranger."""

import errno
import os
import stat
from pathlib import Path

MOST_BYTES = 1 << 30


def read_ordinary(path: Path, most_bytes: int = MOST_BYTES) -> bytes:
    """The content of a file. OSError for anything but an ordinary file (a pipe would be waited for without end), and
    for one with more bytes, which could take all memory."""
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        found = os.fstat(fd)
        if not stat.S_ISREG(found.st_mode):
            raise OSError(errno.EINVAL, "it is not an ordinary file", str(path))
        if found.st_size > most_bytes:
            raise OSError(errno.EFBIG, f"it has more than {most_bytes >> 20} MiB", str(path))
        with os.fdopen(fd, "rb", closefd=False) as file:
            return file.read()
    finally:
        os.close(fd)
