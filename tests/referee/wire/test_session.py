"""A stream from Hello to its end."""

import asyncio
import time
from contextlib import suppress
from typing import Any

import grpc
import pytest
from crosstown_proto.v1 import referee_pb2 as pb

from referee.wire import Status, StreamEnd
from referee.wire.session import MAX_IDLE_BYTES, MAX_IDLE_MESSAGES


def ready(match: str) -> pb.BotMessage:
    return pb.BotMessage(ready=pb.Ready(match=match))


async def test_messages_come_in_order_with_their_bytes_and_times(wire: Any) -> None:
    client, session = await wire.session()
    got: asyncio.Queue[Any] = asyncio.Queue()
    session.listen(got.put_nowait)
    before = time.monotonic_ns()
    for name in "abc":
        await client.send(ready(name))
    received = [await got.get() for _ in range(3)]
    assert [item.message.ready.match for item in received] == ["a", "b", "c"]
    assert [item.raw for item in received] == [ready(name).SerializeToString() for name in "abc"]
    assert before < received[0].at_ns <= received[1].at_ns <= received[2].at_ns <= time.monotonic_ns()


async def test_bytes_that_are_no_message_are_passed_on_as_such(wire: Any) -> None:
    client, session = await wire.session()
    got: asyncio.Queue[Any] = asyncio.Queue()
    session.listen(got.put_nowait)
    await client.call.write(b"\xff\xff")
    item = await got.get()
    assert (item.message, item.raw) == (None, b"\xff\xff")
    await client.send(ready("still here"))
    assert (await got.get()).message.ready.match == "still here"


async def test_what_is_sent_arrives_in_order_however_fast(wire: Any) -> None:
    client, session = await wire.session()
    for number in range(300):
        session.send(pb.RefereeMessage(cancel=pb.Cancel(decision=number)).SerializeToString())
    assert [(await client.receive()).cancel.decision for _ in range(300)] == list(range(300))


@pytest.mark.parametrize("way", ["done_writing", "cancel", "close"])
async def test_however_a_bot_leaves_it_is_noticed_at_once(wire: Any, way: str) -> None:
    client, session = await wire.session()
    if way == "done_writing":
        await client.call.done_writing()
    elif way == "cancel":
        client.call.cancel()
    else:
        await client.channel.close()
    async with asyncio.timeout(5):
        assert await session.ended is StreamEnd.CLOSED_BY_BOT
    session.send(b"nobody is there")


async def test_who_never_reads_is_cut_off(wire: Any) -> None:
    client, session = await wire.session()
    session._write_limit_s = 0.2
    message = pb.RefereeMessage(decide=pb.Decide(observation=bytes(1 << 20))).SerializeToString()
    for _ in range(8):
        session.send(message)
    async with asyncio.timeout(5):
        assert await session.ended is StreamEnd.NOT_READING
    client.call.cancel()


async def test_a_backlog_is_bounded(wire: Any) -> None:
    client, session = await wire.session()
    message = pb.RefereeMessage(decide=pb.Decide(observation=bytes(1 << 20))).SerializeToString()
    for _ in range(1100):
        session.send(message)
    assert session.ended.result() is StreamEnd.NOT_READING
    client.call.cancel()


async def test_few_but_large_messages_between_matches_end_the_session_too(wire: Any) -> None:
    client, session = await wire.session()
    size = 12 << 20
    with suppress(grpc.aio.AioRpcError):
        for _ in range(MAX_IDLE_BYTES // size + 1):
            await client.send(pb.BotMessage(move=pb.Move(match="late", note="x" * size)))
    async with asyncio.timeout(20):
        assert await session.ended is StreamEnd.FLOODED


async def test_messages_between_matches_are_dropped_but_not_without_end(wire: Any) -> None:
    client, session = await wire.session()
    got: list[Any] = []
    session.listen(got.append)
    session.listen(None)
    for _ in range(MAX_IDLE_MESSAGES):
        await client.send(ready("late"))
    await asyncio.sleep(0.1)
    assert not session.ended.done()
    await client.send(ready("late"))
    async with asyncio.timeout(5):
        assert await session.ended is StreamEnd.FLOODED
    code, details = await client.status()
    assert code is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert "outside of any match" in details
    assert got == []


async def test_a_listener_that_was_replaced_hears_nothing(wire: Any) -> None:
    client, session = await wire.session()
    first: list[Any] = []
    second: asyncio.Queue[Any] = asyncio.Queue()
    session.listen(first.append)
    session.listen(second.put_nowait)
    await client.send(ready("m"))
    await second.get()
    assert first == []


async def test_a_call_can_be_ended_with_an_explanation(wire: Any) -> None:
    client, session = await wire.session()
    await session.close(Status.FAILED_PRECONDITION, "this match is toy")
    assert await client.status() == (grpc.StatusCode.FAILED_PRECONDITION, "this match is toy")
    assert session.ended.result() is StreamEnd.CLOSED_BY_REFEREE


@pytest.mark.parametrize("number", range(40))
async def test_a_call_that_is_ended_at_once_gets_its_status_each_time(wire: Any, number: int) -> None:
    """One in fifty got none while the write of Welcome was still being settled."""
    client, session = await wire.session()
    await session.close(Status.FAILED_PRECONDITION, "this match is toy")
    assert await client.status() == (grpc.StatusCode.FAILED_PRECONDITION, "this match is toy")


async def test_sessions_do_not_wait_for_each_other(wire: Any) -> None:
    blocked_client, blocked = await wire.session("a")
    client, session = await wire.session("b")
    for _ in range(8):
        blocked.send(pb.RefereeMessage(decide=pb.Decide(observation=bytes(1 << 20))).SerializeToString())
    session.send(pb.RefereeMessage(bye=pb.Bye()).SerializeToString())
    assert (await client.receive()).WhichOneof("body") == "bye"
    blocked_client.call.cancel()
