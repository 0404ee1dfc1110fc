"""The two kinds of process of a cluster: one scheduler, and a worker on each machine."""

import asyncio
import logging
import secrets
import shutil
import signal
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import dask
from distributed import Scheduler, SchedulerPlugin, Status, Worker
from distributed.comm.core import CommClosedError
from distributed.core import rpc
from distributed.worker import DEFAULT_METRICS

from referee.cluster.arrivals import limit_arrivals
from referee.cluster.machine import METRIC, Facts, Versions, own_versions
from referee.cluster.peers import Certificates, Peer, parse_scheduler
from referee.cluster.plugin import MachinePlugin
from referee.cluster.relay import RelayPlugin
from referee.cluster.settings import CONFIG, security_of
from referee.errors import PlatformError, UsageError
from referee.event_loop import run_loop
from referee.folders import cache_folder
from referee.process.open_files import raise_file_limit
from referee.texts import one_line, plural

VERSIONS = "crosstown_versions"
"""The request that Crosstown's scheduler answers besides Dask's own requests."""

_AGAIN_S = 1.0
_MOST_AGAIN_S = 10.0
_CONNECT_S = 10.0

Tell = Callable[[str], None]


class VersionsPlugin(SchedulerPlugin):
    """Answers with the scheduler's versions, for workers and runners that join."""

    name = VERSIONS

    async def start(self, scheduler: Scheduler) -> None:
        scheduler.handlers[VERSIONS] = lambda: {
            name: getattr(own_versions(), name) for name in ("crosstown", "python", "distributed")
        }


async def check_versions(peer: Peer) -> None:
    """UsageError if the scheduler has other versions than this process, or was not started by Crosstown; PlatformError
    without an answer."""
    connection = security_of(peer.certificates).get_connection_args("client")
    try:
        async with rpc(peer.address, connection_args=connection, timeout=_CONNECT_S) as scheduler:
            async with asyncio.timeout(_CONNECT_S):
                answer: Any = await getattr(scheduler, VERSIONS)()
        found = Versions(**answer)
    except (OSError, TimeoutError) as error:
        what = f"no scheduler answers at {peer.address} ({one_line(str(error) or type(error).__name__)})"
        step = "start one with: crosstown cluster scheduler; and check the address and the certificates"
        raise PlatformError(what, step) from None
    except (TypeError, ValueError, AttributeError, KeyError) as error:
        what = f"the scheduler at {peer.address} was not started by Crosstown ({one_line(str(error))})"
        raise UsageError(what, "start it with: crosstown cluster scheduler") from None
    if difference := own_versions().difference(found):
        what = f"the scheduler at {peer.address} has {difference}"
        raise UsageError(what, "install the same versions on all machines")


def run_scheduler(host: str, port: int, certificates: Certificates | None, dashboard: int, tell: Tell) -> None:
    """Serve until a signal. PlatformError if the address cannot be used."""
    raise_file_limit()  # each machine and each runner has connections here
    with dask.config.set(CONFIG):
        run_loop(_schedule(host, port, certificates, dashboard, tell))


async def _schedule(host: str, port: int, certificates: Certificates | None, dashboard: int, tell: Tell) -> None:
    log_to_stderr()
    stop = _stop_on_signals()
    try:
        scheduler = Scheduler(
            host=_bracketed(host),
            port=port,
            protocol="tcp" if certificates is None else "tls",
            security=security_of(certificates),
            dashboard_address=f"127.0.0.1:{dashboard}",
            plugins=[VersionsPlugin(), RelayPlugin()],
        )
        async with scheduler:
            limit_arrivals(scheduler)
            tell(f"scheduler at {scheduler.address}")
            await stop.wait()
    except OSError as error:
        raise PlatformError(
            f"cannot listen on {host}:{port}: {error.strerror or error}", "choose another --port"
        ) from None


def run_worker(peer: Peer, facts: Facts, host: str | None, work: Path | None, tell: Tell) -> None:
    """Play for a scheduler until a signal, and reconnect whenever it was lost. `host`: where this machine
    listens; None for the address that reaches the scheduler. Matches in play are in a folder of their own in `work`,
    which is removed at the end; what else is in `work` stays."""
    work = (work or cache_folder() / "cluster") / f"{facts.name}-{secrets.token_hex(4)}"
    work.mkdir(parents=True, exist_ok=True)
    try:
        with dask.config.set(CONFIG):
            run_loop(_work(peer, facts, host, work, tell))
    finally:
        shutil.rmtree(work, ignore_errors=True)


async def _work(peer: Peer, facts: Facts, host: str | None, work: Path, tell: Tell) -> None:
    log_to_stderr()
    stop = _stop_on_signals()
    wait_s = _AGAIN_S
    while not stop.is_set():
        try:
            await check_versions(peer)
            await _work_once(peer, facts, host, work, tell, stop)
            wait_s = _AGAIN_S
        except (PlatformError, OSError, TimeoutError, RuntimeError) as error:
            tell(f"{one_line(error)}; tried again in {wait_s:.0f} s")
        if stop.is_set():
            return
        with suppress(TimeoutError):
            async with asyncio.timeout(wait_s):
                await stop.wait()
        wait_s = min(_MOST_AGAIN_S, wait_s * 2)


async def own_address(peer: Peer) -> str:
    """The address of this machine from which it reaches the scheduler: a worker listens there alone. On all addresses,
    others could give it orders where nothing is encrypted. OSError or TimeoutError if the scheduler is not reached."""
    _, host, port = parse_scheduler(peer.address)
    async with asyncio.timeout(_CONNECT_S):
        _, writer = await asyncio.open_connection(host, port)
    writer.close()
    return str(writer.get_extra_info("sockname")[0])


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


async def _work_once(peer: Peer, facts: Facts, host: str | None, work: Path, tell: Tell, stop: asyncio.Event) -> None:
    """Until the scheduler is lost, or `stop` is set."""
    keys = () if peer.certificates is None else (peer.certificates.key,)
    plugin = MachinePlugin(work, facts, keys)
    with tempfile.TemporaryDirectory(prefix="crosstown-dask-") as place:
        worker = Worker(
            peer.address,
            nthreads=facts.slots,  # bots that are taken at once
            name=f"{facts.name}-{secrets.token_hex(4)}",
            security=security_of(peer.certificates),
            protocol="tcp" if peer.certificates is None else "tls",
            host=_bracketed(host or await own_address(peer)),
            dashboard_address="127.0.0.1:0",
            memory_limit=0,
            local_directory=place,
            plugins=(plugin,),
            metrics={**DEFAULT_METRICS, METRIC: plugin.facts},
            death_timeout=_CONNECT_S,
        )
        try:
            async with worker:
                limit_arrivals(worker)
                tell(f"machine {facts.name} plays for {peer.address} with {plural(facts.slots, 'slot')} ({facts.kind})")
                finished = asyncio.ensure_future(worker.finished())
                stopping = asyncio.ensure_future(stop.wait())
                await asyncio.wait([finished, stopping], return_when=asyncio.FIRST_COMPLETED)
                plugin.kill()
                finished.cancel()
                stopping.cancel()
                if worker.status in (Status.closed, Status.closing, Status.failed) and not stop.is_set():
                    tell(f"the scheduler {peer.address} is lost; its matches end here")
        finally:
            plugin.kill()


def _stop_on_signals() -> asyncio.Event:
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:
            asyncio.get_running_loop().add_signal_handler(number, stop.set)
    return stop


def log_to_stderr() -> None:
    """Send Dask's errors to standard error."""
    for name in ("distributed", "tornado", "bokeh"):
        logging.getLogger(name).setLevel(logging.ERROR)
    logging.getLogger("distributed.scheduler").addFilter(_matters)


def _matters(line: logging.LogRecord) -> bool:
    """No message to a runner that has just ended: the scheduler learns that it has by the message."""
    return line.exc_info is None or not isinstance(line.exc_info[1], CommClosedError)
