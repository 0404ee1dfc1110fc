"""The gRPC side: servers on a private socket and for other machines, sessions with bots, and the messages as bytes.

Knows tokens and streams, not matches: a match listens to a session. What is named here is imported when it is asked
for: a runner only needs `public_address`.
"""

from typing import TYPE_CHECKING

from referee.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from referee.wire.handshake import HandshakeError
    from referee.wire.http2 import Status
    from referee.wire.public_address import Listen, ListenError
    from referee.wire.remote_bots import RemoteBot
    from referee.wire.server import RemoteServer, WireServer
    from referee.wire.session import BotMessage, Hello, LastingSession, Received, Session, StreamEnd

__getattr__ = lazy_exports(
    __name__,
    {
        "referee.wire.handshake": ("HandshakeError",),
        "referee.wire.http2": ("Status",),
        "referee.wire.public_address": ("Listen", "ListenError"),
        "referee.wire.remote_bots": ("RemoteBot",),
        "referee.wire.server": ("RemoteServer", "WireServer"),
        "referee.wire.session": ("BotMessage", "Hello", "LastingSession", "Received", "Session", "StreamEnd"),
    },
)


__all__ = [
    "BotMessage",
    "HandshakeError",
    "Hello",
    "LastingSession",
    "Listen",
    "ListenError",
    "Received",
    "RemoteBot",
    "RemoteServer",
    "Session",
    "Status",
    "StreamEnd",
    "WireServer",
]
