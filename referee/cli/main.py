"""The `crosstown` command: puts the commands together and handles every error in one place."""

import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import Annotated

import typer
from typer.main import get_command

from referee.cli import bots, bridge, cluster, games, ladder, matches, run_commands
from referee.cli.compare import compare
from referee.cli.docs import docs
from referee.cli.doctor import doctor
from referee.cli.errors import ExitCode, report
from referee.cli.match import match
from referee.cli.publish import publish
from referee.cli.run import run
from referee.cli.serve import serve
from referee.cli.standings import standings
from referee.cli.submit import login, submit
from referee.cli.web import web


def make_app() -> typer.Typer:
    """The whole command line."""
    app = typer.Typer(
        name="crosstown",
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
    )
    app.callback()(_root)
    app.command("run")(run)
    app.command("match")(match)
    app.command("standings")(standings)
    app.command("report")(run_commands.report)
    app.command("rebuild")(run_commands.rebuild)
    app.command("pack")(run_commands.pack)
    app.command("sign")(run_commands.sign)
    app.command("withdraw")(run_commands.withdraw)
    app.command("disable")(run_commands.disable)
    app.command("reinstate")(run_commands.reinstate)
    app.command("add")(run_commands.add)
    app.command("annul")(run_commands.annul)
    app.command("pause")(run_commands.pause)
    app.command("resume")(run_commands.resume)
    app.command("extend")(run_commands.extend)
    app.command("compare")(compare)
    app.command("certificate")(run_commands.certificate)
    app.command("doctor")(doctor)
    app.command("web")(web)
    app.command("publish")(publish)
    app.command("serve")(serve)
    app.command("login")(login)
    app.command("submit")(submit)
    app.command("docs")(docs)
    app.command("bridge", context_settings=bridge.CONTEXT)(bridge.bridge)
    app.add_typer(bots.app, name="bots")
    app.add_typer(matches.app, name="matches")
    app.add_typer(games.app, name="games")
    app.add_typer(ladder.app, name="ladder")
    app.add_typer(cluster.app, name="cluster")
    return app


def main(words: Sequence[str] | None = None) -> None:
    """Entry point of the console script. Exit codes: see `referee.cli.errors`."""
    if words is None:
        _open_streams()
        _use_utf8()
    sys.exit(run_command(sys.argv[1:] if words is None else words))


GROUPS = ("bots", "cluster", "games", "ladder", "matches")
"""Commands that only hold others."""


def run_command(words: Sequence[str]) -> int:
    """Run one command line and return its exit code. Errors are printed, tracebacks only with --debug."""
    if not words or (len(words) == 1 and words[0] in GROUPS):
        words = [*words, "--help"]
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError, ValueError, OSError):
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    debug = "--debug" in words
    try:
        _check_working_folder()
        _check_not_empty(words)
        # Not through typer's own `main`, which turns Ctrl-C into a bare exit code.
        command = get_command(make_app())
        with command.make_context("crosstown", list(words)) as context:
            status = command.invoke(context)
        code = status if isinstance(status, int) else ExitCode.OK
    except typer.Exit as end:
        code = end.exit_code
    except (Exception, KeyboardInterrupt) as error:
        code = report(error, debug=debug, command=_command(words))
    return _end_output(int(code))


def _check_working_folder() -> None:
    """UsageError where the folder that the command was started in is gone: every relative path would fail."""
    try:
        os.getcwd()  # noqa: PTH109 - its error is all that is wanted
    except OSError:
        from referee.errors import UsageError

        raise UsageError("the working directory is gone", "change to a folder that is there: cd FOLDER") from None


def _check_not_empty(words: Sequence[str]) -> None:
    """UsageError for an empty word, such as that of a shell's variable that is not set: as a path it would be the
    working directory, as a name it would match everything. The bridge hands its words on as they are."""
    if words[0] == "bridge":
        return
    for place, word in enumerate(words):
        option, equals, value = word.partition("=")
        if word and not (option.startswith("--") and equals and not value):
            continue
        before = words[place - 1] if place else ""
        name = option or (before if before.startswith("-") and before != "--" else "an argument")
        from referee.errors import UsageError

        raise UsageError(f"{name} is empty", "give it a value, or leave it out")


def _open_streams() -> None:
    """Lay /dev/null in place of standard streams that are closed: else the next file that is opened, such as a journal,
    has the number of one, and what is printed goes into that file."""
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:
            nowhere = os.open(os.devnull, os.O_RDWR)  # with the lowest number that is free, which is the stream's
            os.set_inheritable(nowhere, True)
            setattr(sys, name, os.fdopen(nowhere, "r" if name == "stdin" else "w", encoding="utf-8"))


def _use_utf8() -> None:
    """Begin again in Python's UTF-8 mode where the locale is ASCII: else every path with another letter is printed so
    that it cannot be copied, and bots' output is not read."""
    if sys.getfilesystemencoding() == "ascii" and os.environ.get("PYTHONUTF8") != "1":
        os.environ["PYTHONUTF8"] = "1"  # for the workers, too
        os.execv(sys.executable, [sys.executable, "-X", "utf8", *sys.orig_argv[1:]])  # noqa: S606


def _command(words: Sequence[str]) -> str:
    """The command in a command line, without what it is given."""
    names = [word for word in words if not word.startswith("-")]
    return " ".join(["crosstown", *names[: 2 if names and names[0] in GROUPS else 1]])


def _show_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        from referee.cli.output import print_text

        print_text(f"crosstown {version('crosstown-arena')}")
        raise typer.Exit


def _root(
    debug: Annotated[bool, typer.Option("--debug", help="Print the traceback of an error.")] = False,
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and exit.", callback=_show_version, is_eager=True)
    ] = False,
) -> None:
    """Run tournaments between bots that play board games.

    Exit codes: 0 success; 1 a check failed or a bot was disqualified; 2 wrong usage or input; 3 the machine (disk,
    socket, lock) stopped the command; 4 matches stayed void and the organiser has to decide; 70 an error in
    Crosstown; 130 interrupted.

    Example: crosstown run tournaments/first.toml
    """


def _end_output(code: int) -> int:
    """Flush now, so that a reader who has left (`| head`) does not turn into a message and another exit code."""
    from referee.cli.output import QuietStream

    for stream in (sys.stdout, sys.stderr):
        QuietStream(stream).flush()
    return code


if __name__ == "__main__":
    main()
