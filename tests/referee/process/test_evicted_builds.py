"""The builds of a machine of a cluster: which of them are removed when they take too much of the disk."""

import fcntl
import os
from pathlib import Path

import pytest

from referee.process import store as module
from referee.process.sources import EntryError
from referee.process.store import Built, evict_builds, hold_built, most_builds_mib, next_home, write_built

MIB = 1 << 20


def made(cache: Path, number: int, used_s: int) -> Path:
    """A build with a file of 1 MiB, which was used last at this time."""
    place = cache / f"{number:016x}"
    place.mkdir(parents=True)
    (place / "lock").touch()
    home = next_home(place)
    (home / "bot").mkdir()
    (home / "bot" / "program").write_bytes(os.urandom(MIB))
    (home / "log.txt").write_text("made\n")
    write_built(place, Built(place.name, home / "bot", home / "log.txt", 0.0, 1.0, "", "ab", "plain"))
    os.utime(place / "built.json", (used_s, used_s))
    return place


def left(cache: Path) -> list[int]:
    return sorted(int(place.name, 16) for place in cache.glob("0*") if (place / "1").exists())


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    """Three builds; the third was used longest ago."""
    for number, used_s in ((1, 3000), (2, 2000), (3, 1000)):
        made(tmp_path, number, used_s)
    for other in ("homes", "bots", "cluster"):
        (tmp_path / other / "1").mkdir(parents=True)
        (tmp_path / other / "1" / "large").write_bytes(bytes(5 * MIB))
    return tmp_path


def test_builds_that_were_used_longest_ago_go_first_and_nothing_else_goes(cache: Path) -> None:
    assert evict_builds(cache, 10 * MIB)
    assert left(cache) == [1, 2, 3]
    assert evict_builds(cache, 2 * MIB + MIB // 2)
    assert left(cache) == [1, 2]
    assert (cache / f"{3:016x}" / "built.json").exists() is False
    assert evict_builds(cache, 0)
    assert left(cache) == []
    assert all((cache / other / "1" / "large").exists() for other in ("homes", "bots", "cluster"))


def test_a_build_that_is_played_is_as_young_as_its_last_use(cache: Path) -> None:
    assert hold_built(cache / f"{3:016x}") is not None
    assert evict_builds(cache, MIB + MIB // 2)
    assert left(cache) == [3]


def test_a_build_that_somebody_holds_stays(cache: Path) -> None:
    held = hold_built(cache / f"{2:016x}")
    assert evict_builds(cache, 0) is False
    assert left(cache) == [2]
    del held
    assert evict_builds(cache, 0)
    assert left(cache) == []


def test_a_build_in_the_making_stays_and_does_not_count(cache: Path) -> None:
    with (cache / f"{3:016x}" / "lock").open("wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert evict_builds(cache, MIB + MIB // 2)
        assert left(cache) == [1, 3]


def test_what_a_killed_build_left_goes_first(cache: Path) -> None:
    (cache / f"{1:016x}" / "built.json").unlink()
    assert evict_builds(cache, 2 * MIB + MIB // 2)
    assert left(cache) == [2, 3]


def test_builds_go_for_a_disk_that_is_nearly_full_if_that_helps(cache: Path) -> None:
    assert evict_builds(cache, 10 * MIB, missing=MIB)
    assert left(cache) == [1, 2]
    assert evict_builds(cache, 10 * MIB, missing=100 * MIB)
    assert left(cache) == [1, 2]


def test_the_bytes_of_a_build_are_counted_once(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert evict_builds(cache, 10 * MIB)

    def fail(folder: Path) -> None:
        pytest.fail(f"{folder} was looked through again")

    monkeypatch.setattr(module, "walk", fail)
    assert evict_builds(cache, 10 * MIB)
    (cache / f"{1:016x}" / "1" / "size").write_text("damaged")
    monkeypatch.undo()
    assert evict_builds(cache, 2 * MIB + MIB // 2)
    assert left(cache) == [1, 2]


def test_the_limit_of_builds_is_a_number_of_mib(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CROSSTOWN_BUILDS_MIB", raising=False)
    assert most_builds_mib() == 20480
    monkeypatch.setenv("CROSSTOWN_BUILDS_MIB", "7")
    assert most_builds_mib() == 7
    monkeypatch.setenv("CROSSTOWN_BUILDS_MIB", "all")
    with pytest.raises(EntryError, match="CROSSTOWN_BUILDS_MIB is a number of MiB"):
        most_builds_mib()
