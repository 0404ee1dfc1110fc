"""The gRPC side: a server on a private socket, sessions with bots, and the messages as bytes.

Knows tokens and streams, not matches: whoever plays a match listens to a session.
"""

from referee.wire.server import HandshakeError, WireServer
from referee.wire.session import BotMessage, Received, Session, StreamEnd

__all__ = ["BotMessage", "HandshakeError", "Received", "Session", "StreamEnd", "WireServer"]
