"""Who says no Hello, and who goes when they are too many."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from crosstown_proto.v1 import referee_pb2 as pb

from referee.wire import Status
from referee.wire.handshake import Refusal, Strangers
from referee.wire.listener import origin_of

HELLO = pb.BotMessage(hello=pb.Hello(protocol=1, token="t")).SerializeToString()


class Stream:
    """A server's end of one; `said` is what its bot will have said."""

    def __init__(self, origin: str) -> None:
        self.origin = origin
        self.said: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()

    async def read(self) -> bytes:
        return await self.said


@pytest.mark.parametrize(
    ("address", "origin"),
    [
        (("1.1.1.1", 80), "1.1.1.1"),
        (("2001:db8::1", 80, 0, 0), "20010db800000000::"),
        (("2001:db8::2", 80, 0, 0), "20010db800000000::"),
        (("2001:db8:0:1::1", 80, 0, 0), "20010db800000001::"),
        (("fe80::1%eth0", 80, 0, 2), "fe80000000000000::"),
        (("::ffff:9.9.9.9", 80, 0, 0), "9.9.9.9"),
        ("", ""),
        (b"", ""),
    ],
)
def test_an_address_counts_with_all_that_its_owner_has(address: Any, origin: str) -> None:
    assert origin_of(address) == origin


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
    strangers = Strangers(3, 60)
    streams = [Stream(origin) for origin in origins]
    hearing: list[asyncio.Task[Any]] = []
    for stream in streams:
        hearing.append(asyncio.create_task(strangers.hear_out(stream)))  # type: ignore[arg-type]
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
