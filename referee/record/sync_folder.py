"""What makes a change of a folder last."""

import os
from pathlib import Path


def sync_folder(folder: Path) -> None:
    """Make the names in a folder last: what was moved there is there after a power failure. OSError."""
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
