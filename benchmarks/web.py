"""What the pages of `crosstown web` cost: seconds from the request to the whole answer, frames in a browser, and how
late a match that goes on is seen.

    python benchmarks/web.py [--matches 100000] [--bots 200] [--decisions 400] [--live 120] [--chromium FILE]
    python benchmarks/web.py --only live

The run is made up: rows in the database and empty record files beside them, which are not opened. The match page is of
a match of Shibuya with four players. `first` is the first answer after the start of the server,
`again` the median of ten more, `meanwhile` the worst of ten answers while the tables are computed.

Live updates are those of a match of four players that is written here, a decision every 0.1 to 0.5 s. The clock begins
when its line is in the record file, as the referee leaves it: handed to the system, so that it can be read and survives
the end of the referee. It ends at the event that a client of the page gets, and when the page in Chromium shows the
step. Without Chromium only the answers and the events are measured.
"""

import argparse
import json
import os
import platform
import random
import statistics
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

import uvicorn

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))


from leaderboard.records import MatchRow, SeatRow
from leaderboard.store import Store
from leaderboard.web.app import make_app
from referee.cli.listening import listen_on
from referee.games.api import resolve_options, state_hash
from referee.games.keyed import KeyedChance
from referee.games.registry import get_game
from referee.record import Answer, Footer, Header, RecordWriter, SeatHeader, SeatStats
from referee.record.format import seed_commitment
from referee.record.store import FileStamp, closed_path, live_path
from referee.run.folder import SINGLE, RunFolder
from referee.run.journal import Journal, JournalText
from referee.run.run import Run
from referee.schedule.config import digest
from referee.schedule.spec import MatchSpec

SEED = "ab" * 16


GAME, OPTIONS = "shibuya", {"move_cap": 1000}
"""Of the games the one whose matches can be as long as one likes."""


def make_run(folder: Path, matches: int, bots: int) -> None:
    """The first matches of a round robin in which stronger bots win more often; the schedule has more."""
    rng = random.Random(1)
    run = RunFolder(folder)
    run.make()
    pairs = bots * (bots - 1)
    description = {
        "name": "cup",
        "game": GAME,
        "games": [{"game": GAME, "rules_version": 1, "options": {}, "players": [2]}],
        "format": "round-robin",
        "settings": {"same_seeds": False},
        "seed": 1,
        "blocks": matches // pairs + 1,
        "bots": [
            {"entry_id": f"{bot:08x}", "name": f"bot {bot}", "version": "1", "options": {}} for bot in range(bots)
        ],
    }
    with Journal(run.journal, JournalText()) as journal:
        journal.append("created", format=1, hash=digest(description), configuration=description)
    rows = []
    for spec, _ in islice(Run(run).progress(()), matches):
        path = closed_path(live_path(run.records.folder, spec.match_id))
        path.touch()
        one, other = (int(seat.entry_id, 16) for seat in spec.seats)
        won = rng.random() < 1 / (1 + 10 ** ((one - other) / bots))
        rows.append(_row(spec, (1, 2) if won else (2, 1), FileStamp.of(path)))
    with Store(run.database) as store:
        store.put(rows)


def _row(spec: MatchSpec, ranks: tuple[int, int], stamp: FileStamp) -> MatchRow:
    seats = tuple(
        SeatRow(number, seat.entry_id, seat.name, "1", number, rank, 3 - rank, "", 40, 40_000, 3_000, 20_000, "20:40")
        for number, (seat, rank) in enumerate(zip(spec.seats, ranks, strict=True))
    )
    return MatchRow(
        spec.match_id, "cup", spec.place, spec.block, GAME, 1, "normal", "", 80, 100_000, "aa", "bb", "2026-01-01",
        stamp, seats,
    )  # fmt: skip


class Written:
    """A match of random actions as it is written. Of those that end early another one is to be taken."""

    def __init__(self, folder: Path, number: int) -> None:
        game = get_game(GAME)
        options = resolve_options(GAME, game.options, OPTIONS)
        players = game.player_counts[-1]
        seats = tuple(SeatHeader(f"{seat:08x}", f"bot {seat}", "1", sandbox="strict") for seat in range(players))
        head = Header(
            "long", SINGLE, 0, 0, GAME, game.rules_version, options, players, seats, {"move_s": 1.0},
            seed_commitment(SEED), "2026-01-01T00:00:00Z", "0",
        )  # fmt: skip
        self.writer = RecordWriter(folder / "matches", head)
        self.decisions = self.steps = 0
        self._game, self._rng, self._chance = game, random.Random(number), KeyedChance(bytes.fromhex(SEED))
        self._state = game.new_initial_state(players, options)

    def go_on(self) -> bool:
        """To the next decision, and over it; False at the end of the match."""
        state = self._state
        while not state.is_terminal():
            self.steps += 1
            if asked := state.decisions():
                actions = {item.seat: self._rng.choice(list(state.legal_actions(item.seat))) for item in asked}
                for seat, action in actions.items():
                    text = self._game.format_action(action)
                    self.writer.answer(Answer(seat, text, self._rng.randrange(9000), 10, 20, "a note"))
                state.apply(actions)
                self.decisions += len(actions)
                return True
            outcome = self._chance.choose(state.chance_stream(), state.chance_outcomes())
            self.writer.chance(outcome)
            state.apply_chance(outcome)
        return False

    def drop(self) -> None:
        self.writer.abandon()
        self.writer.path.unlink()

    def close(self) -> None:
        players = self._game.player_counts[-1]
        self.writer.close(
            Footer("void", "platform_fault", "cut for the benchmark", SEED, (), (), state_hash(self._state),
                   (SeatStats(),) * players, (None,) * players, self.decisions, 1)
        )  # fmt: skip


def long_enough(folder: Path, least: int) -> int:
    """The number of a match that has so many decisions."""
    for number in range(1000):
        match = Written(folder, number)
        while match.decisions < least and match.go_on():
            pass
        match.drop()
        if match.decisions >= least:
            return number
    raise SystemExit(f"no match of {GAME} has {least} decisions")


def make_match(folder: Path, least: int) -> int:
    """A match of random actions, cut after `least` decisions; how many it has."""
    match = Written(folder, long_enough(folder, least))
    while match.decisions < least:
        match.go_on()
    match.close()
    return match.decisions


def ask(address: str) -> float:
    """Seconds; an answer that says to look again is waited for."""
    started = time.perf_counter()
    while True:
        try:
            with urllib.request.urlopen(address) as answer:
                answer.read()
            return time.perf_counter() - started
        except urllib.error.HTTPError as error:
            if error.code != 503:
                raise
            time.sleep(0.05)


def pages(address: str, run: Path) -> None:
    print("| page | first s | again ms | meanwhile, worst ms |")
    print("| --- | ---: | ---: | ---: |")
    paths = ("/runs/big", "/runs/big/bots/00000000", "/runs/big/matches", "/runs/big/matches?bot=bot+7",
             "/api/runs/big/standings")  # fmt: skip
    for path in paths:
        first = ask(address + path)
        again = statistics.median(ask(address + path) for _ in range(10))
        (run / "matches" / ".touched").touch()
        (run / "matches" / ".touched").unlink()
        meanwhile = max(ask(address + path) for _ in range(10))
        print(f"| {path} | {first:.2f} | {1000 * again:.0f} | {1000 * meanwhile:.0f} |", flush=True)


STEPS = """async () => {
  const where = document.getElementById('where');
  const last = Math.max(...where.textContent.match(/\\d+/g).map(Number));
  document.querySelector('[data-go=first]').click();
  const times = [];
  let before = performance.now();
  for (let step = 0; step < Math.min(last, 300); step += 1) {
    document.querySelector('[data-go=next]').click();
    await new Promise(requestAnimationFrame);
    const now = performance.now();
    times.push(now - before);
    before = now;
  }
  times.sort((one, other) => one - other);
  return [times.length, times[Math.floor(times.length / 2)], times[Math.floor(times.length * 0.99)]];
}"""


WATCH = """() => {
  const where = document.getElementById('where');
  const seen = window.seen = [];
  new MutationObserver(() => seen.push([Number(where.textContent.split(' ')[1]), Date.now() / 1000]))
    .observe(where, { childList: true, characterData: true, subtree: true });
}"""


def listen(address: str, seen: list[tuple[int, float]], begun: threading.Event) -> None:
    """(bytes of the record, when told) of each event, until the match is over."""
    with urllib.request.urlopen(f"{address}/runs/live/matches/long/events") as stream:
        for line in stream:
            if line.startswith(b"data: "):
                data = json.loads(line.removeprefix(b"data: "))
                seen.append((data["bytes"], time.time()))
                begun.set()
                if data["over"]:
                    return


def delays(written: Sequence[tuple[int, float]], seen: Sequence[tuple[int, float]]) -> list[float]:
    """Milliseconds from each (how far, when) to the first that has seen so much."""
    return [1000 * (next(at_s for far, at_s in seen if far >= wanted) - since_s) for wanted, since_s in written]


def live(address: str, folder: Path, decisions: int, page: Any) -> None:
    """The delay until each decision of a match is sent and shown; `page` of a browser, or None."""
    rng = random.Random(2)
    match = Written(folder, long_enough(folder, decisions))
    told: list[tuple[int, float]] = []
    begun = threading.Event()
    listener = threading.Thread(target=listen, args=(address, told, begun))
    listener.start()
    begun.wait()
    if page is not None:
        page.goto(f"{address}/runs/live/matches/long?step=last")
        page.wait_for_selector("#replay[data-drawn]")
        page.evaluate(WATCH)
    sizes, steps = [], []
    while match.decisions < decisions:
        time.sleep(rng.uniform(0.1, 0.5))
        match.go_on()
        match.writer.flush()
        now_s = time.time()
        sizes.append((match.writer.path.stat().st_size, now_s))
        steps.append((match.steps, now_s))
    shown: list[tuple[int, float]] = []
    if page is not None:
        page.wait_for_selector(f"#where:has-text('step {match.steps} of')")
        shown = page.evaluate("window.seen")
    while told[-1][0] < sizes[-1][0]:  # the end of the match would be told instead
        time.sleep(0.01)
    match.close()
    listener.join()
    print("\n| a decision of a match that goes on | number | median ms | 99 % ms | worst ms |")
    print("| --- | ---: | ---: | ---: | ---: |")
    for name, marks, seen in (("told to a client", sizes, told), ("shown in Chromium", steps, shown)):
        if seen:
            found = sorted(delays(marks, seen))
            rare = found[int(0.99 * len(found))]
            print(f"| {name} | {len(found)} | {statistics.median(found):.0f} | {rare:.0f} | {found[-1]:.0f} |")


@contextmanager
def browser(chromium: Path) -> Iterator[Any]:
    """A page; None without Chromium."""
    if not chromium.exists():
        yield None
        return
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
        opened = playwright.chromium.launch(executable_path=str(chromium), args=arguments)
        yield opened.new_page()
        opened.close()


def stepping(address: str, page: Any) -> None:
    page.goto(f"{address}/")
    started = time.perf_counter()
    page.goto(f"{address}/runs/one/matches/long")
    page.wait_for_selector("#replay[data-ready]")
    print(f"\nmatch page, ready to step: {time.perf_counter() - started:.2f} s")
    steps, middle, slow = page.evaluate(STEPS)
    print(f"{steps} steps, each with its frame: median {middle:.1f} ms, 99 % {slow:.1f} ms")


@contextmanager
def serving(runs: Path) -> Iterator[str]:
    """The address of the pages as `crosstown web` makes them."""
    with listen_on("127.0.0.1", 0) as listening:
        listening.listen()
        server = uvicorn.Server(uvicorn.Config(make_app(runs), log_level="warning", lifespan="off"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--matches", type=int, default=100_000)
    parser.add_argument("--bots", type=int, default=200)
    parser.add_argument("--decisions", type=int, default=400)
    parser.add_argument("--live", type=int, default=120, help="decisions of the match that goes on")
    parser.add_argument("--chromium", type=Path, default=Path("/usr/bin/chromium"))
    parser.add_argument("--only", choices=("pages", "live"))
    given = parser.parse_args()
    load, *_ = os.getloadavg()
    print(f"Python {platform.python_version()}, {platform.machine()}, {os.cpu_count()} cores, load {load:.1f}")
    with tempfile.TemporaryDirectory() as name:
        runs = Path(name)
        if given.only != "live":
            started = time.perf_counter()
            make_run(runs / "big", given.matches, given.bots)
            decisions = make_match(runs / "one", given.decisions)
            print(f"{given.matches} matches of {given.bots} bots; a match of {GAME} with {decisions} decisions\n")
            print(f"made in {time.perf_counter() - started:.0f} s\n", file=sys.stderr)
        with serving(runs) as address, browser(given.chromium) as page:
            if given.only != "live":
                pages(address, runs / "big")
                if page is not None:
                    stepping(address, page)
            if given.only != "pages":
                live(address, runs / "live", given.live, page)


if __name__ == "__main__":
    main()
