"""`crosstown bridge`: the bot that speaks for a program of lines."""

from typing import Annotated

import typer


def bridge(
    command: Annotated[
        list[str],
        typer.Argument(metavar="COMMAND...", help="The program and its arguments, after --.", show_default=False),
    ],
    text: Annotated[
        bool, typer.Option("--text", help="Exchange text for people and language models instead of JSON lines.")
    ] = False,
) -> None:
    """Connect COMMAND to the referee as a bot. COMMAND reads questions and prints answers, one line each.

    'crosstown bridge uci -- ENGINE' connects a chess engine, 'crosstown bridge gtp -- ENGINE' a Go engine: see
    'crosstown docs engines'.

    Use this in `run` of a bot.toml. The referee passes its address and the token in the environment, as to every bot.
    `crosstown docs bridge` describes the lines.

    Example: crosstown bridge --text -- perl bot.pl
    """
    from crosstown_bridge import ENGINES, main

    if command[0] in ENGINES:
        raise typer.Exit(main(command))
    raise typer.Exit(main([*(["--text"] if text else []), "--", *command]))
