"""What both servers have in common: the one call, and how much a stranger may send and take his time."""

import resource
from collections.abc import Awaitable, Callable
from typing import Any

import grpc

HARD_MESSAGE_BYTES = 16 << 20
"""The most that a match may allow for a message."""

_LEAST_HARD_BYTES = 1 << 20
_HARD_FACTOR = 4

HELLO_LIMIT_S = 10.0
MAX_CONNECTIONS = 512
MAX_STRANGERS = 64
"""Streams without a Hello at one time. A bot says Hello at once."""


def hard_message_bytes(limit_bytes: int) -> int:
    """Above it gRPC itself ends the call, and tells the bot alone, so it lies well above `limit_bytes`, which the match
    checks. What may come before a Hello is held in memory up to it."""
    return min(HARD_MESSAGE_BYTES, max(_LEAST_HARD_BYTES, _HARD_FACTOR * limit_bytes))


def most_connections() -> int:
    """Of all guests, and strangers: a fourth of the file descriptors of this process at most."""
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return max(16, min(MAX_CONNECTIONS, files // 4))


def add_play(server: Any, play: Callable[[object, "grpc.aio.ServicerContext[bytes, bytes]"], Awaitable[None]]) -> None:
    """Have `play` answer calls of Play: bytes in, bytes out, without (de)serialisers."""
    handler: grpc.RpcMethodHandler[bytes, bytes] = grpc.stream_stream_rpc_method_handler(play)
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("crosstown.v1.Referee", {"Play": handler}),))
