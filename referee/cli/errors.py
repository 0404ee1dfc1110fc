"""Exit codes, and how every error reaches the user: one line on what is wrong, one on what to do.

0    all is well
1    a check failed: a record does not verify, or an entry was set aside and its matches were not played
2    bad usage or input: an option, a file, a bot, a game, a run that does not exist
3    the platform does not let it go on: disk, socket, lock, processes
4    matches were void three times and are left to the organiser; the same command tries them again
70   an error in Crosstown itself
130  interrupted (Ctrl-C, or a request to end); the same command goes on where it stopped
"""

import errno
import re
import sys
import traceback
from dataclasses import dataclass
from difflib import get_close_matches
from enum import IntEnum
from typing import Any, TextIO

from referee.texts import one_line


class ExitCode(IntEnum):
    """What the command tells the shell."""

    OK = 0
    FAILED = 1
    USAGE = 2
    PLATFORM = 3
    ORGANISER = 4
    BUG = 70
    INTERRUPTED = 130


@dataclass(frozen=True, slots=True)
class Explained:
    """An error as the user gets it."""

    what: str
    next_step: str
    code: ExitCode


_PLATFORM_ERRNOS = frozenset(
    {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN}
)
_PATH_ERRNOS = frozenset(
    {errno.ENOENT, errno.EISDIR, errno.ENOTDIR, errno.ENAMETOOLONG, errno.ELOOP, errno.ENXIO, errno.EEXIST, errno.EBUSY}
)
_LOOP = "Symlink loop from "
_LONGEST = 1000
"""Characters of an error. Of a longer one as many of its begin and of its end are shown as `_EACH` says."""

_EACH = 300

_DEBUG_STEP = "run it again as 'crosstown --debug ...' for the details, and report them"


def explain(error: BaseException, command: str = "crosstown") -> Explained:
    """What an error of a command means. Whatever is not expected is a bug of ours."""
    if hasattr(error, "next_step"):  # all errors of ours that a person may meet have it
        return Explained(str(error), error.next_step, _code(error))
    if hasattr(error, "format_message"):  # typer's own errors, whichever module they live in
        what = _no_number(error) or error.format_message().replace(": Value error, ", ": ")  # as its types say it
        what = re.sub(r"^(No such command '.*?'\.) Did you mean .*", r"\1", what)  # the next line says it better
        return Explained(what, _help(error, what, command), ExitCode.USAGE)
    if type(error).__name__ == "Abort" and not isinstance(error.__context__, KeyboardInterrupt):  # of typer's questions
        return Explained(
            "the question was not answered: the input has ended", "answer it in a terminal", ExitCode.USAGE
        )
    if isinstance(error, KeyboardInterrupt) or type(error).__name__ == "Abort":
        return Explained("interrupted", "run the same command again to continue", ExitCode.INTERRUPTED)
    if isinstance(error, RuntimeError) and str(error).startswith(_LOOP):  # as Python says it before 3.13
        return Explained(f"{str(error).removeprefix(_LOOP)} links to itself", "correct or remove it", ExitCode.USAGE)
    if isinstance(error, OSError):
        return _system(error)
    if isinstance(error, MemoryError):
        step = "free some memory, or raise the limit of this process, then run the same command again"
        return Explained("the system refuses: there is not enough memory", step, ExitCode.PLATFORM)
    return Explained(f"unexpected: {type(error).__name__}: {one_line(error)}", _DEBUG_STEP, ExitCode.BUG)


def report(
    error: BaseException, stream: TextIO | None = None, *, debug: bool = False, command: str = "crosstown"
) -> ExitCode:
    """Print an error of a command, with its traceback only if `debug`, and say with which code to exit."""
    from referee.errors import without_middle  # only here, as in `_code`

    stream = stream or sys.stderr
    explained = explain(error, command)
    try:
        if debug:
            traceback.print_exception(error, file=stream)
        print(f"error: {one_line(without_middle(explained.what, _LONGEST, _EACH, _EACH))}", file=stream)
        if tail := getattr(error, "tail", ""):  # of a failed build
            print("\n".join(f"    {one_line(line)}" for line in tail.splitlines()), file=stream)
        print(f"next: {one_line(without_middle(explained.next_step, _LONGEST, _EACH, _EACH))}", file=stream)
        stream.flush()
    except OSError:
        pass  # nobody listens
    return explained.code


def _code(error: BaseException) -> ExitCode:
    # Imported here: most commands end without an error, and should not pay for this.
    from referee.errors import BusyError, JournalError, PlatformError
    from referee.folders import FolderError
    from referee.process.build import BuildError, NoRoomError
    from referee.wire.public_address import ListenError

    if isinstance(error, BuildError) and not isinstance(error, NoRoomError):
        return ExitCode.FAILED
    platform = isinstance(error, BusyError | NoRoomError | JournalError | PlatformError | FolderError | ListenError)
    # Importing the databases for their errors alone would cost 100 ms.
    unavailable = getattr(error, "refusal", "") == "unavailable"  # of a ladder's database: full, or held
    return ExitCode.PLATFORM if platform or unavailable or type(error).__name__ == "StoreError" else ExitCode.USAGE


def _system(error: OSError) -> Explained:
    where = f" {error.filename}:" if error.filename else ""
    if error.errno in _PLATFORM_ERRNOS:
        step = "free what is short (disk, memory, open files) or raise its limit, then run the same command again"
        return Explained(f"the system refuses:{where} {error.strerror}", step, ExitCode.PLATFORM)
    if error.errno == errno.EROFS:
        step = "choose another folder: nothing can be written in this one"
        return Explained(f"the system refuses:{where} {error.strerror}", step, ExitCode.PLATFORM)
    if error.errno in (errno.EACCES, errno.EPERM):
        step = "check the path and its rights, or choose another folder"
        return Explained(f"{where.strip()} {error.strerror}".strip(), step, ExitCode.USAGE)
    if error.errno in _PATH_ERRNOS:
        return Explained(f"{where.strip()} {error.strerror}".strip(), "check the path and its rights", ExitCode.USAGE)
    return Explained(f"unexpected: {type(error).__name__}: {one_line(error)}", _DEBUG_STEP, ExitCode.BUG)


def _no_number(error: BaseException) -> str:
    """What is wrong with the number of an option, with the number; '' if something else is."""
    refusals = getattr(error.__cause__, "errors", None)
    parameter = getattr(error, "param", None)
    if refusals is None or parameter is None:
        return ""
    first = refusals()[0]
    given, bounds = str(first["input"]), first.get("ctx", {})
    if first["type"].startswith("int_"):
        wanted = "must be a whole number"
    elif first["type"].startswith("float_") or given.strip().lower().lstrip("+-") == "nan":
        wanted = "must be a number"
    elif "ge" in bounds:
        wanted = f"must be at least {bounds['ge']:.12g}"
    elif "le" in bounds:
        wanted = f"must be at most {bounds['le']:.12g}"
    else:
        return ""
    return f"{parameter.opts[0]} {wanted}, not {given!r}"


def _help(error: BaseException, what: str, command: str) -> str:
    context = getattr(error, "ctx", None)
    if context is None:  # for one, that an option lacks a value
        return f"see: {command} --help"
    unknown = re.fullmatch(r"No such command '(.*)'\.", what)
    near = _near(context.command, unknown[1]) if unknown else []
    if near:
        return f"did you mean: {' or '.join(f'{context.command_path} {words}' for words in near)}"
    return f"see: {context.command_path} --help"


def _near(group: Any, wanted: str) -> list[str]:
    """The commands of a group, and of the groups in it, that somebody may have meant."""
    inside = [
        f"{name} {deeper}" for name, command in group.commands.items() for deeper in getattr(command, "commands", ())
    ]
    same = [words for words in inside if words.split()[1] == wanted]
    return same or get_close_matches(wanted, group.commands, n=1)
