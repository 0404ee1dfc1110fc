"""What `crosstown games` prints. Imported when there is something to print."""

import sys
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from rich.console import Console
from rich.markdown import Markdown
from rich.table import Table
from rich.text import Text

from referee.cli.output import console, duration, print_json, print_text, table
from referee.games.api import Game
from referee.games.conformance import Failure, Report
from referee.games.conformance.game_object import readme
from referee.games.conformance.tally import coverage
from referee.games.registry import BrokenGame
from referee.texts import plural


def print_list(found: Sequence[Game | BrokenGame], *, as_json: bool, unusable: str = "broken") -> None:
    """Working games as a table, the others below it by name, each called `unusable`."""
    broken = [game for game in found if isinstance(game, BrokenGame)]
    games = [game for game in found if not isinstance(game, BrokenGame)]
    if as_json:
        print_json({"games": [_summary(game) for game in games], "broken": [_problem(game) for game in broken]})
        return
    out = console()
    rows = table(
        [("id", "left"), ("title", "left"), ("players", "left"), ("rules version", "right")], plain=not out.is_terminal
    )
    for game in games:
        rows.add_row(*(Text(cell) for cell in (game.id, game.title, _players(game), str(game.rules_version))))
    out.print(rows)
    for problem in broken:
        out.print(Text(f"{unusable}: {problem.id} ({problem.source}): {problem.problem}"))


def _problem(game: BrokenGame) -> dict[str, str]:
    return {"id": game.id, "source": game.source, "problem": game.problem}


def print_game(game: Game, *, as_json: bool) -> None:
    """Notes, options, and the rules from the README of the game's folder."""
    rules = readme(game)
    if as_json:
        options = [{**asdict(option), "expected": option.expected()} for option in game.options]
        print_json({**_summary(game), "notes": list(game.notes), "options": options, "readme": rules})
        return
    out = console()
    heading = f"{game.title} ({game.id}), {_players(game)} players, rules version {game.rules_version}"
    out.print(Text(heading, style="bold"))
    for note in game.notes:
        out.print(Text(f"Note: {note}"))
    if game.options:
        names = ("option", "default", "takes", "mark", "meaning")
        rows = table([(name, "left") for name in names], plain=not out.is_terminal)
        for column in rows.columns:
            column.no_wrap = column.header in ("option", "mark")
        for option in game.options:
            default = str(option.default)
            default = default.lower() if isinstance(option.default, bool) else default
            cells = (option.name, default, option.expected(), option.confidence, option.doc)
            rows.add_row(*(Text(cell) for cell in cells))
        out.print(rows)
    if rules is None:
        print_text("The game's folder has no README.md.")
    elif out.is_terminal:
        out.print(Markdown(rules))
    else:
        print_text(rules)


def print_data(game: Game, *, as_json: bool) -> None:
    """Box data, and observations and actions as arrays."""
    from referee.cli.game_data import data_as_json, data_page

    if as_json:
        print_json(data_as_json(game))
        return
    out, page = console(), data_page(game)
    if out.is_terminal:
        out.print(Markdown(page))
    else:
        print_text(page)


def print_report(report: Report, *, suffix: str, as_json: bool) -> None:
    """Coverage, failures, verdict. `suffix` goes to the end of the lines that show a failure again."""
    if as_json:
        print_json(_report(report, suffix))
        return
    out = console()
    _print_coverage(out, report)
    for check, why in report.not_checked.items():
        out.print(Text(f"not checked: {check}: {why}"))
    traces: set[str] = set()
    for failure in report.failures:
        out.print(Text.assemble((f"{failure.check}: ", "bold red"), failure.message))
        if failure.node is not None:
            out.print(Text(f"  {_place(failure)}"))
        if failure.trace and failure.trace not in traces:
            out.print(Text(failure.trace.rstrip(), style="dim"))
        traces.add(failure.trace)
        out.print(Text(f"  see it again: {failure.command()}{suffix}"), soft_wrap=True)
    verdict = ("passed", "bold green") if report.passed else ("FAILED", "bold red")
    kept = f", {report.kept:,} of them in earlier runs" if report.kept else ""
    counts = f"{report.done:,} of {report.plan.matches:,} matches{kept}, {duration(report.wall_s)}"
    out.print(Text.assemble(verdict, f" {report.game}: {counts}"))


def print_interrupted(*, resumable: bool) -> None:
    """What Ctrl-C has ended, on stderr."""
    step = (
        "run the same command again to continue"
        if resumable
        else "add --progress FILE to be able to continue next time"
    )
    print(f"error: interrupted\nnext: {step}", file=sys.stderr)


def _print_coverage(out: Console, report: Report) -> None:
    if not out.is_terminal:
        for heading, line in coverage(report.tally):
            print_text(f"{heading}: {line}")
        return
    rows = Table(box=None, show_header=False, pad_edge=False)
    for heading, line in coverage(report.tally):
        rows.add_row(Text(heading, style="bold", no_wrap=True), Text(line))
    out.print(rows)


def _place(failure: Failure) -> str:
    options = "default options" if failure.options == "{}" else f"options {failure.options}"
    return (
        f"in a match of {failure.players} players, seed {failure.seed}, at node {failure.node} after "
        f"{plural(failure.decision or 0, 'decision')}, {options}"
    )


def _report(report: Report, suffix: str) -> dict[str, Any]:
    plan = asdict(report.plan)
    del plan["data"]
    failures = [failure.to_json() for failure in report.failures]
    return {
        "game": report.game,
        "passed": report.passed,
        "matches": report.done,
        "kept": report.kept,
        "wall_s": round(report.wall_s, 3),
        "plan": plan,
        "failures": [{**failure, "command": failure["command"] + suffix} for failure in failures],
        "coverage": report.tally.to_json(),
        "not_checked": dict(report.not_checked),
    }


def _summary(game: Game) -> dict[str, Any]:
    return {
        "id": game.id,
        "title": game.title,
        "players": list(game.player_counts),
        "rules_version": game.rules_version,
        "draws_possible": game.draws_possible,
    }


def _players(game: Game) -> str:
    return ", ".join(str(count) for count in game.player_counts)
