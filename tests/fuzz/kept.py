"""What the program keeps in its cache or beside a run and reads again: anybody may have written there since."""

import fcntl
import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from target import Target, as_text

from leaderboard import run_table
from leaderboard.ratings.live import LiveTable, Point, Way
from leaderboard.ratings.skill import Skill
from leaderboard.run_table import RunTable, keep_table
from leaderboard.schedule_view import NO_TABLE
from referee.errors import BusyError
from referee.process import homes
from referee.process.store import Built, read_built, write_built
from referee.run.lock import RunLock
from referee.run.seal import SEAL_CHARS


def kept_targets(folder: Path) -> list[Target]:
    home, lock = folder / "0123456789abcdef", folder / "run.lock"  # named as a kept home is, else it is not read
    (home / "home").mkdir(parents=True)
    with RunLock(lock):
        signed = lock.read_bytes()
    return [
        Target("kept build", [_build(folder / "build")], _read(folder / "build" / "built.json", read_built), ()),
        Target(
            "kept home",
            [b'{"folder":"/b","name":"b","profile":"strict","bytes":12}'],
            _read(home / "kept.json", homes._account),
            (),
        ),
        Target("kept table", [_table()], _read_table, ()),
        Target("kept live table", [_live()], lambda data: run_table._parse_live(as_text(data)), ()),
        Target("lock of a run", [signed], _held(lock), ()),
    ]


def _build(place: Path) -> bytes:
    (place / "1" / "bot").mkdir(parents=True)
    write_built(place, Built("00ff", place / "1" / "bot", place / "1" / "log.txt", 0.1, 1.5, "cc 14", "aa", "strict"))
    return (place / "built.json").read_bytes()


def _read(path: Path, read: Callable[[Path], object]) -> Callable[[bytes], object]:
    """`read` is given the folder in which the file lies."""

    def run(data: bytes) -> object:
        path.write_bytes(data)
        return read(path.parent)

    return run


def _table() -> bytes:
    """As `keep_table` writes it."""

    class Store:
        def put_ratings(self, rows: object) -> None:
            pass

        def keep_snapshot(self, name: str, mark: str, text: str) -> None:
            self.text = text

    store = Store()
    keep_table(store, RunTable((), 3, "all games", "00", False, NO_TABLE))  # type: ignore[arg-type]
    return store.text[SEAL_CHARS:].encode()


def _read_table(data: bytes) -> object:
    """Under the seal that belongs to it: without that nothing is read."""
    text = run_table._sealed(run_table._NAME, "00", "", as_text(data))
    return run_table._parse(text, "00", "")


def _live() -> bytes:
    """As it is kept after two matches."""
    way = Way(2, 1, [Point(0, 25.5, 8.0), Point(1, 26.0, 7.5)], Point(1, 26.0, 7.5))
    table = LiveTable({"00ff": Skill(26.0, 7.5)}, {"00ff": way}, {"ann": "00ff"}, 1.0, 12.0, 2, "00" * 16)
    return json.dumps([["toy", 2, table.to_dict()]]).encode()


def _held(path: Path) -> Callable[[bytes], object]:
    """The lock file while somebody holds it, who has written `data` there. Whatever it is, the run is refused."""
    fcntl.flock(os.open(path, os.O_RDWR), fcntl.LOCK_EX)  # until the tests end

    def run(data: bytes) -> object:
        path.write_bytes(data)
        with pytest.raises(BusyError) as refused:
            RunLock(path, wait_s=0)
        return refused.value

    return run
