"""The program behind the bridge: its lines, its end, and why it may be silent."""

from __future__ import annotations

import asyncio
import fcntl
import os
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

LONGEST_LINE = 1 << 20
"""Bytes of one answer; more is an error, so that a program that never breaks its lines cannot fill the memory."""

SILENCE_SHARE = 0.8
"""Share of the time for an answer, after which the author reads what the silent program is doing."""

GRACE_S = 0.5
"""What the program gets to exit after its input was closed."""

_AT_ONCE = 1 << 16
"""Bytes that one read takes. An engine prints many short lines, and they wake the loop once."""


class ChildGone(Exception):
    """The program cannot answer any more. One sentence for its author."""


class Child:
    """A running COMMAND. Its standard error output is the bridge's, so that the referee keeps it."""

    def __init__(self, command: Sequence[str]) -> None:
        """ChildGone if it cannot be started."""
        self._command = command[0]
        try:
            self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        except OSError as error:
            path = os.environ.get("PATH", os.defpath)
            where = "" if "/" in command[0] else f" (PATH is {path})" if path else " (PATH is empty)"
            raise ChildGone(
                f"cannot start {command[0]!r}: {error.strerror}{where}; give the program after --"
            ) from None
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._in, self._out = self._process.stdin.fileno(), self._process.stdout.fileno()
        # A program that neither reads nor writes must not stop the loop, which sees the referee go.
        os.set_blocking(self._in, False)
        os.set_blocking(self._out, False)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._unwritten = bytearray()
        self._listens_to_us = True
        self._unfinished = b""
        self._lines: asyncio.Queue[bytes | str] = asyncio.Queue()

    def tell(self, text: str) -> None:
        """Write to its input, without waiting. Call it after `listen`."""
        if self._listens_to_us:
            self._unwritten += text.encode()
            self._write()

    async def line(self) -> str:
        """Its next line, without the line break. ChildGone when it has ended or closed its input or output."""
        self.listen()
        data = await self._lines.get()
        if isinstance(data, str):
            raise ChildGone(self._end(data))
        if len(data) >= LONGEST_LINE:
            raise ChildGone(
                f"a line of {self._command!r} is longer than {LONGEST_LINE} bytes; end each answer with \\n"
            )
        return _text(data)

    def listen(self) -> None:
        """From now on every line reaches the running loop."""
        if self._loop is None:
            self._loop = asyncio.get_running_loop()
            self._loop.add_reader(self._out, self._read)

    def surplus(self) -> list[str]:
        """The lines that have come and that nobody has asked for; they are gone then."""
        lines = []
        while not self._lines.empty():
            data = self._lines.get_nowait()
            if isinstance(data, str):  # its end, for the next who asks
                self._lines.put_nowait(data)
                break
            lines.append(_text(data))
        return lines

    def silence(self) -> str:
        """What its silence looks like from outside: has it read the question, does it compute?"""
        if self._process.poll() is not None:
            return self._end("")
        if self._unread():
            return f"{self._command!r} has not read the question: it must read its input line by line"
        if _sleeps(self._process.pid):
            return (
                f"{self._command!r} has read the question, sleeps, and no line came: if it has answered, its output is "
                "not flushed (flush after each line: python -u, stdbuf -oL, fflush, $|=1, STDOUT.sync) or lacks the "
                "\\n; or it waits for the end of its input: read line by line"
            )
        return f"{self._command!r} is still computing"

    def close(self) -> None:
        """Close its input, and kill it if it does not end."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        if self._loop is not None and not self._loop.is_closed():
            self._loop.remove_reader(self._out)
            self._loop.remove_writer(self._in)
        self._loop = None
        until = time.monotonic() + GRACE_S
        while self._unwritten and (left_s := until - time.monotonic()) > 0:
            select.select([], [self._in], [], left_s)
            self._write()
        self._process.stdin.close()
        try:
            self._process.wait(GRACE_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()

    def _read(self) -> None:
        try:
            data = os.read(self._out, _AT_ONCE)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        *whole, self._unfinished = (self._unfinished + data).split(b"\n")
        if self._unfinished and (not data or len(self._unfinished) >= LONGEST_LINE):
            whole.append(self._unfinished)
            self._unfinished = b""
        for line in whole:
            self._lines.put_nowait(line)
        if not data:
            if self._loop is not None:
                self._loop.remove_reader(self._out)
            self._lines.put_nowait("it closed its output")

    def _write(self) -> None:
        """Write as much as the program takes now; the loop writes the rest when it takes more."""
        try:
            while self._unwritten:
                del self._unwritten[: os.write(self._in, self._unwritten)]
        except BlockingIOError:
            if self._loop is not None:
                self._loop.add_writer(self._in, self._write)
            return
        except OSError:  # the program may have ended: unread text does no harm
            self._listens_to_us = False
            self._unwritten.clear()
            self._lines.put_nowait("it closed its input")
        if self._loop is not None:
            self._loop.remove_writer(self._in)

    def _unread(self) -> int:
        """Bytes that wait in its input."""
        assert self._process.stdin is not None
        try:
            (count,) = struct.unpack("i", fcntl.ioctl(self._process.stdin.fileno(), termios.FIONREAD, b"\0" * 4))
        except (OSError, ValueError):
            return 0
        return int(count)

    def _end(self, otherwise: str) -> str:
        """How it ended; it may take a moment from the end of its output to the end of itself."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(GRACE_S)
        code = self._process.returncode
        if code is None:
            return f"{self._command!r} runs on, but {otherwise}"
        if code < 0:
            try:
                name = signal.Signals(-code).name
            except ValueError:  # one of those without a name
                name = f"signal {-code}"
            return f"{self._command!r} was ended by {name}"
        advice = "see its own message above" if code else "it must continue to read until its input ends"
        return f"{self._command!r} exited with code {code}; {advice}"


def _text(data: bytes) -> str:
    return data.decode(errors="replace").rstrip("\r\n")


def _sleeps(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "S"
    except (OSError, IndexError):
        return False


def say(sentence: str) -> None:
    """To the author: the referee keeps the standard error output with the match."""
    print(f"bridge: {sentence}", file=sys.stderr, flush=True)
