"""`crosstown certificate`: the certificate that authors of remote bots need, before the run waits for them."""

from pathlib import Path
from typing import Annotated

import typer

from referee.cli.arguments import OUT, Out


def certificate(
    file: Annotated[Path, typer.Argument(help="Tournament file (TOML).", show_default=False)],
    out: Out = OUT,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Make the certificate for the remote bots of a tournament before it runs, and print what their authors set.

    The run uses this certificate if it begins within twenty days. A run that is started with --new makes another one.

    Example: crosstown certificate tournaments/remote.toml
    """
    from referee.cli.output import print_json, print_text
    from referee.errors import UsageError
    from referee.run.folder import choose_folder
    from referee.run.participants import newest_participants
    from referee.tournament.config import tournament_name
    from referee.tournament.entrants import load_tournament
    from referee.tournament.identity import describe
    from referee.tournament.remote import listen_with
    from referee.wire.public_address import reached_at

    tournament = load_tournament(file, newest_participants(out, tournament_name(file)), to_play=False)
    remote = tournament.config.remote
    if remote is None:
        raise UsageError(f"{file} has no [remote], so no bot connects", "see: crosstown docs remote")
    if remote.listen.plain:
        raise UsageError(f"{file} says plain = true in [remote], so there is no TLS", "authors need no certificate")
    folder = choose_folder(out, describe(tournament), new=False)
    made = listen_with(remote.listen, remote.public, folder.path / "tls").certificate
    port = remote.listen.port
    address = reached_at(remote.listen.host, port, remote.public) if port else ""
    if as_json:
        print_json({"certificate": str(made), "address": address})
        return
    print_text(f"certificate: {made}")
    print_text("each author of a remote bot needs a copy of this file, and sets CROSSTOWN_TLS_CA to its path")
    print_text(f"CROSSTOWN_ADDRESS={address}" if address else "CROSSTOWN_ADDRESS is known once the run waits: port 0")
