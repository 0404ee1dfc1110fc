"""Reads records: live, closed, cut or damaged, as far as they go."""

import zlib
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path

from referee.record.files import open_ordinary
from referee.record.format import (
    CHAIN_START,
    Footer,
    Header,
    Line,
    RecordError,
    next_chain,
    open_line,
    parse_line,
)
from referee.record.journal import DIGEST_BYTES
from referee.record.store import closed_path, contents, is_live

MAX_RECORD_BYTES = 1 << 30
"""A closed record that unpacks to more is refused."""

MAX_RECORD_LINE_BYTES = 64 << 20
MAX_LINES = 2_000_000
MAX_PROBLEMS = 100
"""Reading stops at a longer line, and at the first line beyond so many, or so many that are wrong. No match has such
lines; a small file from a stranger could else take all memory."""

_CHUNK_BYTES = 4 << 20
"""As much of a closed record is unpacked at a time."""

_HEADER_BYTES = 1 << 16
"""The header of nearly every record lies in so many bytes."""


class NotARecordError(RecordError):
    """A file whose first line is no header that can be read."""


@dataclass(frozen=True, slots=True)
class Problem:
    """Something wrong with the file itself. `line` counts from 1; 0 when it is about the whole file."""

    line: int
    what: str


@dataclass(frozen=True, slots=True)
class Record:
    """One record as far as it can be read. `lines[i]` stands on line `i + 2` of the file (the header is line 1).

    `digest` is of all bytes of its lines (see `referee.record.journal`); '' of one that is followed.
    """

    path: Path
    header: Header
    lines: tuple[Line, ...] = ()
    footer: Footer | None = None
    problems: tuple[Problem, ...] = ()
    digest: str = ""

    @property
    def complete(self) -> bool:
        """Whether the footer is there and nothing is wrong with the file."""
        return self.footer is not None and not self.problems


def read_record(path: Path) -> Record:
    """The record in `path`, plain or compressed, in a file or packed.

    A partial last line of a plain file is what a match in progress (or a killed referee) looks like: it is dropped
    without a word and the record is not complete. Anything else that is wrong is a Problem. A line whose chain is
    wrong is read all the same; reading stops before a line that cannot be understood. RecordError if not even the
    header can be read, or the format is a newer one.
    """
    try:
        data = contents(path)
    except OSError as error:
        raise RecordError(f"cannot read the record {path}: {error.strerror}") from error
    return parse_record(path, data)


def parse_record(path: Path, data: bytes) -> Record:
    """The same of the content of a file that may lie in `path`."""
    problems: list[Problem] = []
    reading = _Reading(path)
    digest = blake2b(digest_size=DIGEST_BYTES)
    for chunk in (data,) if is_live(path) else _unpacked(data, problems):
        reading.feed(chunk)
        digest.update(chunk)
    if not is_live(path) and (reading.rest or reading.footer is None) and not problems:
        problems.append(Problem(0, "the file is closed but has no footer"))
    return reading.record(problems, digest.hexdigest())


def read_header(path: Path) -> Header:
    """The header of the record in `path`, without reading the rest. RecordError as for `read_record`."""
    try:
        try:
            with open_ordinary(path) as file:
                data = file.read(_HEADER_BYTES)
        except FileNotFoundError:
            data = contents(path)
    except OSError as error:
        raise RecordError(f"cannot read the record {path}: {error.strerror}") from error
    if not is_live(path):
        with suppress(zlib.error):  # then the whole file is read, and says what is wrong
            data = zlib.decompressobj(wbits=31).decompress(data, _HEADER_BYTES)
    reading = _Reading(path)
    reading.feed(data.partition(b"\n")[0] + b"\n")
    return reading.header or read_record(path).header


class RecordFollower:
    """Follows a record that may still grow. `poll` returns what has come since the last call."""

    def __init__(self, path: Path) -> None:
        """`path` is the live file; the closed one beside it is taken once it has replaced it."""
        self.path = path
        self._closed = closed_path(path)
        self._offset = 0
        self._seen = 0
        self._reading = _Reading(path)

    @property
    def record(self) -> Record:
        """All that was read so far. RecordError while there is no header yet."""
        return self._reading.record([])

    def poll(self) -> tuple[Line, ...]:
        """New whole lines. RecordError if the file cannot be read or is damaged before its header ends."""
        data = self._new_bytes()
        self._offset += len(data)
        self._reading.feed(data)
        new = tuple(self._reading.lines[self._seen :])
        self._seen = len(self._reading.lines)
        return new

    def _new_bytes(self) -> bytes:
        try:
            with open_ordinary(self.path) as file:
                file.seek(self._offset)
                return file.read()
        except FileNotFoundError:
            try:
                return unpack(contents(self._closed))[0][self._offset :]
            except FileNotFoundError:
                return b""  # not created yet
        except OSError as error:
            raise RecordError(f"cannot read the record {self.path}: {error.strerror}") from error


@dataclass(slots=True)
class _Reading:
    """Lines so far; `rest` is the beginning of a line whose end has not come."""

    path: Path
    header: Header | None = None
    lines: list[Line] = field(default_factory=list)
    footer: Footer | None = None
    problems: list[Problem] = field(default_factory=list)
    rest: bytes = b""
    _chain: str = CHAIN_START
    _number: int = 0
    _stuck: bool = False

    def feed(self, data: bytes) -> None:
        if self._stuck:
            return
        *whole, self.rest = (self.rest + data).split(b"\n")
        self._take(whole)
        if len(self.rest) > MAX_RECORD_LINE_BYTES:
            self._take([self.rest])

    def record(self, more: Iterable[Problem], digest: str = "") -> Record:
        if self.header is None:
            reason = f"line 1: {self.problems[0].what}" if self.problems else "it has no whole line yet"
            raise NotARecordError(f"{self.path} is not a match record: {reason}")
        problems = (*more, *self.problems)
        return Record(self.path, self.header, tuple(self.lines), self.footer, problems, digest)

    def _take(self, whole: list[bytes]) -> None:
        for raw in whole:
            if self._stuck:
                return
            self._number += 1
            try:
                self._check_size(raw)
                self._take_line(raw.decode("ascii"))
            except ValueError as error:
                what = "the line is not ASCII" if isinstance(error, UnicodeDecodeError) else str(error)
                self.problems.append(Problem(self._number, f"{what}; nothing from here on was read"))
                self._stuck, self.rest = True, b""

    def _check_size(self, raw: bytes) -> None:
        if len(raw) > MAX_RECORD_LINE_BYTES:
            raise ValueError(f"a line of more than {MAX_RECORD_LINE_BYTES} bytes")
        if self._number > MAX_LINES:
            raise ValueError(f"more than {MAX_LINES} lines")
        if len(self.problems) >= MAX_PROBLEMS:
            raise ValueError(f"{MAX_PROBLEMS} lines before this one are wrong")

    def _take_line(self, text: str) -> None:
        body, chain = open_line(text)
        expected = next_chain(self._chain, body)
        self._chain = chain
        if chain != expected:
            self.problems.append(
                Problem(
                    self._number, f"the line was changed, lost or inserted: its chain is {chain}, expected {expected}"
                )
            )
        item = parse_line(text)
        if isinstance(item, Header):
            if self._number != 1:
                raise ValueError("a second header")
            self.header = item
        elif self.header is None:
            raise ValueError("the first line is not a header")
        elif self.footer is not None:
            raise ValueError("a line after the footer")
        elif isinstance(item, Footer):
            self.footer = item
            self._check_seats(item, self.header.players)
        else:
            self.lines.append(item)

    def _check_seats(self, footer: Footer, players: int) -> None:
        """What a footer lists per seat is there for every seat, or left out."""
        for name in ("ranking", "returns", "seat_stats", "faults", "startup_us", "usage", "versions"):
            size = len(getattr(footer, name))
            if size not in (0, players):
                self.problems.append(Problem(self._number, f"the footer has {name} of {size} seats, not of {players}"))


def unpack(data: bytes) -> tuple[bytes, str]:
    """The content of a gzip file as far as it goes, and what is wrong with it or ''."""
    problems: list[Problem] = []
    content = b"".join(_unpacked(data, problems))
    return content, problems[0].what if problems else ""


def _unpacked(data: bytes, problems: list[Problem]) -> Iterator[bytes]:
    """The content of a gzip file in parts, as far as it goes; what is wrong with it is added to `problems`."""
    unpacker = zlib.decompressobj(wbits=31)
    size, rest = 0, data
    while True:
        try:
            chunk = unpacker.decompress(rest, _CHUNK_BYTES)
        except zlib.error as error:
            problems.append(Problem(0, f"the compressed file is damaged: {error}"))
            yield _unpack_slowly(data)[size:]
            return
        size += len(chunk)
        yield chunk
        rest = unpacker.unconsumed_tail
        if size >= MAX_RECORD_BYTES and not unpacker.eof:
            problems.append(Problem(0, f"the compressed file unpacks to more than {MAX_RECORD_BYTES} bytes"))
            return
        if unpacker.eof or not (rest or len(chunk) == _CHUNK_BYTES):
            break
    if not unpacker.eof:
        problems.append(Problem(0, "the compressed file is cut"))
    elif unpacker.unused_data:
        problems.append(Problem(0, "bytes follow the end of the compressed file"))


def _unpack_slowly(data: bytes) -> bytes:
    """Whatever comes out before the damage."""
    unpacker = zlib.decompressobj(wbits=31)
    content = bytearray()
    try:
        for start in range(0, len(data), 64):
            content += unpacker.decompress(data[start : start + 64])
            if len(content) > MAX_RECORD_BYTES:
                break
    except zlib.error:
        pass
    return bytes(content)
