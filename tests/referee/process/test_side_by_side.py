"""Two runs on one machine: cleaning up after one never touches what the other has started."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

from referee.process.bot import BotProcess
from referee.process.child_reaper import end_marked
from referee.process.limits import ProcessLimits

SAME_TOKEN = "the same token"
SLEEP = "import time; time.sleep(60)"


async def test_a_lost_guardian_ends_no_bot_of_another_run_whatever_its_token(
    mock_bot: Callable[..., Any], mark: Any, alive: Callable[[int], bool]
) -> None:
    """Its bot and all that had double-forked are ended; another run's bot, and a bot started by hand, live on."""
    first, second = [
        await BotProcess.start(mock_bot("slow"), address="a", token=SAME_TOKEN, limits=ProcessLimits(), env=mark.env)
        for _ in range(2)
    ]
    by_hand = await asyncio.create_subprocess_exec(
        sys.executable, "-c", SLEEP, env={**os.environ, "CROSSTOWN_TOKEN": SAME_TOKEN}
    )
    try:
        os.kill(first.guardian_pid, signal.SIGKILL)
        await first.wait_gone()
        assert not alive(first.pid)
        assert alive(second.pid)
        assert second.exited is None
        assert by_hand.returncode is None
    finally:
        by_hand.kill()
        await by_hand.wait()
        await second.stop(0)
    assert mark.alive() == []


@pytest.mark.parametrize("variables", [("A=1", "B=2"), ("B=2", "C=3"), ("A=1",)])
def test_only_what_has_all_the_variables_is_ended(variables: tuple[str, ...], mark: Any) -> None:
    unique = "X=" + mark.value
    own = {"X": mark.value, "B": "2", "C": "3"}
    process = subprocess.Popen([sys.executable, "-c", SLEEP], env={**os.environ, **own})
    try:
        has_all = set(variables) <= {f"{name}={value}" for name, value in own.items()}
        assert end_marked(unique, *variables) == has_all
        if has_all:
            process.wait(10)  # it ends a moment after the signal; its exit code may have gone to who ended it
        else:
            assert process.poll() is None
    finally:
        process.kill()
        process.wait()
