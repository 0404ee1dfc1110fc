"""`crosstown bridge`: the bot that speaks for a program of lines."""

from typing import Annotated

import typer

CONTEXT = {"ignore_unknown_options": True, "allow_interspersed_args": False}


def bridge(
    command: Annotated[list[str], typer.Argument(help="The program and its arguments, after --.", show_default=False)],
    text: Annotated[
        bool, typer.Option("--text", help="Text for people and language models instead of JSON lines.")
    ] = False,
) -> None:
    """Play as COMMAND, which reads questions and prints answers, a line each. For the `run` of a bot.toml.

    The referee starts this as it starts every bot, with the address and the token in the environment.
    `crosstown docs bridge` shows the lines.
    """
    from crosstown_bridge import main

    raise typer.Exit(main([*(["--text"] if text else []), "--", *command]))
