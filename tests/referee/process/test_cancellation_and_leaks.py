"""Cancelled at any point, or repeated for days: no process, file or folder stays."""

import asyncio
import gc
import os
import resource
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from referee.process.bot import BotProcess, StartError
from referee.process.entry import Entry, load_entry
from referee.process.limits import ProcessLimits
from referee.process.meter import Meter
from referee.process.processes import children
from tests.living import open_files

Start = Any


@pytest.fixture
def scratch_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the private folders of bots are made."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "scratch"))
    (tmp_path / "scratch").mkdir()
    return tmp_path / "scratch"


@pytest.fixture
def sleeper(write_bot: Callable[..., Path]) -> Entry:
    """A bot that costs next to nothing to start."""
    return load_entry(write_bot(run=["sleep", "600"]))


async def launch(entry: Entry, mark: Any) -> BotProcess:
    return await BotProcess.start(entry, address="a", token="t", limits=ProcessLimits(), env=mark.env)


async def start_and_cancel(entry: Entry, mark: Any, after_s: float) -> None:
    task = asyncio.create_task(launch(entry, mark))
    await asyncio.sleep(after_s)
    if task.done():
        await task.result().stop(0)
    else:
        task.cancel()
        await asyncio.wait([task])
        assert task.cancelled()


@pytest.mark.slow
@pytest.mark.parametrize("after_s", [0, 0.001, 0.004, 0.008, 0.012, 0.02])
async def test_a_cancelled_start_leaves_nothing(sleeper: Entry, mark: Any, scratch_root: Path, after_s: float) -> None:
    complaints: list[Any] = []
    asyncio.get_running_loop().set_exception_handler(lambda loop, context: complaints.append(context))
    before = open_files()
    await start_and_cancel(sleeper, mark, after_s)
    assert mark.alive() == []
    assert open_files() <= before
    assert is_empty(scratch_root)
    gc.collect()
    assert complaints == []


@pytest.mark.parametrize("spare", range(16))
async def test_a_start_for_which_files_are_short_leaves_nothing(
    sleeper: Entry, mark: Any, scratch_root: Path, spare: int
) -> None:
    """Wherever on the way it happens."""
    before = open_files()
    lowest, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (before + spare, most))
    try:
        outcome: BotProcess | BaseException = (await asyncio.gather(launch(sleeper, mark), return_exceptions=True))[0]
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (lowest, most))
    if isinstance(outcome, BotProcess):
        await outcome.stop(0)
    else:
        assert isinstance(outcome, StartError)
        assert outcome.ours
        assert "Too many open files" in str(outcome)
    assert open_files() <= before
    assert is_empty(scratch_root)
    assert mark.alive() == []


async def test_a_start_for_which_files_are_short_once_its_guardian_runs_leaves_nothing(
    sleeper: Entry,
    mark: Any,
    until: Any,
    scratch_root: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    guardians = []

    def refuse(guardian_pid: int, *_words: object) -> None:
        guardians.append(guardian_pid)
        raise OSError(24, "Too many open files")

    monkeypatch.setattr("referee.process.bot.Meter", refuse)
    before = open_files()
    with pytest.raises(StartError, match="Too many open files") as raised:
        await launch(sleeper, mark)
    assert raised.value.ours
    assert open_files() <= before
    assert not {*guardians} & {*children(os.getpid())}  # a process of its own may come to us: tests make us a subreaper
    assert is_empty(scratch_root)
    await until(lambda: mark.alive() == [])


async def test_a_start_without_a_thread_for_its_output_leaves_nothing(
    sleeper: Entry, mark: Any, until: Any, scratch_root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed = []

    class WatchedMeter(Meter):
        """With a control group it has files open from its start."""

        def close(self) -> None:
            closed.append(self)
            super().close()

    def refuse(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr("referee.process.bot.Meter", WatchedMeter)
    monkeypatch.setattr(threading.Thread, "start", refuse)
    before = open_files()
    with pytest.raises(StartError, match="no thread to read its output"):
        await launch(sleeper, mark)
    assert len(closed) == 1
    assert open_files() <= before
    assert is_empty(scratch_root)
    await until(lambda: mark.alive() == [])


async def test_a_cancelled_stop_kills_at_once(start: Start, until: Any, mark: Any) -> None:
    bot = await start("slow", stubborn=True)
    await until(lambda: bot.output().stdout_text())
    task = asyncio.create_task(bot.stop(600))
    await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await bot.wait_gone()
    assert mark.alive() == []


async def test_a_cancelled_wait_changes_nothing(start: Start) -> None:
    bot = await start("slow")
    for wait in (bot.wait, bot.wait_gone):
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(wait(), 0.001)
    assert bot.exited is None
    assert (await bot.stop(0)).signal is not None


async def test_leaving_the_block_ends_the_bot(sleeper: Entry, mark: Any) -> None:
    with pytest.raises(KeyError):
        async with await launch(sleeper, mark):
            raise KeyError
    assert mark.alive() == []


async def test_kill_alone_is_enough(sleeper: Entry, mark: Any) -> None:
    """What is left to do is done by the loop."""
    bot = await launch(sleeper, mark)
    bot.kill()
    await bot.wait_gone()
    assert mark.alive() == []


def is_empty(folder: Path) -> bool:
    return list(folder.iterdir()) == []


async def cycles(entry: Entry, mark: Any, count: int, at_once: int) -> None:
    async def worker(share: int) -> None:
        for number in range(share):
            bot = await launch(entry, mark)
            if number % 3 == 0:
                bot.kill()
                await bot.wait_gone()
            else:
                await bot.stop(0.5 if number % 3 == 1 else 0)

    await asyncio.gather(*(worker(count // at_once) for _ in range(at_once)))


@pytest.mark.slow
@pytest.mark.parametrize("count", [200, pytest.param(10_000, marks=pytest.mark.long)])
async def test_files_and_processes_stay_flat_over_many_bots(
    sleeper: Entry, mark: Any, scratch_root: Path, count: int
) -> None:
    await cycles(sleeper, mark, 4, 4)
    files = open_files()
    before = children(os.getpid())
    await cycles(sleeper, mark, count, 4)
    assert open_files() <= files
    assert set(children(os.getpid())) <= set(before)
    assert is_empty(scratch_root)
    assert mark.alive() == []
