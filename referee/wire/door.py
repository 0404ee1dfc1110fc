"""The gRPC server for bots from other machines: TCP with TLS, tokens of guests, patience with nobody."""

from collections.abc import Sequence
from types import TracebackType
from typing import Any

import grpc

from referee.wire.guests import Guest, find_guest
from referee.wire.handshake import Refusal, Strangers
from referee.wire.listening import Listen, ListenError, check_pair, join_address
from referee.wire.service import HARD_MESSAGE_BYTES, HELLO_LIMIT_S, MAX_STRANGERS, add_play, most_connections

MOST_PING_PAUSE_S = 15.0
"""How often a connection is pinged at the least; more often where it has to be found broken sooner."""


class Door:
    """Lets guests in from elsewhere; an async context manager. ListenError where it cannot listen.

    It is a server of its own, beside the one of the local bots: strangers use up nothing that these need.
    """

    def __init__(self, listen: Listen, guests: Sequence[Guest], *, hello_limit_s: float = HELLO_LIMIT_S) -> None:
        """`guests` may grow by those to whom no larger messages are allowed than to those who are there."""
        self._listen = listen
        self._guests = guests
        self._strangers = Strangers(MAX_STRANGERS, hello_limit_s)
        self._server: Any = None
        self.address = ""
        """HOST:PORT, once it is open."""

    async def __aenter__(self) -> "Door":
        most = max((guest.hard_message_bytes for guest in self._guests), default=HARD_MESSAGE_BYTES)
        self._server = grpc.aio.server(options=_options(most, self._listen.keepalive_s))
        add_play(self._server, self._play)
        listen = self._listen
        where = join_address(listen.host, listen.port)
        try:
            if listen.plain:
                port = self._server.add_insecure_port(where)
            elif listen.certificate is None or listen.key is None:
                raise ListenError(f"no certificate to listen on {where} with", "give a certificate and its key")
            else:
                check_pair(listen.certificate, listen.key)
                pair = listen.key.read_bytes(), listen.certificate.read_bytes()
                port = self._server.add_secure_port(where, grpc.ssl_server_credentials([pair]))
        except RuntimeError:
            what = f"cannot listen on {where}: it is in use, or is no address of this machine"
            raise ListenError(what, "choose another port, or 0.0.0.0 for all addresses of this machine") from None
        await self._server.start()
        self.address = join_address(listen.host, port)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._server.stop(grace=0)

    async def _play(self, _requests: object, context: "grpc.aio.ServicerContext[bytes, bytes]") -> None:
        try:
            hello = await self._strangers.hear_out(context)
            guest = find_guest(self._guests, hello.token)
            if guest is None:
                sentence = "unknown token: send the value that you were given unchanged, as CROSSTOWN_TOKEN"
                raise Refusal(grpc.StatusCode.UNAUTHENTICATED, sentence)
            stream = guest.admit(hello, context)
        except Refusal as refusal:
            await context.abort(refusal.code, str(refusal))
        await stream.read_all()


def _options(message_bytes: int, keepalive_s: float) -> list[tuple[str, int]]:
    """An answer to a ping has what is left of `keepalive_s` after the pause: a bot may be slow to give it while it
    computes."""
    pause_ms = round(1000 * min(MOST_PING_PAUSE_S, keepalive_s / 3))
    patience_ms = round(1000 * keepalive_s) - pause_ms
    return [
        ("grpc.max_receive_message_length", message_bytes),
        ("grpc.max_send_message_length", -1),
        ("grpc.max_concurrent_streams", 4),
        ("grpc.max_allowed_incoming_connections", most_connections()),
        ("grpc.server_handshake_timeout_ms", round(HELLO_LIMIT_S * 1000)),
        ("grpc.max_connection_idle_ms", round(HELLO_LIMIT_S * 1000)),
        ("grpc.keepalive_time_ms", pause_ms),
        ("grpc.keepalive_timeout_ms", patience_ms),
        ("grpc.http2.ping_timeout_ms", patience_ms),
        ("grpc.keepalive_permit_without_calls", 0),
        ("grpc.http2.min_ping_interval_without_data_ms", 900),
        ("grpc.http2.max_ping_strikes", 10),
        ("grpc.so_reuseport", 0),
    ]
