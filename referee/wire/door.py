"""The gRPC server for bots from other machines: TCP with TLS, tokens of guests, patience with nobody."""

from collections.abc import Sequence
from types import TracebackType

from referee.wire.guests import Guest, find_guest
from referee.wire.handshake import Refusal, Strangers
from referee.wire.http2 import Call, Status
from referee.wire.listener import Bounds, Listener, bind_tcp
from referee.wire.listening import Listen, ListenError, check_pair, join_address
from referee.wire.service import HELLO_LIMIT_S, MAX_STRANGERS, most_connections
from referee.wire.tls import server_tls

MOST_PING_PAUSE_S = 15.0
"""How often a connection is pinged at the least; more often where it has to be found broken sooner."""


class Door:
    """Lets guests in from elsewhere; an async context manager. ListenError where it cannot listen.

    It is a server of its own, beside the one of the local bots: strangers use up nothing that these need.
    """

    def __init__(self, listen: Listen, guests: Sequence[Guest], *, hello_limit_s: float = HELLO_LIMIT_S) -> None:
        """`guests` may grow."""
        self._listen = listen
        self._guests = guests
        self._strangers = Strangers(MAX_STRANGERS, hello_limit_s)
        self._listener: Listener | None = None
        self.address = ""
        """HOST:PORT, once it is open."""

    async def __aenter__(self) -> "Door":
        listen = self._listen
        where = join_address(listen.host, listen.port)
        tls = None
        if not listen.plain:
            if listen.certificate is None or listen.key is None:
                raise ListenError(f"no certificate to listen on {where} with", "give a certificate and its key")
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
            hello = await self._strangers.hear_out(call)
            guest = find_guest(self._guests, hello.token)
            if guest is None:
                sentence = "unknown token: send the value that you were given unchanged, as CROSSTOWN_TOKEN"
                raise Refusal(Status.UNAUTHENTICATED, sentence)
            stream = guest.admit(hello, call)
        except Refusal as refusal:
            call.finish(refusal.code, str(refusal))
            return
        await stream.read_all()


def _bounds(keepalive_s: float) -> Bounds:
    """An answer to a ping has what is left of `keepalive_s` after the pause: a bot may be slow to give it while it
    computes."""
    pause_s = min(MOST_PING_PAUSE_S, keepalive_s / 3)
    return Bounds(
        most_connections(), idle_s=HELLO_LIMIT_S, keepalive_s=pause_s, keepalive_limit_s=keepalive_s - pause_s
    )
