"""When the referee dies, however it does, nothing of its bots lives five seconds later."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[3]
STAND_IN = Path(__file__).with_name("stand_in_referee.py")
DEAD_WITHIN_S = 5.0
ALL = ("slow", "double_forking", "forking", "frozen")


class Referee:
    """The stand-in as a process of its own, in its own process group."""

    def __init__(self, mark: Any, words: tuple[str, ...]) -> None:
        self.process = subprocess.Popen(
            [sys.executable, str(STAND_IN), mark.value, *words],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
            text=True,
        )
        self.told = self.read()

    def read(self) -> Any:
        assert self.process.stdout is not None
        return json.loads(self.process.stdout.readline())

    def ask(self, word: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(word + "\n")
        self.process.stdin.flush()

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                pipe.close()


@pytest.fixture
def referee(mark: Any) -> Iterator[Callable[..., Referee]]:
    started: list[Referee] = []

    def begin(*words: str) -> Referee:
        started.append(Referee(mark, words))
        return started[-1]

    yield begin
    for one in started:
        one.close()


def home_of(pid: int) -> Path:
    environment = Path(f"/proc/{pid}/environ").read_bytes().decode().split("\0")
    return Path(next(line for line in environment if line.startswith("HOME=")).removeprefix("HOME="))


def kill_9(one: Referee) -> None:
    one.process.kill()


def ctrl_c(one: Referee) -> None:
    os.killpg(one.process.pid, signal.SIGINT)


def terminate(one: Referee) -> None:
    one.process.terminate()


def hang_up(one: Referee) -> None:
    os.killpg(one.process.pid, signal.SIGHUP)


@pytest.mark.slow
@pytest.mark.parametrize("death", [kill_9, ctrl_c, terminate, hang_up])
async def test_no_descendant_outlives_the_referee(
    referee: Any, mark: Any, until: Any, death: Callable[[Referee], None]
) -> None:
    one = referee(*ALL)
    assert len(mark.alive()) > len(ALL) * 2
    death(one)
    one.process.stdin.close()  # a stand-in that survives its signal ends here, as an idle runner would
    await until(lambda: one.process.poll() is not None, DEAD_WITHIN_S)
    await until(lambda: mark.alive() == [], DEAD_WITHIN_S)


async def test_a_daemon_without_any_environment_does_not_outlive_the_referee(
    referee: Any, mark: Any, alive: Callable[[int], bool], until: Any
) -> None:
    one = referee("scrub", "double_forking")
    daemon = int(one.told["said"][0])
    assert alive(daemon)
    kill_9(one)
    await until(lambda: not alive(daemon), DEAD_WITHIN_S)
    await until(lambda: mark.alive() == [], DEAD_WITHIN_S)


async def test_a_forked_copy_of_the_referee_keeps_no_bot_alive(referee: Any, mark: Any, until: Any) -> None:
    """The copy holds the guardians' sockets open, so their end alone would never come."""
    one = referee("fork", "slow", "double_forking")
    try:
        kill_9(one)
        await until(lambda: mark.alive() == [], DEAD_WITHIN_S)
        os.kill(one.told["copy"], 0)
    finally:
        os.kill(one.told["copy"], signal.SIGKILL)


async def test_the_private_folders_go_too(referee: Any, mark: Any, until: Any) -> None:
    one = referee("slow")
    guardian = one.told["guardians"][0]
    home = home_of(guardian)
    await until(home.is_dir)
    kill_9(one)
    await until(lambda: mark.alive() == [] and not home.exists(), DEAD_WITHIN_S)


async def test_a_killed_guardian_is_reported_and_takes_bot_and_daemons_with_it(
    referee: Any, mark: Any, until: Any
) -> None:
    """No subreaper above: the daemon, child of init by now, is found by its token."""
    one = referee("slow", "double_forking", "forking")
    one.ask("guardian-kill")
    one.ask("wait")
    assert one.read() == [[None, signal.SIGKILL, True]] * 3
    assert mark.alive() == []


async def test_a_bot_dies_with_its_guardian_though_the_referee_does_nothing(
    referee: Any, alive: Callable[[int], bool], until: Any
) -> None:
    one = referee("slow")
    os.kill(one.process.pid, signal.SIGSTOP)
    os.kill(one.told["guardians"][0], signal.SIGKILL)
    await until(lambda: not alive(one.told["bots"][0]), DEAD_WITHIN_S)


async def test_what_hid_its_environment_is_swept_by_the_subreaper_above(
    referee: Any, alive: Callable[[int], bool], until: Any
) -> None:
    one = referee("subreaper", "scrub", "double_forking")
    daemon = int(one.told["said"][0])
    one.ask("guardian-kill")
    one.ask("wait")
    assert one.read() == [[None, signal.SIGKILL, True]]
    assert alive(daemon)
    one.ask("sweep")
    assert one.read() in (1, 2)  # the bot itself is a zombie by then, or reaped already
    assert not alive(daemon)


async def test_a_sweep_spares_what_it_is_told_to(referee: Any, mark: Any) -> None:
    one = referee("subreaper", "slow", "double_forking")
    before = mark.alive()
    one.ask("sweep")
    assert one.read() == 0
    assert mark.alive() == before
