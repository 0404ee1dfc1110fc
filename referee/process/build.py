"""Builds a bot once for each version: fetches with the network, then compiles without it, and keeps the result.

A build has phases. Each phase is a command under a guardian, with limits, and its log is kept.
"""

import fcntl
import os
import shutil
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from hashlib import blake2b, file_digest
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType
from typing import Literal, Self, TypeAlias

from referee.errors import ExpectedError
from referee.folders import cache_folder
from referee.process import fetch_relay
from referee.process.build_settings import Settings, copy_settings, environment
from referee.process.cgroup import Cgroups
from referee.process.disk import DiskUse, DiskWatch
from referee.process.entry import source_id
from referee.process.fetch_proxy import RELAY_PORT, FetchHostsError, FetchProxy, fetch_environment, find_hosts
from referee.process.homes import Home, Owner, keep_home, most_mib, take_back
from referee.process.launch import LaunchContext
from referee.process.limits import ProcessLimits, memory_room
from referee.process.manifest import PYTHON, Manifest, ManifestError, load_manifest
from referee.process.needs import find_toolchains, leads_out
from referee.process.output import Capture, joined
from referee.process.packages import FILE as REQUIREMENTS
from referee.process.packages import (
    SDK,
    Environment,
    Requirements,
    base_python,
    copy_requirements,
    has_requirements,
    has_sdk,
    have_hashes,
    hold_environment,
    installed_in,
    python_in,
    read_requirements,
    requirements_in,
    take_out_ours,
    write_wheels,
)
from referee.process.paths import HOME, is_file
from referee.process.program import ERRORS_OF_A_MACHINE, find_argv, is_of_bot, not_found
from referee.process.sandbox import Profile, Sandbox
from referee.process.sources import (
    PROTO,
    EntryError,
    Sources,
    copied,
    copy_protos,
    copy_sources,
    has_protos,
    read_sources,
)
from referee.process.store import Built, is_as_made, next_home, read_built, remove_older, write_built
from referee.process.supervised_command import Ended, SupervisedCommand, run_supervised
from referee.process.trees import remove_tree, walk
from referee.texts import one_line

Phase: TypeAlias = Literal["fetch", "build", "toolchain"]

KEPT_VARIABLE = "CROSSTOWN_KEPT"
"""Tells a build of a folder, not there at first, that the bot's next build finds as this one leaves it."""

_SHOWN_LINES = 20
_TOOLCHAIN_BYTES = 4096
_TOOLCHAIN_CHARS = 200
_SHARED_MEMORY_BYTES = 1 << 30
_HAND_IN_PROCESSES = 1024
_LEAST_HAND_IN_MIB = 512


class BuildError(ExpectedError):
    """A bot that could not be built. `log`, if there is one, says more, and `tail` is its end.

    `warm`: it began with what earlier builds had left in its home.
    """

    def __init__(self, what: str, next_step: str = "", log: Path | None = None, tail: str = "") -> None:
        super().__init__(what, next_step or (f"see the log: {log}" if log else "correct it"))
        self.log = log
        self.tail = tail
        self.warm = False

    def began_warm(self) -> None:
        """From what earlier builds had left in its home, which may be to blame."""
        self.warm = True
        self.next_step += "; should what earlier builds kept be to blame: crosstown bots build --again"


class NoRoomError(BuildError):
    """A build for which this machine has no room: its disk is full, maybe by other programs, or cannot be written, or
    it has no memory or no process left. The bot is not to blame."""


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


def hand_in_limits(build_s: float, disk_mib: int, slots: int) -> BuildLimits:
    """Of a build that a stranger has handed in, on a machine that does up to `slots` things at the same time. All its
    builds together fit into the memory of the machine, and none gets more than half of it."""
    usual = BuildLimits()
    share_mib = memory_room().mib // max(2, slots)
    return BuildLimits(
        fetch_s=build_s,
        build_s=build_s,
        memory_mib=min(usual.memory_mib, max(_LEAST_HAND_IN_MIB, share_mib)),
        processes=_HAND_IN_PROCESSES,
        disk_mib=disk_mib,
    )


class Log:
    """What all phases print, head and tail, on disk as far as it is known. `also` gets all of it at once."""

    def __init__(self, path: Path, most_bytes: int, also: Callable[[bytes], None]) -> None:
        self._path = path
        self._capture = Capture(most_bytes)
        self._also = also

    def __enter__(self) -> Self:
        self._path.write_bytes(b"")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.save()

    def feed(self, chunk: bytes) -> None:
        self._capture.feed(chunk)
        self._also(chunk)

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
    begins, `heard` with what is printed. `python` is what the word {python} stands for; `settings` are
    those of package managers that lie in the home.
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
    settings: Settings = Settings()  # noqa: RUF009 - frozen
    heard: Callable[[bytes], None] = lambda _: None


def run_phase(phase: Phase, argv: Sequence[str], workshop: Workshop, log: Log) -> float:
    """Run one phase in the bot's copy; the seconds it took. BuildError if it fails or does not end in time."""
    began_s = time.monotonic()
    log.feed(f"$ {' '.join(_words(argv, workshop))}\n".encode(errors="replace"))
    ended = _run(phase, argv, workshop, log.feed)
    if ended.code is None:
        kind = NoRoomError if ended.machine_short else BuildError
        raise kind(f"{phase}: {ended.why}", "", log.save(), log.tail())
    if ended.code != 0:
        how = _how(ended.code)
        if ended.out_of_memory:
            how += f", at its memory limit of {workshop.limits.memory_mib} MiB"
        raise BuildError(f"{phase}: '{argv[0]}' ended with {how}", "", log.save(), log.tail())
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
        why, next_step = not_found(words[0], workshop.copy, env.get("PATH", ""))
        raise BuildError(f"{phase}: '{words[0]}' is not there: {why}", next_step)
    limits = workshop.limits
    tools = tuple(map(str, workshop.tools))
    sandbox = Sandbox(workshop.profile, read=tools, hidden=workshop.hidden)
    own = (workshop.copy, workshop.home) if strict else ()
    watch = DiskWatch(workshop.copy, own, DiskUse(limits.disk_mib << 20, limits.files))
    command = SupervisedCommand(
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
        LaunchContext(sandbox, workshop.cgroups),
        writable=(workshop.copy,) if strict else (),
        home=workshop.home if strict else None,
        problem=lambda guardian: _too_much(watch.excess(guardian), limits),
    )
    try:
        through_proxy = strict and phase == "fetch"
        ended = _run_through_proxy(command, workshop, output) if through_proxy else run_supervised(command, output)
    except OSError as error:
        kind = NoRoomError if error.errno in ERRORS_OF_A_MACHINE else BuildError
        raise kind(f"{phase}: cannot be started: {error.strerror or error}") from None
    if ended.code is None and not watch.is_sure:
        raise NoRoomError(f"{phase}: ended, as the disk is nearly full", "free some space, and build it again")
    return ended


def _run_through_proxy(command: SupervisedCommand, workshop: Workshop, output: Callable[[bytes], None]) -> Ended:
    """With no other way out of the sandbox than to the hosts for the bot's language."""
    try:
        hosts = find_hosts(workshop.copy, os.environ, workshop.settings.texts)
    except FetchHostsError as error:
        raise BuildError(f"fetch: {error}", error.next_step) from None
    credentials = workshop.settings.credentials
    with FetchProxy(hosts, os.environ, credentials) as proxy:
        relay = Path(fetch_relay.__file__).read_text(encoding="utf-8")
        through = replace(
            command,
            env=fetch_environment(command.env, credentials),
            before=(sys.executable, "-I", "-S", "-c", relay, str(proxy.path), str(RELAY_PORT)),
            socket=proxy.path,
        )
        ended = run_supervised(through, output)
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


def _too_much(taken: DiskUse | None, limits: BuildLimits) -> str:
    if taken is None:
        return ""
    if taken.size > limits.disk_mib << 20:
        return f"it filled more than {limits.disk_mib} MiB of the disk; it was ended"
    return f"it made more than {limits.files:,} files; it was ended"


_NO_WHEEL = ("No matching distribution found", "Could not find a version")
_NO_NETWORK = (
    "Failed to establish a new connection",
    "Connection to ",
    "Name or service not known",
    "SSLError",
    "Retrying (Retry(total=0,",
)
_SHOWN_CHARS = 300

_MOST_LEFT_BYTES = 4 << 30
_MOST_LEFT_FILES = 200_000

Step: TypeAlias = Phase | Literal["wait"]
"""What a build is at: a phase, or waiting for another that makes the same."""


def _silent(_: object) -> None:
    """Nobody wants to know."""


@dataclass(frozen=True, slots=True)
class Yard:
    """How this machine builds. Under "strict" a build has the sandbox of bots, a home of its own, and the network for
    its fetch phase alone; under "plain" it may do what the user may. `cache`: None for the user's own. `told` is called
    with each step when it begins, `heard` with what is printed. `hidden` is what a build does not see, as in `Sandbox`;
    of these, files of the bot itself are empty in its copy."""

    profile: Profile = "plain"
    limits: BuildLimits = BuildLimits()
    cgroups: Cgroups = Cgroups()  # noqa: RUF009
    cache: Path | None = None
    told: Callable[[Step], None] = _silent
    hidden: tuple[str, ...] = ()
    heard: Callable[[bytes], None] = _silent


def build(folder: Path, yard: Yard | None = None, *, again: bool = False) -> tuple[Built, bool]:
    """The build of the bot in `folder`, and whether it was made just now; `again` makes it again, from a clean home.

    A build that was made without the sandbox counts as none where the yard is strict.
    Our proto files lie beside the sources of a bot that has none. Of two callers at once the second waits; if the bot
    has changed in between, it builds beside the first, in a fresh home. A build that somebody plays from stays where it
    is. Raises BuildError, ManifestError or EntryError.
    """
    yard = yard or Yard()
    folder = folder.resolve()
    manifest = load_manifest(folder)
    if not manifest.build and not has_requirements(folder, manifest):
        raise BuildError(
            f"{folder / 'bot.toml'}: nothing is to be built: {why_not_built(folder)}",
            f"a bot that is has a line like build = [...], or a requirements.txt and {PYTHON} in 'run'",
        )
    sources = read_sources(folder, manifest)  # first, as it has limits
    requirements = read_requirements(folder, manifest)
    cache = yard.cache or cache_folder()
    environment, fresh = None, False
    if requirements is not None:
        wanted = requirements

        def install(place: Path, home: Home | None) -> Built:
            return _install(folder, wanted, place, yard, home)

        # Bots with the same list share an environment: nothing that one of them left in a home may go into it.
        built, fresh = _once(folder, manifest, cache / requirements.id, yard, install, again=again, kept_home=False)
        environment = hold_environment(cache, requirements)
        if not manifest.build or environment is None:
            return built, fresh

    def make(place: Path, home: Home | None) -> Built:
        return _make(folder, manifest, sources, place, yard, home, environment)

    place = cache / source_id(folder, manifest, sources)
    built, compiled = _once(folder, manifest, place, yard, make, again=again)
    return built, fresh or compiled


def needs_build(folder: Path) -> bool:
    """Whether a bot is built, or has packages to be installed, before it can play. Raises ManifestError."""
    manifest = load_manifest(folder)
    return bool(manifest.build) or has_requirements(folder, manifest)


def why_not_built(folder: Path) -> str:
    """What a bot lacks that has nothing to be built, as a part of a sentence."""
    if is_file(folder / REQUIREMENTS):
        return f"it has no build command, and its {REQUIREMENTS} does not count, because 'run' does not have {PYTHON}"
    return f"it has no build command and no {REQUIREMENTS}"


def take_build(place: Path, made: Built, fill: Callable[[Path], None]) -> None:
    """Keep a build of another machine as the one that counts in CACHE/<source id>, unless it does already. `fill` lays
    its files into a new folder. OSError, and what `fill` raises."""
    with _alone(place, _silent):
        counted = read_built(place)
        if (
            counted is not None
            and (counted.artefacts, counted.sandbox) == (made.artefacts, made.sandbox)
            and is_as_made(counted)
        ):
            return
        remove_older(place, counted.folder.parent if counted else None)
        home = next_home(place)
        try:
            (home / "bot").mkdir()
            fill(home / "bot")
            (home / "log.txt").write_text("# made on the organiser's machine, which has the log\n")
        except BaseException:
            remove_tree(home)
            raise
        write_built(place, replace(made, folder=home / "bot", log=home / "log.txt"))
        remove_older(place, home)


def _once(
    folder: Path,
    manifest: Manifest,
    place: Path,
    yard: Yard,
    make: Callable[[Path, Home | None], Built],
    *,
    again: bool,
    kept_home: bool = True,
) -> tuple[Built, bool]:
    """The build that counts in `place`, which `make` makes if there is none; and whether it did.

    It is made in the home that is kept for this bot's builds, or else in a new one that goes with it.
    """
    most_bytes = most_mib() << 20
    try:
        with _alone(place, yard.told):
            built = read_built(place)
            if built and not again and yard.profile in ("plain", built.sandbox) and is_as_made(built):
                return built, False
            if not kept_home:
                return make(place, None), True
            owner = Owner(folder, manifest.name, yard.profile)
            with keep_home(place.parent, owner, most_bytes=most_bytes, clean=again) as home:
                return make(place, home), True
    except OSError as error:
        where = f"{error.filename or place}: {error.strerror or error}"
        if is_of_bot(error, folder):
            raise BuildError(where, "check the bot's folder, and try again") from None
        raise NoRoomError(
            where, "see whether the disk is full, or set CROSSTOWN_CACHE to a folder that can be written"
        ) from None


@contextmanager
def _workshop(place: Path, yard: Yard, home: Home | None) -> Iterator[tuple[Workshop, bool]]:
    """Where something new is made, its copy not there yet, and whether its home is warm. What is made stays, and all
    older goes, if it was written as what counts; after an error it goes."""
    counted = read_built(place)
    remove_older(place, counted.folder.parent if counted else None)
    made = next_home(place)
    fresh = made / "home"
    if home is None:
        fresh.mkdir(mode=0o700)
        home = Home(fresh, warm=False)
    tools = find_toolchains(os.environ, made / "bot") if yard.profile == "strict" else ()
    try:
        yield (
            Workshop(
                made / "bot",
                home.folder,
                yard.profile,
                yard.limits,
                yard.cgroups,
                tools,
                yard.told,
                yard.hidden,
                heard=yard.heard,
            ),
            home.warm,
        )
    except BaseException as error:
        remove_tree(made / "bot")
        if isinstance(error, BuildError) and home.warm:
            error.began_warm()
        raise
    finally:
        remove_tree(fresh)
    remove_older(place, made)


def _make(
    folder: Path,
    manifest: Manifest,
    sources: Sources,
    place: Path,
    yard: Yard,
    home: Home | None,
    environment: Environment | None,
) -> Built:
    with _workshop(place, yard, home) as (workshop, warm):
        if environment is not None:
            tools = (*workshop.tools, environment.built.folder)
            workshop = replace(workshop, tools=tools, python=environment.python)
        copy_sources(folder, manifest, workshop.copy)
        if source_id(workshop.copy, manifest, read_sources(workshop.copy, manifest)) != place.name:
            raise EntryError(f"{folder}: was changed while it was copied", "build it again")
        for path in filter(is_file, copied(yard.hidden, folder, workshop.copy)):
            path.unlink()
            path.touch()
        if not has_protos(sources):
            if os.path.lexists(workshop.copy / PROTO):
                raise EntryError(
                    f"{folder / PROTO}: is not a folder with files, but Crosstown puts its proto files there",
                    "rename it",
                )
            copy_protos(workshop.copy / PROTO)
        _renew(workshop.copy)
        if yard.profile == "strict":
            workshop = replace(workshop, settings=copy_settings(os.environ, workshop.home))
        built = _build(manifest, workshop, workshop.copy.parent / "log.txt", place.name, warm=warm)
        write_built(place, built)
    return built


def _install(folder: Path, requirements: Requirements, place: Path, yard: Yard, home: Home | None) -> Built:
    """A new environment with what the bot asks for and the SDK; from wheels alone, unless the file allows more."""
    with _workshop(place, yard, home) as (workshop, warm):
        copy, log_file = workshop.copy, workshop.copy.parent / "log.txt"
        copy.mkdir()
        copy_requirements(folder, requirements, copy)
        if requirements_in(copy) != requirements:
            raise EntryError(f"{folder / REQUIREMENTS}: was changed while it was copied", "build it again")
        wheels = copy / "wheels of crosstown"
        constraints = write_wheels(wheels)
        if yard.profile == "strict":
            workshop = replace(workshop, settings=copy_settings(os.environ, workshop.home))
        python = python_in(copy)
        own_pip = find_spec("pip") is None  # as where another tool than pip has made our own environment
        venv = [sys.executable, "-I", "-m", "venv", *([] if own_pip else ["--without-pip"]), str(python.parents[1])]
        pip = (
            [str(python), "-I", "-m", "pip"]
            if own_pip
            else [sys.executable, "-I", "-m", "pip", "--python", str(python)]
        )
        options = ["--no-input", "--disable-pip-version-check", "--progress-bar=off", "--only-binary=:all:"]
        # Into the environment, whatever pip.conf says; an empty prefix or root would be the folder where pip runs.
        options += ["--no-user", "--target=", f"--prefix={python.parents[1]}", "--root=/"]
        own = ["--find-links", str(wheels), "-c", str(constraints)]
        sources = [[*own, "-r", REQUIREMENTS, SDK]]
        if have_hashes(copy, requirements):  # ours are made for each build, so no list can have their hashes
            sources = [["-r", REQUIREMENTS], [*own, SDK, *take_out_ours(copy, requirements)]]
        with Log(log_file, workshop.limits.log_bytes, workshop.heard) as log:
            log.feed(f"# {_beginning(workshop.profile, warm=warm)}\n".encode())
            try:
                fetch_s = run_phase("fetch", venv, workshop, log)
                base = base_python(copy)
                try:
                    for words in sources:
                        fetch_s += run_phase("fetch", [*pip, "install", *options, *words], workshop, log)
                except BuildError as error:
                    if error.log is not None:
                        raise BuildError(*pip_failed(log.text()), error.log, error.tail) from None
                    raise
            finally:
                take_back(copy)
        if base_python(copy) != base:
            raise EntryError(
                f"{folder / REQUIREMENTS}: a package that ran while it was installed has changed which Python is used",
                "leave that package out",
            )
        remove_tree(wheels)
        artefacts, number = installed_in(copy)
        if not has_sdk(copy):
            what = "fetch: pip has installed nothing into the bot's environment"
            raise BuildError(what, "see pip's settings (PIP_*, pip.conf)", log_file, log.tail())
        version = ".".join(map(str, sys.version_info[:3]))
        built = Built(
            source_id=place.name,
            folder=copy,
            log=log_file,
            fetch_s=round(fetch_s, 3),
            build_s=0.0,
            toolchain=f"Python {version}, {number} packages",
            artefacts=artefacts,
            sandbox=workshop.profile,
            warm=warm,
        )
        write_built(place, built)
    return built


def pip_failed(said: str) -> tuple[str, str]:
    """What pip could not do, from all it printed, and what to do about it."""
    lines = [line.removeprefix("ERROR: ") for line in said.splitlines() if line.startswith("ERROR: ")]
    why = f" ({one_line(lines[-1], _SHOWN_CHARS)})" if lines else ""
    if any(words in said for words in _NO_NETWORK):
        step = "see whether this machine reaches the package index, and pip's settings (PIP_INDEX_URL, pip.conf)"
    elif any(words in said for words in _NO_WHEEL):
        version = ".".join(map(str, sys.version_info[:2]))
        name = "check the name of the package, or " if "(from versions: none)" in said else ""
        step = (
            f"{name}choose a version that has a wheel for Python {version}, or allow its source with a line"
            f" --no-binary NAME in {REQUIREMENTS}"
        )
    else:
        step = f"correct {REQUIREMENTS}"
    return f"fetch: pip could not install {REQUIREMENTS}{why}", step


def _build(manifest: Manifest, workshop: Workshop, log_file: Path, source: str, *, warm: bool) -> Built:
    copy = workshop.copy
    sources = dict(_hashed(copy))
    fetch_s = build_s = 0.0
    with Log(log_file, workshop.limits.log_bytes, workshop.heard) as log:
        log.feed(f"# {_beginning(workshop.profile, warm=warm)}\n".encode())
        try:
            if manifest.fetch:
                fetch_s = run_phase("fetch", manifest.fetch, workshop, log)
            build_s = run_phase("build", manifest.build, workshop, log)
            toolchain = one_line_of(manifest.toolchain, workshop) if manifest.toolchain else ""
        finally:
            size = take_back(copy)
    if size is None:
        why = "the build left folders that cannot be read, or lie too deep for a path"
        raise BuildError(why, "have it remove them", log_file, log.tail())
    try:
        program = Path(find_argv(copy, manifest, python=workshop.python)[0])
    except ManifestError as error:
        raise BuildError(
            f"the build ended well but left nothing to run: {error}", error.next_step, log_file, log.tail()
        ) from None
    outside = leads_out(program, copy, workshop.tools) if workshop.profile == "strict" else None
    if outside is not None:
        where = f"{program.relative_to(copy)} links to {outside}, outside of the bot's folder"
        raise BuildError(where, "the build must copy it", log_file, log.tail())
    try:
        _check_size(copy)
        artefacts = _digest(sorted(set(_hashed(copy)) - sources.items()))
    except OSError as error:
        if error.errno in ERRORS_OF_A_MACHINE:
            raise
        left = Path(os.fsdecode(error.filename or copy))
        where = f"the build left '{left.relative_to(copy)}', which cannot be read: {error.strerror}"
        raise BuildError(where, "have it remove the file, or make it readable", log_file, log.tail()) from None
    return Built(
        source_id=source,
        folder=copy,
        log=log_file,
        fetch_s=round(fetch_s, 3),
        build_s=round(build_s, 3),
        toolchain=toolchain,
        artefacts=artefacts,
        sandbox=workshop.profile,
        warm=warm,
    )


def _beginning(profile: Profile, *, warm: bool) -> str:
    if profile == "plain":
        return "in the user's own home, with the caches there"
    return "with what earlier builds kept in their home" if warm else "from a clean home"


def _renew(copy: Path) -> None:
    """Make all files as young as this build: cargo, by whose clock what it kept is good for older ones, might else take
    the program of the last sources for that of these."""
    now_ns = time.time_ns()
    for path in _files(copy):
        os.utime(copy / path, ns=(now_ns, now_ns))


def _files(folder: Path) -> Iterator[str]:
    for entry in walk(folder):
        if entry.is_file(follow_symlinks=False):
            yield Path(entry.path).relative_to(folder).as_posix()


def _check_size(copy: Path) -> None:
    """What a build left is hashed, outside of its limits: sparse files take no disk and count in full."""
    left_bytes = 0
    for number, name in enumerate(_files(copy), start=1):
        left_bytes += (copy / name).lstat().st_size
        if left_bytes > _MOST_LEFT_BYTES or number > _MOST_LEFT_FILES:
            raise BuildError(
                f"the build left more than {_MOST_LEFT_BYTES >> 20} MiB or {_MOST_LEFT_FILES:,} files; sparse files"
                " count in full",
                "have it remove what the bot does not need to run",
            )


def _hashed(folder: Path) -> Iterator[tuple[str, str]]:
    """Every file with a hash of what is in it."""
    for name in _files(folder):
        with (folder / name).open("rb") as file:
            yield name, file_digest(file, lambda: blake2b(digest_size=16)).hexdigest()


def _digest(files: Sequence[tuple[str, str]]) -> str:
    made = blake2b(digest_size=8)
    for name, content in files:
        made.update(f"{len(name)}:{name}{content}".encode(errors="surrogateescape"))
    return made.hexdigest()


@contextmanager
def _alone(place: Path, told: Callable[[Step], None]) -> Iterator[None]:
    place.mkdir(parents=True, exist_ok=True)
    with (place / "lock").open("wb") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            told("wait")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield
