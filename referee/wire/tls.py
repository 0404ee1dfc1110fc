"""TLS around a connection, in which nothing is free either.

The standard library reads TLS without telling the connection what came that was no data of it: a client of TLS 1.3 may
renew its keys as often as it likes, each time for five bytes of its own and some 20 us of the referee's.
"""

import asyncio
import math
import ssl
import time
from asyncio.sslproto import SSLProtocol
from pathlib import Path
from typing import cast

from referee.wire.http2 import Connection, charged_ns

BYTES_A_UNIT = 22
"""The least that a record has besides its data (RFC 8446, 5.2)."""

_FREE_BYTES = 17 << 10
"""More than a record may have, of which the data is seen only when it is whole."""


class MeteredTls(SSLProtocol):
    """Charges the connection in it for the time that TLS takes, and for bytes that were not data."""

    def __init__(
        self, connection: Connection, context: ssl.SSLContext, secured: "asyncio.Future[None]", limit_s: float
    ) -> None:
        """`secured` is set when the handshake is over, which has `limit_s`, as has the end of TLS."""
        super().__init__(
            asyncio.get_running_loop(),
            connection,
            context,
            secured,
            server_side=True,
            ssl_handshake_timeout=math.ceil(limit_s),
            ssl_shutdown_timeout=math.ceil(limit_s),
        )
        self._connection = connection
        self._secured = secured
        self._unpaid_bytes = -_FREE_BYTES
        self._raw: asyncio.WriteTransport | None = None

    def buffer_updated(self, nbytes: int) -> None:
        began_ns, began_cpu_ns, secured = time.perf_counter_ns(), time.thread_time_ns(), self._secured.done()
        traffic = self._connection.traffic
        data_bytes, spent_ns = traffic.received_bytes, traffic.spent_ns
        super().buffer_updated(nbytes)
        units = 0
        if secured:  # the bytes of the handshake are free
            self._unpaid_bytes += nbytes - (traffic.received_bytes - data_bytes)
            units = max(0, self._unpaid_bytes // BYTES_A_UNIT)
            self._unpaid_bytes -= units * BYTES_A_UNIT
        self._connection.pay_for_tls(units, charged_ns(began_ns, began_cpu_ns) - (traffic.spent_ns - spent_ns))
        if self._connection.broken_off and self._raw is not None:
            # TLS would read on, and keep its buffers, until the other side says that it ends, which it may never do.
            if self._raw.get_write_buffer_size():
                self._raw.abort()
            else:
                self._raw.close()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._raw = cast(asyncio.WriteTransport, transport)
        super().connection_made(transport)

    def connection_lost(self, exc: BaseException | None) -> None:
        self._raw = None
        super().connection_lost(exc)


def server_tls(certificate: Path, key: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.options |= ssl.OP_NO_RENEGOTIATION
    context.set_alpn_protocols(["h2"])
    context.load_cert_chain(certificate, key)
    return context
