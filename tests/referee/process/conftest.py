"""Real processes: mock bots as entries, started with a mark in their environment by which any survivor is found."""

import asyncio
import time
import uuid
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import pytest

from referee.folders import CACHE_VARIABLE
from referee.process.bot import BotProcess
from referee.process.entry import Entry, load_entry
from referee.process.limits import ProcessLimits
from tests.living import is_alive

MOCK_BOTS = Path(__file__).resolve().parents[2] / "mock_bots"
PATIENCE_S = 20.0


@dataclass(frozen=True)
class Mark:
    """A variable that every process of one test carries, guardians and daemons too."""

    value: str = field(default_factory=lambda: uuid.uuid4().hex)

    @property
    def env(self) -> dict[str, str]:
        return {"CROSSTOWN_TEST_MARK": self.value}

    def alive(self) -> list[int]:
        """Ids of the living processes that carry it. Zombies have no environment."""
        wanted = f"CROSSTOWN_TEST_MARK={self.value}".encode()
        found = []
        for folder in Path("/proc").iterdir():
            if folder.name.isdigit():
                try:
                    environment = (folder / "environ").read_bytes().split(b"\0")
                except OSError:
                    continue
                if wanted in environment:
                    found.append(int(folder.name))
        return sorted(found)


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where builds go, in place of the user's cache."""
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "the cache"))
    return tmp_path / "the cache"


@pytest.fixture
def users_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Stands in for the user's own home; no variable leads out of it."""
    folder = tmp_path / "home"
    folder.mkdir()
    for name in ("GOENV", "CARGO_HOME", "RUSTUP_HOME", "PIP_CONFIG_FILE", "npm_config_userconfig"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(folder))
    return folder


@pytest.fixture
def mark() -> Mark:
    return Mark()


def _mock_bot(name: str, **options: str | int | bool) -> Entry:
    return load_entry(MOCK_BOTS / name, options=options)


@pytest.fixture
def mock_bot() -> Callable[..., Entry]:
    """mock_bot(name, option=value...) -> Entry"""
    return _mock_bot


class Start(Protocol):
    async def __call__(self, bot: str | Entry, limits: ProcessLimits = ..., **options: Any) -> BotProcess: ...


@pytest.fixture
async def start(mark: Mark) -> AsyncIterator[Start]:
    """Starts a mock bot by name (or any entry) with the mark; whatever lives at the end of the test is stopped."""
    started: list[BotProcess] = []

    async def begin(bot: str | Entry, limits: ProcessLimits | None = None, **options: Any) -> BotProcess:
        entry = bot if isinstance(bot, Entry) else _mock_bot(bot, **options)
        process = await BotProcess.start(
            entry, address="unix:/nowhere", token="secret", limits=limits or ProcessLimits(), env=mark.env
        )
        started.append(process)
        return process

    yield begin
    for process in started:
        await process.stop(0)


async def _until(true: Callable[[], Any], within_s: float = PATIENCE_S) -> None:
    end_s = time.monotonic() + within_s
    while not true():
        assert time.monotonic() < end_s, "it did not come true in time"
        await asyncio.sleep(0.005)


@pytest.fixture
def until() -> Callable[..., Any]:
    """`await until(lambda: ...)`: polls, for what other processes do."""
    return _until


@pytest.fixture
def write_bot(tmp_path: Path) -> Callable[..., Path]:
    """write_bot({"file": content...}, run=[...]) -> folder; without files it has a bot.py that does nothing."""

    def write(
        files: Mapping[str, str] | None = None,
        run: Sequence[str] = ("{python}", "bot.py"),
        toml: str | None = None,
    ) -> Path:
        folder = tmp_path / f"bot-{uuid.uuid4().hex[:8]}"
        folder.mkdir()
        words = ", ".join(f'"{word}"' for word in run)
        default = f'name = "Bot"\nversion = "1"\ngames = ["*"]\nrun = [{words}]\n'
        (folder / "bot.toml").write_text(default if toml is None else toml)
        for name, content in ({"bot.py": ""} if files is None else files).items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)
        return folder

    return write


@pytest.fixture
def alive() -> Callable[[int], bool]:
    return is_alive
