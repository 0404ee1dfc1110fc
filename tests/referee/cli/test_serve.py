"""`crosstown serve` from its first start to Ctrl-C: pages, matches, a process that plays and is started again."""

import json
import os
import signal
import ssl
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from referee.cli.runner_process import state_of, waits_in
from referee.ladder.runner import status_file
from referee.run.lock import started
from referee.run.run import Run
from referee.wire.public_address import own_certificate
from tests.living import is_alive

ROOT = Path(__file__).resolve().parents[3]
SHIPPED = ROOT / "bots" / "python"
LADDER = f"""\
name = "ours"
data = "kept"
workers = 1

[clock]
first_move_s = 20.0
move_s = 20.0

[[divisions]]
game = "shibuya"

[[bots]]
path = "{SHIPPED / "random"}"

[[bots]]
path = "{SHIPPED / "random"}"
name = "random-1"
options = {{ salt = 1 }}
"""


def until(what: Callable[[], Any], limit_s: float = 90.0) -> Any:
    """What this returns once it is true."""
    deadline = time.monotonic() + limit_s
    while time.monotonic() < deadline:
        if found := what():
            return found
        time.sleep(0.05)
    pytest.fail(f"{what} stayed false for {limit_s:.0f} s")


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Callable[..., tuple[subprocess.Popen[str], str]]]:
    """serve(*words) starts the command, and returns the process and the address that it prints."""
    started = []

    def start(*words: str) -> tuple[subprocess.Popen[str], str]:
        process = subprocess.Popen(
            [sys.executable, "-m", "referee.cli.main", "serve", "--port", "0", *words],
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
        )
        started.append(process)
        assert process.stdout is not None
        return process, process.stdout.readline().strip()

    yield start
    for process in started:
        process.kill()
        process.communicate()


def runner_pid(data: Path) -> int:
    try:
        return int(json.loads(status_file(data).read_text())["pid"])
    except (OSError, ValueError):
        return 0


@pytest.mark.slow
def test_it_plays_shows_pages_and_ends_with_ctrl_c(serve, tmp_path):
    (tmp_path / "LADDER.toml").write_text(LADDER)
    process, address = serve("LADDER.toml")
    assert address.startswith("http://127.0.0.1:")
    assert process.stdout.readline().startswith(f"To become its organiser, open this once: {address}join?code=")
    data = tmp_path / "kept"
    run = data / "divisions" / "shibuya"
    until(lambda: list(run.glob("matches/*.jsonl.gz")))
    pid = until(lambda: runner_pid(data))
    with urllib.request.urlopen(f"{address}runs/shibuya", timeout=60) as answer:
        assert "random-1" in answer.read().decode()
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 0, said
    until(lambda: not is_alive(pid), 10)
    assert Run(run).journal.last_state == "stopped"


@pytest.mark.slow
def test_the_process_that_plays_is_started_again_when_it_is_killed(serve, tmp_path):
    (tmp_path / "LADDER.toml").write_text(LADDER)
    process, _ = serve("LADDER.toml")
    data = tmp_path / "kept"
    first = until(lambda: runner_pid(data))
    os.kill(first, signal.SIGKILL)
    second = until(lambda: (pid := runner_pid(data)) and pid != first and pid)
    process.send_signal(signal.SIGTERM)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 0, said
    assert "was killed by signal 9; it is started again in 1 s, and continues" in " ".join(said.split())
    until(lambda: not is_alive(second), 10)


@pytest.mark.slow
def test_the_process_that_plays_ends_when_the_server_is_killed(serve, tmp_path):
    (tmp_path / "LADDER.toml").write_text(LADDER)
    process, _ = serve("LADDER.toml")
    pid = until(lambda: runner_pid(tmp_path / "kept"))
    process.kill()
    until(lambda: not is_alive(pid), 40)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('port = "x"\n', "LADDER.toml:1: 'port' must be an integer"),
        ('[[bots]]\npath = "nowhere"\n', "a house bot: "),
        (LADDER.replace('name = "random-1"\n', ""), "two house bots have one name"),
        ('host = "no such host"\n', "cannot listen on no such host"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused_with_a_next_step(tmp_path, text, said):
    (tmp_path / "LADDER.toml").write_text(text)
    done = subprocess.run(
        [sys.executable, "-m", "referee.cli.main", "serve", "LADDER.toml"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode in (2, 3)
    assert said in done.stderr
    assert len(done.stderr.strip().splitlines()) == 2, done.stderr


def test_organisers_are_shown_what_the_process_that_plays_does(tmp_path):
    assert state_of(tmp_path) == ([], [], "the process that plays does not run; it is started again")
    quiet = {"bots": 1, "playing": 0, "idle": "a table needs 2 bots", "alarm": "", "since": "", "matches": []}
    busy = quiet | {"idle": "", "alarm": "no match ended", "since": "2026-11-29T01:00:00", "matches": [["m1", "then"]]}
    status = {"pid": os.getpid(), "started": started(os.getpid()), "divisions": {"quiet": quiet, "busy one": busy}}
    status_file(tmp_path).write_text(json.dumps(status))
    (alarm,), (worker,), runner = state_of(tmp_path)
    assert (alarm.what, alarm.since, alarm.address) == ("no match ended", "2026-11-29T01:00:00", "/ladder/busy%20one")
    assert (worker.name, worker.division, worker.match_id, runner) == ("table 1", "busy one", "m1", "")
    assert waits_in(tmp_path)["quiet"] == "a table needs 2 bots"
    for other in ({"pid": 0, "started": ""}, {"started": "1"}):  # stopped; another process has its id now
        status_file(tmp_path).write_text(json.dumps(status | other))
        assert state_of(tmp_path)[2] != ""
    status_file(tmp_path).write_text("half a li")
    assert state_of(tmp_path)[2] != ""


@pytest.mark.slow
def test_it_is_watched_over_https_and_logs_json_and_says_how_it_ends(serve, tmp_path):
    certificate, key = own_certificate(tmp_path, "127.0.0.1")
    table = f'[server]\nlog = "json"\ndrain_s = 4\ncertificate = "{certificate}"\nkey = "{key}"\n'
    (tmp_path / "LADDER.toml").write_text(LADDER.replace("[clock]", f"{table}\n[clock]", 1))
    process, address = serve("LADDER.toml")
    assert address.startswith("https://127.0.0.1:")
    context = ssl.create_default_context(cafile=str(certificate))

    def health() -> dict[str, Any] | None:
        try:
            with urllib.request.urlopen(f"{address}healthz", timeout=20, context=context) as answer:
                return json.load(answer)
        except urllib.error.HTTPError:  # it does not play yet
            return None

    assert until(health) == {"status": "ok", "problems": []}
    until(lambda: json.loads(status_file(tmp_path / "kept").read_text())["divisions"]["shibuya"]["counts"]["rated"])
    until(lambda: json.loads(status_file(tmp_path / "kept").read_text())["divisions"]["shibuya"]["playing"])
    process.send_signal(signal.SIGTERM)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 0, said
    lines = [json.loads(line) for line in said.splitlines()]
    assert {line["level"] for line in lines} <= {"info", "warning"}, said
    messages = [line["message"] for line in lines if line["process"] == "runner"]
    assert any(message.startswith("ended after ") for message in messages), said
    assert all(line["time"].endswith("Z") for line in lines)


def test_a_key_that_others_can_read_is_refused(tmp_path):
    certificate, key = own_certificate(tmp_path, "127.0.0.1")
    key.chmod(0o644)
    (tmp_path / "LADDER.toml").write_text(f'[server]\ncertificate = "{certificate}"\nkey = "{key}"\n')
    done = subprocess.run(
        [sys.executable, "-m", "referee.cli.main", "serve", "LADDER.toml"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 2
    assert "every user of this machine can read this key" in done.stderr
