"""Exit codes and signals are told apart, with a sandbox around the bot and without."""

import os
import secrets
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from referee.process.bot import BotProcess, Exit
from referee.process.cgroup import find
from referee.process.entry import load_entry
from referee.process.guardian import Inside, exit_status, open_process
from referee.process.launch import LaunchContext
from referee.process.limits import ProcessLimits
from referee.process.sandbox import Sandbox

ENDS_WHEN_ASKED = """
import os, signal, time
def end(number, frame):
    {deed}
signal.signal(signal.SIGTERM, end)
print("ready", flush=True)
while True:
    time.sleep(0.05)  # pause() would miss a signal that comes just before it
"""
EXIT = "os._exit({number})"
KILL = "signal.signal({number}, signal.SIG_DFL); os.kill(os.getpid(), {number})"
CODES = (0, 1, 127, 128, 129, 137, 200, 255)
SIGNALS = (signal.SIGHUP, signal.SIGSEGV, signal.SIGTERM)


def the_kernel_tells() -> bool:
    """How a process ended that somebody else has reaped: from Linux 6.15 on."""
    pid = os.fork()
    if pid == 0:
        os._exit(137)
    file = open_process(pid)
    os.waitpid(pid, 0)
    if file is None:
        return False
    try:
        return exit_status(file) == 137 << 8
    finally:
        os.close(file)


async def end_of(deed: str, sandbox: Sandbox, write_bot: Callable[..., Path], until: Any) -> Exit:
    bot = await BotProcess.start(
        load_entry(write_bot({"bot.py": ENDS_WHEN_ASKED.format(deed=deed)})),
        address="unix:/nowhere",
        token=secrets.token_hex(8),
        limits=ProcessLimits(start_timeout_s=60),
        context=LaunchContext(sandbox, find()),
    )
    async with bot:
        await until(lambda: bot.output().stdout_text())
        return await bot.stop(60)


@pytest.mark.strict_sandbox
@pytest.mark.parametrize("sandbox", [Sandbox(), Sandbox("strict")], ids=["plain", "strict"])
@pytest.mark.parametrize("number", CODES)
async def test_an_exit_code_is_told_as_it_is(write_bot: Any, until: Any, sandbox: Sandbox, number: int) -> None:
    """Under a sandbox those that a shell would give for a signal need the kernel's word."""
    end = await end_of(EXIT.format(number=number), sandbox, write_bot, until)
    if sandbox.profile == "strict" and number in (129, 137) and not the_kernel_tells():
        assert (end.code, end.signal) == (None, number - 128)
    else:
        assert (end.code, end.signal) == (number, None)
    assert not end.guardian_lost


@pytest.mark.strict_sandbox
@pytest.mark.parametrize("sandbox", [Sandbox(), Sandbox("strict")], ids=["plain", "strict"])
@pytest.mark.parametrize("number", SIGNALS)
async def test_a_signal_is_told_as_it_is(write_bot: Any, until: Any, sandbox: Sandbox, number: int) -> None:
    end = await end_of(KILL.format(number=int(number)), sandbox, write_bot, until)
    assert (end.code, end.signal) == (None, number)
    assert not end.guardian_lost


@pytest.mark.strict_sandbox
@pytest.mark.parametrize("sandbox", [Sandbox(), Sandbox("strict")], ids=["plain", "strict"])
async def test_a_bot_that_kills_itself_is_told_as_killed(write_bot: Any, until: Any, sandbox: Sandbox) -> None:
    end = await end_of("os.kill(os.getpid(), signal.SIGKILL)", sandbox, write_bot, until)
    assert (end.code, end.signal) == (None, signal.SIGKILL)


@pytest.mark.parametrize(
    ("code", "status", "means"),
    [
        (0, None, 0),
        (128, None, 128),
        (129, None, -1),
        (137, None, -9),
        (139, None, -11),
        (200, None, 200),
        (255, None, 255),
        (137, 137 << 8, 137),
        (137, 9, -9),
        (139, 11 | 128, -11),  # with a core file
        (137, 3 << 8, -9),  # of another process
    ],
)
def test_what_bubblewrap_says_is_read_by_what_the_kernel_knows(
    monkeypatch: pytest.MonkeyPatch, code: int, status: int | None, means: int
) -> None:
    """And by a rule where it tells nothing: what can be a signal is one."""
    read_end, write_end = os.pipe()
    inside = Inside(read_end, write_end)
    inside.bot_file = read_end
    monkeypatch.setattr("referee.process.guardian.exit_status", lambda file: status)
    assert inside.how_it_ended(code) == means
    os.close(read_end)
    os.close(write_end)
