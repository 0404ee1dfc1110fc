"""One HTTP/2 connection, frame by frame: windows, closed halves, resets, compression, and what is not HTTP/2."""

import asyncio
import gzip
import random
import struct
import time
import weakref
from typing import Any

import pytest
from crosstown_proto.v1 import referee_pb2 as pb
from hpack import Encoder

from referee.wire.budget import SMALL_READ_BYTES, SURE_READ_NS, Traffic
from referee.wire.http2 import MAX_HEADER_BYTES, PATH, Call, CallEnd, Connection, Status
from referee.wire.listener import Bounds, Listener

DATA, HEADERS, RESET, SETTINGS, PING, GOAWAY, WINDOW, CONTINUATION = 0, 1, 3, 4, 6, 7, 8, 9
END_STREAM, END_HEADERS, PADDED, PRIORITY = 1, 4, 8, 32
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
FIRST_BYTES = 1 << 20


def frame(kind: int, flags: int, number: int, payload: bytes = b"") -> bytes:
    return len(payload).to_bytes(3) + bytes((kind, flags)) + number.to_bytes(4) + payload


def message(data: bytes, *, compressed: bool = False) -> bytes:
    return bytes((compressed,)) + len(data).to_bytes(4) + data


def settings(**values: int) -> bytes:
    names = {"window": 4}
    return frame(SETTINGS, 0, 0, b"".join(struct.pack(">HI", names[name], value) for name, value in values.items()))


def headers(**more: str) -> bytes:
    fields = {":method": "POST", ":scheme": "http", ":path": PATH.decode(), "content-type": "application/grpc"}
    return Encoder().encode({**fields, **{name.replace("_", "-"): value for name, value in more.items()}})


class Transport:
    """Takes down what is written. `full`: the other end reads nothing."""

    def __init__(self) -> None:
        self.written = bytearray()
        self.closed = self.aborted = False
        self.full = 0

    def write(self, data: bytes) -> None:
        self.written += data

    def get_write_buffer_size(self) -> int:
        return self.full

    def is_closing(self) -> bool:
        return self.closed

    def close(self) -> None:
        self.closed = True

    def abort(self) -> None:
        self.closed = self.aborted = True


class Line:
    """The other end of a connection; it is its host, too."""

    def __init__(self) -> None:
        self.max_first_bytes = FIRST_BYTES
        self.buffer = memoryview(bytearray(1 << 16))
        self.calls: list[Call] = []
        self.connection = Connection(self, "", Traffic())
        self.transport = Transport()
        self.connection.connection_made(self.transport)  # type: ignore[arg-type]
        self.connection.admit(FIRST_BYTES)

    def begin_call(self, call: Call) -> None:
        self.calls.append(call)

    def connection_made(self, connection: Connection) -> None: ...

    def connection_lost(self, connection: Connection) -> None: ...

    def connection_known(self, connection: Connection) -> None: ...

    def time_spent(self, connection: Connection, spent_ns: int) -> None: ...

    def say(self, data: bytes, piece: int = 1 << 16) -> None:
        for at in range(0, len(data), piece):
            part = data[at : at + piece]
            self.connection.get_buffer(-1)[: len(part)] = part
            self.connection.buffer_updated(len(part))

    def heard(self) -> list[tuple[int, int, int, bytes]]:
        """The frames that came since: kind, flags, call, payload."""
        data, found = self.transport.written, []
        while data:
            size = int.from_bytes(data[:3])
            found.append((data[3], data[4], int.from_bytes(data[5:9]), bytes(data[9 : 9 + size])))
            del data[: 9 + size]
        return found

    def open(self, number: int = 1, **more: str) -> tuple[Call, list[Any]]:
        """A call, and what is read of it: messages, and last how it ended."""
        self.say(frame(HEADERS, END_HEADERS, number, headers(**more)))
        call, got = self.calls[-1], list[Any]()
        call.listen(got.append, lambda: got.append(call.ended))
        return call, got


@pytest.fixture
def line() -> Line:
    made = Line()
    made.say(PREFACE + settings())
    assert [kind for kind, *_ in made.heard()] == [SETTINGS, SETTINGS]
    return made


def test_one_byte_at_a_time_is_as_good_as_all_at_once() -> None:
    line = Line()
    whole = PREFACE + settings() + frame(HEADERS, END_HEADERS, 1, headers()) + frame(DATA, 0, 1, message(b"hello"))
    line.say(whole[:-1], piece=1)
    got: list[bytes] = []
    line.calls[0].listen(got.append, lambda: None)
    assert got == []
    line.say(whole[-1:])
    assert got == [b"hello"]


@pytest.mark.parametrize(("piece", "ended"), [(SMALL_READ_BYTES, None), (SMALL_READ_BYTES // 100, CallEnd.FLOODED)])
def test_a_frame_that_comes_in_crumbs_is_paid_for_by_the_crumb(line: Line, piece: int, ended: CallEnd | None) -> None:
    call, _ = line.open()
    line.say(frame(DATA, 0, 1, message(bytes(FIRST_BYTES - 5))[:16384]), piece)
    assert call.ended is ended


def test_a_compressed_message_is_paid_for_by_its_size_even_if_it_unpacks_to_nothing(line: Line) -> None:
    call, got = line.open(grpc_encoding="deflate")
    nothing = b"\x78\x9c" + b"\0\0\0\xff\xff" * 200_000 + b"\1\0\0\xff\xff" + struct.pack(">I", 1)
    data = message(nothing, compressed=True)
    whole = b"".join(frame(DATA, 0, 1, data[at : at + 16384]) for at in range(0, len(data), 16384))
    line.say(whole)
    assert got == [b""]
    line.say(whole)
    assert got == [b"", CallEnd.FLOODED]
    assert call.ended is CallEnd.FLOODED


def test_a_client_may_begin_its_headers_with_two_table_size_updates(line: Line) -> None:
    line.say(frame(HEADERS, END_HEADERS, 1, b"\x20\x3f\x01" + headers()))
    assert len(line.calls) == 1


def test_a_reset_of_a_call_that_never_was_is_no_sign_of_use(line: Line) -> None:
    since_s = line.connection.idle_since_s
    line.say(frame(RESET, 0, 7, bytes(4)))
    assert line.connection.idle_since_s == since_s


def test_a_message_in_many_small_frames_is_one_message(line: Line) -> None:
    call, got = line.open()
    data = random.Random(1).randbytes(600)
    whole = message(data)
    line.say(b"".join(frame(DATA, 0, 1, whole[at : at + 1]) for at in range(len(whole))))
    assert got == [data]
    assert call.ended is None


def test_many_messages_in_one_frame_are_many_messages(line: Line) -> None:
    _, got = line.open()
    line.say(frame(DATA, END_STREAM, 1, b"".join(message(bytes((number,))) for number in range(50))))
    assert got == [*(bytes((number,)) for number in range(50)), CallEnd.CLOSED]


def test_padding_priority_and_continuations_carry_nothing(line: Line) -> None:
    block = headers()
    line.say(
        frame(HEADERS, PADDED | PRIORITY, 1, bytes((3,)) + bytes(5) + block[:4] + bytes(3))
        + frame(CONTINUATION, 0, 1, block[4:9])
        + frame(CONTINUATION, END_HEADERS, 1, block[9:])
    )
    got: list[bytes] = []
    line.calls[0].listen(got.append, lambda: None)
    line.say(frame(DATA, PADDED, 1, bytes((7,)) + message(b"x") + bytes(7)))
    assert got == [b"x"]


def test_a_large_message_goes_out_as_the_windows_allow() -> None:
    line = Line()
    line.say(PREFACE + settings(window=10))
    call, _ = line.open()
    data = random.Random(2).randbytes(200_000)
    sent: list[int] = []
    call.on_sent = lambda: sent.append(1)
    call.send(data)
    line.heard()
    got = bytearray()
    assert call.unsent == 1
    for _ in range(20):
        line.say(frame(WINDOW, 0, 1, (15_000).to_bytes(4)) + frame(WINDOW, 0, 0, (20_000).to_bytes(4)))
        for kind, _, number, payload in line.heard():
            assert (kind, number) == (DATA, 1)
            assert len(payload) <= 16384
            got += payload
    assert bytes(got) == message(data)[10:]
    assert (call.unsent, sent) == (0, [1])


def test_a_window_that_shrinks_below_nothing_is_waited_for(line: Line) -> None:
    call, _ = line.open()
    call.send(bytes(1000))
    line.heard()
    line.say(settings(window=0))
    call.send(b"second")
    assert [kind for kind, *_ in line.heard()] == [SETTINGS]
    line.say(frame(WINDOW, 0, 1, (1005).to_bytes(4)))
    assert line.heard() == []
    line.say(frame(WINDOW, 0, 1, (11).to_bytes(4)))
    assert [payload for *_, payload in line.heard()] == [message(b"second")]


def test_nothing_is_written_to_who_does_not_read_and_all_when_it_does(line: Line) -> None:
    call, _ = line.open()
    line.connection.pause_writing()
    for number in range(3):
        call.send(bytes((number,)))
    assert (call.unsent, line.heard()) == (3, [])
    line.connection.resume_writing()
    assert [payload for kind, _, _, payload in line.heard() if kind == DATA] == [message(bytes((n,))) for n in range(3)]


def test_window_is_granted_for_what_was_taken_also_of_a_call_that_is_over(line: Line) -> None:
    call, got = line.open()
    granted = {0: 0, 1: 0}
    for _ in range(20):
        line.say(frame(DATA, 0, 1, message(bytes(10_000))))
    for kind, _, number, payload in line.heard():
        assert kind == WINDOW
        granted[number] += int.from_bytes(payload)
    assert len(got) == 20
    assert all(size > 20 * 10_005 - 65_535 // 2 for size in granted.values())
    call.finish(Status.OK)
    line.heard()
    for _ in range(5):
        line.say(frame(DATA, 0, 1, bytes(10_000)))
    assert [(kind, number) for kind, _, number, _ in line.heard()] == [(WINDOW, 0)]


def test_after_a_half_closed_stream_the_referee_may_still_speak(line: Line) -> None:
    call, got = line.open()
    line.say(frame(DATA, END_STREAM, 1, message(b"last")))
    assert got == [b"last", CallEnd.CLOSED]
    call.send(b"bye")
    call.finish(Status.OK)
    assert [(kind, flags) for kind, flags, *_ in line.heard()] == [
        (HEADERS, END_HEADERS),
        (DATA, 0),
        (HEADERS, END_HEADERS | END_STREAM),
    ]


def test_nothing_is_sent_on_a_stream_that_was_reset(line: Line) -> None:
    call, got = line.open()
    line.say(frame(RESET, 0, 1, (8).to_bytes(4)))
    assert got == [CallEnd.CLOSED]
    call.send(b"late")
    call.finish(Status.OK)
    assert line.heard() == []


def test_a_call_that_the_referee_ends_asks_for_no_more(line: Line) -> None:
    call, got = line.open()
    call.finish(Status.UNAVAILABLE, "50 % off: “no”")
    kinds = line.heard()
    assert [(kind, flags) for kind, flags, *_ in kinds] == [(HEADERS, END_HEADERS | END_STREAM), (RESET, 0)]
    assert b"50 %25 off: %E2%80%9Cno%E2%80%9D" in kinds[0][3]
    line.say(
        frame(DATA, 0, 1, message(b"on its way")) + frame(WINDOW, 0, 1, (9).to_bytes(4)) + frame(RESET, 0, 1, bytes(4))
    )
    assert got == [CallEnd.CLOSED]
    assert line.heard() == []
    assert not line.transport.closed


def test_compressed_messages_are_read_and_those_that_grow_too_large_are_not(line: Line) -> None:
    _, got = line.open(grpc_encoding="gzip")
    line.say(frame(DATA, 0, 1, message(gzip.compress(b"hello"), compressed=True)))
    line.say(frame(DATA, 0, 1, message(gzip.compress(bytes(FIRST_BYTES + 1)), compressed=True)))
    assert got == [b"hello", CallEnd.OVERSIZED]


def test_one_call_more_than_may_be_is_refused_and_the_others_go_on(line: Line) -> None:
    opened = [line.open(number) for number in (1, 3, 5, 7)]
    line.say(frame(HEADERS, END_HEADERS, 9, headers()))
    assert [(kind, number, payload) for kind, _, number, payload in line.heard()] == [(RESET, 9, (7).to_bytes(4))]
    line.say(frame(DATA, 0, 9, message(b"y")) + frame(DATA, 0, 7, message(b"x")))
    assert opened[3][1] == [b"x"]


def test_goaway_and_what_later_versions_add_end_nothing(line: Line) -> None:
    _, got = line.open()
    line.say(frame(GOAWAY, 0, 0, bytes(8)) + frame(0x55, 0xFF, 1, b"new") + frame(2, 0, 1, bytes(5)))
    line.say(frame(DATA, 0, 1, message(b"x")))
    assert got == [b"x"]


@pytest.mark.parametrize(
    "data",
    [
        b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
        PREFACE + frame(DATA, 0, 1, b"x"),
        PREFACE + frame(DATA, 0, 0, b"x"),
        PREFACE + frame(HEADERS, END_HEADERS, 2, headers()),
        PREFACE + frame(HEADERS, END_HEADERS, 0, headers()),
        PREFACE + frame(HEADERS, END_HEADERS, 1, b"\xff\xff\xff\xff\xff\xff"),
        PREFACE + frame(HEADERS, END_HEADERS, 1, b"\x20" * 3 + headers()),
        PREFACE + frame(HEADERS, END_HEADERS, 1, b"\x3f\x80\x01" * 3 + headers()),
        PREFACE + frame(HEADERS, END_HEADERS, 1, headers(user_agent="~" * MAX_HEADER_BYTES)),
        PREFACE + frame(HEADERS, 0, 1, headers()) + frame(PING, 0, 0, bytes(8)),
        PREFACE + frame(CONTINUATION, 0, 1, b"x"),
        PREFACE + frame(HEADERS, PADDED | END_HEADERS, 1, b"\xff"),
        PREFACE + frame(PING, 0, 0, bytes(7)),
        PREFACE + frame(SETTINGS, 0, 0, bytes(5)),
        PREFACE + settings(window=1 << 31),
        PREFACE + frame(WINDOW, 0, 0, (2**31 - 1).to_bytes(4)),
        PREFACE + frame(WINDOW, 0, 0, bytes(4)),
        PREFACE + frame(5, 0, 1, bytes(4)),
        PREFACE + b"\xff" * 9,
    ],
)
def test_what_is_not_http2_ends_the_connection_with_a_reason(data: bytes) -> None:
    line = Line()
    line.say(data)
    last = line.heard()[-1]
    assert (last[0], line.transport.closed) == (GOAWAY, True)
    assert len(last[3]) > 8
    line.say(data)  # what was on its way
    assert line.heard() == []


@pytest.mark.parametrize("seed", range(20))
def test_no_frames_whatever_bring_the_referee_down(seed: int) -> None:
    """An exception from here would be taken for the connection's end, without a reason."""
    chance = random.Random(seed)
    for _ in range(50):
        line = Line()
        line.say(PREFACE)
        for _ in range(30):
            block = headers() if chance.random() < 0.7 else chance.randbytes(chance.randrange(40))
            payload = chance.choice([block, message(chance.randbytes(20)), chance.randbytes(chance.randrange(30)), b""])
            line.say(frame(chance.randrange(11), chance.choice([0, 1, 4, 5, 8, 13, 255]), chance.randrange(9), payload))
            if line.calls and chance.random() < 0.2:
                chance.choice(line.calls).send(chance.randbytes(100))
            if line.transport.closed:
                break
        line.connection.connection_lost(None)
        assert all(call.ended is not None for call in line.calls)


def test_a_referee_that_stands_still_in_the_midst_of_reading_charges_no_bot_with_it(line: Line) -> None:
    """The machine may take its processor at any moment. It would be named as a flood, and taken off what is excused."""
    line.open()
    call = line.calls[0]
    call.listen(lambda _: time.sleep(0.2), lambda: None)
    before_ns = line.connection.traffic.spent_ns
    line.say(frame(DATA, 0, 1, message(b"x")))
    assert line.connection.traffic.spent_ns - before_ns < 10 * SURE_READ_NS


@pytest.mark.parametrize("times", [1, 4])
def test_a_reading_of_messages_that_are_large_when_unpacked_is_charged_in_full(times: int) -> None:
    """Up to eight of them fit into the budget and into what a seat may send unasked: they took a tenth of a second, and
    20 ms of that were charged."""
    line = Line()
    line.connection.admit(16 << 20)
    line.say(PREFACE + settings())
    call, _ = line.open(grpc_encoding="gzip")
    call.admit(16 << 20)
    got: list[Any] = []
    call.listen(lambda data: got.append(pb.BotMessage.FromString(data)), lambda: None)
    many = pb.BotMessage(move=pb.Move()).SerializeToString() * (times << 19)
    parcel = message(gzip.compress(many), compressed=True) * 8
    before_ns, began_ns, began_cpu_ns = line.connection.traffic.spent_ns, time.perf_counter_ns(), time.thread_time_ns()
    line.say(b"".join(frame(DATA, 0, 1, parcel[at : at + 16384]) for at in range(0, len(parcel), 16384)))
    passed_ns, cpu_ns = time.perf_counter_ns() - began_ns, time.thread_time_ns() - began_cpu_ns
    assert len(got) == 8
    assert not line.transport.closed
    charged_ns = line.connection.traffic.spent_ns - before_ns
    assert charged_ns >= 0.9 * cpu_ns
    assert charged_ns <= passed_ns
    assert cpu_ns > 20_000_000, "more than was charged at most"


async def test_a_referee_that_stood_still_pings_before_it_takes_a_connection_for_broken() -> None:
    listener = Listener([], lambda _: asyncio.sleep(0), Bounds(4, keepalive_s=1.0, keepalive_limit_s=2.0))
    connection, transport = Connection(listener, "", Traffic()), Transport()
    connection.connection_made(transport)  # type: ignore[arg-type]
    connection.heard_at_s -= 100
    listener.start()
    assert not transport.closed
    assert transport.written.endswith(frame(PING, 0, 0, bytes(8)))
    connection.pinged_at_s -= 2.1
    listener.start()
    assert transport.aborted
    await listener.stop()


def test_to_a_connection_that_the_system_has_ended_nothing_is_written() -> None:
    line = Line()
    line.say(PREFACE + frame(4, 0, 0))
    line.heard()
    line.transport.closed = True
    line.say(frame(6, 0, 0, bytes(8)) * 100)
    line.connection.close()
    assert line.transport.written == b""


def test_a_connection_that_is_lost_is_freed_at_once() -> None:
    """Not at the next collection of garbage: with TLS each has buffers of 256 KiB."""
    line = Line()
    line.say(PREFACE + frame(4, 0, 0))
    transport = weakref.ref(line.transport)
    line.connection.connection_lost(None)
    del line.transport
    assert transport() is None
    line.connection.ping()
    line.connection.abort()
    line.connection.close()


def test_of_what_comes_before_welcome_no_more_is_kept_than_the_largest_first_message(line: Line) -> None:
    """64 messages were kept, each as large: of 64 strangers with compressed ones, hundreds of MiB."""
    line.say(frame(HEADERS, END_HEADERS, 1, headers(grpc_encoding="gzip")))
    (call,) = line.calls
    half = message(gzip.compress(bytes(FIRST_BYTES // 2)), compressed=True)
    line.say(frame(DATA, 0, 1, half * 2))
    assert call.ended is None
    line.say(frame(DATA, 0, 1, half))
    assert (call.ended, call.failure) == (
        CallEnd.CLOSED,
        f"more than 64 messages, or {FIRST_BYTES} bytes of them, before Welcome",
    )
    assert not call._queue
