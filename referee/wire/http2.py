"""HTTP/2 (RFC 9113) as far as gRPC needs it, on the server's side: a connection with a few calls, and its limits.

gRPC's own server answers any number of pings and settings in threads of its own: then nobody can say which bot made the
referee late, and memory grows. Here each frame is read in the event loop, counted, timed, and paid for from a budget.
"""

import asyncio
import struct
import time
import zlib
from collections import deque
from collections.abc import Callable
from enum import IntEnum
from typing import Protocol, cast
from urllib.parse import quote

from hpack import Decoder, HPACKError

from referee.wire.budget import (
    BYTES_A_UNIT,
    CALL_UNITS,
    COMPRESSED_BYTES_A_UNIT,
    OTHER_BYTES_A_UNIT,
    SMALL_READ_BYTES,
    STRANGER,
    Budget,
    Traffic,
    charged_ns,
    terms_of_session,
)
from referee.wire.timed_socket import TimedSocket

PATH = b"/crosstown.v1.Referee/Play"
MAX_CALLS = 4
"""Of one connection at the same time."""

MAX_HEADER_BYTES = 4096
"""Of one block. A client of gRPC sends some 300."""

MAX_TABLE_SIZE_UPDATES = 2
"""At the beginning of a block: no client needs more (RFC 7541, 4.2), and each is one byte that keeps the decoder busy
for a hundred times as long as another."""
MAX_UNREAD_BYTES = 256 << 10
"""Of answers to pings and settings that the other end does not read."""

MAX_QUEUED_MESSAGES = 64
READ_BYTES = 64 << 10
"""As much is read of a connection before the next one has its turn."""

_MORE_AGAIN = 4
"""After a slow system call one byte is read: the kernel wakes what waits at the other end once for each of its small
writes that a reading takes. After a reading that was not slow, so many times as much may be read."""

_PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
_DATA, _HEADERS, _RST_STREAM, _SETTINGS, _PING, _GOAWAY, _WINDOW_UPDATE, _CONTINUATION = 0, 1, 3, 4, 6, 7, 8, 9
_END_STREAM = _ACK = 0x1
_END_HEADERS, _PADDED, _HAS_PRIORITY = 0x4, 0x8, 0x20
_MAX_FRAME_BYTES = 16384
_WINDOW = 65535
_MAX_WINDOW = 2**31 - 1
_INITIAL_WINDOW_SIZE = 4
_HEAD = struct.Struct(">HBBBI")
_PREFIX = struct.Struct(">?I")


class Status(IntEnum):
    """gRPC's status codes that the referee sends."""

    OK = 0
    INVALID_ARGUMENT = 3
    DEADLINE_EXCEEDED = 4
    NOT_FOUND = 5
    ALREADY_EXISTS = 6
    RESOURCE_EXHAUSTED = 8
    FAILED_PRECONDITION = 9
    ABORTED = 10
    UNIMPLEMENTED = 12
    INTERNAL = 13
    UNAVAILABLE = 14
    UNAUTHENTICATED = 16


class _Code(IntEnum):
    """HTTP/2's error codes."""

    NO_ERROR = 0
    PROTOCOL_ERROR = 1
    INTERNAL_ERROR = 2
    FLOW_CONTROL_ERROR = 3
    FRAME_SIZE_ERROR = 6
    REFUSED_STREAM = 7
    COMPRESSION_ERROR = 9
    ENHANCE_YOUR_CALM = 11


class CallEnd(IntEnum):
    """How the bot's side of a call ended."""

    CLOSED = 0
    """Half-closed, reset, or its connection is gone."""
    OVERSIZED = 1
    """A message above the hard limit."""
    FLOODED = 2
    """Its connection has used up its budget."""


class _ConnectionError(Exception):
    """The connection cannot go on."""

    def __init__(self, code: _Code, sentence: str) -> None:
        super().__init__(sentence)
        self.code = code


class Host(Protocol):
    """The listener of the connection."""

    max_first_bytes: int
    """Of the first message of a call."""

    buffer: memoryview
    """What is read goes here first. One for all connections: each takes out at once what it has got."""

    def begin_call(self, call: "Call") -> None: ...

    def connection_made(self, connection: "Connection") -> None: ...

    def connection_lost(self, connection: "Connection") -> None: ...

    def connection_known(self, connection: "Connection") -> None: ...

    def time_spent(self, connection: "Connection", spent_ns: int) -> None:
        """On reading what came by it."""


class Call:
    """A call of Play: messages in, messages out, and at its end a status. Nothing here blocks or raises."""

    def __init__(self, connection: "Connection", number: int, window: int, encoding: bytes) -> None:
        self.origin = connection.origin
        """The address of the other end, '' on a unix socket."""
        self.traffic = connection.traffic
        self.ended: CallEnd | None = None
        """Set when nothing more comes."""
        self.failure = ""
        """A sentence, where it was ended by a broken limit."""
        self.refused_bytes = 0
        """The size of the message that was too large."""
        self.on_sent: Callable[[], None] = lambda: None
        """Called when a message has gone out whole that had to wait."""
        self._connection = connection
        self._number = number
        self._encoding = encoding
        self._window = window
        self._unacknowledged = 0
        self._max_message_bytes = connection.max_first_bytes
        self._assembled = bytearray()
        self._queue: deque[bytes] = deque()
        self._came: asyncio.Future[None] | None = None
        self._on_message: Callable[[bytes], None] | None = None
        self._on_end: Callable[[], None] = lambda: None
        self._out: deque[memoryview] = deque()
        self._answered = False
        self._finished = False

    # For the referee

    @property
    def unsent(self) -> int:
        """Messages that have not gone out whole: the other end has not made room for them."""
        return len(self._out)

    @property
    def heard_at_s(self) -> float:
        """When something came last on its connection."""
        return self._connection.heard_at_s

    def is_of(self, connection: "Connection") -> bool:
        return self._connection is connection

    async def read(self) -> bytes | None:
        """The next message; None if the call ended. Not after `listen`."""
        while not self._queue and self.ended is None:
            self._came = asyncio.get_running_loop().create_future()
            try:
                await self._came
            finally:
                self._came = None
        return self._queue.popleft() if self._queue else None

    def admit(self, max_message_bytes: int, budget: Budget | None = None) -> None:
        """The other end is known: larger messages, and a larger budget; a full one of its own if none is given."""
        self._max_message_bytes = max_message_bytes
        self._connection.admit(max_message_bytes, budget)

    def listen(self, on_message: Callable[[bytes], None], on_end: Callable[[], None]) -> None:
        """From now on messages are handed over as they come, and then the end."""
        self._on_message, self._on_end = on_message, on_end
        while self._queue:
            on_message(self._queue.popleft())
        if self.ended is not None:
            on_end()

    def send(self, data: bytes, *, earns: bool = True) -> None:
        """`earns`: the other end gets units for it, to answer with."""
        if not self._finished:
            if earns:
                self._connection.budget.earn()
            self._out.append(memoryview(_PREFIX.pack(False, len(data)) + data))
            self.flush()

    def finish(self, status: Status, sentence: str = "") -> None:
        """The end of the call. What has not gone out is dropped."""
        if self._finished:
            return
        self._finished = True
        self._out.clear()
        fields = _literal(b"grpc-status", b"%d" % status)
        if sentence:
            fields += _literal(b"grpc-message", quote(sentence, safe=" !\"#$&'()*+,-./:;<=>?@[]^_`{|}~").encode())
        block = fields if self._answered else _RESPONSE + fields
        closing = _frame(_HEADERS, _END_HEADERS | _END_STREAM, self._number, block)
        if self.ended is None:  # it need not send any more
            closing += _frame(_RST_STREAM, 0, self._number, bytes(4))
        self._connection.write(closing)
        self._connection.forget(self._number)
        self.end(CallEnd.CLOSED)

    # For the connection

    def take(self, payload: bytes, size: int, *, last: bool) -> None:
        """Bytes of messages, in a frame of `size`."""
        if self.ended is None and not self._finished and (self._assembled or not self._take_whole(payload)):
            self._assembled += payload
            self._take_messages()
        if last:
            self.end(CallEnd.CLOSED)
        else:
            self._unacknowledged += size
            if self._unacknowledged > _WINDOW // 2:
                self._connection.write(_window_update(self._number, self._unacknowledged))
                self._unacknowledged = 0

    def widen(self, size: int) -> bool:
        """The other end takes so many bytes more. Whether that is a number it may take."""
        self._window += size
        return self._window <= _MAX_WINDOW

    def end(self, how: CallEnd, sentence: str = "") -> None:
        """Nothing more comes."""
        if self.ended is not None:
            return
        self.ended, self.failure = how, sentence
        self._assembled.clear()
        if self._came is not None and not self._came.done():
            self._came.set_result(None)
        self._on_end()

    def drop(self) -> None:
        """The other end has reset the call, or is gone: nothing goes out any more either."""
        self._finished = True
        self._out.clear()
        self.end(CallEnd.CLOSED)

    def flush(self) -> None:
        """Send what there is room for."""
        connection = self._connection
        frames = b""
        while self._out and connection.writable:
            data = self._out[0]
            size = min(len(data), self._window, connection.window, _MAX_FRAME_BYTES)
            if size <= 0:
                break
            if not self._answered:
                self._answered = True
                frames += _frame(_HEADERS, _END_HEADERS, self._number, _RESPONSE)
            frames += _frame(_DATA, 0, self._number, bytes(data[:size]))
            self._window -= size
            connection.window -= size
            if size < len(data):
                self._out[0] = data[size:]
            else:
                self._out.popleft()
                self.on_sent()
            if len(frames) >= READ_BYTES:
                connection.write(frames)
                frames = b""
        if frames:
            connection.write(frames)

    def _take_whole(self, payload: bytes) -> bool:
        """Take the bytes if they are one message, whole and not compressed, as they nearly always are."""
        size = len(payload) - _PREFIX.size
        if size < 0 or payload[0] or int.from_bytes(payload[1:5]) != size or size > self._max_message_bytes:
            return False
        self._connection.spend(1 + size // BYTES_A_UNIT)
        self._take_message(payload[_PREFIX.size :])
        return True

    def _take_messages(self) -> None:
        assembled = self._assembled
        while len(assembled) >= _PREFIX.size and self.ended is None and not self._finished:
            compressed, size = assembled[0], int.from_bytes(assembled[1:5])
            if size > self._max_message_bytes:
                self._refuse_size(size)
                return
            end = _PREFIX.size + size
            if len(assembled) < end:
                return
            data = bytes(assembled[_PREFIX.size : end])
            del assembled[:end]
            if compressed:
                self._connection.spend(size // COMPRESSED_BYTES_A_UNIT)
                unpacked = self._unpacked(data)
                if unpacked is None:
                    return
                data = unpacked
            self._connection.spend(1 + len(data) // BYTES_A_UNIT)
            self._take_message(data)

    def _take_message(self, data: bytes) -> None:
        if self._on_message is not None:
            self._on_message(data)
            return
        self._queue.append(data)
        most_bytes = self._connection.max_first_bytes
        if len(self._queue) > MAX_QUEUED_MESSAGES or sum(map(len, self._queue)) > most_bytes:
            self._queue.clear()
            sentence = f"more than {MAX_QUEUED_MESSAGES} messages, or {most_bytes} bytes of them, before Welcome"
            self._fail(CallEnd.CLOSED, sentence)
        elif self._came is not None and not self._came.done():
            self._came.set_result(None)

    def _unpacked(self, data: bytes) -> bytes | None:
        if self._encoding not in _COMPRESSIONS:
            self._fail(CallEnd.CLOSED, f"a message compressed in {self._encoding!r}: send gzip, deflate or none")
            return None
        inflating = zlib.decompressobj(_COMPRESSIONS[self._encoding])
        try:
            found = inflating.decompress(data, self._max_message_bytes + 1)
        except zlib.error as error:
            self._fail(CallEnd.CLOSED, f"a compressed message that cannot be read ({error})")
            return None
        if len(found) > self._max_message_bytes:
            self._refuse_size(len(found))
            return None
        return found

    def _refuse_size(self, size: int) -> None:
        self.refused_bytes = size
        self._fail(CallEnd.OVERSIZED, f"Received message larger than max ({size} vs. {self._max_message_bytes})")

    def _fail(self, how: CallEnd, sentence: str) -> None:
        status = Status.RESOURCE_EXHAUSTED if how is CallEnd.OVERSIZED else Status.INVALID_ARGUMENT
        self.end(how, sentence)
        self.finish(status, sentence)


class Connection(asyncio.BufferedProtocol):
    """One connection, from its first byte to its last."""

    def __init__(self, host: Host, origin: str, traffic: Traffic, line: TimedSocket | None = None) -> None:
        """`line`: the socket of a bot on this machine."""
        self.origin = origin
        self.traffic = traffic
        self.max_first_bytes = host.max_first_bytes
        self.budget = Budget(STRANGER)
        self.known = False
        """Whether somebody has said a Hello that was accepted."""
        self.heard_at_s = time.monotonic()
        """When something came last."""
        self.pinged_at_s = 0.0
        """When it was last asked for a sign of life."""
        self.idle_since_s = time.monotonic()
        """Since when there is no call."""
        self.window = _WINDOW
        self.writable = True
        self._host = host
        self._line = line
        self._slow_ns = 0
        """Of its slow calls, what is paid."""
        self._is_too_slow = False
        """Whether slow calls have taken too long; it is closed in the next turn of the loop."""
        self._most_read = READ_BYTES
        self._transport: asyncio.Transport | None = None
        self.raw: asyncio.ReadTransport | None = None
        """What reads from the socket: with TLS it is another transport."""
        self._calls: dict[int, Call] = {}
        self._last_call = 0
        self._in = bytearray()
        self._greeted = self._is_reading = False
        self._began_ns = self._began_cpu_ns = 0
        self._unacknowledged = 0
        self._initial_window = _WINDOW
        self._decoder = Decoder(MAX_HEADER_BYTES)
        self._block: tuple[int, bool, bytearray] | None = None
        self._closed = False
        self.broken_off = False
        """Whether the other end has broken a rule or used up its budget: nothing of it is to be read any more."""

    @property
    def idle(self) -> bool:
        """Whether there is no call."""
        return not self._calls

    @property
    def in_use(self) -> bool:
        """Whether somebody known has a call."""
        return self.known and not self.idle

    def admit(self, message_bytes: int, budget: Budget | None = None) -> None:
        """From now on frames are paid from this budget, or from a full one for messages of this size."""
        self.known = True
        self.budget = budget or Budget(terms_of_session(message_bytes))
        self._host.connection_known(self)

    def pause_reading(self) -> None:
        if self.raw is not None:
            self.raw.pause_reading()

    def resume_reading(self) -> None:
        if self.raw is not None:
            self.raw.resume_reading()

    def ping(self) -> None:
        self.pinged_at_s = time.monotonic()
        self.write(_frame(_PING, 0, 0, bytes(8)))

    def excuse(self, late_s: float) -> None:
        """The referee stood still for so long, and could read nothing."""
        self.idle_since_s += late_s
        if self.pinged_at_s > self.heard_at_s:
            self.pinged_at_s += late_s

    def close(self, code: _Code = _Code.NO_ERROR, sentence: str = "") -> None:
        """Close it, with a reason for a person who debugs the other end."""
        if self._closed or self._transport is None:
            return
        self._closed = True
        if self._transport.is_closing():
            return
        if self._is_too_slow:  # a reason would be one more slow call; the record has it
            self._transport.abort()
            return
        self._transport.write(_frame(_GOAWAY, 0, 0, struct.pack(">II", self._last_call, code) + sentence.encode()))
        if self._transport.get_write_buffer_size():
            self._transport.abort()
        else:
            self._transport.close()

    def abort(self) -> None:
        if self._transport is not None:
            self._transport.abort()

    # What calls use

    def write(self, data: bytes) -> None:
        if self._is_too_slow:
            return
        if self._transport is not None and not self._closed and not self._transport.is_closing():
            self._transport.write(data)
            slow_ns = self._pay_for_slow_calls()
            if not self._is_reading:  # else this is a part of the time that the reading takes
                self.traffic.spent_ns += slow_ns

    def forget(self, number: int) -> Call | None:
        """The call, which is over; None if no call has this number."""
        call = self._calls.pop(number, None)
        if call is not None:
            self.idle_since_s = time.monotonic()
        return call

    def spend(self, units: int) -> None:
        if not self.budget.spend(units):
            terms = self.budget.terms
            raise _ConnectionError(
                _Code.ENHANCE_YOUR_CALM,
                f"more HTTP/2 frames and messages than its budget of {terms.burst}, {terms.per_s} more a second"
                f" and {terms.per_message} for each message of the referee",
            )

    def _pay_for_slow_calls(self) -> int:
        """How long slow calls of sending and receiving took since this was last asked."""
        if self._line is None or self._line.slow_ns == self._slow_ns:
            return 0
        spent_ns, self._slow_ns = self._line.slow_ns - self._slow_ns, self._line.slow_ns
        self._most_read = 1
        if not self.traffic.slow_calls.spend(spent_ns) and not self._is_too_slow:
            self._is_too_slow = True
            # Later: who sends a message does not expect the end of the call while it does.
            error = _ConnectionError(_Code.ENHANCE_YOUR_CALM, _SLOW_CALLS)
            asyncio.get_running_loop().call_soon(self._break_off, error)
        return spent_ns

    # What asyncio calls

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self.raw = self.raw or self._transport
        self._transport.write(_SERVER_SETTINGS)
        self._host.connection_made(self)

    def connection_lost(self, error: Exception | None) -> None:
        self._closed = True
        # Or they keep each other, and with TLS 256 KiB of buffers, until a collection.
        self._transport = self.raw = None
        for call in list(self._calls.values()):
            call.drop()
        self._calls.clear()
        self._host.connection_lost(self)

    def pause_writing(self) -> None:
        self.writable = False

    def resume_writing(self) -> None:
        self.writable = True
        self._flush()

    def get_buffer(self, sizehint: int) -> memoryview:
        self.traffic.spent_ns += self._pay_for_slow_calls()  # of what was sent later, when there was room
        self._began_ns, self._began_cpu_ns = time.perf_counter_ns(), time.thread_time_ns()
        return self._host.buffer if self._most_read >= READ_BYTES else self._host.buffer[: self._most_read]

    def buffer_updated(self, nbytes: int) -> None:
        traffic = self.traffic
        traffic.received_bytes += nbytes
        frames = traffic.frames
        self.heard_at_s = time.monotonic()
        was_cut = nbytes == self._most_read
        if not self._pay_for_slow_calls():
            self._most_read = min(READ_BYTES, _MORE_AGAIN * self._most_read)
        if self._closed:
            return
        self._is_reading = True
        try:
            if self._greeted and not self._in:  # nearly always: whole frames, and nothing to keep of them
                data = bytes(self._host.buffer[:nbytes])
                taken = self._take_frames(data)
                if taken < nbytes:
                    self._in += data[taken:]
            else:
                self._in += self._host.buffer[:nbytes]
                if self._greeted or self._take_preface():
                    del self._in[: self._take_frames(self._in)]
            if traffic.frames == frames and nbytes < SMALL_READ_BYTES and not was_cut:
                self.spend(1)
        except _ConnectionError as error:
            self._break_off(error)
        finally:
            self._is_reading = False
            spent_ns = charged_ns(self._began_ns, self._began_cpu_ns)
            traffic.spent_ns += spent_ns
            if not self.known:
                self._host.time_spent(self, spent_ns)

    def pay_for_tls(self, units: int, spent_ns: int) -> None:
        """For what came in TLS and was no data of the connection."""
        self.traffic.spent_ns += spent_ns
        if not self.known:
            self._host.time_spent(self, spent_ns)
        if units and not self._closed:
            try:
                self.spend(units)
            except _ConnectionError as error:
                self._break_off(error)

    def _break_off(self, error: _ConnectionError) -> None:
        self.broken_off = True
        flooded = error.code is _Code.ENHANCE_YOUR_CALM
        for call in list(self._calls.values()):
            call.end(CallEnd.FLOODED if flooded else CallEnd.CLOSED, str(error))
            call.finish(Status.RESOURCE_EXHAUSTED if flooded else Status.INTERNAL, str(error))
        self.close(error.code, str(error))

    # Frames

    def _take_preface(self) -> bool:
        if not _PREFACE.startswith(bytes(self._in[: len(_PREFACE)])):
            raise _ConnectionError(_Code.PROTOCOL_ERROR, "this is not HTTP/2")
        if len(self._in) < len(_PREFACE):
            return False
        del self._in[: len(_PREFACE)]
        self._greeted = True
        return True

    def _take_frames(self, data: bytes | bytearray) -> int:
        """Take the frames that are whole; how many bytes they have."""
        at, end, traffic = 0, len(data), self.traffic
        while end - at >= 9 and not self._closed and not self._is_too_slow:
            high, low, kind, flags, number = _HEAD.unpack_from(data, at)
            size = high << 8 | low
            if size > _MAX_FRAME_BYTES:
                sentence = f"a frame of {size} bytes, at most {_MAX_FRAME_BYTES} are taken"
                raise _ConnectionError(_Code.FRAME_SIZE_ERROR, sentence)
            begin, after = at + 9, at + 9 + size
            if end < after:
                break
            at = after
            traffic.frames += 1
            self._take(kind, flags, number & _MAX_WINDOW, bytes(data[begin:after]))
        return at

    def _take(self, kind: int, flags: int, number: int, payload: bytes) -> None:
        if self._block is not None and kind != _CONTINUATION:
            raise _ConnectionError(_Code.PROTOCOL_ERROR, "a header block was interrupted")
        self.spend(1 if kind == _DATA else 1 + len(payload) // OTHER_BYTES_A_UNIT)
        match kind:
            case 0:  # DATA
                self._take_data(flags, number, payload)
            case 8:  # WINDOW_UPDATE
                self._widen(number, payload)
            case 6:  # PING
                if not flags & _ACK:
                    self._answer(_frame(_PING, _ACK, 0, payload), len(payload) == 8)
            case 4:  # SETTINGS
                if not flags & _ACK:
                    self._take_settings(payload)
            case 1:  # HEADERS
                self._take_headers(flags, number, payload)
            case 9:  # CONTINUATION
                self._continue(flags, number, payload)
            case 3:  # RST_STREAM
                call = self.forget(number)
                if call is not None:
                    call.drop()
            case 5:  # PUSH_PROMISE
                raise _ConnectionError(_Code.PROTOCOL_ERROR, "clients do not push")
            case _:
                pass  # PRIORITY, GOAWAY and what later versions add ask for nothing

    def _answer(self, frame: bytes, sound: bool) -> None:
        if not sound:
            raise _ConnectionError(_Code.FRAME_SIZE_ERROR, "a ping or settings of a wrong size")
        assert self._transport is not None
        if self._transport.get_write_buffer_size() > MAX_UNREAD_BYTES:
            raise _ConnectionError(_Code.ENHANCE_YOUR_CALM, "it does not read the answers to its pings and settings")
        self.write(frame)

    def _take_data(self, flags: int, number: int, payload: bytes) -> None:
        size = len(payload)
        self._unacknowledged += size
        if self._unacknowledged > _WINDOW // 2:
            self.write(_window_update(0, self._unacknowledged))
            self._unacknowledged = 0
        if flags & _PADDED:
            payload = _unpadded(payload)
        call = self._calls.get(number)
        if call is not None:
            call.take(payload, size, last=bool(flags & _END_STREAM))
        elif not number or number > self._last_call:
            raise _ConnectionError(_Code.PROTOCOL_ERROR, f"data for the call {number}, which was not opened")
        else:
            self.spend(1)  # of a call that is over: at most a window's worth, for no more is granted

    def _take_settings(self, payload: bytes) -> None:
        self._answer(_frame(_SETTINGS, _ACK, 0, b""), len(payload) % 6 == 0)
        for name, value in struct.iter_unpack(">HI", payload):
            if name == _INITIAL_WINDOW_SIZE:
                more, self._initial_window = value - self._initial_window, value
                if value > _MAX_WINDOW or not all(call.widen(more) for call in self._calls.values()):
                    raise _ConnectionError(_Code.FLOW_CONTROL_ERROR, f"a window of {value} bytes")
        self._flush()

    def _widen(self, number: int, payload: bytes) -> None:
        size = int.from_bytes(payload) & _MAX_WINDOW
        if len(payload) != 4 or not size:
            raise _ConnectionError(_Code.PROTOCOL_ERROR, "a window update of 0 bytes")
        if number:
            call = self._calls.get(number)
            if call is not None:
                if not call.widen(size):
                    raise _ConnectionError(_Code.FLOW_CONTROL_ERROR, "a window that is too large")
                call.flush()
            return
        self.window += size
        if self.window > _MAX_WINDOW:
            raise _ConnectionError(_Code.FLOW_CONTROL_ERROR, "a window that is too large")
        self._flush()

    def _take_headers(self, flags: int, number: int, payload: bytes) -> None:
        self.spend(CALL_UNITS)
        if flags & _PADDED:
            payload = _unpadded(payload)
        if flags & _HAS_PRIORITY:
            payload = payload[5:]
        self._block = number, bool(flags & _END_STREAM), bytearray()
        self._continue(flags, number, payload)

    def _continue(self, flags: int, number: int, payload: bytes) -> None:
        if self._block is None or self._block[0] != number:
            raise _ConnectionError(_Code.PROTOCOL_ERROR, "a continuation without headers")
        _, last, block = self._block
        block += payload
        if len(block) > MAX_HEADER_BYTES:
            raise _ConnectionError(_Code.ENHANCE_YOUR_CALM, f"headers of more than {MAX_HEADER_BYTES} bytes")
        if flags & _END_HEADERS:
            self._block = None
            if _table_size_updates(block) > MAX_TABLE_SIZE_UPDATES:
                raise _ConnectionError(_Code.COMPRESSION_ERROR, "headers that begin with many table size updates")
            try:
                fields = dict(self._decoder.decode(bytes(block), raw=True))
            except HPACKError as error:
                raise _ConnectionError(_Code.COMPRESSION_ERROR, f"headers that cannot be read ({error})") from None
            self._open(number, last, fields)

    def _open(self, number: int, last: bool, fields: dict[bytes, bytes]) -> None:
        call = self._calls.get(number)
        if call is not None:  # what comes after the last message
            call.end(CallEnd.CLOSED)
            return
        if number % 2 == 0 or number <= self._last_call:
            raise _ConnectionError(_Code.PROTOCOL_ERROR, f"the call {number} comes after {self._last_call}")
        self._last_call = number
        if len(self._calls) >= MAX_CALLS:
            self.write(_frame(_RST_STREAM, 0, number, struct.pack(">I", _Code.REFUSED_STREAM)))
            return
        call = Call(self, number, self._initial_window, fields.get(b"grpc-encoding", b"identity"))
        self._calls[number] = call
        if last:
            call.end(CallEnd.CLOSED)
        path = fields.get(b":path", b"")
        if path != PATH:
            call.finish(Status.UNIMPLEMENTED, f"no such call: {path[:100]!r}; the referee has {PATH.decode()}")
        else:
            self._host.begin_call(call)

    def _flush(self) -> None:
        for call in list(self._calls.values()):
            call.flush()


def _frame(kind: int, flags: int, number: int, payload: bytes) -> bytes:
    size = len(payload)
    return _HEAD.pack(size >> 8, size & 0xFF, kind, flags, number) + payload


def _window_update(number: int, size: int) -> bytes:
    return _frame(_WINDOW_UPDATE, 0, number, struct.pack(">I", size))


def _table_size_updates(block: bytes | bytearray) -> int:
    """How many of them a header block begins with (RFC 7541, 6.3): 001, then a number with a prefix of five bits."""
    number = at = 0
    while at < len(block) and block[at] & 0xE0 == 0x20:
        number += 1
        goes_on = block[at] & 0x1F == 0x1F
        at += 1
        while goes_on and at < len(block):
            goes_on = bool(block[at] & 0x80)
            at += 1
    return number


def _unpadded(payload: bytes) -> bytes:
    if not payload or payload[0] >= len(payload):
        raise _ConnectionError(_Code.PROTOCOL_ERROR, "a frame with more padding than bytes")
    return payload[1 : len(payload) - payload[0]]


def _literal(name: bytes, value: bytes) -> bytes:
    """A header field that no table remembers (RFC 7541, 6.2.2)."""
    return b"\0" + _length(name) + name + _length(value) + value


def _length(data: bytes) -> bytes:
    """A number in HPACK's form with seven bits in the first byte (RFC 7541, 5.1)."""
    size = len(data)
    if size < 127:
        return bytes((size,))
    found = bytearray((127,))
    size -= 127
    while size >= 128:
        found.append(size & 127 | 128)
        size >>= 7
    return bytes((*found, size))


_COMPRESSIONS = {b"gzip": 16 + zlib.MAX_WBITS, b"deflate": zlib.MAX_WBITS}
_RESPONSE = (
    b"\x88"  # :status 200
    + _literal(b"content-type", b"application/grpc")
    + _literal(b"grpc-accept-encoding", b"identity,deflate,gzip")
)
_SLOW_CALLS = "too many threads or epolls wait for its connection: each message keeps the kernel busy for milliseconds"
_SERVER_SETTINGS = _frame(_SETTINGS, 0, 0, struct.pack(">HIHI", 3, MAX_CALLS, 6, MAX_HEADER_BYTES))
