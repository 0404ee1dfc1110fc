"""Who says no Hello, and who goes when they are too many."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from crosstown_proto.v1 import referee_pb2 as pb

from referee.wire import Status
from referee.wire.handshake import Refusal, Strangers, read_hello

HELLO = pb.BotMessage(hello=pb.Hello(protocol=1, token="t")).SerializeToString()


class Stream:
    """A server's end of one; `said` is what its bot will have said."""

    def __init__(self, origin: str) -> None:
        self.origin = origin
        self.said: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()

    async def read(self) -> bytes:
        return await self.said


async def hear_out(strangers: Strangers, stream: Any) -> pb.Hello:
    async with strangers.waiting(stream):
        return await read_hello(stream, 60)


@pytest.mark.parametrize(
    ("origins", "turned_away"),
    [
        (["9.9.9.9", "9.9.9.9", "9.9.9.9", "9.9.9.9"], [0]),
        (["1.1.1.1", "9.9.9.9", "9.9.9.9", "9.9.9.9"], [1]),
        (["1.1.1.1", "1::", "1::", "1::", "1::"], [1, 2]),
        (["1.1.1.1", "1::", "2::", "3::"], [0]),
        (["1.1.1.1", "9.9.9.9", "9.9.9.9", "2.2.2.2"], [1]),
        (["", "", "", ""], [0]),
    ],
)
async def test_of_too_many_strangers_the_oldest_of_the_busiest_address_goes(
    origins: Sequence[str], turned_away: Sequence[int]
) -> None:
    strangers = Strangers(3)
    streams = [Stream(origin) for origin in origins]
    hearing: list[asyncio.Task[Any]] = []
    for stream in streams:
        hearing.append(asyncio.create_task(hear_out(strangers, stream)))
        await asyncio.sleep(0.01)
    assert [number for number, task in enumerate(hearing) if task.done()] == turned_away
    for number in turned_away:
        with pytest.raises(Refusal, match="too many streams without a Hello") as refused:
            await hearing[number]
        assert refused.value.code is Status.RESOURCE_EXHAUSTED
    for stream in streams:
        stream.said.done() or stream.said.set_result(HELLO)
    for number, task in enumerate(hearing):
        if number not in turned_away:
            assert (await task).token == "t"
