"""`crosstown web`: the pages over the runs of a folder."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from referee.cli.arguments import HostNames, Secret

if TYPE_CHECKING:
    from leaderboard.web.play_host import PlayHost


def web(
    runs: Annotated[
        Path, typer.Option("--runs", metavar="FOLDER", help="Folder that contains the run folders.")
    ] = Path("runs"),
    host: Annotated[
        str,
        typer.Option(
            metavar="ADDRESS",
            help="Address to listen on. With 0.0.0.0, everybody who can reach this machine can see the pages.",
        ),
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(metavar="NUMBER", help="Port to listen on; 0 chooses a free port.", min=0, max=65535)
    ] = 8000,
    names: HostNames = None,
    hide_live: Annotated[
        bool, typer.Option("--hide-live", help="Show a match only after its block is complete.")
    ] = False,
    play: Annotated[bool, typer.Option("--play", help="Let people on this machine play against bots.")] = False,
    play_open: Annotated[
        bool,
        typer.Option("--play-open", help="Let everybody play who can reach --host. This starts bots on this machine."),
    ] = False,
    bots: Annotated[
        list[Path] | None,
        typer.Option(
            "--bots",
            metavar="FOLDER",
            help="Folder with the bots to play against. Default: bots/python. Can be repeated.",
            show_default=False,
        ),
    ] = None,
    move_limit_s: Annotated[
        float | None,
        typer.Option(
            "--move-limit",
            metavar="SECONDS",
            help="Time limit for each move of a person.",
            min=1,
            max=86400,
            show_default="none",
        ),
    ] = None,
    connections: Annotated[
        int,
        typer.Option(
            "--connections",
            metavar="NUMBER",
            help="Maximum number of connections. Half of them may be live pages.",
            min=1,
            max=1_000_000,
        ),
    ] = 500,
    per_address: Annotated[
        int,
        typer.Option(
            "--per-address",
            metavar="NUMBER",
            help="Maximum number of connections from one address. Raise it behind a proxy, which has one address.",
            min=1,
            max=1_000_000,
        ),
    ] = 100,
    secret: Secret = None,
) -> None:
    """Show runs, tables and matches in a browser, also while they are being played. Ctrl-C ends the command.

    The server only reads, unless --play or --play-open lets people play.

    Example: crosstown web --runs runs --port 8000
    """
    from contextlib import ExitStack

    from leaderboard.web.app import make_app
    from leaderboard.web.limits import WebLimits
    from referee.cli.listening import address_of, check_names, listen_on, serve_pages
    from referee.cli.output import print_text
    from referee.errors import UsageError
    from referee.run.folder import runs_in, why_no_address
    from referee.run.luck import known_words, read_secrets
    from referee.texts import one_line
    from referee.wire.public_address import LOOPBACK

    if play and not play_open and host not in LOOPBACK:
        raise UsageError(
            f"--play is for this machine only, but --host is {host}", "leave --host out, or say --play-open"
        )
    if play_open and move_limit_s is None:
        raise UsageError(
            "--play-open lets anybody start matches, and without a time limit an abandoned one lasts a day",
            "say how long a person has for a move: --move-limit SECONDS",
        )
    for option, value in {"--secret": secret, "--bots": bots, "--move-limit": move_limit_s}.items():
        if value is not None and not (play or play_open):
            raise UsageError(f"{option} is for matches that people play here", f"add --play, or leave {option} out")
    check_names(names)
    if play or play_open:
        runs.mkdir(parents=True, exist_ok=True)
    if not runs.is_dir():
        raise UsageError(f"{runs} is not a folder", "start a run: crosstown run FILE, or say where: --runs FOLDER")
    for run in runs_in(runs):
        if why := why_no_address(run):
            print_text(f"left out: {one_line(run.path)}: {why}, so it has no address; rename the folder")
    with listen_on(host, port) as listening, ExitStack() as stack:
        playing: PlayHost | None = None
        if play or play_open:
            from referee.cli.play_host import AT_ONCE, PER_VISITOR, Host

            if secret is not None:
                read_secrets(secret)
                print_text(known_words(secret))
            playing = stack.enter_context(
                Host(
                    runs,
                    bots or own_bots(),
                    move_limit_s=move_limit_s,
                    alone=not play_open,
                    per_visitor=max(PER_VISITOR, AT_ONCE * per_address // connections),
                    secret=secret,
                )
            )
        known = frozenset(names or ()) | {host}
        limits = WebLimits(
            connections=connections,
            connections_per_address=per_address,
            streams_per_address=max(1, per_address // 2),
            streams=max(1, connections // 2),
        )
        pages = make_app(runs, hide_live=hide_live, play_host=playing, names=known, limits=limits)
        serve_pages(pages, limits, listening, address_of(listening, host))


def own_bots() -> list[Path]:
    """The folder of the bots that are shipped: that of a checkout; none elsewhere."""
    folder = Path(__file__).resolve().parents[2] / "bots" / "python"
    return [folder] if folder.is_dir() else []
