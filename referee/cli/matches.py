"""`crosstown matches list | show | verify`: the records of a run."""

from pathlib import Path
from typing import Annotated

import typer

from referee.cli.arguments import OUT, Out
from referee.cli.errors import ExitCode

app = typer.Typer(no_args_is_help=True, help="Match records: list them, step through one, verify them.")

Run = Annotated[
    Path | None,
    typer.Option(
        "--run", help="A run folder, or any folder with records; default: all runs in --out.", show_default=False
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="As JSON.")]


@app.command("list")
def list_matches(
    run: Run = None,
    out: Out = OUT,
    void: Annotated[bool, typer.Option("--void", help="Also the records that were set aside.")] = False,
    as_json: AsJson = False,
) -> None:
    """All matches with their results, in the order of the schedule."""
    from referee.cli.match_pages import print_list
    from referee.cli.record_files import find_records

    print_list(find_records(run, out, void=void), as_json=as_json)


@app.command()
def show(
    match: Annotated[str, typer.Argument(metavar="MATCH", help="Id of a match, its beginning, or path of a record.")],
    run: Run = None,
    out: Out = OUT,
    step: Annotated[
        int | None, typer.Option(min=0, help="Only the position after so many steps; 0 is the start.")
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="All positions, one after another.")] = False,
    seat: Annotated[
        int | None, typer.Option(min=0, help="As this seat saw it; default: what everybody could see.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Step through a match: n and p for the next and the previous step, j and a number to jump, q to quit.

    Without a terminal: the list of moves with times and notes, the last position, and how it ended.
    """
    import sys

    from referee.cli.match_pages import Match, print_json_record, print_match, print_step, print_steps
    from referee.cli.record_files import find_record
    from referee.record import read_record

    record = read_record(find_record(match, run, out))
    if as_json:
        print_json_record(record)
        return
    replayed = Match(record, seat)
    if step is not None:
        print_step(replayed, step)
    elif every:
        print_steps(replayed)
    elif sys.stdin.isatty() and sys.stdout.isatty():
        from referee.cli.stepper import step_through

        step_through(replayed)
    else:
        print_match(replayed)


@app.command()
def verify(
    matches: Annotated[
        list[str] | None,
        typer.Argument(metavar="MATCH...", help="Ids or paths; default: all records that count.", show_default=False),
    ] = None,
    run: Run = None,
    out: Out = OUT,
    void: Annotated[bool, typer.Option("--void", help="Also the records that were set aside.")] = False,
    every: Annotated[bool, typer.Option("--all", help="A line for each record, not only for those that fail.")] = False,
    as_json: AsJson = False,
) -> int:
    """Play records again from their seeds and compare everything. Exits with 1 if one is wrong."""
    from referee.cli.match_pages import print_verdicts
    from referee.cli.record_files import find_record, find_records, identities
    from referee.record import verify as verify_path

    paths = [find_record(match, run, out) for match in matches] if matches else find_records(run, out, void=void)
    wrong = print_verdicts(
        (verify_path(path, identities=identities(path)) for path in paths), every=every, as_json=as_json
    )
    return ExitCode.FAILED if wrong else ExitCode.OK


@app.command()
def rejudge(
    match: Annotated[str, typer.Argument(metavar="MATCH", help="Id of a match, its beginning, or path of a record.")],
    run: Run = None,
    out: Out = OUT,
    extra_ms: Annotated[int, typer.Option(min=0, help="Add so much to every limit of time.")] = 0,
    ranking: Annotated[str, typer.Option(help="Decide otherwise: a rank per seat, 1 the best, such as 1,2.")] = "",
    apply: Annotated[
        bool, typer.Option("--apply", help="Write it into the run's journal. Stop the run first.")
    ] = False,
    reason: Annotated[str, typer.Option(help="Why, for the journal.")] = "",
) -> int:
    """Judge a match again from the evidence in its record: whether each fault stands. Exits with 1 if one does not.

    With --apply a verdict that does not stand is void and the match is played again; with --ranking it counts so.
    """
    from referee.cli.rejudging import rejudge_match

    stands = rejudge_match(match, run, out, extra_ms=extra_ms, ranking=ranking, apply=apply, reason=reason)
    return ExitCode.OK if stands else ExitCode.FAILED
