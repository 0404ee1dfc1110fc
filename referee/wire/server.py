"""The gRPC server on a private socket: for one bot process, or for guests of this machine. Identity by token."""

import asyncio
import itertools
import os
import shutil
from contextlib import suppress
from pathlib import Path
from types import TracebackType

from crosstown_proto.v1 import referee_pb2 as pb

from referee.folders import MAX_SOCKET_PATH_BYTES, make_socket_folder
from referee.wire import encode
from referee.wire.encode import WireLimits
from referee.wire.guests import Guest, find_guest
from referee.wire.handshake import HandshakeError, Refusal, Strangers, protocol_problem
from referee.wire.http2 import Call, Status
from referee.wire.listener import Bounds, Listener, bind_unix
from referee.wire.service import (
    HARD_MESSAGE_BYTES,
    HELLO_LIMIT_S,
    MAX_STRANGERS,
    hard_message_bytes,
    most_connections,
)
from referee.wire.session import Session

MAX_CONNECTIONS_OF_ONE = 4
"""Before Hello, at one time. Each takes a file descriptor of the referee. A bot needs one; a second while it tries
again. After Hello it has that one, and nobody listens any more."""

MOST_TRIES = 64
"""Connections of one process before Hello, in all."""

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
        one: bool = False,
        hard_message_bytes: int = HARD_MESSAGE_BYTES,
    ) -> None:
        """`folder` is made if need be; by default a new one under the system's folder for temporary files. With `one`
        it is for a single process: it stops listening when that has said Hello.

        ValueError if the path of the socket would be too long for the system, or cannot be an address. Entering raises
        OSError where it cannot listen, and leaves nothing behind.
        """
        self._folder = folder
        self._name = name
        self._one = one
        self._hard_message_bytes = hard_message_bytes
        connections = MAX_CONNECTIONS_OF_ONE if one else most_connections()
        self._bounds = Bounds(connections, in_all=MOST_TRIES if one else 0)
        self._listener: Listener | None = None
        self._strangers = Strangers(min(MAX_STRANGERS, connections), hello_limit_s)
        self._numbers = itertools.count(1)
        self._hello_limit_s = hello_limit_s
        self._expected: dict[str, tuple[asyncio.Future[Session], WireLimits]] = {}
        self._used: set[str] = set()
        self.guests: list[Guest] = []
        """Those that were invited."""
        self._made: Path | None = None
        self.address = ""
        if folder is not None:
            _check_path(folder / name)

    async def __aenter__(self) -> "WireServer":
        folder = self._folder
        if folder is None:
            folder = self._made = make_socket_folder()
        else:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = folder / self._name
        _check_path(path)
        self.address = f"{_UNIX}{path}"
        try:
            listening = bind_unix(path)
        except OSError:
            self._tidy()
            raise
        self._listener = Listener([listening], self._play, self._bounds, one=self._one, on_too_many=self._give_up)
        self._listener.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if self._listener is not None:
                await self._listener.stop()
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
            one=True,
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

    def _give_up(self) -> None:
        """On a process that connects and connects."""
        for future, _ in self._expected.values():
            if not future.done():
                sentence = f"it made more than {MOST_TRIES} connections without a Hello that is accepted; one is enough"
                future.set_exception(HandshakeError(sentence))

    async def _play(self, call: Call) -> None:
        try:
            session = self._admit(await self._strangers.hear_out(call), call)
        except Refusal as refusal:
            call.finish(refusal.code, str(refusal))
            return
        await session.read_all()

    def _admit(self, hello: pb.Hello, call: Call) -> Session:
        """Raises Refusal."""
        guest = find_guest(self.guests, hello.token)
        if guest is not None:
            return guest.admit(hello, call)
        if hello.token in self._used:
            sentence = "this token has opened a session already: one process, one token, one stream for all its matches"
            raise Refusal(Status.ALREADY_EXISTS, sentence)
        if hello.token not in self._expected:
            sentence = "unknown token: send the value of CROSSTOWN_TOKEN unchanged; it is valid for one process only"
            raise Refusal(Status.UNAUTHENTICATED, sentence)
        future, limits = self._expected.pop(hello.token)
        self._used.add(hello.token)
        if problem := protocol_problem(hello):
            if not future.done():
                future.set_exception(HandshakeError(problem))
            raise Refusal(Status.FAILED_PRECONDITION, problem)
        call.admit(self._hard_message_bytes)
        if self._one and self._listener is not None:
            self._listener.stop_listening()
            self._listener.close_others(call)
        session = Session(call, hello)
        session.send(encode.welcome(limits))
        if not future.done():
            future.set_result(session)
        return session


def _check_path(path: Path) -> None:
    size = len(os.fsencode(path))
    if size > MAX_SOCKET_PATH_BYTES:
        raise ValueError(
            f"the socket path {path} has {size} bytes, a unix socket takes {MAX_SOCKET_PATH_BYTES}:"
            " choose a shorter folder, such as one under /tmp"
        )
    if "%" in str(path):
        raise ValueError(f"the socket path {path} has a '%', which gRPC takes for an escape: choose another folder")
