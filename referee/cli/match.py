"""`crosstown match`: one match, now, between bots and people."""

from pathlib import Path
from typing import Annotated

import typer

from referee.cli.arguments import Env, Network, Profile, Read
from referee.cli.errors import ExitCode


def match(
    game: Annotated[str, typer.Argument(metavar="GAME", help="A game's id.", show_default=False)],
    seats: Annotated[
        list[str],
        typer.Option("--seat", help="A bot's folder, or 'human'; once per seat, in order.", show_default=False),
    ],
    option: Annotated[
        list[str] | None, typer.Option("--option", help="NAME=VALUE, an option of the game.", show_default=False)
    ] = None,
    seed: Annotated[str | None, typer.Option(help="Hexadecimal; default: a new one.", show_default=False)] = None,
    first_move_s: Annotated[float, typer.Option(min=0.001, help="Seconds for a bot's first move.")] = 5.0,
    move_s: Annotated[float, typer.Option(min=0.001, help="Seconds for each other move of a bot.")] = 1.0,
    sandbox: Profile = None,
    network: Network = False,
    env: Env = None,
    read: Read = None,
    watch: Annotated[bool, typer.Option("--watch", help="Show every step as it happens.")] = False,
    out: Annotated[Path, typer.Option(help="The folder that run folders are in; records go to 'single' there.")] = Path(
        "runs"
    ),
    as_json: Annotated[bool, typer.Option("--json", help="Print the outcome as JSON.")] = False,
) -> None:
    """Play one match and keep its record. A person plays in this terminal: type the number of an action.

    Exit code 1 if the match did not come to count.
    """
    from referee.cli.confining import settle
    from referee.cli.one_match import plan, play

    planned = plan(
        game,
        seats,
        option or [],
        seed,
        clock={"first_move_s": first_move_s, "move_s": move_s},
        folder=out / "single",
        confinement=settle(sandbox, network=network, env=env, read=read),
    )
    if not play(planned, watch=watch, as_json=as_json):
        raise typer.Exit(ExitCode.FAILED)
