"""Nobody is cut off for time in which the referee stood still and read nothing."""

import asyncio
import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from crosstown_proto.v1 import referee_pb2 as pb

from referee.wire.budget import Traffic
from referee.wire.handshake import Refusal, read_hello
from referee.wire.http2 import Connection
from referee.wire.listener import Bounds, Listener
from referee.wire.patience import STEP_S, PatientTimer, patient_timeout
from referee.wire.session import Session

from .test_lasting_session import FakeStream, session_of

HELLO = pb.BotMessage(hello=pb.Hello(protocol=1, token="t")).SerializeToString()
LIMIT_S = 0.3


def stand_still_then(read: Callable[[], object], turns: int = 20) -> None:
    """The loop stands still for much longer than `LIMIT_S`; then it takes some turns to read what has come."""

    def turn(left: int) -> None:
        if left:
            loop.call_soon(turn, left - 1)
        else:
            read()

    loop = asyncio.get_running_loop()
    loop.call_later(0.05, time.sleep, 4 * LIMIT_S)
    loop.call_later(0.06, turn, turns)


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(10):
        while not holds():  # noqa: ASYNC110 - it is what is awaited
            await asyncio.sleep(0.01)


async def test_a_bot_that_comes_back_while_the_referee_stands_still_is_not_disconnected() -> None:
    stream, back = FakeStream(), FakeStream()
    session = session_of(stream, reconnect_s=LIMIT_S)
    stream.end()
    stand_still_then(lambda: session.resume(back, session.next_for(0)))  # type: ignore[arg-type]
    await until(lambda: session.online or session.ended.done())
    assert not session.ended.done()


async def test_a_message_that_could_not_be_written_while_the_referee_stood_still_ends_no_stream() -> None:
    call: Any = SimpleNamespace(unsent=1, send=lambda _data, earns: None, finish=lambda *_: None)
    session = Session(call, pb.Hello(), write_limit_s=LIMIT_S)
    session.send(b"")

    def write() -> None:
        call.unsent = 0
        call.on_sent()

    stand_still_then(write)
    await until(lambda: not call.unsent)
    assert not session.ended.done()


async def test_a_hello_that_came_while_the_referee_stood_still_is_read() -> None:
    said: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
    stand_still_then(lambda: said.set_result(HELLO) if not said.done() else None)

    async def read() -> bytes:
        return await said

    stream: Any = SimpleNamespace(read=read)
    assert (await read_hello(stream, LIMIT_S)).token == "t"


async def test_an_answer_to_a_ping_that_came_while_the_referee_stood_still_keeps_the_connection() -> None:
    async def play(_call: Any) -> None: ...

    ended: list[str] = []
    listener = Listener([], play, Bounds(1, keepalive_s=0.05, keepalive_limit_s=LIMIT_S))
    connection = Connection(listener, "", Traffic())
    transport: Any = SimpleNamespace(
        write=lambda _data: None, is_closing=lambda: False, abort=lambda: ended.append("aborted")
    )
    connection.connection_made(transport)
    listener.start()
    try:
        await until(lambda: connection.pinged_at_s > connection.heard_at_s)
        heard: list[bool] = []

        def hear() -> None:
            connection.heard_at_s = time.monotonic()
            heard.append(True)

        stand_still_then(hear)
        await until(lambda: bool(heard))
        assert not ended
        await until(lambda: bool(ended))  # it does not answer the next ping
    finally:
        connection.connection_lost(None)
        await listener.stop()


async def test_a_limit_of_the_wire_ends_what_takes_longer() -> None:
    with pytest.raises(TimeoutError):
        async with patient_timeout(0.02):
            await asyncio.get_running_loop().create_future()

    async def read() -> bytes:
        never: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        return await never

    silent: Any = SimpleNamespace(read=read)
    with pytest.raises(Refusal, match=r"no Hello within 0\.02 s"):
        await read_hello(silent, 0.02)


async def test_a_timer_ends_though_the_loop_is_always_late(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each step counts once, and a late end is put off once."""
    loop = asyncio.get_running_loop()
    steps: list[Callable[[], None]] = []
    now_s = 0.0
    monkeypatch.setattr(loop, "time", lambda: now_s)
    monkeypatch.setattr(loop, "call_at", lambda _when_s, step: steps.append(step))
    ended: list[bool] = []
    PatientTimer(4 * STEP_S, lambda: ended.append(True))
    for _ in range(5):
        assert not ended
        now_s += 100
        steps.pop()()
    monkeypatch.undo()
    assert ended
