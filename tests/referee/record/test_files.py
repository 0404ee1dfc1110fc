"""Files of a run that may come from a stranger."""

import os
from pathlib import Path

import pytest

from referee.record.files import read_ordinary


def test_an_ordinary_file_up_to_the_limit_is_read_whole(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"12345")
    assert read_ordinary(path, 5) == b"12345"
    with pytest.raises(OSError, match="it has more than 4 bytes"):
        read_ordinary(path, 4)


@pytest.mark.parametrize(("most_bytes", "said"), [(1 << 30, "1024 MiB"), (1 << 20, "1 MiB"), (1 << 16, "64 KiB")])
def test_the_limit_is_said_in_a_unit_in_which_it_is_not_0(tmp_path: Path, most_bytes: int, said: str) -> None:
    with (tmp_path / "file").open("wb") as file:
        file.truncate(most_bytes + 1)
    with pytest.raises(OSError, match=f"it has more than {said}"):
        read_ordinary(tmp_path / "file", most_bytes)


def test_what_is_no_ordinary_file_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("/dev/zero")
    (tmp_path / "folder").mkdir()
    for name in ("pipe", "link", "folder"):
        with pytest.raises(OSError, match="it is not an ordinary file"):
            read_ordinary(tmp_path / name)
    with pytest.raises(FileNotFoundError):
        read_ordinary(tmp_path / "nothing")
