"""The two wheels hold what an installed Crosstown needs without a checkout: kits, proto files, templates, box data in
`crosstown-arena`; the SDK with the messages in `crosstown-bot`."""

import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from email import message_from_string
from email.message import Message
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SDK = ROOT / "bots" / "python"
Opened = Callable[[Path], zipfile.ZipFile]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Opened:
    @cache
    def build(project: Path) -> zipfile.ZipFile:
        folder = tmp_path_factory.mktemp("wheel")
        command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
        done = subprocess.run(command, cwd=project, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
        (built,) = folder.glob("*.whl")
        return zipfile.ZipFile(built)

    return build


@pytest.mark.parametrize(
    "name",
    [
        "referee/cli/main.py",
        "referee/games/shibuya/data/tiles.json",
        "leaderboard/templates/report.html",
        "referee/proto/crosstown/v1/referee.proto",
        "crosstown_greedy/__init__.py",
        "referee/docs/sandbox.md",
        "referee/docs/protocol/referee.md",
        "referee/docs/bot.schema.json",
        *(f"referee/kits/{kit}/bot.toml" for kit in ("go", "rust", "java", "typescript", "cpp", "python/random")),
        *(f"referee/kits/bridge/{kit}/bot.toml" for kit in ("bash", "perl", "c", "llm")),
    ],
)
def test_the_wheel_holds(wheel: Opened, name: str) -> None:
    assert name in wheel(ROOT).namelist()


@pytest.mark.parametrize(
    "name",
    [
        "crosstown_bot/__init__.py",
        "crosstown_bot/py.typed",
        "crosstown_bridge/__main__.py",
        "crosstown_proto/v1/referee_pb2.py",
        "crosstown_proto/v1/shibuya_pb2.pyi",
    ],
)
def test_the_wheel_of_the_sdk_holds(wheel: Opened, name: str) -> None:
    assert name in wheel(SDK).namelist()


def test_the_wheel_holds_nothing_that_a_build_made(wheel: Opened) -> None:
    names = wheel(ROOT).namelist()
    assert not [name for name in names if name.startswith("referee/docs/") and not name.endswith((".md", ".json"))]
    made = ("/build/", "/target/", "/node_modules/", "__pycache__", ".venv", "tests/")
    assert not [name for name in (*names, *wheel(SDK).namelist()) if any(part in name for part in made)]


def test_no_file_is_in_both_wheels_and_one_requires_the_other(wheel: Opened) -> None:
    assert not set(wheel(ROOT).namelist()) & set(wheel(SDK).namelist())
    version = metadata(wheel(SDK))["Version"]
    assert f"crosstown-bot=={version}" in metadata(wheel(ROOT)).get_all("Requires-Dist", [])


def test_the_sdk_has_wide_ranges_and_needs_nothing_of_the_referee(wheel: Opened) -> None:
    assert metadata(wheel(SDK)).get_all("Requires-Dist") == ["grpcio>=1.60", "protobuf<8,>=5.26"]


def test_a_source_archive_of_the_sdk_makes_the_same_wheel(wheel: Opened, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", str(tmp_path)]
    subprocess.run(command, cwd=SDK, check=True, capture_output=True, timeout=120)
    (archive,) = tmp_path.glob("*.tar.gz")
    subprocess.run(["tar", "-xf", archive, "-C", tmp_path], check=True)
    (unpacked,) = (path for path in tmp_path.iterdir() if path.is_dir())
    assert sorted(wheel(unpacked).namelist()) == sorted(wheel(SDK).namelist())


def test_a_copy_of_the_folder_of_the_sdk_makes_the_same_wheel(wheel: Opened, tmp_path: Path) -> None:
    copy = shutil.copytree(SDK, tmp_path / "sdk", symlinks=True)
    assert sorted(wheel(copy).namelist()) == sorted(wheel(SDK).namelist())


def metadata(wheel: zipfile.ZipFile) -> Message:
    (name,) = (name for name in wheel.namelist() if name.endswith(".dist-info/METADATA"))
    return message_from_string(wheel.read(name).decode())
