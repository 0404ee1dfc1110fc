"""`crosstown match`: one match, now, between bots and people."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from referee.cli.arguments import Device, Env, Network, Profile, Read, Secret
from referee.cli.errors import ExitCode


def match(
    game: Annotated[str, typer.Argument(metavar="GAME", help="A game's id.", show_default=False)],
    seats: Annotated[
        list[str],
        typer.Option(
            "--seat", help="A bot's folder, 'human' or 'remote'; once per seat, in order.", show_default=False
        ),
    ],
    option: Annotated[
        list[str] | None, typer.Option("--option", help="NAME=VALUE, an option of the game.", show_default=False)
    ] = None,
    seed: Annotated[
        str | None,
        typer.Option(help="Hexadecimal digits, an even number, such as 07; default: a new one.", show_default=False),
    ] = None,
    secret: Secret = None,
    first_move_s: Annotated[float, typer.Option(min=0.001, help="Seconds for a bot's first move.")] = 5.0,
    move_s: Annotated[float, typer.Option(min=0.001, help="Seconds for each other move of a bot.")] = 1.0,
    startup_s: Annotated[float, typer.Option(min=0.1, max=3600, help="Seconds that a bot has to say Hello.")] = 10.0,
    ready_s: Annotated[float, typer.Option(min=0.1, max=3600, help="Seconds that it has to be ready.")] = 10.0,
    sandbox: Profile = None,
    network: Network = False,
    env: Env = None,
    read: Read = None,
    device: Device = None,
    listen: Annotated[
        str | None,
        typer.Option(metavar="HOST:PORT", help="Where bots of 'remote' seats dial in, with TLS.", show_default=False),
    ] = None,
    public: Annotated[
        str, typer.Option(metavar="HOST", help="By what name or address they reach this machine; default: its own.")
    ] = "",
    certificate: Annotated[
        Path | None, typer.Option(help="For --listen: PEM file; default: one is made.", show_default=False)
    ] = None,
    key: Annotated[Path | None, typer.Option(help="The key of --certificate.", show_default=False)] = None,
    wait_s: Annotated[float, typer.Option(min=1, max=86400, help="Seconds that remote bots are waited for.")] = 300.0,
    watch: Annotated[bool, typer.Option("--watch", help="Show every step as it happens.")] = False,
    output: Annotated[bool, typer.Option("--output", help="Show what the bots printed, when it is over.")] = False,
    out: Annotated[Path, typer.Option(help="The folder that run folders are in; records go to 'single' there.")] = Path(
        "runs"
    ),
    as_json: Annotated[bool, typer.Option("--json", help="Print the outcome as JSON.")] = False,
) -> None:
    """Play one match and keep its record. A person plays in this terminal: type the number of an action. A remote bot
    is started by its author, on any machine: what to set is printed.

    Exit code 1 if the match did not come to count.
    """
    from referee.cli.confining import hiding, settle
    from referee.cli.one_match import plan, play, seed_of
    from referee.cli.remote import remote_seats
    from referee.cli.runs import SINGLE

    planned = plan(
        game,
        seats,
        option or [],
        seed_of(seed, secret),
        clock={"first_move_s": first_move_s, "move_s": move_s, "startup_s": startup_s, "ready_s": ready_s},
        folder=out / SINGLE,
        confinement=hiding(settle(sandbox, network=network, env=env, read=read, devices=device), secret),
    )
    remote = remote_seats(
        planned.guests, listen, certificate, key, public=public, wait_s=wait_s, folder=planned.folder / "tls"
    )
    planned = replace(planned, remote=remote)
    if not play(planned, watch=watch, output=output, as_json=as_json):
        raise typer.Exit(ExitCode.FAILED)
