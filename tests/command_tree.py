"""Every command of the command line, for tests that try them all."""

from collections.abc import Iterator
from typing import Any

from typer.main import get_command

from referee.cli.main import make_app


def commands(group: Any = None, before: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """(words after `crosstown`, command) of each command that does something."""
    for name, command in (group or get_command(make_app())).commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, (*before, name))
        else:
            yield (*before, name), command


SERVING = {"cluster scheduler", "cluster worker", "cluster local"}
"""These go on until they are stopped. tests/end_to_end/test_cluster.py starts them."""

OF_A_LADDER = {
    "serve",
    "login",
    "submit",
    *(f"ladder {name}" for name in ("invite", "token", "revoke", "people", "block", "collect", "backup", "restore")),
    *(f"ladder season {name}" for name in ("end", "pages")),
}
"""These need the data of a ladder or a server. Their bad values are in tests/referee/cli/test_serve.py and
test_ladder_client.py, and in tests/referee/ladder."""
