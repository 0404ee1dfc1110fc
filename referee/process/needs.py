"""What a bot's program or a build needs of this machine outside /usr and the bot's folder: interpreters and toolchains.

Everything in the bot's folder is controlled by its author: the first line of a script, the base of a virtual
environment, the target of a link. Such references are followed into what the organiser has granted or has on PATH, and
nowhere else. The program that `run` names by its path is followed wherever it is, since whoever enters a bot has read
that line.
"""

import os
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from referee.folders import cache_folder, home_folder
from referee.process.manifest import FILE_NAME
from referee.process.paths import SYSTEM, is_file, is_folder, is_link, is_there

_LINKS = Path("/etc/alternatives")
"""There as well: where Debian's /usr/bin/java leads first."""

_STORES = (Path("/nix/store"), Path("/gnu/store"))
_KERNELS = tuple(map(Path, ("/proc", "/sys", "/dev")))
"""Of these nothing is shown: a link in /proc leads anywhere."""

# What toolchains keep next to their bin/: so much of one is shown, and never what somebody put beside it.
_PARTS = frozenset(
    {"bin", "sbin", "lib", "lib64", "libexec", "include", "share", "jre", "jmods", "legal", "man"}
    | {"pyvenv.cfg", "release", "VERSION", "LICENSE", "README.md", "CHANGELOG.md", "COPYING", ".gitignore"}
)
_SETTINGS = frozenset({"etc", "conf", "ssl"})
"""Where services keep their passwords, too: of a known toolchain alone."""
_MARKS = ("lib/modules", "lib/rt.jar", "jre/lib/rt.jar", "pkg/tool", "lib/rustlib", "boot", "include/node")
_SECRETS = ("conf/settings.xml", "conf/settings-security.xml", "etc/npmrc", "etc/pip.conf")
"""Which hold passwords of package managers, and no program needs to run."""
_PROGRAM_FOLDERS = ("bin", "sbin")
_MOST_LINKS = 20
_LINE_BYTES = 256
_SETTINGS_CHARACTERS = 1 << 16
_OUR_PACKAGES = ("referee", "crosstown_proto", "crosstown_bot")
_OUR_PREFIX = "crosstown_"


def find_needs(argv: tuple[str, ...], folder: Path, given: Callable[[], Iterable[Path]] = tuple) -> tuple[Path, ...]:
    """Files and folders to show the bot read-only, parents before children, none twice or inside of another.

    `given`: what the organiser has put on PATH or granted; asked for only if the bot's own files lead out of `folder`.
    """
    host = _host(folder, given)
    found: set[Path] = set()
    program = clean(argv[0])
    if program is None or not host.may_see(program, by_author=False):
        return ()
    programs = [program]
    interpreter = interpreter_of(program)
    if interpreter is not None and host.may_see(interpreter, by_author=host.is_own(program)):
        programs.append(interpreter)
    for one in programs:
        found.update(_toolchain(one, host))
        if os.path.realpath(one) == os.path.realpath(sys.executable):
            found.update(our_python())
    return outermost(found, folder)


def opens(program: str, folder: Path, given: Callable[[], Iterable[Path]]) -> bool:
    """Whether the bot is shown what belongs to this program only because `run` names it by its path."""
    path = clean(program)
    if path is None or program in (sys.executable, shutil.which(path.name)):
        return False
    host = _host(folder, given)
    return not host.is_own(path) and host.may_see(path, by_author=False) and not host.is_given(path)


def leads_out(program: Path, folder: Path, given: Iterable[Path]) -> Path | None:
    """Where a program in `folder` leads to by links, if that is neither in there, nor in /usr, nor given."""
    real = Path(os.path.realpath(program))
    places = _with_real((folder, *map(Path, SYSTEM), *_STORES, *_prefixes(), *given))
    return None if not program.is_relative_to(folder) or _is_in(real, places) else real


def clean(path: str | Path) -> Path | None:
    """Without `..` and double slashes, which hide where a path leads; None unless it is absolute."""
    text = os.fspath(path)
    return Path("/" + os.path.normpath(text).lstrip("/")) if text.startswith("/") and "\0" not in text else None


def outermost(found: Iterable[Path], folder: Path) -> tuple[Path, ...]:
    """Those that exist, parents before children, none inside of another, of the bot's `folder` or of what is always
    there; of a folder with settings of package managers the rest."""
    kept: list[Path] = []
    opened = {part for path in found for part in _without_secrets(path)}
    for path in sorted(opened, key=lambda path: (len(path.parts), path)):
        inside = any(path.is_relative_to(other) for other in (*kept, folder, _LINKS, *map(Path, SYSTEM)))
        if not inside and is_there(path):
            kept.append(path)
    return tuple(kept)


def _without_secrets(path: Path) -> Iterator[Path]:
    secrets = {base / name for base in (path, path.parent, path.parent.parent) for name in _SECRETS}
    secrets = {secret for secret in secrets if secret.is_relative_to(path) and is_file(secret)}
    if not secrets:
        yield path
    elif is_folder(path):
        for part in path.iterdir():
            yield from _without_secrets(part)


@dataclass(frozen=True, slots=True)
class _Host:
    """This machine, as the bot in `folder` may see it."""

    folder: Path
    given: Callable[[], tuple[Path, ...]]

    def is_own(self, path: Path) -> bool:
        """Whether the bot's author has made it: its folder may be reached by links."""
        return path.is_relative_to(self.folder) or _real(path.parent).is_relative_to(_real(self.folder))

    def may_see(self, path: Path, *, by_author: bool) -> bool:
        if self.is_own(path):
            return True
        if _is_in(path, _KERNELS):
            return False
        return (not by_author and not _is_anothers(path)) or self.is_given(path)

    def is_given(self, path: Path) -> bool:
        return _is_in(path, map(Path, SYSTEM)) or _is_in(path, self.given())


def _host(folder: Path, given: Callable[[], Iterable[Path]]) -> _Host:
    return _Host(folder, cache(lambda: _with_real((*_STORES, *_prefixes(), *given()))))


def _is_anothers(path: Path) -> bool:
    """Whether it is of another bot, of builds, or of their homes, in which bots leave what links they like."""
    builds = _real(cache_folder())
    return any(
        place.is_relative_to(builds) or any(is_there(parent / FILE_NAME) for parent in (place, *place.parents))
        for place in {path.parent, _real(path.parent), _real(path).parent}
    )


def _toolchain(program: Path, host: _Host) -> Iterator[Path]:
    """Of the program and all it leads to."""
    path: Path | None = program
    by_author = host.is_own(program)
    for _ in range(_MOST_LINKS):
        if path is None or not host.may_see(path, by_author=by_author):
            return
        yield from _shown(path, host, by_author=by_author)
        by_author = host.is_own(path)
        settings = path.parent.parent / "pyvenv.cfg"
        if host.is_own(settings) == by_author and is_file(settings):
            base = _base_of(settings)
            if base is not None and host.may_see(base, by_author=by_author):
                yield from _shown(base, host, by_author=by_author)
        path = _next(path)


def _shown(path: Path, host: _Host, *, by_author: bool) -> Iterator[Path]:
    if host.is_own(path) or _is_in(path, map(Path, SYSTEM)):
        return
    for store in _STORES:
        if path.is_relative_to(store):
            yield store
    for place in home_of(path, host.folder, settings=lambda: _is_toolchain(path.parent.parent) or host.is_given(path)):
        if not by_author or host.is_given(place):
            yield place
        else:
            yield from (part for part in host.given() if part.is_relative_to(place))


def _next(path: Path) -> Path | None:
    """Where a link leads; of what is reached through a link to a folder, where it is."""
    if is_link(path):
        return clean(path.parent / path.readlink())
    real = _real(path)
    return None if real == path else real


def _always() -> bool:
    return True


def home_of(program: Path, folder: Path, *, settings: Callable[[], bool] = _always) -> Iterator[Path]:
    """The toolchain that a program in some bin/ belongs to; of a wide folder, the program alone.

    `settings`: whether what is kept in etc/ and the like belongs to it; asked if there is such a folder.
    """
    prefix = program.parent.parent
    if program.parent.name not in _PROGRAM_FOLDERS or is_wide(prefix, folder):
        yield program
        return
    if is_file(prefix / "pyvenv.cfg"):  # it may have been made in a project's own folder
        yield from _parts_of(prefix)
        return
    try:
        parts = {path.name for path in prefix.iterdir()}
    except OSError:
        yield program
        return
    wanted = _PARTS | _SETTINGS if parts & _SETTINGS and settings() else _PARTS
    if parts <= wanted:
        yield prefix
    else:
        yield from (prefix / part for part in sorted(parts & wanted))


def _is_toolchain(prefix: Path) -> bool:
    return any(is_there(prefix / mark) for mark in _MARKS)


def is_wide(prefix: Path, folder: Path) -> bool:
    """Whether more than a toolchain lies here: a home, the root, whatever the bot itself is part of."""
    home = home_folder()
    homes = (home, home / ".local", _real(home), _real(home) / ".local")
    return any(
        len(path.parts) <= 2
        or path in homes
        or path.parent == Path("/home")
        or folder.is_relative_to(path)
        or _real(folder).is_relative_to(path)
        for path in {prefix, _real(prefix)}
    )


def interpreter_of(program: Path) -> Path | None:
    """What the first line of a script names, as the kernel reads it: words end at spaces and tabs alone."""
    try:
        with program.open("rb") as file:
            first = file.readline(_LINE_BYTES)
    except OSError:
        return None
    if not first.startswith(b"#!"):
        return None
    words = os.fsdecode(first[2:]).rstrip("\n").replace("\t", " ").split(" ")
    named, *rest = [word for word in words if word] or [""]
    if clean(named) in (Path("/usr/bin/env"), Path("/bin/env")):
        wanted = next((word for word in rest if not word.startswith("-") and "=" not in word), None)
        named = (wanted and shutil.which(wanted)) or ""
    return clean(named)


def _base_of(settings: Path) -> Path | None:
    """The program of the Python that a virtual environment was made with."""
    try:
        with settings.open(encoding="utf-8", errors="replace") as file:
            lines = file.read(_SETTINGS_CHARACTERS).splitlines()
    except OSError:
        return None
    values = {key.strip(): value.strip() for key, _, value in (line.partition("=") for line in lines)}
    home = clean(values.get("home", ""))
    return None if home is None else home / "python"


def _is_in(path: Path, places: Iterable[Path]) -> bool:
    return any(path.is_relative_to(place) for place in places)


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))


def _with_real(places: Iterable[Path]) -> tuple[Path, ...]:
    """Each by its own name and by that to which links lead; never the root."""
    found = {each for place in places for each in (place, _real(place))}
    return tuple(path for path in found if len(path.parts) > 1)


def _parts_of(prefix: Path) -> Iterator[Path]:
    """What a toolchain keeps there, and nothing of what else may lie beside it."""
    return (prefix / part for part in sorted(_PARTS) if is_there(prefix / part))


def _prefixes() -> tuple[Path, ...]:
    """Of the Python that runs us."""
    return tuple(part for prefix in (sys.prefix, sys.base_prefix) for part in _parts_of(Path(prefix)))


@cache
def our_python() -> tuple[Path, ...]:
    """Our own packages, where they are not in the interpreter's folders: of a checkout these alone, never the rest."""
    return (*_prefixes(), *our_packages())


@cache
def our_packages() -> tuple[Path, ...]:
    """The folders of our own packages."""
    found: set[Path] = set()
    for name in _OUR_PACKAGES:
        spec = find_spec(name)
        if spec is None or spec.origin is None:
            continue
        package = Path(spec.origin).parent
        found.add(package)
        if name.startswith(_OUR_PREFIX):
            found.update(path for path in package.parent.glob(f"{_OUR_PREFIX}*") if is_folder(path))
    return tuple(sorted(found))


_HOMES = ("JAVA_HOME", "MAVEN_HOME", "M2_HOME", "GOROOT")
"""Variables that name a whole toolchain."""

CERTIFICATES = (
    *("SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "CARGO_HTTP_CAINFO", "PIP_CERT"),
    *("CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE", "GIT_SSL_CAINFO", "npm_config_cafile", "NPM_CONFIG_CAFILE"),
)
"""Variables that name files with certificate authorities: passed on, and their files shown."""

_FILES = (*CERTIFICATES, "PIP_FIND_LINKS")

_TOOLCHAIN_MARKS = ("pkg/tool", "lib/rustlib", "boot", "jmods")
"""Which a folder has below it that is a toolchain as a whole: Go, Rust, Maven, a JDK."""

_MAVEN = Path("/etc/maven")
"""Without which Debian's Maven does not start; not the settings in there (see `build_settings`)."""

_PYENV = ("bin", "libexec", "plugins", "shims", "version", "versions")
_RUSTUP = ("settings.toml", "toolchains")


def rustup_home(ours: Mapping[str, str]) -> Path:
    """Where rustup keeps its toolchains, if it is there at all."""
    return Path(ours.get("RUSTUP_HOME") or home_folder(ours) / ".rustup")


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
    if not is_wide(prefix, folder) and any(is_there(prefix / mark) for mark in _TOOLCHAIN_MARKS):
        yield prefix
    else:
        yield from home_of(program, folder)


def _is_system(path: Path) -> bool:
    return any(path.is_relative_to(name) for name in SYSTEM)
