"""`crosstown matches list | show | verify | export | rejudge`: the records of a run."""

import re
from pathlib import Path
from typing import Annotated

import typer

from referee.cli.arguments import OUT, AsJson, OfGame, Out, Since, Until, WithBots, WithReason, run_place
from referee.cli.errors import ExitCode

app = typer.Typer(no_args_is_help=True, help="List, show, verify, export and rejudge match records.")

Run = Annotated[
    Path | None,
    typer.Option(
        "--run",
        metavar="RUN",
        parser=run_place,
        help="Tournament file, run folder, name of a run, or any folder with records. Default: all runs in --out.",
        show_default=False,
    ),
]
Reveal = Annotated[
    bool, typer.Option("--reveal", help="Also show what seats hide from each other in a match that is not over.")
]


@app.command("list")
def list_matches(
    named: Annotated[
        Path | None,
        typer.Argument(
            metavar="[RUN]",
            parser=run_place,
            help="Tournament file, run folder, name of a run, or any folder with records. Default: all runs in --out.",
            show_default=False,
        ),
    ] = None,
    run: Annotated[
        Path | None,
        typer.Option(
            "--run", metavar="RUN", parser=run_place, help="The same as the argument RUN.", show_default=False
        ),
    ] = None,
    out: Out = OUT,
    last: Annotated[
        int | None,
        typer.Option(
            metavar="NUMBER",
            help="Print at most this many matches, the last ones. Default: 20.",
            min=1,
            show_default=False,
        ),
    ] = None,
    every: Annotated[
        bool, typer.Option("--all", help="Print all matches. --json prints all without this option.")
    ] = False,
    bot: WithBots = None,
    game: OfGame = "",
    reason: WithReason = "",
    tournament: Annotated[
        str, typer.Option(metavar="NAME", help="Only matches of the tournament with this name.")
    ] = "",
    since: Since = "",
    until: Until = "",
    void: Annotated[bool, typer.Option("--void", help="Also list records that do not count.")] = False,
    as_json: AsJson = False,
) -> None:
    """List the last matches with their results, in schedule order. Several options select matches that meet all of
    them.

    Example: crosstown matches list first --bot walker --reason normal
    """
    from leaderboard.match_list import list_matches as list_wanted
    from leaderboard.match_list import make_filter, rows_of, select_matches
    from referee.cli.find import failed_starts_in, find_folders, find_last_records, find_records, has_records
    from referee.cli.match_rows import print_failed_starts, print_list
    from referee.errors import UsageError

    if named is not None and run is not None:
        raise UsageError(f"two runs are named: {named} and {run}", "name one")
    if last is not None and every:
        raise UsageError("--last and --all exclude each other", "give one of them")
    run = named or run
    wanted = make_filter(bot or (), game, reason, tournament, since, until)
    most = None if every or (as_json and last is None) else last or 20
    found = find_last_records(run, out, most) if most and wanted.empty and not void else None
    if found is not None:
        rows, total = rows_of(found[0]), found[1]
    elif not wanted.empty and not void:
        rows, total = select_matches(find_folders(run, out), wanted, most)
        if not rows and not has_records(run, out):
            find_records(run, out, void=False, may_be_none=True)  # says what is wrong
    else:
        rows, total = list_wanted(find_records(run, out, void=void, may_be_none=True), wanted, most)
    print_list(rows, total, filtered=not wanted.empty, void=void, as_json=as_json)
    if not as_json:
        print_failed_starts(failed_starts_in(run, out))


@app.command()
def show(
    match: Annotated[
        str, typer.Argument(metavar="MATCH", help="Match id, its first characters, or the path of a record.")
    ],
    run: Run = None,
    out: Out = OUT,
    step: Annotated[
        int | None,
        typer.Option(metavar="NUMBER", help="Print only the position after this many steps. 0 is the start.", min=0),
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Print all positions, one after another.")] = False,
    seat: Annotated[
        int | None,
        typer.Option(metavar="NUMBER", help="Show the view of this seat. Default: what everybody could see.", min=0),
    ] = None,
    play: Annotated[bool, typer.Option("--play", help="Start the automatic replay at once.")] = False,
    reveal: Reveal = False,
    as_json: AsJson = False,
) -> None:
    """Step through a match with single keys, which are listed below the board.

    Without a terminal, print the moves with times and notes, the final position, and how the match ended.

    Example: crosstown matches show MATCH --step 40 --seat 1
    """
    import sys

    from referee.cli.find import find_record
    from referee.cli.match_pages import Match, print_match, print_step, print_steps
    from referee.errors import UsageError
    from referee.record import read_record

    if step is not None and every:
        raise UsageError("--step and --all exclude each other", "give one of them")
    views = {"--step": step is not None, "--all": every, "--seat": seat is not None, "--play": play}
    if as_json and (option := next((name for name, given in views.items() if given), "")):
        raise UsageError(f"{option} and --json exclude each other", "--json prints the whole match: give one of them")
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
            help="Ids or paths of records, tournament files, run folders or names of runs. Default: all "
            "records that count.",
            show_default=False,
        ),
    ] = None,
    run: Run = None,
    out: Out = OUT,
    void: Annotated[bool, typer.Option("--void", help="Also verify records that do not count.")] = False,
    key: Annotated[
        str,
        typer.Option(
            metavar="PUBLIC_KEY",
            help="Require that the run is signed with this public key of the organiser: 64 hexadecimal digits.",
            show_default=False,
        ),
    ] = "",
    every: Annotated[
        bool, typer.Option("--all", help="Print a line for each record, not only for those that fail.")
    ] = False,
    as_json: AsJson = False,
) -> int:
    """Replay records from their seeds and compare every line. The exit code is 1 if a record is wrong.

    A record of other rules than the installed ones cannot be replayed. It is counted separately, and fails, too.

    For a run, the command also checks that each seed follows from the secret of the run, once it is revealed; that
    each record has the digest that the journal names; and that the journal fits its stored head and its signature.
    It names matches without a record, unless you name single matches.

    Example: crosstown matches verify first
    """
    from leaderboard.completeness import Verification, are_of_runs
    from referee.cli.find import find_record, find_records, names_run
    from referee.cli.match_pages import print_verdicts
    from referee.errors import UsageError

    if key and not re.fullmatch("[0-9a-fA-F]{64}", key.strip()):
        raise UsageError(
            f"--key {key!r} is not 64 hexadecimal digits", "give the public key that crosstown sign printed"
        )
    named = [word for word in matches or () if names_run(word, out)]
    if run is not None and matches and len(named) == len(matches):
        raise UsageError(f"two runs are named: {named[0]} and {run}", "name one")
    single = [find_record(word, run, out) for word in matches or () if word not in named]
    whole = [path for word in named for path in find_records(run_place(word), out, void=void)]
    if not matches:
        whole = find_records(run, out, void=void)
    if key and not are_of_runs(whole):
        raise UsageError("--key is for runs, and none is named", "name one: crosstown matches verify RUN --key KEY")
    verification = Verification()
    verdicts = verification.verify_all([*whole, *single])
    gaps, checks = verification.gaps(whole), verification.checks(whole, key)
    wrong = print_verdicts(verdicts, gaps, checks, every=every, as_json=as_json)
    return ExitCode.FAILED if wrong else ExitCode.OK


@app.command()
def export(
    match: Annotated[
        str,
        typer.Argument(
            metavar="MATCH",
            help="Match id, its first characters, or the path of a record. For pgn and sgf also 'all': all of the run.",
        ),
    ],
    file: Annotated[
        Path | None,
        typer.Argument(
            metavar="[FILE]",
            help="File to write; - is standard output. Default: MATCH.html in this folder.",
            show_default=False,
        ),
    ] = None,
    run: Run = None,
    out: Out = OUT,
    wanted: Annotated[
        str | None,
        typer.Option(
            "--format",
            metavar="html|json|svg|pgn|sgf",
            help="Format of the file. Default: by the ending of FILE, or html.",
            show_default=False,
        ),
    ] = None,
    step: Annotated[
        int | None,
        typer.Option(
            metavar="NUMBER",
            help="For svg: draw the board after this many steps. Default: an animation of all steps.",
            min=0,
        ),
    ] = None,
    seat: Annotated[
        str | None,
        typer.Option(
            metavar="SEAT",
            help="For svg: the view of this seat, such as 1, or 'all'. Default: what everybody could see.",
        ),
    ] = None,
    theme: Annotated[
        str | None, typer.Option(metavar="light|dark", help="For svg: the colours. Default: the reader's preference.")
    ] = None,
    pace: Annotated[
        float | None,
        typer.Option(
            metavar="SECONDS", help="For svg: seconds per step of the animation. Default: 1.", min=0.02, max=60
        ),
    ] = None,
    reveal: Reveal = False,
) -> None:
    """Write a match as one self-contained file, and print its path.

    html is a page to step through the match, json the whole match for programs, svg a drawing. Chess also has pgn, Go
    sgf, with clocks and the notes of engines; for these MATCH can be 'all'.

    Example: crosstown matches export MATCH board.svg --step 40
    """
    from referee.cli.find import find_record, find_records
    from referee.cli.match_actions import ALL, export_all, export_match
    from referee.record import read_record
    from referee.record.store import record_name

    if match == ALL:
        export_all(find_records(run, out, void=False), file, wanted)
        return
    path = find_record(match, run, out)
    wanted = wanted or ("html" if file is None else None)
    export_match(
        read_record(path),
        file or Path(f"{record_name(path)}.{wanted}"),
        wanted=wanted,
        step=step,
        seat=seat,
        theme=theme,
        step_s=pace,
        reveal=reveal,
    )


@app.command()
def rejudge(
    match: Annotated[
        str, typer.Argument(metavar="MATCH", help="Match id, its first characters, or the path of a record.")
    ],
    run: Run = None,
    out: Out = OUT,
    extra_ms: Annotated[
        int, typer.Option(metavar="MS", help="Add this many milliseconds to every time limit.", min=0, max=86_400_000)
    ] = 0,
    ranking: Annotated[
        str,
        typer.Option(
            metavar="RANKS", help="Use this ranking instead: one rank for each seat, 1 is the best, such as 1,2."
        ),
    ] = "",
    apply: Annotated[bool, typer.Option("--apply", help="Write the judgement to the journal of the run.")] = False,
    reason: Annotated[str, typer.Option(metavar="TEXT", help="Reason, which is written to the journal.")] = "",
) -> int:
    """Judge a match again from the evidence in its record: print for each fault whether it stands.

    The exit code is 1 if a fault does not stand. With --apply, a match whose verdict does not stand becomes void and
    is played again; with --ranking, it counts with that ranking.

    Example: crosstown matches rejudge MATCH --extra-ms 20
    """
    from referee.cli.match_actions import rejudge_match

    stands = rejudge_match(match, run, out, extra_ms=extra_ms, ranking=ranking, apply=apply, reason=reason)
    return ExitCode.OK if stands else ExitCode.FAILED
