"""`crosstown matches list | show | verify | export | rejudge`: the records of a run."""

from pathlib import Path
from typing import Annotated

import typer

from referee.cli.arguments import OUT, Out
from referee.cli.errors import ExitCode

app = typer.Typer(
    no_args_is_help=True, help="Match records: list them, step through one, verify them, write one as a file."
)

Run = Annotated[
    Path | None,
    typer.Option(
        "--run",
        help="Tournament file, run folder or name of a run, or any folder with records; default: all runs in --out.",
        show_default=False,
    ),
]
Reveal = Annotated[
    bool, typer.Option("--reveal", help="Of a match that is not over, also what seats hide from each other.")
]
AsJson = Annotated[bool, typer.Option("--json", help="As JSON.")]


@app.command("list")
def list_matches(
    named: Annotated[
        Path | None,
        typer.Argument(
            metavar="[RUN]",
            help="Tournament file, run folder or name of a run, or any folder with records; default: all in --out.",
            show_default=False,
        ),
    ] = None,
    run: Annotated[Path | None, typer.Option("--run", help="The same as RUN.", show_default=False)] = None,
    out: Out = OUT,
    last: Annotated[
        int | None, typer.Option(min=1, help="At most this many, the last; default: 20.", show_default=False)
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="All of them. --json has all without it.")] = False,
    bot: Annotated[
        list[str] | None,
        typer.Option(help="With this bot: its name, or the beginning of its entry id; repeatable.", show_default=False),
    ] = None,
    game: Annotated[str, typer.Option(help="Of this game.")] = "",
    reason: Annotated[str, typer.Option(help="That ended so, or with this fault, such as move_timeout.")] = "",
    tournament: Annotated[str, typer.Option(help="Of the tournament of this name.")] = "",
    since: Annotated[str, typer.Option("--from", metavar="TIME", help="Begun then or later: a day or time, UTC.")] = "",
    until: Annotated[str, typer.Option("--to", metavar="TIME", help="Begun by then; a day is meant whole.")] = "",
    void: Annotated[bool, typer.Option("--void", help="Also the records that were set aside.")] = False,
    as_json: AsJson = False,
) -> None:
    """The last matches with their results, in the order of the schedule; with options those that fit all of them."""
    from referee.cli.match_list import LAST, make_filter, print_failed_starts, print_list
    from referee.cli.record_files import failed_starts_in, find_records
    from referee.tournament.errors import UsageError

    if named is not None and run is not None:
        raise UsageError(f"two runs are named: {named} and {run}", "name one")
    if last is not None and every:
        raise UsageError("--last and --all exclude each other", "give one of them")
    run = named or run
    wanted = make_filter(bot or (), game, reason, tournament, since, until)
    most = None if every or (as_json and last is None) else last or LAST
    print_list(find_records(run, out, void=void, may_be_none=True), wanted, most, as_json=as_json)
    if not as_json:
        print_failed_starts(failed_starts_in(run, out))


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
    play: Annotated[bool, typer.Option("--play", help="Start the replay at once.")] = False,
    reveal: Reveal = False,
    as_json: AsJson = False,
) -> None:
    """Step through a match with single keys, or let it play; the keys are told below the board.

    Without a terminal: the list of moves with times and notes, the last position, and how it ended.
    """
    import sys

    from referee.cli.match_pages import Match, print_match, print_step, print_steps
    from referee.cli.record_files import find_record
    from referee.record import read_record

    record = read_record(find_record(match, run, out))
    if as_json:
        from leaderboard.export.document import match_document
        from referee.cli.output import print_json

        print_json(match_document(record, reveal=reveal))
        return
    replayed = Match(record, seat, reveal=reveal)
    if step is not None:
        print_step(replayed, step)
    elif every:
        print_steps(replayed)
    elif sys.stdin.isatty() and sys.stdout.isatty():
        from referee.cli.stepper import step_through

        step_through(record, seat, playing=play, reveal=reveal)
    else:
        print_match(replayed)


@app.command()
def verify(
    matches: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[MATCH | RUN]...",
            help="Ids or paths of records; tournament files, run folders or names of runs; default: all that count.",
            show_default=False,
        ),
    ] = None,
    run: Run = None,
    out: Out = OUT,
    void: Annotated[bool, typer.Option("--void", help="Also the records that were set aside.")] = False,
    key: Annotated[
        str,
        typer.Option(
            metavar="PUBLIC_KEY",
            help="The run has to be signed by this key, which its organiser has published: 64 hexadecimal digits.",
            show_default=False,
        ),
    ] = "",
    every: Annotated[bool, typer.Option("--all", help="A line for each record, not only for those that fail.")] = False,
    as_json: AsJson = False,
) -> int:
    """Play records again from their seeds and compare everything. Exits with 1 if one is wrong.

    A record of other rules than the installed ones cannot be played again: it is counted apart, and fails, too.

    Of a run the luck is checked too: each seed has to follow from the secret that the journal was committed to at the
    start and has revealed since. Each record has to be the one that counted, by its digest in the journal, and the
    journal has to go on from its head in a second place and from its signature. Matches without a record are named,
    unless single matches were asked for.
    """
    from referee.cli.completeness import gaps_in
    from referee.cli.match_pages import print_verdicts
    from referee.cli.record_files import anchor, find_record, find_records, identities, named_match, names_run, seeds
    from referee.cli.run_checks import checks_in
    from referee.record import verify as verify_path
    from referee.tournament.errors import UsageError

    named = [word for word in matches or () if names_run(word, out)]
    single = [find_record(word, run, out) for word in matches or () if word not in named]
    whole = [path for word in named for path in find_records(Path(word), out, void=void)]
    if not matches:
        whole = find_records(run, out, void=void)
    verdicts = (
        verify_path(
            path, identities=identities(path), seeds=seeds(path), match_id=named_match(path), anchored=anchor(path)
        )
        for path in [*whole, *single]
    )
    gaps = gaps_in(whole)
    checks = checks_in(whole, key, {gap.run: gap.missing for gap in gaps})
    if key and not checks:
        raise UsageError("--key is for runs, and none was named", "name one: crosstown matches verify RUN --key KEY")
    wrong = print_verdicts(verdicts, gaps, checks, every=every, as_json=as_json)
    return ExitCode.FAILED if wrong else ExitCode.OK


@app.command()
def export(
    match: Annotated[str, typer.Argument(metavar="MATCH", help="Id of a match, its beginning, or path of a record.")],
    file: Annotated[
        Path | None,
        typer.Argument(
            metavar="FILE", help="Where to write, - for stdout; default: MATCH.html here.", show_default=False
        ),
    ] = None,
    run: Run = None,
    out: Out = OUT,
    wanted: Annotated[
        str | None,
        typer.Option("--format", metavar="html|json|svg", help="Default: as FILE ends, or html.", show_default=False),
    ] = None,
    step: Annotated[
        int | None,
        typer.Option(min=0, help="svg: the board after so many steps; without it all, one after another."),
    ] = None,
    seat: Annotated[
        str | None, typer.Option(help="svg: as this seat saw it, or 'all'; default: what everybody could see.")
    ] = None,
    theme: Annotated[str | None, typer.Option(help="svg: light or dark; default: the reader's choice.")] = None,
    pace: Annotated[float | None, typer.Option(min=0.02, max=60, help="svg: seconds per step; default 1.")] = None,
    reveal: Reveal = False,
) -> None:
    """Write a match as one file that needs nothing else, and print where it is.

    html is a page to step through it, json the whole match for programs, svg a drawing.
    """
    from referee.cli.export import export_match
    from referee.cli.record_files import find_record, match_id
    from referee.record import read_record

    path = find_record(match, run, out)
    wanted = wanted or ("html" if file is None else None)
    export_match(
        read_record(path),
        file or Path(f"{match_id(path)}.{wanted}"),
        wanted=wanted,
        step=step,
        seat=seat,
        theme=theme,
        step_s=pace,
        reveal=reveal,
    )


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
