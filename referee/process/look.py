"""What lies at a path. False for what may not be looked at, for which the methods of `Path` raise (up to Python 3.13).

The referee may be no administrator, and has in its own PATH, and in what bots name, folders that it may not enter.
"""

import os
from pathlib import Path


def is_there(path: Path) -> bool:
    return os.path.exists(path)  # noqa: PTH110


def is_folder(path: Path) -> bool:
    return os.path.isdir(path)  # noqa: PTH112


def is_file(path: Path) -> bool:
    return os.path.isfile(path)  # noqa: PTH113


def is_link(path: Path) -> bool:
    return os.path.islink(path)  # noqa: PTH114
