"""Matches go on undisturbed while strangers knock by the hundred: silent, talking junk, or with guessed tokens."""

import asyncio
import gc
import ssl
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from typing import Any

import grpc
import pytest
from crosstown_proto.v1 import referee_pb2 as pb

from referee.games.api import resolve_options
from referee.games.registry import get_game
from referee.match import EndReason, Limits, MatchSpec, SeatSpec, Table
from referee.match.invitation import Invitation
from referee.process.entry import remote_bot_entry
from referee.wire import Listen
from referee.wire.http2 import Connection
from referee.wire.public_address import own_certificate, parse_address

SILENT, JUNK, GUESSES, MATCHES = 120, 120, 40, 3
LIMITS = Limits(startup_s=60, ready_s=30, first_move_s=30, move_s=30)
ENTRIES = [remote_bot_entry("Ada"), remote_bot_entry("Bob")]
TOKENS = ["a" * 32, "b" * 32]
LOUD = (
    b"\xff" * 2000,
    b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    b"\x16\x03\x01\x40\x00",
)


async def play(channel: Any, token: str) -> None:
    """Index 0, until the stream ends."""
    call: Any = channel.stream_stream("/crosstown.v1.Referee/Play")(wait_for_ready=True)
    await call.write(pb.BotMessage(hello=pb.Hello(protocol=1, token=token)).SerializeToString())
    while (raw := await call.read()) is not grpc.aio.EOF:
        message = pb.RefereeMessage.FromString(raw)
        if message.HasField("match_start"):
            answer = pb.BotMessage(ready=pb.Ready(match=message.match_start.match))
        elif message.HasField("decide"):
            answer = pb.BotMessage(move=pb.Move(match=message.decide.match, decision=message.decide.decision, index=0))
        else:
            continue
        await call.write(answer.SerializeToString())


async def knock(address: str, data: bytes) -> None:
    """One connection, kept open; a byte at a time after the first bytes, as slowly as that goes."""
    reader, writer = await asyncio.open_connection(*parse_address(address))
    try:
        writer.write(data)
        while not reader.at_eof():
            with suppress(TimeoutError):
                async with asyncio.timeout(0.2):
                    await reader.read(1000)
            writer.write(b"\0")
            await writer.drain()
    except OSError:
        pass  # shown the door
    finally:
        writer.transport.abort()


async def guess(channel: Any, number: int) -> grpc.StatusCode:
    call: Any = channel.stream_stream("/crosstown.v1.Referee/Play")(wait_for_ready=True)
    with suppress(grpc.aio.AioRpcError):
        await call.write(pb.BotMessage(hello=pb.Hello(protocol=1, token=f"{number:032}")).SerializeToString())
        await call.read()
    return await call.code()  # type: ignore[no-any-return]


def spec(number: int) -> MatchSpec:
    return MatchSpec(
        match_id=f"m-{number}",
        game="toy",
        options=resolve_options("toy", get_game("toy").options, {}),
        seats=tuple(SeatSpec(entry.id, entry.name, "1") for entry in ENTRIES),
        seed=f"{number:032x}",
        limits=LIMITS,
    )


@pytest.mark.parametrize("plain", [False, True], ids=["TLS", "plain"])
async def test_strangers_disturb_no_match(tmp_path: Path, plain: bool) -> None:
    certificate, key = own_certificate(tmp_path / "tls", "127.0.0.1")
    guests = {entry.id: Invitation(token, LIMITS) for entry, token in zip(ENTRIES, TOKENS, strict=True)}
    listen = Listen("127.0.0.1", 0, plain=True) if plain else Listen("127.0.0.1", 0, certificate, key)
    async with AsyncExitStack() as stack:
        table = await stack.enter_async_context(
            Table({entry.id: entry for entry in ENTRIES}, remote_bots=guests, listen=listen)
        )
        trusted = grpc.ssl_channel_credentials(certificate.read_bytes())
        port = parse_address(table.remote_address)[1]

        async def channel() -> Any:
            options = [("grpc.use_local_subchannel_pool", 1)]
            made = (
                grpc.aio.insecure_channel(f"127.0.0.1:{port}", options=options)
                if plain
                else grpc.aio.secure_channel(f"localhost:{port}", trusted, options=options)
            )
            return await stack.enter_async_context(made)

        players = [asyncio.create_task(play(await channel(), token)) for token in TOKENS]
        knocks = [b""] * SILENT + [LOUD[number % len(LOUD)] for number in range(JUNK)]
        strangers = [asyncio.create_task(knock(table.remote_address, data)) for data in knocks]
        guessing = [asyncio.create_task(guess(await channel(), number)) for number in range(GUESSES)]
        for number in range(MATCHES):
            result = await table.play(spec(number), tmp_path)
            assert (result.reason, result.faults) == (EndReason.NORMAL, (None, None))
        async with asyncio.timeout(30):
            assert set(await asyncio.gather(*guessing)) == {grpc.StatusCode.UNAUTHENTICATED}
        for task in (*strangers, *players):
            task.cancel()
        await asyncio.gather(*strangers, *players, return_exceptions=True)


async def test_nothing_is_kept_of_a_tls_connection_that_is_over(tmp_path: Path) -> None:
    certificate, key = own_certificate(tmp_path / "tls", "127.0.0.1")
    trusted = ssl.create_default_context(cafile=str(certificate))
    trusted.set_alpn_protocols(["h2"])
    invited = {ENTRIES[0].id: Invitation(TOKENS[0])}
    async with Table(
        {ENTRIES[0].id: ENTRIES[0]}, remote_bots=invited, listen=Listen("127.0.0.1", 0, certificate, key)
    ) as table:
        port = parse_address(table.remote_address)[1]
        gc.collect()
        gc.disable()
        try:
            for _ in range(3):
                _, writer = await asyncio.open_connection("127.0.0.1", port, ssl=trusted, server_hostname="localhost")
                writer.write(b"no HTTP/2 at all, " * 10)
                writer.close()
                with suppress(OSError):
                    await writer.wait_closed()
            async with asyncio.timeout(30):
                while kept := [each for each in gc.get_objects() if isinstance(each, Connection)]:
                    del kept
                    await asyncio.sleep(0.01)
        finally:
            gc.enable()
