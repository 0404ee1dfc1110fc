"""How a bot is started: its environment, its control group, and the command line of its guardian."""

import ctypes
import json
import os
import resource
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from referee.process import start_guardian
from referee.process.cgroup import Cgroups, Group, GroupLimits
from referee.process.entry import Entry
from referee.process.limits import ProcessLimits
from referee.process.paths import HOME
from referee.process.sandbox import Sandbox, confine
from referee.process.seccomp import bot_filter

_DEFAULT_PATH = "/usr/local/bin:/usr/bin:/bin"
_UNIX = "unix:"
_UTF8_LOCALES = ("C.UTF-8", "C.utf8", "en_US.UTF-8")
_LC_CTYPE_MASK = 1
_SANDBOX_PROCESSES = 2
"""Of bubblewrap's own, beside the bot."""


_LEAST_FILES = 64
"""What sandbox and interpreter need to begin."""

BOT_OOM_SCORE, BUILD_OOM_SCORE = 500, 1000
"""When the machine has no memory left, the kernel takes processes of builds first, then those of bots, then ours."""


@dataclass(frozen=True, slots=True)
class LaunchContext:
    """What the start of a bot needs to know of this machine: the sandbox, and the control groups we may make."""

    sandbox: Sandbox = Sandbox()  # noqa: RUF009 - frozen
    cgroups: Cgroups = Cgroups()  # noqa: RUF009


def environment(
    entry: Entry, *, address: str, token: str, scratch: Path, granted: Mapping[str, str], sandbox: Sandbox
) -> dict[str, str]:
    """All that a bot sees of an environment: nothing of the referee's but PATH, and what is granted.

    Grants come from the tournament file and cannot replace the CROSSTOWN_ names.
    """
    home = HOME if sandbox.profile == "strict" else str(scratch)
    return {
        "PATH": os.environ.get("PATH", _DEFAULT_PATH),
        "LANG": utf8_locale(),
        "HOME": home,
        "TMPDIR": home,
        "PYTHONUNBUFFERED": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        **sandbox.environment(os.environ),
        **granted,
        "CROSSTOWN_ADDRESS": address,
        "CROSSTOWN_TOKEN": token,
        "CROSSTOWN_OPTIONS": json.dumps(dict(entry.options)),
    }


@cache
def utf8_locale() -> str:
    """A plain locale of this machine in which text and paths are UTF-8, whatever the referee's own is: Java, for one,
    cannot open a path with an umlaut in another."""
    libc = ctypes.CDLL(None)
    libc.newlocale.restype = ctypes.c_void_p
    for name in _UTF8_LOCALES:
        if libc.newlocale(_LC_CTYPE_MASK, name.encode(), None):
            return name
    return _UTF8_LOCALES[0]


def make_group(limits: ProcessLimits, context: LaunchContext, undo: ExitStack) -> Group | None:
    """A control group for one bot; None where there are none for us. Raises OSError."""
    if not context.cgroups.controllers:
        return None
    group = context.cgroups.make(
        GroupLimits(limits.memory_bytes, _processes(limits.processes, context.sandbox), limits.cores)
    )
    undo.callback(group.remove)
    return group


def guardian_argv(
    argv: tuple[str, ...],
    folder: Path,
    *,
    address: str,
    limits: ProcessLimits,
    scratch: Path,
    context: LaunchContext,
    group: Group | None,
    writable: Sequence[Path] = (),
    home: Path | None = None,
    before: tuple[str, ...] = (),
    oom_score: int = BOT_OOM_SCORE,
) -> list[str]:
    """The command line of a guardian for `argv` in `folder`. `writable`, `home` and `before`: see `confine`.

    FileNotFoundError if the sandbox has no program.
    """
    settings = [f"scratch={scratch}", f"linger_ms={round(limits.linger_s * 1000)}", f"oom_score={oom_score}"]
    counted = frozenset(group.places if group else ())
    if context.sandbox.profile == "strict":
        confined = confine(
            argv,
            folder,
            context.sandbox,
            sockets=[Path(address.removeprefix(_UNIX))] if address.startswith(_UNIX) else [],
            disk_bytes=limits.disk_bytes,
            processes=None if "pids" in counted else limits.processes,
            call_filter=bot_filter(
                file_locks=home is not None,  # only builds have a home that stays
                network=context.sandbox.network,
                devices=bool(context.sandbox.devices),
            ),
            writable=writable,
            home=home,
            before=before,
        )
        argv = confined.argv
        settings += confined.settings
    else:
        settings.append(f"cwd={folder}")
    settings += _group_settings(group) if group else ()
    settings += [f"rlimit={number}:{value}" for number, value in _rlimits(limits, context.sandbox, counted)]
    return [sys.executable, "-I", "-S", start_guardian.__file__, *settings, "--", *argv]


def _group_settings(group: Group) -> Iterator[str]:
    for folder in group.folders:
        yield f"cgroup={folder}"
    if group.oom_file:
        yield f"oom={group.oom_file}"
    for path, least in group.full_files:
        yield f"full={path}:{least}"
    if group.peak_file:
        yield f"peak={group.peak_file}"
    if group.cpu_file:
        yield f"cpu={group.cpu_file[0]}:{group.cpu_file[1]}"
    if group.freezer:
        yield f"thaw={group.freezer[0]}:{group.freezer[2]}"


def _rlimits(limits: ProcessLimits, sandbox: Sandbox, counted: frozenset[str]) -> Iterator[tuple[int, int]]:
    for name, value in limits.rlimits:
        yield getattr(resource, f"RLIMIT_{name.upper()}"), value
    if limits.open_files is not None:
        yield resource.RLIMIT_NOFILE, max(limits.open_files, _LEAST_FILES)
    if limits.file_bytes is not None:
        yield resource.RLIMIT_FSIZE, limits.file_bytes
    if limits.memory_bytes is not None and "memory" not in counted:
        # Not RLIMIT_AS: Java and Node reserve far more than they use.
        yield resource.RLIMIT_DATA, limits.memory_bytes
    if limits.processes is not None and sandbox.profile == "strict" and os.getuid() == 0:
        # The bot's user is its own alone, so what the kernel counts for it is the bot.
        yield resource.RLIMIT_NPROC, limits.processes + _SANDBOX_PROCESSES


def _processes(wanted: int | None, sandbox: Sandbox) -> int | None:
    return None if wanted is None else wanted + (_SANDBOX_PROCESSES if sandbox.profile == "strict" else 0)
