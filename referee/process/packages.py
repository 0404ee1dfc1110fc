"""The packages of a Python bot: its requirements.txt, installed once into an environment of its own.

The environment is kept in the cache like a build (see `store`), under an id over all that it depends on. So bots with
the same requirements share one, and a bot whose program has changed keeps the one it had.
"""

import codecs
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
from urllib.parse import unquote
from zipfile import ZIP_DEFLATED, ZipFile

from referee.process.manifest import PYTHON, Manifest
from referee.process.paths import is_file, is_folder, is_link, is_there
from referee.process.sources import EntryError, Room, Sources, copy_within, digest, find_within, hash_within, kind_of
from referee.process.store import Built, Hold, hold_built
from referee.process.trees import walk
from referee.texts import one_line

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
MOST_WORDS = 50_000
"""Different words and lines of these lists: a list of 1 MiB with a hash for each file of each package has fewer."""

_BETWEEN = re.compile(r"""[\s=@"']+""")
_QUOTED = re.compile(r""""([^"]*)"|'([^']*)'""")
_ATTACHED = re.compile(r"^-[rcef](?=[^-])")
"""pip takes an option of one letter and its value as one word, too."""
_BEHIND = re.compile(r"[;#].*|\[[^\[\]]*\]\s*$")
"""Behind a path: a condition, a fragment, extras."""
_LISTS = re.compile(r"""(?<!\S)(?:-r|-c|--requirement|--constraint)[\s=]*["']?([^\s"']+)""")
_FOLDERS = re.compile(r"""(?<!\S)(?:-e|-f|--editable|--find-links)[\s=]*["']?([^\s"']+)""")
_ITSELF = re.compile(r"^[^\S\n]*(?:(?:-e|--editable)[\s=]*)?\./?(?:\[[^\[\]]*\])?\s*(?:[;#].*)?$", re.MULTILINE)
_COMMENT = re.compile(r"(?:^|\s)#.*$", re.MULTILINE)
_OURS = re.compile(r"^[ \t]*crosstown[-_.]+(?:bot|arena)(?![\w.-])(?:\\\r?\n|[^\n])*", re.MULTILINE | re.IGNORECASE)
"""A line, with those that continue it, that asks for a package of ours."""
_EXTRAS = re.compile(r"^[ \t]*(crosstown[-_.]+(?:bot|arena)\s*\[[^\[\]\n]*\])", re.MULTILINE | re.IGNORECASE)
_MARKS = {codecs.BOM_UTF8: "utf-8", codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}
_DRESSED = re.compile(r"^-|^file:|[%;#\[]")
"""Of a word that may mean another path than the one that it is."""
_ARCHIVES = (".whl", ".gz", ".zip")
_WHEEL = "Wheel-Version: 1.0\nGenerator: crosstown\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
_DIGEST_BYTES = 16
_RECORD_BYTES = 16 << 20
_SETTINGS_BYTES = 1 << 16


@dataclass(frozen=True, slots=True)
class Requirements:
    """What a bot asks for: requirements.txt and the files in the bot's folder that it names, by their paths from there.

    `lists` are those that name packages. `id` is 16 hex digits over the files, our own packages, and the Python that
    they are installed for.
    """

    files: tuple[str, ...]
    lists: tuple[str, ...]
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
    found = _named(folder)
    files = tuple(sorted(found))
    lists = tuple(name for name in files if found[name])
    asked: Sources = tuple(
        (name.encode(errors="surrogateescape"), hash_within(folder, real) + kind_of(folder, real))
        for name, real in ((name, find_within(folder, Path(name))) for name in files)
    )
    library = any(_mentions_library(folder / name) for name in lists)
    header = [sys.version, sysconfig.get_platform(), sys.base_prefix, _ours(SDK), _ours(LIBRARY) if library else ""]
    return Requirements(files, lists, digest(json.dumps(header).encode(), asked))


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
    texts = (_COMMENT.sub("", _text(folder / name)) for name in requirements.lists)
    return any(option in text for text in texts for option in ("--hash", "--require-hashes"))


def take_out_ours(folder: Path, requirements: Requirements) -> list[str]:
    """Take the lines that ask for our own packages out of the copies of these lists in `folder`, and return the names
    of those packages. EntryError or OSError."""
    found = set()
    for name in requirements.lists:
        text = _text(folder / name)
        found |= {LIBRARY if "arena" in line.lower() else SDK for line in _OURS.findall(text)}
        (folder / name).write_text(_OURS.sub("", text), encoding="utf-8")
    return sorted(found)


def hold_environment(cache_folder: Path, requirements: Requirements, *, in_play: bool = False) -> Environment | None:
    """The environment that was made of these, if it is there. `in_play`: as for `hold_built`."""
    held = hold_built(cache_folder / requirements.id, in_play=in_play)
    return None if held is None else Environment(*held)


def write_wheels(folder: Path) -> Path:
    """Lay our own packages, as they are installed here, into a new `folder` as wheels; a file of pip's constraints that
    has nobody else's in their place. Raises OSError."""
    folder.mkdir()
    constraints = folder / "constraints.txt"
    constraints.write_text("".join(f"{name} @ {_write_wheel(name, folder).as_uri()}\n" for name in _PACKAGES))
    return constraints


def has_sdk(folder: Path) -> bool:
    """Whether the environment in the folder of its build has the SDK, which every one is made with."""
    return any(python_in(folder).parents[1].glob("lib/python*/site-packages/crosstown_bot"))


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


def _named(folder: Path) -> dict[str, bool]:
    """requirements.txt, and each file that it, or one of these, names and that is in the bot's folder; whether it is a
    list of packages.

    These may lie where no sources are looked for, such as in .venv, so they count against limits of their own.
    """
    found, seen = dict[str, bool](), set[Path]()
    room, list_bytes, number = Room(folder), 0, 0
    waiting = [(folder / FILE, True)]
    while waiting:
        path, is_list = waiting.pop()
        name = path.relative_to(folder).as_posix()
        if name in found:
            continue
        found[name] = is_list
        size = room.take(path, path.stat())
        if is_list:
            list_bytes += size
            if list_bytes > MOST_LIST_BYTES:
                raise EntryError(
                    f"{path}: with it, the lists of packages have more than {MOST_LIST_BYTES >> 20} MiB", "correct them"
                )
            text = _text(path)
            words: set[str] = set()
            for word in _words(text):
                words.add(word)
                if number + len(words) > MOST_WORDS:
                    what = f"{path}: with it, the lists of packages have more than {MOST_WORDS:,} different words"
                    raise EntryError(what, "leave only the packages that the bot needs")
            number += len(words)
            waiting += _paths(folder, path, text, words, room, seen)
    return found


def _paths(
    folder: Path, listed: Path, text: str, words: set[str], room: Room, seen: set[Path]
) -> Iterator[tuple[Path, bool]]:
    if _ITSELF.search(text):
        raise EntryError(
            f"{listed}: '.' asks for the bot's own folder as a package, and that is not installed",
            "write the packages that the bot needs in its place: the bot runs from its folder",
        )
    if extras := _EXTRAS.search(text):
        raise EntryError(
            f"{listed}: '{one_line(extras[1])}' asks for extras of a package of ours, and those are not installed",
            "leave the extras out, and name the packages that the bot needs besides, such as gymnasium",
        )
    lists = set(_LISTS.findall(text))
    places = {place for word in words for place in _places(word)}
    places |= {f"{place}/" for word in _FOLDERS.findall(text) for place in _places(word)}
    bases = {base: _first_parts(base) for base in sorted({folder, listed.parent})}
    for place in sorted(place for place in places if place and "\0" not in place):
        near = [base / place for base, parts in bases.items() if place.partition("/")[0] in parts]
        for path in {Path(os.path.realpath(path)) for path in near if is_there(path)}:
            if path == folder and place == "./":
                yield from ((each, False) for each in folder.iterdir() if each.suffix in _ARCHIVES and is_file(each))
            if path in seen or path == folder or not path.is_relative_to(folder):
                continue
            if is_file(path):
                seen.add(path)
                yield path, place in lists or path.suffix in (".txt", ".in")
            elif "/" in place and is_folder(path):  # without a slash it is the name of a package
                seen.add(path)
                for entry in walk(path):
                    room.count(within := Path(entry.path))
                    if entry.is_file() and not _is_made(within):
                        find_within(folder, within.relative_to(folder))  # refuses a link that leads out
                        yield within, False


def _words(text: str) -> Iterator[str]:
    """What may be paths: single words, and texts with spaces, which stand between quotes or fill a line."""
    yield from _BETWEEN.split(text)
    for line in text.splitlines():
        yield line.partition(" #")[0].strip()
        yield from (word for words in _QUOTED.findall(line) for word in words)


def _first_parts(folder: Path) -> set[str]:
    """What a path begins with that leads from this folder to something: most words of a list do not."""
    try:
        return {"", ".", "..", *(path.name for path in folder.iterdir())}
    except OSError as error:
        raise EntryError(f"{folder}: cannot be read ({error.strerror})", "check its rights") from None


def _places(word: str) -> Iterator[str]:
    """The paths that a word may mean: as it is, and without what pip allows around a path."""
    if not _DRESSED.search(word):
        yield word
        return
    place = _ATTACHED.sub("", word).removeprefix("file:")
    for each in (place, _BEHIND.sub("", place), _BEHIND.sub("", _BEHIND.sub("", place))):
        yield each
        yield unquote(each)


def _text(path: Path) -> str:
    """As pip reads it: in UTF-8, or as a mark in front says."""
    try:
        data = path.read_bytes()
        mark = next((mark for mark in _MARKS if data.startswith(mark)), b"")
        return data[len(mark) :].decode(_MARKS.get(mark, "utf-8"), errors="replace")
    except OSError as error:
        raise EntryError(f"{path}: cannot be read ({error.strerror})", "check its rights") from None


def _mentions_library(path: Path) -> bool:
    return LIBRARY in re.sub(r"[-_.]+", "-", _text(path)).lower()


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
