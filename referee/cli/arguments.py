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
