"""One bot's stream: reads it to its end, writes with a deadline, and tells one listener."""

import asyncio
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeAlias

import grpc
from crosstown_proto.v1 import referee_pb2 as pb
from google.protobuf.message import DecodeError

from referee.wire.eager import EagerRun

BotMessage: TypeAlias = pb.BotMessage
Hello: TypeAlias = pb.Hello

WRITE_LIMIT_S = 5.0
"""A bot that lets a message to it wait so long does not read its stream."""

WRITE_END_S = 0.5
"""How long the end of a call waits for a write under way."""

MAX_WAITING_MESSAGES = 1024
MAX_IDLE_MESSAGES = 100
MAX_IDLE_BYTES = 32 << 20
"""Of those messages together: reading them takes the referee's time."""


class StreamEnd(StrEnum):
    """Why a stream ended."""

    CLOSED_BY_BOT = "closed_by_bot"
    """Half-closed, cancelled, connection lost, or a message above the server's hard limit: gRPC tells none apart."""
    NOT_READING = "not_reading"
    FLOODED = "flooded"
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

    def __init__(
        self,
        context: "grpc.aio.ServicerContext[bytes, bytes]",
        hello: pb.Hello,
        *,
        write_limit_s: float = WRITE_LIMIT_S,
    ) -> None:
        self.hello = hello
        self._loop = asyncio.get_running_loop()
        self.ended: asyncio.Future[StreamEnd] = self._loop.create_future()
        self._context = context
        self._write_limit_s = write_limit_s
        self._on_message: Callable[[Received], None] | None = None
        self._idle_messages = self._idle_bytes = 0
        self._outbox: deque[bytes] = deque()
        self._writing = False
        self._write_over = asyncio.Event()
        self._write_over.set()
        self._stuck: asyncio.TimerHandle | None = None
        self._reading: asyncio.Task[Any] | None = None
        self._aborting: asyncio.Task[None] | None = None

    def listen(self, on_message: Callable[[Received], None] | None) -> None:
        """From now on `on_message` gets what comes, from the event loop; nobody with None."""
        self._on_message = on_message
        self._idle_messages = self._idle_bytes = 0

    def send(self, data: bytes) -> None:
        """Put a message on the stream, after those sent before. Never blocks; without effect once the stream ended."""
        if self.ended.done():
            return
        self._outbox.append(data)
        if not self._writing:
            self._write_next()
        elif len(self._outbox) > MAX_WAITING_MESSAGES:
            self._does_not_read()

    async def close(self, code: grpc.StatusCode, explanation: str) -> None:
        """End the call with a status and a sentence for the author."""
        self._finish(StreamEnd.CLOSED_BY_REFEREE)
        await self._abort(code, explanation)

    async def read_all(self) -> None:
        """Read until the stream ends; the server's handler of the call runs this."""
        self._reading = asyncio.current_task()
        read, parse, now = self._context.read, pb.BotMessage.FromString, time.monotonic_ns
        try:
            while not self.ended.done():
                raw: Any = await read()
                at_ns = now()
                if raw is grpc.aio.EOF:
                    break
                message: BotMessage | None
                try:
                    message = parse(raw)
                except DecodeError:
                    message = None
                if self._on_message is not None:
                    self._on_message(Received(message, raw, at_ns))
                else:
                    self._take_idle(len(raw))
                # Whoever was woken goes first: the next question is urgent, the next read is not.
                await asyncio.sleep(0)
        except (grpc.aio.AbortError, grpc.aio.InternalError):
            pass  # closed by us, or the connection broke in the middle of a message
        finally:
            self._finish(StreamEnd.CLOSED_BY_BOT)

    def _take_idle(self, size: int) -> None:
        self._idle_messages += 1
        self._idle_bytes += size
        if self._idle_messages > MAX_IDLE_MESSAGES or self._idle_bytes > MAX_IDLE_BYTES:
            sentence = f"more than {MAX_IDLE_MESSAGES} messages or {MAX_IDLE_BYTES} bytes outside of any match"
            self._cut_off(StreamEnd.FLOODED, grpc.StatusCode.RESOURCE_EXHAUSTED, sentence)

    def _does_not_read(self) -> None:
        sentence = f"a message to the bot was not read within {self._write_limit_s:g} s"
        self._cut_off(StreamEnd.NOT_READING, grpc.StatusCode.DEADLINE_EXCEEDED, sentence)

    def _cut_off(self, end: StreamEnd, code: grpc.StatusCode, explanation: str) -> None:
        if not self.ended.done():
            self._finish(end)
            self._aborting = self._loop.create_task(self._abort(code, explanation))

    async def _abort(self, code: grpc.StatusCode, explanation: str) -> None:
        # A status that meets the first write under way is lost, and the bot's call would never end.
        with suppress(TimeoutError):
            async with asyncio.timeout(WRITE_END_S):
                await self._write_over.wait()
        try:
            async with asyncio.timeout(self._write_limit_s):
                await self._context.abort(code, explanation)
        except (grpc.aio.AbortError, grpc.aio.UsageError, grpc.aio.InternalError, TimeoutError):
            pass  # the first is how abort returns; the others say that the call is over, or that a write blocks it
        if self._reading is not None:
            self._reading.cancel()

    def _write_next(self) -> None:
        if self._outbox and not self.ended.done():
            self._stuck = self._loop.call_later(self._write_limit_s, self._does_not_read)
            self._writing = True
            self._write_over.clear()
            EagerRun(self._context.write(self._outbox.popleft()), self._written)

    def _written(self, error: BaseException | None) -> None:
        self._writing = False
        self._write_over.set()
        if self._stuck is not None:
            self._stuck.cancel()
        if error is not None:
            self._finish(StreamEnd.CLOSED_BY_BOT)
        self._write_next()

    def _finish(self, end: StreamEnd) -> None:
        if not self.ended.done():
            self.ended.set_result(end)
            self._outbox.clear()
            if self._stuck is not None:
                self._stuck.cancel()
