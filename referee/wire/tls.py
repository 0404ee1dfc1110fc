"""TLS around a connection, in which nothing is free either.

The standard library reads TLS without telling the connection what came that was no data of it: a client of TLS 1.3 may
renew its keys as often as it likes, each time for five bytes of its own and some 20 us of the referee's.

`asyncio.sslproto.SSLProtocol` is not documented. The sources of Python 3.11 to 3.13 were read, and
`tests/referee/wire/test_tls.py` shows what is used of it. Where a later Python has changed that, the referee refuses to
listen with TLS: without a meter, strangers could keep it busy for nothing.
"""

import asyncio
import inspect
import math
import ssl
import time
from asyncio.sslproto import SSLProtocol
from pathlib import Path
from typing import cast

from referee.wire.budget import charged_ns
from referee.wire.http2 import READ_BYTES, Connection

BYTES_A_UNIT = 22
"""The least that a record has besides its data (RFC 8446, 5.2)."""

_FREE_BYTES = 17 << 10
"""More than a record may have, of which the data is seen only when it is whole."""


_HANDSHAKE_READ_BYTES = 1 << 10

_ARGUMENTS = ("loop", "app_protocol", "sslcontext", "waiter")
_KEYWORDS = ("server_side", "ssl_handshake_timeout", "ssl_shutdown_timeout")
_CALLED = ("get_buffer", "buffer_updated", "connection_made", "connection_lost")


def why_not_metered(protocol: type = SSLProtocol) -> str:
    """What this Python's TLS lacks of what `MeteredTls` needs; '' if nothing."""
    if not issubclass(protocol, asyncio.BufferedProtocol):
        return f"{protocol.__name__} is not a BufferedProtocol"
    names = list(inspect.signature(protocol).parameters)
    if tuple(names[: len(_ARGUMENTS)]) != _ARGUMENTS or not set(_KEYWORDS) <= set(names):
        return f"{protocol.__name__} takes other arguments: {', '.join(names)}"
    missing = [name for name in _CALLED if name not in vars(protocol)]
    return f"{protocol.__name__} has no {' and no '.join(missing)} of its own" if missing else ""


class MeteredTls(SSLProtocol):
    """Charges the connection in it for the time that TLS takes, and for bytes that were not data."""

    def __init__(
        self, connection: Connection, context: ssl.SSLContext, secured: "asyncio.Future[None]", limit_s: float
    ) -> None:
        """Names with two underscores, because the class below may have any of one.

        `secured` is set when the handshake is over, which has `limit_s`, as has the end of TLS."""
        super().__init__(
            asyncio.get_running_loop(),
            connection,
            context,
            secured,
            server_side=True,
            ssl_handshake_timeout=math.ceil(limit_s),
            ssl_shutdown_timeout=math.ceil(limit_s),
        )
        self.__connection = connection
        self.__secured = secured
        self.__unpaid_bytes = -_FREE_BYTES
        self.__raw: asyncio.WriteTransport | None = None

    def get_buffer(self, n: int) -> memoryview:
        """So little that all data in it fits into the connection's own buffer: what did not would be handed on later,
        and taken for bytes that are no data. In the handshake less, because what comes with its end is free."""
        view: memoryview = super().get_buffer(n)
        return view[: READ_BYTES - _FREE_BYTES if self.__secured.done() else _HANDSHAKE_READ_BYTES]

    def buffer_updated(self, nbytes: int) -> None:
        began_ns, began_cpu_ns, secured = time.perf_counter_ns(), time.thread_time_ns(), self.__secured.done()
        traffic = self.__connection.traffic
        data_bytes, spent_ns = traffic.received_bytes, traffic.spent_ns
        super().buffer_updated(nbytes)
        units = 0
        if secured:  # the bytes of the handshake are free
            self.__unpaid_bytes += nbytes - (traffic.received_bytes - data_bytes)
            units = max(0, self.__unpaid_bytes // BYTES_A_UNIT)
            self.__unpaid_bytes -= units * BYTES_A_UNIT
        self.__connection.pay_for_tls(units, charged_ns(began_ns, began_cpu_ns) - (traffic.spent_ns - spent_ns))
        if self.__connection.broken_off and self.__raw is not None:
            # TLS would read on, and keep its buffers, until the other side says that it ends, which it may never do.
            if self.__raw.get_write_buffer_size():
                self.__raw.abort()
            else:
                self.__raw.close()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.__raw = cast(asyncio.WriteTransport, transport)
        self.__connection.raw = cast(asyncio.ReadTransport, transport)
        super().connection_made(transport)

    def connection_lost(self, exc: BaseException | None) -> None:
        self.__raw = self.__connection.raw = None
        super().connection_lost(exc)


def server_tls(certificate: Path, key: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.options |= ssl.OP_NO_RENEGOTIATION
    context.set_alpn_protocols(["h2"])
    context.load_cert_chain(certificate, key)
    return context
