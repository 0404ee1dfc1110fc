"""Connections of the web server within its limits: how many, how long a request may take to arrive, and what a reader
that does not read holds. No browser meets these limits; who opens connections and does not use them does.
"""

import asyncio
import ipaddress
import socket
import ssl
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, TypeAlias, cast

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from leaderboard.web.limits import Places, WebLimits
from referee.addresses import address_key, oldest_of_busiest

_LOOK_S = 1.0
"""How often a connection is looked at, at the least."""

_FULL = b"This server has as many connections as it takes, in all or from one address. Try again later.\n"
_REFUSAL = (
    b"HTTP/1.1 503 Service Unavailable\r\nContent-Type: text/plain; charset=utf-8\r\nRetry-After: 10\r\n"
    b"Content-Length: %d\r\nConnection: close\r\n\r\n%s" % (len(_FULL), _FULL)
)


_Network: TypeAlias = ipaddress.IPv4Network | ipaddress.IPv6Network

_REFUSED_S = 2.0
"""Time in which a client with TLS can read the refusal and end its connection. It would have 30 s otherwise, and such
connections are not counted."""

_REST_S = 1.0
"""Without a free file descriptor, the next connection is accepted after this time."""


class LimitedServer(uvicorn.Server):
    """Listens on sockets that are given, within the limits: see `Acceptor`."""

    def __init__(self, config: uvicorn.Config, limits: WebLimits, proxies: Sequence[str] = ()) -> None:
        super().__init__(config)
        self._limits = limits
        self._trusted = _networks(proxies)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        config = self.config

        def protocol() -> asyncio.Protocol:
            made: asyncio.Protocol = config.http_protocol_class(  # type: ignore[call-arg]
                config=config, server_state=self.server_state, app_state=self.lifespan.state
            )
            return made

        self.servers = []
        for listening in sockets or ():
            listening.listen(config.backlog)
            acceptor = Acceptor(listening, protocol, config.ssl, self._limits, self._trusted)
            self.servers.append(cast(asyncio.Server, acceptor))
        self.started = True


class Acceptor:
    """Accepts connections on a socket. With `tls` it makes their handshakes: at one time at most half of the number of
    connections that the server, and one address, may have. With one more, the oldest of this address is closed, or else
    of the address with the most.

    The protocol counts a connection once its handshake is over: without this limit, connections that never send a byte
    would take all file descriptors. asyncio's own server accepts thousands of connections before the protocol sees the
    first, and without a free descriptor it logs each one that it cannot accept. `close` and `wait_closed` are those of
    `asyncio.Server`.
    """

    def __init__(
        self,
        listening: socket.socket,
        protocol: Callable[[], asyncio.Protocol],
        tls: ssl.SSLContext | None,
        limits: WebLimits,
        trusted: Sequence[_Network],
    ) -> None:
        self._listening = listening
        self._protocol = protocol
        self._tls = tls
        self._limit_s = None if tls is None else limits.request_s
        self._trusted = trusted
        self._most = max(1, limits.connections // 2)
        self._most_per_address = max(1, limits.connections_per_address // 2)
        self._loop = asyncio.get_running_loop()
        self._going: dict[asyncio.Task[None], str] = {}
        """Handshakes, the oldest first, by what their connections count as."""
        self._rest: asyncio.TimerHandle | None = None
        listening.setblocking(False)
        self._listen()

    def close(self) -> None:
        self._loop.remove_reader(self._listening)
        if self._rest is not None:
            self._rest.cancel()
        for task in self._going:
            task.cancel()

    async def wait_closed(self) -> None:
        await asyncio.gather(*self._going, return_exceptions=True)

    def _listen(self) -> None:
        self._loop.add_reader(self._listening, self._accept)

    def _accept(self) -> None:
        try:
            line, address = self._listening.accept()
        except (BlockingIOError, InterruptedError, ConnectionAbortedError):
            return
        except OSError:  # no file descriptor is free
            self._loop.remove_reader(self._listening)
            self._rest = self._loop.call_later(_REST_S, self._listen)
            return
        key = _counted_as(str(address[0]), self._trusted, line)
        if self._tls is not None:
            self._make_room(key)
        task = self._loop.create_task(self._greet(line))
        self._going[task] = key
        task.add_done_callback(lambda _: self._greeted(task, line))

    def _make_room(self, key: str) -> None:
        same = [other for other, origin in self._going.items() if origin == key]
        if len(same) >= self._most_per_address:
            self._end(same[0])
        elif len(self._going) >= self._most:
            self._end(oldest_of_busiest(self._going))

    def _end(self, task: asyncio.Task[None]) -> None:
        del self._going[task]
        task.cancel()

    async def _greet(self, line: socket.socket) -> None:
        line.setblocking(False)
        with suppress(OSError):  # an SSLError is one
            await self._loop.connect_accepted_socket(
                self._protocol, line, ssl=self._tls, ssl_handshake_timeout=self._limit_s
            )

    def _greeted(self, task: asyncio.Task[None], line: socket.socket) -> None:
        self._going.pop(task, None)
        if task.cancelled():  # perhaps before its first step: then no transport owns the socket
            line.close()


def limited_protocol(limits: WebLimits, proxies: Sequence[str] = ()) -> type[asyncio.Protocol]:
    """The protocol for `uvicorn.Config(http=...)` of one server. The connections of `proxies`, addresses and networks,
    are those of many visitors: they count in all, and not by address."""
    trusted = _networks(proxies)
    places = Places(limits.connections, limits.connections_per_address)
    connections: dict[str, set[Any]] = {}
    look_s = min(_LOOK_S, limits.request_s / 4, limits.stalled_s / 4)

    class LimitedProtocol(H11Protocol):
        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            host = self.client[0] if self.client else ""
            self._address = _counted_as(host, trusted, self)
            self._asks_since_s: float | None = self.loop.time()
            self._came_since_s = self.loop.time()
            self._left_bytes = 0
            self._came_bytes = 0
            self._stalled_since_s = 0.0
            self._watch: asyncio.TimerHandle | None = None
            if not places.take(self._address):
                transport.write(_REFUSAL)
                transport.close()
                self.loop.call_later(_REFUSED_S, transport.abort)
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

        def handle_events(self) -> None:
            try:
                super().handle_events()
            except h11.LocalProtocolError:  # what came is no HTTP, and its request has been answered already
                self.transport.close()

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


def _networks(proxies: Sequence[str]) -> list[_Network]:
    return [ipaddress.ip_network(one, strict=False) for one in proxies]


def _counted_as(host: str, trusted: Sequence[_Network], one: object) -> str:
    """The address to which a connection from this host is counted: for a proxy, each connection has its own."""
    return f"proxy {id(one)}" if _is_among(host, trusted) else address_key(host)


def _is_among(host: str, networks: Sequence[_Network]) -> bool:
    try:
        address = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return False
    return any(address in network for network in networks)
