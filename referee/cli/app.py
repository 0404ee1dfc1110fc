"""Puts the commands together, and handles every error in one place."""

import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer
from typer.main import get_command

from referee.cli.errors import ExitCode, report

if TYPE_CHECKING:
    from referee.tournament.early import Early


class Place(NamedTuple):
    """Where a command is defined, imported when it is run; `about` is the first sentence of its help."""

    module: str
    name: str
    about: str


COMMANDS = {
    "run": Place("run", "run", "Play a tournament, or continue it."),
    "match": Place("match", "match", "Play one match and keep its record."),
    "standings": Place(
        "standings",
        "standings",
        "Print the leaderboard of a run, also while it is being played; or one leaderboard over several runs.",
    ),
    "pairings": Place(
        "pairings",
        "pairings",
        "Print the tables of a round, with the results so far, of a format that pairs in rounds.",
    ),
    "report": Place(
        "run_commands",
        "report",
        "Write one HTML page about a run: tables, plots, faults and links to records, or with --site to replays.",
    ),
    "rebuild": Place("run_commands", "rebuild", "Make the database of a run again from its records."),
    "pack": Place(
        "run_commands",
        "pack",
        "Pack the records of settled matches into archives: a few files for each day instead of one for each match.",
    ),
    "sign": Place("run_commands", "sign", "Sign the journal of a run with your Ed25519 key, and print the public key."),
    "withdraw": Place("run_commands", "withdraw", "Remove a bot from a run: it plays no further matches."),
    "disable": Place("run_commands", "disable", "Remove a bot that must not play on."),
    "reinstate": Place(
        "run_commands",
        "reinstate",
        "Let a bot that was withdrawn, disabled or disqualified play on as if it had not left.",
    ),
    "add": Place("run_commands", "add", "Add a bot to a run that has begun."),
    "annul": Place("run_commands", "annul", "Exclude a match from all tables; its record is kept."),
    "pause": Place(
        "run_commands", "pause", "Begin no further matches in a run that is being played, until `crosstown resume`."
    ),
    "resume": Place("run_commands", "resume", "End the pause of a run."),
    "extend": Place("run_commands", "extend", "Make the schedule of a run longer."),
    "compare": Place(
        "compare", "compare", "Play bot A against bot B until a sequential test accepts or rejects that A is better."
    ),
    "certificate": Place(
        "run_commands",
        "certificate",
        "Make the certificate for the remote bots of a tournament before it runs, and print what their authors set.",
    ),
    "doctor": Place(
        "doctor", "doctor", "Print what this machine offers for running bots: sandbox, limits, disk space."
    ),
    "web": Place("web", "web", "Show runs, tables and matches in a browser, also while they are being played."),
    "publish": Place(
        "publish", "publish", "Write runs as a static site: tables, brackets, plots, bots, and a replay of each match."
    ),
    "export": Place(
        "export",
        "export",
        "Write the matches of a run that count into one file: all, or those that several options select together.",
    ),
    "serve": Place(
        "serve",
        "serve",
        "Run a ladder: authors hand in bots in a browser or by command, and matches go on as long as"
        " they improve the ratings.",
    ),
    "login": Place("submit", "login", "Sign in to a ladder: keep a token for `crosstown submit`."),
    "submit": Place("submit", "submit", "Hand in a bot to a ladder."),
    "docs": Place("docs", "docs", "Print a page of the documentation."),
    "bridge": Place("bridge", "bridge", "Connect COMMAND to the referee as a bot."),
    "bots": Place("bots", "app", "Make, build, list and check bots."),
    "matches": Place("matches", "app", "List, show, verify, export and rejudge match records."),
    "games": Place("games", "app", "List, show and check games."),
    "ladder": Place(
        "ladder",
        "app",
        "Invite, approve and ban people, steer a ladder, hand in the bots of a class, back it up, and end its season.",
    ),
    "cluster": Place("cluster", "app", "Play tournaments on many machines with Dask."),
}


def make_app(words: Sequence[str] | None = None) -> typer.Typer:
    """The whole command line; or as much of it as these words need, which is quicker: the command that they name, or
    the names and summaries of all if they name none."""
    app = typer.Typer(
        name="crosstown",
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
    )
    app.callback()(_root)
    named = next((word for word in words or () if not word.startswith("-")), "")
    is_wrong = named != "" and named not in COMMANDS  # then the commands inside of groups are compared with it
    for name, place in COMMANDS.items():
        if words is None or name == named or is_wrong:
            _add(app, name, getattr(import_module(f"referee.cli.{place.module}"), place.name))
        elif not named:
            app.command(name, help=place.about)(_summary)
    return app


WORDS_AS_THEY_ARE = {"ignore_unknown_options": True, "allow_interspersed_args": False}


def _add(app: typer.Typer, name: str, command: Any) -> None:
    if isinstance(command, typer.Typer):
        app.add_typer(command, name=name)
    else:
        app.command(name, context_settings=WORDS_AS_THEY_ARE if name == "bridge" else None)(command)


def _summary() -> None:
    """Stands for a command that is only listed."""


GROUPS = ("bots", "cluster", "games", "ladder", "matches")
"""Commands that only hold others."""


def run_command(words: Sequence[str], early: "Early | None" = None) -> int:
    """Run one command line and return its exit code. Errors are printed, tracebacks only with --debug. `early`: what
    has been started for `crosstown run` already."""
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
        command = get_command(make_app(words))
        with command.make_context("crosstown", list(words), obj=early) as context:
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
    """Flush now, so that a reader who has left (`| head`) does not turn into a message and another exit code. What
    could not be printed for another reason, such as a full disk, is no success."""
    from referee.cli.output import QuietStream, output_lost

    for stream in (sys.stdout, sys.stderr):
        QuietStream(stream).flush()
    lost, QuietStream.lost = QuietStream.lost, None
    return int(report(output_lost(lost))) if lost is not None and code == ExitCode.OK else code
