"""`crosstown run`: play a tournament to its leaderboard; run again, go on."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from referee.cli.arguments import Secret
from referee.cli.errors import ExitCode

if TYPE_CHECKING:
    from referee.tournament.config import Tournament


def run(
    file: Annotated[Path, typer.Argument(help="The tournament file (TOML).", show_default=False)],
    workers: Annotated[
        int | None, typer.Option(min=1, max=1024, help="Worker processes; default: one per core.", show_default=False)
    ] = None,
    pin: Annotated[bool, typer.Option("--pin", help="Bind each worker and its bots to cores of their own.")] = False,
    out: Annotated[Path, typer.Option(help="The folder that run folders are made in.")] = Path("runs"),
    new: Annotated[bool, typer.Option("--new", help="Start a new run beside an older one, which is kept.")] = False,
    secret: Secret = None,
    anchor: Annotated[
        Path | None,
        typer.Option(
            "--anchor",
            metavar="FILE",
            help="Write the head of the journal to this file as well, from here on: best on another disk or machine.",
            show_default=False,
        ),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show the size, balance and time of the schedule, and play nothing.")
    ] = False,
    listed: Annotated[bool, typer.Option("--list", help="With --dry-run: also every match of the schedule.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the outcome, or the schedule, as JSON.")] = False,
    accept_weaker: Annotated[
        bool,
        typer.Option("--accept-weaker-sandbox", help="Go on though the sandbox is weaker than when the run began."),
    ] = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Print nothing but errors (and what --json asks for).")
    ] = False,
) -> None:
    """Play a tournament. Stopped in any way, the same command goes on where it was."""
    from referee.cli.building import build_missing
    from referee.tournament.config import load_config, tournament_name
    from referee.tournament.controls import newest_bots
    from referee.tournament.cores import available_cores
    from referee.tournament.entrants import check_apart, load_tournament, sources_needed

    if listed and not dry_run:
        from referee.tournament.errors import UsageError

        raise UsageError("--list is for --dry-run", "add --dry-run, or leave --list out")
    known = () if new else newest_bots(out, tournament_name(file))
    if not dry_run:
        build_missing(sources_needed(load_config(file), known), out, file)
    tournament = load_tournament(file, known)
    if tournament.kept:
        tournament = _as_it_lies(file, out) or tournament
    check_apart(tournament, out)
    cores = len(available_cores())
    if dry_run:
        from referee.cli.preview import preview

        preview(tournament, out, workers or cores, listed=listed, as_json=as_json)
        return
    from referee.cli.running import play_tournament

    code = play_tournament(
        tournament,
        out,
        workers or cores,
        pin=pin,
        new=new,
        as_json=as_json,
        quiet=quiet,
        accept_weaker=accept_weaker,
        secret=secret,
        head_file=anchor,
    )
    if code != ExitCode.OK:
        raise typer.Exit(code)


def _as_it_lies(file: Path, out: Path) -> "Tournament | None":
    """The tournament with its bots as they are now, if there is an older run with just these; else None."""
    from referee.tournament.entrants import load_tournament
    from referee.tournament.errors import ConfigError
    from referee.tournament.folder import has_run
    from referee.tournament.identity import describe

    try:
        tournament = load_tournament(file)
    except ConfigError:
        return None
    return tournament if has_run(out, describe(tournament)) else None
