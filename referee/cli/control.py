"""`crosstown withdraw`, `disable`, `reinstate`, `add` and `annul`: what an organiser decides about a run."""

import getpass
import shlex
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from referee.cli.arguments import OUT, Out

if TYPE_CHECKING:
    from referee.process.sandbox import Profile
    from referee.run.run import Run

RunArgument = Annotated[
    str, typer.Argument(metavar="RUN", help="Tournament file, run folder or name of a run.", show_default=False)
]
BotArgument = Annotated[
    str, typer.Argument(metavar="BOT", help="Name or entry id of a bot in the run.", show_default=False)
]
ReasonOption = Annotated[str, typer.Option(metavar="TEXT", help="Reason, which is written to the journal.")]


class ChoiceWord(StrEnum):
    """What becomes of the matches of a bot that leaves."""

    KEEP = "keep"
    ANNUL = "annul"
    LOSSES = "losses"


ChoiceOption = Annotated[
    ChoiceWord | None,
    typer.Option(
        metavar="keep|annul|losses",
        help="How the matches of the bot count. keep (default): those it has played count. annul: none "
        "counts. losses: those it has played count, and those it misses are scored as losses. If the "
        "bot has already left, this changes the earlier choice.",
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
    """Remove a bot from a run: it plays no further matches. Stop the run first; the next `crosstown run` continues
    without the bot.

    Example: crosstown withdraw spring Ada --choice annul
    """
    _leave("withdrawn", run, bot, choice, reason, out)


def disable(
    run: RunArgument,
    bot: BotArgument,
    choice: ChoiceOption = None,
    reason: ReasonOption = "",
    out: Out = OUT,
) -> None:
    """Remove a bot that must not play on. This works like withdraw, but the journal says that the bot was disabled.

    Example: crosstown disable spring Ada --reason "breaks the rules"
    """
    _leave("disabled", run, bot, choice, reason, out)


def reinstate(run: RunArgument, bot: BotArgument, reason: ReasonOption = "", out: Out = OUT) -> None:
    """Let a bot that was withdrawn, disabled or disqualified play on as if it had not left.

    Stop the run first; the next `crosstown run` plays the matches that the bot missed.

    The circuit breaker does not count the faults for which it disqualified the bot. If pairings depend on results,
    the rounds since the bot left are paired again, and only pairings that change are played again.

    Example: crosstown reinstate spring Ada
    """
    from referee.cli.output import print_text
    from referee.cli.runs import find_run

    found = find_run(run, out)
    control = found.reinstate(bot, by=who(), reason=reason)
    print_text(
        f"'{control.name}' plays on as if it had not left at place {control.place}; continue with: {_go_on(found)}"
    )


def _leave(
    kind: Literal["withdrawn", "disabled"], run: str, bot: str, choice: ChoiceWord | None, reason: str, out: Path
) -> None:
    from referee.cli.output import print_text
    from referee.cli.runs import find_run

    found = find_run(run, out)
    control = found.leave(kind, bot, None if choice is None else choice.value, by=who(), reason=reason)
    word = "disqualified" if control.kind == "breaker" else kind
    what = f"'{control.name}' is {word} from place {control.place} on ({control.choice})"
    print_text(f"{what}; continue with: {_go_on(found)}")
    if missing := found.too_few():
        print_text(missing)


def add(
    run: RunArgument,
    bot: Annotated[
        Path | None,
        typer.Argument(
            metavar="[FOLDER]", help="Folder of the bot. Leave it out for a remote bot.", show_default=False
        ),
    ] = None,
    name: Annotated[
        str | None, typer.Option(metavar="NAME", help="Name of the bot in this run. Default: the name in its bot.toml.")
    ] = None,
    option: Annotated[
        list[str] | None,
        typer.Option(
            "--option",
            metavar="NAME=VALUE",
            help="Option of the bot, such as depth=3. Can be repeated.",
            show_default=False,
        ),
    ] = None,
    clock: Annotated[
        list[str] | None,
        typer.Option(
            "--clock",
            metavar="NAME=SECONDS",
            help="Time limit of this bot, such as move_s=2. Can be repeated.",
            show_default=False,
        ),
    ] = None,
    limit: Annotated[
        list[str] | None,
        typer.Option(
            "--limit",
            metavar="NAME=NUMBER",
            help="Resource limit of this bot, such as memory_mib=4096. Can be repeated.",
            show_default=False,
        ),
    ] = None,
    sandbox: Annotated[
        str | None,
        typer.Option(
            metavar="strict|plain",
            help="Run the bot with (strict) or without (plain) the sandbox. Default: like the other bots of the run.",
            show_default=False,
        ),
    ] = None,
    network: Annotated[bool, typer.Option("--network", help="Let the bot use the network.")] = False,
    env: Annotated[
        list[str] | None,
        typer.Option(
            "--env",
            metavar="NAME",
            help="Pass this environment variable to the bot, such as OPENAI_API_KEY. Can be repeated.",
            show_default=False,
        ),
    ] = None,
    read: Annotated[
        list[Path] | None,
        typer.Option(
            "--read",
            metavar="PATH",
            help="Let the bot read this file or folder, such as /data/weights. Can be repeated.",
            show_default=False,
        ),
    ] = None,
    device: Annotated[
        list[str] | None,
        typer.Option(
            "--device",
            metavar="PATH",
            help="Let the bot use this device, such as /dev/nvidia0. Can be repeated.",
            show_default=False,
        ),
    ] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Start a new process for each match of the bot.")] = False,
    copies: Annotated[
        int | None,
        typer.Option(
            metavar="NUMBER",
            help="Maximum number of processes of the bot at once.",
            min=1,
            max=4096,
            show_default=False,
        ),
    ] = None,
    remote: Annotated[
        bool,
        typer.Option(
            "--remote", help="The bot connects from another machine, as [remote] in the tournament file says."
        ),
    ] = False,
    token_env: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Environment variable that has the token of the remote bot, such as ADA_TOKEN.",
            show_default=False,
        ),
    ] = None,
    token_file: Annotated[
        Path | None, typer.Option(metavar="FILE", help="File that has the token of the remote bot.", show_default=False)
    ] = None,
    version: Annotated[
        str | None,
        typer.Option(
            metavar="VERSION", help="Version that the remote bot must send. Default: any.", show_default=False
        ),
    ] = None,
    reason: ReasonOption = "",
    out: Out = OUT,
) -> None:
    """Add a bot to a run that has begun. The bot is built first if necessary. Stop the run before; the next `crosstown
    run` includes the bot.

    The options correspond to the keys of [[bots]] in a tournament file.

    Example: crosstown add spring bots/curry --name Curry --clock move_s=2
    """
    from referee.cli.building import load_or_build
    from referee.cli.output import print_text
    from referee.cli.runs import find_run
    from referee.errors import UsageError
    from referee.tournament.joining import load_joining, read_settings

    found = find_run(run, out)
    if (bot is None) != remote:
        what = "no bot is named" if bot is None else "a remote bot has no folder here"
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
    control = found.add(load_joining(found.journal, bot, name, more), by=who(), reason=reason)
    print_text(f"'{control.name}' joins from place {control.place} on; continue with: {_go_on(found)}")


_EXAMPLES = {"--option": "depth=3", "--clock": "move_s=2", "--limit": "memory_mib=4096"}


def _pairs(flag: str, words: list[str] | None) -> dict[str, Any]:
    """NAME=VALUE by name; the values as a tournament file has them, and as texts where they are none of its."""
    import tomllib

    from referee.errors import UsageError

    found: dict[str, Any] = {}
    for word in words or ():
        name, equals, value = word.partition("=")
        if not equals or not name:
            raise UsageError(f"{flag} {word!r} is not NAME=VALUE", f"write, for instance, {flag} {_EXAMPLES[flag]}")
        try:
            found[name] = tomllib.loads(f"value = {value}")["value"]
        except tomllib.TOMLDecodeError:
            found[name] = value
    return found


def annul(
    run: RunArgument,
    match: Annotated[
        str,
        typer.Argument(
            metavar="MATCH",
            help="Match id or its first characters. `crosstown matches list` shows the ids.",
            show_default=False,
        ),
    ],
    replay: Annotated[bool, typer.Option("--replay", help="Play the match again.")] = False,
    reason: ReasonOption = "",
    out: Out = OUT,
) -> None:
    """Exclude a match from all tables; its record is kept. Stop the run first.

    Example: crosstown annul spring MATCH --replay
    """
    from leaderboard.indexer import forget_match
    from referee.cli.output import print_text
    from referee.cli.runs import find_run

    found = find_run(run, out)
    match = _whole_id(found, match)
    found.annul(match, replay=replay, by=who(), reason=reason)
    forget_match(found, match)
    print_text(f"match {match} does not count{f'; {whether_again(found, match)}' if replay else ''}")


def whether_again(run: "Run", match_id: str) -> str:
    """Whether a match that was taken back is played again, and by which command."""
    from leaderboard.index import load_index

    if gone := run.gone_from(match_id, load_index(run.folder).rows):
        names = " and ".join(f"'{name}'" for name in gone)
        return f"it is not played again, for {names} {'is' if len(gone) == 1 else 'are'} out of the run"
    return f"it is played again by: {_go_on(run)}"


def _whole_id(run: "Run", wanted: str) -> str:
    """The id that begins so, of a match that has a record or is named in the journal; `wanted` if there is none.
    UsageError if there are several."""
    from referee.errors import UsageError

    known = run.known_matches()
    found = sorted(match_id for match_id in known if match_id.startswith(wanted))
    if wanted in found or not found:
        return wanted
    if len(found) > 1:
        raise UsageError(f"{wanted!r} fits several matches: {', '.join(found[:5])}", "give more of the id")
    return found[0]


def _profile(run: "Run") -> "Profile | None":
    """The sandbox that all bots of a run play under, if it says one."""
    profile = run.configuration.get("sandbox", {}).get("profile")
    return profile if profile in ("strict", "plain") else None


def _go_on(run: "Run") -> str:
    """The command that takes the run up again."""
    file = run.file or Path("FILE")
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
