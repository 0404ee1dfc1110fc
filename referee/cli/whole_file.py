"""Writes a file that a user asked for."""

import os
from pathlib import Path

from referee.tournament.errors import PlatformError


def write_whole(path: Path, text: str, otherwise: str) -> None:
    """The whole file or nothing of it, with the folders that lead to it. PlatformError, whose next step is
    `otherwise`."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists() and not path.is_file():
            raise PlatformError(f"cannot write {path}: it is no ordinary file", otherwise)
        temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
        temporary.write_text(text, encoding="utf-8", errors="replace")
        temporary.replace(path)
    except OSError as error:
        raise PlatformError(f"cannot write {path}: {error.strerror}", otherwise) from error
