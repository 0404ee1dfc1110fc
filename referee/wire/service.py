"""What both servers have in common: how much a bot may send, and a stranger, and how long he may take."""

import resource

HARD_MESSAGE_BYTES = 16 << 20
"""The most that a match may allow for a message."""

_LEAST_HARD_BYTES = 1 << 20
_HARD_FACTOR = 4

HELLO_LIMIT_S = 10.0
MAX_CONNECTIONS = 512
MAX_STRANGERS = 64
"""Streams without a Hello at one time. A bot says Hello at once."""


def hard_message_bytes(limit_bytes: int) -> int:
    """Above it a message ends the call before it is read, so it lies well above `limit_bytes`, which the match checks:
    after a message that is only above that a bot may go on, if a strike pays for it."""
    return min(HARD_MESSAGE_BYTES, max(_LEAST_HARD_BYTES, _HARD_FACTOR * limit_bytes))


def most_connections() -> int:
    """Of all guests, and strangers: a fourth of the file descriptors of this process at most."""
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return max(16, min(MAX_CONNECTIONS, files // 4))
