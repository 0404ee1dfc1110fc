"""Finds the program that an argv list names, and the script that an interpreter in it is to run."""

import errno
import os
import re
import shlex
import shutil
import stat
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from difflib import get_close_matches
from importlib.machinery import PathFinder
from pathlib import Path

from referee.process.manifest import BUILD_OUTPUT, FILE_NAME, PYTHON, Manifest, ManifestError
from referee.process.paths import is_file, is_folder, is_there
from referee.process.sources import LEFT_OUT

_BRIDGE = "crosstown_bridge"
_TERMINAL = "--terminal"
"""Instead of a program, a person."""

_SCRIPTS = {
    r"python[\d.]*|pypy[\d.]*": ((".py", ".pyc", ".pyz"), r"-[^-WXcm]*c.*"),
    r"node|nodejs|bun|deno|tsx|ts-node": (
        (".js", ".cjs", ".mjs", ".ts", ".mts", ".cts"),
        r"-[a-z]*[ep].*|--(eval|print)(=.*)?",
    ),
    r"perl[\d.]*": ((".pl",), r"-[^-IMmx]*[eE].*"),
    r"ruby[\d.]*": ((".rb",), r"-[^-IrCEx]*e.*"),
    r"php[\d.]*": ((".php",), r"-r.*"),
    r"lua(jit)?[\d.]*": ((".lua",), r"-e.*"),
    r"Rscript": ((".R", ".r"), r"-e.*"),
    r"(ba|da|z|k|fi)?sh": ((".sh", ".bash", ".zsh", ".fish"), r"-[^-o]*[cs].*"),
    r"java": ((".jar", ".java"), r"-cp|-classpath|--class-path(=.*)?"),
}
"""Interpreters, by the names of their programs: how the names of their scripts end, and the options with which the
program comes from somewhere else than the first file that is named."""

_MODULE = re.compile(r"-[^-WXcm]*m(.*)", re.DOTALL)
"""Python's option for a module, whose name may be in the next word."""

_ENDING_NEEDED = frozenset({".js", ".jar"})
"""Of these interpreters a word without an ending is something else: `node bot` runs bot.js, `deno run` is a command."""

_STARTERS = {
    "env": (frozenset({"-u", "-C"}), 0),
    "nice": (frozenset({"-n"}), 0),
    "nohup": (frozenset(), 0),
    "setsid": (frozenset(), 0),
    "stdbuf": (frozenset({"-i", "-o", "-e"}), 0),
    "timeout": (frozenset({"-k", "-s"}), 1),
}
"""Programs that start another one, with their options that have a value in the next word, and how many words stand
before the other program."""

_SHOWN_PATH = 400

ERRORS_OF_A_NAME = (errno.ENAMETOOLONG, errno.ELOOP)
"""Errors of the system that only another name mends."""

ERRORS_OF_A_MACHINE = frozenset(
    {
        errno.EAGAIN,
        errno.EDQUOT,
        errno.EIO,
        errno.EMFILE,
        errno.ENFILE,
        errno.ENOMEM,
        errno.ENOSPC,
        errno.EROFS,
    }
)
"""What a machine has run out of, or has broken."""


def is_of_bot(error: OSError, folder: Path) -> bool:
    """Whether the bot in `folder`, and not this machine, is to blame for what kept it from being copied or built. Names
    that are not whole paths are those of its files."""
    place = error.filename2 or error.filename
    if error.errno in ERRORS_OF_A_MACHINE or place is None:
        return False
    path = Path(os.fsdecode(place))
    return error.errno in ERRORS_OF_A_NAME or not path.is_absolute() or path.is_relative_to(folder.absolute())


def find_argv(
    home: Path, manifest: Manifest, author: Path | None = None, *, python: str = sys.executable
) -> tuple[str, ...]:
    """`manifest.run` ready to be executed in `home`, which may be a copy of the `author`'s folder.

    Words that name a file in the author's folder by its whole path name the copy's, and those that lead out of it by
    `..` lead where they led. `python` is what {python} stands for. Raises ManifestError, about the author's folder, as
    `_find_argv` does, and for what is there but left out of copies.
    """
    folder = author or home
    try:
        return _find_in(home, folder, manifest, python)
    except OSError as error:
        if error.errno not in ERRORS_OF_A_NAME:
            raise
        what = f"{folder / FILE_NAME}: 'run' has a word that no file can be named by ({error.strerror})"
        raise ManifestError(what, "correct it") from None


def _find_in(home: Path, folder: Path, manifest: Manifest, python: str) -> tuple[str, ...]:
    if folder == home:
        return _find_argv(home, manifest, python)
    run = tuple(_placed(word, home, folder) for word in manifest.run)
    for word in run if not manifest.build else ():
        if not word.startswith("/") and os.path.lexists(folder / word) and not os.path.lexists(home / word):
            raise _left_out(folder, word)
    try:
        return _find_argv(home, replace(manifest, run=run), python)
    except ManifestError as error:
        what, next_step = (text.replace(str(home), str(folder)) for text in (str(error), error.next_step))
        raise ManifestError(what, next_step) from None


def _left_out(folder: Path, word: str) -> ManifestError:
    """For a word of `run` that is in the author's folder and not in a copy of it."""
    named = f"{folder / FILE_NAME}: 'run' names '{word}', which is"
    if (folder / word).is_dir() and not set(Path(word).parts) & set(LEFT_OUT):
        return ManifestError(f"{named} a folder without a file; only files are copied", "correct 'run', or fill it")
    step = "let its build make it, or name a program outside of the bot's folder"
    if (folder / word).parent.with_name("pyvenv.cfg").exists():
        step = f'list its packages in requirements.txt, and write "{PYTHON}" in place of it: crosstown docs python'
    return ManifestError(f"{named} there but left out of what a bot is, like all that other tools make", step)


def _placed(word: str, home: Path, author: Path) -> str:
    if "/" not in word:
        return word
    path = Path(os.path.normpath(author / word))
    path = Path(os.path.realpath(path.parent)) / path.name
    inside = path.is_relative_to(author)
    if inside and word.startswith("/"):
        return str(home / path.relative_to(author))
    leads_out = not inside and ".." in Path(word).parts and is_there(path)
    return str(path) if leads_out else word


def _find_argv(folder: Path, manifest: Manifest, python: str) -> tuple[str, ...]:
    """`manifest.run` ready to be executed: `{python}` replaced, the program's path absolute.

    A program is looked for in the bot's folder first, then in PATH. Raises ManifestError if there is none that may
    be executed, none for the bridge to start, or if the script that it is to run is not there.
    """
    words = tuple(python if word == PYTHON else word for word in manifest.run)
    if _bridge_at(words) and not {"--", _TERMINAL} & set(words):
        raise ManifestError(
            f"{folder / FILE_NAME}: 'run' starts the bridge without a program",
            f'write it after \'--\', such as ["{PYTHON}", "-m", "{_BRIDGE}", "--", "perl", "bot.pl"]',
        )
    behind = _behind_bridge(words)
    if behind:
        _find_program(folder, behind[0], manifest)
        _check_started(folder, behind)
    program = _find_program(folder, words[0], manifest)
    _check_started(folder, words)
    return (str(program), *words[1:])


def _bridge_at(words: tuple[str, ...]) -> int:
    """Behind which word the bridge's own words begin: `-m crosstown_bridge` or `crosstown bridge`; 0 for other bots."""
    for number, word in enumerate(words):
        if word == _BRIDGE or (word == "bridge" and number and Path(words[number - 1]).name == "crosstown"):
            return number + 1
    return 0


def _behind_bridge(words: tuple[str, ...]) -> tuple[str, ...]:
    """The command line of a bot that talks in lines: what follows `--`; () for other bots."""
    own = words[_bridge_at(words) :]
    return own[own.index("--") + 1 :] if own != words and "--" in own else ()


def _find_program(folder: Path, word: str, manifest: Manifest) -> Path:
    own = (folder / word).absolute()
    if _is_file(own) and os.access(own, os.X_OK):
        found: Path | None = own
        _check_interpreter(folder, own, word)
    else:
        path = None if "/" in word else shutil.which(word)
        found = Path(path).absolute() if path else None
    if found is not None:
        not_its_own = not found.is_relative_to(folder.absolute())
        if manifest.build and not_its_own and not any((folder / name).is_dir() for name in BUILD_OUTPUT):
            # Such as `java -jar target/bot.jar`: the program is there, what it is to run is not.
            names = ", ".join(sorted(BUILD_OUTPUT))
            raise ManifestError(
                f"{folder}: the build has made none of {names}", "have it write what it makes to one of them"
            )
        return found
    where = f"{folder / FILE_NAME}: 'run' starts '{word}'"
    if _is_file(own):
        raise ManifestError(f"{where}, which is not executable", f"run: chmod +x {shlex.quote(str(own))}")
    if is_folder(own):
        raise ManifestError(f"{where}, which is a folder", "name a program")
    if re.fullmatch(r"\{.*\}", word):
        raise ManifestError(f"{where}, which means nothing here", f"write {PYTHON} for the referee's own interpreter")
    why, next_step = not_found(word, folder)
    raise ManifestError(f"{where}, which is not there: {why}", next_step)


def _is_file(path: Path) -> bool:
    """As `is_file`, but for errors of a name: it is the author's to mend."""
    try:
        return stat.S_ISREG(path.stat().st_mode)
    except OSError as error:
        if error.errno in ERRORS_OF_A_NAME:
            raise
        return False


def not_found(word: str, folder: Path, path: str | None = None) -> tuple[str, str]:
    """Where a program that is not there was looked for, and what to do. `path`: PATH, if it is not this process's.
    OSError if no file can have the name."""
    own = (folder / word).absolute()
    _is_file(own)
    if "/" in word:
        link = ""
        try:
            link = f", a link to {own.readlink()}," if own.is_symlink() else ""
            own.stat()
        except PermissionError as error:
            return f"{own}{link} cannot be read ({error.strerror})", "check the rights of the folders"
        except OSError:
            if link:
                return f"{own}{link} leads nowhere", "correct it"
        return f"there is no {own}, and a name with '/' is not looked for in PATH", "correct it"
    path = os.environ.get("PATH") if path is None else path
    if not path:
        how = "is not set" if path is None else "is empty"
        return f"it is not in {folder}, and PATH {how}", "set PATH, or name the program by its whole path"
    for place in path.split(os.pathsep):
        if is_file(other := Path(place) / word):
            return f"{other}, in PATH, is not executable", f"run: chmod +x {shlex.quote(str(other))}"
    shown = path if len(path) <= _SHOWN_PATH else f"{path[:_SHOWN_PATH]}..."
    return (
        f"it is neither in {folder} nor in a folder of the referee's PATH ({shown})",
        "install it, add its folder to PATH, or name it by its whole path",
    )


def _check_interpreter(folder: Path, script: Path, word: str) -> None:
    """ManifestError if the first line of the bot's own program names an interpreter that is not there."""
    try:
        with script.open("rb") as file:
            first = file.readline(256)
    except OSError:
        return
    if not first.startswith(b"#!"):
        return
    if first.endswith(b"\r\n"):
        raise ManifestError(
            f"{folder / FILE_NAME}: 'run' starts '{word}', whose first line ends as on Windows; the system takes the"
            " additional character for a part of the interpreter's name",
            f"run: sed -i 's/\\r$//' {shlex.quote(str(script))}",
        )
    words = os.fsdecode(first[2:]).split()
    where = f"{folder / FILE_NAME}: 'run' starts '{word}', whose first line names"
    if not words or not is_file(Path(words[0])):
        named = words[0] if words else ""
        raise ManifestError(
            f"{where} the interpreter '{named}', which is not there", "install it, or correct that line"
        )
    inner = started_by(words)
    if inner and not shutil.which(inner[0]):
        why, next_step = not_found(inner[0], folder)
        raise ManifestError(f"{where} the interpreter '{inner[0]}': {why}", next_step)


def started_by(words: Sequence[str]) -> Sequence[str]:
    """What `env`, `timeout` and their like start: the words from that program on; () if these start nothing."""
    options, before = _STARTERS.get(Path(words[0]).name, (None, 0)) if words else (None, 0)
    if options is None:
        return ()
    rest = 1
    while rest < len(words) and (words[rest].startswith("-") or "=" in words[rest]):
        rest += 2 if words[rest] in options else 1
    return words[rest + before :]


def _check_started(folder: Path, words: Sequence[str]) -> None:
    """ManifestError if a program that `env`, `timeout` and their like start is not there, or the script of the last."""
    while inner := started_by(words):
        own_words = words[1 : len(words) - len(inner)]
        if Path(words[0]).name == "env" and any(word.startswith(("-", "PATH=")) for word in own_words):
            return  # with another PATH or folder it finds others
        program = inner[0]
        own = folder / program
        found = _is_file(own) and os.access(own, os.X_OK) if "/" in program else shutil.which(program)
        if not found:
            why, next_step = not_found(program, folder)
            where = f"{folder / FILE_NAME}: 'run' has {Path(words[0]).name} start '{program}', which is not there"
            raise ManifestError(f"{where}: {why}", next_step)
        words = inner
    _check_script(folder, words)


def _check_script(folder: Path, words: Sequence[str]) -> None:
    """ManifestError if what an interpreter is to run, a file or a module of Python, is surely not there."""
    kind, name, _ = find_script(words)
    if kind == "file":
        _check_file(folder, Path(words[0]).name, name)
    elif kind == "module" and words[0] == sys.executable:
        _check_module(folder, name)


def find_script(words: Sequence[str]) -> tuple[str, str, tuple[str, ...]]:
    """What an interpreter is to run: 'file' or 'module', its name, and how the names of its sources end. '' and nothing
    for a command that is no interpreter's, or whose program is in its words."""
    program = Path(words[0]).name if words else ""
    known = next((found for names, found in _SCRIPTS.items() if re.fullmatch(names, program)), None)
    if known is None:
        return _NO_SCRIPT
    endings, no_script = known
    for number, word in enumerate(words[1:], 1):
        if ".py" in endings and (option := _MODULE.fullmatch(word)):
            module = option[1] or (words[number + 1] if number + 1 < len(words) else "")
            return ("module", module, endings) if module else _NO_SCRIPT
        if re.fullmatch(no_script, word, re.DOTALL) or word == "-":
            return _NO_SCRIPT
        if word.startswith("-"):
            continue
        # The first word, or that behind --, may be a script of any name; others may be values of options.
        first = words[number - 1] in (words[0], "--")
        if word.endswith(endings) or (first and not _ENDING_NEEDED & set(endings)):
            return "file", word, endings
    return _NO_SCRIPT


_NO_SCRIPT: tuple[str, str, tuple[str, ...]] = ("", "", ())


def _check_file(folder: Path, program: str, word: str) -> None:
    script = folder / word
    named = f"{folder / FILE_NAME}: 'run' has {program} run '{word}', which is"
    try:
        mode = script.stat().st_mode
        if stat.S_ISREG(mode) or stat.S_ISDIR(mode):
            return
        raise ManifestError(f"{named} a pipe, a socket or a device", "name a file")
    except (FileNotFoundError, NotADirectoryError):
        pass
    except OSError as error:
        if error.errno in ERRORS_OF_A_NAME:
            raise
        return  # nothing is known of it
    near: list[str] = []
    with suppress(OSError):
        if script.parent.resolve().is_relative_to(folder.resolve()):  # what lies elsewhere is not the author's to know
            near = get_close_matches(script.name, [one.name for one in script.parent.iterdir() if one.is_file()], n=1)
    advice = f"did you mean '{Path(word).with_name(near[0])}'?" if near else "add it, or correct 'run'"
    raise ManifestError(f"{named} not there (looked for {script})", advice)


def _check_module(folder: Path, module: str) -> None:
    top = module.partition(".")[0]
    with suppress(OSError):
        if any(path.name.partition(".")[0] == top for path in folder.iterdir()):
            return
    # Not in the working directory, where Python looks first in some of our processes and not in others.
    places = sys.path if sys.flags.safe_path else sys.path[1:]
    if top in sys.stdlib_module_names or PathFinder.find_spec(top, places) is not None:
        return
    raise ManifestError(
        f"{folder / FILE_NAME}: 'run' has Python run the module '{module}', and there is no such module in {folder}"
        f" or in {sys.executable}",
        "add it, or correct 'run'",
    )
