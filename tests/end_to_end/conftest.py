"""Whole runs of the command, in processes of their own, with real bots over real sockets."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.end_to_end.serving import Served

ROOT = Path(__file__).resolve().parents[2]
TIMES = ("mean_move_ms", "worst_move_ms", "mean_lag_ms", "worst_lag_ms")
RECORDS_WITHIN_S = 120.0
GONE_WITHIN_S = 5.0
"""No descendant of a bot lives longer after the end of the referee, however it ends."""


@dataclass(frozen=True)
class Outcome:
    """What a command line did."""

    code: int
    stdout: str
    stderr: str


@dataclass
class Workplace:
    """A folder with a tournament, and the command to run in it. Every process started here has it as its place."""

    folder: Path
    environment: dict[str, str] = field(default_factory=dict)
    secret: Path | None = None
    """Given to each run and comparison, so that they have the same luck."""
    without: tuple[str, ...] = ()
    started: list["subprocess.Popen[str]"] = field(default_factory=list)

    def start(self, *words: str, prefix: Sequence[str] = (), **keys: Any) -> "subprocess.Popen[str]":
        if self.secret is not None and words[0] in ("run", "compare"):
            words = (*words, "--secret", str(self.secret))
        process = subprocess.Popen(
            [*prefix, sys.executable, *keys.pop("program", ("-m", "referee.cli.main")), *words],
            cwd=self.folder,
            env={
                name: value
                for name, value in (
                    {
                        **os.environ,
                        "PYTHONPATH": str(ROOT / "tests" / "toy_game"),
                        "PYTHONSAFEPATH": "1",
                        "CROSSTOWN_CACHE": str(self.folder / "cache"),  # where bots play from: see `processes`
                    }
                    | self.environment
                ).items()
                if name not in self.without
            },
            stdout=keys.pop("stdout", subprocess.PIPE),
            stderr=keys.pop("stderr", subprocess.PIPE),
            text=True,
            start_new_session=True,
            **keys,
        )
        self.started.append(process)
        return process

    def end(self) -> None:
        """Nothing that a failed test has started goes on."""
        for process in self.started:
            process.kill()
            process.communicate()

    def run(self, *words: str, timeout_s: float = 120, **keys: Any) -> Outcome:
        process = self.start(*words, **keys)
        stdout, stderr = process.communicate(timeout=timeout_s)
        return Outcome(process.returncode, stdout, stderr)

    def standings(self, *words: str) -> list[dict[str, Any]]:
        """The leaderboard without its times."""
        outcome = self.run("standings", "--json", *words)
        assert outcome.code == 0, outcome.stderr
        table: list[dict[str, Any]] = json.loads(outcome.stdout)["standings"]
        return [{key: value for key, value in row.items() if key not in TIMES} for row in table]

    def processes(self) -> dict[int, str]:
        """Every living process whose place is in the folder, with its command line."""
        found: dict[int, str] = {}
        for entry in Path("/proc").iterdir():
            try:
                place = (entry / "cwd").readlink() if entry.name.isdigit() else None
                if place is not None and place.is_relative_to(self.folder):
                    found[int(entry.name)] = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()
            except OSError:
                continue
        return found

    def assert_nobody_left(self) -> None:
        deadline = time.monotonic() + GONE_WITHIN_S
        while (left := self.processes()) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert not left

    def kill(self, process: "subprocess.Popen[str]", number: int = signal.SIGKILL) -> Outcome:
        os.kill(process.pid, number)
        stdout, stderr = process.communicate(timeout=60)
        return Outcome(process.returncode, stdout, stderr)

    def records(self, run: str = "cup") -> list[Path]:
        return sorted((self.folder / "runs" / run / "matches").glob("*.jsonl*"))

    def wait_for_records(self, number: int, process: "subprocess.Popen[str]", run: str = "cup") -> None:
        """Until there are so many, or the process has ended."""
        deadline = time.monotonic() + RECORDS_WITHIN_S
        while len(self.records(run)) < number and process.poll() is None:
            assert time.monotonic() < deadline
            time.sleep(0.01)


@pytest.fixture
def workplace(tmp_path: Path) -> Iterator[Workplace]:
    place = Workplace(tmp_path)
    yield place
    place.end()


@pytest.fixture(scope="session")
def new_workplace() -> Callable[[Path], Workplace]:
    """For what all tests of a file share."""
    return Workplace


@pytest.fixture
def same_luck(workplace: Workplace, tmp_path: Path) -> None:
    """Runs of this test are the same wherever nothing but luck would tell them apart."""
    workplace.secret = tmp_path / "luck"
    workplace.secret.write_text("".join(f"{number:032x}\n" for number in range(1, 5)))
    workplace.secret.chmod(0o600)


@pytest.fixture
def write_cup(tmp_path: Path, write_cup_in: Callable[..., Path]) -> Callable[..., Path]:
    """write_cup(bots=3, blocks=4) leaves cup.toml with copies of the random bot, told apart by their names; `keys` are
    keys of the file, `more` its end."""
    return partial(write_cup_in, folder=tmp_path)


@pytest.fixture(scope="session")
def write_cup_in() -> Callable[..., Path]:
    """The same with the folder as an argument, for what all tests of a file share."""

    def write(
        bots: int = 3,
        blocks: int = 4,
        game: str = "toy",
        *,
        folder: Path,
        keys: Mapping[str, Any] | None = None,
        more: str = "",
    ) -> Path:
        lines = [f'game = "{game}"', "seed = 7", f"blocks = {blocks}"]
        lines += [f"{key} = {value}" for key, value in (keys or {}).items()]
        for number in range(bots):
            bot = folder / "bots" / f"bot{number}"
            shutil.copytree(ROOT / "bots" / "python" / "random", bot, ignore=shutil.ignore_patterns("__pycache__"))
            manifest = bot / "bot.toml"
            manifest.write_text(manifest.read_text().replace('"random"', f'"bot {number}"', 1))
            lines += ["[[bots]]", f'path = "bots/bot{number}"']
        path = folder / "cup.toml"
        path.write_text("\n".join(lines) + f"\n{more}")
        return path

    return write


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Callable[..., Served]]:
    made: list[Served] = []

    def start(game: str = "toy", more: str = "", division: str = "") -> Served:
        made.append(Served(tmp_path, game, more, division))
        return made[-1]

    yield start
    for one in made:
        if one.process.poll() is None:
            one.stop()
