"""Limits for connections to a scheduler or a machine of a cluster that do not begin to speak. Dask has none: each would
keep a file descriptor for as long as a stranger likes."""

from typing import Any

from distributed.core import Server

from referee.addresses import address_key
from referee.wire.patience import PatientTimer

ARRIVAL_S = 10.0
"""Time that a connection has for the handshakes of TLS and of Dask. A busy process does not count the time in which it
stands still."""

MOST_ARRIVING = 64
"""Connections from one address in their handshakes. With one more, the oldest of them is closed."""


def limit_arrivals(server: Server, limit_s: float = ARRIVAL_S, most: int = MOST_ARRIVING) -> None:
    """Close connections to this server, which has started, that are not in time, or too many from one address."""
    listeners: Any = server.listeners
    for listener in listeners:
        listening = listener.tcp_server
        listening.handle_stream = _Arrivals(listening.handle_stream, limit_s, most).take


class _Arrivals:
    def __init__(self, accept: Any, limit_s: float, most: int) -> None:
        """`accept` is Dask's function for a connection: it returns after the handshakes."""
        self._accept = accept
        self._limit_s = limit_s
        self._most = most
        self._arriving: dict[Any, str] = {}
        """Streams before the end of their handshakes, by the address that they come from, the oldest first."""

    async def take(self, stream: Any, address: tuple[Any, ...]) -> None:
        key = address_key(address[0])
        same = [other for other, origin in self._arriving.items() if origin == key]
        if len(same) >= self._most:
            same[0].close()
        self._arriving[stream] = key
        timer = PatientTimer(self._limit_s, stream.close)
        try:
            await self._accept(stream, address)
        finally:
            timer.cancel()
            del self._arriving[stream]
