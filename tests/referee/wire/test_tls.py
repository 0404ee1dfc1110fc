"""TLS with a meter: data costs what it costs without TLS, and all else is paid for.

The meter is built on a class of asyncio that is not documented. A Python that changes it fails here, and says what.
"""

import asyncio
import ssl
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from referee.wire import server
from referee.wire.http2 import READ_BYTES, Connection
from referee.wire.public_address import Listen, ListenError, own_certificate
from referee.wire.server import RemoteServer
from referee.wire.tls import MeteredTls, server_tls, why_not_metered


class Recorder(asyncio.BufferedProtocol):
    """Stands for a connection: notes what it is given and what is charged."""

    def __init__(self) -> None:
        self.traffic = SimpleNamespace(received_bytes=0, spent_ns=0)
        self.broken_off = False
        self.units = self.calls = 0
        self.transport: Any = None
        self._buffer = bytearray(READ_BYTES)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport

    def get_buffer(self, sizehint: int) -> memoryview:
        return memoryview(self._buffer)

    def buffer_updated(self, nbytes: int) -> None:
        self.traffic.received_bytes += nbytes

    def pay_for_tls(self, units: int, spent_ns: int) -> None:
        assert spent_ns >= 0
        self.units += units
        self.traffic.spent_ns += spent_ns
        self.calls += 1


async def metered(folder: Path, send: Callable[[asyncio.StreamWriter], Any], expected_bytes: int) -> Recorder:
    """What was charged for what `send` has sent."""
    certificate, key = own_certificate(folder, "127.0.0.1")
    context, loop, recorder = server_tls(certificate, key), asyncio.get_running_loop(), Recorder()

    def protocol() -> MeteredTls:
        return MeteredTls(cast(Connection, recorder), context, loop.create_future(), 10.0)

    listening = await loop.create_server(protocol, "127.0.0.1", 0)
    trusted = ssl.create_default_context(cafile=str(certificate))
    async with listening:
        port = listening.sockets[0].getsockname()[1]
        _, writer = await asyncio.open_connection("127.0.0.1", port, ssl=trusted)
        await send(writer)
        async with asyncio.timeout(10):
            while recorder.traffic.received_bytes < expected_bytes:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        recorder.transport.abort()
        writer.transport.abort()
    return recorder


async def test_large_messages_cost_nothing_more_over_tls(tmp_path: Path) -> None:
    """However many of their bytes have come when the referee reads."""

    async def send(writer: asyncio.StreamWriter) -> None:
        for _ in range(8):
            writer.write(bytes(1 << 20))
            time.sleep(0.05)  # noqa: ASYNC251 - the other end reads nothing meanwhile, and finds much at once
            await writer.drain()

    recorder = await metered(tmp_path, send, 8 << 20)
    assert recorder.traffic.received_bytes == 8 << 20
    assert recorder.units <= 600, "22 bytes of each record of 16 KiB, and no data"


async def test_small_records_are_paid_for_one_by_one(tmp_path: Path) -> None:
    async def send(writer: asyncio.StreamWriter) -> None:
        for _ in range(5000):
            writer.write(b"x")
        await writer.drain()

    recorder = await metered(tmp_path, send, 5000)
    assert 3500 < recorder.units <= 5000, "the first 17 KiB are free"
    assert recorder.calls > 0
    assert recorder.traffic.spent_ns > 0


def test_this_python_has_what_the_meter_needs() -> None:
    assert why_not_metered() == ""


class _Copying(asyncio.Protocol):
    pass


class _OtherArguments(asyncio.BufferedProtocol):
    def __init__(self, loop: Any, app_protocol: Any, sslcontext: Any, *, waiter: Any = None) -> None:
        pass


class _Renamed(asyncio.BufferedProtocol):
    def __init__(
        self,
        loop: Any,
        app_protocol: Any,
        sslcontext: Any,
        waiter: Any,
        server_side: bool,
        ssl_handshake_timeout: float,
        ssl_shutdown_timeout: float,
    ) -> None:
        pass

    def get_buffer(self, sizehint: int) -> bytearray:
        return bytearray(1)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        pass


@pytest.mark.parametrize(
    ("protocol", "what"),
    [
        (_Copying, "_Copying is not a BufferedProtocol"),
        (_OtherArguments, "_OtherArguments takes other arguments: loop, app_protocol, sslcontext, waiter"),
        (_Renamed, "_Renamed has no buffer_updated and no connection_lost of its own"),
    ],
)
def test_what_a_later_python_has_changed_is_named(protocol: type, what: str) -> None:
    assert why_not_metered(protocol) == what


async def test_without_a_meter_nobody_is_let_in_over_tls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    certificate, key = own_certificate(tmp_path, "127.0.0.1")
    monkeypatch.setattr(server, "why_not_metered", lambda: "SSLProtocol has changed")
    with pytest.raises(ListenError, match="cannot count what TLS costs: SSLProtocol has changed"):
        async with RemoteServer(Listen("127.0.0.1", 0, certificate, key), []):
            pass
    async with RemoteServer(Listen("127.0.0.1", 0, plain=True), []) as plain:
        assert plain.address
