"""`crosstown report`: one self-contained page about a run."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from referee.cli.arguments import OUT, LatestRun, Out

if TYPE_CHECKING:
    from referee.run.run import Run


def report(
    run: LatestRun = None,
    file: Annotated[
        Path | None,
        typer.Argument(
            metavar="FILE", help="HTML file to write. Default: report.html in the run folder.", show_default=False
        ),
    ] = None,
    html: Annotated[
        bool, typer.Option("--html", help="Write HTML. There is no other format, so the option can be left out.")
    ] = False,
    out: Out = OUT,
    as_json: Annotated[bool, typer.Option("--json", help="Print the path of the page as JSON.")] = False,
) -> None:
    """Write one HTML page about a run: tables, plots, faults and links to the records. Print the path of the page.

    The page has no scripts and needs no network. If the only argument ends in .html, it is FILE, and the run is the
    most recent one.

    Example: crosstown report first report.html
    """
    from datetime import UTC, datetime

    from leaderboard.completeness import gaps_of, lost_words
    from leaderboard.evidence import last_faults
    from leaderboard.index import load_index
    from leaderboard.report import report_html
    from leaderboard.run_table import counted_rows, entrants, kept_live
    from leaderboard.standings import rate_pools, standings
    from referee.cli.output import print_json, print_text
    from referee.cli.runs import find_run
    from referee.cli.whole_file import write_whole

    if file is None and run is not None and run.lower().endswith((".html", ".htm")) and not (out / run).is_dir():
        file, run = Path(run), None
    found = find_run(run, out)
    path = file or found.folder.path / "report.html"
    index = load_index(found.folder)
    counted, view = counted_rows(found, index.rows)
    ratings = rate_pools(counted.rows, kept=kept_live(found.folder.database), settled=index.settled)
    facts = {"format": found.configuration["format"], **_luck_facts(found), **_signature_facts(found)}
    if lost := gaps_of(found, {row.match_id: row for row in index.rows}).lost:
        facts["attention"] = lost_words(found.folder.path, lost)
    page = report_html(
        found.title,
        counted,
        standings(counted, entrants(found), ratings=ratings),
        total=found.total - counted.annulled,
        made_at=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        unusable=index.unusable,
        format_table=view.table,
        link=os.path.relpath(found.records.folder, path.parent),
        facts=facts,
        failed_starts=list(found.failed_starts.values()),
        faults=last_faults(counted.rows, found.records),
        startup_s=found.startup_limits_s,
        ratings=ratings,
    )
    write_whole(path, page, "name another file: crosstown report RUN FILE")
    if as_json:
        print_json({"report": str(path), "matches": len(counted.rows)})
    else:
        print_text(str(path))


def _luck_facts(run: "Run") -> dict[str, Any]:
    """The seed, and the secrets that are revealed. Where no secret keys the luck, the seed itself waits for the end."""
    epochs = run.epochs
    facts: dict[str, Any] = {"seed": run.configuration["seed"]}
    if not epochs[0].commitment and not run.finished:
        facts["seed"] = "revealed when the run is finished"
    if keyed := [epoch for epoch in epochs if epoch.commitment]:
        facts["secret of the luck"] = ", ".join(epoch.secret or "revealed when the run is finished" for epoch in keyed)
    return facts


def _signature_facts(run: "Run") -> dict[str, Any]:
    """Who signed the run, and what: nothing of one that is not signed."""
    signed = run.signature
    if signed is None:
        return {}
    if not signed.holds:
        return {"signature": "does not hold: see crosstown matches verify"}
    return {
        "signed": f"{signed.at}, {signed.head.lines} lines of the journal, digest {signed.head.digest}",
        "public key of the organiser": signed.public_key,
    }
