"""The SDK, installed from its wheel into environments of its own, with the oldest and newest protobuf and gRPC."""

import os
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from referee.match import EndReason
from referee.process.entry import load_entry
from referee.record import Answer

ROOT = Path(__file__).resolve().parents[2]
OLDEST, NEWEST = ("protobuf==5.26.0", "grpcio==1.60.0"), ("protobuf<8", "grpcio")
OLDEST_PROTOBUF, OLDEST_GRPC = (OLDEST[0], NEWEST[1]), (NEWEST[0], OLDEST[1])
BETWEEN = [("protobuf==5.29.6", "grpcio==1.71.2"), ("protobuf==6.30.1", "grpcio"), ("protobuf<7", "grpcio==1.65.5")]
GAMES = ("shibuya", "ticket_to_ride_new_york", "manhattan_traffiq", "king_of_new_york")

# Warnings are errors: protobuf warns of generated code that its next version will refuse.
MANIFEST = 'name = "{name}"\nversion = "1"\ngames = ["*"]\nrun = ["{python}", "-W", "error", "bot.py"]\n'
BOT = """
import google.protobuf, grpc
from google.protobuf.json_format import MessageToDict, ParseDict
from crosstown_bot import Bot, run

class Reader(Bot):
    def choose(self, turn):
        for message in (turn.observation, turn.legal_actions, *turn.events):
            assert ParseDict(MessageToDict(message), type(message)()) == message
        turn.note = f"protobuf=={google.protobuf.__version__} grpcio=={grpc.__version__}"
        return turn.match.rng.randrange(turn.legal_count)

run(Reader)
"""

Versions: TypeAlias = tuple[str, str]
Environment: TypeAlias = Callable[[Versions], Path]


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """The Python of an environment with the SDK and these versions."""

    @cache
    def wheel() -> Path:
        folder = tmp_path_factory.mktemp("wheel")
        command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
        subprocess.run(command, cwd=ROOT / "bots" / "python", check=True, capture_output=True, timeout=120)
        return next(folder.glob("*.whl"))

    @cache
    def make(versions: Versions) -> Path:
        folder = tmp_path_factory.mktemp("environment")
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True, timeout=120)
        python = folder / "bin" / "python"
        pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet", "--only-binary=:all:"]
        done = subprocess.run([*pip, str(wheel()), *versions], capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr
        return python

    return make


def make_bot(folder: Path, python: Path) -> Path:
    (folder / "bot.toml").write_text(MANIFEST.format(name=folder.name, python=python))
    (folder / "bot.py").write_text(BOT)
    return folder


@pytest.mark.slow
@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("versions", [OLDEST, NEWEST], ids=["oldest", "newest"])
async def test_a_bot_reads_every_message_with(versions: Versions, environment: Environment, hall: Any) -> None:
    bot = load_entry(make_bot(hall.new_folder(), environment(versions)))
    for game in GAMES:
        result, record = await hall.play(game, bot, bot)
        assert result.reason is EndReason.NORMAL, result.detail
        notes = {line.note for line in record.lines if isinstance(line, Answer)}
        assert len(notes) == 1
        # A range is pip's to keep to.
        assert {wanted for wanted in versions if "==" in wanted} <= set(notes.pop().split())


@pytest.mark.long
@pytest.mark.parametrize("versions", [OLDEST, *BETWEEN, OLDEST_PROTOBUF, OLDEST_GRPC, NEWEST], ids=" ".join)
def test_every_drill_of_the_protocol_passes_with(versions: Versions, environment: Environment, tmp_path: Path) -> None:
    bot = make_bot(tmp_path, environment(versions))
    command = [sys.executable, "-m", "referee.cli.main", "bots", "check", str(bot), "--startup-s", "60"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.long
@pytest.mark.parametrize("versions", [OLDEST, NEWEST], ids=["oldest", "newest"])
@pytest.mark.parametrize("file", ["test_sdk_alone.py", "test_sdk_remote.py", "test_sdk_return.py"])
def test_connections_begin_break_and_return_with(file: str, versions: Versions, environment: Environment) -> None:
    command = [sys.executable, "-m", "pytest", "-q", str(Path(__file__).with_name(file))]
    variables = {**os.environ, "CROSSTOWN_TEST_PYTHON": str(environment(versions))}
    done = subprocess.run(command, cwd=ROOT, env=variables, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stdout + done.stderr
