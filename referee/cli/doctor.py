"""`crosstown doctor`: what this machine offers, what is weaker or missing, and how to mend it."""

from dataclasses import asdict
from typing import Annotated

import typer

from referee.cli.errors import ExitCode


def doctor(as_json: Annotated[bool, typer.Option("--json", help="Print the list as JSON.")] = False) -> None:
    """Print what this machine offers for running bots: sandbox, limits, disk space. The exit code is 1 if something is
    missing.

    Example: crosstown doctor
    """
    from referee.process.checkup import check_machine

    rows = check_machine()
    missing = [row for row in rows if row.level == "missing"]
    if as_json:
        from referee.cli.output import print_json

        print_json({"ok": not missing, "rows": [asdict(row) for row in rows]})
    else:
        from rich.text import Text

        from referee.cli.output import console, print_table, table
        from referee.texts import one_line

        out = console()
        made = table([("", "left"), ("thing", "left"), ("found", "left")])
        for row in rows:
            made.add_row(row.level, row.name, Text(one_line(row.found)))
            if row.fix:
                made.add_row("", "", Text(f"-> {one_line(row.fix)}"))
        print_table(out, made)
    raise typer.Exit(ExitCode.FAILED if missing else ExitCode.OK)
