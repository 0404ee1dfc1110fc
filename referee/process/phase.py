"""One phase of a build: a command in a session of its own, with an end, limits, and a log that is kept."""

import os
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from referee.process.manifest import PYTHON
from referee.process.output import Capture, joined

_KEPT = ("PATH", "HOME", "USER", "LANG", "LC_ALL", "TMPDIR", "XDG_CACHE_HOME", "SSL_CERT_FILE", "SSL_CERT_DIR")
_KEPT_PREFIXES = ("GO", "CARGO", "RUST", "JAVA", "MAVEN", "NODE_", "npm_", "NPM_", "PIP_", "CROSSTOWN_BUILD_")
_KEPT_ENDINGS = ("_proxy", "_PROXY")
_TOOLCHAIN_LIMIT_S = 30.0
_SHOWN_LINES = 12


class BuildError(Exception):
    """A bot that could not be built. One sentence; `log`, if there is one, says more, and `tail` is its end."""

    def __init__(self, message: str, log: Path | None = None, tail: str = "") -> None:
        super().__init__(message)
        self.log = log
        self.tail = tail


@dataclass(frozen=True, slots=True)
class BuildLimits:
    """Seconds of each phase; what each of its processes may have as memory and write as one file; kept log."""

    fetch_s: float = 900.0
    build_s: float = 1800.0
    memory_mib: int = 8192
    file_mib: int = 2048
    log_bytes: int = 1 << 20

    def limit_s(self, phase: str) -> float:
        return self.fetch_s if phase == "fetch" else self.build_s


class Log:
    """What all phases print, head and tail, on disk as far as it is known."""

    def __init__(self, path: Path, most_bytes: int) -> None:
        self._path = path
        self._capture = Capture(most_bytes)

    def __enter__(self) -> Self:
        self._path.write_bytes(b"")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.save()

    def feed(self, chunk: bytes) -> None:
        self._capture.feed(chunk)

    def save(self) -> Path:
        self._path.write_text(self.text(), errors="surrogateescape")
        return self._path

    def text(self) -> str:
        return joined(self._capture.head, self._capture.tail, self._capture.dropped_bytes)

    def tail(self) -> str:
        return "\n".join(self.text().splitlines()[-_SHOWN_LINES:])


def run_phase(phase: str, argv: Sequence[str], copy: Path, limits: BuildLimits, log: Log) -> float:
    """Run one phase in the bot's copy; the seconds it took. BuildError if it fails or does not end in time."""
    began_s = time.monotonic()
    words = _words(argv)
    log.feed(f"$ {' '.join(words)}\n".encode(errors="replace"))
    limit_s = limits.limit_s(phase)
    try:
        process = subprocess.Popen(
            words,
            cwd=copy,
            env=_environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            preexec_fn=lambda: _limit(limits),
        )
    except OSError as error:
        raise BuildError(f"{phase}: cannot start {words[0]!r}: {error.strerror}; install it", log.save()) from None
    assert process.stdout is not None
    reader = threading.Thread(target=_copy, args=(process.stdout, log), daemon=True)
    reader.start()
    try:
        code = process.wait(limit_s)
    except subprocess.TimeoutExpired:
        _end(process)
        reader.join(1)
        raise BuildError(f"{phase}: not ready after {limit_s:g} s; it was ended", log.save(), log.tail()) from None
    except BaseException:  # Ctrl-C: nothing of the build goes on without us
        _end(process)
        raise
    _end(process)  # what it left running in its session
    reader.join(1)
    if code != 0:
        how = f"exit code {code}" if code > 0 else signal.Signals(-code).name
        raise BuildError(f"{phase}: {words[0]!r} ended with {how}", log.save(), log.tail())
    return time.monotonic() - began_s


def one_line_of(argv: Sequence[str], folder: Path) -> str:
    """The first line that a command prints, such as a version; what went wrong if it prints none."""
    try:
        done = subprocess.run(
            _words(argv),
            cwd=folder,
            env=_environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_TOOLCHAIN_LIMIT_S,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"unknown: {error}"
    lines = (done.stdout + done.stderr).decode(errors="backslashreplace").strip().splitlines()
    return lines[0][:200] if lines else "unknown: it printed nothing"


def _words(argv: Sequence[str]) -> list[str]:
    return [sys.executable if word == PYTHON else word for word in argv]


def _environment() -> dict[str, str]:
    """What toolchains look at, and nothing that is the organiser's secret by accident."""
    return {
        name: value
        for name, value in os.environ.items()
        if name in _KEPT or name.startswith(_KEPT_PREFIXES) or name.endswith(_KEPT_ENDINGS)
    }


def _limit(limits: BuildLimits) -> None:
    """In the child, before exec."""
    for kind, value in (
        (resource.RLIMIT_DATA, limits.memory_mib << 20),
        (resource.RLIMIT_FSIZE, limits.file_mib << 20),
        (resource.RLIMIT_CORE, 0),
    ):
        _, hard = resource.getrlimit(kind)
        most = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(kind, (most, most))


def _copy(stream: IO[bytes], log: Log) -> None:
    with stream:
        while chunk := os.read(stream.fileno(), 65536):
            log.feed(chunk)


def _end(process: "subprocess.Popen[bytes]") -> None:
    """End the whole session of a phase."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
