"""`crosstown serve`: a ladder, its pages and the process that plays."""

from pathlib import Path
from typing import Annotated

import typer

from referee.cli.arguments import HostNames


def serve(
    file: Annotated[
        Path | None,
        typer.Argument(
            metavar="[LADDER.toml]",
            help="File of the ladder. Without it: all games, the bots of this checkout, data in ./ladder.",
            show_default=False,
        ),
    ] = None,
    host: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="Address to listen on, instead of the file's.", show_default=False),
    ] = None,
    port: Annotated[
        int | None,
        typer.Option(
            metavar="NUMBER",
            help="Port to listen on, instead of the file's; 0 chooses a free port.",
            min=0,
            max=65535,
            show_default=False,
        ),
    ] = None,
    names: HostNames = None,
) -> None:
    """Run a ladder: authors hand in bots in a browser or by command, and matches go on while there is something to
    learn. Ctrl-C ends the command; enter it again, and the ladder continues.

    Example: crosstown serve
    """
    from contextlib import ExitStack
    from functools import partial

    from leaderboard.web.app import make_app
    from leaderboard.web.limits import WebLimits
    from referee.cli.building import build_missing
    from referee.cli.ladder_process import ladder_of
    from referee.cli.listening import address_of, check_names, listen_on, serve_pages
    from referee.cli.runner_process import RunnerProcess, check_house_bots, state_of, waits_in
    from referee.cli.web import own_bots
    from referee.ladder.hand_ins import LadderHandIns
    from referee.ladder.intake import open_store
    from referee.ladder.runner import make_data

    check_names(names)
    house = next(iter(own_bots()), None)
    data = Path("ladder")
    config = ladder_of(file, data, house)
    runs = make_data(config)
    build_missing([(bot.folder, bot.sandbox.profile or config.sandbox.profile) for bot in config.bots], runs, file)
    house_names = check_house_bots(config)
    bound_host = host or config.host
    with listen_on(bound_host, config.port if port is None else port) as listening, ExitStack() as stack:
        address = address_of(listening, bound_host)
        store = stack.enter_context(open_store(config, house_names))
        hand_ins = LadderHandIns(
            config, store, state=partial(state_of, config.data), waits=partial(waits_in, config.data)
        )
        known = frozenset(names or ()) | {bound_host}
        limits = WebLimits()
        pages = make_app(runs, hide_live=True, hand_ins=hand_ins, names=known, limits=limits)
        code = store.accounts.organiser_link()
        link = [f"To become its organiser, open this once: {address}join?code={code}"] if code else []
        stack.enter_context(RunnerProcess(file, data, house))
        serve_pages(pages, limits, listening, address, *link)
