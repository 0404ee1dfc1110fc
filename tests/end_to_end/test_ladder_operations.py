"""A ladder under load is backed up, restored on another path with no builds, and ends its season, all by command."""

import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from referee.ladder.season import season_folder
from referee.record.journal import BLOCK, anchors_of
from referee.run.luck import epochs_of
from referee.run.run import Run

ROOT = Path(__file__).resolve().parents[2]
RANDOM = ROOT / "bots" / "python" / "random"
CROSSTOWN = [sys.executable, "-m", "referee.cli.main"]


class Host:
    """A ladder in a folder of its own, with a cache of its own, and commands beside it."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True)
        self.folder, self.file, self.data = folder, folder / "ladder.toml", folder / "data"
        self.file.write_text(
            'name = "trial"\ndata = "data"\nport = 0\nworkers = 1\n[matchmaking]\nidle_below = 0.0\n'
            '[[divisions]]\ngame = "toy"\n'
            f'[[bots]]\npath = {json.dumps(str(RANDOM))}\nname = "house"\n'
        )
        self.env = {
            **os.environ,
            "PYTHONPATH": str(ROOT / "tests" / "toy_game"),
            "XDG_CONFIG_HOME": str(folder / "config"),
            "CROSSTOWN_CACHE": str(folder / "cache"),
        }
        self.out, self.err = folder / "out.txt", folder / "err.txt"
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        with self.out.open("wb") as out, self.err.open("ab") as err:
            self.process = subprocess.Popen(
                [*CROSSTOWN, "serve", str(self.file)], stdout=out, stderr=err, env=self.env, start_new_session=True
            )
        wait_for(lambda: "http" in self.out.read_text() and self.out.read_text().endswith("\n"), 90)

    def stop(self) -> None:
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait(60)

    @property
    def address(self) -> str:
        return self.out.read_text().split("\n", 1)[0].rstrip("/")

    @property
    def run_folder(self) -> Path:
        return self.data / "divisions" / "toy"

    def run(self, *words: str) -> str:
        done = subprocess.run(
            [*CROSSTOWN, *words], capture_output=True, text=True, env=self.env, timeout=300, check=False
        )
        assert done.returncode == 0, f"{words}\n{done.stdout}\n{done.stderr}\n{self.err.read_text()}"
        return done.stdout

    def healthy(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.address}/healthz", timeout=20) as answer:
                return bool(answer.status == 200)
        except urllib.error.HTTPError:
            return False


def wait_for(condition: Callable[[], object], within_s: float = 120) -> None:
    end_s = time.monotonic() + within_s
    while not condition():
        assert time.monotonic() < end_s, "it did not happen"
        time.sleep(0.1)


@pytest.fixture
def host(tmp_path: Path) -> Iterator[Callable[[str], Host]]:
    made: list[Host] = []

    def make(name: str) -> Host:
        made.append(Host(tmp_path / name))
        return made[-1]

    yield make
    for one in made:
        one.stop()


def counted(run: Path) -> dict[str, str]:
    """What counts by the journal; nothing before there is one."""
    return dict(anchors_of(Run(run).journal.events).digests) if (run / "tournament.jsonl").exists() else {}


def names_in(run: Path) -> set[str]:
    return {line.fields["name"] for line in Run(run).journal.events if line.kind == "added"}


def built_bot(folder: Path) -> Path:
    """A bot that cannot play before it is built."""
    folder.mkdir()
    (folder / "bot.toml").write_text(
        'name = "built"\nversion = "1"\ngames = ["*"]\n'
        'build = ["sh", "-c", "mkdir build && cp source.py build/bot.py"]\n'
        'run = ["{python}", "build/bot.py"]\n[options]\nsalt = 0\n'
    )
    (folder / "source.py").write_text((RANDOM / "bot.py").read_text())
    return folder


def test_a_backup_under_load_plays_on_elsewhere_and_a_season_ends_while_it_runs(
    host: Callable[[str], Host], tmp_path: Path
) -> None:
    first = host("first")
    first.start()
    token = first.run("ladder", "token", "ann", "--scope", "submit", "--file", str(first.file), "--json")
    (tmp_path / "token").write_text(json.loads(token)["token"])
    first.run("login", first.address, "--token-file", str(tmp_path / "token"))
    first.run("submit", str(built_bot(tmp_path / "built")), "--follow")
    wait_for(lambda: len(counted(first.run_folder)) >= 4)
    backup = tmp_path / "backup"
    said = json.loads(first.run("ladder", "backup", str(backup), "--file", str(first.file), "--json"))
    before = counted(backup / "divisions" / "toy")
    assert said["divisions"]["toy"]["matches"] == len(before) >= 4

    second = host("second")
    second.run("ladder", "restore", str(backup), "--file", str(second.file))
    blocks = [line.fields for line in Run(second.run_folder).journal.events if line.kind == BLOCK]
    second.start()
    wait_for(lambda: len(counted(second.run_folder)) >= len(before) + 3)
    assert "is gone: it is built again" in second.err.read_text()
    assert second.healthy()
    second.stop()
    made = Run(second.run_folder)
    assert before.items() <= counted(second.run_folder).items(), "what counted counts"
    assert [line.fields for line in made.journal.events if line.kind == BLOCK][: len(blocks)] == blocks
    assert not made.check().wrong
    assert names_in(second.run_folder) == {"house", "built"}

    site = tmp_path / "site"
    said = json.loads(first.run("ladder", "season", "end", "--file", str(first.file), "--site", str(site), "--json"))
    assert said["season"] == 1
    old = season_folder(first.data, 1) / "divisions" / "toy"
    assert all(epoch.over and epoch.holds for epoch in epochs_of(Run(old).journal))
    assert said["replays"] == len(counted(old)) > 0
    assert (site / "index.html").is_file()
    assert "Season 1 of trial" in (site / "index.html").read_text()
    assert 'href="bots/built.html"' in (site / "ladder" / "toy.html").read_text().replace("../bots", "bots")
    wait_for(lambda: len(counted(first.run_folder)) >= 2)
    assert names_in(first.run_folder) == {"house", "built"}
    assert not set(counted(first.run_folder).values()) & set(counted(old).values())
    with urllib.request.urlopen(f"{first.address}/ladder/toy", timeout=60) as answer:
        assert "built" in answer.read().decode()
