"""The wheel holds what an installed Crosstown needs without a checkout: kits, proto files, templates, box data."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def names(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    (wheel,) = folder.glob("*.whl")
    return set(zipfile.ZipFile(wheel).namelist())


@pytest.mark.parametrize(
    "name",
    [
        "referee/cli/main.py",
        "referee/games/shibuya/data/tiles.json",
        "leaderboard/templates/report.html",
        "crosstown_proto/v1/referee_pb2.py",
        "crosstown_proto/proto/crosstown/v1/referee.proto",
        "crosstown_bot/__init__.py",
        "crosstown_bridge/__init__.py",
        "crosstown_greedy/__init__.py",
        "referee/docs/sandbox.md",
        "referee/docs/protocol/referee.md",
        "referee/docs/bot.schema.json",
        *(f"referee/kits/{kit}/bot.toml" for kit in ("go", "rust", "java", "typescript", "cpp", "python/random")),
        *(f"referee/kits/bridge/{kit}/bot.toml" for kit in ("bash", "perl", "c", "llm")),
    ],
)
def test_the_wheel_holds(names: set[str], name: str) -> None:
    assert name in names


def test_the_wheel_holds_nothing_that_a_build_made(names: set[str]) -> None:
    assert not [name for name in names if name.startswith("referee/docs/") and not name.endswith((".md", ".json"))]
    made = ("/build/", "/target/", "/node_modules/", "__pycache__", ".venv", "tests/")
    assert not [name for name in names if any(part in name for part in made)]
