"""Arguments that several commands share."""

import os
from pathlib import Path
from typing import Annotated, Any

import typer


def folder_path(path: Path | None) -> Path | None:
    """Return a folder that exists or can be made. BadParameter where a file is in the way."""
    place = path
    while place is not None and not os.path.lexists(place) and place != place.parent:
        place = place.parent
    if place is not None and os.path.lexists(place) and not place.is_dir():
        raise typer.BadParameter(f"{path}: {place} is not a folder")
    return path


def run_place(text: str) -> Path:
    """The path that names a run, or is its name. What begins with `./` is no name, which the Path alone would be."""
    return Path(text).absolute() if text.startswith("./") else Path(text)


Out = Annotated[
    Path, typer.Option(metavar="FOLDER", help="Folder that contains the run folders.", callback=folder_path)
]
OUT = Path("runs")

LatestRun = Annotated[
    str | None,
    typer.Argument(
        help="Tournament file, run folder or name of a run. Default: the most recent run.", show_default=False
    ),
]

Secret = Annotated[
    Path | None,
    typer.Option(
        "--secret",
        metavar="FILE",
        help="Compute dice and cards from the secret in this file: one line of 32 hexadecimal digits. "
        "Default: a new secret.",
        show_default=False,
    ),
]

HostNames = Annotated[
    list[str] | None,
    typer.Option(
        "--name",
        metavar="NAME",
        help="Additional host name that the server answers to, such as games.example. Can be repeated.",
        show_default=False,
    ),
]

WithBots = Annotated[
    list[str] | None,
    typer.Option(
        metavar="BOT",
        help="Only matches with this bot: its name or the first characters of its entry id. If repeated, "
        "only matches with all of these bots.",
        show_default=False,
    ),
]
OfGame = Annotated[str, typer.Option(metavar="GAME", help="Only matches of this game, such as shibuya.")]
WithReason = Annotated[
    str, typer.Option(metavar="REASON", help="Only matches with this end reason or fault, such as move_timeout.")
]
Since = Annotated[
    str,
    typer.Option(
        "--from",
        metavar="TIME",
        help="Only matches started at or after this UTC time, such as 2026-01-31 or 2026-01-31T18:00.",
    ),
]
Until = Annotated[
    str,
    typer.Option(
        "--to",
        metavar="TIME",
        help="Only matches started up to this UTC time, such as 2026-01-31T18:00. A date includes the whole day.",
    ),
]
"""Which matches a command is about: the arguments of `leaderboard.match_list.make_filter`."""

AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]

Workers = Annotated[
    int | None,
    typer.Option(
        metavar="NUMBER",
        help="Number of worker processes. Default: one per processor core.",
        min=1,
        max=1024,
        show_default=False,
    ),
]

Profile = Annotated[
    str | None,
    typer.Option(
        "--sandbox",
        metavar="strict|plain",
        help="Run bots with (strict) or without (plain) the sandbox. Default: strict if it works on this machine.",
        show_default=False,
    ),
]
Network = Annotated[bool, typer.Option("--network", help="Allow network access.")]
Env = Annotated[
    list[str] | None,
    typer.Option(
        "--env",
        metavar="NAME",
        help="Pass on this environment variable, such as OPENAI_API_KEY. Can be repeated.",
        show_default=False,
    ),
]
Device = Annotated[
    list[str] | None,
    typer.Option(
        "--device",
        metavar="PATH",
        help="Allow the use of this device, such as /dev/nvidia0. Can be repeated.",
        show_default=False,
    ),
]
Read = Annotated[
    list[Path] | None,
    typer.Option(
        "--read",
        metavar="PATH",
        help="Allow reading this file or folder, such as /data/weights. Can be repeated.",
        show_default=False,
    ),
]
Limit = Annotated[
    list[str] | None,
    typer.Option(
        "--limit",
        metavar="NAME=NUMBER",
        help="Resource limit of each bot, such as memory_mib=8192. Can be repeated.",
        show_default=False,
    ),
]

_EXAMPLES = {"--option": "depth=3", "--clock": "move_s=2", "--limit": "memory_mib=4096"}


def texts_of(flag: str, words: list[str] | None) -> dict[str, str]:
    """NAME=VALUE by name. UsageError."""
    from referee.errors import UsageError

    found: dict[str, str] = {}
    for word in words or ():
        name, equals, found[name] = word.partition("=")
        if not equals or not name:
            raise UsageError(f"{flag} {word!r} is not NAME=VALUE", f"write, for instance, {flag} {_EXAMPLES[flag]}")
    return found


def pairs_of(flag: str, words: list[str] | None) -> dict[str, Any]:
    """The same with the values as a tournament file has them, and as texts where they are none of its."""
    from referee.tournament.reading import toml_value

    return {name: toml_value(text) for name, text in texts_of(flag, words).items()}
