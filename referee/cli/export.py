"""`crosstown export`: the matches of a run in one file."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from referee.cli.arguments import OUT, AsJson, OfGame, Out, Since, Until, WithBots, WithReason


class ExportFormat(StrEnum):
    """What is written of a run."""

    HTML = "html"
    JSONL = "jsonl"
    CSV = "csv"
    SQLITE = "sqlite"


def export(
    run: Annotated[
        str, typer.Argument(metavar="RUN", help="Tournament file, run folder or name of a run.", show_default=False)
    ],
    file: Annotated[Path, typer.Argument(metavar="FILE", help="File to write.", show_default=False)],
    style: Annotated[
        ExportFormat | None,
        typer.Option(
            "--format",
            metavar="html|jsonl|csv|sqlite",
            help="html: a zip of replays. jsonl: a line of JSON for each match. csv: a row for each match. sqlite: a "
            "database. Default: from the ending of FILE (.zip, .jsonl, .csv, .db).",
            show_default=False,
        ),
    ] = None,
    bot: WithBots = None,
    game: OfGame = "",
    reason: WithReason = "",
    since: Since = "",
    until: Until = "",
    out: Out = OUT,
    as_json: AsJson = False,
) -> None:
    """Write the matches of a run that count into one file: all, or those that several options select together.

    An annulled match is left out, and a match that was judged again has the ranking that counts. A match is left out
    until all matches with the same seed are over. FILE is replaced only when the new one is complete.

    Example: crosstown export spring curry.zip --bot Curry
    """
    from leaderboard.export.whole_run import FORMATS, chosen, write_run
    from leaderboard.match_list import make_filter
    from referee.cli.find import find_run
    from referee.cli.output import console, print_json, print_text
    from referee.errors import UsageError
    from referee.texts import one_line, plural

    wanted = style.value if style is not None else FORMATS.get(file.suffix.lower())
    if wanted is None:
        raise UsageError(f"{file} has no ending that names a format", "add --format html, jsonl, csv or sqlite")
    found = find_run(run, out)
    matches = chosen(found, make_filter(bot or (), game, reason, "", since, until))
    with console(stderr=True).status("") as shown:
        done = write_run(found, matches, file, wanted, lambda n: shown.update(f"{n} of {len(matches.rows)} matches"))
    if as_json:
        print_json({"file": str(file), "format": wanted, "matches": done.matches, "left_out": list(done.left_out)})
        return
    for why in done.left_out:
        print_text(f"left out: {one_line(why)}")
    print_text(f"{file}: {plural(done.matches, 'match')}")
