"""Many machines: what a match costs on a cluster, and how many matches one scheduler carries.

    python benchmarks/cluster.py overhead    --matches 60 --workers 1 2 4
    python benchmarks/cluster.py scheduler   --machines 50 --slots 20 --matches 100000

`overhead` plays the same matches of two seconds with the executor of this machine and on a cluster of as many workers
on the same cores. `scheduler` has simulated machines, which answer after two seconds with a record of as many bytes as
a short match has: everything but the matches is as in a run.
"""

import argparse
import asyncio
import gzip
import json
import os
import platform
import resource
import secrets
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

sys.path.pop(0)  # this folder, in which `referee` is another benchmark

MATCH_S = 2.0
BOT = """
import time
from crosstown_bot import Bot, run


class Slow(Bot):
    wants_observation = False
    wants_legal_actions = False

    def start(self, match):
        time.sleep({pause_s})

    def choose(self, turn):
        return 0


run(Slow)
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    kinds = parser.add_subparsers(dest="kind", required=True)
    overhead = kinds.add_parser("overhead")
    overhead.add_argument("--matches", type=int, default=60)
    overhead.add_argument("--workers", type=int, nargs="+", default=[1, 2, 4])
    scheduler = kinds.add_parser("scheduler")
    scheduler.add_argument("--machines", type=int, default=50)
    scheduler.add_argument("--slots", type=int, default=20)
    scheduler.add_argument("--matches", type=int, default=100_000)
    scheduler.add_argument("--plot", type=Path)
    hidden = kinds.add_parser("machines")
    hidden.add_argument("address")
    hidden.add_argument("number", type=int)
    hidden.add_argument("slots", type=int)
    given = parser.parse_args()
    if given.kind == "machines":
        asyncio.run(_simulate(given.address, given.number, given.slots))
        return
    import distributed

    cpu = next((line for line in Path("/proc/cpuinfo").read_text().splitlines() if "model name" in line), "")
    print(
        f"{cpu.partition(':')[2].strip()}, {os.cpu_count()} cores, Python {platform.python_version()},"
        f" distributed {distributed.__version__}, load {os.getloadavg()[0]:.1f}\n"
    )
    if given.kind == "overhead":
        measure_overhead(given.matches, given.workers)
    else:
        measure_scheduler(given.machines, given.slots, given.matches, given.plot)


@contextmanager
def scheduler_process() -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    words = ["-m", "referee.cli.main", "cluster", "scheduler", "--port", str(port)]
    process = subprocess.Popen([sys.executable, *words], stdout=subprocess.DEVNULL)
    try:
        while True:
            with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                break
            time.sleep(0.1)
        yield f"tcp://127.0.0.1:{port}", process
    finally:
        process.terminate()
        process.wait()


def measure_overhead(matches: int, workers: list[int]) -> None:
    """Wall time of the same tournament, on this machine and on a cluster."""
    print("| workers | local, s | cluster, s | s a match | overhead |\n| --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        file = _tournament(folder, matches)
        for number in workers:
            local_s = _play(folder, file, f"local-{number}", "--workers", str(number))
            with ExitStack() as stack:
                address, _ = stack.enter_context(scheduler_process())
                for machine in range(number):
                    stack.callback(_stop, _worker(folder, address, machine))
                _wait_for_machines(address, number)
                words = ("--executor", "dask", "--scheduler", address)
                cluster_s = _play(folder, file, f"cluster-{number}", *words)
            each_s = local_s * number / matches
            print(
                f"| {number} | {local_s:.1f} | {cluster_s:.1f} | {each_s:.2f} | {cluster_s / local_s - 1:+.1%} |",
                flush=True,
            )


def _tournament(folder: Path, matches: int) -> Path:
    for name in ("a", "b"):
        bot = folder / name
        bot.mkdir()
        (bot / "bot.toml").write_text(
            f'name = "{name}"\nversion = "1"\ngames = ["*"]\nrun = ["{{python}}", "bot.py"]\n'
        )
        (bot / "bot.py").write_text(BOT.format(pause_s=MATCH_S - 0.2))
    file = folder / "bench.toml"
    file.write_text(
        f'game = "shibuya"\nseed = 1\nblocks = {matches // 2}\n[clock]\nfirst_move_s = 10\nmove_s = 10\n'
        '[[bots]]\npath = "a"\n[[bots]]\npath = "b"\n'
    )
    (folder / "secret").write_text(f"{1:032x}\n")
    (folder / "secret").chmod(0o600)
    return file


def _play(folder: Path, file: Path, out: str, *words: str) -> float:
    """Seconds, without those that the command takes to begin and to end: its own clock."""
    command = [sys.executable, "-m", "referee.cli.main", "run", str(file), "--out", str(folder / out), "--json"]
    done = subprocess.run(
        [*command, "--secret", str(folder / "secret"), *words], capture_output=True, text=True, check=True
    )
    return float(json.loads(done.stdout)["elapsed_s"])


def _worker(folder: Path, address: str, number: int) -> subprocess.Popen[bytes]:
    words = ["-m", "referee.cli.main", "cluster", "worker", address, "--slots", "1", "--name", f"machine-{number}"]
    return subprocess.Popen([sys.executable, *words, "--accept-plain"], cwd=folder, stdout=subprocess.DEVNULL)


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    process.wait()


def _wait_for_machines(address: str, number: int) -> None:
    from distributed import Client

    with Client(address, set_as_default=False) as client:
        client.wait_for_workers(number, timeout=120)


def measure_scheduler(machines: int, slots: int, matches: int, plot: Path | None) -> None:
    """Matches a second through one scheduler, its processor time for each, and the memory of this process."""
    points: list[tuple[float, int, float]] = []
    with tempfile.TemporaryDirectory() as name, scheduler_process() as (address, scheduler), ExitStack() as stack:
        processes = max(1, machines // 10)
        for place in range(processes):
            number = machines // processes + (place < machines % processes)
            words = [sys.executable, __file__, "machines", address, str(number), str(slots)]
            stack.callback(_stop, subprocess.Popen(words, stderr=subprocess.DEVNULL))
        _wait_for_machines(address, machines)
        began_s, before_s = time.monotonic(), _cpu_s(scheduler.pid)
        own_s = time.process_time()
        asyncio.run(_play_all(address, Path(name), matches, points))
        passed_s, cpu_s = time.monotonic() - began_s, _cpu_s(scheduler.pid) - before_s
        own_s = time.process_time() - own_s
    print("| machines | slots | matches | matches/s | scheduler, ms a match | runner, ms a match | runner, MiB |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    first, last = points[len(points) // 5][2], points[-1][2]
    print(
        f"| {machines} | {machines * slots} | {matches} | {matches / passed_s:.0f} | {cpu_s / matches * 1000:.2f}"
        f" | {own_s / matches * 1000:.2f} | {first:.0f} to {last:.0f} |"
    )
    if plot is not None:
        plot.write_text(_svg(points))


async def _play_all(address: str, folder: Path, matches: int, points: list[tuple[float, int, float]]) -> None:
    """A window of matches, as the runner has it."""
    from referee.cluster.executor import DaskExecutor
    from referee.cluster.peers import Peer

    playing: set[asyncio.Task[Any]] = set()
    begun = done = 0
    began_s = told_s = time.monotonic()
    async with DaskExecutor(Peer(address), folder, bots=_bots(), note=print) as executor:
        while done < matches:
            while begun < matches and len(playing) < executor.slots:
                playing.add(asyncio.create_task(executor.play(_spec(begun), 60.0)))
                begun += 1
            ended, playing = await asyncio.wait(playing, timeout=1, return_when=asyncio.FIRST_COMPLETED)
            assert all(task.result().record for task in ended)
            done += len(ended)
            if time.monotonic() - told_s >= 1:
                told_s = time.monotonic()
                points.append((told_s - began_s, done, _memory_mib()))
                print(f"{told_s - began_s:.0f} s: {done} matches", file=sys.stderr)


def _bots() -> dict[str, Any]:
    from referee.process.sandbox import Sandbox
    from referee.tournament.messages import BotSetup

    return {name: BotSetup("", name, {}, name, Sandbox(), content=name) for name in ("a", "b")}


def _spec(number: int) -> Any:
    from referee.schedule.spec import MatchSpec, SeatSpec

    seats = (SeatSpec("a", "a", "1"), SeatSpec("b", "b", "1"))
    return MatchSpec(f"m{number:06}", "shibuya", {}, seats, seed=f"{number:032x}", block=number // 2, place=number)


def _record(spec: Any) -> bytes:
    """Of a match that counts, with about 6,000 bytes."""
    from referee.record.format import (
        CHAIN_START,
        Answer,
        Footer,
        Header,
        SeatHeader,
        SeatStats,
        answer_body,
        footer_body,
        header_body,
        seal,
        seed_commitment,
    )

    seats = tuple(SeatHeader(seat.entry_id, seat.name, seat.version) for seat in spec.seats)
    header = Header(
        spec.match_id, "bench", spec.place, spec.block, spec.game, 1, spec.options, len(seats), seats, {"move_s": 1.0},
        seed_commitment(spec.seed), "2026-01-01T00:00:00.000Z", "0",
    )  # fmt: skip
    answers = [answer_body(Answer(seat, "pass()", 50_000, 10, 20, secrets.token_hex(110))) for seat in (0, 1) * 20]
    stats = (SeatStats(20, 1_000_000, 50_000, 200, 0, 0, 0, 0, 50_000),) * 2
    footer = Footer("rated", "normal", "", spec.seed, (1, 2), (1, 0), "ab", stats, (None, None), 40, 2_000_000)
    lines, chain = [], CHAIN_START
    for body in (header_body(header), *answers, footer_body(footer)):
        line, chain = seal(chain, body)
        lines.append(line)
    return gzip.compress("".join(lines).encode("ascii"), compresslevel=1, mtime=0)


async def _simulate(address: str, number: int, slots: int) -> None:
    """Machines in one process, whose matches take no processor."""
    import dask
    from distributed import Worker
    from distributed.worker import DEFAULT_METRICS

    from referee.cluster.machine import METRIC, Facts, own_platform, own_versions
    from referee.cluster.orders import Answer, Order
    from referee.cluster.plugin import MachinePlugin
    from referee.cluster.settings import CONFIG
    from referee.match.result import MatchResult
    from referee.record.reasons import EndReason

    class Simulated(MachinePlugin):
        async def setup(self, worker: Worker) -> None:
            self._listen(worker)

        async def teardown(self, worker: Worker) -> None:
            pass

        async def _play(self, data: bytes, _key: str, client: str) -> bytes:
            order = Order.from_bytes(data)
            await asyncio.sleep(MATCH_S)
            result = MatchResult(
                order.spec.match_id, "rated", EndReason.NORMAL, "", (1, 2), (1, 0), (None, None), (), 40, MATCH_S, "ab"
            )
            return Answer(order.key, "played", self._facts.name, result=result, record=_record(order.spec)).to_bytes()

    with dask.config.set(CONFIG), tempfile.TemporaryDirectory() as name:
        workers = []
        for place in range(number):
            own = f"{os.getpid()}-{place}"
            facts = Facts(own, "simulated", slots, "strict", own_platform(), own_versions())
            plugin = Simulated(Path(name) / own, facts)
            worker = Worker(
                address,
                nthreads=slots,
                name=own,
                host="127.0.0.1",
                dashboard_address="127.0.0.1:0",
                memory_limit=0,
                local_directory=name,
                plugins=(plugin,),
                metrics={**DEFAULT_METRICS, METRIC: plugin.facts},
            )
            workers.append(await worker)
        await asyncio.gather(*[worker.finished() for worker in workers])


def _cpu_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _memory_mib() -> float:
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() / 2**20


def _svg(points: list[tuple[float, int, float]]) -> str:
    """Matches and memory over time."""
    wide, high = 640, 240
    last_s, most, mib = points[-1][0], points[-1][1], max(point[2] for point in points) * 1.2
    matches = " ".join(f"{x / last_s * wide:.1f},{high - y / most * high:.1f}" for x, y, _ in points)
    memory = " ".join(f"{x / last_s * wide:.1f},{high - z / mib * high:.1f}" for x, _, z in points)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="-10 -30 {wide + 20} {high + 50}" font-family="sans-serif"'
        f' font-size="14"><text y="-10">matches, up to {most:,} (blue) and MiB of the runner, up to'
        f" {mib / 1.2:.0f} (red), over {last_s:.0f} s</text>"
        f'<rect width="{wide}" height="{high}" fill="none" stroke="gray"/>'
        f'<polyline points="{matches}" fill="none" stroke="blue"/>'
        f'<polyline points="{memory}" fill="none" stroke="red"/></svg>\n'
    )


if __name__ == "__main__":
    main()
