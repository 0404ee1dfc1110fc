"""One runner per run folder: an flock that the runner's workers share.

The lock is held through one open file that every worker inherits. So it is free only when the runner *and* its workers
are gone: a new runner never meets a worker of a killed one that still writes records.
"""

import fcntl
import json
import os
import shlex
import socket
import time
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Self

from referee.errors import BusyError, PlatformError

WAIT_FOR_WORKERS_S = 10.0
_POLL_S = 0.05


class RunLock:
    """Held from construction to `release`. `fd` is what workers inherit."""

    def __init__(self, path: Path, *, wait_s: float = WAIT_FOR_WORKERS_S) -> None:
        """BusyError with pid and host of another living runner. A dead one's workers are waited for."""
        try:
            self.fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise PlatformError(f"cannot open {path}: {error.strerror}", "check the folder and its rights") from error
        try:
            self._lock(path, wait_s)
            self._sign()
        except BaseException:
            os.close(self.fd)
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()

    def release(self) -> None:
        """Take the signature back, too: this process may live on, and runs nothing there any more."""
        if self.fd >= 0:
            holder = _Holder.read(self.fd)
            if holder is not None and holder.is_this_process:
                with suppress(OSError):
                    os.ftruncate(self.fd, 0)
            os.close(self.fd)
            self.fd = -1

    def _lock(self, path: Path, wait_s: float) -> None:
        deadline = time.monotonic() + wait_s
        for tries in count():
            try:
                fcntl.flock(self.fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                pass
            except OSError as error:
                raise PlatformError(f"cannot lock {path}: {error.strerror}", "put the runs on another disk") from error
            else:
                return
            holder = _Holder.read(self.fd)
            if holder is not None and holder.lives and tries:  # `is_run` takes the lock for a moment
                raise BusyError(
                    f"this tournament is being run by process {holder.pid} on {holder.host}",
                    "wait until it has finished, or stop it with Ctrl-C there",
                )
            if tries and time.monotonic() > deadline:
                who = "another process" if holder is None else f"workers of process {holder.pid} on {holder.host}"
                raise BusyError(f"{who} still hold {path}", f"see who it is: fuser -v {shlex.quote(str(path))}")
            time.sleep(_POLL_S)

    def _sign(self) -> None:
        text = json.dumps({"pid": os.getpid(), "host": socket.gethostname(), "started": started(os.getpid())})
        try:
            os.ftruncate(self.fd, 0)
            os.pwrite(self.fd, text.encode(), 0)
        except OSError as error:
            raise PlatformError(
                f"cannot write the lock file: {error.strerror}", "free some space, then run the same command again"
            ) from error


def is_run(path: Path, *, by_others: bool = False) -> bool:
    """Whether the runner that signed the lock file at `path` lives; of one on another host, such as a container that is
    gone, whether somebody holds the lock. `by_others`: and is not this process."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)  # a pipe would be waited for
    except OSError:
        return False
    try:
        holder = _Holder.read(fd)
        if holder is None or (by_others and holder.is_this_process):
            return False
        return holder.lives and (holder.is_here or not _is_free(fd))
    finally:
        os.close(fd)


def _is_free(fd: int) -> bool:
    """Whether nobody holds the lock, as far as that can be told."""
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)  # the caller closes the file at once
    except OSError:
        return False
    return True


class _Holder:
    def __init__(self, pid: int, host: str, started: str) -> None:
        self.pid, self.host, self._started = pid, host, started

    @classmethod
    def read(cls, fd: int) -> "_Holder | None":
        """Who signed the file; None for the moment between locking and signing."""
        try:
            values = json.loads(os.pread(fd, 4096, 0))
            return cls(int(values["pid"]), str(values["host"]), str(values["started"]))
        except (OSError, ValueError, KeyError, TypeError, OverflowError, RecursionError):
            return None

    @property
    def is_here(self) -> bool:
        """Whether the runner is, or was, on this host."""
        return self.host == socket.gethostname()

    @property
    def lives(self) -> bool:
        """Whether the runner itself is there. On another host one must believe it."""
        return not self.is_here or started(self.pid) == self._started

    @property
    def is_this_process(self) -> bool:
        return self.is_here and self.lives and self.pid == os.getpid()


def started(pid: int) -> str:
    """Start time of a process in clock ticks, '' if it is gone: tells a process from a later one of the same pid."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return ""
    state, *fields = stat.rpartition(")")[2].split()
    return "" if state in "ZX" else fields[18]
