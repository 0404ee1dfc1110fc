"""The first message of a stream, read with a deadline; and how one is turned away."""

import asyncio
from collections import Counter
from ipaddress import AddressValueError, IPv6Address
from typing import Any
from urllib.parse import unquote

import grpc
from crosstown_proto.v1 import referee_pb2 as pb
from google.protobuf.message import DecodeError

from referee.wire.encode import PROTOCOL

MAX_HELLO_BYTES = 64 << 10
"""The first message comes from anybody, and what it says is kept as long as the session."""


class HandshakeError(Exception):
    """A bot process with the right token said something the referee cannot accept. One sentence for its author."""


class Refusal(Exception):
    """Ends a call before it is a session: a status, and a sentence that says what was expected."""

    def __init__(self, code: grpc.StatusCode, sentence: str) -> None:
        super().__init__(sentence)
        self.code = code


class Strangers:
    """Streams that have said no Hello yet, a few at one time: each may send a message of full size, which is held.

    For one more than that one is turned away: the oldest of the address that most of them have come from. Of IPv6 the
    first 64 bits count, for whoever has one such address has all that begin alike.
    """

    def __init__(self, most: int, hello_limit_s: float) -> None:
        self._most = most
        self._hello_limit_s = hello_limit_s
        self._waiting: dict[asyncio.Timeout, str] = {}

    async def hear_out(self, context: "grpc.aio.ServicerContext[bytes, bytes]") -> pb.Hello:
        """The Hello of a stranger. Refusal if it says none, or if there are too many of them."""
        if len(self._waiting) >= self._most:
            self._turn_one_away()
        try:
            async with asyncio.timeout(None) as patience:
                self._waiting[patience] = _origin(context.peer())
                try:
                    return await read_hello(context, self._hello_limit_s)
                finally:
                    self._waiting.pop(patience, None)
        except TimeoutError:
            sentence = "too many streams without a Hello: say it at once"
            raise Refusal(grpc.StatusCode.RESOURCE_EXHAUSTED, sentence) from None

    def _turn_one_away(self) -> None:
        address, _ = Counter(self._waiting.values()).most_common(1)[0]
        oldest = next(patience for patience, its in self._waiting.items() if its == address)
        del self._waiting[oldest]
        oldest.reschedule(asyncio.get_running_loop().time())


def _origin(peer: str) -> str:
    """Of gRPC's name for the other end, such as "ipv4:10.0.0.1:80" or "ipv6:%5B2001:db8::1%5D:80", what is its own."""
    kind, _, place = peer.rpartition(":")[0].partition(":")
    try:
        address = IPv6Address(unquote(place).strip("[]")) if kind == "ipv6" else None
    except AddressValueError:
        address = None
    if address is None:
        return f"{kind}:{place}"
    return f"ipv4:{address.ipv4_mapped}" if address.ipv4_mapped else f"ipv6:{int(address) >> 64:x}"


async def read_hello(context: "grpc.aio.ServicerContext[bytes, bytes]", limit_s: float) -> pb.Hello:
    """Raises Refusal for anything else, and for nothing within `limit_s`."""
    try:
        async with asyncio.timeout(limit_s):
            raw: Any = await context.read()
    except TimeoutError:
        sentence = f"no Hello within {limit_s:g} s of opening the stream"
        raise Refusal(grpc.StatusCode.DEADLINE_EXCEEDED, sentence) from None
    if raw is grpc.aio.EOF:
        raise Refusal(grpc.StatusCode.INVALID_ARGUMENT, "the stream ended before Hello")
    if len(raw) > MAX_HELLO_BYTES:
        sentence = f"the first message has {len(raw)} bytes; expected Hello, of at most {MAX_HELLO_BYTES}"
        raise Refusal(grpc.StatusCode.INVALID_ARGUMENT, sentence)
    try:
        message = pb.BotMessage.FromString(raw)
    except DecodeError:
        sentence = "the first message is not a crosstown.v1.BotMessage; expected Hello"
        raise Refusal(grpc.StatusCode.INVALID_ARGUMENT, sentence) from None
    if message.WhichOneof("body") != "hello":
        sentence = f"the first message is {message.WhichOneof('body') or 'empty'}; expected Hello"
        raise Refusal(grpc.StatusCode.INVALID_ARGUMENT, sentence)
    return message.hello


def protocol_problem(hello: pb.Hello) -> str:
    """What is wrong with the version of the wire that a bot speaks; '' if nothing."""
    if hello.protocol == PROTOCOL:
        return ""
    return f"the bot speaks protocol {hello.protocol}, the referee protocol {PROTOCOL}: expected {PROTOCOL}"
