"""What is told of the progress of a run: how many matches of how many."""

import io
import math
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from rich.console import Console

from referee.cli import run_pages as module
from referee.cli.run_pages import Gaps, ProgressReport
from referee.run.folder import RunFolder
from referee.run.lock import RunLock
from referee.run.machines import ClusterState, MachineState
from referee.run.status import read_status
from referee.tournament.runner import Reached


class NoRecords:
    def add(self, record: Path) -> None: ...

    def drop(self, record: Path) -> None: ...


@pytest.mark.parametrize(("at_most", "of"), [(False, "of 8"), (True, "of at most 8")])
def test_a_total_that_depends_on_results_is_told_as_a_bound(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, at_most: bool, of: str
) -> None:
    monkeypatch.setattr(module, "LINE_EVERY_S", 0.0)
    with ProgressReport("cup", NoRecords()) as report:
        report.begun(Reached(8, 2, 0, at_most))
        report.reached(Reached(8, 3, 0, at_most))
    going_on, line = capfd.readouterr().err.splitlines()
    assert going_on == f"going on: 2 {of} matches are there"
    assert line.startswith(f"cup: 3 {of} matches, ")
    assert ("at most" in line.partition("matches/s")[2]) == at_most


def test_the_bar_of_a_terminal_tells_a_bound_until_the_number_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    written = io.StringIO()
    terminal = Console(file=written, force_terminal=True, width=120, _environ={"TERM": "xterm"})
    monkeypatch.setattr(module, "console", lambda stderr: terminal)
    with ProgressReport("cup", NoRecords()) as report:
        report.begun(Reached(8, 0, 0, True))
        report.reached(Reached(8, 3, 0, True))
        report._bar.refresh()  # type: ignore[union-attr]
        assert "3 of at most 8" in _plain(written)
        report.reached(Reached(6, 6, 0, False))
    assert "6 of 6" in _plain(written)


def test_brackets_in_names_are_no_markup_in_the_bar_of_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """The names of bots stand in what is missing for `stop_when`: '[/a]' was a MarkupError."""
    written = io.StringIO()
    terminal = Console(file=written, force_terminal=True, width=200, _environ={"TERM": "xterm"})
    monkeypatch.setattr(module, "console", lambda stderr: terminal)
    with ProgressReport("[red]cup", NoRecords(), outlook=lambda: "'[/a]' is stronger than '[b]b'") as report:
        report.begun(Reached(8, 0, 0, True))
        report.reached(Reached(8, 3, 0, True))
        report._bar.refresh()  # type: ignore[union-attr]
    assert "[red]cup" in _plain(written)
    assert "'[/a]' is stronger than '[b]b'" in _plain(written)


def test_a_line_without_a_pace_ends_after_the_matches(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "LINE_EVERY_S", 0.0)
    with ProgressReport("cup", NoRecords()) as report:
        report.begun(Reached(8, 0, 0, False))
        report.reached(Reached(8, 0, 0, False))
    assert capfd.readouterr().err == "cup: 0 of 8 matches\n"


def test_the_time_that_is_left_has_an_error() -> None:
    gaps = Gaps()
    gaps.begin(0.0)
    assert gaps.left(10) is None
    gaps.note(1, 1.0)
    assert gaps.left(10) == (10.0, None)
    for second in (3.0, 4.0, 6.0):
        gaps.note(1, second)
    left_s, error_s = gaps.left(100) or (0.0, None)
    assert left_s == pytest.approx(150)
    # gaps of 1, 2, 1, 2 s: their variance is 1/3; of the sum of 100 more, and of the mean of 4 that is taken for theirs
    assert error_s == pytest.approx(2 * math.sqrt(100 / 3 * (1 + 100 / 4)))
    assert gaps.left(0) == (0.0, 0.0)


def test_results_that_come_together_are_as_many_gaps() -> None:
    gaps = Gaps()
    gaps.begin(0.0)
    gaps.note(4, 8.0)
    gaps.note(0, 9.0)
    assert gaps.left(3) == (6.0, 0.0)


def test_progress_says_what_is_played_now_and_pages_find_it(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(module, "LINE_EVERY_S", 0.0)
    monkeypatch.setattr(module, "LOOK_EVERY_S", 0.0)
    seats = [SimpleNamespace(name=name) for name in ("ann", "bob")]
    specs: Any = [SimpleNamespace(match_id=f"m{number}", game="toy", seats=seats) for number in range(6)]
    folder = RunFolder(tmp_path)
    with ProgressReport("cup", NoRecords(), folder=folder) as report, RunLock(folder.lock):  # type: ignore[arg-type]
        report.begun(Reached(8, 0, 0))
        report.playing(specs, held=True)
        said = read_status(folder)
        assert said is not None
        assert said.held
        assert [one.match_id for one in said.playing] == [f"m{number}" for number in range(6)]
    assert not (tmp_path / "status.json").exists()
    lines = capfd.readouterr().err.splitlines()
    assert lines[0] == "cup: 0 of 8 matches"
    assert lines[1].startswith("    paused; now: ann - bob, ann - bob, ann - bob, ann - bob, 2 more")


def _plain(written: io.StringIO) -> str:
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", written.getvalue())


def test_a_run_says_which_match_shows_why_a_bot_failed(make_run, crosstown):
    folder = make_run(played=4)
    told = crosstown("run", "cup.toml")
    (line,) = [line for line in told.err.splitlines() if "crashed in 1 match; the last: crashed" in line]
    assert line.startswith("'<ann>'")
    record = next(path for path in folder.matches.iterdir() if path.name.startswith("m000001"))
    assert f"    to see why: crosstown matches show {record.relative_to(folder.path.parent.parent)}\n" in told.err
    assert "fault" in crosstown("matches", "show", str(record.relative_to(folder.path.parent.parent))).out


def test_the_machines_of_a_cluster_are_told_with_the_pace(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "LINE_EVERY_S", 0.0)
    state = ClusterState((MachineState("east", "fast", 4, 3), MachineState("west", "fast", 2, 2)), waiting=1)
    with ProgressReport("cup", NoRecords()) as report:
        report.begun(Reached(8, 0, 0, False))
        report.machines(state)
    assert capfd.readouterr().err == "cup: 0 of 8 matches, 2 machines, 5 of 6 slots in use, 1 match waits\n"
