"""Tries to get out of wherever it is put, one way after another, and prints as JSON which ways led somewhere.

`targets` is JSON: what there is to reach, by name.
"""

import ctypes
import json
import os
import signal
import socket
import struct
import tempfile
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


def reads_through_a_link(path: str, secret: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        link = Path(folder) / "way-out"
        link.symlink_to(path)
        reads(str(link), secret)


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


def writes_back(path: Path) -> None:
    path.write_text(path.read_text())


def reads_a_descriptor(pid: int, secret: str) -> None:
    """Of the files that another has open, whatever their paths and rights."""
    trouble = OSError("no file of it in sight")
    for place in Path(f"/proc/{pid}/fd").iterdir():
        try:
            with place.open("rb") as file:
                if file.seekable() and secret.encode() in file.read():
                    return
        except OSError as error:
            trouble = error
    raise trouble


def writes_to_a_control_group() -> None:
    """As root it then sets its own limits; any group of this machine will do."""
    trouble = OSError("no control group in sight")
    for path in Path("/sys/fs/cgroup").glob("**/cgroup.procs"):
        try:
            path.open("r+").close()
        except OSError as error:
            trouble = error
        else:
            return
    raise trouble


def fills_a_netlink_socket() -> None:
    """What lies in it is memory of the kernel, and nobody's: eight GiB fit into those of one process."""
    sender, taker = (socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_USERSOCK) for _ in "12")
    with sender, taker:
        for each in (sender, taker):
            each.bind((0, 0))
        data = bytes(50_000)
        sender.sendto(struct.pack("=IHHII", 16 + len(data), 16, 0, 0, 0) + data, (taker.getsockname()[0], 0))


def reads_through_a_root(path: str, secret: str) -> None:
    """That of any process it sees: one of them might still have the machine's."""
    trouble = OSError("no root leads there")
    for place in Path("/proc").iterdir():
        if place.name.isdigit():
            try:
                reads(f"{place}/root{path}", secret)
            except OSError as error:
                trouble = error
            else:
                return
    raise trouble


def reads_of_any(name: str, secret: str) -> None:
    """Of any process it sees: its own sandbox is one."""
    trouble = OSError("no process tells it")
    for place in Path("/proc").iterdir():
        if place.name.isdigit() and int(place.name) != os.getpid():
            try:
                reads(f"{place}/{name}", secret)
            except OSError as error:
                trouble = error
            else:
                return
    raise trouble


def replaces(path: Path) -> None:
    """The next bot would talk to this one."""
    own = path.with_name("mine.sock")
    with socket.socket(socket.AF_UNIX) as mine:
        mine.bind(str(own))
        own.rename(path)


def leaves_a_file(folder: str) -> None:
    """Whoever owns the folder, or is root, may do so though it is read-only; on a mount that is, nobody may."""
    Path(folder).chmod(0o755)
    path = Path(folder) / "left-behind"
    path.write_text("x")
    path.unlink()


ATTEMPTS: dict[str, Callable[[], Any]] = {
    "read the database": lambda: reads(TARGETS["database"], TARGETS["secret"]),
    "read another bot": lambda: reads(TARGETS["other_bot"], TARGETS["secret"]),
    "read a live record": lambda: reads(TARGETS["record"], TARGETS["secret"]),
    "read the seed": lambda: reads(TARGETS["seed"], TARGETS["secret"]),
    "read the secret of the luck": lambda: reads(TARGETS["luck"], TARGETS["secret"]),
    "read the seed in its own folder": lambda: reads("cup.toml", TARGETS["secret"]),
    "read the PATH of the referee": lambda: reads_of_any("environ", TARGETS["own_path"]),
    "read where what is hidden lies": lambda: reads_of_any("cmdline", TARGETS["hidden"]),
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
    "see a bot that plays beside it": lambda: reads(f"/proc/{TARGETS['playing']}/cmdline", "bot.py"),
    "read the token of a bot that plays beside it": lambda: reads(
        f"/proc/{TARGETS['playing']}/environ", TARGETS["token"]
    ),
    "signal a bot that plays beside it": lambda: os.kill(TARGETS["playing"], signal.SIGCONT),
    "read what the referee has open": lambda: reads_a_descriptor(TARGETS["referee"], TARGETS["secret"]),
    "read through another's root": lambda: reads_through_a_root(TARGETS["record"], TARGETS["secret"]),
    "follow a link of its own": lambda: reads_through_a_link(TARGETS["record"], TARGETS["secret"]),
    "read the cache of builds": lambda: reads(TARGETS["built"], TARGETS["secret"]),
    "change the rights of the socket's folder": lambda: Path(TARGETS["socket"]).parent.chmod(0o711),
    "replace the referee's socket": lambda: replaces(Path(TARGETS["socket"])),
    "write to a control group": writes_to_a_control_group,
    "keep memory that no group counts": fills_a_netlink_socket,
    "change when the kernel takes it": lambda: writes_back(Path("/proc/self/oom_score_adj")),
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
