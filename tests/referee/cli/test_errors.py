"""Every error is two lines and an exit code; a traceback only with --debug."""

import errno
import io
import os
from pathlib import Path

import pytest
import typer

from leaderboard.store import StoreError
from referee.cli.errors import ExitCode, explain, report
from referee.errors import (
    BusyError,
    ChangedError,
    ConfigError,
    JournalError,
    PlatformError,
    UsageError,
)
from referee.games.api import OptionError
from referee.games.registry import UnknownGame
from referee.process.entry import EntryError, ManifestError
from referee.process.manifest import BotNameError
from referee.record import RecordError

FILE = Path("cup.toml")


@pytest.mark.parametrize(
    ("error", "what", "next_step", "code"),
    [
        (ConfigError(FILE, 3, "'seed' is odd", "make it even"), "cup.toml:3: 'seed' is odd", "make it even", 2),
        (ChangedError("changed", "undo it", ()), "changed", "undo it", 2),
        (UsageError("two formats", "give one"), "two formats", "give one", 2),
        (BusyError("busy", "wait"), "busy", "wait", 3),
        (JournalError("damaged", "restore"), "damaged", "restore", 3),
        (PlatformError("full", "free some"), "full", "free some", 3),
        (ManifestError("bot.toml:1: bad", "correct it"), "bot.toml:1: bad", "correct it", 2),
        (EntryError("links away", "copy it in"), "links away", "copy it in", 2),
        (BotNameError("too long", "choose a shorter one"), "too long", "choose a shorter one", 2),
        (UnknownGame("unknown game 'x'", "installed: toy"), "unknown game 'x'", "installed: toy", 2),
        (OptionError("no option 'x'"), "no option 'x'", "see: crosstown games show GAME", 2),
        (RecordError("cannot read it"), "cannot read it", "check the path, or see: crosstown matches list", 2),
        (StoreError("database is locked"), "database is locked", "the records have everything", 3),
        (KeyboardInterrupt(), "interrupted", "run the same command again to continue", 130),
        (OSError(errno.ENOSPC, "No space left on device", "runs"), "runs: No space left on device", "free what", 3),
        (OSError(errno.EFBIG, "File too large", "runs"), "runs: File too large", "raise its limit", 3),
        (OSError(errno.ELOOP, "Too many levels of symbolic links", "x"), "x: Too many levels", "check the path", 2),
        (OSError(errno.ENXIO, "No such device or address", "x"), "x: No such device", "check the path", 2),
        (OSError(errno.EROFS, "Read-only file system", "x"), "x: Read-only file system", "choose another folder", 3),
        (OSError(errno.EACCES, "Permission denied", "runs"), "runs: Permission denied", "or choose another folder", 2),
        (MemoryError(), "there is not enough memory", "free some memory", 3),
        (typer.Abort(), "the input has ended", "answer it in a terminal", 2),
        (RuntimeError("Symlink loop from 'x'"), "'x' links to itself", "correct or remove it", 2),
        (KeyError("x"), "unexpected: KeyError: 'x'", "--debug", 70),
        (OSError("strange"), "unexpected: OSError: strange", "--debug", 70),
    ],
)
def test_what_an_error_becomes(error, what, next_step, code):
    explained = explain(error)
    assert what in explained.what
    assert next_step in explained.next_step
    assert explained.code == code


def test_the_reason_stands_behind_what_somebody_typed_however_long_that_is():
    stream = io.StringIO()
    report(UsageError(f"bot.toml: '{'x' * 3000}' is no game", "correct it"), stream)
    first, second = stream.getvalue().splitlines()
    assert first.startswith("error: bot.toml: 'xxx")
    assert first.endswith("xxx' is no game")
    assert len(first) < 700
    assert second == "next: correct it"


@pytest.mark.parametrize(
    ("words", "what", "step"),
    [
        (("verify",), "No such command 'verify'.", "did you mean: crosstown matches verify"),
        (("rejudge",), "No such command 'rejudge'.", "did you mean: crosstown matches rejudge"),
        (("stand",), "No such command 'stand'.", "did you mean: crosstown standings"),
        (("matches", "verfy"), "No such command 'verfy'.", "did you mean: crosstown matches verify"),
        (("zzz",), "No such command 'zzz'.", "see: crosstown --help"),
        (("compare", "a", "b", "--elo", "3"), "Option '--elo' requires 2 arguments.", "see: crosstown compare --help"),
        (("bots", "new", "x", "--in"), "Option '--in' requires an argument.", "see: crosstown bots new --help"),
        (("withdraw", "a", "b", "--choice", "foo"), "Invalid value for '--choice': 'foo' is not one of 'keep', 'annul'"
         ", 'losses'.", "see: crosstown withdraw --help"),
    ],
)  # fmt: skip
def test_a_command_line_that_is_wrong_leads_to_the_right_one(crosstown, words, what, step):
    printed = crosstown(*words)
    assert printed.code == 2
    assert printed.err.splitlines() == [f"error: {what}", f"next: {step}"]


def test_options_with_two_numbers_say_which_is_which(crosstown):
    printed = crosstown("compare", "--help")
    assert "--elo LOW HIGH" in printed.out
    assert "--scores LOW HIGH" in printed.out


def test_an_error_is_two_lines_whatever_is_in_it():
    stream = io.StringIO()
    code = report(ConfigError(FILE, 1, "bad\nname \x1b[31m\u202e", "give\tanother"), stream)
    assert code is ExitCode.USAGE
    assert stream.getvalue() == "error: cup.toml:1: bad\\nname \\x1b[31m\\u202e\nnext: give\\tanother\n"


def test_a_traceback_comes_only_with_debug():
    plain, full = io.StringIO(), io.StringIO()
    try:
        raise KeyError("x")
    except KeyError as error:
        report(error, plain)
        report(error, full, debug=True)
    assert "Traceback" not in plain.getvalue()
    assert "Traceback" in full.getvalue()


def test_nobody_listening_is_no_further_error():
    reading, writing = os.pipe()
    os.close(reading)
    stream = os.fdopen(writing, "w", buffering=1)
    assert report(KeyError("x"), stream) is ExitCode.BUG
    with pytest.raises(BrokenPipeError):
        stream.close()
