"""Builds a bot once per source: a copy of its folder in the cache, fetched for, then compiled.

CACHE/<source id>/bot/         the copy, with what the build made
CACHE/<source id>/log.txt      what fetch and build printed, the middle cut out of a long one
CACHE/<source id>/built.json   written last: a build is whole if it is there
"""

import fcntl
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path

from referee.process.built import Built, cache_folder, read_built, write_built
from referee.process.entry import source_id
from referee.process.manifest import BUILD_OUTPUT, Manifest, ManifestError, load_manifest
from referee.process.phase import BuildError, BuildLimits, Log, one_line_of, run_phase
from referee.process.program import find_argv


def build(
    folder: Path,
    *,
    cache: Path | None = None,
    limits: BuildLimits | None = None,
    again: bool = False,
    beside: Mapping[str, Path] | None = None,
) -> tuple[Built, bool]:
    """The build of the bot in `folder`, and whether it was made just now; `again` makes it anew.

    `beside` are folders, by name, that are put beside the sources where they have none of that name. Of two callers at
    once the second waits. No sandbox: this runs what the bot's author wrote. Raises BuildError, ManifestError or
    EntryError.
    """
    folder = folder.resolve()
    manifest = load_manifest(folder)
    if not manifest.build:
        raise BuildError(f"{folder / 'bot.toml'}: nothing is to be built; a bot that is has a line like build = [...]")
    home = (cache or cache_folder()) / source_id(folder, manifest)
    try:
        with _alone(home):
            if not again and (built := read_built(home)):
                return built, False
            return _make(folder, manifest, home, limits or BuildLimits(), beside or {}), True
    except shutil.Error as error:
        raise BuildError(f"{folder}: cannot be copied to {home}: {error}; check the rights of its files") from None
    except OSError as error:
        raise BuildError(f"{error.filename or home}: {error.strerror}; see whether the disk is full") from None


def _make(folder: Path, manifest: Manifest, home: Path, limits: BuildLimits, beside: Mapping[str, Path]) -> Built:
    copy = home / "bot"
    (home / "built.json").unlink(missing_ok=True)
    if copy.exists():
        shutil.rmtree(copy)
    shutil.copytree(folder, copy, symlinks=True, ignore=shutil.ignore_patterns(".*", "__pycache__", *BUILD_OUTPUT))
    for name, source in beside.items():
        if not (copy / name).exists():
            shutil.copytree(source, copy / name)
    sources = set(_files(copy))
    fetch_s = build_s = 0.0
    with Log(home / "log.txt", limits.log_bytes) as log:
        if manifest.fetch:
            fetch_s = run_phase("fetch", manifest.fetch, copy, limits, log)
        build_s = run_phase("build", manifest.build, copy, limits, log)
    try:
        find_argv(copy, manifest)
    except ManifestError as error:
        raise BuildError(f"the build ended well but left nothing to run: {error}", home / "log.txt") from None
    built = Built(
        source_id=home.name,
        folder=copy,
        log=home / "log.txt",
        fetch_s=round(fetch_s, 3),
        build_s=round(build_s, 3),
        toolchain=one_line_of(manifest.toolchain, copy) if manifest.toolchain else "",
        artefacts=_hash(copy, sorted(set(_files(copy)) - sources)),
    )
    write_built(home, built)
    return built


def _files(folder: Path) -> Iterator[str]:
    for path in folder.rglob("*"):
        if path.is_file() and not path.is_symlink():
            yield path.relative_to(folder).as_posix()


def _hash(folder: Path, names: list[str]) -> str:
    digest = blake2b(digest_size=8)
    for name in names:
        digest.update(f"{len(name)}:{name}".encode(errors="surrogateescape"))
        with (folder / name).open("rb") as file:
            while chunk := file.read(1 << 20):
                digest.update(chunk)
    return digest.hexdigest()


@contextmanager
def _alone(home: Path) -> Iterator[None]:
    home.mkdir(parents=True, exist_ok=True)
    with (home / "lock").open("wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
