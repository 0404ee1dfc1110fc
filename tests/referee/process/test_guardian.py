"""The guardian is cheap, and a lost or stuck one is noticed."""

import asyncio
import ctypes
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from referee.process import processes
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
    for number in range(40):  # with other work on all cores, few of them are undisturbed
        if number >= 8 and min(starts_us) < 5 * min(bare_us):
            break
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


async def test_a_guardian_that_answers_goes_on_until_the_last_process_has_ended(start: Start, mark: Any) -> None:
    """As where the kernel takes long to end one: nobody hears of the end of a process before its tracer has."""
    bot = await start("slow", ProcessLimits(kill_timeout_s=2.0))
    libc = ctypes.CDLL(None, use_errno=True)
    assert libc.ptrace(PTRACE_SEIZE, bot.pid, None, None) == 0, os.strerror(ctypes.get_errno())
    end = await bot.stop(0)
    assert (end.signal, end.guardian_lost) == (signal.SIGKILL, False)
    assert not bot.is_gone
    assert is_alive(bot.guardian_pid)
    os.waitpid(bot.pid, 0)  # noqa: ASYNC222 - it was killed
    await bot.wait_gone()
    assert mark.alive() == []


PTRACE_SEIZE = 0x4206


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
