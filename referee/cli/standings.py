"""`crosstown standings`: the leaderboard of a run, also while it goes on."""

from pathlib import Path
from typing import Annotated, Any

import typer

COLUMNS = (
    "rank",
    "name",
    "version",
    "entry_id",
    "mu",
    "sigma",
    "conservative",
    "played",
    "won",
    "drawn",
    "lost",
    "faults",
    "mean_move_ms",
    "worst_move_ms",
)


def standings(
    run: Annotated[
        str | None,
        typer.Argument(
            help="Tournament file, run folder or name of a run; default: the most recent one.", show_default=False
        ),
    ] = None,
    out: Annotated[Path, typer.Option(help="The folder that run folders are in.")] = Path("runs"),
    as_json: Annotated[bool, typer.Option("--json", help="As JSON, numbers in full.")] = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="As CSV, numbers in full.")] = False,
) -> None:
    """Print the leaderboard of a run."""
    from leaderboard.index import load_index
    from leaderboard.standings import Entrant
    from leaderboard.standings import standings as make_table
    from referee.cli.output import print_csv, print_json, print_standings
    from referee.cli.running import CAPTION
    from referee.cli.runs import find_run
    from referee.tournament.errors import UsageError

    if as_json and as_csv:
        raise UsageError("--json and --csv exclude each other", "give one of them")
    found = find_run(run, out)
    index = load_index(found.folder.matches, found.folder.database)
    bots = found.configuration["bots"]
    rows = make_table(index.rows, [Entrant(bot["entry_id"], bot["name"], bot["version"]) for bot in bots])
    if as_json:
        print_json(
            {
                "run": str(found.folder.path),
                "tournament": found.configuration["name"],
                "game": found.configuration["game"],
                "played": len(index.rows),
                "total": found.total,
                "standings": [row.to_dict() for row in rows],
            }
        )
    elif as_csv:
        print_csv([_flat(row.to_dict()) for row in rows], COLUMNS)
    else:
        state = "" if len(index.rows) == found.total else f" {len(index.rows)} of {found.total} matches so far."
        print_standings(rows, CAPTION + state)


def _flat(row: dict[str, Any]) -> dict[str, Any]:
    return row | {"faults": ";".join(f"{reason}={number}" for reason, number in row["faults"].items())}
