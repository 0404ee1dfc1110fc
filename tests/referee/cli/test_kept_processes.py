"""`idle` and `fresh` of a tournament file decide which processes of the workers play on."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from referee.record import read_record
from referee.run.folder import RunFolder

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def started(tmp_path: Path, crosstown: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """started('idle = 0') plays a run of ann and bob with one worker; by name in how many of 4 matches it was
    started."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "tests" / "toy_game"))
    monkeypatch.setenv("CROSSTOWN_CACHE", str(tmp_path / "cache"))

    def play(top: str = "", of_bob: str = "") -> dict[str, int]:
        lines = ['game = "toy"', "seed = 1", "blocks = 2", top]
        for name, more in (("ann", ""), ("bob", of_bob)):
            bot = tmp_path / "bots" / name
            shutil.copytree(ROOT / "bots" / "python" / "random", bot, ignore=shutil.ignore_patterns("__pycache__"))
            manifest = bot / "bot.toml"
            manifest.write_text(manifest.read_text().replace('"random"', f'"{name}"', 1))
            lines += ["[[bots]]", f'path = "bots/{name}"', more]
        lines += ["[sandbox]", 'profile = "plain"', "[clock]", "startup_s = 60", "move_s = 30"]
        (tmp_path / "cup.toml").write_text("\n".join(lines) + "\n")
        printed = crosstown("run", "cup.toml", "--workers", "1")
        assert printed.code == 0, printed.err
        records = sorted(RunFolder(tmp_path / "runs" / "cup").matches.glob("*.gz"))
        assert len(records) == 4
        found = {"ann": 0, "bob": 0}
        for path in records:
            record = read_record(path)
            assert record.footer is not None
            for seat, took_us in zip(record.header.seats, record.footer.startup_us, strict=True):
                found[seat.name] += took_us > 0
        return found

    return play


@pytest.mark.parametrize(
    ("top", "of_bob", "each_time"),
    [
        ("", "fresh = true", {"bob"}),
        pytest.param("fresh = true", "fresh = false", {"ann"}, marks=pytest.mark.slow),
        pytest.param("idle = 0", "", {"ann", "bob"}, marks=pytest.mark.slow),
    ],
    ids=["fresh for one", "fresh but for one", "none idle"],
)
def test_processes_are_kept_between_matches_as_the_file_says(
    started: Callable[..., dict[str, int]], top: str, of_bob: str, each_time: set[str]
) -> None:
    """A kept process may still be busy with the end of its match when the next one begins, and then is not the only
    one."""
    times = started(top, of_bob)
    assert {name for name, number in times.items() if number == 4} == each_time
    assert min(times.values()) > 0
