"""Reads files that a stranger may have made, such as those of a run, or that an organiser names."""

import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO

MOST_BYTES = 1 << 30


def open_ordinary(path: Path) -> BinaryIO:
    """A file, open for reading. OSError for anything but an ordinary file: a pipe would be waited for without end."""
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise OSError(errno.EINVAL, "it is not an ordinary file", str(path))
        return os.fdopen(fd, "rb")
    except BaseException:
        os.close(fd)
        raise


def read_ordinary(path: Path, most_bytes: int = MOST_BYTES) -> bytes:
    """The content of a file. OSError as for `open_ordinary`, and for a file with more bytes, which could take all
    memory."""
    with open_ordinary(path) as file:
        if os.fstat(file.fileno()).st_size > most_bytes:
            units = ((20, "MiB"), (10, "KiB"), (0, "bytes"))
            most = next(f"{most_bytes >> power} {unit}" for power, unit in units if most_bytes >> power)
            raise OSError(errno.EFBIG, f"it has more than {most}", str(path))
        return file.read()
