"""`crosstown games list | show | check`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from referee.cli.arguments import AsJson
from referee.cli.errors import ExitCode

if TYPE_CHECKING:
    from referee.games.api import Game
    from referee.games.conformance import Plan, Report

app = typer.Typer(no_args_is_help=True, help="List, show and check games.")

GameId = Annotated[
    str, typer.Argument(metavar="GAME", help="Id of a game, or module:ATTRIBUTE of one that is not installed.")
]

MOST_MATCHES = 1_000_000_000


@app.command("list")
def list_games(
    family: Annotated[
        str | None,
        typer.Argument(metavar="FAMILY", help="Name of a library: openspiel lists its games.", show_default=False),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List all installed games, and plug-ins that do not work.

    The games of OpenSpiel are listed by 'crosstown games list openspiel'.

    Example: crosstown games list
    """
    from referee.cli.game_pages import print_list
    from referee.cli.output import print_text
    from referee.errors import UsageError
    from referee.games.registry import OPENSPIEL, all_openspiel_ids, game_ids, has_openspiel, load_game

    if family not in (None, OPENSPIEL):
        raise UsageError(f"there is no family of games '{family}'", f"the only one is: {OPENSPIEL}")
    ids = game_ids() if family is None else all_openspiel_ids()
    unusable = "broken" if family is None else "not playable"
    print_list([load_game(game_id) for game_id in ids], as_json=as_json, unusable=unusable)
    if family is None and not as_json and has_openspiel():
        print_text(f"the games of OpenSpiel: crosstown games list {OPENSPIEL}")


@app.command()
def show(
    game: GameId,
    data: Annotated[
        bool,
        typer.Option(
            "--data",
            help="Print the box data instead (board, cards, tiles), and how observations and actions become arrays.",
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Print the rules of a game as implemented, its options, and what is a reconstruction.

    Example: crosstown games show shibuya
    """
    from referee.cli.game_pages import print_data, print_game
    from referee.games.conformance.game_object import resolve

    found = resolve(game)
    if data:
        print_data(found, as_json=as_json)
    else:
        print_game(found, as_json=as_json)


@app.command()
def check(
    game: GameId,
    matches: Annotated[
        int | None,
        typer.Option(
            metavar="NUMBER",
            help="Number of matches. All checks run at every node of the first 1000, and at 1 % of the nodes "
            "after that.",
            min=1,
            max=MOST_MATCHES,
        ),
    ] = None,
    players: Annotated[
        int | None, typer.Option(metavar="NUMBER", help="Play only with this number of players.")
    ] = None,
    seed: Annotated[
        int, typer.Option(metavar="NUMBER", help="Number of the first match for each number of players.", min=0)
    ] = 0,
    workers: Annotated[int, typer.Option(metavar="NUMBER", help="Number of processes.", min=1, max=1024)] = 1,
    long: Annotated[bool, typer.Option("--long", help="The same as --matches 100000.")] = False,
    progress: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Store finished parts in this file, and continue from it.")
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Play with this box data (JSON or TOML) instead of the game's own."),
    ] = None,
    golden: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also replay the recorded matches in this file.")
    ] = None,
    write_golden: Annotated[
        bool,
        typer.Option(
            "--write-golden", help="First record matches into the file of --golden, for a new version of the rules."
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Play random matches and check everything that the contract of games promises.

    Without --matches or --long this takes some seconds. The exit code is 1 if a check failed.

    Example: crosstown games check shibuya --players 2
    """
    from referee.cli.game_pages import print_interrupted, print_report
    from referee.errors import UsageError
    from referee.games.conformance import make_plan, resolve
    from referee.games.conformance import write_golden as record_matches
    from referee.games.conformance.run import LONG_MATCHES
    from referee.run.folder import output_file

    found = resolve(game)
    wanted = LONG_MATCHES if long and matches is None else matches
    box = None if data is None else _box(found, data)
    if write_golden:
        if golden is None:
            raise UsageError("--write-golden needs a file to write", "add --golden FILE")
        golden = output_file(golden, "name another file with --golden")
        record_matches(found, golden)
    elif golden is not None and not golden.is_file():
        raise UsageError(f"--golden {golden} is not a file", "name a file of recorded matches, or add --write-golden")
    plan = make_plan(found, game, players=players, seed=seed, matches=wanted, data=box)
    try:
        report = _run(found, plan, workers, progress, golden, quiet=as_json)
    except KeyboardInterrupt:
        print_interrupted(resumable=progress is not None)
        raise typer.Exit(ExitCode.INTERRUPTED) from None
    files = {"--data": data, "--golden": golden}
    suffix = "".join(f" {option} {path}" for option, path in files.items() if path is not None)
    print_report(report, suffix=suffix, as_json=as_json)
    if not report.passed:
        raise typer.Exit(ExitCode.FAILED)


def _run(
    game: "Game", plan: "Plan", workers: int, progress: Path | None, golden: Path | None, *, quiet: bool
) -> "Report":
    """Run with a progress bar on stderr, where that is a terminal."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    from referee.cli.output import console
    from referee.games.conformance import run_plan

    out = console(stderr=True)
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=out, transient=True, disable=quiet or not out.is_terminal) as bar:
        task = bar.add_task(f"{plan.ref}: matches", total=plan.matches)
        return run_plan(
            game,
            plan,
            workers=workers,
            progress=progress,
            golden=golden,
            on_done=lambda done: bar.update(task, completed=done),
        )


def _box(game: "Game", path: Path) -> Any:
    """The data in `path`, if the game takes it. UsageError and DataError name the file."""
    import json
    import tomllib

    from referee.errors import UsageError, why_unread
    from referee.games.api import DataError
    from referee.tournament.reading import read_text

    try:
        text = read_text(path)
    except (OSError, UnicodeDecodeError) as error:
        what = f"--data {path}: cannot be read ({why_unread(error)})"
        raise UsageError(what, "check the path and its rights") from None
    try:
        box = tomllib.loads(text) if path.suffix == ".toml" else json.loads(text)
        game.check_data(box)
    except (ValueError, RecursionError, DataError) as error:
        raise DataError(f"{path}: {error}") from error
    return box
