"""Every command of the command line, for tests that try them all."""

from collections.abc import Iterator
from typing import Any

from typer.main import get_command

from referee.cli.app import make_app


def commands(group: Any = None, before: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """(words after `crosstown`, command) of each command that does something."""
    for name, command in (group or get_command(make_app())).commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, (*before, name))
        else:
            yield (*before, name), command


ELSEWHERE = {
    *(f"ladder {name}" for name in ("approve", "reset", "disable", "pause", "drain", "go-on", "notice")),
    *("pause", "resume", "pairings"),
    *(f"ladder {name}" for name in ("annul", "acts", "backup", "restore", "season end", "season pages")),
}
"""These are tried by tests of their own, in tests/referee/cli, tests/referee/tournament, tests/referee/ladder and
tests/end_to_end."""
