"""Who is let in, who is not, and what those are told."""

import asyncio
import os
import socket
import stat
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from typing import Any

import grpc
import pytest
from crosstown_proto.v1 import referee_pb2 as pb

from referee.folders import MAX_SOCKET_PATH_BYTES
from referee.wire import HandshakeError, StreamEnd, WireServer, handshake
from referee.wire.encode import WireLimits
from referee.wire.server import MAX_CONNECTIONS_OF_ONE, MOST_TRIES
from tests.living import open_files

LIMITS = WireLimits(1, 1, 1, 1)


async def test_the_socket_is_private_and_gone_afterwards() -> None:
    async with WireServer() as server:
        path = Path(server.address.removeprefix("unix:"))
        modes = [stat.S_IMODE(each.stat().st_mode) for each in (path.parent, path)]
    assert modes == [0o700, 0o600]
    assert not path.parent.exists()


async def test_a_folder_of_the_caller_stays(tmp_path: Path) -> None:
    folder = tmp_path / "s"
    async with WireServer(folder) as server:
        assert server.address == f"unix:{folder / 'referee.sock'}"
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert list(folder.iterdir()) == []


def test_a_path_that_is_too_long_is_refused_with_advice() -> None:
    with pytest.raises(ValueError, match=r"a unix socket takes 107: choose a shorter folder"):
        WireServer(Path("/tmp") / ("x" * MAX_SOCKET_PATH_BYTES))


async def test_a_path_that_just_fits_works(tmp_path: Path) -> None:
    room = MAX_SOCKET_PATH_BYTES - len(str(tmp_path)) - len("//referee.sock")
    folder = tmp_path / ("y" * room)
    assert len(str(folder / "referee.sock")) == MAX_SOCKET_PATH_BYTES
    async with WireServer(folder) as server:
        assert (folder / "referee.sock").exists()
        assert server.address.endswith("referee.sock")


async def test_welcome_announces_the_limits(wire: Any) -> None:
    client = wire.client()
    expected = wire.server.expect("t", WireLimits(1, 2, 3, 4, match_us=5, starts_at_once=6))
    await client.hello()
    welcome = (await client.receive()).welcome
    assert welcome.protocol == 1
    limits = welcome.limits
    assert (limits.max_message_bytes, limits.max_note_bytes, limits.max_output_bytes, limits.ready_us) == (1, 2, 3, 4)
    assert (limits.match_us, limits.starts_at_once) == (5, 6)
    assert (await expected).hello.token == "t"


async def test_an_unknown_token_is_refused(wire: Any) -> None:
    client = wire.client()
    await client.hello("somebody")
    code, details = await client.status()
    assert code is grpc.StatusCode.UNAUTHENTICATED
    assert "CROSSTOWN_TOKEN" in details


async def test_a_token_opens_one_session(wire: Any) -> None:
    first, session = await wire.session()
    second = wire.client()
    await second.hello()
    code, details = await second.status()
    assert code is grpc.StatusCode.ALREADY_EXISTS
    assert "one process, one token, one stream" in details
    session.send(pb.RefereeMessage(bye=pb.Bye()).SerializeToString())
    assert (await first.receive()).WhichOneof("body") == "bye"


async def test_each_process_has_a_socket_that_lets_in_nobody_else(wire: Any) -> None:
    async with wire.server.for_one(1 << 20) as one, wire.server.for_one(1 << 20) as other:
        expected = one.expect("t", LIMITS)
        other.expect("o", LIMITS)
        assert len({server.address for server in (wire.server, one, other)}) == 3
        for address in (wire.server.address, other.address):
            stranger = wire.client_of(address)
            await stranger.hello()
            assert (await stranger.status())[0] is grpc.StatusCode.UNAUTHENTICATED
        client = wire.client_of(one.address)
        await client.hello()
        assert (await client.receive()).WhichOneof("body") == "welcome"
        assert (await expected).hello.token == "t"
        folder = Path(one.address.removeprefix("unix:")).parent
        assert len(list(folder.iterdir())) == 3
    assert [path.name for path in folder.iterdir()] == ["referee.sock"]


async def test_a_process_that_is_in_has_one_connection_and_gets_no_other(wire: Any) -> None:
    """Those that it had before Hello are closed, and nobody listens any more."""
    async with wire.server.for_one(1 << 20) as one, AsyncExitStack() as stack:
        expected = one.expect("t", LIMITS)
        path = one.address.removeprefix("unix:")
        before = open_files()
        lines = [stack.enter_context(socket.socket(socket.AF_UNIX)) for _ in range(MAX_CONNECTIONS_OF_ONE - 1)]
        for line in lines:
            line.connect(path)
        client = wire.client_of(one.address)
        await client.hello()
        await client.receive()
        got = asyncio.Queue[Any]()
        (await expected).listen(got.put_nowait)
        for line in lines:
            line.setblocking(False)
            async with asyncio.timeout(5):
                while await asyncio.get_running_loop().sock_recv(line, 1000):
                    pass
        with socket.socket(socket.AF_UNIX) as late, pytest.raises(ConnectionRefusedError):
            late.connect(path)
        assert open_files() - before <= 2 * len(lines) + 4  # both ends of one, and what gRPC's client needs
        await client.send(pb.BotMessage(ready=pb.Ready(match="m")))
        assert (await got.get()).message.ready.match == "m"
        await wire.session()


async def test_a_process_that_connects_and_connects_before_hello_is_given_up(wire: Any) -> None:
    async with wire.server.for_one(1 << 20) as one:
        expected = one.expect("t", LIMITS)
        path = one.address.removeprefix("unix:")
        with suppress(ConnectionError):
            for _ in range(MOST_TRIES + MAX_CONNECTIONS_OF_ONE):
                with socket.socket(socket.AF_UNIX) as line:
                    line.connect(path)
                await asyncio.sleep(0.001)
        with pytest.raises(HandshakeError, match=f"more than {MOST_TRIES} connections"):
            async with asyncio.timeout(5):
                await expected


async def test_before_hello_a_process_takes_little_memory_of_the_referee_however_much_it_sends(wire: Any) -> None:
    """Streams and connections as many as it gets, each with the largest message that is not refused at once."""
    async with wire.server.for_one(1 << 20) as one, AsyncExitStack() as stack:
        one.expect("t", LIMITS)
        huge, told = b"x" * (4 << 20), list[grpc.StatusCode]()
        calls, most = [], [0]
        for _ in range(MAX_CONNECTIONS_OF_ONE):
            channel = grpc.aio.insecure_channel(one.address, options=[("grpc.use_local_subchannel_pool", 1)])
            await stack.enter_async_context(channel)
            calls += [channel.stream_stream("/crosstown.v1.Referee/Play")() for _ in range(12)]
        read_hello = handshake.read_hello

        async def counted(*arguments: Any) -> pb.Hello:
            most.append(len(one._strangers._waiting))
            return await read_hello(*arguments)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(handshake, "read_hello", counted)
            async with asyncio.timeout(20):
                for call in calls:
                    with suppress(grpc.aio.AioRpcError, asyncio.InvalidStateError):
                        await call.write(huge)
                told += [await call.code() for call in calls]
        assert grpc.StatusCode.OK not in told
        assert max(most) <= MAX_CONNECTIONS_OF_ONE
        client = wire.client_of(one.address)  # a connection whose budget is not used up
        await client.hello()
        assert (await client.receive()).HasField("welcome")


async def test_a_message_above_four_times_the_limit_ends_the_stream_and_says_so_to_the_bot(wire: Any) -> None:
    """One that is only above the limit is for the match to judge."""
    async with wire.server.for_one(1 << 19) as one:
        expected = one.expect("t", LIMITS)
        client = wire.client_of(one.address)
        await client.hello()
        await client.receive()
        session, got = await expected, asyncio.Queue[Any]()
        session.listen(got.put_nowait)
        await client.call.write(b"\xff" * (2 << 20))
        assert len((await got.get()).raw) == 2 << 20
        await client.call.write(b"\xff" * ((2 << 20) + 1))
        code, details = await client.status()
        assert code is grpc.StatusCode.RESOURCE_EXHAUSTED
        assert "Received message larger than max (2097153 vs. 2097152)" in details
        assert await session.ended is StreamEnd.OVERSIZED
        assert session.failure == details


async def test_where_it_cannot_listen_it_says_why_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "s" / "referee.sock").mkdir(parents=True)
    with pytest.raises(OSError, match=r"cannot listen on /.*/s/referee.sock: Address already in use"):
        await WireServer(tmp_path / "s").__aenter__()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with pytest.raises(OSError, match=r"cannot listen on .*: No such file or directory"):
        await WireServer(name="no/s.sock").__aenter__()
    assert sorted(entry.name for entry in os.scandir(tmp_path)) == ["s"]


async def test_another_protocol_is_explained_to_both_sides(wire: Any) -> None:
    expected = wire.server.expect("t", WireLimits(1, 1, 1, 1))
    client = wire.client()
    await client.hello(protocol=3)
    code, details = await client.status()
    assert code is grpc.StatusCode.FAILED_PRECONDITION
    assert details == "the bot speaks protocol 3, the referee protocol 1: expected 1"
    with pytest.raises(HandshakeError, match="protocol 3"):
        await expected


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        (b"\xff\xff\xff", "not a crosstown.v1.BotMessage; expected Hello"),
        (b"", "the first message is empty; expected Hello"),
        (pb.BotMessage(ready=pb.Ready(match="m")).SerializeToString(), "the first message is ready; expected Hello"),
    ],
)
async def test_the_first_message_must_be_hello(wire: Any, raw: bytes, said: str) -> None:
    client = wire.client()
    await client.call.write(raw)
    code, details = await client.status()
    assert code is grpc.StatusCode.INVALID_ARGUMENT
    assert said in details


async def test_a_stream_that_says_nothing_is_ended(wire: Any) -> None:
    client = wire.client()
    assert await client.status() == (
        grpc.StatusCode.DEADLINE_EXCEEDED,
        "no Hello within 0.5 s of opening the stream",
    )


async def test_a_stream_that_closes_before_hello_is_ended(wire: Any) -> None:
    client = wire.client()
    await client.call.done_writing()
    assert (await client.status())[0] is grpc.StatusCode.INVALID_ARGUMENT


def test_a_folder_that_cannot_stand_in_an_address_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="has a '%'"):
        WireServer(tmp_path / "a%20b")


async def test_strangers_do_not_disturb_a_session(wire: Any) -> None:
    client, session = await wire.session()
    for _ in range(20):
        stranger = wire.client()
        with suppress(grpc.aio.AioRpcError):
            await stranger.call.write(b"\xff")
    got = asyncio.Queue[Any]()
    session.listen(got.put_nowait)
    await client.send(pb.BotMessage(ready=pb.Ready(match="m")))
    assert (await got.get()).message.ready.match == "m"


@pytest.mark.long
async def test_a_bot_may_ping_every_second(wire: Any) -> None:
    options = {"grpc.keepalive_time_ms": 1000, "grpc.keepalive_permit_without_calls": 1}
    expected = wire.server.expect("t", WireLimits(1, 1, 1, 1))
    client = wire.client(**options)
    await client.hello()
    await client.receive()
    session = await expected
    await asyncio.sleep(8)
    assert not session.ended.done()
    assert not client.call.done()
