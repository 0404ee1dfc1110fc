"""`crosstown bots check`: the drills, row by row as they end, and what to mend first."""

from collections.abc import Sequence
from pathlib import Path

from referee.cli.building import load_or_build
from referee.cli.confining import Confinement, tell, tell_unseen
from referee.cli.one_match import GRANTS, sandbox_may_help
from referee.cli.output import print_json, print_text
from referee.compliance import Report, Row, check_bot
from referee.errors import UsageError
from referee.event_loop import run_loop
from referee.games.api import Game
from referee.games.registry import BrokenGame, game_ids, get_game, load_game
from referee.process.cgroup import find
from referee.process.entry import Entry
from referee.process.launch import LaunchContext
from referee.process.manifest import ANY_GAME
from referee.texts import missing_package, one_line

_SHOWN_OUTPUT_LINES = 20


def check_folder(
    folder: Path,
    only: Sequence[str] | None,
    startup_s: float,
    confinement: Confinement,
    *,
    fail_fast: bool,
    as_json: bool,
) -> bool:
    """Whether every drill passed. A bot that is not built yet is built first."""
    entry = load_or_build(folder, confinement.sandbox.profile)
    games = games_of(entry, only)

    def show(row: Row) -> None:
        mark = {"passed": "ok  ", "failed": "FAIL", "note": "note"}[row.outcome]
        where = f" {row.game}" if row.game else ""
        print_text(f"{mark} {row.drill}{where}: {one_line(row.detail)}")

    if not as_json:
        print_text(f"{one_line(entry.name)} {one_line(entry.manifest.version)}, entry {entry.id}")
    tell(confinement, quiet=as_json)
    tell_unseen(confinement, [entry])
    on_row = (lambda row: None) if as_json else show
    context = LaunchContext(confinement.sandbox, find())
    checked = check_bot(entry, games, context=context, startup_s=startup_s, fail_fast=fail_fast, on_row=on_row)
    report = run_loop(checked)
    if as_json:
        print_json({**report.to_dict(), "sandbox": str(confinement.sandbox)})
    else:
        _conclude(report)
        first = report.first_failure
        if first is not None and (advice := missing_package(report.stderr)):
            print_text(one_line(advice))
        elif (
            first is not None
            and "exit code" in first.detail
            and confinement.sandbox.profile == "strict"
            and sandbox_may_help(report.stderr)
        ):
            print_text(GRANTS)
    return report.passed


def games_of(entry: Entry, only: Sequence[str] | None) -> list[Game]:
    """The games it declares, all installed ones for "*"; or those of the command line. UsageError or UnknownGame."""
    declared = entry.manifest.games
    if only:
        for name in only:
            if ANY_GAME not in declared and name not in declared:
                raise UsageError(
                    f"bot '{entry.name}' does not declare the game '{name}'", f"its bot.toml has: {', '.join(declared)}"
                )
        return [get_game(name) for name in only]
    if ANY_GAME in declared:
        return [game for game in map(load_game, game_ids()) if not isinstance(game, BrokenGame)]
    return [get_game(name) for name in declared]


def _conclude(report: Report) -> None:
    first = report.first_failure
    if first is None:
        print_text(f"passed: {sum(row.outcome == 'passed' for row in report.rows)} drills")
        return
    print_text()
    print_text(f"correct first: {first.drill}{f' with {first.game}' if first.game else ''}: {one_line(first.detail)}")
    for name, text in (("stdout", report.stdout), ("stderr", report.stderr)):
        if text.strip():
            print_text(f"what it printed to {name} (the end):")
            for line in text.strip().splitlines()[-_SHOWN_OUTPUT_LINES:]:
                print_text(f"    {one_line(line)}")
