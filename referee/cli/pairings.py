"""`crosstown pairings`: who sits at which table in a round, to read or to print."""

from typing import Annotated

import typer

from referee.cli.arguments import OUT, LatestRun, Out


def pairings(
    run: LatestRun = None,
    out: Out = OUT,
    number: Annotated[
        int | None,
        typer.Option("--round", metavar="NUMBER", help="Round to print. Default: the last one that is known.", min=1),
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Print all rounds that are known.")] = False,
    stage: Annotated[
        str, typer.Option(metavar="NAME", help="Only this stage, with all its groups, or this group of a stage.")
    ] = "",
    as_html: Annotated[
        bool, typer.Option("--html", help="Print a page that can be printed, one sheet for each round.")
    ] = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print CSV, one line for each table.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, one object for each table.")] = False,
) -> None:
    """Print the tables of a round, with the results so far, of a format that pairs in rounds.

    A round is known when the round before is settled, also in a run that is stopped.

    Example: crosstown pairings swiss --round 2 --html
    """
    from leaderboard.controls import paired_rows
    from leaderboard.index import load_index
    from leaderboard.pairings import pairing_rows, pairings_page, rounds_with_tables
    from leaderboard.schedule_view import view_schedule
    from referee.cli.find import find_run
    from referee.cli.output import print_csv, print_json, print_text
    from referee.errors import UsageError
    from referee.texts import one_line

    if as_html + as_csv + as_json > 1:
        raise UsageError("--html, --csv and --json exclude each other", "give one of them")
    if every and number is not None:
        raise UsageError("--all and --round exclude each other", "give one of them")
    found = find_run(run, out)
    rows = load_index(found.folder).rows
    rounds = rounds_with_tables(view_schedule(found, rows), paired_rows(rows, found.controls))
    if not rounds:
        raise UsageError("this run has no rounds", "pairings are for formats in rounds: swiss, knockout, stages")
    stages = list(dict.fromkeys(one.stage for one in rounds))
    if stage:
        rounds = [one for one in rounds if one.stage == stage or one.stage.rpartition(" ")[0] == stage]
        if not rounds:
            known = ", ".join(one_line(name) for name in stages if name) or "none"
            raise UsageError(f"no stage is called {one_line(stage)!r}", f"the stages so far are: {known}")
    if not every:
        last = rounds[-1].stage
        # The groups of a stage play their rounds side by side.
        group = [one for one in rounds if stage or _stage_of(one.stage, stages) == _stage_of(last, stages)]
        wanted = max(one.number for one in group) if number is None else number
        rounds = [one for one in (rounds if number else group) if one.number == wanted]
        if not rounds:
            raise UsageError(f"round {number} is not known yet", "print the last round: leave --round out")
    values = pairing_rows(rounds)
    if as_html:
        print_text(pairings_page(found.configuration["name"], rounds).rstrip("\n"))
    elif as_csv:
        print_csv(values, tuple(values[0]))
    elif as_json:
        print_json(values)
    else:
        for one in rounds:
            print_text(one_line(one.title))
            for table in one.tables:
                left = f"  {table.left} to play" if table.left else ""
                where = f"table {table.number:>3}" if table.number else "         "
                print_text(one_line(f"  {where}  {' - '.join(table.names)}  {table.result}{left}"))


def _stage_of(label: str, labels: list[str]) -> str:
    """The stage of a group: its label without the letter, where that of other groups begins alike."""
    name = label.rpartition(" ")[0]
    return name if name and any(other != label and other.rpartition(" ")[0] == name for other in labels) else label
