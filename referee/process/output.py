"""What a bot prints: read at all times, so that the bot never blocks on a full pipe, and kept in part."""

import contextlib
import errno
import math
import os
import select
import threading
import time
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Output:
    """Bytes as printed. `head + tail` is the whole stream exactly when `dropped` (bytes) is 0.

    Of a bot that has played before it is what was printed since its match began; `earlier_bytes` came before that.
    """

    stdout_head: bytes = b""
    stdout_tail: bytes = b""
    stdout_dropped: int = 0
    stderr_head: bytes = b""
    stderr_tail: bytes = b""
    stderr_dropped: int = 0
    earlier_bytes: int = 0

    def stdout_text(self) -> str:
        """For people: undecodable bytes escaped, the gap marked."""
        return joined(self.stdout_head, self.stdout_tail, self.stdout_dropped)

    def stderr_text(self) -> str:
        """For people: undecodable bytes escaped, the gap marked."""
        return joined(self.stderr_head, self.stderr_tail, self.stderr_dropped)


def joined(head: bytes, tail: bytes, dropped: int) -> str:
    """One text of both; `dropped` are the bytes that are missing between them."""
    if not dropped:
        return (head + tail).decode(errors="backslashreplace")
    gap = f"\n[... {dropped} bytes dropped ...]\n"
    return head.decode(errors="backslashreplace") + gap + tail.decode(errors="backslashreplace")


class Capture:
    """Keeps at most `max_bytes` of a stream, in memory that does not grow after that: head first, then a ring."""

    def __init__(self, max_bytes: int) -> None:
        self._head_room = max_bytes - max_bytes // 2
        self._head = bytearray()
        self._ring_size = max_bytes // 2
        self._ring = bytearray()
        self._ring_at = 0
        self.total_bytes = 0
        self.earlier_bytes = 0
        """Of the parts before this one."""
        self.copy: Capture | None = None
        """Is fed as well."""

    def begin_part(self) -> None:
        """What comes from now on is kept, in place of what has come."""
        self.earlier_bytes += self.total_bytes
        self.total_bytes = self._ring_at = 0
        self._head.clear()
        self._ring.clear()
        self.copy = None

    def feed(self, chunk: bytes) -> None:
        """The next bytes of the stream, any amount."""
        self.total_bytes += len(chunk)
        if self.copy is not None:
            self.copy.feed(chunk)
        room = self._head_room - len(self._head)
        if room > 0:
            self._head += chunk[:room]
            chunk = chunk[room:]
        chunk = chunk[-self._ring_size :] if self._ring_size else b""
        growth = self._ring_size - len(self._ring)
        if growth > 0:
            self._ring += chunk[:growth]
            chunk = chunk[growth:]
        while chunk:
            part = chunk[: self._ring_size - self._ring_at]
            self._ring[self._ring_at : self._ring_at + len(part)] = part
            self._ring_at = (self._ring_at + len(part)) % self._ring_size
            chunk = chunk[len(part) :]

    @property
    def head(self) -> bytes:
        return bytes(self._head)

    @property
    def tail(self) -> bytes:
        return bytes(self._ring[self._ring_at :] + self._ring[: self._ring_at])

    @property
    def dropped_bytes(self) -> int:
        return self.total_bytes - len(self._head) - len(self._ring)


_CHUNK_BYTES = 65536  # what a pipe holds by default
WINDOW_S = 0.005
WINDOW_READS = 8
"""Of the pipes of a bot: at most 100 MB/s, and one that prints faster waits for its own output. Reads are counted, for
each takes the referee some 10 us however little it gets, and a bot can make each byte one of its own (one at a time, or
through a pipe with O_DIRECT). What is printed until the next one, that one gets."""
_LAST_WORDS_CHUNKS = 32
SLOW_READ_S = 0.001
"""Of processor time. A read takes longer only if it wakes thousands of epolls, with which a bot watches its own end."""

_SLOW_READ_SHARE, _MOST_SLOW_PAUSE_S = 20, 0.5
"""After a slow read the bot waits for so many times as long, as the machine may have stood still not for longer. After
its second one it waits twice that time, after the third three times."""
_FORGOTTEN_S = 60.0
"""In so much time one slow read is forgotten: a bot may live for days, and the machine may be slow at times."""

PATIENCE_S, _PATIENCE_SHARE = 1.0, 0.05
"""So long, and this share of the time after that, the callers of one `Drain` wait for it in all."""


class SlowReads:
    """Counts the slow reads of the pipes of a bot."""

    def __init__(self) -> None:
        self._number = self._seen_s = 0.0

    def pause_s(self, took_s: float, now_s: float) -> float:
        """How long the bot waits after one more, which ends now."""
        self._number = max(0.0, self._number - (now_s - self._seen_s) / _FORGOTTEN_S) + 1
        self._seen_s = now_s
        return self._number * min(_MOST_SLOW_PAUSE_S, _SLOW_READ_SHARE * took_s)


class Drain:
    """The read ends of the pipes of one bot, owned from here on, drained into captures by a thread of its own.

    A pipe has a lock that a writer holds while the kernel fetches what it writes from memory. Each reader waits for it,
    also one that asks not to wait, and a bot can make that last for minutes. So nobody else reads from them.

    One chunk a stream in turn, and a budget of reads per window over all streams of the bot.
    """

    def __init__(self, captures: dict[int, Capture]) -> None:
        """Raises OSError."""
        self.lock = threading.Lock()
        """Of the captures."""
        self._captures = captures
        self._open = set(captures)
        self._reads = 0
        self._slow_reads = SlowReads()
        self._window_end_s = 0.0
        self._answers = threading.Condition(self.lock)
        self._asked = self._answered = 0
        self._chunks = 0
        """So many are asked for."""
        self._closing = self._ended = False
        self._patience_s, self._patience_seen_s = PATIENCE_S, time.monotonic()
        self._woken, self._wakes = os.pipe()
        for file in (*captures, self._woken, self._wakes):
            os.set_blocking(file, False)
        self._thread = threading.Thread(target=self._run, name="output", daemon=True)
        try:
            self._thread.start()
        except RuntimeError as error:
            os.close(self._woken)
            os.close(self._wakes)
            raise OSError(errno.EAGAIN, f"no thread to read its output: {error}") from None

    # For the referee

    def take_what_is_there(self, chunks: int = _LAST_WORDS_CHUNKS) -> None:
        """Have read what is in the pipes by now: after an exit, the last words. Bounded, if somebody still prints; one
        chunk is what a pipe holds, unless each write to it is to be a read of its own."""
        with self._answers:
            if self._ended:
                return
            self._asked += 1
            self._chunks, asked, began_s = chunks, self._asked, time.monotonic()
            self._wake()
            refill_s = _PATIENCE_SHARE * (began_s - self._patience_seen_s)
            left_s = min(PATIENCE_S, self._patience_s + refill_s)
            self._answers.wait_for(lambda: self._ended or self._answered >= asked, max(0.0, left_s))
            self._patience_seen_s = time.monotonic()
            self._patience_s = left_s - (self._patience_seen_s - began_s)

    def close(self) -> None:
        """Have closed what is still open; a process that still prints gets SIGPIPE."""
        with self._answers:
            self._closing = True
            if not self._ended:
                self._wake()
        self._thread.join(max(0.0, self._patience_s))

    def _wake(self) -> None:
        with contextlib.suppress(BlockingIOError):
            os.write(self._wakes, b"x")

    # In the thread

    def _run(self) -> None:
        try:
            while self._open and not self._closing:
                self._turn()
        finally:
            for file in list(self._open):
                self._close(file)
            with self._answers:
                self._ended = True
                os.close(self._woken)
                os.close(self._wakes)
                self._answers.notify_all()

    def _turn(self) -> None:
        pause_s = self._window_end_s - time.monotonic() if self._reads >= WINDOW_READS else 0.0
        poller = select.poll()
        for file in (self._woken, *(self._open if pause_s <= 0 else ())):
            poller.register(file, select.POLLIN)
        ready = {file for file, _ in poller.poll(math.ceil(pause_s * 1000) if pause_s > 0 else None)}
        if self._woken in ready:
            os.read(self._woken, 4096)
            with self._answers:
                asked, chunks = self._asked, self._chunks
            if asked != self._answered:
                self._take(chunks)
                with self._answers:
                    self._answered = asked
                    self._answers.notify_all()
        else:
            for file in ready:
                self._on_readable(file)

    def _on_readable(self, file: int) -> None:
        began_s = time.thread_time()
        self._read(file)
        now_s, took_s = time.monotonic(), time.thread_time() - began_s
        if now_s >= self._window_end_s:
            self._window_end_s = now_s + WINDOW_S
            self._reads = 0
        self._reads += 1
        if took_s > SLOW_READ_S:
            until_s = now_s + self._slow_reads.pause_s(took_s, now_s)
            self._window_end_s, self._reads = max(self._window_end_s, until_s), WINDOW_READS

    def _take(self, chunks: int) -> None:
        for file in list(self._open):
            for _ in range(chunks):
                began_s = time.thread_time()
                if self._read(file) == 0 or time.thread_time() - began_s > SLOW_READ_S:
                    break

    def _read(self, file: int) -> int:
        """Reads one chunk. Returns its size, 0 when there is nothing (any more)."""
        try:
            chunk = os.read(file, _CHUNK_BYTES)
        except BlockingIOError:
            return 0
        except OSError:
            chunk = b""
        if not chunk:
            self._close(file)
        with self.lock:
            self._captures[file].feed(chunk)
        return len(chunk)

    def _close(self, file: int) -> None:
        self._open.discard(file)
        with contextlib.suppress(OSError):
            os.close(file)
