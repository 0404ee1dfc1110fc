"""A bot that prints without end neither blocks nor hurts anybody."""

import asyncio
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from referee.process import output
from referee.process.entry import load_entry
from referee.process.limits import ProcessLimits

Start = Any
PAGE_BYTES = 4096


def memory_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * PAGE_BYTES


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
async def test_a_flood_is_drained_with_head_tail_and_count_and_little_memory(start: Start, stream: str) -> None:
    before = memory_bytes()
    bot = await start("flooding", ProcessLimits(max_output_bytes=1000), stream=stream, megabytes=200)
    assert (await bot.wait()).code == 0
    output = bot.output()
    kept = {"stdout": (output.stdout_head, output.stdout_tail, output.stdout_dropped)}
    kept["stderr"] = (output.stderr_head, output.stderr_tail, output.stderr_dropped)
    head, tail, dropped = kept.pop(stream)
    assert (len(head), len(tail)) == (500, 500)
    assert head.startswith(b"first line\nxxx")
    assert tail.endswith(b"xxx\nlast line\n")
    assert len(head) + len(tail) + dropped == 200_000_000 + len(b"first line\nlast line\n")
    assert list(kept.values()) == [(b"", b"", 0)]
    assert memory_bytes() - before < 16 << 20


async def test_the_loop_stays_usable_beside_two_floods(start: Start) -> None:
    """The share of the loop's thread is what counts: wall time on a busy machine says little."""
    began_s, cpu_s = time.monotonic(), time.thread_time()
    floods = [await start("flooding", megabytes=10_000) for _ in range(2)]
    lags_s = []
    while time.monotonic() - began_s < 1.5:
        asked_s = time.monotonic()
        await asyncio.sleep(0.001)
        lags_s.append(time.monotonic() - asked_s - 0.001)
    share = (time.thread_time() - cpu_s) / (time.monotonic() - began_s)
    printed = sum(bot.output().stderr_dropped for bot in floods)
    assert printed > 50_000_000
    assert sorted(lags_s)[len(lags_s) // 2] < 0.02
    assert share < 0.7


async def test_what_a_bot_prints_in_a_window_is_limited(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    """The referee's memory and time are not the bot's to spend: a flood waits for its own output."""
    monkeypatch.setattr(output, "WINDOW_READS", 1)
    monkeypatch.setattr(output, "WINDOW_S", 3600)
    bot = await start("flooding", ProcessLimits(max_output_bytes=1000))
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(bot.wait(), 0.5)
    assert bot.output().stderr_dropped <= 2 * 65536  # what was read in the window, and what the pipe holds


async def test_what_is_asked_for_has_what_was_printed_before_though_the_window_is_spent(
    start: Start, write_bot: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(output, "WINDOW_S", 3600)
    over = tmp_path / "over"
    source = "import pathlib, time\nfor number in range(50):\n    print(number, flush=True)\n    time.sleep(0.005)\n"
    end = f"pathlib.Path({str(over)!r}).touch()\ntime.sleep(600)\n"
    bot = await start(load_entry(write_bot({"bot.py": source + end})))
    async with asyncio.timeout(30):
        while not over.exists():  # noqa: ASYNC110 - the other process makes it
            await asyncio.sleep(0.01)
    assert bot.output().stdout_text().split() == [str(number) for number in range(50)]


async def test_the_last_words_are_read_even_when_the_window_is_spent(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(output, "WINDOW_READS", 1)
    monkeypatch.setattr(output, "WINDOW_S", 3600)
    bot = await start("crashing")
    await bot.wait()
    assert bot.output().stdout_text() == "last words\n"
    assert bot.output().stderr_text() == "Traceback: something broke\n"


async def test_one_that_prints_slower_than_100_megabytes_a_second_is_never_held_up(start: Start) -> None:
    bot = await start("flooding", megabytes=5)
    began_s = time.monotonic()
    assert (await bot.wait()).code == 0
    assert time.monotonic() - began_s < 5


async def test_no_output_is_kept_where_none_is_wanted(start: Start) -> None:
    bot = await start("crashing", ProcessLimits(max_output_bytes=0))
    await bot.wait()
    output = bot.output()
    assert output.stdout_head == output.stdout_tail == b""
    assert output.stdout_dropped == len("last words\n")


async def test_each_read_of_what_a_bot_prints_counts_however_little_it_gets(monkeypatch: pytest.MonkeyPatch) -> None:
    """Through a pipe with O_DIRECT each byte that is written is a read of its own."""
    monkeypatch.setattr(output, "WINDOW_S", 3600)
    read_end, write_end = os.pipe2(os.O_DIRECT)
    capture = output.Capture(1000)
    drain = output.Drain({read_end: capture})
    try:
        for _ in range(16):  # as many as the pipe has room for
            os.write(write_end, b"x")
        async with asyncio.timeout(20):
            while not capture.total_bytes:  # noqa: ASYNC110 - a thread reads
                await asyncio.sleep(0.001)
        await asyncio.sleep(0.05)
        assert 0 < capture.total_bytes <= output.WINDOW_READS
    finally:
        drain.close()
        os.close(write_end)
