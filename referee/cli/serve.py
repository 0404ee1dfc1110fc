"""`crosstown serve`: a ladder, its pages and the process that plays."""

from pathlib import Path
from typing import Annotated

import typer

from referee.cli.arguments import HostNames
from referee.cli.cluster import Ca, Cert, ExecutorKind, Key, Scheduler, scheduler_of


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
    executor: ExecutorKind = None,
    scheduler: Scheduler = None,
    ca: Ca = None,
    cert: Cert = None,
    key: Key = None,
    plain: Annotated[
        bool,
        typer.Option(
            "--accept-plain",
            help="Run bots without a sandbox if it does not work on this machine, and without control groups that the"
            " ladder had before. For trusted bots only.",
        ),
    ] = False,
) -> None:
    """Run a ladder: authors hand in bots in a browser or by command, and matches go on as long as they
    improve the ratings. Ctrl-C ends the command; enter it again, and the ladder continues.

    Example: crosstown serve
    """
    from contextlib import ExitStack
    from dataclasses import replace
    from functools import partial

    from leaderboard.web.app import make_app
    from leaderboard.web.limits import WebLimits
    from referee.cli.building import build_missing
    from referee.cli.ladder_process import check_network, ladder_of, plays_elsewhere
    from referee.cli.listening import address_of, check_names, listen_on, serve_pages, web_tls
    from referee.cli.log import Log
    from referee.cli.runner_process import RunnerProcess, check_house_bots, state_of, waits_in
    from referee.cli.web import own_bots
    from referee.ladder.hand_ins import LadderHandIns
    from referee.ladder.intake import open_store
    from referee.ladder.monitor import LadderMonitor
    from referee.ladder.runner import accept_plain, check_groups, make_data, profile_to_play, read_cluster, read_door
    from referee.ladder.served import note_address
    from referee.process.cgroup import find
    from referee.process.checkup import probe

    check_names(names)
    house = next(iter(own_bots()), None)
    data = Path("ladder")
    config = ladder_of(file, data, house)
    peer = scheduler_of(config.executor, executor, scheduler, ca, cert, key)
    if peer is not None:
        check_network(config, peer)
    config = accept_plain(config, probe()) if plain else config
    elsewhere = plays_elsewhere(config, peer)
    profile_to_play(config, probe(), elsewhere=elsewhere)
    if not (elsewhere or plain):
        check_groups(config, find().controllers)
    server = config.server
    tls = web_tls(server.certificate, server.key) if server.certificate and server.key else None
    log = Log("server", server.log)
    if plain and config.sandbox.profile == "plain" and not probe().works:
        log(f"warning: {probe().warning}", "error")
    runs = make_data(config)
    build_missing([(bot.folder, bot.sandbox.profile or config.sandbox.profile) for bot in config.bots], runs, file)
    house_names = check_house_bots(config)
    bound_host = host or config.host
    with listen_on(bound_host, config.port if port is None else port) as listening, ExitStack() as stack:
        address = address_of(listening, bound_host, "http" if tls is None else "https")
        store = stack.enter_context(open_store(config, house_names))
        hand_ins = LadderHandIns(
            config,
            store,
            state=partial(state_of, config.data),
            waits=partial(waits_in, config.data),
            door=partial(read_door, config.data),
            cluster=partial(read_cluster, config.data),
        )
        known = frozenset((*(names or ()), *server.names, bound_host))
        limits = WebLimits(
            connections=server.connections,
            connections_per_address=server.connections_per_address,
            streams=server.streams,
            streams_per_address=server.streams_per_address,
            request_s=server.request_s,
        )
        monitor = LadderMonitor(config, store)
        pages = make_app(runs, hide_live=True, hand_ins=hand_ins, monitor=monitor, names=known, limits=limits)
        note_address(replace(config, host=bound_host, port=listening.getsockname()[1]))
        code = store.accounts.organiser_link()
        link = [f"To become its organiser, open this once: {address}join?code={code}"] if code else []
        stack.enter_context(RunnerProcess(file, data, house, log, server.drain_s, peer, plain=plain))
        serve_pages(pages, limits, listening, address, *link, proxies=server.proxies, tls=tls, log=log)
