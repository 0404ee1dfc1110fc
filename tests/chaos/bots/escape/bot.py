"""Tries to get out of wherever it is put, one way after another, and prints as JSON which ways led somewhere.

`targets` is JSON: what there is to reach, by name.
"""

import ctypes
import json
import os
import signal
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

TARGETS: dict[str, Any] = json.loads(json.loads(os.environ["CROSSTOWN_OPTIONS"])["targets"])
LIBC = ctypes.CDLL(None, use_errno=True)
CLONE_NEWUSER = 0x10000000
PTRACE_SEIZE, PTRACE_DETACH = 0x4206, 17


def call(name: str, *words: Any) -> int:
    result: int = getattr(LIBC, name)(*words)
    if result < 0:
        raise OSError(ctypes.get_errno(), name)
    return result


def in_a_child(deed: Callable[[], None]) -> None:
    """What it does to itself must not spoil the other attempts."""
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            deed()
            code = 0
        finally:
            os._exit(code)
    if os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) != 0:
        raise OSError("the child could not")


def reads(path: str, secret: str) -> None:
    if secret.encode() not in Path(path).read_bytes():
        raise OSError(f"{path} is not what it should be")


def signals_a_guardian() -> None:
    """Any that it may: other runs of other users may have theirs on the same machine."""
    trouble = OSError("no guardian in sight")
    for folder in Path("/proc").iterdir():
        try:
            if folder.name.isdigit() and b"start_guardian.py" in (folder / "cmdline").read_bytes():
                os.kill(int(folder.name), signal.SIGCONT)
                return
        except (FileNotFoundError, ProcessLookupError):
            continue  # it has ended since it was listed
        except PermissionError as error:
            trouble = error
    raise trouble


def traces(pid: int) -> None:
    call("ptrace", PTRACE_SEIZE, pid, None, None)


def remembers() -> None:
    """Leaves word for the next process of this bot, which looks for it."""
    note = Path(TARGETS["note"])
    if note.exists():
        return
    note.write_text("what I saw in the other match of this block")
    raise OSError("nothing to remember yet")


def opens_a_key() -> None:
    number = 248 if os.uname().machine == "x86_64" else 217
    call("syscall", number, b"user", b"crosstown-escape", b"x", 1, -1)  # add_key to the process's own keyring


def writes_a_setting() -> None:
    path = Path("/proc/sys/vm/swappiness")
    path.write_text(path.read_text())


def leaves_a_file(folder: str) -> None:
    path = Path(folder) / "left-behind"
    path.write_text("x")
    path.unlink()


ATTEMPTS: dict[str, Callable[[], Any]] = {
    "read the database": lambda: reads(TARGETS["database"], TARGETS["secret"]),
    "read another bot": lambda: reads(TARGETS["other_bot"], TARGETS["secret"]),
    "read a live record": lambda: reads(TARGETS["record"], TARGETS["secret"]),
    "read the host's /tmp": lambda: reads(TARGETS["host_tmp"], TARGETS["secret"]),
    "read the referee's environment": lambda: reads(f"/proc/{TARGETS['referee']}/environ", TARGETS["secret"]),
    "see the referee's process": lambda: reads(f"/proc/{TARGETS['referee']}/cmdline", "stand-in"),
    "signal the referee": lambda: os.kill(TARGETS["referee"], signal.SIGCONT),
    "signal the guardian": signals_a_guardian,
    "trace the referee": lambda: in_a_child(lambda: traces(TARGETS["referee"])),
    "connect over the network": lambda: socket.create_connection(("127.0.0.1", TARGETS["port"]), 5).close(),
    "connect to an abstract socket": lambda: socket.socket(socket.AF_UNIX).connect("\0" + TARGETS["abstract"]),
    "remove the referee's socket": lambda: Path(TARGETS["socket"]).unlink(),
    "write its own folder": lambda: leaves_a_file("."),
    "write to the host's disk": lambda: Path(TARGETS["home"], "escaped").write_text("x"),
    "make a user namespace": lambda: in_a_child(lambda: call("unshare", CLONE_NEWUSER)),
    "use the kernel's keyring": lambda: in_a_child(opens_a_key),
    "write a kernel setting": writes_a_setting,
    "remember an earlier match": remembers,
}


def main() -> None:
    outcome = {}
    for name, attempt in ATTEMPTS.items():
        try:
            attempt()
        except Exception as error:
            outcome[name] = f"{type(error).__name__}: {error}"
        else:
            outcome[name] = "done"
    print(json.dumps(outcome), flush=True)


main()
