"""A bot decides how long sending to it takes: the kernel wakes what waits at its end in the thread that sends."""

import asyncio
import socket
import time
from collections.abc import Iterator
from contextlib import suppress
from itertools import count
from types import SimpleNamespace
from typing import Any

import pytest

from referee.wire import timed_socket
from referee.wire.budget import MOST_SLOW_CALL_NS, SLOW_CALL_NS, SLOW_CALLS_AT_ONCE_NS, SlowCalls, Traffic
from referee.wire.http2 import READ_BYTES, CallEnd, Connection
from referee.wire.listener import Bounds, Listener
from referee.wire.timed_socket import TimedSocket
from tests.chaos.bots.flooder import frames

MS = 1_000_000


@pytest.fixture
def took(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """What the next system calls of a socket take, in nanoseconds; nothing once it is empty."""
    calls: list[int] = []
    now_ns, asked = 0, count()

    def thread_time_ns() -> int:
        nonlocal now_ns
        now_ns += calls.pop(0) if next(asked) % 2 and calls else 0
        return now_ns

    monkeypatch.setattr(timed_socket, "time", SimpleNamespace(thread_time_ns=thread_time_ns))
    return calls


@pytest.fixture
def line() -> Iterator[tuple[TimedSocket, socket.socket]]:
    ours, theirs = socket.socketpair()
    timed = TimedSocket(ours.family, ours.type, ours.proto, fileno=ours.detach())
    yield timed, theirs
    timed.close()
    theirs.close()


def test_a_socket_counts_the_time_of_its_slow_calls(line: tuple[TimedSocket, socket.socket], took: list[int]) -> None:
    timed, theirs = line
    took += [SLOW_CALL_NS, 3 * MS, 5 * MS, 7 * MS]
    assert timed.send(b"one") == 3
    assert timed.slow_ns == 0
    assert timed.sendmsg([b"two"]) == 3
    theirs.send(b"three")
    assert timed.recv_into(bytearray(10)) == 5
    assert timed.slow_ns == 8 * MS
    timed.setblocking(False)
    with pytest.raises(BlockingIOError):
        timed.recv_into(bytearray(10))
    assert timed.slow_ns == 15 * MS


def test_slow_calls_have_a_budget_that_time_refills(monkeypatch: pytest.MonkeyPatch) -> None:
    now_ns = 0
    monkeypatch.setattr(time, "monotonic_ns", lambda: now_ns)
    budget = SlowCalls()
    times = SLOW_CALLS_AT_ONCE_NS // MOST_SLOW_CALL_NS
    assert all(budget.spend(100 * MOST_SLOW_CALL_NS) for _ in range(times)), "the machine may have stood still in each"
    assert not budget.spend(2 * MS)
    now_ns += 10**9
    assert budget.spend(2 * MS)


@pytest.mark.parametrize("milliseconds", [0, 30])
async def test_slow_calls_are_charged_to_the_bot_and_end_its_call(took: list[int], milliseconds: int) -> None:
    bound, calls = socket.socket(socket.AF_UNIX), list[Any]()
    bound.bind(f"\0crosstown-slow-{id(calls)}")

    async def play(call: Any) -> None:
        calls.append(call)
        took.extend([milliseconds * MS] * 200)
        call.admit(1 << 16)
        while await call.read() is not None:
            pass

    listener = Listener([bound], play, Bounds(4), one=True)
    listener.start()
    try:
        await ask_for_answers(bound.getsockname(), calls)
        call = calls[0]
        if milliseconds:
            async with asyncio.timeout(20):
                while call.ended is None:  # noqa: ASYNC110 - nobody tells
                    await asyncio.sleep(0.005)
            assert call.ended is CallEnd.FLOODED
            assert "too many threads or epolls wait for its connection" in call.failure
            assert call.traffic.spent_ns > milliseconds * MS
        else:
            assert call.ended is None
    finally:
        await listener.stop()


def test_what_was_sent_only_when_the_bot_had_made_room_is_charged_to_it() -> None:
    """The loop does that, and no message of the referee follows."""
    host: Any = SimpleNamespace(max_first_bytes=1, buffer=memoryview(bytearray(1)))
    line: Any = SimpleNamespace(slow_ns=0)
    connection = Connection(host, "", Traffic(), line)
    line.slow_ns = 5 * MS
    for _ in range(2):
        connection.get_buffer(-1)
        assert connection.traffic.spent_ns == 5 * MS


@pytest.mark.parametrize("slow", [True, False])
async def test_after_a_slow_call_little_is_read_at_once(monkeypatch: pytest.MonkeyPatch, slow: bool) -> None:
    """A reading wakes what waits at the other end once for each small write that it takes: hundreds of times."""
    bound, calls = socket.socket(socket.AF_UNIX), list[Any]()
    bound.bind(f"\0crosstown-little-{id(calls)}")
    receive, sizes = TimedSocket.recv_into, list[int]()

    def recv_into(line: TimedSocket, buffer: Any) -> int:
        size = receive(line, buffer)
        sizes.append(len(buffer))
        line.slow_ns += 2 * MS if slow and calls and 1 not in sizes else 0
        return size

    monkeypatch.setattr(TimedSocket, "recv_into", recv_into)

    async def play(call: Any) -> None:
        calls.append(call)
        call.admit(1 << 16)
        while await call.read() is not None:
            pass

    listener = Listener([bound], play, Bounds(4), one=True)
    listener.start()
    try:
        await ask_for_answers(bound.getsockname(), calls)
    finally:
        await listener.stop()
    if slow:
        first = sizes.index(1)
        assert sizes[first : first + 4] == [1, 4, 16, 64]
    else:
        assert set(sizes) == {READ_BYTES}


async def ask_for_answers(address: Any, calls: list[Any]) -> None:
    """A connection with a call, and ten pings, unless it is closed before."""
    loop = asyncio.get_running_loop()
    with socket.socket(socket.AF_UNIX) as client:
        client.setblocking(False)
        await loop.sock_connect(client, address)
        await loop.sock_sendall(client, frames.PREFACE + frames.frame(frames.SETTINGS) + frames.headers(1))
        async with asyncio.timeout(20):
            while not calls:  # noqa: ASYNC110 - nobody tells
                await asyncio.sleep(0.005)
        with suppress(ConnectionError):
            for _ in range(10):
                await loop.sock_sendall(client, frames.FLOODS["ping"])
                if not await loop.sock_recv(client, 1 << 16):
                    return
