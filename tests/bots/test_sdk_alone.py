"""A bot of the Python SDK when its referee is not what it should be."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from crosstown_bot import Bot, client

PROGRAM = """
from crosstown_bot import Bot, run
class First(Bot):
    def choose(self, turn):
        return 0
run(First)
"""


def started_alone(tmp_path: Path, program: str = PROGRAM, **environment: str) -> "subprocess.Popen[str]":
    (tmp_path / "bot.py").write_text(program)
    clean = {name: value for name, value in os.environ.items() if not name.startswith("CROSSTOWN_")}
    return subprocess.Popen(
        [PYTHON, str(tmp_path / "bot.py")], env={**clean, **environment}, stderr=subprocess.PIPE, text=True
    )


def test_started_by_hand_it_says_who_starts_bots(tmp_path: Path) -> None:
    process = started_alone(tmp_path)
    _, stderr = process.communicate(timeout=20)
    assert process.returncode == 1
    assert "CROSSTOWN_ADDRESS is not set: a bot is started by the referee" in stderr
    assert "`crosstown run FILE`" in stderr
    assert "Traceback" not in stderr


STACKS = signal.SIGRTMAX - 1
AN_AUTHOR_WHO_USES_SIGUSR1 = "import signal; signal.signal(signal.SIGUSR1, lambda *_: print('mine', flush=True))"


# One process for each signal: faulthandler drops a signal that comes while it still writes for another one.
@pytest.mark.slow
@pytest.mark.parametrize(
    ("its_own", "number", "said"),
    [
        ("", signal.SIGUSR1, "most recent call first"),
        ("", STACKS, "most recent call first"),
        (AN_AUTHOR_WHO_USES_SIGUSR1, signal.SIGUSR1, "mine"),
        (AN_AUTHOR_WHO_USES_SIGUSR1, STACKS, "most recent call first"),
    ],
)
def test_it_prints_its_stacks_when_asked_and_leaves_sigusr1_to_its_author(
    tmp_path: Path, its_own: str, number: int, said: str
) -> None:
    patient = "from crosstown_bot import client\nclient.CONNECT_LIMIT_S = 600"  # it is to wait for the signal
    program = f"import sys; sys.stdout = sys.stderr\n{patient}\n{its_own}\n{PROGRAM}"
    process = started_alone(tmp_path, program, CROSSTOWN_ADDRESS=f"unix:{tmp_path}/none.sock", CROSSTOWN_TOKEN="t")
    assert process.stderr is not None
    try:
        end_s = time.monotonic() + 20
        while not (catches(process.pid, signal.SIGUSR1) and catches(process.pid, STACKS)):
            assert time.monotonic() < end_s
            time.sleep(0.01)
        process.send_signal(number)
        assert said in process.stderr.readline()
        assert process.poll() is None
    finally:
        process.kill()
        process.communicate()


def catches(pid: int, number: int) -> bool:
    [line] = [line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("SigCgt")]
    return bool(int(line.split()[1], 16) >> (number - 1) & 1)


async def test_where_no_referee_listens_it_gives_up_after_its_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "CONNECT_LIMIT_S", 0.2)
    address = f"unix:{tmp_path}/none.sock"
    async with asyncio.timeout(10):
        said = await client._connect(Bot({}), address, "t")
    assert said.startswith(f"no answer from the referee at {address} within 0.2 s; ")


REFEREE = """
import asyncio, sys
from referee.wire import WireServer
from referee.wire.encode import WireLimits
async def main():
    async with WireServer() as server:
        expected = server.expect("t", WireLimits(1, 1, 1, 1))
        print(server.address, flush=True)
        await expected
        print("connected", flush=True)
        await asyncio.sleep(60)
asyncio.run(main())
"""

PYTHON = os.environ.get("CROSSTOWN_TEST_PYTHON", sys.executable)
"""What starts the bots: `test_sdk_versions` has environments with other versions of protobuf and gRPC."""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_without_its_referee_it_exits_at_once(tmp_path: Path, number: signal.Signals) -> None:
    referee = subprocess.Popen(
        [sys.executable, "-c", REFEREE], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    bot = None
    try:
        assert referee.stdout is not None
        address = referee.stdout.readline().strip()
        bot = started_alone(tmp_path, CROSSTOWN_ADDRESS=address, CROSSTOWN_TOKEN="t")
        assert referee.stdout.readline() == "connected\n"
        referee.send_signal(number)
        referee.wait(10)
        _, stderr = bot.communicate(timeout=10)
        assert bot.returncode == 1
        assert "the referee" in stderr
        assert "Traceback" not in stderr
    finally:
        for process in (referee, bot):
            if process is not None:
                process.kill()
                process.communicate()


def test_a_refused_handshake_is_explained(tmp_path: Path) -> None:
    referee = subprocess.Popen([sys.executable, "-c", REFEREE], stdout=subprocess.PIPE, text=True)
    try:
        assert referee.stdout is not None
        address = referee.stdout.readline().strip()
        bot = started_alone(tmp_path, CROSSTOWN_ADDRESS=address, CROSSTOWN_TOKEN="wrong")
        _, stderr = bot.communicate(timeout=20)
        assert bot.returncode == 1
        assert "unknown token" in stderr
        assert "Traceback" not in stderr
    finally:
        referee.kill()
        referee.communicate()
