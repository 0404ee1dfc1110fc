"""Bots played within the test process by the benchmark that also compares them, and bots as processes at one table."""

import importlib.util
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import pytest_asyncio

from referee.games.api import Game, resolve_options
from referee.games.registry import get_game
from referee.match import Limits, MatchResult, MatchSpec, SeatSpec, Table
from referee.process.entry import Entry
from referee.record import Record, read_record, verify
from referee.schedule.spec import Adjudication

ROOT = Path(__file__).parents[2]
PATIENT = Limits(startup_s=60, ready_s=60, first_move_s=60, move_s=60)


@pytest.fixture(scope="session")
def bench() -> ModuleType:
    spec = importlib.util.spec_from_file_location("benchmark_of_bots", ROOT / "benchmarks" / "bots.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def shipped() -> Callable[[str], Game]:
    """A shipped game by id."""
    return get_game


@pytest.fixture
def play(bench: ModuleType, shipped: Callable[[str], Game]) -> Callable[..., Any]:
    """Plays a match between bots named by folder; `options` are those of the bots that have such options."""

    def played(game_id: str, bots: Sequence[str], seed: str, **options: int) -> Any:
        game = shipped(game_id)
        made = [
            bench.load_bot(ROOT / "bots" / "python" / name, options if name == "search" else None)() for name in bots
        ]
        return bench.play(game, resolve_options(game_id, game.options, {}), made, seed)

    return played


class Hall:
    """One table for a file of tests, so that a process plays many matches; each match leaves a record that verifies."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.entries: dict[str, Entry] = {}
        self.table: Any = None
        self.number = 0

    def new_folder(self) -> Path:
        """For a bot, with blanks in its path."""
        self.number += 1
        folder = self.folder / f"bot {self.number}"
        folder.mkdir()
        return folder

    async def play(
        self,
        game_id: str,
        *bots: Entry,
        seed: int | None = None,
        limits: Limits = PATIENT,
        adjudication: Adjudication | None = None,
        **options: Any,
    ) -> tuple[MatchResult, Record]:
        """A match of its own block; without a `seed` of its own luck."""
        self.number += 1
        self.entries.update({bot.id: bot for bot in bots})
        spec = MatchSpec(
            match_id=f"m-{self.number}",
            game=game_id,
            options=resolve_options(game_id, get_game(game_id).options, options),
            seats=tuple(SeatSpec(bot.id, bot.name, "1") for bot in bots),
            seed=f"{self.number if seed is None else seed:032x}",
            limits=limits,
            block=self.number,
            adjudication=adjudication or Adjudication(),
        )
        result = await self.table.play(spec, self.folder)
        path = self.folder / f"{spec.match_id}.jsonl.gz"
        assert verify(path).status == "ok"
        return result, read_record(path)

    def printed(self, bot: Entry) -> str:
        """To stderr, in its last match, by a process of this bot that waits for its next one."""
        idle = {one.process.entry.id: one.process.output().stderr_text() for one in self.table._pool._idle}
        return idle.get(bot.id, "")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def hall(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Hall]:
    hall = Hall(tmp_path_factory.mktemp("hall"))
    async with Table(hall.entries) as hall.table:
        yield hall


@pytest.fixture(scope="session")
def make_hall() -> Callable[[Path], Hall]:
    """For a test that has a table of its own."""
    return Hall
