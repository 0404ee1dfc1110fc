"""A match that is watched is played again once, along with its record's growing."""

import gzip
import threading
from pathlib import Path
from typing import Any

import pytest

from referee.cli import match_pages
from referee.cli.match_pages import Match, print_frame, watch_record
from referee.record import read_record
from referee.record.replay import Replay

RECORD = Path(__file__).parents[1] / "record" / "corpus" / "v1-shibuya.jsonl.gz"


class Growing(threading.Event):
    """Each look finds two more lines of `whole` in the file at `path`; the match is over with the last of them."""

    def __init__(self, whole: bytes, path: Path) -> None:
        super().__init__()
        self.rest = whole.splitlines(keepends=True)
        self.path = path
        self.looks = 0

    def wait(self, timeout: float | None = None) -> bool:
        self.looks += 1
        with self.path.open("ab") as file:
            file.writelines(self.rest[:2])
        del self.rest[:2]
        if not self.rest:
            self.set()
        return True


def test_a_watched_match_is_shown_step_by_step_and_replayed_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for number, frame in enumerate(Match(read_record(RECORD)).frames()):
        print_frame(number, frame)
        print()
    expected = capsys.readouterr().out
    replays: list[Any] = []

    class Counted(Replay):
        def __init__(self, *given: Any) -> None:
            replays.append(self)
            super().__init__(*given)

    monkeypatch.setattr(match_pages, "Replay", Counted)
    growing = Growing(gzip.decompress(RECORD.read_bytes()), tmp_path / "live.jsonl")
    watch_record(growing.path, growing)
    assert capsys.readouterr().out == expected
    assert growing.looks > 5
    assert len(replays) == 1


def test_a_match_that_never_began_shows_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    over = threading.Event()
    over.set()
    watch_record(tmp_path / "none.jsonl", over)
    assert capsys.readouterr().out == ""
