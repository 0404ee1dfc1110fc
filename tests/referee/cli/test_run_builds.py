"""`crosstown run` builds the bots whose programs are not there yet, and says what failed."""

import shutil
from pathlib import Path

import pytest

from referee.cli.main import run_command

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
    assert "log.txt" in err
    assert not (tournament.parent / "runs").exists()
