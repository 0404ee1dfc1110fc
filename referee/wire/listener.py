"""Accepts connections, a bounded number at a time and a second, and runs a handler for each call."""

import asyncio
import errno
import os
import resource
import socket
import ssl
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from referee.addresses import address_key, oldest_of_busiest
from referee.folders import refuse_descriptors
from referee.schedule.spec import MOST_MESSAGE_BYTES
from referee.wire.budget import Traffic
from referee.wire.handshake import MAX_HELLO_BYTES
from referee.wire.http2 import READ_BYTES, Call, Connection, Status
from referee.wire.pace import Pace
from referee.wire.timed_socket import TimedSocket
from referee.wire.tls import MeteredTls

_LEAST_HARD_BYTES = 1 << 20
_HARD_FACTOR = 4

HELLO_LIMIT_S = 10.0
MAX_CONNECTIONS = 512
MAX_STRANGERS = 64
"""Streams without a Hello at one time. A bot says Hello at once."""


def hard_message_bytes(limit_bytes: int) -> int:
    """Above it a message ends the call before it is read, so it lies well above `limit_bytes`, which the match checks:
    after a message that is only above that a bot may go on, if a strike pays for it."""
    return min(MOST_MESSAGE_BYTES, max(_LEAST_HARD_BYTES, _HARD_FACTOR * limit_bytes))


def most_connections() -> int:
    """Of all remote_bots, and strangers: a fourth of the file descriptors of this process at most."""
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return max(16, min(MAX_CONNECTIONS, files // 4))


_ALL = ("0.0.0.0", "::")  # noqa: S104 - where the organiser says so
BACKLOG = 128
ACCEPTS_A_SECOND = 100
ACCEPTS_AT_ONCE = 400
"""Who connects faster than that waits in the kernel's queue: a TLS handshake takes a millisecond."""
ACCEPTS_A_TURN = 16
"""Before others have a turn of the event loop."""
ACCEPTS_OF_ONE = 10
"""Of one address each second while fewer than half of `ACCEPTS_AT_ONCE` are left: more of its connections are closed
at once, so that those of other addresses do not wait behind them in the kernel's queue."""
_CLOSE_COST = 0.05
"""To close a connection takes a small part of the time of a TLS handshake."""

_FIRST_BYTES = 4 * MAX_HELLO_BYTES
"""Of a first message so much is taken, to say that it is too long."""

_REST_S = 0.1
_FULL_S = 1.0
_LOOK_S = 0.25


@dataclass(frozen=True, slots=True)
class Bounds:
    """`connections` at one time, `in_all` while this listens (0: any number). A connection without a call is closed
    after `idle_s`; one from which nothing came for `keepalive_s` is sent a ping, and closed if nothing has come
    `keepalive_limit_s` after that (0: neither)."""

    connections: int
    in_all: int = 0
    idle_s: float = 0.0
    keepalive_s: float = 0.0
    keepalive_limit_s: float = 0.0


class Listener:
    """A `Host` of connections on some sockets that are bound already. It owns the sockets.

    Where there are as many connections as there may be, the oldest goes that is of no use yet or any more: in its TLS
    handshake, without an accepted Hello, or without a call; of the address that most of these come from. If all are of
    use, the new one goes.
    """

    def __init__(
        self,
        sockets: Sequence[socket.socket],
        play: Callable[[Call], Awaitable[None]],
        bounds: Bounds,
        *,
        tls: ssl.SSLContext | None = None,
        tls_limit_s: float = 10.0,
        one: bool = False,
        on_give_up: Callable[[str], None] = lambda _: None,
    ) -> None:
        """With `one` all connections are of the same bot: what they send is counted together.

        `on_give_up` is called with a reason when more than `in_all` have come, or when those that have come made system
        calls slow for too long; then it listens no more."""
        self.traffic = Traffic()
        """Of all connections together, where they are of one bot."""
        self.max_first_bytes = _FIRST_BYTES
        self.buffer = memoryview(bytearray(READ_BYTES))
        self._sockets = list(sockets)
        self._play = play
        self._bounds = bounds
        self._one = one
        self._tls = tls
        self._tls_limit_s = tls_limit_s
        self._on_give_up = on_give_up
        self._loop = asyncio.get_running_loop()
        self._connections: dict[Connection, None] = {}
        self._arriving: dict[asyncio.Task[None], str] = {}
        """Connections before the end of their TLS handshake, by the address they come from."""
        self._calls: set[asyncio.Task[None]] = set()
        self._accepts = float(ACCEPTS_AT_ONCE)
        self._accepts_seen_s = time.monotonic()
        self._second = 0
        self._of_second = Counter[str]()
        """Connections of the current second, by address."""
        self._timers: dict[socket.socket | None, asyncio.TimerHandle] = {}
        self._look_due_s = 0.0
        self._pace = None if one else Pace()
        """Of connections that may be anybody's. Those of a process that the referee has started are of one bot, which
        is charged for them."""

    def start(self) -> None:
        for listening in self._sockets:
            listening.setblocking(False)
            listening.listen(BACKLOG)
            self._loop.add_reader(listening, self._accept, listening)
        if self._bounds.idle_s or self._bounds.keepalive_s:
            self._look_due_s = time.monotonic()
            self._look()

    def stop_listening(self) -> None:
        """Nobody gets in any more, and who tries learns it from the system."""
        for listening in self._sockets:
            self._loop.remove_reader(listening)
            listening.close()
            if (timer := self._timers.pop(listening, None)) is not None:
                timer.cancel()
        self._sockets.clear()

    def close_others(self, known: Call) -> None:
        """End all connections but that of a call."""
        for connection in list(self._connections):
            if not known.is_of(connection):
                connection.close()

    async def stop(self) -> None:
        """End all."""
        self.stop_listening()
        if self._pace is not None:
            self._pace.stop()
        for timer in self._timers.values():
            timer.cancel()
        for connection in list(self._connections):
            connection.close()
        tasks = [*self._arriving, *self._calls]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.sleep(0)  # what was closed is gone in the next turn of the loop
        for connection in list(self._connections):
            connection.abort()

    # What connections call

    def begin_call(self, call: Call) -> None:
        task = self._loop.create_task(self._run(call))
        self._calls.add(task)
        task.add_done_callback(self._calls.discard)

    def connection_made(self, connection: Connection) -> None:
        self._connections[connection] = None

    def connection_lost(self, connection: Connection) -> None:
        self._connections.pop(connection, None)
        self.connection_known(connection)

    def connection_known(self, connection: Connection) -> None:
        if self._pace is not None:
            self._pace.discard(connection)

    def time_spent(self, connection: Connection, spent_ns: int) -> None:
        if self._pace is not None:
            self._pace.spend(connection, spent_ns)

    async def _run(self, call: Call) -> None:
        try:
            await self._play(call)
        except asyncio.CancelledError:
            call.finish(Status.UNAVAILABLE, "the referee has closed this socket")
            raise
        except Exception:
            call.finish(Status.INTERNAL, "the referee has failed")
            raise
        call.finish(Status.OK)

    # Accepting

    def _accept(self, listening: socket.socket) -> None:
        for _ in range(ACCEPTS_A_TURN):
            if listening not in self._sockets:
                return
            if not self._may_accept():
                self._rest(_REST_S, listening)
                return
            try:
                line, address = listening.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                return
            except OSError:  # no file descriptor is free
                self._rest(_FULL_S, listening)
                return
            origin = address_key(str(address[0])) if isinstance(address, tuple) else ""
            if self._is_too_often_there(origin):
                self._accepts -= _CLOSE_COST
                line.close()
                continue
            self._accepts -= 1
            self._take(line, origin)

    def _is_too_often_there(self, origin: str) -> bool:
        """Whether the address of a new connection has made too many of those of this second."""
        second = int(self._loop.time())
        if second != self._second:
            self._second, self._of_second = second, Counter()
        self._of_second[origin] += 1
        return bool(origin) and self._accepts < ACCEPTS_AT_ONCE / 2 and self._of_second[origin] > ACCEPTS_OF_ONE

    def _may_accept(self) -> bool:
        if self._pace is not None and self._pace.is_over:
            return False
        now_s = time.monotonic()
        refill = (now_s - self._accepts_seen_s) * ACCEPTS_A_SECOND
        self._accepts, self._accepts_seen_s = min(ACCEPTS_AT_ONCE, self._accepts + refill), now_s
        return self._accepts >= 1

    def _rest(self, seconds: float, listening: socket.socket) -> None:
        def go_on() -> None:
            if listening in self._sockets:
                self._loop.add_reader(listening, self._accept, listening)

        self._loop.remove_reader(listening)
        self._timers[listening] = self._loop.call_later(seconds, go_on)

    def _take(self, line: socket.socket, origin: str) -> None:
        self.traffic.connections += 1
        if self._bounds.in_all and self.traffic.connections > self._bounds.in_all:
            line.close()
            tries = f"more than {self._bounds.in_all} connections without a Hello that is accepted"
            self._give_up(f"it made {tries}; one is enough")
            return
        if self._one and self.traffic.slow_calls.overdrawn:
            line.close()
            self._give_up("too many threads or epolls wait for its connections")
            return
        if len(self._connections) + len(self._arriving) >= self._bounds.connections and not self._turn_one_away():
            line.close()
            return
        if line.family == socket.AF_UNIX:
            line = TimedSocket(line.family, line.type, line.proto, fileno=line.detach())
        else:
            line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        task = self._loop.create_task(self._greet(line, origin))
        self._arriving[task] = origin
        task.add_done_callback(lambda _: self._greeted(task, line))

    def _give_up(self, why: str) -> None:
        self.stop_listening()
        self._on_give_up(why)

    def _greeted(self, task: asyncio.Task[None], line: socket.socket) -> None:
        self._arriving.pop(task, None)
        if task.cancelled():  # perhaps before its first step: then no transport owns the socket, and nobody closes it
            line.close()

    async def _greet(self, line: socket.socket, origin: str) -> None:
        timed = line if isinstance(line, TimedSocket) else None
        connection = Connection(self, origin, self.traffic if self._one else Traffic(connections=1), timed)
        if self._pace is not None:
            self._pace.add(connection)
        is_there = False
        try:
            is_there = await self._connect(line, connection)
        finally:
            if not is_there:
                self.connection_known(connection)

    async def _connect(self, line: socket.socket, connection: Connection) -> bool:
        """Whether the connection is there, with TLS if need be."""
        secured = self._loop.create_future()
        protocol: asyncio.BaseProtocol = connection
        if self._tls is not None:
            protocol = MeteredTls(connection, self._tls, secured, self._tls_limit_s)
        try:
            transport, _ = await self._loop.connect_accepted_socket(lambda: protocol, line)
        except OSError:
            line.close()
            return False
        if self._tls is not None:
            try:
                await secured
            except OSError:  # an SSLError is one
                transport.abort()
                return False
            except BaseException:
                transport.abort()
                raise
        return True

    def _turn_one_away(self) -> bool:
        useless: dict[Any, str] = {
            **{connection: connection.origin for connection in self._connections if not connection.in_use},
            **self._arriving,
        }
        if not useless:
            return False
        gone = oldest_of_busiest(useless)
        if isinstance(gone, Connection):
            gone.abort()
            del self._connections[gone]
        else:
            gone.cancel()
            del self._arriving[gone]
        return True

    def _look(self) -> None:
        """At connections that nobody uses, and at those from which nothing comes."""
        bounds, now_s = self._bounds, time.monotonic()
        late_s = max(0.0, now_s - self._look_due_s)
        for connection in list(self._connections):
            connection.excuse(late_s)
            pinged = connection.pinged_at_s > connection.heard_at_s
            if connection.idle and bounds.idle_s and now_s - connection.idle_since_s > bounds.idle_s:
                connection.close()
            elif not bounds.keepalive_s:
                continue
            elif pinged and now_s - connection.pinged_at_s > bounds.keepalive_limit_s:
                connection.abort()
            elif not pinged and now_s - connection.heard_at_s > bounds.keepalive_s:
                connection.ping()
        self._look_due_s = time.monotonic() + _LOOK_S
        self._timers[None] = self._loop.call_later(_LOOK_S, self._look)


def bind_unix(path: Path) -> socket.socket:
    """A socket that nobody else may connect to. Raises OSError, and leaves nothing behind."""
    bound = socket.socket(socket.AF_UNIX)
    try:
        if path.is_socket():  # of a referee that is gone
            path.unlink()
        refuse_descriptors(bound)
        bound.bind(str(path))
        path.chmod(0o600)
    except OSError as error:
        bound.close()
        raise OSError(error.errno, f"cannot listen on {path}: {os.strerror(error.errno or 0)}") from None
    return bound


def bind_tcp(host: str, port: int) -> list[socket.socket]:
    """A socket for each address that `host` stands for, all on the same port. Raises OSError if there is none."""
    if host in _ALL:
        try:
            return [_bound_to(socket.AF_INET6, (_ALL[1], port))]
        except OSError:  # no IPv6 on this machine, or the port is taken
            return [_bound_to(socket.AF_INET, (_ALL[0], port))]
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    sockets: list[socket.socket] = []
    trouble = OSError(errno.EADDRNOTAVAIL, host)
    for family, _, _, _, address in found:
        shared = sockets[0].getsockname()[1] if sockets else port
        try:
            sockets.append(_bound_to(family, (address[0], shared, *address[2:])))
        except OSError as error:
            trouble = error
    if not sockets or trouble.errno == errno.EADDRINUSE:
        for bound in sockets:
            bound.close()
        raise trouble
    return sockets


def _bound_to(family: int, address: tuple[Any, ...]) -> socket.socket:
    bound = socket.socket(family, socket.SOCK_STREAM)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            bound.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, address[0] != "::")
        bound.bind(address)
    except OSError:
        bound.close()
        raise
    return bound
