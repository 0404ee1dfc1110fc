"""Writes a record line by line, and turns the live file into the closed one."""

import gzip
import os
from contextlib import suppress
from pathlib import Path

from referee.record.format import (
    CHAIN_START,
    Answer,
    Dropped,
    FaultLine,
    Footer,
    Header,
    RecordError,
    RecordExistsError,
    Strike,
    answer_body,
    chance_body,
    dropped_body,
    fault_body,
    footer_body,
    header_body,
    seal,
    strike_body,
)
from referee.record.store import closed_path, live_path
from referee.record.sync_folder import sync_folder

_LEVEL = 9


class RecordWriter:
    """The record of one live match.

    Lines gather until `flush`, which hands them to the system in one unbuffered write: what was flushed survives the
    end of this process. Every method raises RecordError when the file cannot be written; the file then ends with its
    last whole line.
    """

    def __init__(self, folder: Path, header: Header) -> None:
        """Creates `folder` and the live file. RecordExistsError if the match has a record already."""
        self.path = live_path(folder, header.match_id)
        self._chain = CHAIN_START
        self._pending: list[str] = []
        self._written = 0
        self._fd = -1
        exists = f"match {header.match_id} has a record in {folder} already"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            if closed_path(self.path).exists():
                raise RecordExistsError(exists)
            self._fd = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC, 0o644)
        except OSError as error:
            if self.path.exists():
                raise RecordExistsError(exists) from None
            raise RecordError(f"cannot create the record {self.path}: {error.strerror}") from error
        self._add(header_body(header))
        self.flush()

    def chance(self, outcome: int | str) -> None:
        self._add(chance_body(outcome))

    def answer(self, answer: Answer) -> None:
        self._add(answer_body(answer))

    def fault(self, fault: FaultLine) -> None:
        self._add(fault_body(fault))

    def strike(self, strike: Strike) -> None:
        self._add(strike_body(strike))

    def dropped(self, dropped: Dropped) -> None:
        self._add(dropped_body(dropped))

    @property
    def waiting(self) -> int:
        """How many lines `flush` would write."""
        return len(self._pending)

    def flush(self) -> None:
        """Hand everything so far to the system. No fsync: that comes with `close`."""
        if not self._pending:
            return
        data = "".join(self._pending).encode("ascii")
        self._pending.clear()
        start = self._written
        try:
            view = memoryview(data)
            while view:
                count = os.write(self._fd, view)
                self._written += count
                view = view[count:]
        except OSError as error:
            self._give_up(start)
            raise RecordError(f"cannot write the record {self.path}: {error.strerror}") from error

    def close(self, footer: Footer) -> Path:
        """Write the footer, make it durable, compress. Returns the closed file.

        Blocks on the disk: call it off the event loop. If only the compressed copy cannot be made, the plain file is
        complete and durable, and is what is returned.
        """
        self._add(footer_body(footer))
        self.flush()
        try:
            return close_record(
                self.path
            )  # what is durable is the copy: to wait for this file, too, would be for nothing
        except RecordError:
            self._sync()
            return self.path
        finally:
            self.abandon()

    def _sync(self) -> None:
        try:
            os.fsync(self._fd)
            sync_folder(self.path.parent)
        except OSError as error:
            raise RecordError(f"cannot make the record {self.path} durable: {error.strerror}") from error

    def abandon(self) -> None:
        """Let go of the file as it is: what was flushed stays, readable up to its last whole line."""
        if self._fd >= 0:
            fd, self._fd = self._fd, -1
            os.close(fd)

    def _add(self, body: str) -> None:
        if self._fd < 0:
            raise RecordError(f"the record {self.path} is not open for writing")
        line, self._chain = seal(self._chain, body)
        self._pending.append(line)

    def _give_up(self, start: int) -> None:
        """Cut a half-written line off (this needs no space) and close."""
        with suppress(OSError):  # the reader drops a partial last line too
            os.ftruncate(self._fd, start)
        self.abandon()


def close_record(live: Path) -> Path:
    """Compress the complete live record `live`, durably, and remove it. Returns the closed file.

    The compressed bytes depend on nothing but the lines. RecordError leaves the live file as it was.
    """
    closed = closed_path(live)
    temporary = live.with_name(f".{live.name}.{os.getpid()}.tmp")
    try:
        data = gzip.compress(live.read_bytes(), compresslevel=_LEVEL, mtime=0)
        try:
            fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o644)
            with os.fdopen(fd, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(closed)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
        sync_folder(live.parent)
        live.unlink()
    except OSError as error:
        raise RecordError(f"cannot compress the record {live}: {error.strerror}") from error
    return closed


def keep_record(folder: Path, match_id: str, data: bytes) -> Path:
    """Write the closed record of a match that was played elsewhere, durably, and remove a live one of the same match.

    RecordExistsError, and nothing changes, if the match has a closed record already; RecordError if `data` cannot be
    written.
    """
    live = live_path(folder, match_id)
    closed = closed_path(live)
    temporary = live.with_name(f".{live.name}.{os.getpid()}.tmp")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o644)
        try:
            with os.fdopen(fd, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            os.link(temporary, closed)  # which replaces nothing
        finally:
            temporary.unlink(missing_ok=True)
        sync_folder(folder)
        live.unlink(missing_ok=True)
    except FileExistsError:
        raise RecordExistsError(f"match {match_id} has a record in {folder} already") from None
    except OSError as error:
        raise RecordError(f"cannot write the record {closed}: {error.strerror}") from error
    return closed
