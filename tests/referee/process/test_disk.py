"""How much of a disk is free, and how much is missing."""

import pytest

from referee.process import disk as module
from referee.process.disk import free_share, missing_bytes


@pytest.fixture
def disk(monkeypatch):
    class Disk:
        f_blocks, f_bavail, f_files, f_favail, f_frsize = 1000, 400, 100, 20, 4096

    monkeypatch.setattr(module.os, "statvfs", lambda _: Disk)
    return Disk


def test_the_free_share_of_a_disk_is_that_of_its_bytes_or_of_its_files(disk, tmp_path):
    assert free_share(tmp_path / "is" / "not" / "there") == 0.2
    disk.f_files = 0  # as on file systems that make room for files as they come
    assert free_share(tmp_path) == 0.4


@pytest.mark.parametrize(("free", "missing"), [(400, 0), (50, 0), (49, 4096), (0, 50 * 4096)])
def test_what_is_missing_is_what_makes_a_twentieth_of_the_disk(disk, tmp_path, free, missing):
    disk.f_bavail = free
    assert missing_bytes(tmp_path) == missing
    assert (free_share(tmp_path) < module.LEAST_FREE) == bool(missing)
