"""The sandbox around a bot: what it may be granted, what it hides, and the command line of bubblewrap for it."""

import os
import shutil
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Literal, TypeAlias, get_args

from referee.folders import cache_folder, why_no_program
from referee.process.guardian import INFO_FD, PASSWD_FD, SECCOMP_FD, STATUS_FD, WORDS_FD
from referee.process.manifest import Manifest, ManifestError
from referee.process.mounts import mount_folder
from referee.process.needs import find_needs, find_toolchains, opens
from referee.process.paths import HOME, SYSTEM, is_folder, is_link, is_there
from referee.texts import one_line


def find_covers(hidden: Iterable[str], shown: Sequence[Path]) -> tuple[Path, ...]:
    """Folders and files to cover, parents before children, by the names that the sandbox has for them.

    `hidden` are real paths, without links. What is in `shown` itself is not covered, nor what lies outside of it and of
    the system's own folders: that is not there at all.
    """
    places = [Path(name) for name in SYSTEM if not Path(name).is_symlink()]
    roots = [(place, os.path.realpath(place)) for place in (*places, *shown)]
    found: set[Path] = set()
    for path in hidden:
        for place, real in roots:
            if path.startswith(f"{real}/") and is_there(Path(path)):
                with suppress(FileNotFoundError):  # it has gone just now
                    found.update(_reachable(place, Path(path).relative_to(real).parts, mounted=place in shown))
    return tuple(sorted(_outermost(found, shown), key=lambda path: (len(path.parts), path)))


def _outermost(covers: set[Path], shown: Sequence[Path]) -> Iterator[Path]:
    """Those that lie in no other, unless something in between is shown."""
    for path in covers:
        around = next((parent for parent in path.parents if parent in covers or parent in shown), None)
        if around is None or around in shown:
            yield path


def _reachable(place: Path, names: Sequence[str], *, mounted: bool) -> Iterator[Path]:
    """The place `names` lead to from `place`, or the first on the way that the bot's user cannot enter: nothing can be
    laid over what is behind it. `mounted`: its owner's files are shown as the bot's (see `mounts`)."""
    path = place
    owner = place.stat().st_uid if mounted else -1
    for name in names:
        found = path.stat()
        if os.getuid() == 0 and not found.st_mode & stat.S_IXOTH and found.st_uid != owner:
            break
        path /= name
    if path != place:
        yield path


Profile: TypeAlias = Literal["strict", "plain"]
PROFILES: tuple[Profile, ...] = get_args(Profile)

PROGRAM = "bwrap"
USERS = (61000, 4096)
"""First user id for bots, and how many, where we are root: one for each bot that runs."""

_ETC = ("ld.so.cache", "ld.so.conf", "ld.so.conf.d", "alternatives", "localtime", "ssl/certs", "ssl/openssl.cnf")
_ETC_PATTERNS = ("java-*",)  # Debian's JDKs keep their settings there
_ETC_NETWORK = ("resolv.conf", "hosts", "nsswitch.conf", "host.conf", "gai.conf", "services", "protocols", "pki")
_PRLIMIT = Path("/usr/bin/prlimit")
_COUNTED = (
    *("buddyinfo", "diskstats", "fs", "interrupts", "irq", "key-users", "locks", "pagetypeinfo", "pressure"),
    *("schedstat", "slabinfo", "softirqs", "sys/fs", "sys/kernel/pty", "timer_list", "vmstat", "zoneinfo"),
)
"""In /proc: what the kernel counts for the whole machine and no runtime needs. One bot could move such a number and
another read it."""

_TERMINALS = Path("/dev/pts")
"""Where pseudo-terminals are made. Threads of the kernel do most of the work for what is written to one, in no control
group: a byte that has a line of 4,000 characters printed again keeps them busy for 40 us. No bot gets any."""

_COVER_BYTES = 4096
"""Of a file system that has nothing in it but folders to mount on."""


@dataclass(frozen=True, slots=True)
class Sandbox:
    """How a bot is confined, and what the tournament grants it.

    `plain` is no sandbox: a session of its own, its limits, and an end. Grants: `network`, the names of environment
    variables passed on from the referee's own (`env`), absolute paths to read (`read`) besides the bot's folder, and
    `devices` to compute on, such as /dev/nvidia0: these nodes may be read, written and controlled.
    `hidden` are folders and files, by their real paths, that the bot does not see even in what it is shown, such as
    /usr; a file is there, and empty.
    """

    profile: Profile = "plain"
    network: bool = False
    env: tuple[str, ...] = ()
    read: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()
    devices: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """ValueError for an unknown profile, a name no variable can have, or a path that is not absolute."""
        if self.profile not in PROFILES:
            raise ValueError(f"profile must be {' or '.join(PROFILES)}, not {self.profile!r}")
        for name in self.env:
            if not name or "=" in name or "\0" in name or name.startswith("CROSSTOWN_"):
                raise ValueError(f"env: {name!r} cannot be the name of a variable to pass on")
        for path in self.read:
            if not Path(path).is_absolute() or "\0" in path:
                raise ValueError(f"read: {path!r} is not an absolute path")
        for path in self.devices:
            if not Path(path).is_absolute() or "\0" in path:
                raise ValueError(f"devices: {path!r} is not an absolute path")

    def __str__(self) -> str:
        """For records and people: profile and grants."""
        network = ["network"] if self.network else []
        env = [f"env {name}" for name in self.env]
        paths = [*(f"read {path}" for path in self.read), *(f"device {path}" for path in self.devices)]
        return ", ".join([self.profile, *network, *env, *paths])

    def environment(self, ours: Mapping[str, str]) -> dict[str, str]:
        """The granted variables as far as we have them."""
        return {name: ours[name] for name in self.env if name in ours}


@dataclass(frozen=True, slots=True)
class Confined:
    """A command in its sandbox: what to execute, and settings for the guardian, `key=value`."""

    argv: tuple[str, ...]
    settings: tuple[str, ...]


def confine(
    argv: tuple[str, ...],
    folder: Path,
    sandbox: Sandbox,
    *,
    sockets: Sequence[Path],
    disk_bytes: int | None,
    processes: int | None,
    call_filter: bytes,
    program: str | None = None,
    writable: Sequence[Path] = (),
    home: Path | None = None,
    before: tuple[str, ...] = (),
) -> Confined:
    """`argv` in the bot's `folder`, behind bubblewrap. FileNotFoundError if there is no bubblewrap.

    Nothing of the disk can be written but the folders in `writable`, which may be the bot's own, and `home`, which
    then is `HOME` in place of a file system in memory. All in these is given to the bot's user where we are root.

    `before` are the words of a program of ours that runs `argv`, which follows them.

    Where we are root, each path is mounted (see `mounts`), and the guardian chooses a user for the bot. `processes`
    limits the bot in its namespace where we are not root, and no control group does it.

    The cache of builds is hidden from every bot, whoever it is and wherever it lies.
    """
    bwrap = program or shutil.which(PROGRAM)
    if bwrap is None:
        raise FileNotFoundError(2, why_no_program(PROGRAM, "")[0])
    own = [*writable, *([home] if home else [])]
    granted = tuple(map(Path, sandbox.read))
    needs = find_needs(argv, folder, partial(given_to, sandbox, folder))
    ours = find_needs(before, folder) if before else ()
    shown = [*needs, *ours, folder, *granted, *sockets, *own]
    shown = sorted({path for path in shown if is_there(path)}, key=lambda path: (len(path.parts), path))
    root = os.getuid() == 0
    sources = [f"{mount_folder()}/{number}" for number in range(len(shown))] if root else [str(path) for path in shown]
    words = [*_namespaces(sandbox), *_system(sandbox), "--proc", "/proc", "--dev", "/dev"]
    words += _cover(_TERMINALS)
    words += [word for name in _COUNTED if is_there(path := Path("/proc", name)) for word in _cover(path)]
    size = [] if disk_bytes is None else ["--size", str(max(disk_bytes, 1))]
    if home is None:
        words += [*size, "--tmpfs", HOME]
    else:
        words += ["--bind", sources[shown.index(home)], HOME]
    words += [*size, "--tmpfs", "/dev/shm"]  # noqa: S108
    for device in sandbox.devices:
        words += ["--dev-bind", os.path.realpath(device), device]
    covers = find_covers([*sandbox.hidden, os.path.realpath(cache_folder())], shown)
    mounts = {path: _cover(path) for path in covers}
    for source, path in zip(sources, shown, strict=True):
        if path != home:
            mounts[path] = ["--bind" if path in writable else "--ro-bind", source, str(path)]
    words += [word for path in sorted(mounts, key=lambda path: (len(path.parts), path)) for word in mounts[path]]
    words += [word for path in covers if path not in shown and is_folder(path) for word in ("--remount-ro", str(path))]
    words += ["--ro-bind-data", str(PASSWD_FD), "/etc/passwd"]
    # In /proc a process may else put off what makes it the first to go when memory ends, and in some kernels lower the
    # priority of its whole session.
    words += [word for place in ("/proc", _TERMINALS, "/dev", "/") for word in ("--remount-ro", str(place))]
    words += ["--chdir", str(folder), "--info-fd", str(INFO_FD), "--json-status-fd", str(STATUS_FD)]
    if call_filter:
        words += ["--seccomp", str(SECCOMP_FD)]
    inner = (*before, *argv)
    if processes is not None and not root and _PRLIMIT.exists():
        inner = (str(_PRLIMIT), f"--nproc={processes}:{processes}", "--", *inner)
    settings = ["sandbox=1", f"seccomp={call_filter.hex()}", "cwd=/", *(f"word={word}" for word in words)]
    if "PATH" not in sandbox.env:
        settings.append(f"path={_path(shown)}")
    if root:
        settings += [f"users={USERS[0]}:{USERS[1]}", *(f"mount={path}" for path in shown)]
        settings += [f"own={path}" for path in own]
        settings += [f"member={gid}" for gid in sorted(set(_groups(sandbox.devices)))]
    return Confined((bwrap, "--args", str(WORDS_FD), "--", *inner), tuple(settings))


def why_no_device(path: str) -> str:
    """Why a path cannot be granted as a device; '' if it can. Disks cannot: nobody computes on one."""
    if not path.startswith("/") or "\0" in path:
        return "is not an absolute path"
    try:
        mode = os.stat(path).st_mode  # noqa: PTH116 - a link, such as those in /dev/dri/by-path, will do
    except OSError as error:
        return f"is not there ({error.strerror})"
    if not stat.S_ISCHR(mode):
        return "is not a character device"
    place = Path(path)
    while not place.parent.resolve().is_relative_to("/proc"):
        if not place.is_symlink():
            return ""
        place = place.parent / place.readlink()
    return "is an open file of the process that names it, another one in each process"  # such as /dev/fd/0


def _groups(devices: Sequence[str]) -> Iterator[int]:
    """Those that a bot's own user must be in to open what it is granted; never root's."""
    for device in devices:
        found = Path(device).stat()
        if found.st_gid and not found.st_mode & stat.S_IWOTH and found.st_mode & stat.S_IWGRP:
            yield found.st_gid


def given_to(sandbox: Sandbox, folder: Path) -> tuple[Path, ...]:
    """What the organiser has given the bot in `folder`: granted, or on PATH and the like."""
    return (*map(Path, sandbox.read), *_toolchains(tuple(os.environ.items()), folder))


def check_programs(manifest: Manifest, folder: Path, sandbox: Sandbox) -> None:
    """ManifestError for a program of this machine that the bot in `folder` names by its path: a sandbox shows what lies
    beside it, as an organiser may want it who has read that line. Nobody reads those of a hand-in."""
    given = partial(given_to, sandbox, folder)
    for key in ("run", "fetch", "build", "toolchain"):
        word = next(iter(getattr(manifest, key)), "")
        # What begins with '..' leads elsewhere from the folder where the bot plays than from here.
        if "/" in word and (Path(os.path.normpath(word)).parts[0] == ".." or opens(str(folder / word), folder, given)):
            raise ManifestError(
                f"'{key}' in bot.toml names {one_line(word)}, which lies outside of the bot's folder",
                "name a program of the folder, or one of this machine by its name alone, such as java",
            )


@lru_cache(maxsize=256)
def _toolchains(ours: tuple[tuple[str, str], ...], folder: Path) -> tuple[Path, ...]:
    """Looked for once: it takes some 50 ms, in which the matches of a worker stand still."""
    return find_toolchains(dict(ours), folder)


def _cover(path: Path) -> list[str]:
    """A read-only mount of the null device would not let itself be opened, and nothing can be written to it anyway."""
    if is_folder(path):
        return ["--size", str(_COVER_BYTES), "--tmpfs", str(path)]
    return ["--dev-bind", os.devnull, str(path)]


def _path(shown: Sequence[Path]) -> str:
    """Our PATH as far as it leads to something that is there: a stranger need not know where else we keep things."""
    places = (*map(Path, SYSTEM), *shown)
    return os.pathsep.join(
        name
        for name in os.environ.get("PATH", os.defpath).split(os.pathsep)
        if any(Path(name).is_relative_to(place) or place.is_relative_to(name) for place in places if name)
    )


def _namespaces(sandbox: Sandbox) -> Iterator[str]:
    yield from ("--unshare-user", "--unshare-ipc", "--unshare-pid", "--unshare-uts", "--unshare-cgroup-try")
    if not sandbox.network:
        yield "--unshare-net"
    yield from ("--disable-userns", "--die-with-parent", "--new-session", "--cap-drop", "ALL")


def _system(sandbox: Sandbox) -> Iterator[str]:
    for name in SYSTEM:
        path = Path(name)
        if is_link(path):
            yield from ("--symlink", str(path.readlink()), name)
        elif is_folder(path):
            yield from ("--ro-bind", name, name)
    etc = Path("/etc")
    names = [*_ETC, *(_ETC_NETWORK if sandbox.network else ())]
    for path in [*(etc / name for name in names), *(path for each in _ETC_PATTERNS for path in etc.glob(each))]:
        if is_there(path):
            yield from ("--ro-bind", os.path.realpath(path), str(path))
