"""Whether the strict sandbox works on this machine, found out by starting one as a bot would be started."""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from referee.process.launch import Ground, guardian_argv
from referee.process.limits import ProcessLimits
from referee.process.sandbox import PROGRAM, Profile, Sandbox

INSTALL = "install bubblewrap 0.8 or later: apt install bubblewrap, or dnf install bubblewrap"
_LIMIT_S = 20.0
_NO_USER_NAMESPACES = ("No permissions to creat", "creating new namespace failed", "setting up uid map", "unshare")
_PROC = ("mount proc", "mounting proc")
_NAMESPACES_FIX = (
    "allow user namespaces: sysctl -w user.max_user_namespaces=10000, on Debian also"
    " kernel.unprivileged_userns_clone=1, on Ubuntu kernel.apparmor_restrict_unprivileged_userns=0; in Docker, run with"
    " --security-opt seccomp=unconfined --security-opt apparmor=unconfined"
)
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


class SandboxError(Exception):
    """The strict sandbox was asked for and does not work here. `fix` says what to do."""

    def __init__(self, probe: Probe) -> None:
        super().__init__(f"the strict sandbox does not work here: {probe.why}")
        self.fix = probe.fix


@cache
def probe() -> Probe:
    """Once per process: some 30 ms."""
    return try_sandbox()


def try_sandbox(program: str = "true", interpreter: str = sys.executable) -> Probe:
    """Starts `program` in a strict sandbox."""
    if not sys.platform.startswith("linux"):
        return Probe(False, "it needs Linux", "run tournaments with bots of strangers on Linux")
    if shutil.which(PROGRAM) is None:
        return Probe(False, f"{PROGRAM} is not installed", INSTALL)
    found = shutil.which(program)
    if found is None:
        return Probe(False, f"{program} is not there to try it with", "mend PATH")
    with tempfile.TemporaryDirectory(prefix="crosstown-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        try:
            told, said = _run(found, folder, interpreter)
        except (OSError, subprocess.SubprocessError) as error:
            return Probe(False, f"it could not be tried ({error})", "see: crosstown docs sandbox")
    if "exit 0 " in told:
        return Probe(True)
    return _explain(told, said)


def _run(program: str, folder: Path, interpreter: str) -> tuple[str, str]:
    """What the guardian tells, and what was printed."""
    mine, theirs = socket.socketpair()
    scratch = folder / "scratch"
    scratch.mkdir()
    argv = guardian_argv(
        (program,),
        folder,
        address="",
        limits=ProcessLimits(disk_bytes=1 << 20),
        scratch=scratch,
        ground=Ground(Sandbox("strict")),
        group=None,
    )
    with mine, theirs:
        done = subprocess.run(
            [interpreter, *argv[1:]],
            stdin=theirs.fileno(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=_LIMIT_S,
            check=False,
            start_new_session=True,
        )
        theirs.close()
        told = b""
        with suppress(OSError):
            while chunk := mine.recv(4096):
                told += chunk
    return told.decode("ascii", "replace"), done.stdout.decode("utf-8", "replace")


def _explain(told: str, said: str) -> Probe:
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    words = told.split()
    line = f"the guardian said: {' '.join(words) or 'nothing'}"
    if lines:
        line = lines[-1]
    elif len(words) == 3 and words[0] == "failed":
        line = f"its step '{words[2]}' failed: {os.strerror(int(words[1]))}"
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
        raise SandboxError(found)
    return wanted or ("strict" if found.works else "plain")
