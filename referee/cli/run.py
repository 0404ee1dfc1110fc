"""`crosstown run`: play a tournament to its leaderboard; run again, go on."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from referee.cli.arguments import OUT, Out, Secret, Workers
from referee.cli.cluster import Ca, Cert, ExecutorKind, Key, Scheduler, scheduler_of
from referee.cli.errors import ExitCode
from referee.garbage import begin_collection

if TYPE_CHECKING:
    from referee.cluster.peers import Peer
    from referee.run.participants import Participant
    from referee.tournament.config import Tournament, TournamentConfig
    from referee.tournament.early import Early


def run(
    context: typer.Context,
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="Tournament file, such as tournaments/first.toml.", show_default=False),
    ],
    workers: Workers = None,
    executor: ExecutorKind = None,
    scheduler: Scheduler = None,
    ca: Ca = None,
    cert: Cert = None,
    key: Key = None,
    pin: Annotated[
        bool, typer.Option("--pin", help="Bind each worker and its bots to processor cores of their own.")
    ] = False,
    out: Out = OUT,
    new: Annotated[
        bool, typer.Option("--new", help="Start a new run even if there is an older one, which is kept.")
    ] = False,
    secret: Secret = None,
    anchor: Annotated[
        Path | None,
        typer.Option(
            "--anchor",
            metavar="FILE",
            help="From now on, also write the head of the journal to this file, best on another disk or machine.",
            show_default=False,
        ),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print size, balance and expected time of the schedule, and play nothing.")
    ] = False,
    listed: Annotated[
        bool, typer.Option("--list", help="With --dry-run: also print every match of the schedule.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result, or the schedule, as JSON.")] = False,
    accept_weaker: Annotated[
        bool,
        typer.Option("--accept-weaker-sandbox", help="Continue even if the sandbox is weaker than when the run began."),
    ] = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Print nothing but errors and the output of --json.")
    ] = False,
) -> None:
    """Play a tournament, or continue it.

    If the command was stopped, in any way, enter it again: it continues where it stopped.

    Example: crosstown run tournaments/first.toml --workers 4
    """
    if listed and not dry_run:
        from referee.errors import UsageError

        raise UsageError("--list is for --dry-run", "add --dry-run, or leave --list out")
    from referee.tournament.config import load_config
    from referee.tournament.entrants import known_participants

    early: Early | None = context.obj
    known = () if new else known_participants(file, out)
    config = load_config(file, known)
    peer = None if dry_run else scheduler_of(config.executor, executor, scheduler, ca, cert, key)
    if early is not None and (worker := early.worker) is not None:
        if peer is not None or any(bot.remote is not None or bot.copies for bot in config.bots):
            # Its matches are played elsewhere, or by a worker that has all of them.
            worker.kill()
            early = early._replace(worker=None)
        else:
            worker.prepare(game.game for game in config.games)
    tournament = _load(config, known, out, peer, dry_run=dry_run, accept_weaker=accept_weaker)

    from referee.cli.run_pages import play_tournament
    from referee.tournament.resources import available_cores

    if early is not None:
        begin_collection()

    workers = workers or len(available_cores())
    if dry_run:
        from referee.cli.run_preview import preview

        preview(tournament, out, workers, new=new, listed=listed, as_json=as_json)
        return
    code = play_tournament(
        tournament,
        out,
        workers,
        pin=pin,
        new=new,
        as_json=as_json,
        quiet=quiet,
        accept_weaker=accept_weaker,
        secret=secret,
        head_file=anchor,
        scheduler=peer,
        early=early,
    )
    if code != ExitCode.OK:
        raise typer.Exit(code)


def _load(
    config: "TournamentConfig",
    known: Sequence["Participant"],
    out: Path,
    peer: "Peer | None",
    *,
    dry_run: bool,
    accept_weaker: bool,
) -> "Tournament":
    """The tournament with its bots, which are built if they are to be played here. `known` are those of its run."""
    from referee.process.entry import is_built
    from referee.tournament.config import plays_elsewhere
    from referee.tournament.entrants import check_apart, load_tournament, sources_needed

    file = config.path
    elsewhere = peer is not None and plays_elsewhere(config)
    if not dry_run and not elsewhere:
        needed = sources_needed(config, known)
        skip_bad = config.skip_bad and not known
        if not all(is_built(*source) for source in needed):
            from referee.cli.building import build_missing

            build_missing(needed, out, file, begun=bool(known), accept_weaker=accept_weaker, skip_bad=skip_bad)
    tournament = load_tournament(file, known, to_play=not dry_run, elsewhere=elsewhere)
    if tournament.kept:
        tournament = _as_it_lies(file, out, to_play=not dry_run, elsewhere=elsewhere) or tournament
    check_apart(tournament, out)
    return tournament


def _as_it_lies(file: Path, out: Path, *, to_play: bool, elsewhere: bool) -> "Tournament | None":
    """The tournament with its bots as they are now, if there is an older run with just these; else None."""
    from referee.errors import ConfigError, PlatformError
    from referee.run.folder import has_run
    from referee.tournament.entrants import load_tournament
    from referee.tournament.identity import describe

    try:
        tournament = load_tournament(file, to_play=to_play, elsewhere=elsewhere)
    except (ConfigError, PlatformError):
        return None
    return tournament if has_run(out, describe(tournament)) else None
