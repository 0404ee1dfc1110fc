"""Where on this machine things of ours lie: the user's home and settings, the cache, folders for sockets. Every command
asks here.

Homes may be unset or read-only, and the folder for temporary files may have a path too long for a socket.
"""

import fcntl
import glob
import os
import pwd
import re
import secrets
import shutil
import socket
import stat
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from referee.errors import ExpectedError, UsageError

CACHE_VARIABLE = "CROSSTOWN_CACHE"

MAX_SOCKET_PATH_BYTES = 107
"""Of a unix socket's path; the kernel's limit."""

_ROOM_BYTES = 48
"""What names below a folder for sockets take, and the folder's own."""

_IN_ADDRESSES = re.compile(r"[A-Za-z0-9/._+,=@:~-]*")
"""What a bot's gRPC, of whatever language, takes for a path and for nothing else in `unix:PATH`."""

_MOST_LINKS = 40

_LEFT_AFTER_S = 60.0
"""Who makes a file writes to it more often."""

_TEMPORARY = re.compile(r"\.(\d+)(\.[0-9a-f]{8})?\.tmp(-wal|-shm|-journal)?")
"""What follows the name of a file in that of a temporary one: the process, a random word (not in older versions), and
what a database has beside it."""

_NO_HOME = Path("/nonexistent")
"""The home of a user without one, as Debian names it."""


class FolderError(ExpectedError):
    """No folder of that kind is to be had here."""


def home_folder(ours: Mapping[str, str] | None = None) -> Path:
    """The user's home; a path where nothing is, if there is none. `ours`: instead of this process's environment. A
    relative path in it is no home: it would lie in whatever folder a command is entered."""
    given = Path((os.environ if ours is None else ours).get("HOME", ""))
    if given.is_absolute():
        return given
    try:
        return Path(pwd.getpwuid(os.getuid()).pw_dir)
    except KeyError:
        return _NO_HOME


def expanded(text: str) -> Path:
    """The path with a leading `~` replaced by the home. FolderError where there is no such home."""
    if text == "~" or text.startswith("~/"):
        home = home_folder()
        if home == _NO_HOME:
            raise FolderError(f"'{text}': there is no home folder here", "set HOME, or write the whole path")
        return home / text[2:]
    try:
        return Path(text).expanduser()
    except RuntimeError:
        raise FolderError(f"'{text}': there is no such user", "write the whole path") from None


def file_to_write(path: Path, otherwise: str) -> Path:
    """The file that `path` names, through links; it need not be there. A file that replaces it must replace neither
    a link nor a pipe or a device. UsageError with the next step `otherwise`, also for a link as in `place_to_write`;
    OSError."""
    if path.exists() and not path.is_file():
        what = "it is a folder" if path.is_dir() else "it is not an ordinary file"
        raise UsageError(f"cannot write {path}: {what}", otherwise)
    return place_to_write(path, otherwise)


def place_to_write(path: Path, otherwise: str) -> Path:
    """Where `path` leads through links, none of which somebody else may have laid: a link of another user, in a folder
    that others may write to. What it leads to would be replaced with our rights. UsageError with the next step
    `otherwise`; OSError."""
    place, links = Path("/"), 0
    waiting = list(reversed(path.absolute().parts))
    while waiting:
        part = waiting.pop()
        here = place.parent if part == ".." else place / part  # the place itself has no link in it
        try:
            found = here.lstat()
        except FileNotFoundError:
            place = here
            continue
        if not stat.S_ISLNK(found.st_mode):
            place = here
            continue
        links += 1
        if links > _MOST_LINKS:
            raise UsageError(f"cannot write {path}: {here} is a link that leads to itself", otherwise)
        if found.st_uid not in (0, os.geteuid()) and place.stat().st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            what = f"{here} is a link of another user, in a folder that others may write to"
            raise UsageError(f"cannot write {path}: {what}", otherwise)
        waiting += reversed(here.readlink().parts)
    return place


def temporary_beside(path: Path) -> Path:
    """A new file in which this process makes what is to replace `path`, with a name that nobody guesses. Removes those
    of processes that were killed while they did so."""
    with suppress(OSError):
        for left in path.parent.glob(f".{glob.escape(path.name)}.*.tmp*"):
            found = _TEMPORARY.fullmatch(left.name.removeprefix(f".{path.name}"))
            # A process of another container, or machine, is not seen here.
            rests = time.time() - left.lstat().st_mtime > _LEFT_AFTER_S
            if found and rests and not Path("/proc", found[1]).exists():
                left.unlink()
    return path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}.tmp")


@contextmanager
def folder_beside(target: Path, mode: int = 0o777) -> Iterator[Path]:
    """A new folder in which this process makes what is to take the place of `target`. It is removed at the end, unless
    it was renamed. Removes those that killed processes left. OSError."""
    target.parent.mkdir(parents=True, exist_ok=True)
    for left in target.parent.glob(f".{glob.escape(target.name)}-{'[0-9a-f]' * 8}"):
        with suppress(OSError), _locked(left, fcntl.LOCK_NB):
            if any(left.iterdir()):  # an empty one may be another process's, which is about to lock it
                shutil.rmtree(left)
    made = target.with_name(f".{target.name}-{secrets.token_hex(4)}")
    made.mkdir(mode=mode)
    try:
        with ExitStack() as held:
            with suppress(OSError):  # a file system without locks
                held.enter_context(_locked(made))  # after another process that has just looked whether it was left
            yield made
    finally:
        shutil.rmtree(made, ignore_errors=True)


@contextmanager
def _locked(folder: Path, how: int = 0) -> Iterator[None]:
    """Nobody else has the lock of the folder while this lasts. With LOCK_NB OSError if somebody has it."""
    file = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | how)
        yield
    finally:
        os.close(file)


def configuration_folder() -> Path:
    """Where the user's settings are kept: `crosstown` in $XDG_CONFIG_HOME, else in `.config` in the home."""
    return _base_folder("XDG_CONFIG_HOME", ".config") / "crosstown"


def _base_folder(variable: str, in_home: str) -> Path:
    """As the XDG Base Directory Specification has it: a relative path is as none."""
    given = Path(os.environ.get(variable, ""))
    return given if given.is_absolute() else home_folder() / in_home


def cache_folder() -> Path:
    """Where builds and copies of bots are kept: $CROSSTOWN_CACHE, else `crosstown` in the user's cache folder; where
    that cannot be written, a private folder beside temporary files.

    FolderError if somebody else has made that.
    """
    if given := os.environ.get(CACHE_VARIABLE):
        return Path(given).absolute()
    place = _base_folder("XDG_CACHE_HOME", ".cache") / "crosstown"
    if _can_be_written(place):
        return place
    own = temporary_folder() / f"crosstown-cache-{os.getuid()}"
    with suppress(FileExistsError):
        own.mkdir(mode=0o700)
    found = own.lstat()
    if found.st_uid != os.getuid() or own.is_symlink() or found.st_mode & 0o022:
        raise FolderError(f"{own}: somebody else can write there", f"set {CACHE_VARIABLE} to a folder of your own")
    return own


def _can_be_written(place: Path) -> bool:
    """Whether it is there and can be written, or can be made."""
    while not os.path.lexists(place) and place != place.parent:
        place = place.parent
    return place != Path("/") and place.is_dir() and os.access(place, os.W_OK | os.X_OK)


_SO_PASSRIGHTS = 83


def refuse_descriptors(listening: socket.socket) -> None:
    """Have the kernel refuse descriptors that are sent to this Unix socket, and to those that it accepts (Linux 6.16).

    Who receives without asking for them closes them, in the thread that receives: a socket with SO_LINGER waits there
    for as long as its sender likes.
    """
    with suppress(OSError):  # an older kernel, or not Linux
        listening.setsockopt(socket.SOL_SOCKET, _SO_PASSRIGHTS, 0)


def temporary_folder() -> Path:
    """Where folders and files that nobody keeps are made: that of TMPDIR, else the system's."""
    return Path(tempfile.gettempdir()).absolute()


def make_socket_folder() -> Path:
    """A new private folder whose path leaves room for the names of sockets. OSError or FolderError."""
    others = [os.environ.get("XDG_RUNTIME_DIR", ""), "/tmp", "/run", "/dev/shm"]  # noqa: S108
    wrong = ""
    for place in (temporary_folder(), *(Path(text).absolute() for text in others if text)):
        fits = len(os.fsencode(place)) + _ROOM_BYTES <= MAX_SOCKET_PATH_BYTES
        if not fits or not _IN_ADDRESSES.fullmatch(str(place)):
            wrong = wrong or f"the path {place} is too long for a socket, or has a character that gRPC does not accept"
            continue
        try:
            return Path(tempfile.mkdtemp(prefix="crosstown-", dir=place))
        except OSError as error:
            wrong = wrong or f"{place}: {error.strerror}"
    raise FolderError(f"there is no folder for sockets: {wrong}", "set TMPDIR to a short path, such as TMPDIR=/tmp")


USUAL_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
"""Where systems have their programs, whatever PATH is."""


def why_no_program(name: str, install: str) -> tuple[str, str]:
    """Why a program of the system is not found in PATH, and what to do: `install` says how it is installed."""
    there = shutil.which(name, path=USUAL_PATH)
    if not os.environ.get("PATH", os.defpath):
        step = "set PATH, for instance to /usr/local/bin:/usr/bin:/bin"
        return f"{name} is not found, as PATH is empty", step if there else f"{step}; if {name} is missing, {install}"
    if there is None:
        return f"{name} is not installed in a folder of PATH", install
    folder = Path(there).parent
    return f"{name} is not found, as PATH does not have {folder}, where it is", f"add {folder} to PATH"
