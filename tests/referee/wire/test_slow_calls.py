"""A bot decides how long sending to it takes: the kernel wakes what waits at its end in the thread that sends."""

import asyncio
import socket
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from itertools import count
from types import SimpleNamespace
from typing import Any

import pytest

from referee.wire import http2, timed_socket
from referee.wire.budget import MOST_SLOW_CALL_NS, SLOW_CALL_NS, SlowCalls, Traffic
from referee.wire.http2 import _SERVER_SETTINGS, READ_BYTES, CallEnd, Connection
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
    assert budget.spend(100 * MOST_SLOW_CALL_NS), "the machine may have stood still in it"
    assert not budget.spend(100 * MOST_SLOW_CALL_NS), "hardly in a second one"
    now_ns += 2 * 10**9
    assert not budget.spend(2 * MS)
    now_ns += 10**9
    assert budget.spend(2 * MS)


@asynccontextmanager
async def listening(
    begun: Callable[[], object] = lambda: None, given_up: Callable[[str], None] = lambda _: None
) -> AsyncIterator[tuple[Any, list[Any]]]:
    """A listener for one bot: its address, and the calls that have begun, each with a call of `begun`."""
    bound, calls = socket.socket(socket.AF_UNIX), list[Any]()
    bound.bind(f"\0crosstown-slow-{id(calls)}")

    async def play(call: Any) -> None:
        calls.append(call)
        begun()
        call.admit(1 << 16)
        while await call.read() is not None:
            pass

    listener = Listener([bound], play, Bounds(4), one=True, on_give_up=given_up)
    listener.start()
    try:
        yield bound.getsockname(), calls
    finally:
        await listener.stop()


@pytest.mark.parametrize("milliseconds", [0, 30])
async def test_slow_calls_end_the_call_of_the_bot(took: list[int], milliseconds: int) -> None:
    async with listening(lambda: took.extend([milliseconds * MS] * 200)) as (address, calls):
        await ask_for_answers(address, calls)
        call = calls[0]
        if milliseconds:
            async with asyncio.timeout(20):
                while call.ended is None:  # noqa: ASYNC110 - nobody tells
                    await asyncio.sleep(0.005)
            assert call.ended is CallEnd.FLOODED
            assert "too many threads or epolls wait for its connection" in call.failure
        else:
            assert call.ended is None


def test_a_slow_answer_to_what_is_read_is_charged_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """It was counted as a slow call, and once more with the reading. One at another time is charged as a slow call."""
    monkeypatch.setattr(http2, "charged_ns", lambda *_: 5 * MS)
    host: Any = SimpleNamespace(max_first_bytes=1, buffer=memoryview(bytearray(1 << 16)))
    host.connection_made = host.connection_known = lambda _: None
    line: Any = SimpleNamespace(slow_ns=0)

    def write(data: bytes) -> None:
        line.slow_ns += 5 * MS

    transport: Any = SimpleNamespace(write=write, get_write_buffer_size=lambda: 0, is_closing=lambda: False)
    connection = Connection(host, "", Traffic(), line)
    connection.connection_made(transport)
    connection.admit(1 << 16)
    line.slow_ns = 0
    said = frames.PREFACE + frames.FLOODS["ping"]
    connection.get_buffer(-1)[: len(said)] = said
    connection.buffer_updated(len(said))
    assert line.slow_ns
    assert connection.traffic.spent_ns == 5 * MS
    connection.ping()
    assert connection.traffic.spent_ns == 10 * MS


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
    receive, sizes, begun = TimedSocket.recv_into, list[int](), list[bool]()

    def recv_into(line: TimedSocket, buffer: Any) -> int:
        size = receive(line, buffer)
        sizes.append(len(buffer))
        line.slow_ns += 2 * MS if slow and begun and 1 not in sizes else 0
        return size

    monkeypatch.setattr(TimedSocket, "recv_into", recv_into)
    async with listening(lambda: begun.append(True)) as (address, calls):
        await ask_for_answers(address, calls)
    if slow:
        first = sizes.index(1)
        assert sizes[first : first + 4] == [1, 4, 16, 64]
    else:
        assert set(sizes) == {READ_BYTES}


@pytest.mark.parametrize(("milliseconds", "answers"), [(0, 100), (30, 3)])
async def test_pings_of_one_reading_are_answered_only_while_slow_calls_may_go_on(
    took: list[int], monkeypatch: pytest.MonkeyPatch, milliseconds: int, answers: int
) -> None:
    """Each answer is a system call of its own."""
    send, sent = TimedSocket.send, list[bytes]()
    monkeypatch.setattr(TimedSocket, "send", lambda line, data: sent.append(bytes(data)) or send(line, data))
    async with listening(lambda: took.extend([milliseconds * MS] * 200)) as (address, calls):
        with await begun_call(address, calls) as client:
            await asyncio.get_running_loop().sock_sendall(client, frames.FLOODS["ping"] * 100)
            async with asyncio.timeout(20):
                while calls[0].ended is None and len(sent) < 100:  # noqa: ASYNC110 - nobody tells
                    await asyncio.sleep(0.005)
    assert sum(data[3] == frames.PING for data in sent) == answers


@pytest.mark.parametrize("milliseconds", [0, 30])
async def test_connections_before_hello_pay_for_slow_calls_together(took: list[int], milliseconds: int) -> None:
    """A process may make 64 of them."""
    reasons, loop = list[str](), asyncio.get_running_loop()
    took.extend([milliseconds * MS] * 200)
    async with listening(given_up=reasons.append) as (address, _):
        for _ in range(3):
            with socket.socket(socket.AF_UNIX) as client, suppress(ConnectionError):
                client.setblocking(False)
                await loop.sock_connect(client, address)
                await loop.sock_sendall(client, frames.PREFACE + frames.FLOODS["ping"] * 9)
                missing = len(_SERVER_SETTINGS) + 9 * len(frames.FLOODS["ping"])
                async with asyncio.timeout(20):
                    while missing and (found := await loop.sock_recv(client, 1 << 16)):
                        missing -= len(found)
    assert bool(reasons) is bool(milliseconds)


async def begun_call(address: Any, calls: list[Any]) -> socket.socket:
    """A connection with a call, which has begun."""
    client, loop = socket.socket(socket.AF_UNIX), asyncio.get_running_loop()
    client.setblocking(False)
    await loop.sock_connect(client, address)
    await loop.sock_sendall(client, frames.PREFACE + frames.frame(frames.SETTINGS) + frames.headers(1))
    async with asyncio.timeout(20):
        while not calls:  # noqa: ASYNC110 - nobody tells
            await asyncio.sleep(0.005)
    return client


async def ask_for_answers(address: Any, calls: list[Any]) -> None:
    """Ten pings on a connection with a call, unless it is closed before."""
    loop = asyncio.get_running_loop()
    with await begun_call(address, calls) as client, suppress(ConnectionError):
        for _ in range(10):
            await loop.sock_sendall(client, frames.FLOODS["ping"])
            if not await loop.sock_recv(client, 1 << 16):
                return
