"""No descendant of a bot outlives it, whatever it did to hide."""

import os
import signal
from collections.abc import Callable
from typing import Any

import pytest

from referee.process.entry import load_entry
from referee.process.limits import ProcessLimits
from referee.process.processes import children

Start = Any
Until = Any
Alive = Callable[[int], bool]


@pytest.mark.parametrize("scrub", [False, True])
@pytest.mark.parametrize("grace_s", [0, 0.1])
async def test_a_daemon_in_its_own_session_goes_with_the_bot(
    start: Start, until: Until, alive: Alive, mark: Any, scrub: bool, grace_s: float
) -> None:
    bot = await start("double_forking", scrub=scrub)
    await until(lambda: bot.output().stdout_text())
    daemon = int(bot.output().stdout_text())
    assert alive(daemon)
    await bot.stop(grace_s)
    assert not alive(daemon)
    assert mark.alive() == []


async def test_a_daemon_goes_when_its_bot_exits_by_itself(start: Start, alive: Alive, mark: Any) -> None:
    bot = await start("double_forking", stay=False)
    end = await bot.wait()
    assert end.code == 0
    await bot.wait_gone()
    assert not alive(int(bot.output().stdout_text()))
    assert mark.alive() == []


async def test_descendants_may_linger_for_as_long_as_the_limits_say(start: Start, mark: Any) -> None:
    bot = await start("double_forking", ProcessLimits(linger_s=60), stay=False, work_ms=200)
    await bot.wait()
    await bot.wait_gone()  # which is as soon as the last one is done
    assert bot.output().stdout_text().endswith("worked\n")
    assert mark.alive() == []


async def test_lingering_ends(start: Start, mark: Any) -> None:
    bot = await start("double_forking", ProcessLimits(linger_s=0.1), stay=False)
    await bot.wait()
    await bot.wait_gone()
    assert mark.alive() == []


@pytest.mark.slow
@pytest.mark.parametrize("sessions", [False, True])
async def test_one_that_forks_and_exits_for_ever_is_caught(
    start: Start, until: Until, mark: Any, sessions: bool
) -> None:
    bot = await start("hopping", sessions=sessions)
    await until(lambda: len(bot.output().stdout_text()) > 20)
    await bot.stop(0)
    assert mark.alive() == []
    assert not bot.exited.guardian_lost


@pytest.mark.parametrize("grace_s", [0, 0.1])
async def test_a_fork_bomb_is_cleaned_up(start: Start, until: Until, mark: Any, grace_s: float) -> None:
    bot = await start("forking", processes=50)
    await until(lambda: "all there" in bot.output().stdout_text())
    assert len(mark.alive()) > 50
    await bot.stop(grace_s)
    assert mark.alive() == []


async def test_a_fork_bomb_that_still_grows_is_cleaned_up(start: Start, until: Until, mark: Any) -> None:
    bot = await start("forking", processes=400)
    await until(lambda: len(mark.alive()) > 10)
    await bot.stop(0)
    assert mark.alive() == []


async def test_the_guardian_is_deaf_to_what_a_terminal_sends(start: Start, alive: Alive, until: Until) -> None:
    """Ctrl-C goes to the referee, which decides; a guardian in its own session does not even get it."""
    bot = await start("slow")
    assert os.getsid(bot.guardian_pid) == bot.guardian_pid
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGTSTP, signal.SIGUSR1):
        os.kill(bot.guardian_pid, number)
    await until(lambda: bot.output().stdout_text())
    assert alive(bot.guardian_pid)
    assert (await bot.stop(10)).code == 0


async def test_orphans_that_end_while_the_bot_lives_leave_no_zombies(
    start: Start, write_bot: Any, until: Until
) -> None:
    source = (
        "import os, time\n"
        "for _ in range(20):\n"
        "    if os.fork() == 0:\n"
        "        if os.fork() == 0:\n"
        "            time.sleep(0.05)\n"
        "        os._exit(0)\n"
        "    os.wait()\n"
        "print('done')\n"
        "time.sleep(60)\n"
    )
    bot = await start(load_entry(write_bot({"bot.py": source})))
    await until(lambda: "done" in bot.output().stdout_text())
    await until(lambda: children(bot.guardian_pid) == [bot.pid])
