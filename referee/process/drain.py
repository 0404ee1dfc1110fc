"""Reads what a bot prints, always, so that it never blocks on a full pipe; and never more than the loop can bear."""

import asyncio
import contextlib
import os

from referee.process.output import Capture

_CHUNK_BYTES = 65536  # what a pipe holds by default
_WINDOW_S = 0.05
_WINDOW_BYTES = 8 << 20  # 160 MB/s for each bot; one that prints faster waits for its own output
_LAST_WORDS_CHUNKS = 32


class Drain:
    """The read ends of the pipes of one bot, owned from here on, drained into captures by callbacks of the loop.

    One chunk a stream and loop turn, and a budget of bytes per window over all streams of the bot.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, captures: dict[int, Capture]) -> None:
        self._loop = loop
        self._captures = captures
        self._open = set(captures)
        self._spent = 0
        self._window_end_s = 0.0
        self._paused: asyncio.TimerHandle | None = None
        for file in captures:
            os.set_blocking(file, False)
        self._resume()

    def _resume(self) -> None:
        self._paused = None
        for file in self._open:
            self._loop.add_reader(file, self._on_readable, file)

    def _on_readable(self, file: int) -> None:
        size = self._read(file)
        now_s = self._loop.time()
        if now_s >= self._window_end_s:
            self._window_end_s = now_s + _WINDOW_S
            self._spent = 0
        self._spent += size
        if self._spent >= _WINDOW_BYTES and self._paused is None:
            for other in self._open:
                self._loop.remove_reader(other)
            self._paused = self._loop.call_at(self._window_end_s, self._resume)

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
        self._captures[file].feed(chunk)
        return len(chunk)

    def take_what_is_there(self) -> None:
        """Reads what is in the pipes by now: after an exit, the last words. Bounded, if somebody still prints."""
        for file in list(self._open):
            for _ in range(_LAST_WORDS_CHUNKS):
                if self._read(file) == 0:
                    break

    def close(self) -> None:
        """Closes what is still open; whoever still prints gets SIGPIPE."""
        if self._paused is not None:
            self._paused.cancel()
        for file in list(self._open):
            self._close(file)

    def _close(self, file: int) -> None:
        if file in self._open:
            self._open.remove(file)
            self._loop.remove_reader(file)
            with contextlib.suppress(OSError):
                os.close(file)
