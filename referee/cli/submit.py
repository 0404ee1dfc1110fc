"""`crosstown login` and `crosstown submit`."""

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from referee.cli.errors import ExitCode

if TYPE_CHECKING:
    from referee.cli.ladder_client import LadderClient

NameInLadder = Annotated[
    str | None,
    typer.Option(
        "--name", metavar="NAME", help="Name of the bot in the ladder. Default: that of bot.toml.", show_default=False
    ),
]
PlainHttp = Annotated[
    bool, typer.Option("--plain-http", help="Allow an address that is not encrypted. Only in a network that you trust.")
]
Ladder = Annotated[
    str | None,
    typer.Option(
        "--ladder",
        metavar="URL",
        help="Address of the ladder. Default: the one that you signed in to last.",
        show_default=False,
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]

_LOOK_S = 0.5
_TAIL_LINES = 20


def login(
    url: Annotated[str, typer.Argument(metavar="URL", help="Address of the ladder's front page.", show_default=False)],
    invitation: Annotated[
        str | None,
        typer.Option(metavar="CODE", help="Make an account with this invitation. Needs --name.", show_default=False),
    ] = None,
    name: Annotated[
        str | None, typer.Option("--name", metavar="NAME", help="Name of the new account.", show_default=False)
    ] = None,
    token_file: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Read the token from this file. Default: ask for it.", show_default=False),
    ] = None,
    plain_http: PlainHttp = False,
) -> None:
    """Sign in to a ladder: keep a token for `crosstown submit`.

    A token is made on the page of your account in the ladder; the command asks for it. With an invitation the command
    makes the account and its token. The token is kept in a file that only you can read.

    Example: crosstown login https://games.example
    """
    from referee.cli.ladder_client import (
        LadderClient,
        LadderRefusedError,
        check_address,
        check_place,
        is_token,
        keep_token,
    )
    from referee.cli.output import console, print_text
    from referee.errors import UsageError, why_unread
    from referee.texts import one_line
    from referee.tournament.reading import read_text

    address = check_address(url, plain_http=plain_http)
    if (invitation is None) != (name is None):
        raise UsageError("--invitation and --name belong together", "give both, or neither to sign in with a token")
    check_place()
    if invitation is not None:
        session = LadderClient(address).post("/join", {"code": invitation, "owner": name})["secret"]
        wanted = {"label": "command line", "scope": "manage", "days": 365}
        token = LadderClient(address, session).post("/me/tokens", wanted)["secret"]
    elif token_file is not None:
        try:
            token = read_text(token_file, most_mib=1).strip()
        except (OSError, UnicodeDecodeError) as error:
            what = f"--token-file {token_file}: cannot be read ({why_unread(error)})"
            raise UsageError(what, "name a file that has the token, or send the token to standard input") from None
    elif not sys.stdin.isatty():
        token = sys.stdin.readline().strip()
    else:
        token = typer.prompt("Token", hide_input=True, prompt_suffix=": ", err=True).strip()
    if not is_token(token):
        what = "that is not a token" if token else "no token was entered"
        raise UsageError(what, "copy it whole from the page where it was shown")
    note = console(stderr=True)
    try:
        me = LadderClient(address, token, note=lambda text: note.print(one_line(text), markup=False)).get("/me")
    except LadderRefusedError as error:
        if token_file is None:
            raise
        raise UsageError(f"--token-file {token_file}: {error}", "copy the token whole, or make another one") from None
    account = me["account"]
    signed = f"signed in to {one_line(me['ladder'])} as {one_line(account['owner'])} (scope '{account['scope']}')"
    path = keep_token(address, token)
    print_text(signed)
    print_text(f"the token is kept in {path}")


def submit(
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="Folder of the bot, with its bot.toml.", show_default=False)
    ],
    name: NameInLadder = None,
    game: Annotated[
        list[str] | None,
        typer.Option(
            "--game",
            metavar="GAME",
            help="Play only in divisions of this game. Default: all games of bot.toml. Can be repeated.",
            show_default=False,
        ),
    ] = None,
    follow: Annotated[
        bool, typer.Option("--follow", help="Wait until the version is active or rejected, and print each step.")
    ] = False,
    ladder: Ladder = None,
    plain_http: PlainHttp = False,
    as_json: AsJson = False,
) -> None:
    """Hand in a bot to a ladder. The first hand-in makes the bot, each later one its next version.

    The command sends the bot's sources, without the files that tools and builds leave in the folder. After a broken
    connection the command tries again; nothing is handed in twice. The exit code is 1 if the version was rejected
    (with --follow).

    Example: crosstown submit bots/python/random --name my-bot --follow
    """
    import io
    import secrets
    from urllib.parse import urlencode

    from referee.cli.ladder_client import LadderClient, bot_path, check_address, find_token
    from referee.cli.output import console, print_json, print_text
    from referee.errors import UsageError
    from referee.ladder.archives import pack
    from referee.process.manifest import ANY_GAME, load_manifest
    from referee.texts import one_line

    folder = folder.resolve()
    manifest = load_manifest(folder)
    for one in game or ():
        if ANY_GAME not in manifest.games and one not in manifest.games:
            raise UsageError(f"the bot does not declare the game '{one}'", f"bot.toml has: {', '.join(manifest.games)}")
    given = None if ladder is None else check_address(ladder, plain_http=plain_http)
    address, token = find_token(given)
    check_address(address, plain_http=plain_http)
    packed = io.BytesIO()
    pack(folder, manifest, packed)
    note = console(stderr=True)
    client = LadderClient(address, token, note=lambda text: note.print(one_line(text), markup=False))
    bot = manifest.name if name is None else name
    query = f"?{urlencode([('game', one) for one in game])}" if game else ""
    answer = client.send(f"{bot_path(bot)}{query}", packed.getvalue(), "application/gzip", secrets.token_hex(16))
    version = answer.values
    number = version["number"]
    if not as_json:
        what = "handed in" if answer.status == 201 else "these files are known:"
        print_text(f"{what} version {number} of '{one_line(bot)}' ({len(packed.getvalue()) / 1024:.0f} KiB)")
    if follow:
        version = _follow(client, bot, number, quiet=as_json)
    if as_json:
        print_json(version)
    elif not follow:
        print_text(
            f"it is {version['status']}; see how it goes on: crosstown submit {shlex.quote(str(folder))} --follow"
        )
    if version["status"] == "rejected":
        raise typer.Exit(ExitCode.FAILED)


def _follow(client: "LadderClient", bot: str, number: int, *, quiet: bool) -> dict[str, Any]:
    """Until nothing more happens; the version then. Prints each step when it changes."""
    import time

    from referee.cli.ladder_client import bot_path
    from referee.cli.output import print_text
    from referee.texts import one_line

    path, shown = bot_path(bot, number), ""
    while True:
        version: dict[str, Any] = client.get(path)
        steps = {step["name"]: step for step in version["steps"]}
        for step in version["steps"]:
            if step["state"] in ("running", "done", "failed"):
                limit = f", limit {step['limit_s']:g} s" if step["limit_s"] and step["state"] == "running" else ""
                detail = step["detail"]
                if step["name"] == "active" and version["divisions"]:
                    detail = f"in {', '.join(version['divisions'])}"
                detail = f": {one_line(detail)}" if detail else ""
                line = f"{step['name']:<10} {step['state']}{limit}{detail}"
                if line not in shown.splitlines():
                    shown += f"{line}\n"
                    if not quiet:
                        print_text(line)
        on_its_way = version["status"] in ("received", "checking", "building", "qualifying")
        if not on_its_way and steps["qualified"]["state"] != "running":
            break
        time.sleep(_LOOK_S)
    if not quiet:
        _conclude(client, path, bot, version)
    return version


def _conclude(client: "LadderClient", path: str, bot: str, version: dict[str, Any]) -> None:
    from referee.cli.ladder_client import bot_page
    from referee.cli.output import print_text
    from referee.texts import one_line

    who = f"version {version['number']} of '{one_line(bot)}'"
    if version["status"] != "rejected":
        where = f" in {', '.join(map(one_line, version['divisions']))}" if version["divisions"] else ""
        print_text(f"{who} is {version['status']}{where}: {client.address}{bot_page(bot)}")
        return
    if version["has_log"]:
        end, text = 0, ""
        while part := client.get(f"{path}/log?from={end}"):
            text += part["text"]
            if part["complete"] or not part["text"]:
                break
            end = part["end"]
        print_text("the end of the log:")
        for line in text.rstrip().splitlines()[-_TAIL_LINES:]:
            print_text(f"    {one_line(line)}")
    print_text(f"{who} is rejected: {one_line(version['reason'])}")
    print_text(f"next: {one_line(version['next_step'])}")
