"""The gRPC side: a servers on a private socket and for other machines, sessions with bots, and the messages as bytes.

Knows tokens and streams, not matches: a match listens to a session.
"""

from referee.wire.handshake import HandshakeError
from referee.wire.http2 import Status
from referee.wire.public_address import Listen, ListenError
from referee.wire.remote_bots import RemoteBot
from referee.wire.server import RemoteServer, WireServer
from referee.wire.session import BotMessage, Hello, LastingSession, Received, Session, StreamEnd

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
