"""`crosstown withdraw`, `disable`, `reinstate`, `add` and `annul`: what an organiser decides about a run."""

import getpass
import shlex
from contextlib import suppress
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from referee.cli.arguments import OUT, Out

if TYPE_CHECKING:
    from referee.cli.runs import Run
    from referee.process.sandbox import Profile
    from referee.tournament.folder import RunFolder

RunArgument = Annotated[str, typer.Argument(help="Tournament file, run folder or name of a run.", show_default=False)]
BotArgument = Annotated[str, typer.Argument(help="Name or entry id of a bot of the run.", show_default=False)]
ReasonOption = Annotated[str, typer.Option(help="Why, for the journal.")]


class ChoiceWord(StrEnum):
    """What becomes of the matches of a bot that leaves."""

    KEEP = "keep"
    ANNUL = "annul"
    LOSSES = "losses"


ChoiceOption = Annotated[
    ChoiceWord | None,
    typer.Option(
        help="Its matches: keep those played; annul all of them; or keep them and score the rest as losses. Default:"
        " keep. For a bot that is out already, this changes the choice.",
        show_default=False,
    ),
]


def withdraw(
    run: RunArgument,
    bot: BotArgument,
    choice: ChoiceOption = None,
    reason: ReasonOption = "",
    out: Out = OUT,
) -> None:
    """Take a bot out of a run: it plays no more. Stop the run first; the next `crosstown run` goes on without it."""
    _leave("withdrawn", run, bot, choice, reason, out)


def disable(
    run: RunArgument,
    bot: BotArgument,
    choice: ChoiceOption = None,
    reason: ReasonOption = "",
    out: Out = OUT,
) -> None:
    """As withdraw, for a bot that must not go on: the journal says so."""
    _leave("disabled", run, bot, choice, reason, out)


def reinstate(run: RunArgument, bot: BotArgument, reason: ReasonOption = "", out: Out = OUT) -> None:
    """Let a bot that was set aside, withdrawn or disabled play on as if it had not left. Stop the run first; the next
    `crosstown run` plays what the bot has missed.

    The breaker does not count the faults for which it set the bot aside. Where pairings depend on results, the rounds
    since the bot left are paired again, and only pairings that change are played again.
    """
    from referee.cli.output import print_text
    from referee.cli.runs import find_run
    from referee.tournament.controls import reinstate as reinstate_bot

    found = find_run(run, out)
    control = reinstate_bot(found.folder, bot, by=who(), reason=reason)
    print_text(f"'{control.name}' plays on as if it had not left at place {control.place}; go on with: {_go_on(found)}")


def _leave(
    kind: Literal["withdrawn", "disabled"], run: str, bot: str, choice: ChoiceWord | None, reason: str, out: Path
) -> None:
    from referee.cli.output import print_text
    from referee.cli.runs import find_run
    from referee.tournament.controls import leave, too_few
    from referee.tournament.journal import read_journal

    found = find_run(run, out)
    folder = found.folder
    control = leave(folder, kind, bot, None if choice is None else choice.value, by=who(), reason=reason)
    word = "set aside" if control.kind == "breaker" else kind
    what = f"'{control.name}' is {word} from place {control.place} on ({control.choice})"
    print_text(f"{what}; go on with: {_go_on(found)}")
    if missing := too_few(read_journal(folder.journal)):
        print_text(missing)


def add(
    run: RunArgument,
    bot: Annotated[
        Path | None, typer.Argument(help="The folder of the bot; none for a bot that dials in.", show_default=False)
    ] = None,
    name: Annotated[str | None, typer.Option(help="Its name; default: what it calls itself.")] = None,
    option: Annotated[
        list[str] | None,
        typer.Option("--option", metavar="NAME=VALUE", help="An option of the bot; repeatable.", show_default=False),
    ] = None,
    clock: Annotated[
        list[str] | None,
        typer.Option(
            "--clock", metavar="NAME=SECONDS", help="A time limit of its own, such as move_s=2.", show_default=False
        ),
    ] = None,
    limit: Annotated[
        list[str] | None,
        typer.Option(
            "--limit", metavar="NAME=NUMBER", help="A limit of its own, such as memory_mib=4096.", show_default=False
        ),
    ] = None,
    sandbox: Annotated[
        str | None, typer.Option(metavar="strict|plain", help="Default: as the run has it.", show_default=False)
    ] = None,
    network: Annotated[bool, typer.Option("--network", help="Grant it the network.")] = False,
    env: Annotated[
        list[str] | None,
        typer.Option("--env", help="Grant it this variable of your environment; repeatable.", show_default=False),
    ] = None,
    read: Annotated[
        list[Path] | None,
        typer.Option("--read", help="Grant it this file or folder to read; repeatable.", show_default=False),
    ] = None,
    device: Annotated[
        list[str] | None,
        typer.Option("--device", help="Grant it this device, such as /dev/nvidia0; repeatable.", show_default=False),
    ] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="A new process for each of its matches.")] = False,
    copies: Annotated[
        int | None, typer.Option(min=1, help="Processes of it at once, at most.", show_default=False)
    ] = None,
    remote: Annotated[bool, typer.Option("--remote", help="It dials in, as the file's [remote] says.")] = False,
    token_env: Annotated[
        str | None, typer.Option(help="--remote: the environment variable with its token.", show_default=False)
    ] = None,
    token_file: Annotated[
        Path | None, typer.Option(help="--remote: the file with its token.", show_default=False)
    ] = None,
    version: Annotated[
        str | None, typer.Option(help="--remote: the version it must say; default: any.", show_default=False)
    ] = None,
    reason: ReasonOption = "",
    out: Out = OUT,
) -> None:
    """Let a bot join a run that has begun; it is built first if need be. Stop the run before; the next `crosstown run`
    goes on with it.

    The options say what a [[bots]] of the tournament file may say of a bot.
    """
    from referee.cli.building import load_or_build
    from referee.cli.output import print_text
    from referee.cli.runs import find_run
    from referee.tournament.controls import add as add_bot
    from referee.tournament.controls import read_settings
    from referee.tournament.errors import UsageError

    found = find_run(run, out)
    if (bot is None) != remote:
        what = "no bot is named" if bot is None else "a bot that dials in has no folder here"
        raise UsageError(what, "give the folder of a bot, or --remote with --name and --token-env or --token-file")
    more: dict[str, Any] = {
        "options": _pairs("--option", option),
        "clock": _pairs("--clock", clock),
        "limits": _pairs("--limit", limit),
        "sandbox": sandbox,
        "network": network or None,
        "env": env,
        "read": [str(path.resolve()) for path in read or ()],
        "devices": device,
        "fresh": fresh or None,
        "copies": copies,
        "remote": remote or None,
        "token_env": token_env,
        "token_file": None if token_file is None else str(token_file.resolve()),
        "version": version,
    }
    more = {key: value for key, value in more.items() if value}
    if bot is not None:
        settings = read_settings(found.journal, {"path": str(bot.resolve()), **more})
        load_or_build(bot, settings.sandbox.profile or _profile(found))
    control = add_bot(found.folder, bot, name, more, by=who(), reason=reason)
    print_text(f"'{control.name}' joins from place {control.place} on; go on with: {_go_on(found)}")


def _pairs(flag: str, words: list[str] | None) -> dict[str, Any]:
    """NAME=VALUE by name; the values as a tournament file has them, and as texts where they are none of its."""
    import tomllib

    from referee.tournament.errors import UsageError

    found: dict[str, Any] = {}
    for word in words or ():
        name, equals, value = word.partition("=")
        if not equals or not name:
            raise UsageError(f"{flag} {word!r} is not NAME=VALUE", f"write, for instance, {flag} depth=3")
        try:
            found[name] = tomllib.loads(f"value = {value}")["value"]
        except tomllib.TOMLDecodeError:
            found[name] = value
    return found


def annul(
    run: RunArgument,
    match: Annotated[
        str, typer.Argument(help="The match id, or its beginning: see `crosstown matches list`.", show_default=False)
    ],
    replay: Annotated[bool, typer.Option("--replay", help="Play it again.")] = False,
    reason: ReasonOption = "",
    out: Out = OUT,
) -> None:
    """Take a match out of what counts; its record is kept aside. Stop the run first."""
    from referee.cli.output import print_text
    from referee.cli.runs import find_run
    from referee.tournament.controls import annul as annul_match

    found = find_run(run, out)
    match = _whole_id(found, match)
    annul_match(found.folder, match, replay=replay, by=who(), reason=reason)
    forget(found.folder, match)
    print_text(f"match {match} does not count{f'; {whether_again(found.folder, match)}' if replay else ''}")


def whether_again(folder: "RunFolder", match_id: str) -> str:
    """Whether a match that was taken back is played again, and by which command."""
    from referee.cli.runs import Run
    from referee.tournament.journal import read_journal

    run = Run(folder, read_journal(folder.journal))
    if gone := _gone_from(run, match_id):
        names = " and ".join(f"'{name}'" for name in gone)
        return f"it is not played again, for {names} {'is' if len(gone) == 1 else 'are'} out of the run"
    return f"it is played again by: {_go_on(run)}"


def _gone_from(run: "Run", match_id: str) -> list[str]:
    """Who is out of those that have a seat in a match without a record."""
    from leaderboard.index import load_index
    from referee.cli.run_account import Course
    from referee.tournament.formats.registry import UnknownFormat

    with suppress(UnknownFormat):
        course = Course(run.journal, load_index(run.folder.matches, run.folder.database).rows)
        for spec, state in course:
            if spec.match_id == match_id:
                return [seat.name for seat in course.walk.out(spec)] if state == "off" else []
    return []


def _whole_id(run: "Run", wanted: str) -> str:
    """The id that begins so, of a match that has a record or is named in the journal; `wanted` if there is none.
    UsageError if there are several."""
    from referee.tournament.errors import UsageError

    folder = run.folder
    known = {
        path.name.partition(".")[0] for place in (folder.matches, folder.void) if place.is_dir()
        for path in place.iterdir() if path.is_file()
    }  # fmt: skip
    known |= {str(line.fields.get(name, "")) for line in run.journal.events for name in ("match", "match_id")}
    found = sorted(match_id for match_id in known if match_id.startswith(wanted))
    if wanted in found or not found:
        return wanted
    if len(found) > 1:
        raise UsageError(f"{wanted!r} may be {' or '.join(found[:5])}", "give more of the id")
    return found[0]


def _profile(run: "Run") -> "Profile | None":
    """The sandbox that all bots of a run play under, if it says one."""
    profile = run.configuration.get("sandbox", {}).get("profile")
    return profile if profile in ("strict", "plain") else None


def forget(folder: "RunFolder", match_id: str) -> None:
    """Take the row of a match that counts no more out of the database. Where that does not work now, the next run of
    the command does it."""
    from leaderboard.store import Store, StoreError
    from referee.tournament.errors import TournamentError
    from referee.tournament.lock import RunLock

    if folder.database.exists():
        with suppress(StoreError, TournamentError), RunLock(folder.lock), Store(folder.database) as store:
            store.remove([match_id])


def _go_on(run: "Run") -> str:
    """The command that takes the run up again."""
    created = run.journal.created
    file = Path("FILE" if created is None else created.fields.get("file", "FILE"))
    out = run.folder.path.parent
    elsewhere = [] if out.resolve() == Path("runs").resolve() else ["--out", str(out)]
    here = Path.cwd()
    return shlex.join(
        ["crosstown", "run", str(file.relative_to(here) if file.is_relative_to(here) else file), *elsewhere]
    )


def who() -> str:
    """Who decides, for the journal."""
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # a user without a name
        return "organiser"
