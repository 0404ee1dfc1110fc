"""The first message of a stream, read with a deadline; and how one is turned away."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from crosstown_proto.v1 import referee_pb2 as pb
from google.protobuf.message import DecodeError

from referee.addresses import oldest_of_busiest
from referee.wire.encode import PROTOCOL
from referee.wire.http2 import Call, Status
from referee.wire.patience import patient_timeout

MAX_HELLO_BYTES = 64 << 10
"""The first message comes from anybody, and what it says is kept as long as the session."""


class HandshakeError(Exception):
    """A bot process with the right token said something the referee cannot accept. One sentence for its author."""


class Refusal(Exception):
    """Ends a call before it is a session: a status, and a sentence that says what was expected."""

    def __init__(self, code: Status, sentence: str) -> None:
        super().__init__(sentence)
        self.code = code


class Strangers:
    """Streams that have said no Hello with a token that is known, a few at one time: each may send a message of full
    size, which is held.

    For one more than that one is turned away: the oldest of the address that most of them have come from.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._waiting: dict[asyncio.Timeout, str] = {}

    @asynccontextmanager
    async def waiting(self, call: Call) -> AsyncIterator[None]:
        """As long as nobody knows whose call it is. Refusal if there are too many of them."""
        if len(self._waiting) >= self._most:
            self._turn_one_away()
        try:
            async with asyncio.timeout(None) as patience:
                self._waiting[patience] = call.origin
                try:
                    yield
                finally:
                    self._waiting.pop(patience, None)
        except TimeoutError:
            sentence = "too many streams without a Hello: say it at once"
            raise Refusal(Status.RESOURCE_EXHAUSTED, sentence) from None

    def _turn_one_away(self) -> None:
        oldest = oldest_of_busiest(self._waiting)
        del self._waiting[oldest]
        oldest.reschedule(asyncio.get_running_loop().time())


async def read_hello(call: Call, limit_s: float) -> pb.Hello:
    """Raises Refusal for anything else, and for nothing within `limit_s`."""
    try:
        async with patient_timeout(limit_s):
            raw = await call.read()
    except TimeoutError:
        sentence = f"no Hello within {limit_s:g} s of opening the stream"
        raise Refusal(Status.DEADLINE_EXCEEDED, sentence) from None
    if raw is None:
        raise Refusal(Status.INVALID_ARGUMENT, "the stream ended before Hello")
    if len(raw) > MAX_HELLO_BYTES:
        sentence = f"the first message has {len(raw)} bytes; expected Hello, of at most {MAX_HELLO_BYTES}"
        raise Refusal(Status.INVALID_ARGUMENT, sentence)
    try:
        message = pb.BotMessage.FromString(raw)
    except DecodeError:
        sentence = "the first message is not a crosstown.v1.BotMessage; expected Hello"
        raise Refusal(Status.INVALID_ARGUMENT, sentence) from None
    if message.WhichOneof("body") != "hello":
        sentence = f"the first message is {message.WhichOneof('body') or 'empty'}; expected Hello"
        raise Refusal(Status.INVALID_ARGUMENT, sentence)
    return message.hello


def protocol_problem(hello: pb.Hello) -> str:
    """What is wrong with the version of the wire that a bot speaks; '' if nothing."""
    if hello.protocol == PROTOCOL:
        return ""
    return f"the bot speaks protocol {hello.protocol}, the referee protocol {PROTOCOL}: expected {PROTOCOL}"
