"""The toolchains that a build may call: what lies on PATH, or is named by a variable, outside of /usr."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from referee.folders import home_folder
from referee.process.build_settings import CERTIFICATES, rustup_home
from referee.process.look import is_file, is_folder, is_there
from referee.process.needs import clean, home_of, is_wide, outermost
from referee.process.places import SYSTEM

_HOMES = ("JAVA_HOME", "MAVEN_HOME", "M2_HOME", "GOROOT")
"""Variables that name a whole toolchain."""

_FILES = (*CERTIFICATES, "PIP_FIND_LINKS")

_MARKS = ("pkg/tool", "lib/rustlib", "boot", "jmods")
"""Which a folder has below it that is a toolchain as a whole: Go, Rust, Maven, a JDK."""

_MAVEN = Path("/etc/maven")
"""Without which Debian's Maven does not start; not the settings in there (see `build_settings`)."""

_PYENV = ("bin", "libexec", "plugins", "shims", "version", "versions")
_RUSTUP = ("settings.toml", "toolchains")


def find_toolchains(ours: Mapping[str, str], folder: Path) -> tuple[Path, ...]:
    """Files and folders to show a build in `folder` read-only, parents before children; what is in /usr is always.

    Of each folder on PATH the toolchain it belongs to; of links in these and in /usr's that of what they lead to; what
    version managers keep; never a whole home.
    """
    found: set[Path] = set()
    for text in ours.get("PATH", os.defpath).split(os.pathsep):
        place = clean(text)
        if place is not None and is_folder(place):
            found.update(_of_path(place, folder))
    for home in (clean(ours.get(name, "")) for name in _HOMES):
        if home is not None and not is_wide(home, folder):
            found.update((home, Path(os.path.realpath(home))))
    found.update(Path(ours[name]) for name in _FILES if Path(ours.get(name, "")).is_absolute())
    rustup, pyenv = rustup_home(ours), Path(ours.get("PYENV_ROOT") or home_folder(ours) / ".pyenv")
    found.update(rustup / part for part in _RUSTUP)
    found.update(pyenv / part for part in _PYENV)
    found.update(path for path in _MAVEN.glob("*") if not path.name.startswith("settings"))
    return outermost(found, folder)


def _of_path(place: Path, folder: Path) -> Iterator[Path]:
    """What one folder of PATH brings."""
    if not _is_system(place) and not is_wide(place, folder):
        yield place
        yield from _whole(place / "any", folder)
    try:
        programs = [Path(entry.path) for entry in os.scandir(place) if entry.is_symlink()]
    except OSError:
        return
    for program in programs:
        target = Path(os.path.realpath(program))
        if not _is_system(target) and not target.is_relative_to(place) and is_file(target):
            yield from _whole(target, folder)


def _whole(program: Path, folder: Path) -> Iterator[Path]:
    """The toolchain that a program in some bin/ belongs to."""
    prefix = program.parent.parent
    if not is_wide(prefix, folder) and any(is_there(prefix / mark) for mark in _MARKS):
        yield prefix
    else:
        yield from home_of(program, folder)


def _is_system(path: Path) -> bool:
    return any(path.is_relative_to(name) for name in SYSTEM)
