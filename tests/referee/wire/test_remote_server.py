"""The way in for bots from other machines: who gets in, and that strangers disturb nobody."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from typing import Any

import grpc
import pytest
from crosstown_proto.v1 import referee_pb2 as pb

from referee.wire import Listen, ListenError, RemoteBot, RemoteServer
from referee.wire.encode import WireLimits
from referee.wire.public_address import own_certificate, parse_address
from referee.wire.remote_bots import token_digest
from referee.wire.server import MAX_STRANGERS

TOKEN = "t" * 32
LIMITS = WireLimits(max_message_bytes=1000, max_note_bytes=100, max_output_bytes=10, ready_us=5_000_000)
HELLO = pb.BotMessage(hello=pb.Hello(protocol=1, token=TOKEN)).SerializeToString()


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return own_certificate(tmp_path_factory.mktemp("tls"), "127.0.0.1")


class Porch:
    """In front of a door."""

    def __init__(self, door: RemoteServer, certificate: Path, stack: AsyncExitStack) -> None:
        self.door = door
        self.certificate = certificate
        self.stack = stack

    async def call(self, *, ca: bytes | None = None, plain: bool = False, wait: bool = True) -> Any:
        """A stream over a connection of its own."""
        options = [("grpc.use_local_subchannel_pool", 1)]
        if plain:
            channel = grpc.aio.insecure_channel(self.door.address, options=options)
        else:
            trusted = grpc.ssl_channel_credentials(ca or self.certificate.read_bytes())
            channel = grpc.aio.secure_channel(self.door.address, trusted, options=options)
        await self.stack.enter_async_context(channel)
        return channel.stream_stream("/crosstown.v1.Referee/Play")(wait_for_ready=wait)

    async def socket(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        reader, writer = await asyncio.open_connection(*parse_address(self.door.address))
        self.stack.callback(writer.close)
        return reader, writer


async def said(call: Any, raw: bytes) -> pb.RefereeMessage:
    async with asyncio.timeout(10):
        await call.write(raw)
        return pb.RefereeMessage.FromString(await call.read())


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(20):
        while not condition():  # noqa: ASYNC110 - the server has no event for it
            await asyncio.sleep(0.01)


async def refusal(call: Any, raw: bytes = HELLO) -> tuple[grpc.StatusCode, str]:
    async with asyncio.timeout(10):
        with suppress(grpc.aio.AioRpcError):
            await call.write(raw)
            await call.read()
        return await call.code(), await call.details()


@pytest.fixture
async def porch(pair: tuple[Path, Path]) -> AsyncIterator[Callable[..., Any]]:
    async with AsyncExitStack() as stack:

        async def build(**more: Any) -> Porch:
            guests = [RemoteBot([token_digest(TOKEN)], LIMITS, reconnect_s=5)]
            door = RemoteServer(Listen("127.0.0.1", 0, *pair), guests, **more)
            return Porch(await stack.enter_async_context(door), pair[0], stack)

        yield build


async def test_a_guest_comes_in_over_tls(porch: Any) -> None:
    here = await porch()
    assert not here.door.address.endswith(":0")
    welcome = (await said(await here.call(), HELLO)).welcome
    assert (welcome.limits.max_message_bytes, welcome.reconnect_us) == (1000, 5_000_000)


async def test_a_guest_does_not_speak_to_a_referee_with_another_certificate(porch: Any, tmp_path: Path) -> None:
    other, _ = own_certificate(tmp_path / "other", "127.0.0.1")
    code, _ = await refusal(await (await porch()).call(ca=other.read_bytes(), wait=False))
    assert code is grpc.StatusCode.UNAVAILABLE


async def test_nobody_comes_in_without_tls(porch: Any) -> None:
    code, _ = await refusal(await (await porch()).call(plain=True, wait=False))
    assert code is grpc.StatusCode.UNAVAILABLE


@pytest.mark.parametrize(
    ("raw", "code", "words"),
    [
        (pb.BotMessage(hello=pb.Hello(protocol=1, token="u" * 32)), "UNAUTHENTICATED", "CROSSTOWN_TOKEN"),
        (pb.BotMessage(hello=pb.Hello(protocol=9, token=TOKEN)), "FAILED_PRECONDITION", "protocol 9"),
        (pb.BotMessage(ready=pb.Ready(match="m")), "INVALID_ARGUMENT", "expected Hello"),
        (pb.BotMessage(), "INVALID_ARGUMENT", "expected Hello"),
        (b"\xff\xff junk", "INVALID_ARGUMENT", "expected Hello"),
        (pb.BotMessage(hello=pb.Hello(protocol=1, token=TOKEN, name="n" * 70_000)), "INVALID_ARGUMENT", "of at most"),
        (pb.BotMessage(hello=pb.Hello(protocol=1, token="u" * 70_000)), "INVALID_ARGUMENT", "of at most"),
    ],
    ids=["unknown token", "protocol", "no hello", "empty", "junk", "a Hello too long", "a token too long"],
)
async def test_who_is_turned_away_is_told_why(porch: Any, raw: Any, code: str, words: str) -> None:
    sent = raw if isinstance(raw, bytes) else raw.SerializeToString()
    status, details = await refusal(await (await porch()).call(), sent)
    assert (status.name, words in details) == (code, True), details


async def test_who_says_nothing_is_turned_away_in_time(porch: Any) -> None:
    here = await porch(hello_limit_s=0.2)
    call = await here.call()
    async with asyncio.timeout(10):
        assert (await call.code(), "no Hello" in await call.details()) == (grpc.StatusCode.DEADLINE_EXCEEDED, True)


async def test_of_too_many_who_say_nothing_the_oldest_go(porch: Any) -> None:
    here = await porch(hello_limit_s=60)
    silent = []
    for _ in range(MAX_STRANGERS):
        silent.append(await here.call())
        await silent[-1].wait_for_connection()
    async with asyncio.timeout(10):
        while len(here.door._strangers._waiting) < MAX_STRANGERS:  # noqa: ASYNC110 - the server has no event for it
            await asyncio.sleep(0.01)
    assert (await said(await here.call(), HELLO)).HasField("welcome")
    async with asyncio.timeout(10):
        await asyncio.wait([asyncio.ensure_future(call.code()) for call in silent], return_when="FIRST_COMPLETED")
    ended = [call for call in silent if call.done()]
    assert [await call.code() for call in ended] == [grpc.StatusCode.RESOURCE_EXHAUSTED]


async def test_who_guesses_tokens_waits_in_the_same_places_as_who_says_nothing(porch: Any) -> None:
    """A token that is not known is looked for again and again: for all that come at once it took all of the time."""
    here = await porch(patience_s=60)
    guess = pb.BotMessage(hello=pb.Hello(protocol=1, token="u" * 4000)).SerializeToString()
    guesses = []
    for _ in range(MAX_STRANGERS + 3):
        guesses.append(await here.call())
        await guesses[-1].write(guess)
    await until(lambda: len(here.door._strangers._waiting) == MAX_STRANGERS)
    await until(lambda: sum(call.done() for call in guesses) == 3)
    ended = [await call.code() for call in guesses if call.done()]
    assert ended == [grpc.StatusCode.RESOURCE_EXHAUSTED] * 3
    assert (await said(await here.call(), HELLO)).HasField("welcome")


async def test_a_token_of_any_size_is_nobodys_at_once(porch: Any) -> None:
    here = await porch(patience_s=60)
    long = pb.BotMessage(hello=pb.Hello(protocol=1, token="u" * 60_000)).SerializeToString()
    code, _ = await refusal(await here.call(), long)
    assert code is grpc.StatusCode.UNAUTHENTICATED


async def test_junk_and_silence_by_the_hundred_keep_no_guest_out(porch: Any) -> None:
    here = await porch()
    for number in range(200):
        _, writer = await here.socket()
        if number % 2:
            writer.write((b"GET / HTTP/1.1\r\n\r\n", b"\x16\x03\x01" + b"\0" * 300, b"\xff" * 4096)[number % 3])
    assert (await said(await here.call(), HELLO)).HasField("welcome")


async def test_who_never_ends_a_handshake_keeps_no_guest_out(porch: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Silence takes a place for as long as a handshake may last: the oldest such connection goes for a new one."""
    monkeypatch.setattr("referee.wire.server.most_connections", lambda: 8)
    here = await porch()
    silent = [await here.socket() for _ in range(12)]
    call = await here.call()
    async with asyncio.timeout(5):
        assert (await said(call, HELLO)).HasField("welcome")
        assert await silent[0][0].read() == b""


@pytest.mark.parametrize("raw", [b"\xff" * 4096, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"], ids=["junk", "plain HTTP/2"])
async def test_a_connection_that_speaks_no_tls_is_closed(porch: Any, raw: bytes) -> None:
    reader, writer = await (await porch()).socket()
    writer.write(raw)
    async with asyncio.timeout(10):
        with suppress(ConnectionResetError):
            await reader.read()


async def test_a_port_that_is_taken_is_said(porch: Any, pair: tuple[Path, Path]) -> None:
    here = await porch()
    host, port = parse_address(here.door.address)
    with pytest.raises(ListenError, match="it is in use"):
        await RemoteServer(Listen(host, port, *pair), []).__aenter__()


async def test_a_key_that_is_none_is_said(tmp_path: Path) -> None:
    (tmp_path / "a.pem").write_text("nothing")
    with pytest.raises(ListenError, match=r"a\.pem"):
        await RemoteServer(Listen("127.0.0.1", 0, tmp_path / "a.pem", tmp_path / "a.pem"), []).__aenter__()


async def test_a_token_that_was_made_a_moment_ago_is_waited_for(porch: Any) -> None:
    here = await porch(patience_s=2)
    call = await here.call()
    hello = pb.BotMessage(hello=pb.Hello(protocol=1, token="made a moment ago")).SerializeToString()
    await call.write(hello)
    await asyncio.sleep(0.3)
    here.door._remote_bots[0].accept([token_digest("made a moment ago")])
    assert pb.RefereeMessage.FromString(await call.read()).HasField("welcome")
    code, _ = await refusal(await here.call(), HELLO)
    assert code is grpc.StatusCode.UNAUTHENTICATED
