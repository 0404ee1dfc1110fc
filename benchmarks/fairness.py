"""Whom the clock blames on a machine with too much to do.

    python benchmarks/fairness.py [--decisions 20000] [--levels 1,2,4] [--move-ms 50] [--guilty 40] [--searches 40]

At level n so many matches are played at once that n bots want each core all the time. Honest bots compute a tenth of
their limit in every decision, of their own processor time: a time-out of theirs is false. Guilty bots sleep, compute,
compute in two threads, or sleep while a child connects to the referee again and again, for twice their limit at one
decision of each match: a bot that is not charged with it got away.

Seats are counted, not matches: honest ones among themselves, and apart from them those that sit beside a guilty one.
Decisions are those of matches that count; `suspect` are honest seats for which a match was void because the referee saw
that the time was not the bot's (a run plays it again). The upper bound is that of a Poisson count at 95 %.

Last, what a flood costs others: an honest bot searches for half of its limit, by the clock on the wall, and tells how
many nodes it saw. Beside each plays a bot that is honest and alone, or has a child for the whole match that connects
again and again: to a path that is not there (the control), or to the referee (the flood). The three take turns.
"""

import argparse
import asyncio
import math
import os
import platform
import statistics
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

os.environ.setdefault("GRPC_VERBOSITY", "ERROR")
if __name__ == "__main__":
    sys.path.pop(0)  # this folder is no package to import from

from benchmarks.machine import processor
from referee.games.api import resolve_options
from referee.games.registry import get_game
from referee.match import EndReason, Limits, MatchResult, MatchSpec, SeatSpec, Table
from referee.process.entry import Entry, load_entry
from referee.record import Answer, read_record

GAME = "shibuya"
GUILTY = ("sleeps", "computes", "computes_twice", "floods")
BESIDE = ("honest", "connects_elsewhere", "connects")
"""What plays beside a bot that searches. The second is the control: the same work, and nothing for the referee."""

ROUNDS = 4
"""In each, matches of all three kinds."""

TIMED_OUT = (EndReason.MOVE_TIMEOUT, EndReason.BANK_EXHAUSTED)

LATE_AT = 3
"""The decision, from 1, at which a guilty bot is late."""

BOT = (
    f"LATE_AT = {LATE_AT}"
    + """
import subprocess, sys, threading, time
from crosstown_bot import Bot, run

def compute(seconds, clock=time.thread_time):
    end = clock() + seconds
    while clock() < end:
        pass

def search(seconds):
    end, nodes = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        nodes += 1
    return nodes

class Worker(Bot):
    wants_observation = wants_legal_actions = False

    def start(self, match):
        match.store = 0
        deed = self.options["deed"]
        if deed in ("connects", "connects_elsewhere"):
            path = "elsewhere" if deed == "connects_elsewhere" else ""
            self.child = subprocess.Popen([sys.executable, "flood.py", "600", path])

    def end(self, result):
        if self.options["deed"] in ("connects", "connects_elsewhere"):
            self.child.kill()
            self.child.wait()

    def choose(self, turn):
        match = turn.match
        match.store += 1
        deed, late_s = self.options["deed"], 2 * match.move_limit_s
        if deed == "searches":
            turn.note = str(search(match.move_limit_s / 2))
        elif deed in ("honest", "connects", "connects_elsewhere") or match.store != LATE_AT:
            compute(match.move_limit_s / 10)
        elif deed == "sleeps":
            time.sleep(late_s)
        elif deed == "computes":
            compute(late_s)
        elif deed == "floods":
            with subprocess.Popen([sys.executable, "flood.py", str(late_s)]):
                time.sleep(late_s)
        else:
            helper = threading.Thread(target=compute, args=(late_s,))
            helper.start()
            compute(late_s)
            helper.join()
        return match.rng.randrange(turn.legal_count)

run(Worker)
"""
)
FLOOD = """
import os, socket, sys, time
path, end = os.environ["CROSSTOWN_ADDRESS"].removeprefix("unix:"), time.monotonic() + float(sys.argv[1])
path += "".join(sys.argv[2:])
while time.monotonic() < end:
    with socket.socket(socket.AF_UNIX) as line:
        try:
            line.connect(path)
        except OSError:
            pass
"""
MANIFEST = """
name = "worker"
version = "1"
games = ["*"]
run = ["{python}", "bot.py"]

[options]
deed = "honest"
copy = 0
"""


@dataclass
class Honest:
    """What became of honest seats."""

    decisions: int = 0
    faults: Counter[str] = field(default_factory=Counter)

    def count(self, result: MatchResult, seats: Iterable[int]) -> None:
        """One match, in which these seats were honest."""
        for seat in seats:
            fault = result.faults[seat]
            if fault is not None:
                self.faults[fault.reason] += 1
            if result.status == "rated":
                self.decisions += result.seat_stats[seat].decisions

    @property
    def false(self) -> int:
        """Time-outs that were charged."""
        return sum(self.faults[reason] for reason in TIMED_OUT)

    @property
    def suspect(self) -> int:
        return self.faults[EndReason.SUSPECT_TIMEOUT]

    @property
    def other(self) -> int:
        """Other faults: none is to be expected."""
        return self.faults.total() - self.false - self.suspect


@dataclass
class Guilty:
    """What became of guilty seats, each in a match of its own with an honest one."""

    charged: int = 0
    suspect: int = 0
    got_away: int = 0
    unjudged: int = 0
    """The match ended before it was late, by what became of the other seat or of the referee."""

    def count(self, result: MatchResult) -> None:
        """One match, in which seat 0 was guilty."""
        fault = result.faults[0]
        if fault is not None and fault.reason in TIMED_OUT:
            self.charged += 1
        elif fault is not None and fault.reason is EndReason.SUSPECT_TIMEOUT:
            self.suspect += 1
        elif fault is not None or (result.seat_stats and result.seat_stats[0].decisions >= LATE_AT):
            self.got_away += 1
        else:
            self.unjudged += 1

    @property
    def matches(self) -> int:
        return self.charged + self.suspect + self.got_away + self.unjudged


@dataclass
class Level:
    """What was seen at one level of over-subscription."""

    load: int
    honest: Honest = field(default_factory=Honest)
    beside: Honest = field(default_factory=Honest)
    """Honest seats beside guilty ones."""
    nodes: dict[str, list[list[int]]] = field(default_factory=lambda: {deed: [] for deed in BESIDE})
    """Of bots that search, by what plays beside them: per round, of each decision."""
    guilty: dict[str, Guilty] = field(default_factory=lambda: {deed: Guilty() for deed in GUILTY})


def main() -> None:
    options = _options()
    print(f"{os.cpu_count()} x {processor()}, Linux {platform.release()}, Python {platform.python_version()}; {GAME},")
    print(f"limit {options.move_ms} ms and 10 ms margin, honest bots compute {options.move_ms / 10:g} ms a decision\n")
    levels = [asyncio.run(_measure(int(load), options)) for load in options.levels.split(",")]
    print("\n".join(tables(levels)))


def tables(levels: Iterable[Level]) -> Iterator[str]:
    """Three, in Markdown: of honest bots, of guilty ones, and of bots that search beside others."""
    yield (
        "| bots per core | decisions | false time-outs | per million | at most (95 %) | suspect, void | other faults |"
        " beside a guilty bot: decisions | false time-outs | suspect, void | other faults |"
    )
    yield "|" + " --- |" * 11
    for level in levels:
        honest, beside = level.honest, level.beside
        million = 1e6 / max(honest.decisions, 1)
        yield (
            f"| {level.load} | {honest.decisions} | {honest.false} | {honest.false * million:.1f} |"
            f" {upper(honest.false) * million:.1f} | {honest.suspect} | {honest.other} |"
            f" {beside.decisions} | {beside.false} | {beside.suspect} | {beside.other} |"
        )
    yield ""
    yield "| bots per core | a bot that is late by | matches | charged | suspect, void | got away | ended before |"
    yield "|" + " --- |" * 7
    for level in levels:
        for deed, seen in level.guilty.items():
            yield (
                f"| {level.load} | {deed} | {seen.matches} | {seen.charged} | {seen.suspect} | {seen.got_away} |"
                f" {seen.unjudged} |"
            )
    yield ""
    yield (
        "| bots per core | beside a bot that searches | decisions | nodes a decision: median | middle half |"
        " medians of the rounds | of the control |"
    )
    yield "|" + " --- |" * 7
    for level in levels:
        control = list(chain.from_iterable(level.nodes["connects_elsewhere"]))
        for deed, rounds in level.nodes.items():
            if seen_nodes := list(chain.from_iterable(rounds)):
                yield f"| {level.load} | {deed} | {_spread(rounds, seen_nodes)} | {_share(seen_nodes, control)} |"


def _spread(rounds: list[list[int]], nodes: list[int]) -> str:
    low, middle, high = statistics.quantiles(nodes, n=4) if len(nodes) > 1 else nodes * 3
    medians = [statistics.median(seen) for seen in rounds if seen]
    return f"{len(nodes)} | {middle:.0f} | {low:.0f} to {high:.0f} | {min(medians):.0f} to {max(medians):.0f}"


def _share(nodes: list[int], control: list[int]) -> str:
    return f"{statistics.median(nodes) / statistics.median(control):.1%}" if control else ""


async def _measure(load: int, options: argparse.Namespace) -> Level:
    level = Level(load)
    at_once = load * (os.cpu_count() or 1)
    with tempfile.TemporaryDirectory(prefix="fairness-") as folder:
        hall = _Hall(Path(folder), options.move_ms / 1000)
        async with Table(hall.entries, max_idle=2 * at_once) as table:
            await _side_by_side(at_once, _honest(hall, table, level, options.decisions))
            matches = [deed for deed in GUILTY for _ in range(options.guilty)]
            await _side_by_side(at_once, iter([_guilty(hall, table, level, deed) for deed in matches]))
            for _ in range(ROUNDS):
                for deed in BESIDE:
                    number = math.ceil(options.searches / ROUNDS)
                    nodes: list[int] = []
                    searches = [_search(hall, table, level, deed, nodes) for _ in range(number)]
                    await _side_by_side(at_once, iter(searches))
                    level.nodes[deed].append(nodes)
    return level


class _Hall:
    """The bots, and specifications for them."""

    def __init__(self, folder: Path, move_s: float) -> None:
        self.records = folder / "records"
        self.entries: dict[str, Entry] = {}
        self._bot = folder / "bot"
        self._bot.mkdir()
        (self._bot / "bot.py").write_text(BOT)
        (self._bot / "flood.py").write_text(FLOOD)
        (self._bot / "bot.toml").write_text(MANIFEST)
        self._limits = Limits(startup_s=120, ready_s=120, first_move_s=max(1, move_s), move_s=move_s)
        self._number = 0

    def spec(self, *deeds: str) -> MatchSpec:
        self._number += 1
        seats = []
        for copy, deed in enumerate(deeds):
            entry = load_entry(self._bot, f"{deed} {copy}", {"deed": deed, "copy": copy})
            self.entries[entry.id] = entry
            seats.append(SeatSpec(entry.id, entry.name, "1"))
        return MatchSpec(
            match_id=f"m{self._number}",
            game=GAME,
            options=resolve_options(GAME, get_game(GAME).options, {}),
            seats=tuple(seats),
            seed=f"{self._number:032x}",
            limits=self._limits,
            block=self._number,
        )


def _honest(hall: _Hall, table: Table, level: Level, decisions: int) -> "Iterator[object]":
    """Matches until there are enough decisions."""

    async def play() -> None:
        result = await table.play(hall.spec("honest", "honest"), hall.records)
        level.honest.count(result, (0, 1))
        for fault in result.faults:
            if fault is not None:
                _tell(level, "honest", fault.reason, fault.evidence)
        _forget(hall, result)

    while level.honest.decisions < decisions:
        yield play()


async def _guilty(hall: _Hall, table: Table, level: Level, deed: str) -> None:
    result = await table.play(hall.spec(deed, "honest"), hall.records)
    level.guilty[deed].count(result)
    level.beside.count(result, (1,))
    fault, of_honest = result.faults
    if of_honest is not None:
        _tell(level, f"honest beside one that {deed}", of_honest.reason, of_honest.evidence)
    if fault is None or fault.reason not in TIMED_OUT:
        worst_us = result.seat_stats[0].worst_us if result.seat_stats else 0
        _tell(level, deed, result.reason, {"worst_us": worst_us} if fault is None else fault.evidence)
    _forget(hall, result)


async def _search(hall: _Hall, table: Table, level: Level, deed: str, nodes: list[int]) -> None:
    result = await table.play(hall.spec("searches", deed), hall.records)
    for who, fault in zip((f"a search beside {deed}", f"{deed} beside a search"), result.faults, strict=True):
        if fault is not None:
            _tell(level, who, fault.reason, fault.evidence)
    record = read_record(hall.records / f"{result.match_id}.jsonl.gz")
    nodes += [int(line.note) for line in record.lines if isinstance(line, Answer) and line.seat == 0 and line.note]
    _forget(hall, result)


def _tell(level: Level, who: str, reason: str, evidence: Mapping[str, object]) -> None:
    """What is not as it should be, with its times, to stderr."""
    times = {name: value for name, value in evidence.items() if name.endswith("_us") or name == "process_state"}
    print(f"{level.load} bots per core, {who}: {reason} {times}", file=sys.stderr)


def _forget(hall: _Hall, result: MatchResult) -> None:
    (hall.records / f"{result.match_id}.jsonl.gz").unlink(missing_ok=True)


async def _side_by_side(at_once: int, works: "Iterator[object]") -> None:
    async def work() -> None:
        for item in works:
            await item  # type: ignore[misc]

    async with asyncio.TaskGroup() as group:
        for _ in range(at_once):
            group.create_task(work())


def upper(count: int) -> float:
    """Of a Poisson mean, 95 %, one-sided: the mean under which so few or fewer come with probability 0.05."""
    low, high = float(count), count + 10 * math.sqrt(count + 1)
    for _ in range(60):
        middle = (low + high) / 2
        tail = sum(math.exp(-middle + k * math.log(middle) - math.lgamma(k + 1)) for k in range(count + 1))
        low, high = (middle, high) if tail > 0.05 else (low, middle)
    return high


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--decisions", type=int, default=20_000, help="of honest bots, at each level")
    parser.add_argument("--levels", default="1,2,4", help="bots per core, such as 1,2,4")
    parser.add_argument("--move-ms", type=float, default=50)
    parser.add_argument("--guilty", type=int, default=40, help="matches of each kind of guilty bot, at each level")
    parser.add_argument("--searches", type=int, default=40, help="matches with a bot that searches, of each kind")
    return parser.parse_args()


if __name__ == "__main__":
    main()
