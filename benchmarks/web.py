"""What the pages of `crosstown web` cost: seconds from the request to the whole answer, and frames in a browser.

    python benchmarks/web.py [--matches 100000] [--bots 200] [--decisions 400] [--chromium /usr/bin/chromium]

The run is made up: rows in the database and empty record files beside them, which are not opened. The match page is of
a match of Shibuya with four players. `first` is the first answer after the start of the server,
`again` the median of ten more, `meanwhile` the worst of ten answers while the tables are computed anew. Without
Chromium only the answers are measured.
"""

import argparse
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
from contextlib import ExitStack
from pathlib import Path
from socket import socket
from typing import Any

import uvicorn

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from leaderboard.records import FileStamp, MatchRow, SeatRow
from leaderboard.store import Store
from leaderboard.web.app import make_app
from referee.games.api import resolve_options, state_hash
from referee.games.keyed import KeyedChance
from referee.games.registry import get_game
from referee.record import Answer, Footer, Header, RecordWriter, SeatHeader, SeatStats
from referee.record.format import seed_commitment

SEED = "ab" * 16


def make_run(folder: Path, matches: int, bots: int) -> None:
    """A round robin in which stronger bots win more often."""
    rng = random.Random(1)
    (folder / "matches").mkdir(parents=True)
    rows = []
    for place in range(matches):
        one, other = rng.sample(range(bots), 2)
        won = rng.random() < 1 / (1 + 10 ** ((one - other) / bots))
        name = f"m{place:06}"
        path = folder / "matches" / f"{name}.jsonl.gz"
        path.touch()
        rows.append(_row(name, place, (one, other), (1, 2) if won else (2, 1), FileStamp.of(path.name, path.stat())))
    with Store(folder / "crosstown.db") as store:
        store.put(rows)


def _row(name: str, place: int, bots: tuple[int, int], ranks: tuple[int, int], stamp: FileStamp) -> MatchRow:
    seats = tuple(
        SeatRow(seat, f"{bot:08x}", f"bot {bot}", "1", seat, rank, 3 - rank, "", 40, 40_000, 3_000, 20_000, "20:40")
        for seat, (bot, rank) in enumerate(zip(bots, ranks, strict=True))
    )
    return MatchRow(
        name, "cup", place, place // 2, "toy", 1, "normal", "", 80, 100_000, "aa", "bb", "2026-01-01", stamp, seats
    )


GAME, OPTIONS = "shibuya", {"move_cap": 1000}
"""Of the games the one whose matches can be as long as one likes."""


def make_match(folder: Path, least: int) -> int:
    """A match of random actions, cut after `least` decisions; how many it has. Of those that end before, another."""
    game = get_game(GAME)
    options = resolve_options(GAME, game.options, OPTIONS)
    players = game.player_counts[-1]
    for number in range(1000):
        rng = random.Random(number)
        seats = tuple(SeatHeader(f"{seat:08x}", f"bot {seat}", "1") for seat in range(players))
        head = Header(
            "long", "single", 0, 0, GAME, game.rules_version, options, players, seats, {"move_s": 1.0},
            seed_commitment(SEED), "2026-01-01T00:00:00Z", "0",
        )  # fmt: skip
        writer = RecordWriter(folder / "matches", head)
        state, chance, decisions = game.new_initial_state(players, options), KeyedChance(bytes.fromhex(SEED)), 0
        while not state.is_terminal() and decisions < least:
            if not (asked := state.decisions()):
                outcome = chance.choose(state.chance_stream(), state.chance_outcomes())
                writer.chance(outcome)
                state.apply_chance(outcome)
                continue
            actions = {item.seat: rng.choice(list(state.legal_actions(item.seat))) for item in asked}
            for seat, action in actions.items():
                decisions += 1
                writer.answer(Answer(seat, game.format_action(action), rng.randrange(9000), 10, 20, "a note"))
            state.apply(actions)
        if decisions < least:
            writer.abandon()
            writer.path.unlink()
            continue
        writer.close(
            Footer("void", "platform_fault", "cut for the benchmark", SEED, (), (), state_hash(state),
                   (SeatStats(),) * players, (None,) * players, decisions, 1)
        )  # fmt: skip
        return decisions
    raise SystemExit(f"no match of {GAME} has {least} decisions")


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
  const last = Number(where.textContent.split(' ').at(-1));
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


def browser(address: str, chromium: Path) -> None:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
        opened = playwright.chromium.launch(executable_path=str(chromium), args=arguments)
        page: Any = opened.new_page()
        page.goto(f"{address}/")
        started = time.perf_counter()
        page.goto(f"{address}/runs/one/matches/long")
        page.wait_for_selector("#replay[data-ready]")
        print(f"\nmatch page, ready to step: {time.perf_counter() - started:.2f} s")
        steps, middle, slow = page.evaluate(STEPS)
        print(f"{steps} steps, each with its frame: median {middle:.1f} ms, 99 % {slow:.1f} ms")
        opened.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--matches", type=int, default=100_000)
    parser.add_argument("--bots", type=int, default=200)
    parser.add_argument("--decisions", type=int, default=400)
    parser.add_argument("--chromium", type=Path, default=Path("/usr/bin/chromium"))
    given = parser.parse_args()
    print(f"Python {platform.python_version()}, {platform.machine()}, {os.cpu_count()} cores")
    with ExitStack() as stack:
        runs = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        started = time.perf_counter()
        make_run(runs / "big", given.matches, given.bots)
        decisions = make_match(runs / "one", given.decisions)
        print(f"{given.matches} matches of {given.bots} bots; a match of {GAME} with {decisions} decisions\n")
        print(f"made in {time.perf_counter() - started:.0f} s\n", file=sys.stderr)
        listening = stack.enter_context(socket())
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        serving = uvicorn.Server(uvicorn.Config(make_app(runs), log_level="warning", lifespan="off"))
        thread = threading.Thread(target=serving.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            address = f"http://127.0.0.1:{listening.getsockname()[1]}"
            pages(address, runs / "big")
            if given.chromium.exists():
                browser(address, given.chromium)
        finally:
            serving.should_exit = True
            thread.join()


if __name__ == "__main__":
    main()
