"""Builds a bot once per source: a copy of its folder in the cache, fetched for with the network, compiled without."""

import fcntl
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b, file_digest
from pathlib import Path
from typing import Literal, TypeAlias

from referee.process.build_settings import copy_settings
from referee.process.built import Built, cache_folder, next_home, read_built, remove, remove_older, write_built
from referee.process.cgroup import Cgroups
from referee.process.entry import source_id
from referee.process.homes import Home, Owner, keep_home, most_mib, take_back
from referee.process.look import is_file
from referee.process.manifest import Manifest, ManifestError, load_manifest
from referee.process.needs import leads_out
from referee.process.phase import BuildError, BuildLimits, Log, Phase, Workshop, one_line_of, run_phase
from referee.process.program import find_argv
from referee.process.sandbox import Profile
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
from referee.process.toolchains import find_toolchains

Step: TypeAlias = Phase | Literal["wait"]
"""What a build is at: a phase, or waiting for another that makes the same."""


def _silent(_: Step) -> None:
    """Nobody wants to know."""


@dataclass(frozen=True, slots=True)
class Yard:
    """How this machine builds. Under "strict" a build has the sandbox of bots, a home of its own, and the network for
    its fetch phase alone; under "plain" it may do what the user may. `cache`: None for the user's own. `told` is called
    with each step when it begins. `hidden` is what a build does not see, as in `Sandbox`; of these, files of the bot
    itself are empty in its copy."""

    profile: Profile = "plain"
    limits: BuildLimits = BuildLimits()  # noqa: RUF009 - frozen
    cgroups: Cgroups = Cgroups()  # noqa: RUF009
    cache: Path | None = None
    told: Callable[[Step], None] = _silent
    hidden: tuple[str, ...] = ()


def build(folder: Path, yard: Yard | None = None, *, again: bool = False) -> tuple[Built, bool]:
    """The build of the bot in `folder`, and whether it was made just now; `again` makes it anew, from a clean home.

    A build that was made without the sandbox counts as none where the yard is strict.
    Our proto files lie beside the sources of a bot that has none. Of two callers at once the second waits; if the bot
    has changed in between, it builds beside the first, in a fresh home. A build that somebody plays from stays where it
    is. Raises BuildError, ManifestError or EntryError.
    """
    yard = yard or Yard()
    folder = folder.resolve()
    manifest = load_manifest(folder)
    if not manifest.build:
        raise BuildError(f"{folder / 'bot.toml'}: nothing is to be built; a bot that is has a line like build = [...]")
    sources = read_sources(folder, manifest)
    place = (yard.cache or cache_folder()) / source_id(manifest, sources)
    try:
        most_bytes = most_mib() << 20
    except ValueError as error:
        raise BuildError(f"{error}; correct it") from None
    try:
        with _alone(place, yard.told):
            built = read_built(place)
            if built and not again and yard.profile in ("plain", built.sandbox):
                return built, False
            owner = Owner(folder, manifest.name, yard.profile)
            with keep_home(place.parent, owner, most_bytes=most_bytes, clean=again) as home:
                return _make(folder, manifest, sources, place, yard, home), True
    except OSError as error:
        raise BuildError(
            f"{error.filename or place}: {error.strerror or error}; see whether the disk is full"
        ) from None


def _make(folder: Path, manifest: Manifest, sources: Sources, place: Path, yard: Yard, home: Home | None) -> Built:
    counted = read_built(place)
    remove_older(place, counted.folder.parent if counted else None)
    made = next_home(place)
    fresh = made / "home"
    if home is None:
        fresh.mkdir(mode=0o700)
        home = Home(fresh, warm=False)
    tools = find_toolchains(os.environ, made / "bot") if yard.profile == "strict" else ()
    workshop = Workshop(
        made / "bot", home.folder, yard.profile, yard.limits, yard.cgroups, tools, yard.told, yard.hidden
    )
    try:
        copy_sources(folder, manifest, workshop.copy)
        if read_sources(workshop.copy, manifest) != sources:
            raise EntryError(f"{folder}: was changed while it was copied; build it again")
        for path in filter(is_file, copied(yard.hidden, folder, workshop.copy)):
            path.unlink()
            path.touch()
        if not has_protos(sources):
            if os.path.lexists(workshop.copy / PROTO):
                raise EntryError(
                    f"{folder / PROTO}: is no folder with files, where our proto files are laid; rename it"
                )
            copy_protos(workshop.copy / PROTO)
        _renew(workshop.copy)
        if yard.profile == "strict":
            copy_settings(os.environ, workshop.home)
        built = _build(manifest, workshop, made / "log.txt", place.name, warm=home.warm)
        write_built(place, built)
    except BaseException as error:
        remove(workshop.copy)
        if isinstance(error, BuildError):
            error.warm = home.warm
        raise
    finally:
        remove(fresh)
    remove_older(place, made)
    return built


def _build(manifest: Manifest, workshop: Workshop, log_file: Path, source: str, *, warm: bool) -> Built:
    copy = workshop.copy
    sources = dict(_hashed(copy))
    fetch_s = build_s = 0.0
    with Log(log_file, workshop.limits.log_bytes) as log:
        log.feed(f"# {_beginning(workshop.profile, warm=warm)}\n".encode())
        try:
            if manifest.fetch:
                fetch_s = run_phase("fetch", manifest.fetch, workshop, log)
            build_s = run_phase("build", manifest.build, workshop, log)
            toolchain = one_line_of(manifest.toolchain, workshop) if manifest.toolchain else ""
        finally:
            take_back(copy)
    try:
        program = Path(find_argv(copy, manifest)[0])
    except ManifestError as error:
        raise BuildError(f"the build ended well but left nothing to run: {error}", log_file, log.tail()) from None
    outside = leads_out(program, copy, workshop.tools) if workshop.profile == "strict" else None
    if outside is not None:
        where = f"{program.relative_to(copy)} links to {outside}, outside of the bot's folder"
        raise BuildError(f"{where}; the build must copy it", log_file, log.tail())
    return Built(
        source_id=source,
        folder=copy,
        log=log_file,
        fetch_s=round(fetch_s, 3),
        build_s=round(build_s, 3),
        toolchain=toolchain,
        artefacts=_digest(sorted(set(_hashed(copy)) - sources.items())),
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
    for path in folder.rglob("*"):
        if path.is_file() and not path.is_symlink():
            yield path.relative_to(folder).as_posix()


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
