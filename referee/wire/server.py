"""The gRPC servers: one on a private socket for local bots, one over TLS for other machines.

A token says which bot it is. Connections that have not shown a valid token are bounded in number and time.
"""

import asyncio
import itertools
import os
import shutil
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType

from crosstown_proto.v1 import referee_pb2 as pb

from referee.folders import MAX_SOCKET_PATH_BYTES, make_socket_folder
from referee.schedule.spec import MOST_MESSAGE_BYTES
from referee.wire import encode
from referee.wire.encode import WireLimits
from referee.wire.handshake import HandshakeError, Refusal, Strangers, protocol_problem, read_hello
from referee.wire.http2 import Call, Status
from referee.wire.listener import (
    HELLO_LIMIT_S,
    MAX_STRANGERS,
    Bounds,
    Listener,
    bind_tcp,
    bind_unix,
    hard_message_bytes,
    most_connections,
)
from referee.wire.public_address import Listen, ListenError, check_pair, join_address
from referee.wire.remote_bots import RemoteBot, find_remote_bot
from referee.wire.session import Session
from referee.wire.tls import server_tls, why_not_metered
from referee.wire.tokens import MOST_TOKEN, token_digest

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
        hard_message_bytes: int = MOST_MESSAGE_BYTES,
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
        self._strangers = Strangers(min(MAX_STRANGERS, connections))
        self._numbers = itertools.count(1)
        self._hello_limit_s = hello_limit_s
        self._expected: dict[str, tuple[asyncio.Future[Session], WireLimits]] = {}
        self._used: set[str] = set()
        self.remote_bots: list[RemoteBot] = []
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
        self._listener = Listener([listening], self._play, self._bounds, one=self._one, on_give_up=self._give_up)
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

    def invite(self, remote_bot: RemoteBot) -> None:
        """From now on a bot with the remote bot's token is let in, whenever it comes."""
        self.remote_bots.append(remote_bot)

    def _give_up(self, why: str) -> None:
        """The process that is expected gets in no more."""
        for future, _ in self._expected.values():
            if not future.done():
                future.set_exception(HandshakeError(why))

    async def _play(self, call: Call) -> None:
        try:
            async with self._strangers.waiting(call):
                hello = await read_hello(call, self._hello_limit_s)
            session = self._admit(hello, call)
        except Refusal as refusal:
            call.finish(refusal.code, str(refusal))
            return
        await session.read_all()

    def _admit(self, hello: pb.Hello, call: Call) -> Session:
        """Raises Refusal."""
        remote_bot = find_remote_bot(self.remote_bots, token_digest(hello.token))
        if remote_bot is not None:
            return remote_bot.admit(hello, call)
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


_LOOK_AGAIN_S = 0.2
MOST_PING_PAUSE_S = 15.0
"""How often a connection is pinged at the least; more often where it has to be found broken sooner."""


class RemoteServer:
    """The server for bots from other machines, over TCP with TLS; an async context manager.

    ListenError where it cannot listen.

    It is a server of its own, beside the one of the local bots: strangers use up nothing that these need.
    """

    def __init__(
        self,
        listen: Listen,
        remote_bots: Sequence[RemoteBot],
        *,
        hello_limit_s: float = HELLO_LIMIT_S,
        patience_s: float = 0.0,
    ) -> None:
        """`remote_bots` may grow. A token that is not known is looked for again during `patience_s`: it may have been
        made a moment ago."""
        self._listen = listen
        self._remote_bots = remote_bots
        self._patience_s = patience_s
        self._hello_limit_s = hello_limit_s
        self._strangers = Strangers(MAX_STRANGERS)
        self._listener: Listener | None = None
        self.address = ""
        """HOST:PORT, once it is open."""

    async def __aenter__(self) -> "RemoteServer":
        listen = self._listen
        where = join_address(listen.host, listen.port)
        tls = None
        if not listen.plain:
            if listen.certificate is None or listen.key is None:
                raise ListenError(f"no certificate to listen on {where} with", "give a certificate and its key")
            if changed := why_not_metered():
                what = f"the referee cannot count what TLS costs: {changed} in Python {sys.version.split()[0]}"
                step = "use an older Python (3.11 to 3.13), or plain = true behind a proxy that ends TLS"
                raise ListenError(what, step)
            check_pair(listen.certificate, listen.key)
            tls = server_tls(listen.certificate, listen.key)
        try:
            sockets = bind_tcp(listen.host, listen.port)
        except OSError:
            what = f"cannot listen on {where}: it is in use, or is no address of this machine"
            raise ListenError(what, "choose another port, or 0.0.0.0 for all addresses of this machine") from None
        self._listener = Listener(sockets, self._play, _bounds(listen.keepalive_s), tls=tls, tls_limit_s=HELLO_LIMIT_S)
        self._listener.start()
        self.address = join_address(listen.host, sockets[0].getsockname()[1])
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._listener is not None:
            await self._listener.stop()

    async def _play(self, call: Call) -> None:
        try:
            async with self._strangers.waiting(call):
                hello = await read_hello(call, self._hello_limit_s)
                remote_bot = await self._find(hello.token)
            if remote_bot is None:
                sentence = "unknown token: send the value that you were given unchanged, as CROSSTOWN_TOKEN"
                raise Refusal(Status.UNAUTHENTICATED, sentence)
            stream = remote_bot.admit(hello, call)
        except Refusal as refusal:
            call.finish(refusal.code, str(refusal))
            return
        await stream.read_all()

    async def _find(self, token: str) -> RemoteBot | None:
        if len(token) > MOST_TOKEN:
            return None
        given = token_digest(token)
        for _ in range(round(self._patience_s / _LOOK_AGAIN_S)):
            if (found := find_remote_bot(self._remote_bots, given)) is not None:
                return found
            await asyncio.sleep(_LOOK_AGAIN_S)
        return find_remote_bot(self._remote_bots, given)


def _bounds(keepalive_s: float) -> Bounds:
    """An answer to a ping has what is left of `keepalive_s` after the pause: a bot may be slow to give it while it
    computes."""
    pause_s = min(MOST_PING_PAUSE_S, keepalive_s / 3)
    return Bounds(
        most_connections(), idle_s=HELLO_LIMIT_S, keepalive_s=pause_s, keepalive_limit_s=keepalive_s - pause_s
    )
