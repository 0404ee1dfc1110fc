"""`crosstown bots new | build | list | check | connect`."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from referee.cli.arguments import OUT, AsJson, Device, Env, Network, Out, Profile, Read, folder_path
from referee.cli.errors import ExitCode
from referee.cli.submit import NameInLadder, PlainHttp
from referee.schedule.spec import DEFAULTS

if TYPE_CHECKING:
    from referee.process.build import BuildError
    from referee.process.store import Built

app = typer.Typer(no_args_is_help=True, help="Make, build, list and check bots.")

Folder = Annotated[Path, typer.Argument(metavar="FOLDER", help="Folder of the bot, with its bot.toml.")]


@app.command()
def new(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the bot and of its folder.", show_default=False)],
    lang: Annotated[
        str,
        typer.Option(
            "--lang",
            metavar="LANGUAGE",
            help="Language of the kit: python, go, rust, java, typescript, cpp, bash, perl, c or llm.",
        ),
    ],
    at: Annotated[
        Path,
        typer.Option("--in", metavar="FOLDER", help="Folder in which the bot's folder is made.", callback=folder_path),
    ] = Path(),
) -> None:
    """Make a new bot: a folder that builds and plays without changes. It contains everything that the build needs.

    Example: crosstown bots new --lang python mine
    """
    from referee.cli.bot_pages import begin
    from referee.cli.output import print_text

    folder, built = begin(name, lang, at)
    shown = shlex.quote(f"./{folder}" if str(folder).startswith("-") else str(folder))
    if lang == "llm":
        print_text(f"{folder} is a bot that plays any game by asking a language model.")
        print_text("next: crosstown docs language_models")
        return
    print_text(f"{folder} is a {lang} bot that plays any game by chance.")
    if built:
        print_text(f"next: crosstown bots build {shown}")
    print_text(f"{'then' if built else 'next'}: crosstown bots check {shown}")


@app.command()
def build(
    folders: Annotated[list[Path], typer.Argument(metavar="FOLDER...", help="Folders of bots.", show_default=False)],
    again: Annotated[
        bool, typer.Option("--again", help="Build even if the bot is already built, from a clean home.")
    ] = False,
    plain: Annotated[bool, typer.Option("--plain", help="Build without a sandbox. Only for your own bots.")] = False,
    as_json: AsJson = False,
) -> None:
    """Build bots into the cache, once for each version of their sources.

    The fetch phase has network, the build phase has none; both run in a sandbox. Packages and compiled files are kept
    for the next build of the bot, in at most $CROSSTOWN_HOMES_MIB of disk. $CROSSTOWN_CACHE names the folder of the
    cache.

    The exit code is 1 if a build failed; the message names the log.

    Example: crosstown bots build bots/go
    """
    from referee.cli.building import build_bot
    from referee.cli.output import print_json, print_text
    from referee.process.build import BuildError, NoRoomError, needs_build

    rows: list[dict[str, Any]] = []
    for folder in folders:
        if not needs_build(folder):
            rows.append(_without_build(folder))
        else:
            try:
                built, fresh = build_bot(folder, again=again, wanted="plain" if plain else None)
            except NoRoomError:
                raise
            except BuildError as error:
                rows.append(_failed(folder, error))
            else:
                rows.append(_succeeded(folder, built, fresh=fresh))
        if not as_json:
            print_text(rows[-1]["text"])
    if as_json:
        print_json({"builds": [{key: value for key, value in row.items() if key != "text"} for row in rows]})
    if any("problem" in row for row in rows):
        raise typer.Exit(ExitCode.FAILED)


@app.command("list")
def list_bots(
    folders: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[FOLDER]...", help="Folders to search, with all subfolders. Default: bots."),
    ] = None,
    out: Out = OUT,
    as_json: AsJson = False,
) -> None:
    """List bots: name, version, games, entry id, whether they can play, and why they did not start.

    Failed starts are read from the runs in --out, for bots that have not changed since.

    Example: crosstown bots list bots
    """
    from referee.cli.bot_pages import find_bots, print_bots

    print_bots(find_bots(folders or [Path("bots")], out), as_json=as_json)


@app.command()
def check(
    bots: Annotated[
        list[Path],
        typer.Argument(
            metavar="BOT...",
            help="Folders of bots, tournament files, or lists of entries (CSV).",
            show_default=False,
        ),
    ],
    game: Annotated[
        list[str] | None,
        typer.Option("--game", metavar="GAME", help="Test only with this game. Can be repeated.", show_default=False),
    ] = None,
    startup_s: Annotated[
        float | None,
        typer.Option(
            metavar="SECONDS",
            help=f"Time limit from the start of the bot to its Hello. Default: that of the tournament file, else"
            f" {DEFAULTS.startup_s:g}.",
            min=0.1,
            max=3600,
            show_default=False,
        ),
    ] = None,
    fail_fast: Annotated[
        bool, typer.Option("--fail-fast", help="Stop the check of a bot after the first drill that fails.")
    ] = False,
    jobs: Annotated[
        int | None,
        typer.Option(
            metavar="NUMBER",
            help="Bots to check at once, if there are several. Default: number of processor cores.",
            min=1,
            max=1024,
            show_default=False,
        ),
    ] = None,
    sandbox: Profile = None,
    network: Network = False,
    env: Env = None,
    read: Read = None,
    device: Device = None,
    as_json: AsJson = False,
) -> None:
    """Test whether bots follow the protocol, with every game that they declare.

    The exit code is 1 if a drill failed; the report says what to correct first. Several bots, as in crosstown
    bots check students/*/, are checked at the same time, and the result is one table by game. A tournament file stands
    for all its bots, which are checked with its games, its grants and its time to start.

    Example: crosstown bots check mine --game shibuya
    """
    from referee.cli.bot_check import check_folder
    from referee.cli.bot_checks import check_many, targets_of
    from referee.cli.confining import settle
    from referee.tournament.resources import available_cores

    confinement = settle(sandbox, network=network, env=env, read=read, devices=device)
    if len(bots) == 1 and (bots[0].is_dir() or bots[0].suffix.lower() not in (".toml", ".csv")):
        limit_s = startup_s or DEFAULTS.startup_s
        passed = check_folder(bots[0], game, limit_s, confinement, fail_fast=fail_fast, as_json=as_json)
    else:
        at_once = jobs or len(available_cores())
        targets = targets_of(bots, profile=sandbox)
        passed = check_many(targets, game, startup_s, confinement, at_once, fail_fast=fail_fast, as_json=as_json)
    if not passed:
        raise typer.Exit(ExitCode.FAILED)


@app.command()
def connect(
    folder: Folder,
    url: Annotated[
        str | None,
        typer.Argument(
            metavar="[URL]",
            help="Address of the ladder. Default: the one that you signed in to last.",
            show_default=False,
        ),
    ] = None,
    name: NameInLadder = None,
    plain_http: PlainHttp = False,
) -> None:
    """Run a bot on this machine, and keep it connected to a ladder, where it plays in divisions that admit remote bots.

    Sign in to the ladder first: crosstown login URL. The bot's program gets a token that is good for playing as this
    bot alone, and is started again when it ends. If the same bot is connected elsewhere, that connection ends. Ctrl-C
    ends the command.

    Example: crosstown bots connect mine https://games.example
    """
    from referee.cli.connect import connect as keep_connected
    from referee.cli.connect import load_here
    from referee.cli.ladder_client import LadderClient, check_address, find_token
    from referee.cli.output import console
    from referee.texts import one_line

    address, token = find_token(None if url is None else check_address(url, plain_http=plain_http))
    check_address(address, plain_http=plain_http)
    entry = load_here(folder)
    note = console(stderr=True)

    def say(text: str) -> None:
        note.print(one_line(text), markup=False, highlight=False, soft_wrap=True)

    keep_connected(entry, name or entry.manifest.name, LadderClient(address, token, note=say), token, say)


def _succeeded(folder: Path, built: "Built", *, fresh: bool) -> dict[str, Any]:
    from referee.cli.output import duration
    from referee.texts import one_line

    took = f"built in {duration(built.fetch_s + built.build_s)}" if fresh else "built before"
    by = f" with {one_line(built.toolchain)}" if built.toolchain else ""
    return {
        "folder": str(folder),
        "built": True,
        "fresh": fresh,
        "source": built.source_id,
        "fetch_s": built.fetch_s,
        "build_s": built.build_s,
        "toolchain": built.toolchain,
        "artefacts": built.artefacts,
        "sandbox": built.sandbox,
        "warm": built.warm,
        "log": str(built.log),
        "text": f"{folder}: {took}{by}; it is kept in {built.folder}",
    }


def _without_build(folder: Path) -> dict[str, Any]:
    from referee.process.build import why_not_built

    return {
        "folder": str(folder),
        "built": False,
        "fresh": False,
        "text": f"{folder}: nothing to build: {why_not_built(folder)}, it runs as it is",
    }


def _failed(folder: Path, error: "BuildError") -> dict[str, Any]:
    from referee.cli.building import end_of_log
    from referee.texts import one_line

    problem = str(error) if error.log else error.sentence
    return {
        "folder": str(folder),
        "built": False,
        "problem": problem,
        "log": str(error.log) if error.log else None,
        "text": f"{folder}: not built: {one_line(problem)}\n{end_of_log(error)}".rstrip("\n"),
    }
