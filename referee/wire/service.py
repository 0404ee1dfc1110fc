"""What both servers have in common: the one call, and how much a stranger may send and take his time."""

import resource
from collections.abc import Awaitable, Callable
from typing import Any

import grpc

HARD_MESSAGE_BYTES = 16 << 20
"""gRPC itself ends a call with a larger message. The limit of a match lies below and is checked by the match."""

HELLO_LIMIT_S = 10.0
MAX_CONNECTIONS = 512


def most_connections() -> int:
    """Of all guests, and strangers: a fourth of the file descriptors of this process at most."""
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return max(16, min(MAX_CONNECTIONS, files // 4))


def add_play(server: Any, play: Callable[[object, "grpc.aio.ServicerContext[bytes, bytes]"], Awaitable[None]]) -> None:
    """Have `play` answer calls of Play: bytes in, bytes out, without (de)serialisers."""
    handler: grpc.RpcMethodHandler[bytes, bytes] = grpc.stream_stream_rpc_method_handler(play)
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("crosstown.v1.Referee", {"Play": handler}),))
