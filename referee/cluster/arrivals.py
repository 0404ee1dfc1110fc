"""Limits for connections to a scheduler or a machine of a cluster that do not begin to speak. Dask has none: each would
keep a file descriptor for as long as a stranger likes."""

import resource
from typing import Any

from distributed.core import Server

from referee.addresses import address_key, oldest_of_busiest
from referee.wire.patience import PatientTimer

ARRIVAL_S = 10.0
"""Time that a connection has for the handshakes of TLS and of Dask. A busy process does not count the time in which it
stands still."""

MOST_ARRIVING = 64
"""Connections from one address in their handshakes. With one more, the oldest of them is closed."""

MOST_IN_ALL = 2048
"""The same from all addresses together. With one more, the oldest of the address with the most is closed."""


def most_in_all() -> int:
    """At most half of the file descriptors of this process: machines and runners need the others."""
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return max(MOST_ARRIVING, min(MOST_IN_ALL, files // 2))


def limit_arrivals(
    server: Server, limit_s: float = ARRIVAL_S, most: int = MOST_ARRIVING, in_all: int | None = None
) -> None:
    """Close connections to this server, which has started, that are not in time, or too many. `in_all`: None for
    `most_in_all()`."""
    listeners: Any = server.listeners
    for listener in listeners:
        listening = listener.tcp_server
        arrivals = _Arrivals(listening.handle_stream, limit_s, most, most_in_all() if in_all is None else in_all)
        listening.handle_stream = arrivals.take


class _Arrivals:
    def __init__(self, accept: Any, limit_s: float, most: int, in_all: int) -> None:
        """`accept` is Dask's function for a connection: it returns after the handshakes."""
        self._accept = accept
        self._limit_s = limit_s
        self._most = most
        self._in_all = in_all
        self._arriving: dict[Any, str] = {}
        """Streams before the end of their handshakes, by the address that they come from, the oldest first."""

    async def take(self, stream: Any, address: tuple[Any, ...]) -> None:
        key = address_key(address[0])
        same = [other for other, origin in self._arriving.items() if origin == key]
        if len(same) >= self._most:
            self._close(same[0])
        elif len(self._arriving) >= self._in_all:
            self._close(oldest_of_busiest(self._arriving))
        self._arriving[stream] = key
        timer = PatientTimer(self._limit_s, stream.close)
        try:
            await self._accept(stream, address)
        finally:
            timer.cancel()
            self._arriving.pop(stream, None)

    def _close(self, stream: Any) -> None:
        # It counts no more from now on. Its task ends later: many connections may come before that.
        del self._arriving[stream]
        stream.close()
