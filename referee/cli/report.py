"""`crosstown report`: one self-contained page about a run."""

import os
from pathlib import Path
from typing import Annotated

import typer

from referee.cli.arguments import OUT, LatestRun, Out


def report(
    run: LatestRun = None,
    html: Annotated[
        Path | None, typer.Option("--html", help="Where to write; default: report.html in the run folder.")
    ] = None,
    out: Out = OUT,
    as_json: Annotated[bool, typer.Option("--json", help="Print where it is as JSON.")] = False,
) -> None:
    """Write a page with tables, plots, faults and links to the records. It needs no script and no network."""
    from datetime import UTC, datetime

    from leaderboard.controls import apply_controls
    from leaderboard.index import load_index
    from leaderboard.report import report_html
    from leaderboard.standings import standings
    from referee.cli.output import print_json, print_text
    from referee.cli.run_tables import entrants_of, missed_matches
    from referee.cli.runs import find_run
    from referee.tournament.errors import PlatformError

    found = find_run(run, out)
    path = html or found.folder.path / "report.html"
    index = load_index(found.folder.matches, found.folder.database)
    counted = apply_controls(index.rows, found.journal.controls, missed_matches(found.folder, found.journal))
    page = report_html(
        str(found.configuration["name"]),
        counted,
        standings(counted, entrants_of(found.journal)),
        total=found.total,
        made_at=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        unusable=index.unusable,
        link=os.path.relpath(found.folder.matches, path.parent),
        facts={"format": found.configuration["format"], "seed": found.configuration["seed"]},
    )
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists() and not path.is_file():
            raise PlatformError(f"cannot write {path}: it is no ordinary file", "choose another place with --html")
        temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
        temporary.write_text(page, encoding="utf-8", errors="replace")
        temporary.replace(path)
    except OSError as error:
        raise PlatformError(f"cannot write {path}: {error.strerror}", "choose another place with --html") from error
    if as_json:
        print_json({"report": str(path), "matches": len(counted.rows)})
    else:
        print_text(str(path))
