"""A server and clients in one process."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import grpc
import pytest
from crosstown_proto.v1 import referee_pb2 as pb

from referee.wire import Session, WireServer
from referee.wire.encode import WireLimits

LIMITS = WireLimits(max_message_bytes=1000, max_note_bytes=100, max_output_bytes=10, ready_us=5_000_000)


class Client:
    """One stream to a server, spoken by hand."""

    def __init__(self, address: str, **options: int) -> None:
        self.channel = grpc.aio.insecure_channel(
            address, options=[("grpc.max_receive_message_length", -1), *options.items()]
        )
        self.call: Any = self.channel.stream_stream("/crosstown.v1.Referee/Play")(wait_for_ready=True)

    async def hello(self, token: str = "t", **changes: Any) -> None:
        await self.send(pb.BotMessage(hello=pb.Hello(**{"protocol": 1, "token": token, **changes})))

    async def send(self, message: pb.BotMessage) -> None:
        await self.call.write(message.SerializeToString())

    async def receive(self) -> pb.RefereeMessage:
        async with asyncio.timeout(60):
            return pb.RefereeMessage.FromString(await self.call.read())

    async def status(self) -> tuple[grpc.StatusCode, str]:
        """How the call ended."""
        async with asyncio.timeout(60):
            return await self.call.code(), await self.call.details()

    async def close(self) -> None:
        await self.channel.close()


class Wire:
    """A server with its clients; `session` is the server's end of one."""

    def __init__(self, server: WireServer) -> None:
        self.server = server
        self.clients: list[Client] = []

    def client(self, **options: int) -> Client:
        return self.client_of(self.server.address, **options)

    def client_of(self, address: str, **options: int) -> Client:
        self.clients.append(Client(address, **options))
        return self.clients[-1]

    async def session(self, token: str = "t", **hello: Any) -> tuple[Client, Session]:
        expected = self.server.expect(token, LIMITS)
        client = self.client()
        await client.hello(token, **hello)
        assert (await client.receive()).WhichOneof("body") == "welcome"
        return client, await expected


@pytest.fixture
async def wire() -> AsyncIterator[Wire]:
    async with WireServer(hello_limit_s=0.5) as server:
        wire = Wire(server)
        yield wire
        for client in wire.clients:
            await client.close()
