"""One bot's stream: reads it to its end, writes with a deadline, and tells one listener."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from crosstown_proto.v1 import referee_pb2 as pb
from google.protobuf.message import DecodeError

from referee.wire.http2 import Call, CallEnd, Status
from referee.wire.traffic import Traffic

BotMessage: TypeAlias = pb.BotMessage
Hello: TypeAlias = pb.Hello

WRITE_LIMIT_S = 5.0
"""A bot that lets a message to it wait so long does not read its stream."""

MAX_WAITING_MESSAGES = 1024
MAX_IDLE_MESSAGES = 100
MAX_IDLE_BYTES = 32 << 20
"""Of those messages together: reading them takes the referee's time."""


class StreamEnd(StrEnum):
    """Why a stream ended."""

    CLOSED_BY_BOT = "closed_by_bot"
    """Half-closed, cancelled, connection lost, or something that is not gRPC."""
    NOT_READING = "not_reading"
    FLOODED = "flooded"
    """More messages between matches, or more HTTP/2 frames at any time, than a bot may send."""
    OVERSIZED = "oversized"
    """A message above the server's hard limit."""
    CLOSED_BY_REFEREE = "closed_by_referee"
    BEGUN_ANEW = "begun_anew"
    """The bot was away, and came without its session."""


@dataclass(frozen=True, slots=True)
class Received:
    """A message and when it was read, monotonic nanoseconds. `message` is None if `raw` is not a BotMessage."""

    message: BotMessage | None
    raw: bytes
    at_ns: int


class Session:
    """A bot that has said a valid Hello.

    The stream is read at all times, so an end is seen at once. Whoever listens takes each message as it comes and keeps
    at most the answer it waits for, so nothing piles up on the referee's side; while nobody listens messages are
    dropped and counted, and a bot that goes on is cut off.
    """

    def __init__(self, call: Call, hello: pb.Hello, *, write_limit_s: float = WRITE_LIMIT_S) -> None:
        self.hello = hello
        self.failure = ""
        """Which limit the bot broke, a sentence; '' if the stream did not end by that."""
        self._loop = asyncio.get_running_loop()
        self.ended: asyncio.Future[StreamEnd] = self._loop.create_future()
        self._call = call
        self._write_limit_s = write_limit_s
        self._on_message: Callable[[Received], None] | None = None
        self._idle_messages = self._idle_bytes = 0
        self._stuck: asyncio.TimerHandle | None = None
        call.on_sent = self._has_sent

    @property
    def traffic(self) -> Traffic:
        """Of all connections to the socket that this one came by."""
        return self._call.traffic

    @property
    def refused_bytes(self) -> int:
        """Of the message above the hard limit that ended the stream; 0 if none did."""
        return self._call.refused_bytes

    @property
    def spent_ns(self) -> int:
        """What reading this bot's messages has cost."""
        return self._call.traffic.spent_ns

    def listen(self, on_message: Callable[[Received], None] | None) -> None:
        """From now on `on_message` gets what comes, from the event loop; nobody with None."""
        self._on_message = on_message
        self._idle_messages = self._idle_bytes = 0

    def send(self, data: bytes) -> None:
        """Put a message on the stream, after those sent before. Never blocks; without effect once the stream ended."""
        if self.ended.done():
            return
        self._call.send(data)
        if not self._call.unsent:
            return
        if self._call.unsent > MAX_WAITING_MESSAGES:
            self._does_not_read()
        elif self._stuck is None:
            self._stuck = self._loop.call_later(self._write_limit_s, self._does_not_read)

    async def close(self, status: Status, explanation: str) -> None:
        """End the call with a status and a sentence for the author."""
        self._cut_off(StreamEnd.CLOSED_BY_REFEREE, status, explanation)

    async def read_all(self) -> None:
        """Read until the stream ends; the server's handler of the call runs this."""
        self._call.listen(self._take, self._is_over)
        await asyncio.wait([self.ended])

    def _take(self, raw: bytes) -> None:
        if self.ended.done():
            return
        at_ns = time.monotonic_ns()
        message: BotMessage | None
        try:
            message = pb.BotMessage.FromString(raw)
        except DecodeError:
            message = None
        if self._on_message is not None:
            self._on_message(Received(message, raw, at_ns))
        else:
            self._take_idle(len(raw))

    def _take_idle(self, size: int) -> None:
        self._idle_messages += 1
        self._idle_bytes += size
        if self._idle_messages > MAX_IDLE_MESSAGES or self._idle_bytes > MAX_IDLE_BYTES:
            self.failure = f"more than {MAX_IDLE_MESSAGES} messages or {MAX_IDLE_BYTES} bytes outside of any match"
            self._cut_off(StreamEnd.FLOODED, Status.RESOURCE_EXHAUSTED, self.failure)

    def _is_over(self) -> None:
        self.failure = self.failure or self._call.failure
        self._finish(_ENDS[self._call.ended or CallEnd.CLOSED])

    def _has_sent(self) -> None:
        """A message that had to wait is on its way; the next one has as long."""
        if self._stuck is not None:
            self._stuck.cancel()
            self._stuck = None
            if self._call.unsent and not self.ended.done():
                self._stuck = self._loop.call_later(self._write_limit_s, self._does_not_read)

    def _does_not_read(self) -> None:
        sentence = f"a message to the bot was not read within {self._write_limit_s:g} s"
        self._cut_off(StreamEnd.NOT_READING, Status.DEADLINE_EXCEEDED, sentence)

    def _cut_off(self, end: StreamEnd, status: Status, explanation: str) -> None:
        if not self.ended.done():
            self._finish(end)
            self._call.finish(status, explanation)

    def _finish(self, end: StreamEnd) -> None:
        if not self.ended.done():
            self.ended.set_result(end)
            if self._stuck is not None:
                self._stuck.cancel()
                self._stuck = None


_ENDS = {
    CallEnd.CLOSED: StreamEnd.CLOSED_BY_BOT,
    CallEnd.OVERSIZED: StreamEnd.OVERSIZED,
    CallEnd.FLOODED: StreamEnd.FLOODED,
}
