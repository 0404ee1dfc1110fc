"""The guardian is cheap, and a lost or stuck one is noticed."""

import asyncio
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from referee.process import processes
from referee.process.bot import BotProcess
from referee.process.entry import load_entry
from referee.process.limits import ProcessLimits
from tests.living import is_alive

Start = Any


def status(pid: int, field: str) -> int:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return int(dict(line.split(":", 1) for line in lines)[field].split()[0])


def open_as(pid: int, file: int) -> Path:
    return Path(f"/proc/{pid}/fd/{file}").readlink()


async def test_it_is_small(start: Start) -> None:
    bot = await start("slow")
    assert status(bot.guardian_pid, "VmRSS") < 12_000
    assert status(bot.guardian_pid, "Threads") == 1


async def test_it_starts_fast(start: Start) -> None:
    """From the call to the bot's exec, against a bare interpreter in the same run: the machine may be busy."""
    starts_us, bare_us = [], []
    for _ in range(8):
        began_ns = time.monotonic_ns()
        await (await asyncio.create_subprocess_exec(sys.executable, "-I", "-S", "-c", "")).wait()
        bare_us.append((time.monotonic_ns() - began_ns) // 1000)
        bot = await start("slow")
        starts_us.append(bot.start_us)
        await bot.stop(0)
    assert min(starts_us) < 5 * min(bare_us)


async def test_it_keeps_no_copy_of_the_bots_streams(start: Start) -> None:
    bot = await start("slow")
    for file in (1, 2):
        assert open_as(bot.guardian_pid, file) == Path("/dev/null")


async def test_a_killed_guardian_takes_the_bot_with_it(start: Start, mark: Any) -> None:
    bot = await start("slow", stubborn=True)
    os.kill(bot.guardian_pid, signal.SIGKILL)
    end = await bot.wait()
    assert (end.code, end.signal, end.guardian_lost) == (None, signal.SIGKILL, True)
    await bot.wait_gone()
    assert mark.alive() == []
    assert await bot.stop(1) == end


@pytest.mark.parametrize("stop_first", [False, True])
async def test_a_guardian_that_does_not_answer_is_given_up_in_time(start: Start, mark: Any, stop_first: bool) -> None:
    bot = await start("double_forking", ProcessLimits(kill_timeout_s=0.2))
    os.kill(bot.guardian_pid, signal.SIGSTOP)
    end = await bot.stop(0.05 if stop_first else 0)
    assert end.guardian_lost
    await bot.wait_gone()
    assert mark.alive() == []


UNDYING = """
import ctypes, sys, threading
libc = ctypes.CDLL(None)
libc.mmap.restype, libc.mmap.argtypes = ctypes.c_void_p, (ctypes.c_void_p, *[ctypes.c_size_t] * 5)
libc.madvise.argtypes = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int
PRIVATE_ANONYMOUS_NORESERVE, TABLE, SIZE, NO_FILE = 0x4022, 2 << 20, 16 << 30, ctypes.c_size_t(-1).value
tables = libc.mmap(None, SIZE, 1, PRIVATE_ANONYMOUS_NORESERVE, NO_FILE, 0)
for at in range(0, SIZE, TABLE):
    ctypes.string_at(tables + at, 1)
begin = threading.Event()
def look():
    begin.wait()
    while True:
        libc.madvise(tables, SIZE, 3)
for _ in range(int(sys.argv[1])):
    threading.Thread(target=look).start()
print("ready", flush=True)
begin.set()
threading.Event().wait()
"""
"""Each of its threads is in a system call that looks at all the memory, and hears of no signal until it is over."""


@pytest.mark.parametrize("threads", [50 * min(8, os.cpu_count() or 1), 0], ids=["long calls", "none"])
async def test_a_guardian_that_answers_goes_on_until_the_last_system_call_is_over(
    tmp_path: Path, mark: Any, threads: int
) -> None:
    (tmp_path / "bot.py").write_text(UNDYING)
    (tmp_path / "bot.toml").write_text(
        f'name = "undying"\nversion = "1"\ngames = ["*"]\nrun = ["{{python}}", "bot.py", "{threads}"]\n'
    )
    limits = ProcessLimits(kill_timeout_s=0.2)
    bot = await BotProcess.start(load_entry(tmp_path), address="", token="", limits=limits, env=mark.env)
    while b"ready" not in bot.output().stdout_head:  # noqa: ASYNC110
        await asyncio.sleep(0.01)
    used_ns = bot.cpu_ns() or 0
    while threads and (bot.cpu_ns() or 0) < used_ns + 500_000_000:  # noqa: ASYNC110 - its threads are in their calls
        await asyncio.sleep(0.01)
    guardian = bot.guardian_pid
    end = await bot.stop(0)
    assert (end.signal, end.guardian_lost) == (signal.SIGKILL, False)
    if threads:
        assert not bot.is_gone
        assert is_alive(guardian)
    await bot.wait_gone()
    assert mark.alive() == []


def test_all_are_stopped_before_any_is_killed_and_looked_for_until_none_is_new(monkeypatch: pytest.MonkeyPatch) -> None:
    """A bomb that grew between two looks: what is stopped cannot fork."""
    sent: list[tuple[int, int]] = []
    looks = iter([{11, 12}, {11, 12, 13}, {11, 12, 13, -14}, {11, 12, 13, -14}])
    monkeypatch.setattr(processes, "send", lambda target, number: sent.append((target, number)))
    assert processes.stop_then_kill(lambda: next(looks)) == {11, 12, 13, -14}
    stops, kills = sent[:4], sent[4:]
    assert {target for target, _ in stops} == {target for target, _ in kills} == {11, 12, 13, -14}
    assert {number for _, number in stops} == {signal.SIGSTOP}
    assert {number for _, number in kills} == {signal.SIGKILL}


def test_a_group_is_stopped_before_its_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    """A child that is just being forked hears of a signal to the group only if its parent has none pending yet."""
    sent: list[int] = []
    monkeypatch.setattr(processes, "send", lambda target, number: sent.append(target))
    looks = iter([{11, -14, 15, -21}, {11, -14, 15, -21}])
    processes.stop_then_kill(lambda: next(looks))
    assert sent[:2] == [-21, -14]


def test_a_group_is_signalled_only_when_it_cannot_be_ours_or_a_strangers() -> None:
    mine = os.getsid(0)
    seen = {21: (1, 20, 20), 22: (1, 20, 20), 23: (1, 5, mine), 24: (1, 0, 0)}
    assert processes.targets([21, 22, 23, 24], seen) == {21, 22, 23, 24, -20}
