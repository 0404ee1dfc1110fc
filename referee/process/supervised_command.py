"""Runs a command under a guardian, until its last descendant has ended, for callers without an event loop."""

import os
import secrets
import selectors
import socket
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path

from referee.folders import temporary_folder
from referee.process.cgroup import PREFIX, claim
from referee.process.child_reaper import end_marked
from referee.process.launch import BUILD_OOM_SCORE, LaunchContext, guardian_argv, make_group
from referee.process.limits import ProcessLimits
from referee.process.program import ERRORS_OF_A_MACHINE
from referee.process.trees import remove_tree

_LOOK_S = 0.25
_MARK = "CROSSTOWN_COMMAND"
"""An environment variable that marks all processes of a command, to find them without its guardian."""


@dataclass(frozen=True, slots=True)
class SupervisedCommand:
    """A command to run under a guardian: where, and how long it may take.

    `writable`, `home` and `before`: see `sandbox.confine`. The sandbox shows the command the `socket`, if there is one.

    `problem` is called several times a second with the guardian's process id, below which all processes of the command
    are. A sentence that it returns, unless empty, ends the command.
    """

    argv: tuple[str, ...]
    folder: Path
    env: Mapping[str, str]
    limit_s: float
    limits: ProcessLimits
    context: LaunchContext
    writable: Sequence[Path] = ()
    home: Path | None = None
    before: tuple[str, ...] = ()
    socket: Path | None = None
    problem: Callable[[int], str] = lambda _: ""


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended: with an exit code, negative for a signal, or None with the reason in `why`.

    `out_of_memory`: the kernel ended a process of it at the memory limit. `machine_short`: it was not started, because
    the machine was short of something.
    """

    code: int | None
    why: str = ""
    out_of_memory: bool = False
    machine_short: bool = False


def run_supervised(command: SupervisedCommand, output: Callable[[bytes], None]) -> Ended:
    """Run `command`; `output` gets what it prints. No process of it is left afterwards, however this ends.

    Raises OSError where nothing could be started.
    """
    with ExitStack() as undo:
        scratch = temporary_folder() / f"{PREFIX}{secrets.token_hex(8)}"
        undo.callback(remove_tree, scratch)
        undo.callback(os.close, claim(scratch))
        group = make_group(command.limits, command.context, undo)
        mine, theirs = socket.socketpair()
        with mine, theirs:
            guardian = subprocess.Popen(
                guardian_argv(
                    command.argv,
                    command.folder,
                    address=f"unix:{command.socket}" if command.socket else "",
                    limits=command.limits,
                    scratch=scratch,
                    context=command.context,
                    group=group,
                    writable=command.writable,
                    home=command.home,
                    before=command.before,
                    oom_score=BUILD_OOM_SCORE,
                ),
                stdin=theirs.fileno(),
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                env={**command.env, _MARK: str(scratch)},
                start_new_session=True,
            )
            theirs.close()
            with guardian:
                try:
                    told, why = _follow(guardian, mine, command, output)
                finally:
                    _end(guardian, mine, command.limits.kill_timeout_s)
                    if guardian.wait() < 0:  # killed: what it had not ended yet is on its own
                        end_marked(f"{_MARK}={scratch}")
        return _ended(told, why)


def _follow(
    guardian: "subprocess.Popen[bytes]",
    control: socket.socket,
    command: SupervisedCommand,
    output: Callable[[bytes], None],
) -> tuple[bytes, str]:
    """The guardian's report, and the reason if the command was ended early."""
    assert guardian.stdout is not None
    until_s = time.monotonic() + command.limit_s
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
                why = f"not ready after {command.limit_s:g} s; it was ended" if late else command.problem(guardian.pid)
                if why:
                    until_s = time.monotonic() + command.limits.kill_timeout_s
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
    """End the command: the guardian ends all its processes when its socket closes. Also after Ctrl-C."""
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
                short = int(number) in ERRORS_OF_A_MACHINE
                return Ended(None, why or f"not started: {reason}", machine_short=short and not why)
            case ["fault", *said]:
                return Ended(None, why or f"its guardian failed: {' '.join(said)}")
    return Ended(None, why or "its guardian was killed")
