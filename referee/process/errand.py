"""A command under a guardian, from its start to the end of its last descendant, for callers without an event loop."""

import os
import secrets
import selectors
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path

from referee.process.cgroup import PREFIX, claim
from referee.process.launch import Ground, guardian_argv, make_group
from referee.process.limits import ProcessLimits
from referee.process.orphans import end_marked
from referee.process.trees import remove_tree

_LOOK_S = 0.25
_MARK = "CROSSTOWN_ERRAND"
"""A variable by which all that a command starts is found, whatever becomes of its guardian."""


@dataclass(frozen=True, slots=True)
class Errand:
    """What is to be run, where, and how long it may take. `writable`, `home` and `before`: see `sandbox.confine`.

    A sandbox shows the command the `socket`, if there is one.

    `problem` is asked several times a second; the sentence it returns, unless empty, ends the command.
    """

    argv: tuple[str, ...]
    folder: Path
    env: Mapping[str, str]
    limit_s: float
    limits: ProcessLimits
    ground: Ground
    writable: Sequence[Path] = ()
    home: Path | None = None
    before: tuple[str, ...] = ()
    socket: Path | None = None
    problem: Callable[[], str] = str


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended: with an exit code, negative for a signal, or None with the reason in `why`.

    `out_of_memory`: the kernel ended a process of it at the memory limit.
    """

    code: int | None
    why: str = ""
    out_of_memory: bool = False


def run_errand(errand: Errand, output: Callable[[bytes], None]) -> Ended:
    """Runs it; `output` gets what it prints. No process of it is left afterwards, however this ends.

    Raises OSError where nothing could be started.
    """
    with ExitStack() as undo:
        scratch = Path(tempfile.gettempdir()) / f"{PREFIX}{secrets.token_hex(8)}"
        undo.callback(remove_tree, scratch)
        undo.callback(os.close, claim(scratch))
        group = make_group(errand.limits, errand.ground, undo)
        mine, theirs = socket.socketpair()
        with mine, theirs:
            guardian = subprocess.Popen(
                guardian_argv(
                    errand.argv,
                    errand.folder,
                    address=f"unix:{errand.socket}" if errand.socket else "",
                    limits=errand.limits,
                    scratch=scratch,
                    ground=errand.ground,
                    group=group,
                    writable=errand.writable,
                    home=errand.home,
                    before=errand.before,
                ),
                stdin=theirs.fileno(),
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                env={**errand.env, _MARK: str(scratch)},
                start_new_session=True,
            )
            theirs.close()
            with guardian:
                try:
                    told, why = _follow(guardian, mine, errand, output)
                finally:
                    _end(guardian, mine, errand.limits.kill_timeout_s)
                    if guardian.wait() < 0:  # killed: what it had not ended yet is on its own
                        end_marked(f"{_MARK}={scratch}")
        return _ended(told, why)


def _follow(
    guardian: "subprocess.Popen[bytes]", control: socket.socket, errand: Errand, output: Callable[[bytes], None]
) -> tuple[bytes, str]:
    """What the guardian told until nothing was left, and why we ended the command, if we did."""
    assert guardian.stdout is not None
    until_s = time.monotonic() + errand.limit_s
    told, why = b"", ""
    with selectors.DefaultSelector() as selector:
        for file in (control, guardian.stdout):
            selector.register(file, selectors.EVENT_READ)
        while control in {key.fileobj for key in selector.get_map().values()}:
            for key, _ in selector.select(_LOOK_S):
                chunk = os.read(key.fd, 65536)
                if not chunk:
                    selector.unregister(key.fileobj)
                elif key.fileobj is control:
                    told += chunk
                else:
                    output(chunk)
            if not why:
                late = time.monotonic() >= until_s
                why = f"not ready after {errand.limit_s:g} s; it was ended" if late else errand.problem()
                if why:
                    until_s = time.monotonic() + errand.limits.kill_timeout_s
                    with suppress(OSError):
                        control.send(b"k")
            elif time.monotonic() >= until_s:
                break
        os.set_blocking(guardian.stdout.fileno(), False)
        with suppress(BlockingIOError):
            while chunk := os.read(guardian.stdout.fileno(), 65536):
                output(chunk)
    return told, why


def _end(guardian: "subprocess.Popen[bytes]", control: socket.socket, timeout_s: float) -> None:
    """The guardian ends everything when its socket does; after Ctrl-C, too."""
    control.close()
    try:
        guardian.wait(timeout_s)
    except subprocess.TimeoutExpired:
        guardian.kill()


def _ended(told: bytes, why: str) -> Ended:
    for line in told.decode("ascii", "replace").splitlines():
        match line.split():
            case ["exit" | "signal", _, _, _, "2"]:
                return Ended(None, why or "killed by the kernel, because the machine had no memory left")
            case ["exit" | "signal" as how, number, _, _, oom] if not why:
                return Ended(int(number) if how == "exit" else -int(number), "", oom == "1")
            case ["failed", number, step]:
                sandbox = step == "sandbox"
                reason = "its sandbox could not be made" if sandbox else f"{os.strerror(int(number))} (step '{step}')"
                return Ended(None, why or f"not started: {reason}")
            case ["fault", *said]:
                return Ended(None, why or f"its guardian failed: {' '.join(said)}")
    return Ended(None, why or "its guardian was killed")
