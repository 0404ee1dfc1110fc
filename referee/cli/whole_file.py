"""Writes a file that a user asked for."""

import errno
import os
from pathlib import Path

from referee.errors import PlatformError, UsageError


def write_whole(path: Path, text: str, otherwise: str) -> None:
    """The whole file or nothing of it, with the folders that lead to it. UsageError for a path
    that can be no file, PlatformError; the next step of both is `otherwise`."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists() and not path.is_file():
            raise UsageError(f"cannot write {path}: it is not an ordinary file", otherwise)
        temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
        temporary.write_text(text, encoding="utf-8", errors="replace")
        temporary.replace(path)
    except OSError as error:
        if error.errno in (errno.ENAMETOOLONG, errno.ENOTDIR, errno.EEXIST):
            raise UsageError(f"cannot write {path}: {error.strerror}", otherwise) from None
        raise PlatformError(f"cannot write {path}: {error.strerror}", otherwise) from error
