"""One phase of a build: a command under a guardian, with limits, and a log that is kept."""

import os
import shutil
import signal
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Literal, Self, TypeAlias

from referee.process import fetch_relay
from referee.process.build_settings import environment
from referee.process.cgroup import Cgroups
from referee.process.errand import Ended, Errand, run_errand
from referee.process.fetch_proxy import RELAY_PORT, FetchHostsError, FetchProxy, find_hosts, proxy_environment
from referee.process.launch import Ground
from referee.process.limits import ProcessLimits
from referee.process.manifest import PYTHON
from referee.process.output import Capture, joined
from referee.process.places import HOME
from referee.process.program import not_found
from referee.process.sandbox import Profile, Sandbox
from referee.texts import one_line

Phase: TypeAlias = Literal["fetch", "build", "toolchain"]

KEPT_VARIABLE = "CROSSTOWN_KEPT"
"""Tells a build of a folder, not there at first, that the bot's next build finds as this one leaves it."""

_SHOWN_LINES = 20
_TOOLCHAIN_BYTES = 4096
_TOOLCHAIN_CHARS = 200
_SHARED_MEMORY_BYTES = 1 << 30


class BuildError(Exception):
    """A bot that could not be built. One sentence; `log`, if there is one, says more, and `tail` is its end.

    `warm`: it began with what earlier builds had left in its home.
    """

    def __init__(self, message: str, log: Path | None = None, tail: str = "") -> None:
        super().__init__(message)
        self.log = log
        self.tail = tail
        self.warm = False

    @property
    def next_step(self) -> str:
        clean = "; should what earlier builds kept be to blame: crosstown bots build --again" if self.warm else ""
        return f"see the log: {self.log}{clean}" if self.log else "correct it"


@dataclass(frozen=True, slots=True)
class BuildLimits:
    """Seconds of each phase. Of each phase, all its processes together: memory, where the host has control groups for
    us (else each process), their number, by how much the disk may fill, and how many files may be made. What one file
    may have, and the kept log.
    """

    fetch_s: float = 900.0
    build_s: float = 1800.0
    toolchain_s: float = 30.0
    memory_mib: int = 8192
    processes: int = 4096
    disk_mib: int = 16384
    files: int = 2_000_000
    file_mib: int = 2048
    log_bytes: int = 1 << 20

    def limit_s(self, phase: Phase) -> float:
        return {"fetch": self.fetch_s, "build": self.build_s, "toolchain": self.toolchain_s}[phase]


class Log:
    """What all phases print, head and tail, on disk as far as it is known."""

    def __init__(self, path: Path, most_bytes: int) -> None:
        self._path = path
        self._capture = Capture(most_bytes)

    def __enter__(self) -> Self:
        self._path.write_bytes(b"")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.save()

    def feed(self, chunk: bytes) -> None:
        self._capture.feed(chunk)

    def save(self) -> Path:
        self._path.write_text(self.text(), errors="surrogateescape")
        return self._path

    def text(self) -> str:
        return joined(self._capture.head, self._capture.tail, self._capture.dropped_bytes)

    def tail(self) -> str:
        return "\n".join(self.text().splitlines()[-_SHOWN_LINES:])


@dataclass(frozen=True, slots=True)
class Workshop:
    """Where the phases of one build run: the bot's `copy`, a `home` that is the bot's alone, and how they are confined.

    Under "plain" HOME is the user's instead, and the home has only what would not be kept otherwise. `tools`: what the
    sandbox shows of this machine besides; `hidden`: what it never shows. `told` is called with each phase when it
    begins. `python` is what the word {python} stands for; `settings` are the texts of package managers' settings that
    lie in the home.
    """

    copy: Path
    home: Path
    profile: Profile
    limits: BuildLimits
    cgroups: Cgroups
    tools: tuple[Path, ...]
    told: Callable[[Phase], None]
    hidden: tuple[str, ...] = ()
    python: str = sys.executable
    settings: tuple[str, ...] = ()


def run_phase(phase: Phase, argv: Sequence[str], workshop: Workshop, log: Log) -> float:
    """Run one phase in the bot's copy; the seconds it took. BuildError if it fails or does not end in time."""
    began_s = time.monotonic()
    log.feed(f"$ {' '.join(_words(argv, workshop))}\n".encode(errors="replace"))
    ended = _run(phase, argv, workshop, log.feed)
    if ended.code is None:
        raise BuildError(f"{phase}: {ended.why}", log.save(), log.tail())
    if ended.code != 0:
        how = _how(ended.code)
        if ended.out_of_memory:
            how += f", at its memory limit of {workshop.limits.memory_mib} MiB"
        raise BuildError(f"{phase}: '{argv[0]}' ended with {how}", log.save(), log.tail())
    return time.monotonic() - began_s


def _how(code: int) -> str:
    """A sandbox tells a signal N as 128 + N, as shells do, and so a program may have ended by itself."""
    if code > 0:
        return f"exit code {code}"
    try:
        return signal.Signals(-code).name
    except ValueError:
        return f"signal {-code}"


def one_line_of(argv: Sequence[str], workshop: Workshop) -> str:
    """The first line that a command prints, such as a version, fit for a terminal; why, if it prints none."""
    said = Capture(_TOOLCHAIN_BYTES)
    try:
        ended = _run("toolchain", argv, workshop, said.feed)
    except BuildError as error:
        return one_line(f"unknown: {error}", _TOOLCHAIN_CHARS)
    if ended.code is None:
        return f"unknown: {ended.why}"
    lines = said.head.decode(errors="backslashreplace").strip().splitlines()
    return one_line(lines[0][:_TOOLCHAIN_CHARS]) if lines else "unknown: it printed nothing"


def _run(phase: Phase, argv: Sequence[str], workshop: Workshop, output: Callable[[bytes], None]) -> Ended:
    workshop.told(phase)
    strict = workshop.profile == "strict"
    env = _environment(workshop)
    words = _words(argv, workshop)
    program = _program(words[0], workshop.copy, env.get("PATH"))
    if program is None:
        raise BuildError(
            f"{phase}: '{words[0]}' is not there: {not_found(words[0], workshop.copy, env.get('PATH', ''))}"
        )
    limits = workshop.limits
    tools = tuple(map(str, workshop.tools))
    sandbox = Sandbox(workshop.profile, read=tools, hidden=workshop.hidden)
    errand = Errand(
        (program, *words[1:]),
        workshop.copy,
        env,
        limits.limit_s(phase),
        ProcessLimits(
            memory_bytes=limits.memory_mib << 20,
            processes=limits.processes,
            disk_bytes=_SHARED_MEMORY_BYTES,
            file_bytes=limits.file_mib << 20,
        ),
        Ground(sandbox, workshop.cgroups),
        writable=(workshop.copy,) if strict else (),
        home=workshop.home if strict else None,
        problem=_disk_watch(workshop.copy, limits),
    )
    try:
        if strict and phase == "fetch":
            return _run_through_proxy(errand, workshop, output)
        return run_errand(errand, output)
    except OSError as error:
        raise BuildError(f"{phase}: cannot be started: {error.strerror or error}") from None


def _run_through_proxy(errand: Errand, workshop: Workshop, output: Callable[[bytes], None]) -> Ended:
    """With no other way out of the sandbox than to the hosts for the bot's language."""
    try:
        hosts = find_hosts(workshop.copy, os.environ, workshop.settings)
    except FetchHostsError as error:
        raise BuildError(f"fetch: {error}") from None
    with FetchProxy(hosts, os.environ) as proxy:
        relay = Path(fetch_relay.__file__).read_text(encoding="utf-8")
        through = replace(
            errand,
            env={**errand.env, **proxy_environment(errand.env)},
            before=(sys.executable, "-I", "-S", "-c", relay, str(proxy.path), str(RELAY_PORT)),
            socket=proxy.path,
        )
        ended = run_errand(through, output)
        for sentence in proxy.refused.values():
            output(f"crosstown: {sentence}\n".encode())
        return ended


def _environment(workshop: Workshop) -> dict[str, str]:
    """With the variables that let tools find again what they compiled for the last build of the bot.

    Cargo else keeps it beside the sources; the program still comes to lie in target/. CMake compiles through ccache
    where that is installed, which then must not mind that the sources are elsewhere each time. `KEPT_VARIABLE` is for
    all other tools.
    """
    strict = workshop.profile == "strict"
    home = HOME if strict else str(workshop.home)
    env = {**environment(os.environ, confined=strict), KEPT_VARIABLE: f"{home}/kept"}
    name, folder = "CARGO_BUILD_BUILD_DIR", f"{home}/cargo-build"
    env = {**env, name: folder} if strict else {name: folder, **env}
    if shutil.which("ccache", path=env.get("PATH")) is None:
        return env
    launchers = {f"CMAKE_{language}_COMPILER_LAUNCHER": "ccache" for language in ("C", "CXX")}
    return {**env, **launchers, "CCACHE_BASEDIR": str(workshop.copy), "CCACHE_NOHASHDIR": "true"}


def _words(argv: Sequence[str], workshop: Workshop) -> list[str]:
    return [workshop.python if word == PYTHON else word for word in argv]


def _program(word: str, copy: Path, path: str | None) -> str | None:
    if "/" in word:
        own = (copy / word).absolute()
        return str(own) if own.is_file() else None
    found = shutil.which(word, path=path)
    return None if found is None else str(Path(found).absolute())


def _disk_watch(folder: Path, limits: BuildLimits) -> Callable[[], str]:
    """Says when the disk of `folder` has lost more than it may, whoever took it. Empty files take no room and are still
    counted: most file systems have a number of them that is soon used up."""
    before = os.statvfs(folder)

    def problem() -> str:
        now = os.statvfs(folder)
        if (before.f_bavail - now.f_bavail) * now.f_frsize >> 20 > limits.disk_mib:
            return f"it filled more than {limits.disk_mib} MiB of the disk; it was ended"
        if before.f_ffree - now.f_ffree > limits.files:
            return f"it made more than {limits.files:,} files; it was ended"
        return ""

    return problem
