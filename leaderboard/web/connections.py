"""Connections of the web server within its limits: how many, how long a request may take to arrive, and what a reader
that does not read holds. No browser meets these limits; who opens connections and does not use them does.
"""

import asyncio
import ipaddress
import socket
from collections.abc import Sequence
from typing import Any

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from leaderboard.web.limits import Places, WebLimits
from referee.addresses import address_key

_LOOK_S = 1.0
"""How often a connection is looked at, at the least."""

_FULL = b"This server has as many connections as it takes, in all or from one address. Try again later.\n"
_REFUSAL = (
    b"HTTP/1.1 503 Service Unavailable\r\nContent-Type: text/plain; charset=utf-8\r\nRetry-After: 10\r\n"
    b"Content-Length: %d\r\nConnection: close\r\n\r\n%s" % (len(_FULL), _FULL)
)


class LimitedServer(uvicorn.Server):
    """Listens on sockets that are given, and ends connections whose TLS handshake takes longer than a request may."""

    def __init__(self, config: uvicorn.Config, limits: WebLimits) -> None:
        super().__init__(config)
        self._limits = limits

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        loop = asyncio.get_running_loop()
        config = self.config

        def protocol() -> asyncio.Protocol:
            made: asyncio.Protocol = config.http_protocol_class(  # type: ignore[call-arg]
                config=config, server_state=self.server_state, app_state=self.lifespan.state
            )
            return made

        limit_s = None if config.ssl is None else self._limits.request_s
        self.servers = [
            await loop.create_server(
                protocol, sock=listening, ssl=config.ssl, backlog=config.backlog, ssl_handshake_timeout=limit_s
            )
            for listening in sockets or ()
        ]
        self.started = True


def limited_protocol(limits: WebLimits, proxies: Sequence[str] = ()) -> type[asyncio.Protocol]:
    """The protocol for `uvicorn.Config(http=...)` of one server. The connections of `proxies`, addresses and networks,
    are those of many visitors: they count in all, and not by address."""
    trusted = [ipaddress.ip_network(one, strict=False) for one in proxies]
    places = Places(limits.connections, limits.connections_per_address)
    connections: dict[str, set[Any]] = {}
    look_s = min(_LOOK_S, limits.request_s / 4, limits.stalled_s / 4)

    class LimitedProtocol(H11Protocol):
        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            host = self.client[0] if self.client else ""
            self._address = f"proxy {id(self)}" if _is_among(host, trusted) else address_key(host)
            self._asks_since_s: float | None = self.loop.time()
            self._came_since_s = self.loop.time()
            self._left_bytes = 0
            self._came_bytes = 0
            self._stalled_since_s = 0.0
            self._watch: asyncio.TimerHandle | None = None
            if not places.take(self._address):
                transport.write(_REFUSAL)
                transport.close()
                return
            connections.setdefault(self._address, set()).add(self)
            self._watch = self.loop.call_later(look_s, self._look)

        def connection_lost(self, exc: Exception | None) -> None:
            if self._watch is not None:
                self._watch.cancel()
                places.give_back(self._address)
                connections[self._address].discard(self)
                if not connections[self._address]:
                    del connections[self._address]
            super().connection_lost(exc)

        def data_received(self, data: bytes) -> None:
            if self._watch is not None:  # else it was refused
                self._came_bytes += len(data)
                super().data_received(data)

        def pause_writing(self) -> None:
            super().pause_writing()
            held = sum(other.transport.get_write_buffer_size() for other in connections[self._address] - {self})
            if held and held + self.transport.get_write_buffer_size() > limits.held_bytes:
                self.transport.abort()

        def resume_writing(self) -> None:
            super().resume_writing()
            self._left_bytes = 0  # much was read since

        def _asks(self) -> bool:
            """Whether a request is on its way: no whole head yet, or no whole body."""
            state = self.conn.their_state
            return state is h11.SEND_BODY or (state is h11.IDLE and self.timeout_keep_alive_task is None)

        def _look(self) -> None:
            now_s = self.loop.time()
            if not self._asks():
                self._asks_since_s = None
            elif self._asks_since_s is None:
                self._asks_since_s = self._came_since_s = now_s
                self._came_bytes = 0
            elif self._came_bytes >= limits.least_bytes or (self.flow is not None and self.flow.read_paused):
                self._came_bytes, self._came_since_s = 0, now_s
            left_bytes = self.transport.get_write_buffer_size()
            if not left_bytes or not self._left_bytes or self._left_bytes - left_bytes >= limits.least_bytes:
                self._left_bytes, self._stalled_since_s = left_bytes, now_s
            too_late = self._asks_since_s is not None and (
                now_s - self._came_since_s > limits.request_s or now_s - self._asks_since_s > limits.upload_s
            )
            if too_late or now_s - self._stalled_since_s > limits.stalled_s:
                self.transport.abort()
            self._watch = self.loop.call_later(look_s, self._look)

    return LimitedProtocol


def _is_among(host: str, networks: Sequence[ipaddress.IPv4Network | ipaddress.IPv6Network]) -> bool:
    try:
        address = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return False
    return any(address in network for network in networks)
