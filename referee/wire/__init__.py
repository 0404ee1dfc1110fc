"""The gRPC side: a server on a private socket, one for other machines, sessions with bots, and the messages as bytes.

Knows tokens and streams, not matches: whoever plays a match listens to a session.
"""

from referee.wire.door import Door
from referee.wire.guests import Guest
from referee.wire.handshake import HandshakeError
from referee.wire.http2 import Status
from referee.wire.lasting import LastingSession
from referee.wire.listening import Listen, ListenError
from referee.wire.server import WireServer
from referee.wire.session import BotMessage, Hello, Received, Session, StreamEnd

__all__ = [
    "BotMessage",
    "Door",
    "Guest",
    "HandshakeError",
    "Hello",
    "LastingSession",
    "Listen",
    "ListenError",
    "Received",
    "Session",
    "Status",
    "StreamEnd",
    "WireServer",
]
