"""Sessions with bots: one stream, and a session that outlives its stream when a bot reconnects."""

import asyncio
import math
import secrets
import time
from collections import deque
from collections.abc import Callable
from enum import StrEnum
from typing import NamedTuple, TypeAlias

from crosstown_proto.v1 import referee_pb2 as pb
from google.protobuf.message import DecodeError

from referee.wire.budget import Traffic
from referee.wire.http2 import Call, CallEnd, Status
from referee.wire.patience import PatientTimer

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


class Received(NamedTuple):
    """A message and when it was read, monotonic nanoseconds. `message` is None if `raw` is not a BotMessage."""

    message: BotMessage | None
    raw: bytes
    at_ns: int


class Session:
    """A bot that has said a valid Hello.

    The stream is read at all times, so an end is seen at once. The listener takes each message as it comes and keeps
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
        self._stuck: PatientTimer | None = None
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
    def heard_at_s(self) -> float:
        """When something came last on its connection, be it the answer to a ping. A unix socket loses nothing: it is
        heard at any time."""
        return self._call.heard_at_s if self._call.origin else math.inf

    @property
    def spent_ns(self) -> int:
        """What reading this bot's messages has cost."""
        return self._call.traffic.spent_ns

    def listen(self, on_message: Callable[[Received], None] | None) -> None:
        """From now on `on_message` gets what comes, from the event loop; nobody with None."""
        self._on_message = on_message
        self._idle_messages = self._idle_bytes = 0

    def send(self, data: bytes, *, earns: bool = True) -> None:
        """Put a message on the stream, after those sent before. Never blocks; without effect once the stream ended.

        `earns`: the bot may send more for it."""
        if self.ended.done():
            return
        self._call.send(data, earns=earns)
        if not self._call.unsent:
            return
        if self._call.unsent > MAX_WAITING_MESSAGES:
            self._does_not_read()
        elif self._stuck is None:
            self._stuck = PatientTimer(self._write_limit_s, self._does_not_read)

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
                self._stuck = PatientTimer(self._write_limit_s, self._does_not_read)

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


_KEY_BYTES = 16
_BREAKS = (StreamEnd.CLOSED_BY_BOT, StreamEnd.NOT_READING)
"""Ends of a stream that a broken connection looks like."""


class LastingSession:
    """Like `Session`, for the match: `hello`, `ended`, `listen`, `send`, `close`.

    Messages are numbered from 1 over all streams. What the bot has not proven to have, by answering something later, is
    kept, and sent again to a bot that comes back: from the number it has last seen on, or from the question that it
    still owes an answer to. `ended` is settled when it has not come back within `reconnect_s`; with 0, at once; or when
    too much waits for it while it is away. What is kept of a bot that reads along and is asked nothing is no more than
    the rest of its match: whether it reads, its stream sees to.
    """

    def __init__(self, stream: Session, reconnect_s: float) -> None:
        self.hello = stream.hello
        self.key = secrets.token_hex(_KEY_BYTES) if reconnect_s else ""
        self.reconnect_s = reconnect_s
        self._loop = asyncio.get_running_loop()
        self.ended: asyncio.Future[StreamEnd] = self._loop.create_future()
        self.failure = ""
        self.refused_bytes = 0
        """As those of `Session`, of its last stream."""
        self._stream: Session | None = None
        self._spent_before_ns = 0
        """On streams before that one."""
        self._traffic: Traffic | None = None
        self._counted_ns = 0
        """What its connection had cost when the stream began: an earlier stream may have come over the same one."""
        self._on_message: Callable[[Received], None] | None = None
        self._kept: deque[tuple[int, bytes]] = deque()
        self._sent = self._sent_to_streams = 0
        self._leaving = False
        self._away_from_s: float | None = None
        self.back_at_s = 0.0
        """When the bot came back last."""
        self._owed: tuple[int, str, int] | None = None
        """Number, match and decision (0: Ready) of the question without an answer."""
        self._grace: PatientTimer | None = None
        self._closing: set[asyncio.Task[None]] = set()
        self._follow(stream)

    @property
    def online(self) -> bool:
        """Whether there is a stream to the bot at this moment."""
        return self._stream is not None and not self._stream.ended.done() and not self.ended.done()

    @property
    def away_s(self) -> float:
        """How long the bot has been away that may still come back; 0 while there is a stream to it."""
        return 0.0 if self._away_from_s is None or self.ended.done() else self._loop.time() - self._away_from_s

    def is_lost(self, since_s: float) -> bool:
        """Whether the bot is away and may come back, or may be away: nothing has come from it since then."""
        stream = self._stream
        return not self.ended.done() and (stream is None or stream.heard_at_s < since_s)

    @property
    def spent_ns(self) -> int:
        """What reading this bot's messages has cost, on all its streams. It never falls."""
        now_ns = 0 if self._stream is None else self._stream.spent_ns - self._counted_ns
        return self._spent_before_ns + now_ns

    def listen(self, on_message: Callable[[Received], None] | None) -> None:
        """From now on `on_message` gets what comes, from the event loop; nobody with None."""
        self._on_message = on_message
        if self._stream is not None:
            self._stream.listen(None if on_message is None else self._take)

    def send(self, data: bytes) -> None:
        """Never blocks; without effect once the session ended. A bot that is away gets it when it is back."""
        if self.ended.done():
            return
        if self.reconnect_s:
            self._sent += 1
            self._note(data)
            self._kept.append((self._sent, data))
        if self._stream is not None:
            self._sent_to_streams = self._sent
            self._stream.send(data)
        elif self._sent - self._sent_to_streams > MAX_WAITING_MESSAGES:
            self._end(StreamEnd.NOT_READING)

    def send_last(self, data: bytes) -> None:
        """As `send`; when the stream ends after that the bot need not come back."""
        self.send(data)
        self._leaving = True
        if self._stream is None:
            self._end(StreamEnd.CLOSED_BY_BOT)

    async def close(self, code: Status, explanation: str) -> None:
        """End the session, and its stream with a status and a sentence for the author."""
        stream = self._stream
        self._end(StreamEnd.CLOSED_BY_REFEREE)
        if stream is not None:
            await stream.close(code, explanation)

    def give_up(self) -> None:
        """The bot is away, and will not come back: it has started again."""
        self._end(StreamEnd.BEGUN_ANEW)

    def next_for(self, received: int) -> int:
        """The number of the first message that a bot gets which comes back and has seen `received` of them."""
        wanted = min(received, self._sent) + 1
        if self._owed is not None:
            wanted = min(wanted, self._owed[0])
        return max(wanted, self._kept[0][0]) if self._kept else self._sent + 1

    def resume(self, stream: Session, first: int) -> None:
        """The bot is back on another stream, which takes the place of an older one, and gets all from `first` on."""
        if self._grace is not None:
            self._grace.cancel()
            self._grace = self._away_from_s = None
        older = self._stream
        self._follow(stream)
        self.back_at_s = time.monotonic()
        self._sent_to_streams = self._sent
        if older is not None:
            sentence = "the session continues over another connection"
            task = self._loop.create_task(older.close(Status.ABORTED, sentence))
            self._closing.add(task)
            task.add_done_callback(self._closing.discard)
        stream.listen(None if self._on_message is None else self._take)
        for number, data in self._kept:
            if number >= first:
                stream.send(data, earns=False)  # else a bot that comes back again and again may send without end

    def _follow(self, stream: Session) -> None:
        self._leave_stream()
        self._counted_ns = stream.spent_ns if stream.traffic is self._traffic else 0
        self._stream, self._traffic = stream, stream.traffic
        stream.ended.add_done_callback(lambda ended: self._stream_is_over(stream, ended.result()))

    def _stream_is_over(self, stream: Session, end: StreamEnd) -> None:
        if stream is not self._stream or self.ended.done():
            return
        self._leave_stream()
        self.failure, self.refused_bytes = stream.failure, stream.refused_bytes
        if self.reconnect_s and end in _BREAKS and not self._leaving:
            self._away_from_s = self._loop.time()
            self._grace = PatientTimer(self.reconnect_s, lambda: self._end(end))
        else:
            self._end(end)

    def _leave_stream(self) -> None:
        self._spent_before_ns = self.spent_ns
        self._stream = None

    def _note(self, data: bytes) -> None:
        """Which answer is awaited from here on."""
        message = pb.RefereeMessage.FromString(data)
        match message.WhichOneof("body"):
            case "match_start":
                self._owed = self._sent, message.match_start.match, 0
            case "decide":
                self._owed = self._sent, message.decide.match, message.decide.decision
            case "cancel" | "match_end":
                self._owed = None

    def _take(self, received: Received) -> None:
        message = received.message
        if message is not None and self._owed is not None:
            number, match, decision = self._owed
            ready = message.HasField("ready") and not decision and message.ready.match == match
            moved = decision and message.HasField("move") and message.move.decision == decision
            if ready or (moved and message.move.match == match):
                self._owed = None
                while self._kept and self._kept[0][0] <= number:
                    self._kept.popleft()
        if self._on_message is not None:
            self._on_message(received)

    def _end(self, end: StreamEnd) -> None:
        if self._grace is not None:
            self._grace.cancel()
            self._grace = None
        self._kept.clear()
        if not self.ended.done():
            self.ended.set_result(end)
