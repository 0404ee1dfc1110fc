"""Control groups, version 1 and 2: a limit for all processes of a bot together, and counters over them.

Groups are made below the referee's own ones, so whatever holds for it holds for its bots. Where the host does not let
us, there are none, and `Cgroups.controllers` says so.
"""

import fcntl
import os
import secrets
import signal
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path

from referee.folders import temporary_folder
from referee.process.meter import Meter
from referee.process.processes import send
from referee.process.trees import remove_tree

PREFIX = "crosstown-bot-"
CONTROLLERS = ("memory", "pids", "cpu", "cpuacct", "freezer")
_PERIOD_US = 100_000
_MOST_SHARE = 0.9
"""Of the processors that we may use, for one bot at most. With all of them, hundreds of processes that sleep for a
moment again and again, or fork, have kept every other program of the machine from running for as long as they liked.
It gets one processor in any case: a bot that computes in one thread is never throttled."""

_OWN_PROCESSES = "crosstown-referee"
_END_S = 2.0
_NO_LIMIT = 1 << 60
"""Version 1 has no word for it, but a number above all memory there is."""
_NEAR = 64
"""Who held all of its limit but this part was at it: what could not be had any more may have been several pages."""


@dataclass(frozen=True, slots=True)
class Hierarchy:
    """Where groups can be made for a controller, and by which version's files."""

    folder: Path
    version: int


@dataclass(frozen=True, slots=True)
class GroupLimits:
    """For all processes of a bot together; None is no limit. `cores` is a share of processor time, 1.5 for one and a
    half processors."""

    memory_bytes: int | None = None
    processes: int | None = None
    cores: float | None = None


@dataclass(frozen=True, slots=True)
class Cgroups:
    """What this process may use; `find` makes it."""

    hierarchies: Mapping[str, Hierarchy] = field(default_factory=dict)

    @property
    def controllers(self) -> tuple[str, ...]:
        return tuple(self.hierarchies)

    def make(self, limits: GroupLimits) -> "Group":
        """A new group with these limits, as far as there are controllers for them. Raises OSError."""
        name = PREFIX + secrets.token_hex(8)
        with ExitStack() as undo:
            locks: dict[Path, int] = {}
            for hierarchy in self.hierarchies.values():
                folder = hierarchy.folder / name
                if folder not in locks:
                    undo.callback(_remove, folder)
                    locks[folder] = claim(folder)
                    undo.callback(os.close, locks[folder])
            group = Group({key: Hierarchy(item.folder / name, item.version) for key, item in self.hierarchies.items()})
            group.locks = tuple(locks.values())
            for folder, file, value in _settings(group.places, limits):
                (folder / file).write_text(value)
            undo.pop_all()
        return group

    def sweep(self) -> int:
        """Ends what is left in groups whose referee and guardian are both dead, and removes them. Returns how many."""
        removed = 0
        for base in _folders(self.hierarchies):
            for folder in base.glob(f"{PREFIX}*"):
                removed += abandoned(folder, end_group)
        return removed


class Group:
    """The group of one bot, by controller. `folders` is what a process joins; `close` gives up our claim to it."""

    def __init__(self, places: Mapping[str, Hierarchy]) -> None:
        self.places = places
        self.locks: tuple[int, ...] = ()

    @property
    def folders(self) -> tuple[Path, ...]:
        return _folders(self.places)

    def file(self, controller: str, names: tuple[str, str]) -> Path | None:
        """The file of a controller, by its name in version 1 and 2; None if there is none."""
        place = self.places.get(controller)
        if place is None:
            return None
        path = place.folder / names[place.version - 1]
        return path if path.exists() else None

    @property
    def oom_file(self) -> Path | None:
        """Has a line "oom_kill N": of processes that the kernel took, for this group's limit or for want of memory
        anywhere above it."""
        return self.file("memory", ("memory.oom_control", "memory.events"))

    @property
    def full_files(self) -> tuple[tuple[Path, int], ...]:
        """Say whether the group was ever at its own limit: files, each with a number or a line "oom N", and from which
        number on it was. (Version 1 counts that as well, in memory.failcnt, which some kernels leave at 0.)"""
        limit = self.file("memory", ("memory.limit_in_bytes", "memory.events"))
        if limit is None or self.places["memory"].version == 2:
            return () if limit is None else ((limit, 1),)
        limit_bytes = int(limit.read_text())
        peaks = [limit.with_name(f"memory.{kind}max_usage_in_bytes") for kind in ("", "memsw.")]
        return tuple((path, limit_bytes - limit_bytes // _NEAR) for path in peaks if path.exists())

    @property
    def peak_file(self) -> Path | None:
        """Bytes."""
        return self.file("memory", ("memory.max_usage_in_bytes", "memory.peak"))

    @property
    def cpu_file(self) -> tuple[Path, int] | None:
        """Its first number, times the second value, is nanoseconds."""
        path = self.file("cpuacct", ("cpuacct.usage", "cpu.stat"))
        return None if path is None else (path, 1 if self.places["cpuacct"].version == 1 else 1000)

    @property
    def throttle_file(self) -> Path | None:
        """Has a line "throttled_time N" (nanoseconds) or "throttled_usec N" where `cores` is limited."""
        return self.file("cpu", ("cpu.stat", "cpu.stat"))

    @property
    def freezer(self) -> tuple[Path, str, str] | None:
        """A file, and the words that freeze and thaw."""
        path = self.file("freezer", ("freezer.state", "cgroup.freeze"))
        words = ("FROZEN", "THAWED") if path and path.name == "freezer.state" else ("1", "0")
        return None if path is None else (path, *words)

    def remove(self) -> None:
        """Ends what is in it."""
        for folder in self.folders:
            end_group(folder)
        self.close()

    def close(self) -> None:
        for lock in self.locks:
            os.close(lock)
        self.locks = ()


def _folders(places: Mapping[str, Hierarchy]) -> tuple[Path, ...]:
    """Each once. The freezer's first: in version 1 nothing that is frozen dies, whatever is sent to it."""
    first = [places["freezer"]] if "freezer" in places else []
    return tuple(dict.fromkeys(place.folder for place in (*first, *places.values())))


def find(root: Path = Path("/")) -> Cgroups:
    """Looks at the host below `root`; on a version 2 host this may move the processes of our own group into a leaf,
    as groups with processes can have none below."""
    try:
        own = (root / "proc/self/cgroup").read_text().splitlines()
        mounts = (root / "proc/self/mountinfo").read_text().splitlines()
    except OSError:
        return Cgroups()
    found: dict[str, Hierarchy] = {}
    for names, version, mounted, top in _mounts(mounts):
        here = _own_folder(own, names, version, top)
        if here is None:
            continue
        folder = root / mounted.lstrip("/") / here
        if folder.name == _OWN_PROCESSES:  # where our runner has put itself, and so us
            folder = folder.parent
        if not os.access(folder, os.W_OK | os.X_OK):
            continue
        usable = names if version == 1 else _delegated(folder)
        for name in CONTROLLERS:
            if name in usable and (name not in found or version == 1):
                found[name] = Hierarchy(folder, version)
    return Cgroups({name: found[name] for name in CONTROLLERS if name in found})


def memory_limit(root: Path = Path("/")) -> tuple[int, Path] | None:
    """The smallest memory limit, in bytes, of our own group and the groups around it, and the file that sets it; None
    if no group limits it."""
    try:
        own = (root / "proc/self/cgroup").read_text().splitlines()
        mounts = (root / "proc/self/mountinfo").read_text().splitlines()
    except OSError:
        return None
    found: list[tuple[int, Path]] = []
    for names, version, mounted, top in _mounts(mounts):
        here = _own_folder(own, names, version, top)
        if here is None or (version == 1 and "memory" not in names):
            continue
        place = root / mounted.lstrip("/")
        folders = [place / here, *(place / parent for parent in Path(here).parents)]
        for folder in folders:
            path = folder / ("memory.limit_in_bytes" if version == 1 else "memory.max")
            with suppress(OSError, ValueError):  # not there, or "max"
                limit = int(path.read_text())
                if limit < _NO_LIMIT:
                    found.append((limit, path))
    return min(found, default=None)


def _mounts(lines: Iterable[str]) -> Iterator[tuple[frozenset[str], int, str, str]]:
    """(controllers, version, mount point, what of the hierarchy is mounted there) of each."""
    for line in lines:
        place, _, kind = line.partition(" - ")
        words, source = place.split(), kind.split()
        if len(words) > 4 and len(source) > 2 and source[0] in ("cgroup", "cgroup2"):
            version = 1 if source[0] == "cgroup" else 2
            yield frozenset(source[2].split(",")), version, words[4], words[3]


def _own_folder(own: Iterable[str], names: frozenset[str], version: int, top: str) -> str | None:
    for line in own:
        number, controllers, path = line.split(":", 2)
        if (number == "0" and not controllers) if version == 2 else (set(controllers.split(",")) & names):
            relative = os.path.relpath(path, top)
            return None if relative.startswith("..") else relative
    return None


def _delegated(folder: Path) -> frozenset[str]:
    """The controllers of version 2 that groups below `folder` get. The freezer and the time used are always there."""
    wanted = {"memory", "pids", "cpu"}
    try:
        there = wanted & set((folder / "cgroup.controllers").read_text().split())
        active = set((folder / "cgroup.subtree_control").read_text().split())
        if there - active:
            _make_room(folder)
            (folder / "cgroup.subtree_control").write_text(" ".join(f"+{name}" for name in sorted(there - active)))
            active |= there
    except OSError:
        active = set()
    usable = there & active if active else set[str]()
    return frozenset(usable | {"cpuacct", "freezer"})


def _make_room(folder: Path) -> None:
    """Our own processes go into a leaf of the group. OSError if it has others: it is not ours to arrange."""
    processes = (folder / "cgroup.procs").read_text().split()
    if not processes:
        return
    if not {int(pid) for pid in processes} <= {os.getpid(), *Meter(os.getpid()).look()}:
        raise PermissionError(1, "other processes are in our group")
    leaf = folder / _OWN_PROCESSES
    leaf.mkdir(exist_ok=True)
    for pid in processes:
        with suppress(ProcessLookupError):
            (leaf / "cgroup.procs").write_text(pid)


_MOST_TCP_BYTES = 64 << 20
"""In version 1, where these do not count as memory of the group."""


def _settings(places: Mapping[str, Hierarchy], limits: GroupLimits) -> Iterator[tuple[Path, str, str]]:
    memory, pids, cpu = places.get("memory"), places.get("pids"), places.get("cpu")
    if memory is not None and limits.memory_bytes is not None:
        first, swap = (
            ("memory.limit_in_bytes", "memory.memsw.limit_in_bytes")
            if memory.version == 1
            else ("memory.max", "memory.swap.max")
        )
        yield memory.folder, first, str(limits.memory_bytes)
        if (memory.folder / swap).exists():
            yield memory.folder, swap, str(limits.memory_bytes) if memory.version == 1 else "0"
        # Else what lies in TCP connections counts for nobody but the machine, whose limit for all of it is not high.
        if memory.version == 1 and (memory.folder / "memory.kmem.tcp.limit_in_bytes").exists():
            yield memory.folder, "memory.kmem.tcp.limit_in_bytes", str(min(_MOST_TCP_BYTES, limits.memory_bytes))
        if memory.version == 2 and (memory.folder / "memory.oom.group").exists():
            yield memory.folder, "memory.oom.group", "1"
    if pids is not None and limits.processes is not None:
        yield pids.folder, "pids.max", str(limits.processes)
    if cpu is not None:
        quota = "cpu.cfs_quota_us" if cpu.version == 1 else "cpu.max"
        if limits.cores is not None or (cpu.folder / quota).exists():
            most = max(1.0, _MOST_SHARE * len(os.sched_getaffinity(0)))
            quota_us = max(1000, round((most if limits.cores is None else min(limits.cores, most)) * _PERIOD_US))
            if cpu.version == 1:
                yield cpu.folder, "cpu.cfs_period_us", str(_PERIOD_US)
            yield cpu.folder, quota, str(quota_us) if cpu.version == 1 else f"{quota_us} {_PERIOD_US}"


def claim(folder: Path) -> int:
    """Makes a folder that `abandoned` leaves alone as long as the file returned is open, here or in a child."""
    while True:
        folder.mkdir(mode=0o700, exist_ok=True)
        with suppress(FileNotFoundError):  # swept between the two
            try:
                file = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            except OSError:
                with suppress(OSError):
                    folder.rmdir()  # a whole tree cannot be removed without a descriptor
                raise
            fcntl.flock(file, fcntl.LOCK_SH)
            if folder.exists():
                return file
            os.close(file)


def abandoned(folder: Path, remove: Callable[[Path], None]) -> bool:
    """Whether nobody claimed `folder` any more; it then was removed."""
    try:
        file = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    else:
        remove(folder)
        return True
    finally:
        os.close(file)


def sweep_folders() -> int:
    """Removes the private folders of bots whose referee and guardian are both dead. Returns how many."""
    own = os.getuid()
    removed = 0
    for folder in temporary_folder().glob(f"{PREFIX}*"):
        with suppress(OSError):
            if folder.lstat().st_uid == own and folder.is_dir() and not folder.is_symlink():
                removed += abandoned(folder, remove_tree)
    return removed


def end_group(folder: Path) -> None:
    """Kills what is in a group, frozen or not, and removes it. Blocks for milliseconds."""
    end_s = time.monotonic() + _END_S
    while folder.exists() and time.monotonic() < end_s:
        with suppress(OSError):
            for pid in (folder / "cgroup.procs").read_text().split():
                send(int(pid), signal.SIGKILL)
        for name, word in (("freezer.state", "THAWED"), ("cgroup.freeze", "0")):
            with suppress(OSError):
                if (folder / name).exists():
                    (folder / name).write_text(word)
        _remove(folder)
        if folder.exists():
            time.sleep(0.002)


def _remove(folder: Path) -> None:
    with suppress(OSError):
        folder.rmdir()
