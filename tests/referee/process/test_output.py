"""What is kept of a stream: its head, its tail, and the count of what lay between."""

import os
import threading
import time
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.process import output as module
from referee.process.output import Capture, Drain, Output, SlowReads


@given(st.lists(st.binary(max_size=40), max_size=30), st.integers(0, 33))
def test_head_and_tail_are_those_of_the_stream_however_it_was_cut(chunks: list[bytes], max_bytes: int) -> None:
    capture = Capture(max_bytes)
    for chunk in chunks:
        capture.feed(chunk)
    stream = b"".join(chunks)
    room = max_bytes - max_bytes // 2
    rest = stream[room:]
    tail = rest[max(0, len(rest) - max_bytes // 2) :]
    assert capture.head == stream[:room]
    assert capture.tail == tail
    assert capture.dropped_bytes == len(stream) - len(stream[:room]) - len(tail)
    assert capture.total_bytes == len(stream)


@pytest.mark.parametrize("size", [1, 7, 10, 11, 100])
def test_what_fits_is_whole(size: int) -> None:
    capture = Capture(100)
    text = bytes(range(size))
    capture.feed(text)
    assert capture.head + capture.tail == text
    assert capture.dropped_bytes == 0


def test_the_text_for_people_marks_the_gap_and_escapes_what_is_no_text() -> None:
    output = Output(stdout_head=b"one\xff", stdout_tail=b"two", stdout_dropped=5, stderr_head="Zoë".encode())
    assert output.stdout_text() == "one\\xff\n[... 5 bytes dropped ...]\ntwo"
    assert output.stderr_text() == "Zoë"


def test_a_character_cut_between_head_and_tail_is_joined() -> None:
    capture = Capture(4)
    capture.feed("aëb".encode())
    assert Output(stdout_head=capture.head, stdout_tail=capture.tail).stdout_text() == "aëb"


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    ours, theirs = os.pipe()
    yield ours, theirs  # a drain closes the first
    os.close(theirs)


def until_read(kept: Capture, total_bytes: int) -> None:
    end_s = time.monotonic() + 20
    while kept.total_bytes < total_bytes and time.monotonic() < end_s:
        time.sleep(0.001)
    assert kept.total_bytes == total_bytes


@pytest.mark.parametrize("slow", [True, False])
def test_after_a_slow_read_the_bot_waits(pipe: tuple[int, int], monkeypatch: pytest.MonkeyPatch, slow: bool) -> None:
    """Its processes can have a hundred thousand epolls watch their end, which the kernel calls back in our thread."""
    monkeypatch.setattr(module, "SLOW_READ_S", -1 if slow else 3600)
    monkeypatch.setattr(module, "_SLOW_READ_SHARE", 1e12)
    monkeypatch.setattr(module, "_MOST_SLOW_PAUSE_S", 3600)
    monkeypatch.setattr(module, "WINDOW_READS", 1 << 60)
    ours, theirs = pipe
    kept = Capture(1 << 20)
    drain = Drain({ours: kept})
    for number in range(1, 4):
        os.write(theirs, b"x")
        until_read(kept, 1 if slow else number)
    time.sleep(0.05 if slow else 0)
    assert kept.total_bytes == (1 if slow else 3)
    drain.take_what_is_there()
    assert kept.total_bytes == 3
    drain.close()


def test_a_bot_waits_longer_after_each_slow_read_until_these_are_forgotten() -> None:
    """A bot that lives for days waited longer and longer, however rare its slow reads were."""
    reads, now_s = SlowReads(), 1e6
    assert [reads.pause_s(1.0, now_s) for _ in range(4)] == [0.5, 1.0, 1.5, 2.0]
    assert reads.pause_s(1.0, now_s + 120) == 1.5
    assert reads.pause_s(0.002, now_s + 3600) == pytest.approx(0.04)


def test_a_read_that_does_not_end_holds_nobody_up(pipe: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    """A read from a pipe waits while the kernel fetches what a program writes to it, however long that takes."""
    ours, theirs = pipe
    fetched, read = threading.Event(), os.read

    def slow_read(file: int, size: int) -> bytes:
        if file == ours:
            fetched.wait(60)
        return read(file, size)

    monkeypatch.setattr(os, "read", slow_read)
    monkeypatch.setattr(module, "PATIENCE_S", 0.05)
    kept = Capture(1 << 20)
    drain = Drain({ours: kept})
    os.write(theirs, b"x")
    for _ in range(100):
        drain.take_what_is_there()
    drain.close()
    assert not fetched.is_set()
    assert kept.total_bytes == 0
    fetched.set()
    until_read(kept, 1)


def test_the_thread_of_a_drain_ends_with_the_last_stream() -> None:
    ours, theirs = os.pipe()
    drain = Drain({ours: Capture(1)})
    os.close(theirs)
    drain._thread.join(20)
    assert not drain._thread.is_alive()
    drain.take_what_is_there()
    drain.close()
