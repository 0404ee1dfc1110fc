"""Whose doing it is that a bot could not be started: its own, or that of the machine, which says nothing about it."""

import errno
import os

_SHORT_OF = frozenset(
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

_OF_THE_BOT = frozenset({errno.E2BIG, errno.EACCES, errno.ELOOP, errno.ENAMETOOLONG, errno.ENOTDIR})
"""What comes of its options, its command line, and the paths that its folder names."""

_SHORT_OF_TO_EXECUTE = _SHORT_OF - {errno.EIO}
"""The same at the last step: EIO the kernel says as well of a program whose file is cut off."""

_ABOUT_THE_BOT = ("bwrap: execvp ", "bwrap: Can't chdir to ")
"""What bubblewrap does last, with what the bot brought along; all before that is made of what we give it."""


def error_is_ours(error: OSError | ValueError) -> bool:
    """Of what was raised while its command line was made, or its guardian executed."""
    return isinstance(error, OSError) and error.errno not in _OF_THE_BOT


def error_words(error: OSError | ValueError) -> str:
    """For a sentence, without numbers."""
    if not isinstance(error, OSError):
        return str(error)
    if error.errno == errno.E2BIG:
        return f"its command and its options are too long for this system ({error.strerror})"
    return str(error) if error.strerror is None else ": ".join(map(str, filter(None, (error.strerror, error.filename))))


def step_is_ours(step: str, number: int) -> bool:
    """Of a step between fork and exec, and its errno: only the last two are about what the bot brought along."""
    return step not in ("folder", "exec") or number in (_SHORT_OF_TO_EXECUTE if step == "exec" else _SHORT_OF)


def sandbox_words(said: str) -> str:
    """What bubblewrap printed. All of it: a program may have a name of several lines."""
    at = said.find("bwrap: ")
    return said[at:].strip() if at >= 0 else said.strip()


def sandbox_is_ours(said: str) -> bool:
    """Of the words of bubblewrap, which name the program it could not execute, or what failed before."""
    if not said.startswith(_ABOUT_THE_BOT):
        return said.startswith("bwrap: ")
    short_of = _SHORT_OF_TO_EXECUTE if said.startswith(_ABOUT_THE_BOT[0]) else _SHORT_OF
    return said.endswith(tuple(f": {os.strerror(number)}" for number in short_of))
