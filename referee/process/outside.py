"""Files that play with a bot and lie outside its folder, each with its resolved path and a hash of its content.

These are its interpreter with the packages that are installed for it, scripts and data that `run` names, the sources
beside such a script, our own packages, what it may read by a grant, and, without a sandbox, files that options name.
"""

import json
import os
import platform
import re
import shlex
import shutil
import stat
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from fnmatch import translate
from functools import cache, partial
from hashlib import blake2b
from importlib.metadata import Distribution, distributions
from pathlib import Path
from urllib.parse import unquote, urlsplit

from referee.process.entry import Entry
from referee.process.fact_names import BESIDE, OUR_PACKAGES, PACKAGES_OF
from referee.process.needs import find_needs, interpreter_of, our_packages
from referee.process.paths import SYSTEM, is_file, is_folder
from referee.process.program import find_script, started_by
from referee.process.sandbox import Sandbox, given_to
from referee.process.sources import LEFT_OUT

_IMPORTED = {".py": (".so",), ".js": (".json", ".node"), ".pl": (".pm",), ".rb": (".so",), ".lua": (".so",)}
"""What scripts import besides files that end as they do, by the first ending of their interpreter's."""
_PACKAGE = "__init__.py"

_PYTHON = re.compile(r"python[\d.]*|pypy[\d.]*")
_PACKAGES = (
    "lib/python*/site-packages",
    "lib/pypy*/site-packages",
    "lib/python*/dist-packages",
    "local/lib/python*/dist-packages",
)
"""Where a Python has its packages, from the folder that it is in the bin/ of."""

_SHELL = re.compile(r"(ba|da|z|k|fi)?sh")
_COMMAND = re.compile(r"-[^-]*c")
_ENDS_COMMAND = frozenset(";&|()")
_BEFORE_COMMAND = frozenset({"exec", "command", "then", "do", "else", "if", "while", "{", "!"})
"""What stands before the program in a command of a shell."""

_LOOKS_SHARE = 20
"""What took long to look at is looked at again after so many times as long, at the earliest."""

MISSING = "missing"
_NOTHING = "none"
LISTED = "listed:"
"""Before the hash of what is too large to be read: it is over names, sizes and times."""

MOST_BYTES = 256 << 20
MOST_FILES = 20_000

_HASH_BYTES = 8
_Found = tuple[str, int, int, int, int]
"""Path, inode, size, time of the content and of the change."""


class Prints:
    """Hashes of files and folders: looked at again after `again_s`, and read again only where something has changed."""

    def __init__(self, again_s: float = 1.0) -> None:
        self._again_ns = round(again_s * 1e9)
        self._known: dict[tuple[object, ...], tuple[int, tuple[_Found, ...], str]] = {}
        """When to look again, what was there, and its hash."""

    def of(self, *places: Path) -> str:
        """16 hex digits over all that lies there, `MISSING`, or `LISTED` and 16 digits. Never raises for what it finds.

        What other tools keep in a folder is left out, as it is of bots.
        """
        return self._of(places, places, lambda: (found for place in places for found in _list(str(place))))

    def beside(self, script: Path, endings: tuple[str, ...]) -> str:
        """The same over the other files in the folder of a script that end so, and, of a Python script, over those in
        packages there; `none` if there are none."""
        content = self._of((script, endings), (script.parent,), lambda: _list_sources(script, endings))
        return _NOTHING if content == MISSING else content

    def _of(self, key: tuple[object, ...], places: tuple[Path, ...], look: Callable[[], Iterator[_Found]]) -> str:
        now_ns = time.monotonic_ns()
        again_ns, before, content = self._known.get(key, (0, None, ""))
        if before is None or now_ns >= again_ns:
            found = tuple(look())
            took_ns = time.monotonic_ns() - now_ns
            if before != found:
                content = _print(found, places) if found else MISSING
            again_ns = now_ns + (max(self._again_ns, _LOOKS_SHARE * took_ns) if self._again_ns else 0)
            self._known[key] = again_ns, found, content
        return content


def outside_of(entry: Entry, sandbox: Sandbox, prints: Prints) -> dict[str, str]:
    """The hash of each that plays with the bot, by resolved path, `OUR_PACKAGES`, or `PACKAGES_OF` or `BESIDE` and a
    path."""
    programs, scripts = set(_programs(entry)), dict(_scripts(entry))  # a build may have made a link of a script
    named = (*programs, *_named(entry), *map(Path, sandbox.read), *scripts)
    places = {Path(os.path.realpath(path)) for path in named}
    if sandbox.profile == "plain":  # the author names these: in the sandbox the bot sees none but those it is granted
        places |= {path for path in _named_by_options(entry) if not _is_in(path, places)}
        places |= {path for path in _installed_in_place(entry) if not _is_in(path, places)}
    home = Path(os.path.realpath(entry.home))
    found = {str(place): prints.of(place) for place in sorted(places) if not place.is_relative_to(home)}
    for script, endings in scripts.items():
        if not _is_in(script.parent, {home, *places}):
            found[f"{BESIDE}{script}"] = prints.beside(script, endings)
    if _is_ours(programs):
        found[OUR_PACKAGES] = prints.of(*our_packages())
    for prefix in sorted(_other_pythons(entry, programs)):
        if packages := _packages_in(prefix):
            found[f"{PACKAGES_OF}{prefix}"] = prints.of(*packages, *_added_by(packages))
    return found


def _is_in(path: Path, places: Iterable[Path]) -> bool:
    return any(path.is_relative_to(place) for place in places)


def _installed_in_place(entry: Entry) -> Iterator[Path]:
    """Packages that the bot's own environment does not have inside, resolved."""
    if entry.environment is None:
        return
    own = entry.environment.built.folder
    for added in _added_by(_packages_in(own / "python")):
        if not (place := Path(os.path.realpath(added))).is_relative_to(own):
            yield place


def _packages_in(prefix: Path) -> list[Path]:
    return sorted(place for pattern in _PACKAGES for place in prefix.glob(pattern))


def _added_by(packages: Iterable[Path]) -> Iterator[Path]:
    """Folders that a Python finds packages in besides: of packages that are installed in place while they are worked on
    (`pip install -e`). A .pth file there has the folder, or code that finds it; what pip keeps of the package has it
    in both cases."""
    for place in packages:
        for listed in sorted(place.glob("*.pth")):
            with suppress(OSError):
                lines = listed.read_text("utf-8", errors="replace").splitlines()
                yield from (Path(line) for line in lines if line.startswith("/") and is_folder(Path(line)))
        for kept in sorted(place.glob("*.dist-info/direct_url.json")):
            with suppress(OSError, ValueError, TypeError, KeyError, RecursionError):
                said = json.loads(kept.read_bytes())
                folder = Path(unquote(urlsplit(str(said["url"])).path))
                if said["dir_info"]["editable"] is True and folder.is_absolute() and is_folder(folder):
                    yield folder


def _other_pythons(entry: Entry, programs: Iterable[Path]) -> set[Path]:
    """The folders of the Pythons among the programs that are neither the referee's nor made for the bot. Not where a
    link leads from there: the program of a virtual environment leads to that of another Python."""
    own = [entry.home, *(built.folder for built in entry.builds)]
    return {
        program.parent.parent
        for program in programs
        if _PYTHON.fullmatch(program.name)
        and program.parent.name == "bin"
        and program != Path(sys.executable).absolute()
        and not any(program.is_relative_to(place) for place in own)
    }


def runtime_of(entry: Entry) -> str:
    """For a bot of the referee's own Python, which one that is, and a hash over the packages that are installed."""
    return _our_runtime() if _is_ours(_programs(entry)) else ""


def look_ahead(prints: Prints) -> None:
    """Look now at what plays with every bot of the referee's own Python, so that it is known when one plays."""
    _our_runtime()
    prints.of(*our_packages())


@cache
def _our_runtime() -> str:
    installed = sorted({f"{name}=={version}" for name, version in map(_name_and_version, distributions())})
    made = blake2b("\n".join(installed).encode(errors="surrogateescape"), digest_size=_HASH_BYTES)
    return f"{platform.python_implementation()} {platform.python_version()}, packages {made.hexdigest()}"


def _name_and_version(package: Distribution) -> tuple[str, str]:
    """As its properties have them. Those read the whole description too, which takes much longer."""
    text = package.read_text("METADATA") or package.read_text("PKG-INFO") or ""
    fields = dict(line.partition(": ")[::2] for line in text.partition("\n\n")[0].splitlines())
    if "Name" in fields and "Version" in fields:
        return fields["Name"].strip(), fields["Version"].strip()
    return package.name, package.version


def not_shown(entry: Entry, sandbox: Sandbox) -> list[Path]:
    """What the bot's command names by its whole path and a strict sandbox does not show to the bot."""
    if sandbox.profile != "strict":
        return []
    needs = find_needs(entry.argv, entry.home, partial(given_to, sandbox, entry.home))
    shown = [entry.home, *needs, *map(Path, (*sandbox.read, *sandbox.devices, *SYSTEM, "/proc", "/dev"))]
    roots = {Path(os.path.realpath(path)) for path in shown}
    programs = set(_programs(entry))
    named = [path for path in _named(entry) if path not in programs]
    return [path for path in named if not any(Path(os.path.realpath(path)).is_relative_to(root) for root in roots)]


def _is_ours(programs: Iterable[Path]) -> bool:
    # By its name: the program of another virtual environment may lead to the same, and has other packages.
    return Path(sys.executable).absolute() in programs


def _starts(entry: Entry) -> list[tuple[str, ...]]:
    """The command line of a bot, and those that it starts: of a program behind a bridge, behind `env` and its like, or
    in the text of a shell's -c."""
    starts = [entry.argv, *(entry.argv[place + 1 :] for place, word in enumerate(entry.argv[:-1]) if word == "--")]
    for words in starts:
        if inner := started_by(words):
            starts.append(tuple(inner))
        starts += _commands_in(words)
    return starts


def _programs(entry: Entry) -> Iterator[Path]:
    """What is executed: the programs, and the interpreters of scripts."""
    for word, *_ in _starts(entry):
        if found := _program(entry, word):
            yield found
            if interpreter := interpreter_of(found):
                yield interpreter


def _program(entry: Entry, word: str) -> Path | None:
    own = entry.home / word
    found = own if is_file(own) else Path(shutil.which(word) or own).absolute()
    return found if is_file(found) else None


def _scripts(entry: Entry) -> Iterator[tuple[Path, tuple[str, ...]]]:
    """The scripts that interpreters run, by their resolved paths, each with the endings of what it may import."""
    for words in _starts(entry):
        program = _program(entry, words[0])
        interpreter = None if program is None else interpreter_of(program)
        # What is called python may be a script itself, which starts the right one.
        for command in (words, *([(str(interpreter), str(program))] if interpreter else [])):
            kind, name, endings = find_script(command)
            if kind == "file" and is_file(entry.home / name):
                yield Path(os.path.realpath(entry.home / name)), (*endings, *_IMPORTED.get(endings[0], ()))


def _named_by_options(entry: Entry) -> Iterator[Path]:
    """The files that options of the bot name by their whole path, resolved."""
    texts = (value for value in entry.options.values() if isinstance(value, str))
    for path in (path for text in texts for path in _paths_in(text)):
        if path.startswith("/") and is_file(Path(path)):
            yield Path(os.path.realpath(path))


def _commands_in(words: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """The commands in the text that a shell gets by -c."""
    options = [number for number, word in enumerate(words[1:-1], 1) if _COMMAND.fullmatch(word)]
    if not options or not _SHELL.fullmatch(Path(words[0]).name):
        return
    command: list[str] = []
    for word in (*_words(words[options[0] + 1]), ";"):
        if set(word) <= _ENDS_COMMAND:
            if command:
                yield tuple(command)
            command = []
        elif command or not (word in _BEFORE_COMMAND or "=" in word):
            command.append(word)


def _words(text: str) -> list[str]:
    """Those of a shell, with what ends a command as words of their own; none where quotes are left open."""
    parts = shlex.shlex(text.replace("\n", ";"), posix=True, punctuation_chars=True)
    parts.whitespace_split = True
    with suppress(ValueError):
        return list(parts)
    return []


def _named(entry: Entry) -> Iterator[Path]:
    """Files and folders that the other words name by their whole path: also behind `--option=` and `-I`, several in a
    list such as a class path, or all files of a folder by `*`. In the text of a shell's -c files alone: `cd /`."""
    for words in _starts(entry):
        in_text = words != entry.argv[len(entry.argv) - len(words) :]
        for path in (path for word in words[1:] for path in _paths_in(word)):
            if path.startswith("/") and (is_file(Path(path)) if in_text else os.path.lexists(path)):
                yield Path(path)


def _paths_in(word: str) -> Iterator[str]:
    """What of a word may be a path."""
    option = word[word.index("/") :] if word.startswith("-") and "/" in word else ""
    for text in dict.fromkeys((word, word.partition("=")[2], option)):
        for path in (text, *(text.split(os.pathsep) if os.pathsep in text else ())):
            yield path.removesuffix("*") if path.endswith("/*") else path


def _list(place: str) -> Iterator[_Found]:
    """Every file below `place`, or itself; of more than `MOST_FILES` no more than so many. Links that lead out of
    `place` are followed; those that stay in it count by where they lead."""
    if not is_folder(Path(place)):
        if (looked := _look(place)) is not None:
            yield looked[0]
        return
    left, waiting, seen = MOST_FILES, [place], [os.path.realpath(place)]
    for folder in waiting:
        for parent, folders, files in os.walk(folder):
            folders[:] = sorted(name for name in folders if not _LEFT_OUT.match(name))
            links = [name for name in folders if os.path.islink(f"{parent}/{name}")]  # noqa: PTH114 - thousands of them
            for name in sorted([*files, *links]):
                path = f"{parent}/{name}"
                if _LEFT_OUT.match(name) or (looked := _look(path)) is None:
                    continue
                yield looked[0]
                left -= 1
                if left <= 0:
                    return
                if not looked[1] or any(f"{os.path.realpath(path)}/".startswith(f"{root}/") for root in seen):
                    continue
                if name in links:
                    seen.append(os.path.realpath(path))
                    waiting.append(path)
                elif (there := _look(os.path.realpath(path))) is not None:
                    yield there[0]


def _list_sources(script: Path, endings: tuple[str, ...]) -> Iterator[_Found]:
    """The files that `script` may import from its folder: without those in folders that are no packages, which may be
    anything if the script lies in a home."""
    left, packages = MOST_FILES, ".py" in endings
    for parent, folders, files in os.walk(script.parent):
        folders[:] = sorted(name for name in folders if packages and is_file(Path(parent, name, _PACKAGE)))
        folders[:] = [name for name in folders if not _LEFT_OUT.match(name)]
        for path in sorted(
            f"{parent}/{name}" for name in files if name.endswith(endings) and not _LEFT_OUT.match(name)
        ):
            looked = None if path == str(script) else _look(path)
            target = None if looked is None or not looked[1] else _look(os.path.realpath(path))
            for one in (looked, target):
                if one is not None:
                    yield one[0]
                    left -= 1
            if left <= 0:
                return


_LEFT_OUT = re.compile("|".join(map(translate, LEFT_OUT)))


def _look(path: str) -> tuple[_Found, bool] | None:
    """A file or a link, and whether it is a link; None for all else."""
    try:
        found = os.lstat(path)
    except OSError:
        return None
    is_link = stat.S_ISLNK(found.st_mode)
    if not (is_link or stat.S_ISREG(found.st_mode)):
        return None
    return (path, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns), is_link


def _print(found: tuple[_Found, ...], places: tuple[Path, ...]) -> str:
    made = blake2b(digest_size=_HASH_BYTES, person=b"crosstown-print")
    listed = sum(one[2] for one in found) > MOST_BYTES or len(found) >= MOST_FILES
    for name, _, size, changed_ns, _ in found:
        text = f"{size} {changed_ns}".encode() if listed else content_of(name)
        for part in (_inside(name, places).encode(errors="surrogateescape"), text):
            made.update(len(part).to_bytes(8))
            made.update(part)
    return f"{LISTED if listed else ''}{made.hexdigest()}"


def _inside(name: str, places: tuple[Path, ...]) -> str:
    """The path from the place it was found in, so that the same content elsewhere has the same hash."""
    for number, place in enumerate(map(str, places)):
        inside = "." if name == place else name.removeprefix(place.rstrip("/") + "/")
        if inside != name:
            return f"{number if len(places) > 1 else ''}/{inside}"
    return name


def content_of(name: str) -> bytes:
    made = blake2b()
    try:
        if os.path.islink(name):  # noqa: PTH114 - thousands of them
            return b"link:" + os.fsencode(os.readlink(name))  # noqa: PTH115
        left = MOST_BYTES
        with open(name, "rb", opener=_open) as file:
            while left > 0 and (chunk := file.read(1 << 20)):
                made.update(chunk)
                left -= len(chunk)
    except OSError as error:
        return f"unreadable: {error.strerror}".encode()
    return made.digest()


def _open(path: str, flags: int) -> int:
    """Not waiting for the other end of a pipe that was laid there just now."""
    return os.open(path, flags | os.O_NONBLOCK | os.O_CLOEXEC)
