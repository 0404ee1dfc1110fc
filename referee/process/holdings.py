"""What a guardian holds for its bot and gives back at the end: a user, control groups, the private folder."""

# Part of the guardian: few and cheap imports.
# ruff: noqa: PTH106, PTH123, SIM105
import os
import time

from referee.process.child import Settings
from referee.process.trees import remove_tree

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

USERS_FOLDERS = ("/run", "/tmp")  # noqa: S108 - where the first cannot be written
_MOST_TRIES = 50
_LINES = {"cpu": ("", "usage_usec"), "oom": ("oom_kill",), "peak": ("",)}
"""Of each kind of counter, the names before its number."""

_HOST = "/proc/vmstat"


def choose_user(span: str) -> int:
    """A user id that no other bot on this machine has, as long as this process lives. OSError if there is none.

    For root. Who has which is told by locks on the bytes of a file that nobody else can open, so that nobody else can
    take them all.
    """
    import fcntl

    first, _, count = span.partition(":")
    file = _open_users()  # until the end; the kernel then gives the lock back
    for number in range(int(count)):
        uid = int(first) + (os.getpid() + number) % int(count)
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, uid)
        except (BlockingIOError, PermissionError):
            continue
        return uid
    raise OSError(11, f"all {count} users for bots are taken")


def _open_users() -> int:
    why = ""
    for folder in USERS_FOLDERS:
        path = f"{folder}/crosstown-users"
        try:
            file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK, 0o600)
        except OSError as error:
            why = f"{error.strerror}: {path}"
            continue
        owner = os.fstat(file)
        if owner.st_uid == os.getuid() and not owner.st_mode & 0o077:
            return file
        os.close(file)
        why = f"somebody else's file is there, or others may open it: {path}"
    raise OSError(13, f"no list of the users that bots have; {why}")


def thaw(pair: str) -> None:
    """FILE:WORD, of a group that may be gone or never was frozen."""
    path, _, word = pair.rpartition(":")
    try:
        with open(path, "w") as file:
            file.write(word)
    except OSError:
        pass


def counter(settings: Settings, key: str) -> int:
    """The number that a file of the group holds, in the units it is asked for; 0 if unknown."""
    for place in settings.get(key, ()):
        path, unit = place, 1
        if key == "cpu":
            path, _, factor = place.rpartition(":")
            unit = int(factor)
        return _number(path, _LINES[key]) * unit
    return 0


def was_full(settings: Settings) -> bool:
    """Whether the group ever was at its own limit of memory."""
    pairs = [place.rpartition(":") for place in settings.get("full", ())]
    return any(_number(path, ("", "oom")) >= int(least) for path, _, least in pairs)


def kills() -> int:
    """How many processes of this machine the kernel has taken for want of memory; 0 if unknown."""
    return _number(_HOST, ("oom_kill",))


def _number(path: str, names: tuple[str, ...]) -> int:
    try:
        with open(path) as file:
            text = file.read()
    except OSError:
        return 0
    for line in text.splitlines():
        name, _, value = line.rpartition(" ")
        if name in names and value.isdigit():
            return int(value)
    return 0


def remove_scratch(folder: str) -> None:
    """The bot's private folder, which it usually leaves empty."""
    try:
        os.rmdir(folder)
    except FileNotFoundError:
        pass
    except OSError:
        remove_tree(folder)


def remove_groups(folders: "Iterable[str]") -> None:
    """Empty by now, though the kernel may need a moment to notice."""
    for folder in folders:
        for _ in range(_MOST_TRIES):
            try:
                os.rmdir(folder)
            except FileNotFoundError:
                break
            except OSError:
                time.sleep(0.002)
            else:
                break


def claim(folders: "Iterable[str]") -> None:
    """As long as this process lives, these folders are in use: whoever sweeps leaves them alone."""
    import fcntl

    for folder in folders:
        try:
            fcntl.flock(os.open(folder, os.O_RDONLY), fcntl.LOCK_SH | fcntl.LOCK_NB)
        except OSError:
            pass
