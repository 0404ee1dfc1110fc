"""A worker process as its runner has it: the process, the socket that is its stdin, and the pipe that is its stdout."""

import os
import socket
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:  # the first worker starts before its runner imports asyncio
    import asyncio

COMMAND = (sys.executable, "-P", "-m", "referee.tournament.worker")
EARLY = "--early"
"""The word for a worker that waits until its runner takes it up; see `WorkerProcess.take_up`."""

BEAT_S = 1.0
"""How often a worker says that it is alive, and looks at its memory."""

STOP_S = 8.0
"""What a worker gives itself to end its bots in order when it was asked to stop."""

KILL_LIMIT_S = 5.0
"""How long a killed worker is waited for; what not even a kill ends is left to the system."""

_FIRST_PAUSE_S, _LAST_PAUSE_S = 0.001, 0.005


class WorkerProcess:
    """Started without an event loop. Lines can be exchanged after `connect`."""

    def __init__(self, process: subprocess.Popen[bytes], channel: socket.socket) -> None:
        self._process = process
        self._channel = channel
        """Its stdin: through a socket it can be given files."""
        self._lines: asyncio.StreamReader | None = None
        self._reading: asyncio.BaseTransport | None = None
        self._writer: asyncio.StreamWriter | None = None

    @classmethod
    def start(cls, command: Sequence[str], stderr: int = subprocess.DEVNULL, *files: int) -> Self:
        """The process inherits `files`. Raises OSError."""
        mine, theirs = socket.socketpair()
        with theirs:
            try:
                process = subprocess.Popen(
                    command,
                    stdin=theirs.fileno(),
                    stdout=subprocess.PIPE,
                    stderr=stderr,
                    env={"GRPC_VERBOSITY": "ERROR", **os.environ},
                    pass_fds=files,
                    start_new_session=True,  # Ctrl-C in the terminal is the runner's to handle
                )
            except BaseException:
                mine.close()
                raise
        return cls(process, mine)

    def prepare(self, games: Iterable[str]) -> None:
        """Let a worker that was started early load these games while it waits."""
        with suppress(OSError):
            self._channel.sendall("".join(f"{game}\n" for game in games).encode())

    def take_up(self, log: int, *files: int) -> bool:
        """Let a worker that was started early begin, with its stderr in `log`. It keeps `files` open. False if it has
        ended."""
        try:
            socket.send_fds(self._channel, [b"\0"], [log, *files])
        except OSError:
            return False
        return self.returncode is None

    async def connect(self, longest_line: int) -> None:
        """Before the first line. Raises OSError."""
        import asyncio

        loop = asyncio.get_running_loop()
        self._lines = lines = asyncio.StreamReader(longest_line)
        self._reading, _ = await loop.connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(lines), self._process.stdout
        )
        _, self._writer = await asyncio.open_unix_connection(sock=self._channel)

    async def send(self, data: bytes) -> None:
        """Raises ConnectionError if the process is gone, as far as that is known by now."""
        assert self._writer is not None
        self._writer.write(data)
        await self._writer.drain()

    def send_last(self, data: bytes) -> None:
        """Nothing follows. Raises OSError."""
        assert self._writer is not None
        self._writer.write(data)
        self._writer.write_eof()

    async def readline(self) -> bytes:
        """The next line; less than a line when nothing follows. ConnectionError; ValueError for a line that is too
        long."""
        assert self._lines is not None
        return await self._lines.readline()

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def returncode(self) -> int | None:
        """None while it lives."""
        return self._process.poll()

    def kill(self) -> None:
        self._process.kill()

    async def wait(self) -> None:
        """Until it has ended."""
        import asyncio

        pause_s = _FIRST_PAUSE_S
        while self.returncode is None:
            await asyncio.sleep(pause_s)
            pause_s = min(2 * pause_s, _LAST_PAUSE_S)

    def close(self) -> None:
        """Nothing more is read or sent."""
        if self._writer is not None:
            self._writer.close()
        else:
            self._channel.close()
        if self._reading is not None:
            self._reading.close()
        elif self._process.stdout is not None:
            self._process.stdout.close()


@contextmanager
def early_worker() -> Iterator[WorkerProcess]:
    """A worker that imports its modules while it is not yet known what it is to play. It has ended afterwards,
    unless not even a kill ends it."""
    worker = WorkerProcess.start((*COMMAND, EARLY))
    try:
        yield worker
    finally:
        worker.kill()
        with suppress(subprocess.TimeoutExpired):
            worker._process.wait(KILL_LIMIT_S)
        with suppress(RuntimeError):  # the event loop that it was connected in has ended
            worker.close()
