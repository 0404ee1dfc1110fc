"""What a bot costs in each language: start-up, memory, and the moves/s that one table reaches with it.

    python benchmarks/languages.py [--seconds 3] [--rounds 3] [--starts 5] [LANGUAGE ...]

For each language its random bot (build it first: `sh bots/LANGUAGE/build.sh`), two processes of it in a match of
Shibuya. `bare` is gRPC alone with the same client: the questions of a recorded match are sent over the same streams as
fast as they are answered, no rules, no clocks, no record. `table` is the real thing, in alternating rounds, one match
at a time; `of bare` compares the two. `table x 4` are four matches at once on one table, eight processes.
"""

import argparse
import asyncio
import secrets
import shutil
import statistics
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

# This folder has a `referee` of its own; and benchmarks.referee takes the first place of the path away.
sys.path.pop(0)
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, sys.path[0])

from benchmarks.referee import Probe, Sample, TableBench, machine, percentiles, ping_pong, run_ping_pong
from referee.process.bot import BotProcess
from referee.process.entry import Entry, EntryError, ManifestError, load_entry
from referee.process.limits import ProcessLimits
from referee.wire import WireServer
from referee.wire.encode import WireLimits

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = {
    "cpp": ROOT / "bots" / "cpp",
    "rust": ROOT / "bots" / "rust",
    "go": ROOT / "bots" / "go",
    "typescript": ROOT / "bots" / "typescript",
    "java": ROOT / "bots" / "java",
    "python": ROOT / "bots" / "python" / "random",
}
WARM_S = 0.5
MANY = 4
MATCH = b"bench-000"
"""What `ping_pong` calls its match."""


@dataclass
class Row:
    """Figures of one language."""

    language: str
    start_ms: list[float] = field(default_factory=list)
    memory_mib: float = 0.0
    bare: Sample = field(default_factory=lambda: Sample("bare"))
    table: Sample = field(default_factory=lambda: Sample("table"))
    many: Sample = field(default_factory=lambda: Sample("table x 4"))


def memory_mib(pid: int) -> float:
    """Resident memory of a process."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    return 0.0


async def start_up_ms(entry: Entry) -> float:
    """From starting the process until its Hello has come."""
    async with WireServer() as server:
        token = secrets.token_hex(16)
        expected = server.expect(token, WireLimits(1 << 20, 4096, 65536, 10_000_000))
        began = time.perf_counter()
        process = await BotProcess.start(entry, address=server.address, token=token, limits=ProcessLimits())
        try:
            async with asyncio.timeout(60):
                await expected
            return (time.perf_counter() - began) * 1000
        finally:
            await process.stop(0)


async def measure(row: Row, entry: Entry, probe: Probe, folder: Path, arguments: argparse.Namespace) -> None:
    for _ in range(arguments.starts):
        row.start_ms.append(await start_up_ms(entry))
    one, many = TableBench(entry, folder / "one"), TableBench(entry, folder / "many")
    async with one.table, many.table:
        probe.questions.clear()
        await one.play()
        row.memory_mib = statistics.mean(memory_mib(bot.pid) for bot in one.bots)
        questions = [question.replace(b"bench-001", MATCH) for question in probe.questions]
        for _ in range(arguments.rounds):
            async with ping_pong(folder, entry, sdk=True) as (contexts, bots):
                await run_ping_pong(Sample(""), contexts, bots, questions, WARM_S)
                await run_ping_pong(row.bare, contexts, bots, questions, arguments.seconds)
            await one.run(Sample(""), WARM_S, 1, probe)
            await one.run(row.table, arguments.seconds, 1, probe)
            await many.run(Sample(""), WARM_S, MANY, probe)
            await many.run(row.many, arguments.seconds, MANY, probe)


def report(rows: list[Row]) -> None:
    print(f"\n{machine()}\n")
    print("Shibuya, two random bots; medians of rounds; CPU per move of one match.\n")
    print(
        "| language | start-up ms | memory MiB | bare moves/s | table moves/s | of bare | table x 4 moves/s"
        " | cycle p50 us | p99 us | CPU us: referee, bare | referee | bots |"
    )
    print("|" + " --- |" * 12)
    for row in rows:
        start_ms = statistics.median(row.start_ms)
        bare, table, many = (statistics.median(sample.rates) for sample in (row.bare, row.table, row.many))
        p50, p99 = percentiles(row.table.cycles_us)
        print(
            f"| {row.language} | {start_ms:.0f} | {row.memory_mib:.0f} | {bare:.0f} | {table:.0f}"
            f" | {table / bare:.2f} | {many:.0f} | {p50:.0f} | {p99:.0f}"
            f" | {row.bare.referee_cpu_s / row.bare.moves * 1e6:.0f}"
            f" | {row.table.referee_cpu_s / row.table.moves * 1e6:.0f}"
            f" | {row.table.bots_cpu_s / row.table.moves * 1e6:.0f} |"
        )


async def main(arguments: argparse.Namespace) -> None:
    probe = Probe()
    probe.install()
    rows = []
    for language in arguments.languages or FOLDERS:
        try:
            entry = load_entry(FOLDERS[language], built_in=FOLDERS[language])
        except (EntryError, ManifestError) as error:
            print(f"{language} is left out: {error}", file=sys.stderr)
            continue
        folder = Path(tempfile.mkdtemp(prefix="ct-lang-"))
        try:
            rows.append(Row(language))
            await measure(rows[-1], entry, probe, folder, arguments)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    report(rows)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("languages", nargs="*", metavar="LANGUAGE", help=f"of {', '.join(FOLDERS)}; default all")
    parser.add_argument("--seconds", type=float, default=3.0, help="length of one round of one kind")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--starts", type=int, default=5)
    given = parser.parse_args()
    if unknown := [language for language in given.languages if language not in FOLDERS]:
        parser.error(f"no language {unknown[0]}: choose of {', '.join(FOLDERS)}")
    asyncio.run(main(given))
