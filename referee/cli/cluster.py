"""Commands for a cluster: its scheduler, the machines that play, and the certificates that they need.

`crosstown run FILE --executor dask` plays a tournament on the cluster.
"""

import os
import shlex
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from referee.cli.arguments import OUT, AsJson, LatestRun, Out, folder_path

if TYPE_CHECKING:
    from referee.cluster.peers import Peer
    from referee.tournament.bot_sections import ExecutorConfig

app = typer.Typer(
    help="Play tournaments on many machines with Dask. Needs the extra: pip install 'crosstown-arena[cluster]'.",
    no_args_is_help=True,
)

Ca = Annotated[
    Path | None,
    typer.Option("--ca", metavar="FILE", help="Certificate of the cluster's authority (PEM).", show_default=False),
]
Cert = Annotated[
    Path | None, typer.Option("--cert", metavar="FILE", help="Certificate to identify with (PEM).", show_default=False)
]
Key = Annotated[
    Path | None, typer.Option("--key", metavar="FILE", help="Private key of the certificate (PEM).", show_default=False)
]
ExecutorKind = Annotated[
    str | None,
    typer.Option(
        "--executor",
        metavar="local|dask",
        help="Play on this machine (local) or on the machines of a cluster (dask). Default: [executor] of the file, "
        "else local.",
        show_default=False,
    ),
]
Scheduler = Annotated[
    str | None,
    typer.Option(
        "--scheduler",
        metavar="ADDRESS",
        help="Scheduler of the cluster, such as tls://host:8786.",
        show_default=False,
    ),
]
SchedulerArgument = Annotated[
    str,
    typer.Argument(metavar="SCHEDULER", help="Address of the scheduler, such as tls://host:8786.", show_default=False),
]
Slots = Annotated[
    int | None,
    typer.Option(
        metavar="NUMBER",
        help="Number of matches played at the same time. Default: one per processor core.",
        min=1,
        max=1024,
        show_default=False,
    ),
]


def needs_extra() -> None:
    """UsageError if what this needs is not installed."""
    from importlib.util import find_spec

    from referee.errors import UsageError

    if find_spec("distributed") is None:
        what = "clusters need the package 'distributed', which is not installed"
        raise UsageError(what, "install it: pip install 'crosstown-arena[cluster]'")


def scheduler_of(
    given: "ExecutorConfig", kind: str | None, address: str | None, ca: Path | None, cert: Path | None, key: Path | None
) -> "Peer | None":
    """The cluster to play on, by the options of a command or by [executor] of the file; None for this machine.
    UsageError."""
    from referee.errors import UsageError

    kind = kind or ("dask" if address else given.kind)
    if kind == "local":
        options = {"--scheduler": address, "--ca": ca, "--cert": cert, "--key": key}
        if named := next((name for name, value in options.items() if value is not None), ""):
            raise UsageError(f"{named} is for a cluster", "add --executor dask, or leave it out")
        return None
    if kind != "dask":
        raise UsageError(f"there is no executor {kind!r}", "write --executor local or --executor dask")
    needs_extra()
    from referee.cluster.peers import check_peer

    address = address or given.scheduler
    if not address:
        raise UsageError("no scheduler is named", "add --scheduler tls://host:8786, or scheduler in [executor]")
    return check_peer(address, ca or given.ca, cert or given.cert, key or given.key)


@app.command("scheduler")
def scheduler(
    host: Annotated[str, typer.Option(metavar="ADDRESS", help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(metavar="NUMBER", help="Port to listen on.", min=0, max=65535)] = 8786,
    ca: Ca = None,
    cert: Cert = None,
    key: Key = None,
    dashboard: Annotated[
        int,
        typer.Option(
            metavar="PORT",
            help="Port of Dask's dashboard, on 127.0.0.1 only; 0 chooses one. Needs bokeh.",
            min=0,
            max=65535,
        ),
    ] = 0,
) -> None:
    """Start the scheduler of a cluster. Machines and runs connect to it. Ctrl-C ends it.

    Anyone with a certificate of the cluster can run any program on all its machines. Without certificates the
    scheduler listens on the loopback address only.

    Example: crosstown cluster scheduler
    """
    needs_extra()
    from referee.cluster.peers import check_listen
    from referee.cluster.serving import run_scheduler

    run_scheduler(host, port, check_listen(host, ca, cert, key), dashboard, _say)


@app.command("worker")
def worker(
    address: SchedulerArgument,
    slots: Slots = None,
    name: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Name of this machine. Default: its host name.", show_default=False),
    ] = None,
    kind: Annotated[
        str | None,
        typer.Option(
            "--class",
            metavar="TEXT",
            help="Class of this machine: all matches of a block are played on one class. Default: the model of the "
            "processor.",
            show_default=False,
        ),
    ] = None,
    host: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="Address to listen on for the scheduler. Default: the one that reaches the scheduler.",
            show_default=False,
        ),
    ] = None,
    work: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Folder for matches in play. Default: in the cache folder.",
            callback=folder_path,
            show_default=False,
        ),
    ] = None,
    accept_plain: Annotated[
        bool, typer.Option("--accept-plain", help="Join even if the sandbox does not work on this machine.")
    ] = False,
    ca: Ca = None,
    cert: Cert = None,
    key: Key = None,
) -> None:
    """Play matches on this machine for the runs of a cluster, until Ctrl-C. If the scheduler is lost, the command ends
    its matches and connects again.

    Example: crosstown cluster worker tcp://127.0.0.1:8786 --slots 2
    """
    needs_extra()
    from referee.cluster.machine import Facts, own_kind, own_name, own_platform, own_versions
    from referee.cluster.peers import check_listen, check_name, check_peer
    from referee.cluster.serving import run_worker
    from referee.errors import PlatformError
    from referee.process.checkup import probe

    peer = check_peer(address, ca, cert, key)
    if host is not None:
        check_listen(host, ca, cert, key)
    if name is not None:
        check_name("--name", name)
    if kind is not None:
        check_name("--class", kind)
    found = probe()
    if not found.works and not accept_plain:
        what = f"the sandbox does not work on this machine ({found.why})"
        raise PlatformError(what, f"{found.fix}; or join for trusted bots only: --accept-plain")
    facts = Facts(
        name or own_name(),
        kind or own_kind(),
        slots or len(os.sched_getaffinity(0)),
        "strict" if found.works else "plain",
        own_platform(),
        own_versions(),
    )
    run_worker(peer, facts, host, work, _say)


@app.command("local")
def local(
    workers: Annotated[int, typer.Option(metavar="NUMBER", help="Number of workers.", min=1, max=64)] = 2,
    slots: Annotated[int, typer.Option(metavar="NUMBER", help="Slots of each worker.", min=1, max=64)] = 1,
    port: Annotated[
        int, typer.Option(metavar="NUMBER", help="Port of the scheduler on 127.0.0.1; 0 chooses one.", min=0, max=65535)
    ] = 8786,
    accept_plain: Annotated[
        bool, typer.Option("--accept-plain", help="Start even if the sandbox does not work on this machine.")
    ] = False,
) -> None:
    """Start a scheduler and several workers on this machine, to try a cluster. Ctrl-C ends them.

    Connections are not encrypted: while the cluster runs, other users of this machine can run programs as you.

    Example: crosstown cluster local --workers 4
    """
    needs_extra()
    from referee.cluster.local import run_trial

    run_trial(workers, slots, port, _say, accept_plain=accept_plain)


@app.command("certificates")
def certificates(
    folder: Annotated[
        Path,
        typer.Argument(
            metavar="FOLDER", help="Folder of the cluster's authority.", callback=folder_path, show_default=False
        ),
    ],
    name: Annotated[
        str, typer.Option(metavar="NAME", help="Name of the machine or person that the certificate is for.")
    ] = "cluster",
) -> None:
    """Make a certificate for a machine or an organiser, and the authority of the cluster if there is none.

    Copy ca.pem and the two files of the name to the machine. Keep ca-key.pem to yourself: with it anyone can make
    certificates, and anyone with a certificate can run any program on all machines of the cluster.

    Example: crosstown cluster certificates pki --name machine-1
    """
    from referee.cli.output import print_text
    from referee.cluster.certificates import make_certificates
    from referee.cluster.peers import check_name

    check_name("--name", name)
    made = make_certificates(folder, name)
    options = shlex.join(["--ca", str(made.ca), "--cert", str(made.cert), "--key", str(made.key)])
    print_text(f"made {made.cert} and {made.key}; use them with: {options}")


@app.command("machines")
def machines(run: LatestRun = None, out: Out = OUT, as_json: AsJson = False) -> None:
    """Print what each machine has played in a run: matches, void and lost matches, move times and lag.

    Example: crosstown cluster machines first
    """
    from leaderboard.machines import machine_rows
    from referee.cli.find import find_run
    from referee.cli.output import console, print_json, print_table, table
    from referee.texts import one_line

    rows = machine_rows(find_run(run, out))
    if as_json:
        print_json([{**asdict(row), "mean_move_ms": row.mean_move_ms, "lag_share": row.lag_share} for row in rows])
        return
    names = ("matches", "void", "lost", "decisions", "mean ms", "worst ms", "lag")
    made = table([("machine", "left"), ("class", "left"), *((name, "right") for name in names)])
    for row in rows:
        mean = "" if row.mean_move_ms is None else f"{row.mean_move_ms:.1f}"
        lag = "" if row.lag_share is None else f"{row.lag_share:.1%}"
        counts = map(str, (row.matches, row.void, row.lost, row.decisions))
        made.add_row(one_line(row.name), one_line(row.kind), *counts, mean, f"{row.worst_us / 1000:.1f}", lag)
    print_table(console(), made)


Pki = Annotated[Path, typer.Option("--pki", metavar="FOLDER", help="Folder with the certificates.")]
CertName = Annotated[str, typer.Option("--name", metavar="NAME", help="Name of the machines' certificate.")]
Nodes = Annotated[int, typer.Option("--nodes", metavar="NUMBER", help="Number of machines.", min=1, max=10_000)]
Cpus = Annotated[
    int, typer.Option("--cpus", metavar="NUMBER", help="Processor cores, and slots, of each machine.", min=1, max=1024)
]
Print = Annotated[bool, typer.Option("--print", help="Print the text; this is the default.")]


@app.command("slurm")
def slurm(
    address: SchedulerArgument,
    nodes: Nodes = 4,
    cpus: Cpus = 16,
    hours: Annotated[int, typer.Option(metavar="NUMBER", help="Hours that the job may take.", min=1, max=999)] = 4,
    pki: Pki = Path("pki"),
    name: CertName = "cluster",
    _print: Print = True,
) -> None:
    """Print a script for SLURM that starts a worker on several nodes. Submit it with sbatch.

    Example: crosstown cluster slurm tls://host:8786 --nodes 8 --print
    """
    from referee.cli.output import print_text
    from referee.cluster.deploy import slurm_script
    from referee.cluster.peers import check_name, parse_scheduler

    parse_scheduler(address)
    check_name("--name", name)
    print_text(slurm_script(address, pki, name, nodes=nodes, cpus=cpus, hours=hours).rstrip())


@app.command("kubernetes")
def kubernetes(
    image: Annotated[
        str,
        typer.Argument(
            metavar="IMAGE",
            help="Container image with Crosstown, such as registry.example/arena:1.",
            show_default=False,
        ),
    ],
    nodes: Nodes = 4,
    cpus: Cpus = 16,
    pki: Pki = Path("pki"),
    name: CertName = "cluster",
    _print: Print = True,
) -> None:
    """Print manifests for Kubernetes: a scheduler, workers, and a network policy. Apply them with kubectl.

    Example: crosstown cluster kubernetes arena:1 --nodes 8
    """
    from referee.cli.output import print_text
    from referee.cluster.deploy import check_image, kubernetes_manifests
    from referee.cluster.peers import check_name

    check_image(image)
    check_name("--name", name)
    print_text(kubernetes_manifests(image, pki, name, nodes=nodes, cpus=cpus).rstrip())


def _say(sentence: str) -> None:
    from referee.cli.output import print_text

    print_text(sentence)
