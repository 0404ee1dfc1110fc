"""What this machine offers for isolating and measuring bots: a trial of the sandbox, and a table of all features."""

import os
import platform
import resource
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Literal, TypeAlias

from referee.errors import ExpectedError
from referee.folders import temporary_folder, why_no_program
from referee.process.cgroup import Cgroups, find
from referee.process.launch import LaunchContext, guardian_argv
from referee.process.limits import ProcessLimits, Share, memory_room
from referee.process.mounts import can_map_ids
from referee.process.sandbox import PROGRAM, USERS, Profile, Sandbox
from referee.process.seccomp import bot_filter

INSTALL = "install bubblewrap 0.8 or later: apt install bubblewrap, or dnf install bubblewrap"
_LIMIT_S = 20.0
_NO_USER_NAMESPACES = ("No permissions to creat", "creating new namespace failed", "setting up uid map", "unshare")
_PROC = ("mount proc", "mounting proc")
_NAMESPACES_FIX = (
    "allow user namespaces: sysctl -w user.max_user_namespaces=10000, on Debian also"
    " kernel.unprivileged_userns_clone=1, on Ubuntu kernel.apparmor_restrict_unprivileged_userns=0; in Docker, run with"
    " --security-opt seccomp=unconfined --security-opt apparmor=unconfined"
)
_FEW_FILES = 256
"""Fewer open files than this may be why the sandbox does not start."""
_FILES_FIX = "ulimit -n 4096"
_PROC_FIX = "a container hides parts of /proc: in Docker, run with --security-opt systempaths=unconfined"


@dataclass(frozen=True, slots=True)
class Probe:
    """`why` it does not work, and how to `fix` that; both empty where it does."""

    works: bool
    why: str = ""
    fix: str = ""

    @property
    def warning(self) -> str:
        """For who goes without the sandbox and has not asked for that."""
        return f"bots play WITHOUT A SANDBOX ({self.why}); to have one: {self.fix}"


class SandboxError(ExpectedError):
    """The strict sandbox was asked for and does not work here."""


@cache
def probe() -> Probe:
    """Once per process: some 30 ms."""
    return try_sandbox()


def try_sandbox(program: str = "true", interpreter: str = sys.executable) -> Probe:
    """Starts `program` in a strict sandbox, and waits for its end."""
    with sandbox_trial(program, interpreter) as outcome:
        return outcome()


@contextmanager
def sandbox_trial(program: str = "true", interpreter: str = sys.executable) -> Iterator[Callable[[], Probe]]:
    """Starts `program` in a strict sandbox. Gives what waits for the outcome. Nothing of the trial is left afterwards,
    nor once the outcome is known."""
    with ExitStack() as stack:
        try:
            wait = _begin(program, interpreter, stack)
        except (OSError, subprocess.SubprocessError) as error:
            wait = partial(_not_tried, error)

        @cache
        def outcome() -> Probe:
            with stack.pop_all():
                return wait()

        yield outcome


def _begin(program: str, interpreter: str, stack: ExitStack) -> Callable[[], Probe]:
    """What waits for the outcome, or says why it cannot be tried. The program has ended when the stack is closed."""
    if not sys.platform.startswith("linux"):
        return partial(Probe, False, "it needs Linux", "run tournaments with bots of strangers on Linux")
    if shutil.which(PROGRAM) is None:
        return partial(Probe, False, *why_no_program(PROGRAM, INSTALL))
    found = shutil.which(program)
    if found is None:
        return partial(Probe, False, *why_no_program(program, "correct PATH"))
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="crosstown-")))
    folder.chmod(0o755)
    scratch = folder / "scratch"
    scratch.mkdir()
    argv = guardian_argv(
        (found,),
        folder,
        address="",
        limits=ProcessLimits(disk_bytes=1 << 20),
        scratch=scratch,
        context=LaunchContext(Sandbox("strict")),
        group=None,
    )
    mine, theirs = socket.socketpair()
    stack.enter_context(mine)
    with theirs:
        guardian = subprocess.Popen(
            [interpreter, *argv[1:]],
            stdin=theirs.fileno(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    stack.callback(_end, guardian, mine)
    return partial(_outcome, guardian, mine)


def _outcome(guardian: subprocess.Popen[bytes], control: socket.socket) -> Probe:
    """What the guardian tells, once it has ended."""
    told = b""
    try:
        said, _ = guardian.communicate(timeout=_LIMIT_S)
        with suppress(OSError):
            while chunk := control.recv(4096):
                told += chunk
    except (OSError, subprocess.SubprocessError) as error:
        return _not_tried(error)
    words = told.decode("ascii", "replace")
    return Probe(True) if "exit 0 " in words else _explain(words, said.decode("utf-8", "replace"))


def _end(guardian: subprocess.Popen[bytes], control: socket.socket) -> None:
    control.close()  # then it ends what it has started
    with guardian:
        try:
            guardian.wait(_LIMIT_S)
        except subprocess.TimeoutExpired:
            guardian.kill()


def _not_tried(error: Exception) -> Probe:
    return Probe(False, f"it could not be tried ({error})", "see: crosstown docs sandbox")


def _explain(told: str, said: str) -> Probe:
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    words = told.removesuffix("ending\n").split()
    line = f"the guardian said: {' '.join(words) or 'nothing'}"
    if lines:
        line = lines[-1]
    elif len(words) == 3 and words[0] == "failed":
        line = f"its step '{words[2]}' failed: {os.strerror(int(words[1]))}"
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    if 0 <= files < _FEW_FILES:
        return Probe(False, f"at most {files} files may be open, which are too few to start it ({line})", _FILES_FIX)
    if "nknown option" in said:
        return Probe(False, f"{PROGRAM} is too old ({line})", INSTALL)
    if any(word.lower() in said.lower() for word in _NO_USER_NAMESPACES):
        return Probe(False, f"no user namespace can be made ({line})", _NAMESPACES_FIX)
    if any(word.lower() in said.lower() for word in _PROC):
        return Probe(False, line, _PROC_FIX)
    return Probe(False, line, "see: crosstown docs sandbox")


def choose_profile(wanted: Profile | None, found: Probe) -> Profile:
    """The profile to play under: strict where it works unless something else is asked for. SandboxError if strict is
    asked for and does not work."""
    if wanted == "strict" and not found.works:
        raise SandboxError(f"the strict sandbox does not work here: {found.why}", found.fix)
    return wanted or ("strict" if found.works else "plain")


Level: TypeAlias = Literal["ok", "weaker", "missing"]

_GIB = 1 << 30
_PYTHON = (3, 11)
_USUAL_MIB = 512
"""What a bot of any kit runs well with."""
_DELEGATE = (
    "let systemd give us a group of our own: systemd-run --user --scope -p Delegate=yes crosstown run FILE"
    " (as root, without --user)"
)
_GROUPS = {
    "memory": "a bot's memory is limited for each of its processes only, what it shares between them and holds in files"
    " in memory is not, and running out of it looks like a crash; do not play bots of strangers here",
    "pids": "the number of a bot's processes is limited in the sandbox only",
    "cpu": "the limit `cores` does not hold",
    "cpuacct": "the time of a bot's dead children is not counted: what it waits while it starts any is not given back",
    "freezer": "bots are frozen by signals, which their own processes can see",
}


@dataclass(frozen=True, slots=True)
class Row:
    """One finding: what, how well, what was found and why that matters, and how to mend it (empty when ok)."""

    name: str
    level: Level
    found: str
    fix: str = ""


def check_machine() -> list[Row]:
    """All rows. Takes some 50 ms; changes nothing that stays."""
    groups, sandbox = find(), probe()
    return [_python(), *_sandbox(sandbox), *_groups(groups), *_kernel(), *_room()]


def _python() -> Row:
    version = platform.python_version()
    if sys.version_info >= _PYTHON:
        return Row("python", "ok", f"{version}, {sys.executable}")
    return Row("python", "missing", f"{version} is too old", "use Python 3.11 or later")


def _sandbox(found: Probe) -> Iterator[Row]:
    yield _bubblewrap()
    yield from _user_namespaces()
    if found.works:
        yield Row("strict sandbox", "ok", "a trial bot started in it")
    else:
        yield Row("strict sandbox", "missing", f"{found.why}: bots would play without a sandbox", found.fix)
    if os.getuid() == 0:
        yield Row("users for bots", "ok", f"root: one of {USERS[1]} from {USERS[0]} on for each bot that runs")
        mapped = can_map_ids(str(Path.cwd()))
        yield (
            Row("id-mapped mounts", "ok", "bots read files that only their owner may read")
            if mapped
            else Row(
                "id-mapped mounts",
                "weaker",
                f"not on the file system of {Path.cwd()}: a bot reads only files that everyone may",
                "chmod -R o+rX the bots' folders and their interpreters, or use a newer kernel (5.12, for tmpfs 6.3)",
            )
        )
    else:
        what = "bots run as you, apart only by the sandbox"
        yield Row("users for bots", "weaker", what, "run as root for a user of its own for each bot")
    if bot_filter():
        yield Row("system call filter", "ok", platform.machine())
    else:
        what = f"none for {platform.machine()}: the sandbox works without it"
        yield Row("system call filter", "weaker", what, "use x86_64 or aarch64")


def _bubblewrap() -> Row:
    program = shutil.which(PROGRAM)
    if program is None:
        return Row("bubblewrap", "missing", *why_no_program(PROGRAM, INSTALL))
    with suppress(OSError, subprocess.SubprocessError):
        said = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=10, check=False)
        return Row("bubblewrap", "ok", f"{said.stdout.strip()}, {program}")
    return Row("bubblewrap", "missing", f"{program} does not run", INSTALL)


def _user_namespaces() -> Iterator[Row]:
    settings = (
        ("user/max_user_namespaces", "0", "user.max_user_namespaces=10000"),
        ("kernel/unprivileged_userns_clone", "0", "kernel.unprivileged_userns_clone=1"),
        ("kernel/apparmor_restrict_unprivileged_userns", "1", "kernel.apparmor_restrict_unprivileged_userns=0"),
    )
    wrong = [(name, fix) for name, bad, fix in settings if _text(f"/proc/sys/{name}") == bad]
    if not wrong:
        limit = _text("/proc/sys/user/max_user_namespaces")
        yield Row("user namespaces", "ok", f"at most {limit}" if limit else "no setting against them")
    for name, fix in wrong:
        yield Row("user namespaces", "weaker", f"the kernel's setting {name} restricts them", f"sysctl -w {fix}")


def _groups(groups: Cgroups) -> Iterator[Row]:
    for controller, otherwise in _GROUPS.items():
        place = groups.hierarchies.get(controller)
        if place is not None:
            yield Row(f"control group: {controller}", "ok", f"version {place.version}, {place.folder}")
        else:
            yield Row(f"control group: {controller}", "weaker", f"none for us: {otherwise}", _DELEGATE)


def _kernel() -> Iterator[Row]:
    if _text("/proc/self/schedstat"):
        yield Row("run-queue delay", "ok", "/proc/self/schedstat")
    else:
        what = "not counted: a busy machine's share in a time-out is guessed from timers alone"
        yield Row("run-queue delay", "weaker", what, "use a kernel with CONFIG_SCHED_INFO")
    if Path(f"/proc/self/task/{os.getpid()}/children").exists():
        yield Row("lists of children", "ok", "/proc/PID/task/TID/children")
    else:
        what = "none: looking for a bot's processes takes a look at all of the machine's"
        yield Row("lists of children", "weaker", what, "use a kernel with CONFIG_PROC_CHILDREN")
    hard = resource.getrlimit(resource.RLIMIT_CORE)[1]
    yield Row("resource limits", "ok", f"core files off for bots, hard limit {hard if hard >= 0 else 'none'}")


def _room() -> Iterator[Row]:
    folder = temporary_folder()
    free = shutil.disk_usage(folder).free
    yield (
        Row("temporary folder", "ok", f"{folder}, {free / _GIB:.1f} GiB free")
        if free >= _GIB / 4
        else Row("temporary folder", "weaker", f"{folder}, {free >> 20} MiB free", "free some space, or set TMPDIR")
    )
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    yield (
        Row("open files", "ok", f"at most {files} for the referee")
        if files < 0 or files >= 1024
        else Row("open files", "weaker", f"at most {files} for the referee, some 10 for each bot", _FILES_FIX)
    )
    cores = len(os.sched_getaffinity(0))
    yield (
        Row("cores", "ok", str(cores))
        if cores > 1
        else Row("cores", "weaker", "1: referee and bots wait for each other", "use two or more")
    )
    room = memory_room()
    each = Share(room, cores, 2 * cores)
    enough = each.mib >= _USUAL_MIB
    found = f"{room.source} has {room.mib} MiB: {each.mib} MiB for each bot of {cores} tables with two seats"
    fix = "run fewer workers, or set a lower memory_mib; limits that do not fit together are lowered"
    yield Row("memory for bots", "ok", found) if enough else Row("memory for bots", "weaker", found, fix)
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_AVPHYS_PAGES")
    yield (
        Row("memory", "ok", f"{memory / _GIB:.1f} GiB free")
        if memory >= _GIB
        else Row("memory", "weaker", f"{memory >> 20} MiB free", "run fewer workers, or bots with less memory_mib")
    )


def _text(path: str) -> str:
    with suppress(OSError):
        return Path(path).read_text(encoding="ascii").strip()
    return ""
