"""A cluster of real processes for tests: a scheduler, and machines that share nothing but the network."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

READY_S = 60.0
LEFT_WITHIN_S = 5.0
"""No process is left on a machine so long after its worker died."""


HUB = "10.77.0.1"
"""Where the scheduler is, in networks of their own."""

_OWN_ROOT = """
set -e
root=/mnt place=$1
mount -t tmpfs none $root
for there in /*; do
  case $there in
    /dev | /mnt | /proc | /run | /sys | /tmp | /var) mkdir $root$there ;;
    *) if [ -L $there ]; then cp -P $there $root; elif [ -d $there ]; then mkdir $root$there; \
      mount --bind -o ro $there $root$there; fi ;;
  esac
done
mkdir -m 1777 $root/var/tmp $root/dev/shm
mkdir $root/dev/pts
chmod 1777 $root/tmp
for device in null zero full random urandom tty; do
  touch $root/dev/$device
  mount --bind /dev/$device $root/dev/$device
done
ln -s /proc/self/fd $root/dev/fd
mount -t devpts -o newinstance,ptmxmode=0666 none $root/dev/pts
ln -s pts/ptmx $root/dev/ptmx
mount --rbind /sys $root/sys
mount -t proc none $root/proc
IFS=:
for kept in $2; do
  if [ ! -d "$root$kept" ]; then mkdir -p "$root$kept"; mount --bind -o ro "$kept" "$root$kept"; fi
done
unset IFS
mkdir -p "$root$place"
mount --bind "$place" "$root$place"
cd $root
pivot_root . mnt
umount -l /mnt
cd "$place"
shift 2
exec "$@"
"""
"""A shell's program: a new root folder, in which the folder $1 is the only one of the host that can be written. The
programs of the host and the folders in $2, with colons between, can be read there. The rest is a command."""

_KEPT = f"{Path(__file__).resolve().parents[1]}:{sys.prefix}:{sys.base_prefix}"
"""What a machine needs of Crosstown, if it is installed in a folder for temporary files."""


class Networks:
    """Machines on this one: each has a network, a mount and a process namespace and a root folder of its own, and a
    virtual link to a bridge. Needs root."""

    def __init__(self, tag: str) -> None:
        self._tag = tag
        self._names: list[str] = []
        self._ip("netns", "add", self._space("scheduler"))
        self._names.append("scheduler")
        self._in("scheduler", "link", "add", "br0", "type", "bridge")
        self._in("scheduler", "addr", "add", f"{HUB}/24", "dev", "br0")
        self._in("scheduler", "link", "set", "br0", "up")
        self._in("scheduler", "link", "set", "lo", "up")

    def add(self, name: str) -> str:
        """The address of a new machine."""
        self._names.append(name)
        number = len(self._names)
        self._ip("netns", "add", self._space(name))
        peer = ("type", "veth", "peer", "name", "eth0", "netns", self._space(name))
        self._in("scheduler", "link", "add", f"v{number}", *peer)
        self._in("scheduler", "link", "set", f"v{number}", "master", "br0", "up")
        self._in(name, "addr", "add", f"10.77.0.{number}/24", "dev", "eth0")
        for device in ("eth0", "lo"):
            self._in(name, "link", "set", device, "up")
        return f"10.77.0.{number}"

    def plug(self, name: str, *, into: bool) -> None:
        """Connect a machine to the others, or cut it off."""
        number = self._names.index(name) + 1
        self._in("scheduler", "link", "set", f"v{number}", "up" if into else "down")

    def prefix(self, name: str, folder: Path) -> list[str]:
        """The words before a command that runs on a machine: of `folder` it sees only its own part."""
        alone = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--"]
        return [
            "ip",
            "netns",
            "exec",
            self._space(name),
            *alone,
            "sh",
            "-c",
            _OWN_ROOT,
            "sh",
            str(folder / name),
            _KEPT,
        ]

    def end(self) -> None:
        for name in self._names:
            subprocess.run(["ip", "netns", "del", self._space(name)], check=False)

    def _space(self, name: str) -> str:
        return f"{self._tag}-{name}"

    def _in(self, name: str, *words: str) -> None:
        self._ip("-n", self._space(name), *words)

    def _ip(self, *words: str) -> None:
        subprocess.run(["ip", *words], check=True, capture_output=True)


@dataclass
class Cluster:
    """`make(folder)` gives a workplace; machines and scheduler have one each, below `folder`."""

    folder: Path
    make: Callable[[Path], Any]
    certificates: list[str] = field(default_factory=list)
    port: int = 0
    before: dict[str, list[str]] = field(default_factory=dict)
    """Words before the command of a machine, by its name."""
    networks: "Networks | None" = None
    """Of the machines, which then share nothing but these; None where all are on the loopback address."""
    places: dict[str, Any] = field(default_factory=dict)
    processes: dict[str, "subprocess.Popen[str]"] = field(default_factory=dict)

    @property
    def address(self) -> str:
        return f"{'tls' if self.certificates else 'tcp'}://{HUB if self.networks else '127.0.0.1'}:{self.port}"

    def prefix(self, name: str) -> list[str]:
        """The words before a command that runs on this machine."""
        return self.before.get(name, []) if self.networks is None else self.networks.prefix(name, self.folder)

    def place(self, name: str) -> Any:
        if name not in self.places:
            (self.folder / name).mkdir()
            self.places[name] = self.make(self.folder / name)
        return self.places[name]

    def start(self, name: str, *words: str) -> "subprocess.Popen[str]":
        place = self.place(name)
        log = (place.folder / "log").open("a")
        process: subprocess.Popen[str] = place.start(
            "cluster", *words, stdout=log, stderr=log, prefix=self.prefix(name)
        )
        log.close()
        self.processes[name] = process
        return process

    def start_scheduler(self) -> None:
        if not self.port:
            with socket.create_server(("127.0.0.1", 0)) as server:
                self.port = server.getsockname()[1]
        host = ["--host", HUB] if self.networks else []
        self.start("scheduler", "scheduler", "--port", str(self.port), *host, *self.certificates)
        self.wait_for_log("scheduler", "scheduler at")

    def start_machine(self, name: str, *words: str, slots: int = 2) -> None:
        words = ("worker", self.address, "--name", name, "--slots", str(slots), *self.certificates, *words)
        if not any(word == "--class" for word in words):
            words = (*words, "--class", "one")
        self.start(name, *words)

    def wait_for_log(self, name: str, words: str, times: int = 1) -> None:
        deadline = time.monotonic() + READY_S
        while self.log(name).count(words) < times:
            assert time.monotonic() < deadline, f"{name}: {self.log(name)}"
            assert self.processes[name].poll() is None, self.log(name)
            time.sleep(0.05)

    def log(self, name: str) -> str:
        return (self.folder / name / "log").read_text()

    def kill(self, name: str, number: int = signal.SIGKILL) -> None:
        """The worker's process alone, as if it had crashed; what it started sees to itself."""
        os.kill(self.processes[name].pid, number)
        if number == signal.SIGKILL:
            self.processes[name].wait()

    def freeze(self, name: str, *, thaw: bool = False) -> None:
        """Pause all processes of a machine, or let them go on."""
        for pid in below(self.processes[name].pid):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT if thaw else signal.SIGSTOP)

    def assert_nobody_left(self, name: str) -> None:
        deadline = time.monotonic() + LEFT_WITHIN_S
        while (left := self.places[name].processes()) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert not left, left

    def end(self) -> None:
        for process in self.processes.values():
            if process.poll() is None:
                process.send_signal(signal.SIGCONT)
                # `unshare` passes no other signal on to the machine that it holds.
                process.send_signal(signal.SIGTERM if self.networks is None else signal.SIGKILL)
        for process in self.processes.values():
            try:
                process.wait(15)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    @property
    def words(self) -> list[str]:
        """Of a run on this cluster."""
        return ["--executor", "dask", "--scheduler", self.address, *self.certificates]


def below(pid: int) -> list[int]:
    """A process and all that it has started."""
    found = [pid]
    for one in found:
        with suppress(OSError):
            found += map(int, Path(f"/proc/{one}/task/{one}/children").read_text().split())
    return found


def assert_ended(pids: Iterable[int]) -> None:
    """None of these processes is left `LEFT_WITHIN_S` from now."""
    deadline = time.monotonic() + LEFT_WITHIN_S
    while (left := [pid for pid in pids if _lives(pid)]) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not left, left


def _lives(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def journal_of(folder: Path, kind: str) -> list[dict[str, Any]]:
    lines = [json.loads(line) for line in (folder / "tournament.jsonl").read_text().splitlines()]
    return [line[2] for line in lines if line[0] == kind]
