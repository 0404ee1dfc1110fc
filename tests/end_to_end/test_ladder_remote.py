"""Bots that run at their authors' play in a ladder: `crosstown serve`, `crosstown bots connect`, real sockets."""

import json
import os
import shutil
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from referee.record import read_record
from tests.cluster import Cluster
from tests.end_to_end.serving import CROSSTOWN, RANDOM, Served, has_played, wait_for
from tests.living import is_alive

ADMITS = 'admits = ["remote"]'
TELLING = """
import json, os, pathlib
pathlib.Path("environment.json").write_text(json.dumps({**os.environ, "pid": os.getpid()}))
"""


def free_port() -> int:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        port: int = bound.getsockname()[1]
        return port


def remote(port: int) -> str:
    return f'[remote]\nlisten = "127.0.0.1:{port}"\nreconnect_s = 20\n[matchmaking]\nidle_below = 0.0\n'


def write_bot(folder: Path, version: str = "1", code: str = "") -> Path:
    """A bot that plays by chance, and leaves word of how it was started."""
    folder.mkdir(exist_ok=True)
    manifest = f'name = "mine"\nversion = "{version}"\ngames = ["*"]\nrun = ["{{python}}", "bot.py"]\n'
    (folder / "bot.toml").write_text(f"{manifest}[options]\nsalt = 0\n")
    (folder / "bot.py").write_text(code or TELLING + (RANDOM / "bot.py").read_text())
    return folder


class Home:
    """An author's machine, on which `crosstown bots connect` runs."""

    def __init__(self, served: Served, folder: Path, port: int) -> None:
        self.served = served
        self.port = port
        """On which the ladder listens for remote bots."""
        self.folder = folder
        self.started: list[subprocess.Popen[str]] = []

    def connect(self, *words: str) -> "subprocess.Popen[str]":
        with (self.folder.parent / f"home-{len(self.started)}.txt").open("w") as said:
            process = subprocess.Popen(
                [*CROSSTOWN, "bots", "connect", str(self.folder), *words],
                stdout=said,
                stderr=said,
                text=True,
                env=self.served.env,
                start_new_session=True,
            )
        self.started.append(process)
        return process

    def said(self, number: int = -1) -> str:
        return (self.folder.parent / f"home-{number % len(self.started)}.txt").read_text()

    def environment(self) -> dict[str, Any]:
        """Of the bot's process."""
        path = self.folder / "environment.json"
        wait_for(path.exists, 60)
        found: dict[str, Any] = json.loads(path.read_text())
        return found

    def end(self) -> None:
        for process in self.started:
            if process.poll() is None:
                process.terminate()
                process.wait(30)


@pytest.fixture
def home(serve: Callable[..., Served], tmp_path: Path) -> Iterator[Home]:
    port = free_port()
    served = serve("toy", remote(port), ADMITS)
    served.run("login", served.address, "--invitation", served.code, "--name", "otto")
    made = Home(served, write_bot(tmp_path / "mine"), port)
    yield made
    made.end()


def bot_of(served: Served) -> dict[str, Any]:
    return served.ask("/bots/mine")


def matches_of(served: Served, bot: str = "mine") -> list[dict[str, Any]]:
    listed: Any = served.ask("/runs/toy/matches")["matches"]
    return [match for match in listed if any(seat["name"] == bot for seat in match["seats"])]


def is_connected(served: Served) -> bool:
    listed: Any = served.ask("/bots")["bots"]
    return any(bot["name"] == "mine" and bot["connected"] for bot in listed)


def status_with(served: Served, token: str) -> int:
    """What the API answers to who shows this token."""
    request = urllib.request.Request(f"{served.address}/api/v1/me", headers={"Authorization": f"Bearer {token}"})
    try:
        with urllib.request.urlopen(request, timeout=20) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        return error.code


def listening_on(port: int) -> int:
    """The worker that listens for remote bots."""
    inodes = {
        line.split()[9]
        for line in Path("/proc/net/tcp").read_text().splitlines()[1:]
        if line.split()[1].endswith(f":{port:04X}") and line.split()[3] == "0A"
    }
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            for opened in (process / "fd").iterdir():
                if opened.readlink().name.strip("socket:[]") in inodes:
                    return int(process.name)
    raise AssertionError(f"nobody listens on {port}")


def records_of(served: Served) -> list[Path]:
    return sorted((served.folder / "data" / "divisions" / "toy" / "matches").rglob("*.gz"))


def kinds_of(served: Served) -> list[str]:
    journal = served.folder / "data" / "divisions" / "toy" / "tournament.jsonl"
    return [json.loads(line)[0] for line in journal.read_text().splitlines()]


def test_a_bot_that_runs_at_home_is_tried_and_plays_rated_matches_while_it_is_connected(home: Home) -> None:
    served, process = home.served, home.connect()
    began_s = time.monotonic()
    wait_for(lambda: has_played(served, "toy", "mine"), 60)
    assert time.monotonic() - began_s < 45
    wait_for(lambda: "connected; version 1 is active in toy" in home.said(), 20)
    bot = bot_of(served)
    assert (bot["remote"], bot["connected"], bot["active"], bot["newest"]["label"]) == (True, True, 1, "1")
    steps = {step["name"]: step for step in bot["newest"]["steps"]}
    wait_for(lambda: records_of(served), 20)  # a match is listed as soon as its record ends, which is closed after that
    record = read_record(records_of(served)[0])
    assert "remote" in {seat.sandbox for seat in record.header.seats}
    assert record.footer.status == "rated"
    told = home.environment()
    kept = json.loads((served.folder / "config" / "crosstown" / "ladders.json").read_text())["tokens"]
    (token,) = kept.values()
    assert token not in told.values()
    assert status_with(served, told["CROSSTOWN_TOKEN"]) == 403, "the bot's token is good for playing alone"
    assert steps == {}, "what others may see of it has no steps"
    process.send_signal(signal.SIGINT)
    assert process.wait(30) == 0, home.said()
    assert not is_alive(told["pid"])
    wait_for(lambda: not bot_of(served)["connected"], 30)
    assert "not connected any more" in home.said()


def test_after_the_process_that_listens_died_the_bot_comes_back_and_plays_on(home: Home) -> None:
    served = home.served
    home.connect()
    wait_for(lambda: has_played(served, "toy", "mine"), 60)
    before = len(matches_of(served))
    os.kill(listening_on(home.port), signal.SIGKILL)
    wait_for(lambda: len(matches_of(served)) > before + 2, 60)
    assert all(read_record(path).footer.status == "rated" for path in records_of(served))


def test_who_connects_the_same_bot_again_takes_it_over(home: Home) -> None:
    served, first = home.served, home.connect()
    wait_for(lambda: is_connected(served), 60)
    home.environment()
    second = home.connect()
    assert first.wait(60) == 2, home.said(0)
    assert "has taken the bot over" in home.said(0)
    wait_for(lambda: has_played(served, "toy", "mine"), 60)
    wait_for(lambda: is_connected(served), 30)
    assert second.poll() is None


def test_what_says_another_version_in_hello_is_a_new_version(home: Home) -> None:
    served, first = home.served, home.connect()
    wait_for(lambda: has_played(served, "toy", "mine"), 60)
    first.send_signal(signal.SIGINT)
    first.wait(30)
    write_bot(home.folder, "2")
    home.connect()
    wait_for(lambda: bot_of(served)["active"] == 2, 60)
    played = len(matches_of(served))
    wait_for(lambda: len(matches_of(served)) > played, 60)
    versions: Any = served.ask("/bots/mine/versions")["versions"]
    assert [(one["number"], one["label"], one["status"]) for one in versions] == [
        (2, "2", "active"),
        (1, "1", "inactive"),
    ]


def test_a_bot_that_goes_leaves_and_stalls_nobody(home: Home, tmp_path: Path) -> None:
    served, process = home.served, home.connect()
    wait_for(lambda: has_played(served, "toy", "mine"), 60)
    process.send_signal(signal.SIGKILL)
    wait_for(lambda: not bot_of(served)["connected"], 60)
    served.run("submit", str(RANDOM), "--name", "other", "--follow")
    wait_for(lambda: has_played(served, "toy", "other"), 60)
    wait_for(lambda: "absent" in kinds_of(served), 60)
    home.connect()
    wait_for(lambda: kinds_of(served).count("returned") == 1, 60)


def test_a_bot_that_faults_in_its_qualification_match_is_rejected_with_the_reason(home: Home) -> None:
    code = (RANDOM / "bot.py").read_text().replace("luck.randrange(turn.legal_count)", "turn.legal_count + 5")
    write_bot(home.folder, code=code)
    home.connect()
    wait_for(lambda: "version 1 is rejected" in home.said(), 60)
    assert "illegal_action" in home.said()


def test_a_ladder_that_admits_no_remote_bots_says_so(serve: Callable[..., Served], tmp_path: Path) -> None:
    served = serve()
    served.run("login", served.address, "--invitation", served.code, "--name", "otto")
    done = subprocess.run(
        [*CROSSTOWN, "bots", "connect", str(write_bot(tmp_path / "mine"))],
        capture_output=True,
        text=True,
        env=served.env,
        timeout=60,
        check=False,
    )
    assert done.returncode == 2
    assert "No division of this ladder admits remote bots" in done.stderr


@pytest.mark.strict_sandbox
def test_a_ladder_on_a_cluster_has_its_hand_ins_built_and_tried_on_the_machines(
    serve: Callable[..., Served], tmp_path: Path, new_workplace: Callable[[Path], Any]
) -> None:
    (tmp_path / "machines").mkdir()
    cluster = Cluster(tmp_path / "machines", new_workplace)
    try:
        cluster.start_scheduler()
        cluster.start_machine("east")
        served = serve("toy", f'[executor]\nkind = "dask"\nscheduler = "{cluster.address}"\n')
        served.run("login", served.address, "--invitation", served.code, "--name", "otto")
        build = 'build = ["sh", "-c", "echo built here; mkdir build; cp bot.py build/made"]\n'
        mine = tmp_path / "mine"
        mine.mkdir()
        shutil.copy(RANDOM / "bot.py", mine)
        (mine / "bot.toml").write_text(f"{build}{(RANDOM / 'bot.toml').read_text()}")
        said = served.run("submit", str(mine), "--name", "mine", "--follow")
        assert "is active in toy" in said
        wait_for(lambda: has_played(served, "toy", "mine"), 60)
        (log,) = (served.folder / "data" / "hand_ins" / "logs").iterdir()
        assert "built here" in log.read_text()
        assert "toy: qualified" in log.read_text()
        (made,) = (tmp_path / "machines" / "east" / "cache").glob("*/built.json")
        assert not list((served.folder / "cache").glob("*/built.json"))
        artefacts = json.loads(made.read_text())["artefacts"]
        seats = [seat for path in records_of(served) for seat in read_record(path).header.seats if seat.name == "mine"]
        assert {seat.build for seat in seats} == {artefacts}
        (mine / "bot.toml").write_text((mine / "bot.toml").read_text().replace("echo built here", "exit 1"))
        said = served.run("submit", str(mine), "--name", "mine", "--follow", code=1)
        assert "exit code 1" in said
    finally:
        cluster.end()
        for place in cluster.places.values():
            place.end()


def test_a_ladder_plays_on_a_cluster_and_its_remote_bots_beside_the_door(
    serve: Callable[..., Served], tmp_path: Path, new_workplace: Callable[[Path], Any]
) -> None:
    (tmp_path / "machines").mkdir()
    cluster = Cluster(tmp_path / "machines", new_workplace)
    try:
        cluster.start_scheduler()
        cluster.start_machine("east")
        port = free_port()
        executor = f'[executor]\nkind = "dask"\nscheduler = "{cluster.address}"\n'
        served = serve("toy", remote(port) + executor, ADMITS)
        served.run("login", served.address, "--invitation", served.code, "--name", "otto")
        served.run("submit", str(RANDOM), "--name", "sent", "--follow")
        wait_for(lambda: has_played(served, "toy", "sent"), 60)
        home = Home(served, write_bot(tmp_path / "mine"), port)
        try:
            home.connect()
            wait_for(lambda: has_played(served, "toy", "mine"), 60)
        finally:
            home.end()
        headers = [read_record(path).header for path in records_of(served)]
        assert {bool(header.machine) for header in headers} == {True, False}
        for header in headers:
            is_remote = any(seat.sandbox == "remote" for seat in header.seats)
            assert header.machine.get("name") == (None if is_remote else "east")
    finally:
        cluster.end()
        for place in cluster.places.values():
            place.end()
