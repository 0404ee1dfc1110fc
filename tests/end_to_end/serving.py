"""A ladder that `crosstown serve` serves, for tests that do what its people do."""

import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CROSSTOWN = [sys.executable, "-m", "referee.cli.main"]
RANDOM = ROOT / "bots" / "python" / "random"


class Served:
    """A running `crosstown serve`, and commands beside it."""

    def __init__(self, folder: Path, game: str, more: str = "", division: str = "") -> None:
        """`more`: lines at the end of the ladder's file; `division`: lines of its only division."""
        self.folder = folder
        self.file = folder / "ladder.toml"
        self.file.write_text(
            f'name = "trial"\ndata = "data"\nport = 0\nworkers = 1\n[[divisions]]\ngame = "{game}"\n{division}\n'
            f'[[bots]]\npath = {json.dumps(str(RANDOM))}\nname = "house"\n{more}\n'
        )
        self.env = {
            **os.environ,
            "PYTHONPATH": str(ROOT / "tests" / "toy_game"),
            "XDG_CONFIG_HOME": str(folder / "config"),
            "CROSSTOWN_CACHE": str(folder / "cache"),
        }
        self.out = folder / "out.txt"
        self.start()

    def start(self) -> None:
        with self.out.open("wb") as out, (self.folder / "err.txt").open("ab") as err:
            self.process = subprocess.Popen(
                [*CROSSTOWN, "serve", str(self.file)], stdout=out, stderr=err, env=self.env, start_new_session=True
            )
        wait_for(lambda: "http" in self.out.read_text() and self.out.read_text().endswith("\n"), 60)

    @property
    def address(self) -> str:
        return self.out.read_text().split("\n", 1)[0].rstrip("/")

    @property
    def code(self) -> str:
        """Of the link for the first organiser, which is the second line."""
        wait_for(lambda: self.out.read_text().count("\n") >= 2, 20)
        found = re.search(r"code=(\S+)", self.out.read_text())
        assert found, self.out.read_text()
        return found[1]

    def run(self, *words: str, code: int = 0, limit_s: float = 240) -> str:
        done = subprocess.run(
            [*CROSSTOWN, *words], capture_output=True, text=True, env=self.env, timeout=limit_s, check=False
        )
        assert done.returncode == code, f"{words}\n{done.stdout}\n{done.stderr}\n{self.errors()}"
        return done.stdout

    def errors(self) -> str:
        return (self.folder / "err.txt").read_text()

    def ask(self, path: str) -> dict[str, object]:
        with urllib.request.urlopen(f"{self.address}/api/v1{path}", timeout=20) as answer:
            found: dict[str, object] = json.load(answer)
            return found

    def stop(self, number: int = signal.SIGINT) -> None:
        self.process.send_signal(number)
        self.process.wait(60)


def wait_for(condition: Callable[[], object], within_s: float) -> None:
    end_s = time.monotonic() + within_s
    while not condition():
        assert time.monotonic() < end_s, "it did not happen"
        time.sleep(0.1)


def has_played(served: Served, run: str, bot: str) -> bool:
    """Whether a rated match of the bot is in the tables of the division, which begins a moment after the server."""
    try:
        listed = served.ask(f"/runs/{run}/matches")["matches"]
    except urllib.error.HTTPError as error:
        if error.code != 404:
            raise
        return False
    assert isinstance(listed, list)
    return any(seat["name"] == bot for match in listed for seat in match["seats"])


def token_file(served: Served, folder: Path) -> str:
    """A file with the token that was kept: the address of the server is another one after a start."""
    kept = json.loads((served.folder / "config" / "crosstown" / "ladders.json").read_text())["tokens"]
    path = folder / "token"
    path.write_text(next(iter(kept.values())))
    return str(path)
