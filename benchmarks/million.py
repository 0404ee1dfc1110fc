"""A run of many matches: what resuming, tables, lists, report, verification and ratings cost by the number of matches.

    python benchmarks/million.py --matches 100000 [--bots 20] [--keep FOLDER] [--only NAME ...]
    python benchmarks/million.py --matches 1000000 --keep FOLDER
    python benchmarks/million.py --matches 10000 --only site [--draw NUMBER]

Makes a run of Shibuya for two in FOLDER, if it is not there. Every match is played by the rules on the luck of the run,
with random moves, until both bots say in their notes who is ahead, which ends it by `[adjudication]`. Its record is
real: `crosstown matches verify` accepts it. Then each command runs in a process of its own, first without the caches of
the run, then with them. Prints seconds, processor seconds and the largest size of the process.

`--only site` writes the static site of the run as `crosstown publish` does, and opens pages of each kind in Chromium
from the disk. With `--draw` only so many matches are drawn, which takes most of the time; the other pages have all.
"""

import argparse
import gzip
import multiprocessing
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

sys.path.pop(0)  # this folder, in which `referee` is another benchmark

from referee.games.api import state_hash
from referee.games.keyed import KeyedChance
from referee.games.registry import get_game
from referee.record.adjudication import PREFIX
from referee.record.archive import write_archive
from referee.record.format import (
    CHAIN_START,
    Answer,
    Footer,
    Header,
    SeatHeader,
    SeatStats,
    answer_body,
    chance_body,
    footer_body,
    header_body,
    seal,
    seed_commitment,
)
from referee.record.journal import COUNTED, digest_of
from referee.run.folder import RunFolder
from referee.run.journal import CREATED, FORMAT, Journal, JournalText
from referee.run.luck import begin
from referee.schedule.config import digest
from referee.schedule.schedule import Schedule
from referee.schedule.spec import MatchSpec
from referee.tournament.entrants import load_tournament
from referee.tournament.identity import config_of, describe

ROOT = Path(__file__).resolve().parents[1]
NAME = "million"
GAME = "shibuya"
MOVES = 2
"""Moves of each bot with the same note, after which the match ends."""

LEFT = 1000
"""Matches of the schedule that are not played, at least."""

_CHUNK = 500
_ARCHIVE_RECORDS = 20_000
_LINE_MATCHES = 64
_AT = 1_767_225_600_000_000_000
"""When the records were closed, in nanoseconds: 2026-01-01."""

FILE = """name = "{name}"
game = "{game}"
format = "{format}"
seed = 1
blocks = {blocks}

[adjudication]
win_score = 100
win_moves = {moves}
draw_score = 10
draw_moves = {moves}
"""

BOT = """
[[bots]]
path = "{path}"
name = "bot{number:04d}"
options = {{ salt = {number} }}
"""


class Task(NamedTuple):
    """What a match needs to be played, small enough to be sent to another process."""

    match_id: str
    place: int
    block: int
    seed: str
    seats: tuple[int, int]


class Player:
    """Plays matches and makes their records."""

    def __init__(self, config: Any, spec: MatchSpec) -> None:
        self._game = get_game(GAME)
        self._spec = spec
        self._seats = [SeatHeader(seat.entry_id, seat.name, seat.version) for seat in config.participants]
        self._limits = spec.limits.in_force()
        self._policy: dict[str, str | int | bool] = dict(spec.adjudication.policy())
        assert self._policy[f"{PREFIX}win_moves"] == MOVES

    def record(self, task: Task) -> tuple[str, bytes, str]:
        """Name, closed record and digest."""
        luck = Random(task.seed + task.match_id)
        state = self._game.new_initial_state(2, self._spec.options)
        chance = KeyedChance(bytes.fromhex(task.seed))
        better, worse = self._ranking(task, luck)
        header = Header(
            match_id=task.match_id,
            tournament=self._spec.tournament,
            place=task.place,
            block=task.block,
            game=GAME,
            rules_version=self._game.rules_version,
            options=self._spec.options,
            players=2,
            seats=tuple(self._seats[number] for number in task.seats),
            limits=self._limits,
            seed_commitment=seed_commitment(task.seed),
            created_at="2026-01-01T00:00:00.000Z",
            crosstown="0",
            policy=self._policy,
        )
        lines: list[str] = []
        chain = CHAIN_START

        def add(body: str) -> None:
            nonlocal chain
            line, chain = seal(chain, body)
            lines.append(line)

        add(header_body(header))
        times: list[list[int]] = [[], []]
        while min(map(len, times)) < MOVES:
            if outcomes := state.chance_outcomes():
                outcome = chance.choose(state.chance_stream(), outcomes)
                add(chance_body(outcome))
                state.apply_chance(outcome)
                continue
            actions = {}
            for decision in state.decisions():
                seat = decision.seat
                legal = state.legal_actions(seat)
                actions[seat] = legal[int(luck.random() * len(legal))]
                wall_us = 200 + int(luck.random() * 400)
                score = 0 if better == worse else 300 if better == seat else -300
                times[seat].append(wall_us)
                note = f"cp {score}"
                add(answer_body(Answer(seat, self._game.format_action(actions[seat]), wall_us, 150, 0, note)))
            state.apply(actions)
        stats = tuple(SeatStats(len(us), sum(us), max(us), 150 * len(us), 0, 0, 0, 0, max(us)) for us in times)
        footer = Footer(
            status="rated",
            reason="adjudicated",
            detail="",
            seed=task.seed,
            ranking=(1, 1) if better == worse else tuple(1 + (seat != better) for seat in range(2)),
            state_hash=state_hash(state),
            seat_stats=stats,
            faults=(None, None),
            decisions=sum(map(len, times)),
            wall_us=sum(map(sum, times)) + 5000,
        )
        add(footer_body(footer))
        content = "".join(lines).encode("ascii")
        return f"{task.match_id}.jsonl.gz", gzip.compress(content, compresslevel=9, mtime=0), digest_of(content)

    def _ranking(self, task: Task, luck: Random) -> tuple[int, int]:
        """The seat that wins and the one that loses; twice the same for a draw. Bots with lower numbers are better."""
        if luck.random() < 0.1:
            return 0, 0
        one, other = task.seats
        won = luck.random() < 1 / (1 + 10 ** (3 * (one - other) / len(self._seats)))
        return (0, 1) if won else (1, 0)


_player: Player | None = None


def _begin(config: Any, spec: MatchSpec) -> None:
    global _player
    _player = Player(config, spec)


def _play(tasks: Sequence[Task]) -> list[tuple[str, bytes, str]]:
    assert _player is not None
    return [_player.record(task) for task in tasks]


def write_file(folder: Path, matches: int, bots: int, style: str) -> Path:
    """The tournament file, of a schedule with so many matches and a few more."""
    pairs = bots * (bots - 1) // 2
    blocks = (matches + LEFT) // (2 * pairs) + 1
    text = FILE.format(name=NAME, game=GAME, format=style, blocks=blocks, moves=MOVES)
    path = os.path.relpath(ROOT / "bots/python/random", folder)
    text += "".join(BOT.format(path=path, number=number) for number in range(bots))
    file = folder / f"{NAME}.toml"
    file.write_text(text)
    return file


def make_run(folder: Path, matches: int, bots: int, style: str = "round-robin") -> RunFolder:
    """A run of which so many matches were played, as it is when it was stopped, with its records packed."""
    tournament = load_tournament(write_file(folder, matches, bots, style))
    run = RunFolder(folder / "runs" / NAME)
    run.make()
    (run.matches / "packed").mkdir()
    keeper = begin(run.secrets, tournament.config.seed)
    config = config_of(tournament)
    description = describe(tournament)
    first = Schedule(config, seeds=keeper.seeds).next()
    assert first is not None
    numbers = {seat.entry_id: number for number, seat in enumerate(config.participants)}

    def tasks() -> Iterator[list[Task]]:
        schedule = Schedule(config, seeds=keeper.seeds)
        chunk: list[Task] = []
        for _ in range(matches):
            spec = schedule.next()
            assert spec is not None, "the schedule is too short"
            schedule.settle(spec, (1, 1))
            for _ in schedule.in_order():
                pass
            one, other = (numbers[seat.entry_id] for seat in spec.seats)
            chunk.append(Task(spec.match_id, spec.place, spec.block, spec.seed, (one, other)))
            if len(chunk) == _CHUNK:
                yield chunk
                chunk = []
        if chunk:
            yield chunk

    sync = os.fsync
    os.fsync = lambda fd: None
    try:
        with (
            Journal(run.journal, JournalText()) as journal,
            multiprocessing.Pool(os.cpu_count(), _begin, (config, first)) as pool,
        ):
            journal.append(
                CREATED,
                format=FORMAT,
                hash=digest(description),
                configuration=description,
                file=str(tournament.config.path.resolve()),
                folders=[str(entry.folder) for entry in tournament.entries],
                contents=[entry.content for entry in tournament.entries],
                machine={},
                commitment=keeper.commitment,
            )
            waiting: list[tuple[str, int, bytes]] = []
            digests: dict[str, str] = {}
            made = archives = 0
            for chunk in pool.imap(_play, tasks()):
                for name, data, content_digest in chunk:
                    waiting.append((name, _AT + made * 1_000_000, data))
                    digests[name.removesuffix(".jsonl.gz")] = content_digest
                    made += 1
                    if len(digests) == _LINE_MATCHES or made == matches:
                        journal.append(COUNTED, matches=digests)
                        digests = {}
                    if len(waiting) == _ARCHIVE_RECORDS or made == matches:
                        archives += 1
                        write_archive(run.matches / "packed" / f"2026-01-01.{archives}.pack.gz", waiting)
                        waiting = []
            journal.append("stopped", rated=made, missing=1)
    finally:
        os.fsync = sync
    return run


class Cost(NamedTuple):
    """Of a command: seconds by the clock, seconds of processor time, and the size of its largest process."""

    wall_s: float
    cpu_s: float
    most_mib: int

    def row(self, what: str) -> str:
        return f"| {what} | {self.wall_s:.2f} | {self.cpu_s:.2f} | {self.most_mib} |"


def crosstown(*words: str) -> list[str]:
    return [sys.executable, "-c", "from referee.cli.main import main; main()", *words]


def cost_of(words: Sequence[str], folder: Path, until: Callable[[], bool] | None = None) -> Cost:
    """Run a command in `folder`. With `until` only up to the moment when that is true, and without its children: then
    it is stopped."""
    began_s = time.monotonic()
    reached: Cost | None = None
    with (folder / "output.txt").open("wb") as output:
        process = subprocess.Popen(words, cwd=folder, stdout=output, stderr=output)
        while until is not None and os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
            if until():
                reached = so_far(process.pid, began_s)
                process.terminate()  # not SIGINT, which a command in the background of a shell ignores
                break
            time.sleep(0.01)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if reached is not None:
        return reached
    if process.returncode:
        sys.exit(f"{words} failed: {(folder / 'output.txt').read_text()[-2000:]}")
    return Cost(time.monotonic() - began_s, usage.ru_utime + usage.ru_stime, usage.ru_maxrss >> 10)


def so_far(pid: int, began_s: float) -> Cost:
    took_s = time.monotonic() - began_s
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()
    status = Path(f"/proc/{pid}/status").read_text().splitlines()
    most_kib = next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))
    return Cost(took_s, (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK"), most_kib >> 10)


CACHES = ("results.jsonl", "tournament.brief", "crosstown.db", "crosstown.db-wal", "crosstown.db-shm")
"""What a run folder has that can be made again."""


def resume(folder: Path, run: RunFolder) -> Cost:
    """Until the first new match has begun. Then the run is stopped."""
    there = set(run.matches.glob("*.jsonl*"))
    return cost_of(
        crosstown("run", f"{NAME}.toml", "--quiet"), folder, lambda: bool(set(run.matches.glob("*.jsonl*")) - there)
    )


def commands(folder: Path, run: RunFolder, only: Sequence[str]) -> None:
    def measure(name: str, what: str, action: Callable[[], Cost]) -> None:
        if not only or name in only:
            print(action().row(what), flush=True)

    def command(*words: str) -> Callable[[], Cost]:
        return lambda: cost_of(crosstown(*words), folder)

    print("| command | seconds | CPU seconds | MiB |\n| --- | ---: | ---: | ---: |", flush=True)
    for name in CACHES if not only or "fresh" in only else ():
        (run.path / name).unlink(missing_ok=True)
    measure("rebuild", "rebuild", command("rebuild", NAME))
    for times in ("without what was remembered", "again"):
        measure("resume", f"run: until the first new match, {times}", lambda: resume(folder, run))
    for times in ("first", "again"):
        measure("standings", f"standings, {times}", command("standings", NAME))
    for times in ("first", "again"):
        measure("list", f"matches list, {times}", command("matches", "list", NAME))
    measure("list", "matches list of one bot", command("matches", "list", NAME, "--bot", "bot0001"))
    for times in ("first", "again"):
        measure("report", f"report, {times}", command("report", NAME))
    measure("verify", "matches verify", command("matches", "verify", NAME))


def plans(folder: Path, bots: int) -> None:
    """The dry run of schedules that are longer and longer."""
    print("\n| dry run of | seconds | CPU seconds | MiB |\n| --- | ---: | ---: | ---: |", flush=True)
    for matches in (10_000, 1_000_000, 10_000_000):
        inner = folder / "plan"
        inner.mkdir(exist_ok=True)
        write_file(inner, matches, bots, "round-robin")
        cost = cost_of(crosstown("run", f"{NAME}.toml", "--dry-run"), inner)
        print(cost.row(f"{matches:,} matches"), flush=True)
        shutil.rmtree(inner)


def sizes(run: RunFolder, matches: int) -> None:
    print("\n| what | bytes per match | files |\n| --- | ---: | ---: |")
    files = [path for path in run.path.rglob("*") if path.is_file()]
    groups = {
        "records": [path for path in files if run.matches in path.parents],
        "journal": [run.journal],
        "caches": [path for path in files if path.name in CACHES],
    }
    for what, paths in (*groups.items(), ("all", files)):
        print(
            f"| {what} | {sum(path.stat().st_size for path in paths if path.exists()) / matches:.0f} | {len(paths)} |"
        )


_PUBLISH = """
import sys, time
from pathlib import Path
from leaderboard.web import site

drawn, began = site._drawn, []

def some(todo, *rest):
    began.append(time.process_time())
    return drawn(todo[: int(sys.argv[1] or len(todo))], *rest)

site._drawn = some
made = site.publish(Path("runs"), Path("site"), (sys.argv[2],))
print(made.pages, began[0], time.process_time() - began[0])
"""


def site(folder: Path, chromium: Path, draw: int | None) -> None:
    """What it costs to write the static site, and how long its pages take to open."""
    cost_of([sys.executable, "-c", _PUBLISH, str(draw or ""), NAME], folder)
    pages_made, pages_s, matches_s = map(float, (folder / "output.txt").read_text().splitlines()[-1].split())
    drawn = len(list((folder / "site" / "runs" / NAME / "matches").iterdir()))
    print("| static site | pages | CPU seconds | CPU ms a page |\n| --- | ---: | ---: | ---: |")
    for what, number, cpu_s in (("tables, bots, lists", pages_made, pages_s), ("matches", drawn, matches_s)):
        print(f"| {what} | {number:.0f} | {cpu_s:.1f} | {1000 * cpu_s / number:.0f} |", flush=True)
    if not chromium.exists():
        return
    from playwright.sync_api import sync_playwright

    root = folder / "site"
    pages = root / "runs" / NAME
    bots, matches = sorted((pages / "bots").iterdir()), sorted((pages / "matches").iterdir())
    kinds = {
        "front page, the table": root / "index.html",
        "list of matches": pages / "matches.html",
        "cross table": pages / "cross.html",
        "plots": pages / "plots.html",
        "a bot": bots[len(bots) // 2],
        "search": root / "search.html",
        "a match": matches[len(matches) // 2],
    }
    print("\n| page of the site in Chromium | KiB | median ms | longest ms |\n| --- | ---: | ---: | ---: |")
    with sync_playwright() as playwright:
        arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = playwright.chromium.launch(executable_path=str(chromium), args=arguments)
        page = browser.new_page()
        for what, path in kinds.items():
            took_ms = []
            for _ in range(5):
                began_s = time.perf_counter()
                page.goto(path.as_uri())
                took_ms.append(1000 * (time.perf_counter() - began_s))
            size_kib = path.stat().st_size >> 10
            print(f"| {what} | {size_kib} | {statistics.median(took_ms):.0f} | {max(took_ms):.0f} |", flush=True)
        browser.close()


NAMES = ("fresh", "rebuild", "resume", "standings", "list", "report", "verify", "plan", "size", "site")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0] if __doc__ else "")
    parser.add_argument("--matches", type=int, default=20_000)
    parser.add_argument("--bots", type=int, default=20)
    parser.add_argument("--format", default="round-robin")
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--only", nargs="*", choices=NAMES, default=())
    parser.add_argument("--draw", type=int, help="matches that --only site draws; all without it")
    parser.add_argument("--chromium", type=Path, default=Path("/usr/bin/chromium"))
    wanted = parser.parse_args()
    print(
        f"Python {platform.python_version()}, {platform.machine()}, {os.cpu_count()} cores,"
        f" load {os.getloadavg()[0]:.1f}\n",
        flush=True,
    )
    with tempfile.TemporaryDirectory() as temporary:
        folder = (wanted.keep or Path(temporary)).resolve()
        run = RunFolder(folder / "runs" / NAME)
        if not run.journal.exists():
            folder.mkdir(parents=True, exist_ok=True)
            began_s = time.monotonic()
            make_run(folder, wanted.matches, wanted.bots, wanted.format)
            print(f"made {wanted.matches:,} matches of {wanted.bots} bots in {time.monotonic() - began_s:.0f} s\n")
        if not wanted.only or set(wanted.only) - {"plan", "size", "site"}:
            commands(folder, run, wanted.only)
        if not wanted.only or "plan" in wanted.only:
            plans(folder, wanted.bots)
        if not wanted.only or "size" in wanted.only:
            sizes(run, wanted.matches)
        if "site" in wanted.only:
            site(folder, wanted.chromium, wanted.draw)


if __name__ == "__main__":
    main()
