"""`crosstown rebuild`: make the database of a run anew from its records."""

from typing import Annotated

import typer

from referee.cli.arguments import OUT, LatestRun, Out
from referee.cli.errors import ExitCode


def rebuild(
    run: LatestRun = None,
    out: Out = OUT,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> int:
    """Make the database of a run again from its records.

    The old database is replaced only when the new one is complete. A record whose digest differs from the one in the
    journal is left out and named. The exit code is 1 if there is such a record, if matches have no valid record, or
    if the journal was changed.

    Example: crosstown rebuild first
    """
    from leaderboard.completeness import gaps_of, lost_words
    from leaderboard.indexer import rebuild_database
    from referee.cli.output import print_json, print_text
    from referee.cli.runs import find_run
    from referee.record.journal import NOT_THE_ONE
    from referee.texts import one_line, plural

    found = find_run(run, out)
    folder = found.folder
    index = rebuild_database(found)
    gaps = gaps_of(found, {row.match_id: row for row in index.rows})
    lost, wrong = gaps.lost, found.check(named=gaps.missing).wrong
    forged = any(item.problem.startswith(NOT_THE_ONE) for item in index.unusable)
    code = ExitCode.FAILED if lost or wrong or forged else ExitCode.OK
    if as_json:
        print_json(
            {
                "database": str(folder.database),
                "matches": len(index.rows),
                "lost": lost,
                "wrong": wrong,
                "unusable": [{"file": item.path.name, "why": item.problem} for item in index.unusable],
            }
        )
        return code
    print_text(f"{folder.database}: {plural(len(index.rows), 'match')} from the records in {folder.matches}")
    for item in index.unusable:
        print_text(one_line(f"not counted: {item.path.name}: {item.status}: {item.problem}"))
    for what in wrong:
        print_text(one_line(f"wrong: {what}"))
    if lost:
        print_text(lost_words(folder.path, lost))
    return code
