"""A person, or a script, at a terminal or pipe of somebody else's: the same lines as a program behind the bridge."""

from __future__ import annotations

import asyncio
import os
import queue
import threading
from contextlib import suppress

from crosstown_bridge.child import ChildGone

MOST_BYTES = 4096


class Terminal:
    """Reads answers from one file and writes questions to another, each opened by path."""

    def __init__(self, read_from: str, write_to: str) -> None:
        """ChildGone if one of them cannot be opened."""
        try:
            self._in = os.open(read_from, os.O_RDONLY | os.O_NOCTTY)
            self._out = os.open(write_to, os.O_WRONLY | os.O_APPEND | os.O_NOCTTY)
        except OSError as error:
            raise ChildGone(f"cannot open the terminal: {error}") from None
        self._asked: queue.SimpleQueue[asyncio.Future[str]] = queue.SimpleQueue()
        threading.Thread(target=self._read, name="terminal", daemon=True).start()

    def tell(self, text: str) -> None:
        data = text.encode()
        with suppress(OSError):  # who has gone away needs no farewell; the next question finds out
            while data:
                data = data[os.write(self._out, data) :]

    async def line(self) -> str:
        """What is typed next. Nothing is read before it is asked for, so that several seats can share a terminal."""
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[str] = loop.create_future()
        self._asked.put(answer)
        return await answer

    def listen(self) -> None:
        """Not before a question."""

    def surplus(self) -> list[str]:
        """None: what is typed ahead waits for its question."""
        return []

    def silence(self) -> str:
        return "no answer was typed yet"

    def close(self) -> None:
        pass

    def _read(self) -> None:
        while True:
            answer = self._asked.get()
            line = self._one_line()

            def settle(answer: asyncio.Future[str] = answer, line: str | None = line) -> None:
                if answer.done():
                    return
                if line is None:
                    answer.set_exception(ChildGone("the input has ended"))
                else:
                    answer.set_result(line)

            with suppress(RuntimeError):  # the loop has ended
                answer.get_loop().call_soon_threadsafe(settle)

    def _one_line(self) -> str | None:
        """One byte at a time: what follows the line break may be meant for another seat."""
        line = bytearray()
        while len(line) < MOST_BYTES:
            try:
                byte = os.read(self._in, 1)
            except OSError:
                return None
            if not byte:
                return None
            if byte == b"\n":
                break
            line += byte
        return line.decode(errors="replace").rstrip("\r")
