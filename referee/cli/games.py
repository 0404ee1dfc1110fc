"""`crosstown games list | show | check`."""

import json
import time
import tomllib
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer
from rich.console import Console
from rich.markdown import Markdown
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from referee.games.api import DATA_OPTION, DataError, Game
from referee.games.conformance import Failure, Plan, ProgressError, Report, make_plan, resolve, run_plan
from referee.games.conformance.coverage import coverage
from referee.games.conformance.plan import LONG_MATCHES
from referee.games.conformance.source import readme
from referee.games.registry import BrokenGame, UnknownGame, game_ids, load_game

FAILED = 1
MISUSED = 2
INTERRUPTED = 130

app = typer.Typer(no_args_is_help=True, help="The installed games: what they are, and whether they keep the contract.")

GameId = Annotated[str, typer.Argument(metavar="ID", help="A game's id, or module:ATTRIBUTE for one not installed.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead.")]


@app.command("list")
def list_games(as_json: AsJson = False) -> None:
    """All installed games, and plug-ins that do not work."""
    found = [load_game(game_id) for game_id in game_ids()]
    broken = [game for game in found if isinstance(game, BrokenGame)]
    games = [game for game in found if not isinstance(game, BrokenGame)]
    if as_json:
        rows = [summary(game) for game in games]
        print_json({"games": rows, "broken": [asdict(game) for game in broken]})
        return
    table = Table("id", "title", "players", "rules version")
    for game in games:
        table.add_row(game.id, game.title, players_of(game), str(game.rules_version))
    Console().print(table)
    for problem in broken:
        complain(f"{problem.id} ({problem.source}) cannot be loaded: {problem.problem}")


@app.command()
def show(game_id: GameId, as_json: AsJson = False) -> None:
    """The rules as implemented, options, and what a user must know about a game."""
    game = game_or_exit(game_id)
    rules = readme(game)
    if as_json:
        options = [{**asdict(option), "expected": option.expected()} for option in game.options]
        print_json({**summary(game), "notes": list(game.notes), "options": options, "readme": rules})
        return
    console = Console()
    heading = f"{game.title} ({game.id}), {players_of(game)} players, rules version {game.rules_version}"
    console.print(Text(heading, style="bold"))
    for note in game.notes:
        console.print(Text(f"Note: {note}"))
    if game.options:
        table = Table("option", "default", "takes", "mark", "meaning", title="Options")
        for option in game.options:
            cells = (option.name, shown(option.default), option.expected(), option.confidence, option.doc)
            table.add_row(*(Text(cell) for cell in cells))
        console.print(table)
    console.print(Text("The game's folder has no README.md.") if rules is None else Markdown(rules))


@app.command()
def check(
    game_id: GameId,
    matches: Annotated[
        int | None, typer.Option(min=1, help="Matches to play; the first 1,000 with all checks at every node.")
    ] = None,
    players: Annotated[int | None, typer.Option(help="Only with this number of players.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Number of the first match for each player count.")] = 0,
    workers: Annotated[int, typer.Option(min=1, help="Processes that play.")] = 1,
    long: Annotated[bool, typer.Option("--long", help=f"The same as --matches {LONG_MATCHES}.")] = False,
    progress: Annotated[
        Path | None, typer.Option(help="Keep finished portions in this file, and go on from it.")
    ] = None,
    data: Annotated[
        Path | None, typer.Option(help="Check and play with this box data (JSON or TOML) instead of the game's own.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Play random matches and check everything the games contract promises.

    Without --matches a short run of some seconds. Exit codes: 0 passed, 1 something failed, 2 wrong use,
    130 interrupted.
    """
    game = game_or_exit(game_id)
    box = None if data is None else box_or_exit(game, data)
    try:
        plan = make_plan(
            game, game_id, players=players, seed=seed, matches=matches or (LONG_MATCHES if long else None), data=box
        )
        report = run_shown(game, plan, workers, progress, quiet=as_json)
    except (ValueError, ProgressError) as error:
        exit_with(MISUSED, str(error))
    except KeyboardInterrupt:
        how = "; run the same line again to go on" if progress else "; with --progress FILE it could be continued"
        exit_with(INTERRUPTED, f"interrupted{how}")
    suffix = "" if data is None else f" --data {data}"
    if as_json:
        print_json(report_json(report, suffix))
    else:
        print_report(report, suffix)
    if not report.passed:
        raise typer.Exit(FAILED)


def run_shown(game: Game, plan: Plan, workers: int, progress: Path | None, *, quiet: bool) -> Report:
    """Run with a progress bar on stderr."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True, disable=quiet) as bar:
        task = bar.add_task(f"{plan.ref}: matches", total=plan.matches)
        return run_plan(
            game, plan, workers=workers, progress=progress, on_done=lambda done: bar.update(task, completed=done)
        )


def print_report(report: Report, suffix: str) -> None:
    console = Console(highlight=False)
    table = Table(show_header=False, box=None, pad_edge=False)
    for heading, line in coverage(report.tally):
        table.add_row(Text(heading, style="bold"), Text(line))
    console.print(table)
    kept = f", {report.kept:,} of them in earlier runs" if report.kept else ""
    counts = f"{report.done:,} of {report.plan.matches:,} matches{kept}, {report.wall_s:.1f} s"
    traces: set[str] = set()
    for failure in report.failures:
        print_failure(console, failure, suffix, with_trace=failure.trace not in traces)
        traces.add(failure.trace)
    verdict = Text("passed", style="bold green") if report.passed else Text("FAILED", style="bold red")
    console.print(verdict, Text(f"{report.game}: {counts}"))


def print_failure(console: Console, failure: Failure, suffix: str, *, with_trace: bool) -> None:
    console.print(Text(f"{failure.check}", style="bold red"), Text(failure.message))
    if failure.node is not None:
        where = (
            f"  in a match of {failure.players} players, seed {failure.seed}, at node {failure.node} after "
            f"{failure.decision} decisions, options {failure.options}"
        )
        console.print(Text(where))
    if failure.trace and with_trace:
        console.print(Text(failure.trace.rstrip(), style="dim"))
    console.print(Text(f"  see it again: {failure.command()}{suffix}"), soft_wrap=True)


def report_json(report: Report, suffix: str) -> dict[str, Any]:
    failures = [failure.to_json() for failure in report.failures]
    for failure in failures:
        failure["command"] += suffix
    plan = asdict(report.plan)
    del plan[DATA_OPTION]
    return {
        "game": report.game,
        "passed": report.passed,
        "matches": report.done,
        "kept": report.kept,
        "wall_s": round(report.wall_s, 3),
        "finished_at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "plan": plan,
        "failures": failures,
        "coverage": report.tally.to_json(),
    }


def game_or_exit(game_id: str) -> Game:
    try:
        return resolve(game_id)
    except UnknownGame as error:
        exit_with(MISUSED, str(error))


def box_or_exit(game: Game, path: Path) -> Any:
    """The data in `path`, if the game takes it."""
    try:
        text = path.read_text(encoding="utf-8")
        box = tomllib.loads(text) if path.suffix == ".toml" else json.loads(text)
        game.check_data(box)
    except (OSError, ValueError, DataError) as error:
        exit_with(MISUSED, f"{path}: {error}")
    return box


def summary(game: Game) -> dict[str, Any]:
    return {
        "id": game.id,
        "title": game.title,
        "players": list(game.player_counts),
        "rules_version": game.rules_version,
        "draws_possible": game.draws_possible,
    }


def players_of(game: Game) -> str:
    return ", ".join(str(count) for count in game.player_counts)


def shown(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def print_json(value: Any) -> None:
    typer.echo(json.dumps(value, indent=2, ensure_ascii=False))


def complain(sentence: str) -> None:
    typer.echo(sentence, err=True)


def exit_with(code: int, sentence: str) -> NoReturn:
    complain(sentence)
    raise typer.Exit(code)
