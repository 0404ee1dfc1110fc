"""The gRPC server on a private socket: for one bot process, or for guests of this machine. Identity by token."""

import asyncio
import itertools
import os
import shutil
import socket
import tempfile
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any

import grpc
from crosstown_proto.v1 import referee_pb2 as pb

from referee.wire import encode
from referee.wire.encode import WireLimits
from referee.wire.guests import Guest, find_guest
from referee.wire.handshake import HandshakeError, Refusal, Strangers, protocol_problem
from referee.wire.service import (
    HARD_MESSAGE_BYTES,
    HELLO_LIMIT_S,
    MAX_STRANGERS,
    add_play,
    hard_message_bytes,
    most_connections,
)
from referee.wire.session import Session

MAX_SOCKET_PATH_BYTES = 107
"""What fits into the address of a unix socket on Linux."""

MAX_CONNECTIONS_OF_ONE = 4
"""Each takes a file descriptor of the referee. A bot needs one; a second while it tries again."""

_SOCKET_NAME = "referee.sock"
_UNIX = "unix:"


class WireServer:
    """Accepts the processes that are expected; an async context manager.

    The socket lies in a folder of its own (mode 0700) that is removed at exit.
    """

    def __init__(
        self,
        folder: Path | None = None,
        *,
        name: str = _SOCKET_NAME,
        hello_limit_s: float = HELLO_LIMIT_S,
        max_connections: int | None = None,
        hard_message_bytes: int = HARD_MESSAGE_BYTES,
    ) -> None:
        """`folder` is made if need be; by default a new one under the system's folder for temporary files.

        ValueError if the path of the socket would be too long for the system, or cannot be an address. Entering raises
        OSError where it cannot listen, and leaves nothing behind.
        """
        self._folder = folder
        self._name = name
        connections = max_connections or most_connections()
        self._options = [
            *_OPTIONS,
            ("grpc.max_allowed_incoming_connections", connections),
            ("grpc.max_receive_message_length", hard_message_bytes),
        ]
        self._strangers = Strangers(min(MAX_STRANGERS, connections), hello_limit_s)
        self._numbers = itertools.count(1)
        self._hello_limit_s = hello_limit_s
        self._expected: dict[str, tuple[asyncio.Future[Session], WireLimits]] = {}
        self._used: set[str] = set()
        self.guests: list[Guest] = []
        """Those that were invited."""
        self._server: Any = None
        self._made: Path | None = None
        self.address = ""
        if folder is not None:
            _check_path(folder / name)

    async def __aenter__(self) -> "WireServer":
        folder = self._folder
        if folder is None:
            folder = self._made = Path(tempfile.mkdtemp(prefix="crosstown-"))
        else:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = folder / self._name
        _check_path(path)
        self._server = grpc.aio.server(options=self._options)
        add_play(self._server, self._play)
        self.address = f"{_UNIX}{path}"
        try:
            self._server.add_insecure_port(self.address)
        except RuntimeError:
            await self._server.stop(grace=0)
            self._tidy()
            raise _reason(path) from None
        await self._start()
        path.chmod(0o600)
        return self

    async def _start(self) -> None:
        """gRPC's server is not made for a start that is cancelled: it would keep its socket, and complain later."""
        starting = asyncio.ensure_future(self._server.start())
        try:
            await asyncio.shield(starting)
        except asyncio.CancelledError:
            while not starting.done():
                with suppress(asyncio.CancelledError):
                    await asyncio.wait([starting])
            try:
                await self._server.stop(grace=0)
            finally:
                self._tidy()
            raise

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            await self._server.stop(grace=0)
        finally:
            self._tidy()

    def _tidy(self) -> None:
        if self._made is not None:
            shutil.rmtree(self._made, ignore_errors=True)
        elif self._folder is not None:
            with suppress(OSError):
                (self._folder / self._name).unlink()

    def for_one(self, max_message_bytes: int) -> "WireServer":
        """A server for one process, on a socket beside this one: whatever that process does to it takes nothing from
        the others. Under `strict` it sees no other socket. Of memory it takes a few messages, each a few times
        `max_message_bytes`."""
        folder = Path(self.address.removeprefix(_UNIX)).parent
        return WireServer(
            folder,
            name=f"{next(self._numbers)}.sock",
            hello_limit_s=self._hello_limit_s,
            max_connections=MAX_CONNECTIONS_OF_ONE,
            hard_message_bytes=hard_message_bytes(max_message_bytes),
        )

    def expect(self, token: str, limits: WireLimits) -> "asyncio.Future[Session]":
        """The session that the process with `token` will open. HandshakeError if what it says is not acceptable."""
        future: asyncio.Future[Session] = asyncio.get_running_loop().create_future()
        self._expected[token] = future, limits
        return future

    def invite(self, guest: Guest) -> None:
        """From now on a bot with the guest's token is let in, whenever it comes."""
        self.guests.append(guest)

    async def _play(self, _requests: object, context: "grpc.aio.ServicerContext[bytes, bytes]") -> None:
        try:
            session = self._admit(await self._strangers.hear_out(context), context)
        except Refusal as refusal:
            await context.abort(refusal.code, str(refusal))
        await session.read_all()

    def _admit(self, hello: pb.Hello, context: "grpc.aio.ServicerContext[bytes, bytes]") -> Session:
        """Raises Refusal."""
        guest = find_guest(self.guests, hello.token)
        if guest is not None:
            return guest.admit(hello, context)
        if hello.token in self._used:
            sentence = "this token has opened a session already: one process, one token, one stream for all its matches"
            raise Refusal(grpc.StatusCode.ALREADY_EXISTS, sentence)
        if hello.token not in self._expected:
            sentence = "unknown token: send the value of CROSSTOWN_TOKEN unchanged; it is valid for one process only"
            raise Refusal(grpc.StatusCode.UNAUTHENTICATED, sentence)
        future, limits = self._expected.pop(hello.token)
        self._used.add(hello.token)
        if problem := protocol_problem(hello):
            if not future.done():
                future.set_exception(HandshakeError(problem))
            raise Refusal(grpc.StatusCode.FAILED_PRECONDITION, problem)
        session = Session(context, hello)
        session.send(encode.welcome(limits))
        if not future.done():
            future.set_result(session)
        return session


_OPTIONS: list[tuple[str, int]] = [
    ("grpc.max_send_message_length", -1),
    ("grpc.max_concurrent_streams", 4),
    # A bot may ping once a second, with or without a call, for as long as it likes; the referee never pings.
    ("grpc.keepalive_time_ms", 2**31 - 1),
    ("grpc.keepalive_permit_without_calls", 1),
    ("grpc.http2.min_ping_interval_without_data_ms", 900),
    ("grpc.http2.max_ping_strikes", 0),
    # gRPC measures the connection with pings of its own and ends it a minute after one without an answer: a bot that
    # is stopped for so long would lose its stream.
    ("grpc.http2.ping_timeout_ms", 2**31 - 1),
    ("grpc.so_reuseport", 0),
]


def _reason(path: Path) -> OSError:
    """Why no socket can be bound to `path`, which gRPC does not tell."""
    try:
        with socket.socket(socket.AF_UNIX) as probe:
            probe.bind(str(path))
        path.unlink()
    except OSError as error:
        return OSError(error.errno, f"cannot listen on {path}: {os.strerror(error.errno or 0)}")
    return OSError(f"gRPC cannot listen on {path}")


def _check_path(path: Path) -> None:
    size = len(os.fsencode(path))
    if size > MAX_SOCKET_PATH_BYTES:
        raise ValueError(
            f"the socket path {path} has {size} bytes, a unix socket takes {MAX_SOCKET_PATH_BYTES}:"
            " choose a shorter folder, such as one under /tmp"
        )
    if "%" in str(path):
        raise ValueError(f"the socket path {path} has a '%', which gRPC takes for an escape: choose another folder")
