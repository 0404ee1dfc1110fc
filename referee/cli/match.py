"""`crosstown match`: one match, now, between bots and people."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from referee.cli.arguments import (
    OUT,
    AsJson,
    Device,
    Env,
    Limit,
    Network,
    Profile,
    Read,
    Secret,
    folder_path,
    pairs_of,
)
from referee.cli.errors import ExitCode
from referee.schedule.spec import DEFAULTS, REMOTE_WAIT_OF_ONE_MATCH_S


def match(
    game: Annotated[str, typer.Argument(metavar="GAME", help="Id of the game, such as shibuya.", show_default=False)],
    seats: Annotated[
        list[str],
        typer.Option(
            "--seat",
            metavar="BOT",
            help="Who plays the next seat: the folder of a bot, 'human' or 'remote'. Give the option once for "
            "each seat, in order.",
            show_default=False,
        ),
    ],
    option: Annotated[
        list[str] | None,
        typer.Option(
            "--option",
            metavar="NAME=VALUE",
            help="Option of the game, such as tile_set=X. Can be repeated.",
            show_default=False,
        ),
    ] = None,
    seed: Annotated[
        str | None,
        typer.Option(
            metavar="HEX",
            help="Seed of the match: an even number of hexadecimal digits, such as 07. Default: a random seed.",
            show_default=False,
        ),
    ] = None,
    secret: Secret = None,
    first_move_s: Annotated[
        float, typer.Option(metavar="SECONDS", help="Time limit for a bot's first move.", min=0.001)
    ] = DEFAULTS.first_move_s,
    move_s: Annotated[
        float, typer.Option(metavar="SECONDS", help="Time limit for each later move of a bot.", min=0.001)
    ] = DEFAULTS.move_s,
    startup_s: Annotated[
        float,
        typer.Option(metavar="SECONDS", help="Time limit from the start of a bot to its Hello.", min=0.1, max=3600),
    ] = DEFAULTS.startup_s,
    ready_s: Annotated[
        float, typer.Option(metavar="SECONDS", help="Time limit for a bot's Ready after MatchStart.", min=0.1, max=3600)
    ] = DEFAULTS.ready_s,
    limit: Limit = None,
    sandbox: Profile = None,
    network: Network = False,
    env: Env = None,
    read: Read = None,
    device: Device = None,
    listen: Annotated[
        str | None,
        typer.Option(
            metavar="HOST:PORT", help="Address on which remote bots connect, such as 0.0.0.0:7000.", show_default=False
        ),
    ] = None,
    public: Annotated[
        str,
        typer.Option(
            metavar="HOST",
            help="Public host name or address that remote bots connect to. Default: the name of this machine.",
        ),
    ] = "",
    certificate: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="PEM file with the certificate for --listen. Default: a self-signed certificate is made.",
            show_default=False,
        ),
    ] = None,
    key: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="PEM file with the private key of --certificate.", show_default=False),
    ] = None,
    wait_s: Annotated[
        float, typer.Option(metavar="SECONDS", help="How long to wait for remote bots to connect.", min=1, max=86400)
    ] = REMOTE_WAIT_OF_ONE_MATCH_S,
    watch: Annotated[bool, typer.Option("--watch", help="Print every step while the match is played.")] = False,
    output: Annotated[bool, typer.Option("--output", help="Print the output of the bots after the match.")] = False,
    out: Annotated[
        Path,
        typer.Option(
            metavar="FOLDER",
            help="Folder that contains the run folders. The record goes to its subfolder 'single'.",
            callback=folder_path,
        ),
    ] = OUT,
    as_json: AsJson = False,
) -> None:
    """Play one match and keep its record.

    A person plays in this terminal, by typing the number of an action. For a remote bot, the command prints the
    settings that its author needs.

    The exit code is 1 if the match does not count.

    Example: crosstown match shibuya --seat bots/python/greedy --seat human
    """
    from leaderboard.web.play_host import HUMAN
    from referee.cli.confining import hiding, settle
    from referee.cli.one_match import plan, play, seed_of
    from referee.cli.remote import remote_seats
    from referee.errors import UsageError
    from referee.run.folder import SINGLE

    if as_json and (watch or HUMAN in seats):
        other = "--watch" if watch else f"--seat {HUMAN}"
        raise UsageError(f"{other} and --json exclude each other", "--json prints the result alone: give one of them")
    planned = plan(
        game,
        seats,
        option or [],
        seed_of(seed, secret),
        clock={"first_move_s": first_move_s, "move_s": move_s, "startup_s": startup_s, "ready_s": ready_s},
        resources=pairs_of("--limit", limit),
        folder=out / SINGLE,
        confinement=hiding(settle(sandbox, network=network, env=env, read=read, devices=device), secret),
    )
    remote = remote_seats(
        planned.guests, listen, certificate, key, public=public, wait_s=wait_s, folder=planned.folder / "tls"
    )
    planned = replace(planned, remote=remote)
    if not play(planned, watch=watch, output=output, as_json=as_json):
        raise typer.Exit(ExitCode.FAILED)
