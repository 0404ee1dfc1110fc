"""The `crosstown` command. What a run needs first is started here, before the command line is imported."""

import gc
import os
import sys
from collections.abc import Sequence
from contextlib import ExitStack

_NOT_EARLY = ("--dry-run", "--executor", "--help", "--pin", "--scheduler")
"""Options of `crosstown run` with which it plays nothing, or plays elsewhere or on certain cores."""

_READ_MUCH = ("export", "matches", "pairings", "publish", "rebuild", "report", "standings")
"""Commands that read much, keep it, and end. With the usual threshold of 700 new values, the garbage collector looks
through all of it again and again, which takes a quarter of their time."""

_NEW_VALUES = 100_000


def main() -> None:
    """Entry point of the console script. Exit codes: see `referee.cli.errors`."""
    _open_streams()
    _use_utf8()
    try:
        code = _run(sys.argv[1:])
    except KeyboardInterrupt as error:  # before the command handles its errors itself, or after that
        from referee.cli.errors import report

        code = report(error)
    sys.exit(code)


def _run(words: Sequence[str]) -> int:
    if _command(words) in _READ_MUCH:
        gc.set_threshold(_NEW_VALUES)
    with ExitStack() as stack:
        early = None
        if begins_early(words):
            gc.disable()  # until all is imported and read: nearly all of that stays

            from referee.tournament.early import early_start

            early = stack.enter_context(early_start())

        from referee.cli.app import run_command

        return run_command(words, early)


def begins_early(words: Sequence[str]) -> bool:
    """Whether this is `crosstown run`, and matches are to be played by workers as they are usually started."""
    return _command(words) == "run" and not any(word.partition("=")[0] in _NOT_EARLY for word in words)


def _command(words: Sequence[str]) -> str:
    return next((word for word in words if not word.startswith("-")), "")


def _open_streams() -> None:
    """Lay /dev/null in place of standard streams that are closed: else the next file that is opened, such as a journal,
    has the number of one, and what is printed goes into that file."""
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:
            nowhere = os.open(os.devnull, os.O_RDWR)  # with the lowest number that is free, which is the stream's
            os.set_inheritable(nowhere, True)
            setattr(sys, name, os.fdopen(nowhere, "r" if name == "stdin" else "w", encoding="utf-8"))


def _use_utf8() -> None:
    """Begin again in Python's UTF-8 mode where the locale is ASCII, Latin-1 or the like: else every path with another
    letter is printed so that it cannot be copied or is not found, and what bots write is not read, or garbled."""
    if sys.getfilesystemencoding() != "utf-8" and os.environ.get("PYTHONUTF8") != "1":
        os.environ["PYTHONUTF8"] = "1"  # for the workers, too
        os.execv(sys.executable, [sys.executable, "-X", "utf8", *sys.orig_argv[1:]])  # noqa: S606


if __name__ == "__main__":
    main()
