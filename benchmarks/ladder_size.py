"""A ladder of many bots and matches: how long its player takes to begin again, what packing saves, and what pages cost.

    python benchmarks/ladder_size.py --bots 2000 --matches 100000 [--keep FOLDER]

Makes one division of Shibuya: bots join, blocks of two random bots are decided, and each match leaves a small record
that is made up, without waiting for the disk. Then the division is taken up again, also without `results.jsonl`, so
that every record is read. The records are packed, and it is taken up once more. At last a server of its own shows the
division: the first answer of each page, and the median of ten more with the processor time of one. Then a line is added
to the journal before each request, as if the division were played, so that the tables are computed again meanwhile: the
median and the longest of five answers. At last the largest size of the process is printed.

With --keep the ladder is made in this folder if it is not there, and left there.
"""

import argparse
import asyncio
import os
import platform
import resource
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random

sys.path.pop(0)  # this folder, in which `referee` is another benchmark
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import uvicorn

from leaderboard.records import MatchRow, match_of
from leaderboard.store import Store
from leaderboard.web.app import make_app
from referee.ladder.bots import LadderBot, entry_id
from referee.ladder.chooser import Chosen
from referee.ladder.config import LadderConfig, default_ladder
from referee.ladder.division import Division
from referee.ladder.hand_ins import LadderHandIns
from referee.ladder.intake import open_store
from referee.ladder.members import Loaded
from referee.match.result import MatchResult
from referee.process.sandbox import Sandbox
from referee.record import Footer, Header, Record, RecordWriter, SeatHeader, SeatStats
from referee.record.format import seed_commitment
from referee.record.journal import COUNTED
from referee.record.reasons import EndReason
from referee.record.store import FileStamp
from referee.run.folder import RunFolder
from referee.run.journal import Journal, read_journal
from referee.run.judging import judge
from referee.schedule.spec import MatchSpec
from referee.tournament.messages import BotSetup, Meeting
from referee.tournament.progress import Reached
from referee.tournament.remembered import NAME

DIVISION = "shibuya"
_ROWS = 5000


class Nobody:
    """An observer, and tables on which nothing is played."""

    slots = 1

    def begun(self, at: Reached) -> None: ...

    def reached(self, at: Reached) -> None: ...

    def rated(self, path: Path, record: Record) -> None: ...

    def revoked(self, record: Path) -> None: ...

    def note(self, sentence: str) -> None: ...

    async def play(self, spec: MatchSpec, cap_s: float, meeting: Meeting | None = None) -> MatchResult:
        raise NotImplementedError


def division_of(config: LadderConfig) -> Division:
    settings = next(one for one in config.divisions if one.name == DIVISION)
    return Division(config, settings, Nobody(), Nobody())


def load(bot: LadderBot) -> Loaded:
    known_as = entry_id(bot, bot.name)
    return Loaded(known_as, BotSetup("", bot.name, {}, bot.name, Sandbox(), "", known_as))


def fill(config: LadderConfig, bots: int, matches: int) -> None:
    """Stronger bots, which have the lower numbers, win more often."""
    dice = Random(1)
    rows: list[MatchRow] = []
    with division_of(config) as division, Store(division.folder.database) as store:
        division.begin(asyncio.Event())
        roster = [LadderBot(f"bot{number}", f"owner{number}", 1) for number in range(bots)]
        division.reconcile(roster, load)
        numbers = {load(bot).bot_id: number for number, bot in enumerate(roster)}
        ids = list(numbers)
        played = 0
        while played < matches:
            one, other = dice.sample(ids, 2)
            division.decide(Chosen((one, other), 0, "drawn for a benchmark"))
            while (spec := division.progress.next()) is not None:
                first, second = (numbers[seat.entry_id] for seat in spec.seats)
                won = dice.random() < 1 / (1 + 10 ** (4 * (first - second) / bots))
                path = leave_record(division.folder.matches, spec, (1, 2) if won else (2, 1))
                judged = judge(path, spec, (spec.seed,))
                division.progress.count(spec, path, judged)
                assert judged.record is not None
                row = match_of(judged.record, FileStamp.of(path)).row
                assert row is not None
                rows.append(row)
                played += 1
            if len(rows) >= _ROWS:
                store.put(rows)
                rows.clear()
        store.put(rows)
        division.stop()


def leave_record(records: Path, spec: MatchSpec, ranking: tuple[int, int]) -> Path:
    writer = RecordWriter(
        records,
        Header(
            match_id=spec.match_id,
            tournament=spec.tournament,
            place=spec.place,
            block=spec.block,
            game=spec.game,
            rules_version=1,
            options={},
            players=len(spec.seats),
            seats=tuple(SeatHeader(seat.entry_id, seat.name, seat.version) for seat in spec.seats),
            limits=asdict(spec.limits),
            seed_commitment=seed_commitment(spec.seed),
            created_at="2026-01-01T00:00:00Z",
            crosstown="0",
        ),
    )
    writer.close(
        Footer(
            status="rated",
            reason=EndReason.NORMAL,
            detail="",
            seed=spec.seed,
            ranking=ranking,
            returns=(1, 0),
            state_hash="ab",
            seat_stats=(SeatStats(),) * 2,
            faults=(None, None),
        )
    )
    return records / f"{spec.match_id}.jsonl.gz"


def take_up(config: LadderConfig) -> str:
    """Seconds until the division could play, those of the processor among them, and how many matches it found."""
    began_s, cpu_s = time.monotonic(), time.process_time()
    with division_of(config) as division:
        division.begin(asyncio.Event())
        took_s, cpu_s = time.monotonic() - began_s, time.process_time() - cpu_s
        return f"{took_s:.1f} | {cpu_s:.1f} | {division.progress.found}"


def restarts(config: LadderConfig) -> None:
    folder = RunFolder(config.data / "divisions" / DIVISION)
    print("| taken up | seconds | CPU seconds | matches found |\n| --- | ---: | ---: | ---: |")
    for words in ("after a stop", "again"):
        print(f"| {words} | {take_up(config)} |", flush=True)
    (folder.path / NAME).unlink()
    print(f"| without {NAME} | {take_up(config)} |", flush=True)
    if not folder.records.packed():
        records = len(folder.records.paths())
        with division_of(config) as division:
            division.begin(asyncio.Event())
            began_s = time.monotonic()
            packing = division.pack(datetime.now(UTC) + timedelta(days=1), lambda: False)
            took_s = time.monotonic() - began_s
        assert packing.records == records, packing
        print(f"\n{records} files packed into {packing.archives} archives in {took_s:.0f} s\n", flush=True)
        print("| taken up | seconds | CPU seconds | matches found |\n| --- | ---: | ---: | ---: |")
    print(f"| packed | {take_up(config)} |", flush=True)
    most_mib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    print(f"\nLargest size of this process: {most_mib} MiB.", flush=True)


def serve(data: Path, port: int) -> None:
    """The pages as `crosstown serve` makes them, without the process that plays."""
    config = default_ladder(data, None)
    with open_store(config, ()) as store:
        pages = make_app(config.data / "divisions", hide_live=True, hand_ins=LadderHandIns(config, store))
        uvicorn.run(pages, host="127.0.0.1", port=port, log_level="warning", lifespan="off")


def pages(config: LadderConfig) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    run = RunFolder(config.data / "divisions" / DIVISION)
    matches = list(run.records.paths())
    entry = load(LadderBot("bot7", "owner7", 1)).bot_id
    server = subprocess.Popen([sys.executable, __file__, "--serve", str(config.data), "--port", str(port)])
    try:
        paths = (
            f"/runs/{DIVISION}",  # the first answer waits until the tables are computed
            "/",
            "/ladder",
            f"/ladder/{DIVISION}",
            f"/runs/{DIVISION}/bots/{entry}",
            f"/runs/{DIVISION}/matches",
            f"/runs/{DIVISION}/matches?bot=bot7",
            f"/runs/{DIVISION}/matches/{matches[len(matches) // 2]}",
            f"/api/v1/runs/{DIVISION}/standings",
            f"/api/v1/runs/{DIVISION}/matches?count=50",
            f"/api/v1/runs/{DIVISION}/matches/{matches[-1]}",
            "/api/v1/divisions",
        )

        def name(path: str) -> str:
            shown = path.replace(matches[len(matches) // 2], "MATCH").replace(matches[-1], "MATCH")
            return shown.replace(entry, "BOT")

        print("| page | first s | again ms | CPU ms |\n| --- | ---: | ---: | ---: |")
        for path in paths:
            first_s = ask(f"http://127.0.0.1:{port}{path}")
            before_s = cpu_of(server.pid)
            again_s = statistics.median(ask(f"http://127.0.0.1:{port}{path}") for _ in range(10))
            each_s = (cpu_of(server.pid) - before_s) / 10
            print(f"| {name(path)} | {first_s:.2f} | {1000 * again_s:.0f} | {1000 * each_s:.0f} |", flush=True)
        print("\n| page, while the division is played | median ms | longest ms |\n| --- | ---: | ---: |")
        with Journal(run.journal, read_journal(run.journal)) as journal:
            for path in paths:
                took_ms = []
                for _ in range(5):
                    journal.append(COUNTED, matches={})
                    took_ms.append(1000 * ask(f"http://127.0.0.1:{port}{path}"))
                print(f"| {name(path)} | {statistics.median(took_ms):.0f} | {max(took_ms):.0f} |", flush=True)
        status = Path(f"/proc/{server.pid}/status").read_text().splitlines()
        most_kib = next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))
        print(f"\nLargest size of the server: {most_kib >> 10} MiB.")
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait()


def cpu_of(pid: int) -> float:
    """Seconds of the processor that a process has used so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def ask(address: str) -> float:
    """Seconds; a server that is not there yet, and an answer that says to look again, are waited for."""
    began_s = time.perf_counter()
    while True:
        try:
            with urllib.request.urlopen(address) as answer:
                answer.read()
            return time.perf_counter() - began_s
        except urllib.error.HTTPError as error:
            if error.code != 503:
                raise
        except urllib.error.URLError:
            began_s = time.perf_counter()
        time.sleep(0.05)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0] if __doc__ else "")
    parser.add_argument("--bots", type=int, default=2000)
    parser.add_argument("--matches", type=int, default=100_000)
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--only", choices=("restarts", "pages"))
    parser.add_argument("--serve", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--port", type=int, help=argparse.SUPPRESS)
    wanted = parser.parse_args()
    if wanted.serve:
        serve(wanted.serve, wanted.port)
        return
    load, *_ = os.getloadavg()
    print(f"Python {platform.python_version()}, {platform.machine()}, {os.cpu_count()} cores, load {load:.1f}\n")
    with tempfile.TemporaryDirectory() as temporary:
        config = default_ladder((wanted.keep or Path(temporary)) / "ladder", None)
        if not config.data.exists():
            sync, os.fsync = os.fsync, lambda _: None
            began_s = time.monotonic()
            fill(config, wanted.bots, wanted.matches)
            os.fsync = sync
            print(f"made {wanted.matches} matches of {wanted.bots} bots in {time.monotonic() - began_s:.0f} s\n")
        if wanted.only != "pages":
            restarts(config)
        if wanted.only != "restarts":
            pages(config)


if __name__ == "__main__":
    main()
