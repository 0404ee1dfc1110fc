"""Files of a run that may come from a stranger."""

import os
from pathlib import Path

import pytest

from referee.record.files import read_ordinary


def test_an_ordinary_file_up_to_the_limit_is_read_whole(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"12345")
    assert read_ordinary(path, 5) == b"12345"
    with pytest.raises(OSError, match="it has more than 0 MiB"):
        read_ordinary(path, 4)


def test_what_is_no_ordinary_file_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("/dev/zero")
    (tmp_path / "folder").mkdir()
    for name in ("pipe", "link", "folder"):
        with pytest.raises(OSError, match="it is not an ordinary file"):
            read_ordinary(tmp_path / name)
    with pytest.raises(FileNotFoundError):
        read_ordinary(tmp_path / "nothing")
