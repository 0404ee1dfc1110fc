"""Runs with toy matches, the application over them, and a real browser."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvicorn

from leaderboard.schedule_view import Ahead
from leaderboard.web.app import make_app
from leaderboard.web.facts import RunFacts
from referee.cli.listening import listen_on
from referee.cli.play_host import Host
from referee.games.api import resolve_options, state_hash
from referee.games.keyed import KeyedChance
from referee.games.registry import get_game
from referee.record import Answer, FaultLine, Footer, Header, RecordWriter, SeatHeader, SeatStats
from referee.record.format import PERSON, seed_commitment

SEED = "aa" * 16
BOTS = Path(__file__).resolve().parents[3] / "bots" / "python"


class Played:
    """A match in which everybody takes the first action, written as it goes on."""

    def __init__(
        self,
        folder: Path,
        match_id: str,
        names: tuple[str, ...],
        game: str,
        note: str,
        place: int,
        sandboxes: tuple[str, ...],
        block: int = 0,
        tournament: str = "cup",
        people: tuple[str, ...] = (),
        first: int = 0,
    ) -> None:
        """`first` is the number of the first entry: bots of the same number are one."""
        self.game = get_game(game)
        options = resolve_options(game, self.game.options, {})
        seats = tuple(
            SeatHeader(
                f"{first + names.index(name):02x}ff00ff", name, PERSON if name in people else "1", sandbox=sandbox
            )
            for name, sandbox in zip(names, sandboxes or ("strict",) * len(names), strict=True)
        )
        head = Header(
            match_id, tournament, place, block, game, self.game.rules_version, options, len(names), seats,
            {"move_s": 1.0},
            seed_commitment(SEED), "2026-01-01T00:00:00Z", "0",
        )  # fmt: skip
        self.note = note
        self.wall_us, self.lag_us = 1500, 200
        self.writer = RecordWriter(folder, head)
        self.state = self.game.new_initial_state(len(names), options)
        self.chance = KeyedChance(bytes.fromhex(SEED))
        self.counts = [0] * len(names)

    def step(self) -> bool:
        """One node; False once the match is over. What was written can be read at once."""
        if self.state.is_terminal():
            return False
        asked = self.state.decisions()
        if asked:
            actions = {item.seat: self.state.legal_actions(item.seat)[0] for item in asked}
            for seat, action in actions.items():
                self.counts[seat] += 1
                self.writer.answer(
                    Answer(seat, self.game.format_action(action), self.wall_us, 100, self.lag_us, self.note)
                )
            self.state.apply(actions)
        else:
            outcome = self.chance.choose(self.state.chance_stream(), self.state.chance_outcomes())
            self.writer.chance(outcome)
            self.state.apply_chance(outcome)
        self.writer.flush()
        return True

    def play(self) -> "Played":
        while self.step():
            pass
        return self

    def close(self, **changes: Any) -> Path:
        fields = {
            "status": "rated", "reason": "normal", "detail": "", "seed": SEED,
            "ranking": tuple(self.state.ranking()), "returns": tuple(self.state.returns()),
            "state_hash": state_hash(self.state), "decisions": sum(self.counts), "wall_us": 9000,
            "seat_stats": tuple(SeatStats(count, self.wall_us * count, self.wall_us, 100) for count in self.counts),
        }  # fmt: skip
        return self.writer.close(Footer(**{**fields, **changes}))

    def crash(self, seat: int, **evidence: Any) -> Path:
        """The seat leaves here, and the match ends with it."""
        self.writer.fault(FaultLine(seat, "crashed", "exit code 3", True))
        self.state.withdraw(seat)
        faults = [None] * len(self.counts)
        faults[seat] = {"reason": "crashed", "detail": "exit code 3", **evidence}
        ranking = tuple(2 if number == seat else 1 for number in range(len(self.counts)))
        return self.close(reason="crashed", faults=tuple(faults), ranking=ranking, returns=())


@pytest.fixture(scope="session")
def begin() -> Callable[..., Played]:
    """begin(folder, "m1") begins a match whose record lies in `folder`, the `matches` of a run."""

    def begin(
        folder: Path,
        match_id: str,
        names: tuple[str, ...] = ("ann", "bob"),
        game: str = "toy",
        note: str = "",
        place: int = 0,
        sandboxes: tuple[str, ...] = (),
        block: int = 0,
        tournament: str = "cup",
        people: tuple[str, ...] = (),
        first: int = 0,
    ) -> Played:
        return Played(folder, match_id, names, game, note, place, sandboxes, block, tournament, people, first)

    return begin


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    folder = tmp_path / "runs"
    (folder / "cup" / "matches").mkdir(parents=True)
    return folder


@pytest.fixture
def start(runs: Path, begin: Callable[..., Played]) -> Callable[..., Played]:
    """start("m1") begins a match of the run `cup`."""
    return partial(begin, runs / "cup" / "matches")


@pytest.fixture
async def web(runs: Path) -> Any:
    """A client that speaks to the application directly."""
    transport = httpx.ASGITransport(app=make_app(runs))
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
        yield client


@contextmanager
def serving(app: Any) -> Iterator[str]:
    """The address of a server with the application."""
    listening = listen_on("127.0.0.1", 0)
    config = uvicorn.Config(app, log_level="warning", lifespan="off", timeout_graceful_shutdown=1)
    serving = uvicorn.Server(config)
    thread = threading.Thread(target=serving.run, kwargs={"sockets": [listening]})
    thread.start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        serving.should_exit = True
        thread.join()
        listening.close()


@pytest.fixture(scope="session")
def serve() -> Any:
    """`with serve(app) as address` for an application of one's own."""
    return serving


@pytest.fixture
def server(runs: Path) -> Iterator[str]:
    """The address of a server over `runs`."""
    with serving(make_app(runs)) as address:
        yield address


@pytest.fixture
def play_server(runs: Path) -> Iterator[str]:
    """The address of a server on which people may play against the bots of this checkout."""
    with Host(runs, [BOTS]) as host, serving(make_app(runs, play_host=host)) as address:
        yield address


@dataclass
class Shown:
    """A page in a browser; `said` is what came to its console."""

    page: Any
    said: list[str]


@pytest.fixture
def show(profile: Any, server: str) -> Iterator[Callable[..., Shown]]:
    """show("/runs/cup", width=390) opens a page; at the end none may have complained."""
    with opening(profile, server) as show:
        yield show


@pytest.fixture
def show_at(profile: Any) -> Iterator[Callable[..., Shown]]:
    """show_at(server, "/runs/cup", width=390): the same on a server of one's own, which many tests may share."""
    with ExitStack() as stack:
        shows: dict[str, Callable[..., Shown]] = {}

        def show(server: str, address: str, **how: Any) -> Shown:
            if server not in shows:
                shows[server] = stack.enter_context(opening(profile, server))
            return shows[server](address, **how)

        yield show


@pytest.fixture
def show_play(profile: Any, play_server: str) -> Iterator[Callable[..., Shown]]:
    """The same where people may play."""
    with opening(profile, play_server) as show:
        yield show


@contextmanager
def opening(profile: Any, server: str) -> Iterator[Callable[..., Shown]]:
    opened: list[Shown] = []

    def show(address: str, width: int = 1100, ready: str = "main") -> Shown:
        page = profile.new_page()
        page.set_viewport_size({"width": width, "height": 900})
        page.set_default_timeout(60_000)
        shown = Shown(page, [])
        opened.append(shown)
        page.on("console", lambda message: shown.said.append(message.text))
        page.on("pageerror", lambda error: shown.said.append(str(error)))
        page.goto(server + address)
        page.wait_for_selector(ready)
        return shown

    yield show
    for shown in opened:
        shown.page.close()
    profile.clear_cookies()
    assert [shown.said for shown in opened if shown.said] == []


@pytest.fixture
def wait_until() -> Callable[[Callable[[], bool]], None]:
    def wait(condition: Callable[[], bool]) -> None:
        end = time.monotonic() + 20
        while not condition():
            assert time.monotonic() < end, "it did not happen"
            time.sleep(0.02)

    return wait


@pytest.fixture
def open_blocks(monkeypatch: pytest.MonkeyPatch) -> set[tuple[str, int]]:
    """The blocks that are not complete."""
    blocks: set[tuple[str, int]] = set()
    view = RunFacts.view

    def with_blocks(self: RunFacts, rows: Any) -> Any:
        found, said = view(self, rows)
        return replace(found, ahead=Ahead(open_blocks=frozenset(blocks))), said

    monkeypatch.setattr(RunFacts, "view", with_blocks)
    return blocks
