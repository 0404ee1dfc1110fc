"""Who says no Hello, and who goes when they are too many."""

import asyncio
from collections.abc import Sequence
from typing import Any

import grpc
import pytest
from crosstown_proto.v1 import referee_pb2 as pb

from referee.wire.handshake import Refusal, Strangers

HELLO = pb.BotMessage(hello=pb.Hello(protocol=1, token="t")).SerializeToString()


class Stream:
    """A server's end of one; `said` is what its bot will have said."""

    def __init__(self, peer: str) -> None:
        self._peer = peer
        self.said: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()

    def peer(self) -> str:
        return self._peer

    async def read(self) -> bytes:
        return await self.said


@pytest.mark.parametrize(
    ("peers", "turned_away"),
    [
        (["ipv4:9.9.9.9:1", "ipv4:9.9.9.9:2", "ipv4:9.9.9.9:3", "ipv4:9.9.9.9:4"], [0]),
        (["ipv4:1.1.1.1:1", "ipv4:9.9.9.9:1", "ipv4:9.9.9.9:2", "ipv4:9.9.9.9:3"], [1]),
        (["ipv4:1.1.1.1:1", "ipv6:%5B::9%5D:1", "ipv6:%5B::9%5D:2", "ipv6:%5B::9%5D:3", "ipv6:%5B::9%5D:4"], [1, 2]),
        (["ipv4:1.1.1.1:1", *(f"ipv6:%5B2001:db8::{host:x}%5D:{host}" for host in range(1, 4))], [1]),
        (["ipv4:1.1.1.1:1", *(f"ipv6:[2001:db8::{host:x}%25eth0]:{host}" for host in range(1, 4))], [1]),
        (["ipv4:1.1.1.1:1", *(f"ipv6:%5B2001:db8:0:{net:x}::1%5D:1" for net in range(1, 4))], [0]),
        (["ipv6:%5B::1.1.1.1%5D:1", *(f"ipv6:%5B::ffff:9.9.9.{host}%5D:1" for host in range(1, 4))], [0]),
        (["ipv4:1.1.1.1:1", "ipv4:9.9.9.9:2", "ipv6:%5B::ffff:9.9.9.9%5D:1", "ipv4:2.2.2.2:1"], [1]),
        (["unix:", "unix:", "unix:", "unix:"], [0]),
        (["ipv4:1.1.1.1:1", "ipv4:2.2.2.2:1", "ipv4:3.3.3.3:1", "ipv4:4.4.4.4:1"], [0]),
    ],
)
async def test_of_too_many_strangers_the_oldest_of_the_busiest_address_goes(
    peers: Sequence[str], turned_away: Sequence[int]
) -> None:
    strangers = Strangers(3, 60)
    streams = [Stream(peer) for peer in peers]
    hearing: list[asyncio.Task[Any]] = []
    for stream in streams:
        hearing.append(asyncio.create_task(strangers.hear_out(stream)))  # type: ignore[arg-type]
        await asyncio.sleep(0.01)
    assert [number for number, task in enumerate(hearing) if task.done()] == turned_away
    for number in turned_away:
        with pytest.raises(Refusal, match="too many streams without a Hello") as refused:
            await hearing[number]
        assert refused.value.code is grpc.StatusCode.RESOURCE_EXHAUSTED
    for stream in streams:
        stream.said.done() or stream.said.set_result(HELLO)
    for number, task in enumerate(hearing):
        if number not in turned_away:
            assert (await task).token == "t"
