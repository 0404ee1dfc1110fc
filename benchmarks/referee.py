"""What the referee adds to gRPC: one table playing Shibuya against bare ping-pong with the same messages.

    python benchmarks/referee.py [--seconds 5] [--rounds 3] [--tables 1] [--bot FOLDER | --binary PATH] [--parts]

Both sides run in this process with two bot processes each, in alternating rounds: `bare` is a grpc.aio stream that
carries the bytes of a recorded match (no protobuf, no rules, answers of the usual size), `sdk` is the same with bots
made with the Python SDK, `table` is the real thing: rules, chance, encoding, clocks, records. `--bot` adds a round with
a bot of your own, for instance in C++. A cycle is the time from one question of a match to its next. `--parts` tells
what the processor time of `table` goes to: a signal after every few milliseconds of it notes what the referee does.
"""

import argparse
import asyncio
import json
import os
import secrets
import shutil
import signal
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, nullcontext
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from types import FrameType
from typing import Any

os.environ.setdefault("GRPC_VERBOSITY", "ERROR")
sys.path.pop(0)  # this folder, in which `referee` is this file

import grpc
from crosstown_proto.v1 import referee_pb2 as pb

from benchmarks.machine import machine
from referee.games.api import resolve_options
from referee.games.registry import get_game
from referee.match import MatchSpec, SeatSpec, Table
from referee.process.bot import BotProcess
from referee.process.entry import Entry, load_entry
from referee.process.limits import ProcessLimits
from referee.wire import Session
from referee.wire.encode import WireLimits, match_start, welcome

PACKAGE = f"{Path(__file__).resolve().parents[1]}/referee/"
GAME = "shibuya"
DECIDE_TAG = 0x1A
MATCH_START_TAG = 0x12

SDK_BOT = """
from crosstown_bot import Bot, run
class Fast(Bot):
    def choose(self, turn):
        return turn.number % turn.legal_count
run(Fast)
"""

BARE_BOT = """
import asyncio, os
os.environ["GRPC_VERBOSITY"] = "ERROR"
import grpc
from crosstown_proto.v1 import referee_pb2 as pb
ANSWER = pb.BotMessage(move=pb.Move(match="bench-000", decision=100, index=7)).SerializeToString()
async def main():
    async with grpc.aio.insecure_channel(os.environ["CROSSTOWN_ADDRESS"]) as channel:
        call = channel.stream_stream("/crosstown.v1.Referee/Play")(wait_for_ready=True)
        await call.write(b"hello")
        while await call.read() is not grpc.aio.EOF:
            await call.write(ANSWER)
asyncio.run(main())
"""


@dataclass
class Sample:
    """Sums over all rounds of one kind."""

    name: str
    moves: int = 0
    seconds: float = 0.0
    referee_cpu_s: float = 0.0
    bots_cpu_s: float = 0.0
    cycles_us: list[float] = field(default_factory=list)
    rates: list[float] = field(default_factory=list)

    def add(self, moves: int, seconds: float, referee_cpu_s: float, bots_cpu_s: float) -> None:
        self.moves += moves
        self.seconds += seconds
        self.referee_cpu_s += referee_cpu_s
        self.bots_cpu_s += bots_cpu_s
        self.rates.append(moves / seconds)


def make_bot(folder: Path, name: str, program: str) -> Entry:
    (folder / name).mkdir()
    (folder / name / "bot.toml").write_text(
        f'name = "{name}"\nversion = "1"\ngames = ["*"]\nrun = ["{{python}}", "bot.py"]\n'
    )
    (folder / name / "bot.py").write_text(program)
    return load_entry(folder / name)


def binary_bot(folder: Path, binary: str) -> Entry:
    """A bot that is one program, such as a compiled one."""
    (folder / "binary").mkdir()
    run = json.dumps([str(Path(binary).resolve())])
    (folder / "binary" / "bot.toml").write_text(f'name = "binary"\nversion = "1"\ngames = ["*"]\nrun = {run}\n')
    return load_entry(folder / "binary")


class Probe:
    """Sees every message a table sends: keeps the first match's questions, and the times between questions."""

    def __init__(self) -> None:
        self.questions: list[bytes] = []
        self.cycles_us: list[float] = []
        self._last_ns: dict[int, int] = {}
        self._send = Session.send

    def install(self) -> None:
        probe, send = self, self._send

        def seen(session: Session, data: bytes) -> None:
            if data[0] == DECIDE_TAG:
                now_ns = time.perf_counter_ns()
                table = id(asyncio.current_task())
                if table in probe._last_ns:
                    probe.cycles_us.append((now_ns - probe._last_ns[table]) / 1000)
                probe._last_ns[table] = now_ns
                if len(probe.questions) < 500:
                    probe.questions.append(data)
            elif data[0] == MATCH_START_TAG:
                probe._last_ns.pop(id(asyncio.current_task()), None)
            send(session, data)

        Session.send = seen  # type: ignore[method-assign]

    def take(self) -> list[float]:
        taken, self.cycles_us = self.cycles_us, []
        return taken


Part = tuple[str, str, tuple[str, ...]]
"""A name; how the path of a file goes on below a folder; functions in it, all if none is named."""

OURS: Sequence[Part] = (
    (
        "observations, legal lists and events: encoding",
        "games/",
        ("encode_observation", "encode_actions", "encode_events"),
    ),
    ("observations", "games/", ("observation",)),
    ("legal lists", "games/", ("legal_actions",)),
    ("applying answers, luck, texts of actions", "games/", ()),
    ("Decide: the message around them", "wire/encode.py", ()),
    ("HTTP/2: writing, with its system call", "wire/http2.py", ("send", "flush", "write", "_frame", "unsent")),
    ("HTTP/2: reading frames, counting what they cost", "wire/http2.py", ()),
    ("HTTP/2: budgets", "wire/budget.py", ()),
    ("sessions: parsing answers, watching the stream", "wire/", ()),
    ("lines of the record", "record/", ()),
    ("meters of the bots' processor time", "process/", ()),
    ("clocks, lateness and timers", "match/time_control.py", ()),
    ("asking", "match/", ("_open", "allow", "__init__", "ask", "_set_probe", "_unseen", "probe_after_ns")),
    ("judging answers", "match/", ("_judge", "_judge_move", "_measure", "measure", "read_choice", "_charge")),
    ("the rest of the match", "match/", ()),
    ("other", "", ()),
)
"""Below `referee`; the first one that fits counts."""

OTHERS: Sequence[Part] = (
    ("asyncio: waiting for sockets", "/selectors.py", ()),
    ("asyncio: receiving", "/asyncio/selector_events.py", ()),
    ("asyncio: tasks, callbacks and timers", "/asyncio/", ()),
    ("other", "", ()),
)
SAMPLE_S = 0.001
"""Of processor time. The system rounds it up to its own tick."""


def name_of(parts: Sequence[Part], file: str, function: str) -> str:
    return next(name for name, place, functions in parts if place in file and function in (functions or (function,)))


def part_of(frame: FrameType | None) -> str:
    """What this process does there: by the innermost frame of the referee, among its rules by the outermost; by the
    innermost of all if there is none of the referee."""
    ours = others = ""
    while frame is not None:
        file, function = frame.f_code.co_filename, frame.f_code.co_name
        if file.startswith(PACKAGE):
            file = file.removeprefix(PACKAGE)
            if not ours or file.startswith("games/"):
                ours = name_of(OURS, file, function)
            if not file.startswith("games/"):
                break
        else:
            others = others or name_of(OTHERS, file, function)
        frame = frame.f_back
    return ours or others


@contextmanager
def sampling(counts: Counter[str]) -> Iterator[None]:
    """Count what this process does, by its processor time."""
    before = signal.signal(signal.SIGPROF, lambda _, frame: counts.update((part_of(frame),)))
    signal.setitimer(signal.ITIMER_PROF, SAMPLE_S, SAMPLE_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


class Streams:
    """A server that only keeps the streams of its clients."""

    def __init__(self) -> None:
        self.contexts: asyncio.Queue[Any] = asyncio.Queue()

    async def play(self, _requests: object, context: Any) -> None:
        await self.contexts.put(context)
        await asyncio.Event().wait()


@asynccontextmanager
async def ping_pong(folder: Path, entry: Entry, sdk: bool) -> AsyncIterator[tuple[list[Any], list[BotProcess]]]:
    """Two bot processes of `entry` and the server's ends of their streams, ready to be asked."""
    streams = Streams()
    server = grpc.aio.server()
    handler: Any = grpc.stream_stream_rpc_method_handler(streams.play)
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("crosstown.v1.Referee", {"Play": handler}),))
    address = f"unix:{folder / entry.name}.sock"
    server.add_insecure_port(address)
    await server.start()
    bots = [
        await BotProcess.start(entry, address=address, token=secrets.token_hex(16), limits=ProcessLimits())
        for _ in range(2)
    ]
    async with asyncio.timeout(60):
        contexts = [await streams.contexts.get() for _ in bots]
    for context in contexts:
        await context.read()  # Hello
        if sdk:
            await context.write(welcome(WireLimits(1 << 20, 4096, 65536, 10_000_000)))
            await context.write(
                match_start(
                    match="bench-000",
                    game=GAME,
                    rules_version=1,
                    seat=0,
                    players=2,
                    options="{}",
                    teams=(0, 1),
                    clock=pb.Clock(),
                    bot_seed=1,
                )
            )
            await context.read()  # Ready
    try:
        yield contexts, bots
    finally:
        for bot in bots:
            await bot.stop(0)
        await server.stop(0)


async def run_ping_pong(
    sample: Sample, contexts: list[Any], bots: list[BotProcess], questions: list[bytes], seconds: float
) -> None:
    cpu_before = sum(bot.cpu_ns() or 0 for bot in bots)
    own_before, began = time.process_time(), time.perf_counter()
    end, moves, last_ns = began + seconds, 0, time.perf_counter_ns()
    while time.perf_counter() < end:
        for number, question in enumerate(questions):
            context = contexts[number & 1]
            await context.write(question)
            await context.read()
            now_ns = time.perf_counter_ns()
            sample.cycles_us.append((now_ns - last_ns) / 1000)
            last_ns = now_ns
        moves += len(questions)
    sample.add(
        moves,
        time.perf_counter() - began,
        time.process_time() - own_before,
        (sum(bot.cpu_ns() or 0 for bot in bots) - cpu_before) / 1e9,
    )


class TableBench:
    """One table; `tables` matches at the same time."""

    def __init__(self, entry: Entry, records: Path) -> None:
        game = get_game(GAME)
        self.entry = entry
        self.table = Table({entry.id: entry})
        self.options = resolve_options(GAME, game.options, {})
        self.records = records
        self.number = 0
        self.bots: set[BotProcess] = set()

    async def play(self) -> int:
        self.number += 1
        seat = SeatSpec(self.entry.id, "fast", "1")
        spec = MatchSpec(
            f"bench-{self.number:03}", GAME, self.options, (seat, seat), f"{self.number:032x}", block=self.number
        )
        result = await self.table.play(spec, self.records)
        if result.reason != "normal":
            raise SystemExit(f"the benchmark's match ended with {result.reason}: {result.detail}")
        self.bots |= {bot.process for bot in self.table._pool._idle}
        return result.decisions

    async def run(
        self, sample: Sample, seconds: float, tables: int, probe: Probe, counts: Counter[str] | None = None
    ) -> None:
        """`counts` get what this process does."""
        await asyncio.gather(*(self.play() for _ in range(tables)))  # start the processes
        probe.take()
        cpu_before = sum(bot.cpu_ns() or 0 for bot in self.bots)
        own_before, began = time.process_time(), time.perf_counter()

        async def one() -> int:
            moves = 0
            while time.perf_counter() < began + seconds:
                moves += await self.play()
            return moves

        with nullcontext() if counts is None else sampling(counts):
            moves = sum(await asyncio.gather(*(one() for _ in range(tables))))
        sample.add(
            moves,
            time.perf_counter() - began,
            time.process_time() - own_before,
            (sum(bot.cpu_ns() or 0 for bot in self.bots) - cpu_before) / 1e9,
        )
        sample.cycles_us += probe.take()


def report(samples: list[Sample], tables: int, questions: list[bytes]) -> None:
    print(f"\n{described()}\n")
    size = statistics.mean(len(question) for question in questions)
    print(f"Shibuya, {size:.0f} bytes a question; {tables} match(es) at once; medians of rounds; CPU per move.\n")
    print("| | moves/s | cycle p50 us | p99 us | added p50 us | p99 us | of bare | of sdk | CPU us: referee | bots |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    bare, rate_sdk = samples[0], statistics.median(samples[1].rates)
    p50_bare, p99_bare = percentiles(bare.cycles_us)
    for sample in samples:
        rate, rate_bare = statistics.median(sample.rates), statistics.median(bare.rates)
        p50, p99 = percentiles(sample.cycles_us)
        print(
            f"| {sample.name} | {rate:.0f} | {p50:.0f} | {p99:.0f} | {p50 - p50_bare:.0f} | {p99 - p99_bare:.0f}"
            f" | {rate / rate_bare:.2f} | {rate / rate_sdk:.2f} | {sample.referee_cpu_s / sample.moves * 1e6:.0f}"
            f" | {sample.bots_cpu_s / sample.moves * 1e6:.0f} |"
        )


def report_parts(counts: Counter[str], sample: Sample) -> None:
    cpu_us = sample.referee_cpu_s / sample.moves * 1e6
    total = counts.total()
    print(f"\nParts of the {cpu_us:.0f} us of a move in `{sample.name}`, from {total:,} samples.\n")
    print("| part | share | CPU us a move |\n| --- | --- | --- |")
    for name, count in counts.most_common():
        print(f"| {name} | {count / total:.1%} | {count / total * cpu_us:.0f} |")


def percentiles(values: list[float]) -> tuple[float, float]:
    ordered = sorted(values)
    return ordered[len(ordered) // 2], ordered[len(ordered) * 99 // 100]


def described() -> str:
    return (
        f"{machine()}, grpcio {version('grpcio')}, protobuf {version('protobuf')},"
        f" crosstown {version('crosstown-arena')}"
    )


async def main(arguments: argparse.Namespace) -> None:
    folder = Path(tempfile.mkdtemp(prefix="ct-bench-"))
    probe = Probe()
    probe.install()
    try:
        fast, plain = make_bot(folder, "fast", SDK_BOT), make_bot(folder, "bare", BARE_BOT)
        benches = [(Sample("table"), TableBench(fast, folder / "records"))]
        if arguments.bot or arguments.binary:
            own = load_entry(Path(arguments.bot)) if arguments.bot else binary_bot(folder, arguments.binary)
            benches.append((Sample(f"table, {own.name}"), TableBench(own, folder / "records-own")))
        samples = [Sample("bare"), Sample("sdk")]
        sampled, counts = Sample("table"), Counter[str]()
        for _, bench in benches:
            await bench.table.__aenter__()
        await benches[0][1].play()
        questions = list(probe.questions)
        for number in range(arguments.rounds):
            for sample, entry in zip(samples, (plain, fast), strict=True):
                async with ping_pong(folder, entry, sample.name == "sdk") as (contexts, bots):
                    warm = Sample("")
                    await run_ping_pong(warm, contexts, bots, questions, 0.2)
                    await run_ping_pong(sample, contexts, bots, questions, arguments.seconds)
            for sample, bench in benches:
                await bench.run(sample, arguments.seconds, arguments.tables, probe)
            if arguments.parts:  # apart, since samples cost time as well
                await benches[0][1].run(sampled, arguments.seconds, arguments.tables, probe, counts)
            print(f"round {number + 1} of {arguments.rounds}", file=sys.stderr)
        for _, bench in benches:
            await bench.table.__aexit__(None, None, None)
        report([*samples, *(sample for sample, _ in benches)], arguments.tables, questions)
        if arguments.parts:
            report_parts(counts, sampled)
        check = pb.RefereeMessage.FromString(questions[0])
        assert check.WhichOneof("body") == "decide"
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=5.0, help="length of one round of one kind")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--tables", type=int, default=1, help="matches at the same time")
    parser.add_argument("--parts", action="store_true", help="what the referee's processor time goes to")
    parser.add_argument("--bot", help="folder of a bot to measure as well")
    parser.add_argument("--binary", help="the same with a program of your own that speaks the protocol")
    asyncio.run(main(parser.parse_args()))
