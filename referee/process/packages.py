"""The packages of a Python bot: its requirements.txt, installed once into an environment of its own.

The environment is kept in the cache like a build (see `store`), under an id over all that it depends on. So bots with
the same requirements share one, and a bot whose program has changed keeps the one it had.
"""

import json
import os
import re
import sys
import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from hashlib import blake2b
from importlib.metadata import distribution
from importlib.util import find_spec
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

from referee.process.manifest import PYTHON, Manifest
from referee.process.paths import is_file, is_folder, is_link, is_there
from referee.process.sources import EntryError, Room, Sources, copy_within, digest, find_within, hash_within
from referee.process.store import Built, Hold, hold_built
from referee.process.trees import walk

FILE = "requirements.txt"
SDK = "crosstown-bot"
LIBRARY = "crosstown-arena"
"""The games' rules are in there, for bots that look ahead."""

_PACKAGES = {
    SDK: ("crosstown_bot", "crosstown_bridge", "crosstown_proto"),
    LIBRARY: ("crosstown_env", "crosstown_greedy", "leaderboard", "referee"),
}
_NEEDED_BY_RULES = (SDK, "numpy", "protobuf")
"""What a bot needs of that which the referee requires: the rest is for the command line and the web pages."""
MOST_LIST_BYTES = 1 << 20
"""Of all lists of packages of a bot together."""

_BETWEEN = re.compile(r"""[\s=@"']+""")
_QUOTED = re.compile(r""""([^"]*)"|'([^']*)'""")
_WHEEL = "Wheel-Version: 1.0\nGenerator: crosstown\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
_DIGEST_BYTES = 16
_RECORD_BYTES = 16 << 20
_SETTINGS_BYTES = 1 << 16


@dataclass(frozen=True, slots=True)
class Requirements:
    """What a bot asks for: requirements.txt and the files in the bot's folder that it names, by their paths from there.

    `id` is 16 hex digits over these, our own packages, and the Python that they are installed for.
    """

    files: tuple[str, ...]
    id: str


@dataclass(frozen=True, slots=True)
class Environment:
    """An environment that is held: it is not removed for as long as this is there."""

    built: Built
    hold: Hold = field(repr=False, compare=False)

    @property
    def python(self) -> str:
        return str(python_in(self.built.folder))


def python_in(folder: Path) -> Path:
    """The interpreter of the environment in the folder of its build."""
    return folder / "python" / "bin" / "python"


def has_requirements(folder: Path, manifest: Manifest) -> bool:
    """Whether a bot is run, or built, by the word {python} and has a requirements.txt."""
    return PYTHON in (*manifest.run, *manifest.fetch, *manifest.build) and is_file(folder / FILE)


def read_requirements(folder: Path, manifest: Manifest) -> Requirements | None:
    """Those of a bot that has some, in a folder within the limits of `sources`. Raises EntryError."""
    return requirements_in(folder) if has_requirements(folder, manifest) else None


def requirements_in(folder: Path) -> Requirements:
    """Those in a folder that has a requirements.txt. Raises EntryError."""
    folder = folder.resolve()
    files = tuple(sorted(_named(folder)))
    asked: Sources = tuple(
        (name.encode(errors="surrogateescape"), hash_within(folder, find_within(folder, Path(name)))) for name in files
    )
    library = any(_mentions_library(folder / name) for name in files)
    header = [sys.version, sysconfig.get_platform(), sys.base_prefix, _ours(SDK), _ours(LIBRARY) if library else ""]
    return Requirements(files, digest(json.dumps(header).encode(), asked))


def copy_requirements(folder: Path, requirements: Requirements, target: Path) -> None:
    """Lay these files of the bot in a resolved `folder` into an empty folder. Raises EntryError or OSError."""
    for name in requirements.files:
        copy = target / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy_within(folder, find_within(folder, Path(name)), copy)


def base_python(folder: Path) -> object:
    """What leads from the environment to the Python that it was made with, to be compared: a package that runs code of
    its own while it is installed must not lead to somewhere else, for bots are shown where it leads. OSError."""
    prefix = python_in(folder).parents[1]
    settings = prefix / "pyvenv.cfg"
    links = {path.name: path.readlink() for path in (prefix / "bin").glob("python*") if is_link(path)}
    plain = is_file(settings) and not is_link(settings) and settings.stat().st_size <= _SETTINGS_BYTES
    return os.path.realpath(prefix / "bin"), settings.read_bytes() if plain else None, links


def have_hashes(folder: Path, requirements: Requirements) -> bool:
    """Whether these files, in `folder`, say which hash each package has: pip then takes none without. EntryError."""
    texts = (_text(folder / name) for name in requirements.files if _is_list(name))
    return any(option in text for text in texts for option in ("--hash", "--require-hashes"))


def _is_list(name: str) -> bool:
    return not name.endswith((".whl", ".gz", ".zip"))


def hold_environment(cache_folder: Path, requirements: Requirements) -> Environment | None:
    """The environment that was made of these, if it is there."""
    held = hold_built(cache_folder / requirements.id)
    return None if held is None else Environment(*held)


def write_wheels(folder: Path) -> Path:
    """Lay our own packages, as they are installed here, into a new `folder` as wheels; a file of pip's constraints that
    has nobody else's in their place. Raises OSError."""
    folder.mkdir()
    constraints = folder / "constraints.txt"
    constraints.write_text("".join(f"{name} @ {_write_wheel(name, folder).as_uri()}\n" for name in _PACKAGES))
    return constraints


def installed_in(folder: Path) -> tuple[str, int]:
    """A hash over all files that the packages of an environment say they have, and how many packages there are."""
    made = blake2b(digest_size=8)
    found = sorted(python_in(folder).parents[1].glob("lib/python*/site-packages/*.dist-info/RECORD"))
    # A package may run code of its own when it is installed: a pipe here would wait for ever, a link read anything.
    records = [record for record in found if is_file(record) and not is_link(record)]
    lines: set[str] = set()
    for record in records:
        if record.stat().st_size > _RECORD_BYTES:
            raise EntryError(f"{record}: has more than {_RECORD_BYTES >> 20} MiB", "leave that package out")
        lines.update(record.read_text(errors="replace").splitlines())
    for line in sorted(lines):
        if "/direct_url.json," not in line:  # says where our own wheels lay
            made.update(f"{line}\n".encode(errors="replace"))
    return made.hexdigest(), len(records)


def _named(folder: Path) -> set[str]:
    """requirements.txt, and each file that it, or one of these, names and that is in the bot's folder.

    These may lie where no sources are looked for, such as in .venv, so they count against limits of their own.
    """
    found, seen = set[str](), set[Path]()
    room, list_bytes = Room(folder), 0
    waiting = [folder / FILE]
    while waiting:
        path = waiting.pop()
        name = path.relative_to(folder).as_posix()
        if name in found:
            continue
        found.add(name)
        size = room.take(path, path.stat())
        if path.suffix in (".txt", ".in"):
            list_bytes += size
            if list_bytes > MOST_LIST_BYTES:
                raise EntryError(
                    f"{path}: with it, the lists of packages have more than {MOST_LIST_BYTES >> 20} MiB", "correct them"
                )
            waiting += _paths(folder, path, room, seen)
    return found


def _paths(folder: Path, listed: Path, room: Room, seen: set[Path]) -> Iterator[Path]:
    places = {word.removeprefix("file:") for word in _words(_text(listed))}
    bases = sorted({folder, listed.parent})
    for place in sorted(place for place in places if place and "\0" not in place):
        for path in {Path(os.path.realpath(base / place)) for base in bases if is_there(base / place)}:
            if path in seen or path == folder or not path.is_relative_to(folder):
                continue
            seen.add(path)
            if is_file(path):
                yield path
            elif "/" in place and is_folder(path):  # without a slash it is the name of a package
                for entry in walk(path):
                    room.count(within := Path(entry.path))
                    if entry.is_file() and not _is_made(within):
                        find_within(folder, within.relative_to(folder))  # refuses a link that leads out
                        yield within


def _words(text: str) -> Iterator[str]:
    """What may be paths: single words, and texts with spaces, which stand between quotes or fill a line."""
    yield from _BETWEEN.split(text)
    for line in text.splitlines():
        yield line.partition(" #")[0].strip()
        yield from (word for words in _QUOTED.findall(line) for word in words)


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8", errors="replace")
    except OSError as error:
        raise EntryError(f"{path}: cannot be read ({error.strerror})", "check its rights") from None


def _mentions_library(path: Path) -> bool:
    return path.suffix in (".txt", ".in") and LIBRARY in re.sub(r"[-_.]+", "-", _text(path)).lower()


def _is_made(path: Path) -> bool:
    return "__pycache__" in path.parts


def _package_files(name: str) -> Iterator[tuple[str, Path]]:
    """Every file of one of our distributions, with its path in a wheel."""
    for package in _PACKAGES[name]:
        spec = find_spec(package)
        if spec is None or spec.origin is None:
            raise EntryError(f"the package {package} is not where it was installed", "install Crosstown again")
        folder = Path(spec.origin).parent.resolve()
        for path in sorted(folder.rglob("*")):
            if path.is_file() and not _is_made(path):
                yield f"{package}/{path.relative_to(folder).as_posix()}", path


@cache
def _ours(name: str) -> str:
    made = blake2b(digest_size=_DIGEST_BYTES)
    for inside, path in _package_files(name):
        content = path.read_bytes()
        made.update(f"{inside}\0{len(content)}\0".encode())
        made.update(content)
    return made.hexdigest()


def _metadata(name: str) -> str:
    """What the installed package says of itself, without requirements that no bot has."""
    lines = (distribution(name).read_text("METADATA") or "").splitlines(keepends=True)
    if name == LIBRARY:
        kept = re.compile(rf"Requires-Dist: ({'|'.join(_NEEDED_BY_RULES)})\b")
        lines = [line for line in lines if kept.match(line) or not line.startswith("Requires-Dist:")]
    return "".join(lines)


def _write_wheel(name: str, folder: Path) -> Path:
    """A wheel without hashes in its list of files, which pip does not ask for."""
    installed = distribution(name)
    stem = f"{name.replace('-', '_')}-{installed.version}"
    about = f"{stem}.dist-info"
    texts = {
        f"{about}/METADATA": _metadata(name),
        f"{about}/entry_points.txt": installed.read_text("entry_points.txt"),
        f"{about}/WHEEL": _WHEEL,
    }
    path = folder / f"{stem}-py3-none-any.whl"
    with ZipFile(path, "w", ZIP_DEFLATED, compresslevel=1, strict_timestamps=False) as wheel:
        files = []
        for inside, file in _package_files(name):
            wheel.write(file, inside)
            files.append(inside)
        for inside, text in texts.items():
            if text is not None:
                wheel.writestr(inside, text)
                files.append(inside)
        wheel.writestr(f"{about}/RECORD", "".join(f"{inside},,\n" for inside in (*files, f"{about}/RECORD")))
    return path
