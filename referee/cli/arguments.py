"""Arguments that several commands share."""

from pathlib import Path
from typing import Annotated

import typer

Out = Annotated[Path, typer.Option(help="The folder that run folders are in.")]
OUT = Path("runs")

LatestRun = Annotated[
    str | None,
    typer.Argument(
        help="Tournament file, run folder or name of a run; default: the most recent one.", show_default=False
    ),
]

Secret = Annotated[
    Path | None,
    typer.Option(
        "--secret",
        metavar="FILE",
        help="Play on the luck of this secret: a file with a line of 32 hexadecimal digits. Default: a new one.",
        show_default=False,
    ),
]

Profile = Annotated[
    str | None,
    typer.Option(
        "--sandbox", metavar="strict|plain", help="Default: strict where it works, as in a run.", show_default=False
    ),
]
Network = Annotated[bool, typer.Option("--network", help="Grant the bots the network.")]
Env = Annotated[
    list[str] | None,
    typer.Option("--env", help="Grant the bots this variable of your environment; repeatable.", show_default=False),
]
Device = Annotated[
    list[str] | None,
    typer.Option("--device", help="Grant the bots this device, such as /dev/nvidia0; repeatable.", show_default=False),
]
Read = Annotated[
    list[Path] | None,
    typer.Option("--read", help="Grant the bots this file or folder to read; repeatable.", show_default=False),
]
