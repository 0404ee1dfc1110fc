"""Short matches: how many a second, and where the time of the machine goes.

    python benchmarks/short_matches.py [--blocks 20] [--workers 2] [--games shibuya ...] [--bots python cpp]

Two random bots play a tournament of `crosstown run` in strict sandboxes, in each game. From the first match on, the
processes below the command are looked at ten times a second. Of the time of all cores the table has the share of

    bots      the bots in their matches, as the records have it
    starts    what the bots used besides: to start, until their first Hello, and to end; sandboxes and guardians, too
    referee   the workers, which play the matches, and the runner
    idle      nothing of it ran

`start s` is the time from the command to the first match, before its bots are started; `hello s` is what the bots of
the first match took until their Hello; `end s` is the time from the last record to the end of the command, in which
bots and workers end and the table is computed; `close ms` is the median time to close a record on the same disk, with
what it waits for.

    python benchmarks/short_matches.py --idle [--workers 2] [--games shibuya ...] [--bots python cpp]

takes the idle time apart. About a hundred times a second it looks at the state of all threads below the command. A core
is unused while fewer threads run, or wait for a core, than there are cores: so other programs change the shares little.

    end       after the last record was closed
    second    before each worker has begun its first match
    disk      a thread of the worker waits for the disk, and nothing of its table runs
    runner    the worker has no match: its last record is not closed, or the next match has not come
    turns     a match goes on, and worker and bots all sleep: who is woken has not run yet, or a bot is being started

    python benchmarks/short_matches.py --starts 10 [--games shibuya ...] [--before CHECKOUT]

measures only how a run starts, so many times in each game, by turns with another checkout, which has been set up, if
there is one. Python's byte code is cached, as that of an installed package is. `first match` is the time from the
command to the first line of the first record, `Hello` what its bots took until their Hello, and `first decision` the
time from the command until a bot is asked its first question, as the bot notes it. `CPU` has the seconds of processor
time that the command and its workers have used when the first lines with answers are in the record. All are medians.
"""

import argparse
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

sys.path.pop(0)  # this folder, in which `referee` is another benchmark

from referee.record import Record, RecordWriter, read_record
from referee.record.format import Answer, Chance
from referee.record.store import RecordStore

ROOT = Path(__file__).resolve().parents[1]
GAMES = ("king_of_new_york", "manhattan_traffiq", "shibuya", "ticket_to_ride_new_york")
BOTS = {"python": ROOT / "bots" / "python" / "random", "cpp": ROOT / "bots" / "cpp"}
LOOKS_S = 0.1
_TICKS = os.sysconf("SC_CLK_TCK")

FILE = """name = "short"
game = "{game}"
seed = 1
blocks = {blocks}

[sandbox]
profile = "strict"

[clock]
first_move_s = 30.0
move_s = 30.0
"""

NOTING = """
import time
from crosstown_bot import Bot, Turn, run

class NotingBot(Bot):
    wants_observation = False
    wants_legal_actions = False

    def choose(self, turn: Turn) -> int:
        turn.note = str(time.monotonic())
        return hash((self.options["salt"], turn.note)) % turn.legal_count

run(NotingBot)
"""
"""In place of the random bot, to see when it is asked: lines of a record are written some time after that."""

BOT = """
[[bots]]
path = "{path}"
name = "{name}"
options = {{ {option} }}
"""


@dataclass
class Watch:
    """The processor seconds of the processes below a command, by what they are."""

    root: int
    used: dict[int, tuple[str, float]] = field(default_factory=dict)

    def look(self) -> None:
        parents: dict[int, int] = {}
        seconds: dict[int, float] = {}
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit():
                try:
                    _, _, rest = (entry / "stat").read_text().rpartition(") ")
                except OSError:
                    continue
                fields = rest.split()
                parents[int(entry.name)] = int(fields[1])
                seconds[int(entry.name)] = (int(fields[11]) + int(fields[12])) / _TICKS
        for pid, taken in seconds.items():
            if self._is_below(pid, parents):
                kind = self.used[pid][0] if pid in self.used else kind_of(pid, self.root)
                self.used[pid] = kind, taken

    def _is_below(self, pid: int, parents: dict[int, int]) -> bool:
        while pid not in (0, 1, self.root):
            pid = parents.get(pid, 0)
        return pid == self.root

    def sums(self) -> dict[str, float]:
        sums = {"referee": 0.0, "bots": 0.0}
        for kind, taken in self.used.values():
            sums[kind] += taken
        return sums


def kind_of(pid: int, root: int) -> str:
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return "bots"
    return "referee" if pid == root or b"referee.tournament.worker" in words else "bots"


CAUSES = ("end", "second", "disk", "runner", "turns")


class Idle:
    """Why cores are not used by the processes below a command: shares of the time of all cores."""

    def __init__(self, root: int, matches: Path, workers: int) -> None:
        self._root, self._matches, self._workers = root, matches, workers
        self._cores = os.cpu_count() or 1
        self._samples: list[tuple[float, float, str]] = []
        """When, how many cores were unused until then, and why as far as it is known by then."""
        self._last_s = time.time()

    def look(self) -> None:
        now_s = time.time()
        passed_s, self._last_s = now_s - self._last_s, now_s
        parents, states = self._threads()
        tables: dict[int, list[str]] = {}
        running = 0
        for pid, state in states.items():
            chain = [pid]
            while chain[-1] not in (0, 1, self._root):
                chain.append(parents.get(chain[-1], 0))
            if chain[-1] != self._root:
                continue
            running += state.count("R")
            if len(chain) > 1 and kind_of(chain[-2], self._root) == "referee":
                tables.setdefault(chain[-2], []).append(state)
        unused = max(0, self._cores - running) / self._cores
        live = sum(path.suffix == ".jsonl" for path in self._matches.glob("*.jsonl*"))
        asleep = [states for states in tables.values() if not any("R" in state for state in states)]
        if len(list(self._matches.glob("*.jsonl*"))) < self._workers:
            why = "second"
        elif any("D" in state for states in asleep for state in states):
            why = "disk"
        else:
            why = "runner" if live < min(self._workers, self._cores) else "turns"
        self._samples.append((now_s, unused * passed_s, why))

    def shares(self, closed_s: float) -> dict[str, float]:
        """By cause. `closed_s`: when the last record was closed."""
        found = dict.fromkeys(CAUSES, 0.0)
        for when_s, unused_s, why in self._samples:
            found["end" if when_s > closed_s else why] += unused_s
        whole_s = self._samples[-1][0] - self._samples[0][0]
        return {why: unused_s / whole_s for why, unused_s in found.items()}

    def _threads(self) -> tuple[dict[int, int], dict[int, str]]:
        """The parent of each process, and the states of its threads."""
        parents: dict[int, int] = {}
        states: dict[int, str] = {}
        for entry in os.scandir("/proc"):
            if entry.name.isdigit():
                try:
                    texts = [Path(task.path, "stat").read_text() for task in os.scandir(f"{entry.path}/task")]
                except OSError:
                    continue
                fields = [text.rpartition(") ")[2].split(maxsplit=2) for text in texts]
                parents[int(entry.name)] = int(fields[0][1])
                states[int(entry.name)] = "".join(field[0] for field in fields)
        return parents, states


def idle_of(folder: Path, game: str, bot: Path, blocks: int, workers: int) -> tuple[float, dict[str, float]]:
    """Matches a second, and why cores were unused."""
    prepare(folder, game, bot, blocks)
    shutil.rmtree(folder / "runs", ignore_errors=True)
    run = command("run", "short.toml", "--quiet", "--workers", str(workers))
    process = subprocess.Popen(run, cwd=folder)
    matches = folder / "runs" / "short" / "matches"
    while process.poll() is None and not any(matches.glob("*.jsonl*")):
        time.sleep(0.005)
    began_s = time.time()
    idle = Idle(process.pid, matches, workers)
    while process.poll() is None:
        time.sleep(0.008)
        idle.look()
    if process.returncode:
        sys.exit(f"{run} ended with {process.returncode}")
    paths = list(RecordStore.of_run(folder / "runs" / "short").paths().values())
    return len(paths) / (time.time() - began_s), idle.shares(max(path.stat().st_mtime for path in paths))


@dataclass(frozen=True)
class Result:
    """One tournament."""

    matches: int
    decisions: int
    elapsed_s: float
    shares: dict[str, float]
    start_s: float
    hello_s: float
    end_s: float
    close_ms: float


def prepare(folder: Path, game: str, bot: Path, blocks: int, *, noting: bool = False) -> None:
    """Write the tournament file, and build its bots."""
    text = FILE.format(game=game, blocks=blocks)
    option = "salt = {}" if bot.parent.name == "python" else 'player = "random"'
    for number in range(2):
        # Other bots of the same source: a copy each, for two entries must differ.
        copy = folder / f"bot{number}"
        if not copy.exists():
            shutil.copytree(bot, copy, ignore=shutil.ignore_patterns("build", "__pycache__"))
            manifest = copy / "bot.toml"
            manifest.write_text(manifest.read_text().replace('version = "1"', f'version = "1.{number}"', 1))
            if noting:
                (copy / "bot.py").write_text(NOTING)
        text += BOT.format(path=copy, name=f"bot{number}", option=option.format(number))
    (folder / "short.toml").write_text(text)
    for number in range(2):
        build = command("bots", "build", str(folder / f"bot{number}"))
        subprocess.run(build, cwd=folder, check=True, stdout=subprocess.DEVNULL)


def play(folder: Path, game: str, bot: Path, blocks: int, workers: int) -> Result:
    prepare(folder, game, bot, blocks)
    shutil.rmtree(folder / "runs", ignore_errors=True)
    began_s = time.monotonic()
    run = command("run", "short.toml", "--quiet", "--workers", str(workers))
    process = subprocess.Popen(run, cwd=folder)
    watch = Watch(process.pid)
    matches = folder / "runs" / "short" / "matches"
    while process.poll() is None and not any(matches.glob("*.jsonl*")):
        time.sleep(0.005)
    first_s = time.monotonic()
    watch.look()
    before = watch.sums()
    while process.poll() is None:
        time.sleep(LOOKS_S)
        watch.look()
    elapsed_s, ended_s = time.monotonic() - first_s, time.time()
    if process.returncode:
        sys.exit(f"{run} ended with {process.returncode}")
    used = {kind: seconds - before[kind] for kind, seconds in watch.sums().items()}
    paths = RecordStore.of_run(folder / "runs" / "short").paths().values()
    records = [read_record(path) for path in paths]
    playing_s = sum(map(bots_s, records))
    whole_s = elapsed_s * (os.cpu_count() or 1)
    shares = {
        "bots": playing_s / whole_s,
        "starts": max(0.0, used["bots"] - playing_s) / whole_s,
        "referee": used["referee"] / whole_s,
    }
    shares["idle"] = 1 - sum(shares.values())
    footers = [record.footer for record in records if record.footer is not None]
    return Result(
        len(records),
        sum(footer.decisions for footer in footers),
        elapsed_s,
        shares,
        first_s - began_s,
        max(footers[0].startup_us, default=0) / 1e6,
        ended_s - max(path.stat().st_mtime for path in paths),
        close_ms(records[0], folder / "closing"),
    )


@dataclass(frozen=True)
class Start:
    """How one run started, in seconds."""

    match_s: float
    decision_s: float
    hello_s: float
    cpu_s: float


def start(folder: Path, python: str, workers: int) -> Start:
    """Play the tournament in `folder` with the version of this Python's environment."""
    shutil.rmtree(folder / "runs", ignore_errors=True)
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment["PYTHONPYCACHEPREFIX"] = str(folder / "byte-code")
    matches = folder / "runs" / "short" / "matches"
    began_s = time.monotonic()
    run = command("run", "short.toml", "--quiet", "--workers", str(workers), python=python)
    process = subprocess.Popen(run, cwd=folder, env=environment)
    watch, match_s, cpu_s = Watch(process.pid), 0.0, 0.0
    while process.poll() is None:
        text = next((path.read_bytes() for path in matches.glob("*.jsonl")), b"")
        if text and not match_s:
            match_s = time.monotonic() - began_s
        if b'\n["a"' in text:
            break
        time.sleep(0.002)
    watch.look()
    cpu_s = watch.sums()["referee"]
    if process.wait():
        sys.exit(f"crosstown run ended with {process.returncode}")
    records = [read_record(path) for path in RecordStore.of_run(folder / "runs" / "short").paths().values()]
    first = min(records, key=lambda record: record.header.created_at)
    assert first.footer is not None
    asked_s = min(float(line.note) for line in first.lines if isinstance(line, Answer))
    return Start(match_s, asked_s - began_s, max(first.footer.startup_us) / 1e6, cpu_s)


def print_starts(games: Sequence[str], times: int, workers: int, before: Path | None) -> None:
    pythons = {"now": sys.executable}
    if before is not None:
        pythons = {"before": str(before.absolute() / ".venv" / "bin" / "python")} | pythons
    print("| game | version | first match | Hello | first decision | above Hello | CPU |")
    print("| --- | --- | ---: | ---: | ---: | ---: | ---: |", flush=True)
    for game in games:
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(temporary)
            prepare(folder, game, BOTS["python"], 1, noting=True)
            starts: dict[str, list[Start]] = {name: [] for name in pythons}
            for number in range(times + 1):
                for name, python in pythons.items():
                    found = start(folder, python, workers)
                    if number:  # the first one fills the caches
                        starts[name].append(found)
        for name, all_ in starts.items():
            figures = (
                [one.match_s for one in all_],
                [one.hello_s for one in all_],
                [one.decision_s for one in all_],
                [one.decision_s - one.hello_s for one in all_],
                [one.cpu_s for one in all_],
            )
            print(
                f"| {game} | {name} | {' | '.join(f'{statistics.median(one):.2f} s' for one in figures)} |", flush=True
            )


def command(*words: str, python: str = sys.executable) -> list[str]:
    return [python, "-c", "from referee.cli.main import main; main()", *words]


def bots_s(record: Record) -> float:
    """What the bots of a match used of the processor from its start to its end."""
    stats = record.footer.seat_stats if record.footer is not None else ()
    return sum(seat.cpu_us + seat.off_turn_cpu_us + seat.idle_cpu_us for seat in stats) / 1e6


def close_ms(record: Record, folder: Path, times: int = 20) -> float:
    def closings() -> Iterator[float]:
        for _ in range(times):
            shutil.rmtree(folder, ignore_errors=True)
            writer = RecordWriter(folder, record.header)
            for line in record.lines:
                if isinstance(line, Answer):
                    writer.answer(line)
                elif isinstance(line, Chance):
                    writer.chance(line.outcome)
            assert record.footer is not None
            began_s = time.perf_counter()
            writer.close(record.footer)
            yield 1000 * (time.perf_counter() - began_s)

    return statistics.median(closings())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0] if __doc__ else "")
    parser.add_argument("--blocks", type=int, default=20)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--games", nargs="+", choices=GAMES, default=GAMES)
    parser.add_argument("--bots", nargs="+", choices=tuple(BOTS), default=tuple(BOTS))
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--idle", action="store_true", help="take the idle time apart")
    parser.add_argument("--starts", type=int, default=0, metavar="TIMES", help="measure the start of a run only")
    parser.add_argument("--before", type=Path, metavar="CHECKOUT", help="with --starts: the version to compare with")
    wanted = parser.parse_args()
    load, *_ = os.getloadavg()
    print(f"Python {platform.python_version()}, {platform.machine()}, {os.cpu_count()} cores, load {load:.1f}\n")
    if wanted.starts:
        print_starts(wanted.games, wanted.starts, wanted.workers, wanted.before)
        return
    if wanted.idle:
        print(f"| game | bots | workers | matches/s | {' | '.join(CAUSES)} | unused |")
        print("| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |", flush=True)
        for language in wanted.bots:
            with tempfile.TemporaryDirectory() as temporary:
                for game in wanted.games:
                    speed, why = idle_of(Path(temporary), game, BOTS[language], wanted.blocks, wanted.workers)
                    figures = " | ".join(f"{share:.0%}" for share in (*why.values(), sum(why.values())))
                    print(f"| {game} | {language} | {wanted.workers} | {speed:.1f} | {figures} |", flush=True)
        return
    shares = "bots | starts | referee | idle"
    print(f"| game | bots | matches/s | decisions/s | {shares} | start s | hello s | end s | close ms |")
    print("| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |", flush=True)
    for language in wanted.bots:
        if language == "cpp" and shutil.which("g++") is None:
            print("C++ is left out: there is no g++ here.")
            continue
        with tempfile.TemporaryDirectory() as temporary:
            for game in wanted.games:
                found = play(Path(temporary), game, BOTS[language], wanted.blocks, wanted.workers)
                figures = " | ".join(f"{found.shares[name]:.0%}" for name in shares.split(" | "))
                print(
                    f"| {game} | {language} | {found.matches / found.elapsed_s:.1f} |"
                    f" {found.decisions / found.elapsed_s:,.0f} | {figures} | {found.start_s:.2f} |"
                    f" {found.hello_s:.2f} | {found.end_s:.2f} | {found.close_ms:.1f} |",
                    flush=True,
                )
                if wanted.json:
                    print(json.dumps({"game": game, "bots": language, **found.__dict__}))


if __name__ == "__main__":
    main()
