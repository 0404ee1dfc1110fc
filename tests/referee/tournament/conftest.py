"""The surroundings that all tests here need."""

from collections.abc import Callable
from pathlib import Path

import pytest

from referee.cli.app import run_command


@pytest.fixture(autouse=True)
def surroundings(cache: Path, patient_anchors: None) -> None:
    """Bots play from a cache of the test's own; digests of few matches are in one line of the journal."""


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """command("run", "cup.toml") runs a command of crosstown in the test's folder, and gives what it prints."""
    monkeypatch.chdir(tmp_path)

    def enter(*words: object) -> str:
        capfd.readouterr()
        code = run_command([str(word) for word in words])
        out, err = capfd.readouterr()
        assert code == 0, err
        return out

    return enter
