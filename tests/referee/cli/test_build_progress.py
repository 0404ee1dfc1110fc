"""What is seen of a build while it goes on, and of one that fails."""

import io
import shutil
from pathlib import Path

import pytest
from rich.console import Console

from referee.cli import building as build_progress
from referee.cli.building import BuildProgress, end_of_log, load_or_build
from referee.process.build import BuildError

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    """Stands in for stderr on a terminal of 80 columns."""
    text = io.StringIO()
    made = Console(file=text, force_terminal=True, width=80, legacy_windows=False)
    monkeypatch.setattr(build_progress, "console", lambda *, stderr: made)
    return text


def test_in_a_terminal_one_line_says_what_is_done_and_for_how_long_and_goes_at_the_end(terminal: io.StringIO) -> None:
    with BuildProgress(Path("bots/go")) as progress:
        progress.told("fetch")
        assert "building bots/go: fetching ... 0 s" in terminal.getvalue()
        progress.told("build")
    shown = terminal.getvalue()
    assert "building bots/go: compiling ... 0 s" in shown
    assert shown.rstrip("\r").endswith("\x1b[2K")  # the line is empty
    assert "\nbuilding" not in shown  # and it was one line all the time


def test_a_long_name_is_cut_in_a_terminal_not_folded(terminal: io.StringIO) -> None:
    with BuildProgress(Path("x" * 200)) as progress:
        progress.told("fetch")
    assert "xxx…" in terminal.getvalue()


def test_elsewhere_each_phase_is_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    with BuildProgress(Path("[bold]go\x1b[31m")) as progress:
        for step in ("wait", "fetch", "build", "toolchain"):
            progress.told(step)  # type: ignore[arg-type]
    out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines() == [
        "building [bold]go\\x1b[31m: waiting for another that builds the same ...",
        "building [bold]go\\x1b[31m: fetching ...",
        "building [bold]go\\x1b[31m: compiling ...",
    ]


def test_a_command_that_needs_a_bot_says_that_it_was_built(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CROSSTOWN_CACHE", str(tmp_path / "cache"))
    shutil.copytree(ROOT / "bots" / "bridge" / "c", tmp_path / "c", ignore=shutil.ignore_patterns("build"))
    load_or_build(tmp_path / "c", "plain")
    first, last = capsys.readouterr().err.splitlines()
    assert first == f"building {tmp_path / 'c'}: compiling ..."
    assert last.startswith(f"built {tmp_path / 'c'} in ")
    load_or_build(tmp_path / "c", "plain")
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("warm", [False, True])
def test_a_failure_in_a_home_that_was_not_clean_says_how_to_try_a_clean_one(*, warm: bool) -> None:
    error = BuildError("build: 'sh' ended with exit code 1", "", Path("log.txt"), "oops")
    if warm:
        error.began_warm()
    assert ("crosstown bots build --again" in end_of_log(error)) == warm


def test_a_phase_that_comes_twice_is_said_once(capfd: pytest.CaptureFixture[str]) -> None:
    with BuildProgress(Path("bots/go")) as progress:
        for step in ("fetch", "fetch", "build", "fetch"):
            progress.told(step)  # type: ignore[arg-type]
    assert capfd.readouterr().err.splitlines() == [
        "building bots/go: fetching ...",
        "building bots/go: compiling ...",
    ]
