"""Makes the pictures of docs/images: each page of `crosstown web`, and the board of each game.

    python docs/screenshots.py [FOLDER] [--chromium /usr/bin/chromium]

The matches are of random actions on fixed seeds, so pictures change only when pages or boards do.
"""

import argparse
import os
import random
import tempfile
import threading
from pathlib import Path
from socket import socket
from typing import Any

import uvicorn

from leaderboard.web.app import make_app
from leaderboard.web.facts import RunFacts
from referee.cli.play_host import Host
from referee.games.api import resolve_options, state_hash
from referee.games.keyed import KeyedChance
from referee.games.registry import get_game
from referee.record import Answer, Footer, Header, RecordWriter, SeatHeader, SeatStats
from referee.record.format import seed_commitment

MATCHES = 60
"""Of the schedule that the run would have."""

ROOT = Path(__file__).resolve().parents[1]
GAMES = ("king_of_new_york", "manhattan_traffiq", "shibuya", "ticket_to_ride_new_york")
NAMES = ("Ada", "Boole", "Curie", "Dijkstra")


def facts(folder: Path) -> RunFacts:
    """What a journal would say."""
    return RunFacts(folder.name, total=MATCHES, word="going on")


def play(folder: Path, game_id: str, match_id: str, place: int, names: tuple[str, ...]) -> None:
    """A record of a match of random actions."""
    game = get_game(game_id)
    options = resolve_options(game_id, game.options, {})
    seats = tuple(SeatHeader(f"{NAMES.index(name):08x}", name, "1", sandbox="strict") for name in names)
    seed = f"{place:032x}"
    head = Header(
        match_id, "cup", place, place // 2, game_id, game.rules_version, options, len(names), seats, {"move_s": 1.0},
        seed_commitment(seed), "2026-01-01T00:00:00Z", "1",
    )  # fmt: skip
    writer, rng = RecordWriter(folder, head), random.Random(place)
    state, chance = game.new_initial_state(len(names), options), KeyedChance(bytes.fromhex(seed))
    counts = [0] * len(names)
    while not state.is_terminal():
        if not (asked := state.decisions()):
            outcome = chance.choose(state.chance_stream(), state.chance_outcomes())
            writer.chance(outcome)
            state.apply_chance(outcome)
            continue
        actions = {item.seat: rng.choice(list(state.legal_actions(item.seat))) for item in asked}
        for seat, action in actions.items():
            counts[seat] += 1
            writer.answer(Answer(seat, game.format_action(action), rng.randrange(500, 90_000), 200, 300, ""))
        state.apply(actions)
    stats = tuple(SeatStats(count, 40_000 * count, 90_000, 20_000) for count in counts)
    writer.close(
        Footer("rated", "normal", "", seed, tuple(state.ranking()), tuple(state.returns()), state_hash(state), stats,
               (None,) * len(names), sum(counts), 1_000_000)
    )  # fmt: skip


def make_run(folder: Path) -> None:
    place = 0
    for game_id in GAMES:
        for one in range(4):
            for other in range(4):
                if one != other:
                    play(folder / "matches", game_id, f"{game_id}-{place}", place, (NAMES[one], NAMES[other]))
                    place += 1


def visit(page: Any, url: str, heading: str, ready: str = "main") -> None:
    """Open an address, and stop if what came is an error page or another page than the one with this heading."""
    answer = page.goto(url)
    while "refresh" in answer.headers:  # its tables are still being computed
        page.wait_for_timeout(1000)
        answer = page.goto(url)
    shown = (page.locator("h1").first.text_content() or "").strip() if page.locator("h1").count() else "no heading"
    if answer.status != 200 or not shown.startswith(heading):
        raise SystemExit(f"No picture of {url}: status {answer.status}, {shown!r} where {heading!r} is expected.")
    page.wait_for_selector(ready)


def take(address: str, chromium: Path, out: Path) -> None:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = playwright.chromium.launch(executable_path=str(chromium), args=arguments)
        page: Any = browser.new_page(viewport={"width": 900, "height": 700})
        page.set_default_timeout(60_000)

        def shoot(name: str, path: str, heading: str, ready: str = "main") -> None:
            visit(page, address + path, heading, ready)
            page.screenshot(path=str(out / f"{name}.jpg"), type="jpeg", quality=70)

        shoot("front", "/", "Bots play board games")
        shoot("runs", "/runs", "Tournaments")
        shoot("game", "/games/king_of_new_york", "King of New York")
        shoot("run", "/runs/cup", "cup")
        shoot("matches", "/runs/cup/matches", "cup")
        shoot("bot", "/runs/cup/bots/00000000", "Ada")
        shoot("match", "/runs/cup/matches/shibuya-24?step=40", "Shibuya: ", "#replay[data-ready]")
        shoot("play-setup", "/play?game=shibuya", "Play Shibuya")
        page.get_by_text("Easy: random").check()
        page.click("button.main")
        page.wait_for_selector("#can button")
        page.screenshot(path=str(out / "play.jpg"), type="jpeg", quality=70)
        for number, game_id in enumerate(GAMES):
            match = f"{address}/runs/cup/matches/{game_id}-{12 * number}?step=60&seat=all"
            visit(page, match, f"{get_game(game_id).title}: ", "#replay[data-ready]")
            board = page.locator("#board > svg").first
            board.screenshot(path=str(out / f"{game_id}.jpg"), type="jpeg", quality=75)
        browser.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / "docs" / "images")
    parser.add_argument("--chromium", type=Path, default=Path("/usr/bin/chromium"))
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch, socket() as listening:
        runs = Path(scratch)
        make_run(runs / "cup")
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        with Host(runs, [ROOT / "bots" / "python"]) as host:
            config = uvicorn.Config(make_app(runs, facts, play_host=host), log_level="error", lifespan="off",
                                    timeout_graceful_shutdown=1)  # fmt: skip
            serving = uvicorn.Server(config)
            thread = threading.Thread(target=serving.run, kwargs={"sockets": [listening]})
            thread.start()
            try:
                take(f"http://127.0.0.1:{listening.getsockname()[1]}", given.chromium, given.folder)
            finally:
                serving.should_exit = True
                thread.join()


if __name__ == "__main__":
    main()
