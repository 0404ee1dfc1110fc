"""What a bot's program needs of this machine besides /usr and its own folder: its interpreter or runtime."""

import os
import shutil
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path

SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
"""Always there in the sandbox."""

_LINKS = Path("/etc/alternatives")
"""There as well: where Debian's /usr/bin/java leads first."""

_STORES = (Path("/nix/store"), Path("/gnu/store"))
# What toolchains keep next to their bin/: so much of one is shown, and never what somebody put beside it.
_PARTS = frozenset(
    {"bin", "sbin", "lib", "lib64", "libexec", "include", "share", "etc", "conf", "jre", "jmods", "legal", "man", "ssl"}
    | {"pyvenv.cfg", "release", "VERSION", "LICENSE", "README.md", "CHANGELOG.md", "COPYING", ".gitignore"}
)
_PROGRAM_FOLDERS = ("bin", "sbin")
_MOST_LINKS = 20
_OUR_PACKAGES = ("referee", "crosstown_proto", "crosstown_bot")
_OUR_PREFIX = "crosstown_"


def find_needs(argv: tuple[str, ...], folder: Path) -> tuple[Path, ...]:
    """Files and folders to show the bot read-only, parents before children, none twice or inside of another."""
    found: set[Path] = set()
    program = Path(argv[0])
    for one in (program, *_interpreter(program)):
        found.update(_toolchain(one, folder))
        if os.path.realpath(one) == os.path.realpath(sys.executable):
            found.update(_our_python())
    return outermost(found, folder)


def outermost(found: Iterable[Path], folder: Path) -> tuple[Path, ...]:
    """Those that exist, parents before children, none inside of another, of the bot's `folder` or of what is always
    there."""
    kept: list[Path] = []
    for path in sorted(found, key=lambda path: (len(path.parts), path)):
        inside = any(path.is_relative_to(other) for other in (*kept, folder, _LINKS, *map(Path, SYSTEM)))
        if not inside and path.exists():
            kept.append(path)
    return tuple(kept)


def _toolchain(program: Path, folder: Path) -> Iterator[Path]:
    for path in _links(program):
        for store in _STORES:
            if path.is_relative_to(store):
                yield store
        yield from home_of(path, folder)
        settings = path.parent.parent / "pyvenv.cfg"
        if settings.is_file():
            base = _base_of(settings)
            if base is not None:
                yield from home_of(base, folder)


def _links(program: Path) -> Iterator[Path]:
    """The program, and where it leads to if it is a link, hop by hop."""
    path = program
    for _ in range(_MOST_LINKS):
        yield path
        if not path.is_symlink():
            break
        path = Path(os.path.normpath(path.parent / path.readlink()))
    yield Path(os.path.realpath(program))


def home_of(program: Path, folder: Path) -> Iterator[Path]:
    """The toolchain that a program in some bin/ belongs to; of a wide folder, the program alone."""
    prefix = program.parent.parent
    if program.parent.name not in _PROGRAM_FOLDERS or is_wide(prefix, folder):
        yield program
        return
    if (prefix / "pyvenv.cfg").is_file():
        yield prefix
        return
    try:
        parts = {path.name for path in prefix.iterdir()}
    except OSError:
        yield program
        return
    if parts <= _PARTS:
        yield prefix
    else:
        yield from (prefix / part for part in sorted(parts & _PARTS))


def is_wide(prefix: Path, folder: Path) -> bool:
    """Whether more than a toolchain lies here: a home, the root, whatever the bot itself is part of."""
    home = Path.home()
    return (
        len(prefix.parts) <= 2
        or prefix in (home, home / ".local")
        or prefix.parent == Path("/home")
        or (folder.is_relative_to(prefix))
    )


def _interpreter(program: Path) -> Iterator[Path]:
    """What the first line of a script names."""
    try:
        with program.open("rb") as file:
            first = file.readline(256)
    except OSError:
        return
    if not first.startswith(b"#!"):
        return
    words = os.fsdecode(first[2:]).split()
    if words and Path(words[0]).name == "env":
        named = next((word for word in words[1:] if not word.startswith("-") and "=" not in word), None)
        found = None if named is None else shutil.which(named)
        words = [] if found is None else [found]
    if words:
        yield Path(words[0])


def _base_of(settings: Path) -> Path | None:
    try:
        lines = settings.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return None
    values = {key.strip(): value.strip() for key, _, value in (line.partition("=") for line in lines)}
    return Path(values["home"]) / "python" if values.get("home") else None


@cache
def _our_python() -> tuple[Path, ...]:
    """Our own packages, where they are not in the interpreter's folders: of a checkout these alone, never the rest."""
    found: set[Path] = {Path(sys.prefix), Path(sys.base_prefix)}
    for name in _OUR_PACKAGES:
        spec = find_spec(name)
        if spec is None or spec.origin is None:
            continue
        package = Path(spec.origin).parent
        found.add(package)
        if name.startswith(_OUR_PREFIX) and not package.is_relative_to(sys.prefix):
            found.update(path for path in package.parent.glob(f"{_OUR_PREFIX}*") if path.is_dir())
    return tuple(path for path in found if path != Path("/usr"))
