"""`crosstown run` builds the bots that are not built as they are now, and says what failed."""

import re
import shutil
from pathlib import Path

import pytest

from referee.cli import building
from referee.cli.app import run_command
from referee.errors import PlatformError
from referee.process.checkup import Probe
from referee.record import read_record
from referee.tournament import play

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def tournament(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The C bot against chance, two blocks."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CROSSTOWN_CACHE", str(tmp_path / "cache"))
    shutil.copytree(ROOT / "bots" / "bridge" / "c", tmp_path / "c", ignore=shutil.ignore_patterns("build"))
    file = tmp_path / "small.toml"
    file.write_text(
        'name = "small"\nseed = 1\nblocks = 1\ngame = "shibuya"\nformat = "round-robin"\n'
        f'[[bots]]\npath = "c"\n[[bots]]\npath = "{ROOT / "bots" / "python" / "random"}"\n'
    )
    return file


@pytest.mark.slow
def test_a_bot_that_is_not_built_is_built_first(tournament: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["run", str(tournament), "--workers", "1"]) == 0
    out, err = capsys.readouterr()
    assert "building" in err
    assert "c " in out


def test_a_build_that_fails_ends_the_run_with_the_log_and_plays_nothing(
    tournament: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tournament.parent / "c" / "bot.c").write_text("int main(void) { return oops; }\n")
    assert run_command(["run", str(tournament), "--workers", "1"]) == 1
    _, err = capsys.readouterr()
    assert "build: 'sh' ended with exit code 1" in err
    assert "undeclared" in err
    assert "log.txt" in err
    assert not (tournament.parent / "runs").exists()


@pytest.mark.parametrize("place", ["bots", "homes"])
def test_a_bot_is_not_left_out_because_the_cache_cannot_be_written(
    tournament: Path, capsys: pytest.CaptureFixture[str], place: str
) -> None:
    tournament.write_text(f'on_bad_entry = "skip"\n{tournament.read_text()}')
    (tournament.parent / "cache").mkdir()
    (tournament.parent / "cache" / place).touch()
    assert run_command(["run", str(tournament), "--workers", "1"]) == 3
    assert "set CROSSTOWN_CACHE to a folder that can be written" in capsys.readouterr().err
    assert not (tournament.parent / "runs").exists()


def test_a_build_without_a_place_is_no_failed_build(tournament: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tournament.parent / "cache").mkdir()
    (tournament.parent / "cache" / "homes").touch()
    assert run_command(["bots", "build", str(tournament.parent / "c")]) == 3
    assert "set CROSSTOWN_CACHE to a folder that can be written" in capsys.readouterr().err


def test_a_bot_that_cannot_be_copied_is_not_built_for_that(tournament: Path) -> None:
    """A ladder's pages are served all the same, and say why nothing is played."""
    (tournament.parent / "cache").mkdir()
    (tournament.parent / "cache" / "bots").touch()
    building.build_missing([(ROOT / "bots" / "python" / "random", None)], tournament.parent / "runs")


def in_place(folder: Path) -> None:
    """What an author has who once called the compiler by hand."""
    (folder / "build").mkdir()
    (folder / "build" / "bot").write_text("#!/bin/sh\nexit 3\n")
    (folder / "build" / "bot").chmod(0o755)


@pytest.mark.slow
def test_what_was_built_in_place_plays_no_match(tournament: Path, capsys: pytest.CaptureFixture[str]) -> None:
    in_place(tournament.parent / "c")
    assert run_command(["run", str(tournament), "--workers", "1"]) == 0
    assert "building" in capsys.readouterr().err
    assert run_command(["match", "shibuya", "--seat", "c", "--seat", "c", "--out", "single"]) == 0


@pytest.mark.slow
def test_records_say_what_was_built_and_by_what(tournament: Path, capsys: pytest.CaptureFixture[str]) -> None:
    manifest = tournament.parent / "c" / "bot.toml"
    manifest.write_text(manifest.read_text().replace("build =", 'toolchain = ["cc", "--version"]\nbuild ='))
    assert run_command(["run", str(tournament), "--workers", "1"]) == 0
    records = [read_record(path) for path in (tournament.parent / "runs").rglob("*.jsonl.gz")]
    assert records
    for record in records:
        builds = {seat.name: seat.build for seat in record.header.seats}
        assert re.fullmatch(r"[0-9a-f]{16} by .*cc .*", builds["c"])
        assert builds["random"] == ""


def test_a_strict_run_builds_anew_what_was_built_without_a_sandbox(
    tournament: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tournament.parent / "c"
    assert run_command(["bots", "build", "--plain", str(folder)]) == 0
    entry = building.load_or_build(folder)
    assert entry.built is not None
    assert entry.built.sandbox == "plain"
    del entry
    entry = building.load_or_build(folder, "strict")
    assert entry.built is not None
    assert entry.built.sandbox == "strict"
    assert "built " in capsys.readouterr().err


def test_where_strict_does_not_work_the_run_is_not_led_to_a_build_without_it(
    tournament: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tournament.parent / "c"
    assert run_command(["bots", "build", "--plain", str(folder)]) == 0
    monkeypatch.setattr(building, "probe", lambda: Probe(False, "no namespaces", "allow them"))
    with pytest.raises(PlatformError) as refused:
        building.load_or_build(folder, "strict")
    assert "--plain" not in refused.value.next_step
    assert "[sandbox]" in refused.value.next_step


@pytest.mark.slow
def test_a_strict_run_whose_build_was_lost_goes_on_without_the_sandbox_where_that_is_accepted(
    tournament: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its file must stay as it is, so the advice cannot be to change that."""
    tournament.write_text(
        tournament.read_text().replace("blocks = 1", "blocks = 2") + '[sandbox]\nprofile = "strict"\n'
    )
    assert run_command(["run", str(tournament), "--workers", "1"]) == 0
    for built in (tournament.parent / "cache").glob("*/built.json"):
        built.unlink()
    for record in sorted((tournament.parent / "runs" / "small" / "matches").glob("*.gz"))[:1]:
        record.unlink()
    capsys.readouterr()
    missing = Probe(False, "no bubblewrap", "install it")
    monkeypatch.setattr(building, "probe", lambda: missing)
    monkeypatch.setattr(play, "probe", lambda: missing)
    assert run_command(["run", str(tournament)]) == 3
    _, err = capsys.readouterr()
    assert "next: install it; or continue this run without it: --accept-weaker-sandbox" in err
    assert "profile =" not in err
    assert run_command(["run", str(tournament), "--accept-weaker-sandbox"]) == 0
    _, err = capsys.readouterr()
    assert "bots are built WITHOUT A SANDBOX (no bubblewrap)" in err
    assert "sandbox: strict -> plain" in err


def test_a_dry_run_needs_no_build_and_makes_none(tournament: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["run", str(tournament), "--dry-run", "--list"]) == 0
    out, err = capsys.readouterr()
    assert "building" not in err
    assert "small: shibuya, round-robin of 2 bots, 2 seats, 1 block per group: 2 matches" in out
    before = [line for line in out.splitlines() if " block " in line]
    assert len(before) == 3
    copies = {tournament.parent / "cache" / "bots"}
    assert set((tournament.parent / "cache").iterdir()) <= copies, "a bot that needs no build may be copied there"
    assert run_command(["bots", "build", str(tournament.parent / "c")]) == 0
    capsys.readouterr()
    assert run_command(["run", str(tournament), "--dry-run", "--list"]) == 0
    assert [line for line in capsys.readouterr().out.splitlines() if " block " in line] == before, "the same matches"


def test_where_there_is_no_sandbox_builds_say_so_and_strict_ones_are_refused(
    tournament: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(building, "probe", lambda: Probe(False, "no bubblewrap", "install it"))
    assert run_command(["bots", "build", "c"]) == 0
    assert "bots are built WITHOUT A SANDBOX (no bubblewrap); to have one: install it" in capsys.readouterr().err
    assert run_command(["bots", "build", "--plain", "--again", "c"]) == 0
    assert "WITHOUT" not in capsys.readouterr().err
    tournament.write_text(tournament.read_text() + '[sandbox]\nprofile = "strict"\n')
    (tournament.parent / "c" / "more.h").write_text("")
    assert run_command(["run", str(tournament)]) == 3
    _, err = capsys.readouterr()
    assert "the strict sandbox does not work here: no bubblewrap" in err
    assert 'build and play without: profile = "plain" in [sandbox]' in err
