"""A run of the toy game as it lies on disk, made without playing; commands run in this process."""

import os
import shutil
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import pytest

from leaderboard.records import read_match
from referee.cli.app import run_command
from referee.record import Answer, Footer, Header, RecordWriter, SeatHeader, SeatStats
from referee.record.format import seed_commitment
from referee.run.folder import RunFolder
from referee.run.journal import Journal, read_journal
from referee.schedule.config import digest
from referee.schedule.schedule import Schedule
from referee.schedule.seeds import MatchSeeds
from referee.tournament.config import Tournament
from referee.tournament.entrants import load_tournament
from referee.tournament.identity import config_of, describe

BOTS = Path(__file__).resolve().parents[3] / "bots" / "python"


@dataclass(frozen=True)
class Printed:
    """What a command printed and its exit code."""

    code: int
    out: str
    err: str


@pytest.fixture
def crosstown(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> Iterator[Callable[..., Printed]]:
    """crosstown("run", "cup.toml") runs the command line in `tmp_path`."""
    before = Path.cwd()
    os.chdir(tmp_path)

    def run(*words: str) -> Printed:
        capfd.readouterr()
        code = run_command(words)
        printed = capfd.readouterr()
        return Printed(code, printed.out, printed.err)

    yield run
    os.chdir(before)


@pytest.fixture
def write_tournament(tmp_path: Path) -> Callable[..., Path]:
    """write_tournament("cup", blocks=2) leaves cup.toml with two bots, "<ann>" and "[b]bob"."""

    def write(
        name: str = "cup",
        blocks: int = 2,
        seed: int = 1,
        style: str = "round-robin",
        others: Sequence[str] = (),
        more: str = "",
    ) -> Path:
        lines = ['game = "toy"', f'format = "{style}"', f"seed = {seed}", f"blocks = {blocks}", more]
        for folder, shown in (("ann", "<ann>"), ("bob", "[b]bob"), *((name, name) for name in others)):
            bot = tmp_path / "bots" / folder
            bot.mkdir(parents=True, exist_ok=True)
            (bot / "bot.toml").write_text(
                f'name = "{shown}"\nversion = "1"\ngames = ["*"]\nrun = ["{{python}}", "bot.py"]\n'
            )
            (bot / "bot.py").write_text(f"# {folder}\n")
            lines += ["[[bots]]", f'path = "bots/{folder}"']
        path = tmp_path / f"{name}.toml"
        path.write_text("\n".join(lines) + "\n")
        return path

    return write


@pytest.fixture
def make_run(write_tournament, tmp_path) -> Callable[..., RunFolder]:
    """make_run("cup", played=3) leaves runs/cup with its first matches played: who is first in the file wins, but loses
    match 1 by a crash. Records have lines only with `answers`, which no game has taken."""

    def make(
        name: str = "cup",
        blocks: int = 2,
        seed: int = 1,
        played: int = 4,
        out: str = "runs",
        style: str = "round-robin",
        others: Sequence[str] = (),
        more: str = "",
        answers: bool = False,
    ) -> RunFolder:
        tournament = load_tournament(write_tournament(name, blocks, seed, style, others, more))
        folder = RunFolder(tmp_path / out / name)
        folder.make()
        description = describe(tournament)
        with Journal(folder.journal, read_journal(folder.journal)) as journal:
            journal.append("created", format=1, hash=digest(description), configuration=description)
        schedule = Schedule(config_of(tournament), seeds=MatchSeeds(seed, (None,)))  # as of before there were secrets
        while schedule.places < played and (spec := schedule.next()) is not None:
            _record(folder, tournament, spec, answers=answers)
            row = read_match(folder.matches / f"{spec.match_id}.jsonl.gz").row
            schedule.settle(spec, [seat.rank for seat in row.seats], [seat.fault for seat in row.seats])
            deque(schedule.in_order(), 0)
            deque(schedule.settled(), 0)
        return folder

    return make


@pytest.fixture
def played(tmp_path: Path, crosstown: Callable[..., Printed]) -> RunFolder:
    """runs/cup, a run of two bots that is finished."""
    lines = ['game = "manhattan_traffiq"', "seed = 987654321", "blocks = 1"]
    for name in ("ann", "bob"):
        shutil.copytree(BOTS / "random", tmp_path / "bots" / name)
        manifest = tmp_path / "bots" / name / "bot.toml"
        manifest.write_text(manifest.read_text().replace('"random"', f'"{name}"', 1))
        lines += ["[[bots]]", f'path = "bots/{name}"']
    (tmp_path / "cup.toml").write_text("\n".join(lines) + "\n[limits]\n[clock]\nstartup_s = 60\nmove_s = 30\n")
    printed = crosstown("run", "cup.toml")
    assert printed.code == 0, printed.err
    return RunFolder(tmp_path / "runs" / "cup")


def _record(folder: RunFolder, tournament: Tournament, spec, *, answers: bool) -> None:
    header = Header(
        match_id=spec.match_id,
        tournament=spec.tournament,
        place=spec.place,
        block=spec.block,
        round=spec.round,
        table=spec.table,
        stage=spec.stage,
        game=spec.game,
        rules_version=1,
        options=spec.options,
        players=len(spec.seats),
        seats=tuple(SeatHeader(seat.entry_id, seat.name, seat.version, sandbox="strict") for seat in spec.seats),
        limits=asdict(spec.limits),
        seed_commitment=seed_commitment(spec.seed),
        created_at="2026-01-01T00:00:00Z",
        crosstown="0",
    )
    order = [entry.id for entry in tournament.entries]
    numbers = [order.index(seat.entry_id) for seat in spec.seats]
    first = numbers.index(min(numbers))
    crashed = spec.place == 1
    seats = range(len(numbers))
    winner = (first + 1) % len(seats) if crashed else first
    writer = RecordWriter(folder.matches, header)
    for seat in seats if answers else ():
        for wall_us in (1000, 4000) if seat else (1000, 2000):
            writer.answer(Answer(seat, "take(n=1)", wall_us))
    writer.close(
        Footer(
            status="rated",
            reason="crashed" if crashed else "normal",
            detail="",
            seed=spec.seed,
            ranking=tuple(1 if seat == winner else 2 for seat in seats),
            returns=() if crashed else (1, *[0] * (len(seats) - 1)),
            state_hash="ab",
            seat_stats=tuple(SeatStats(2, 5000 if seat else 3000, 4000 if seat else 2000, 0) for seat in seats),
            faults=tuple({"reason": "crashed"} if crashed and seat == first else None for seat in seats),
            decisions=4,
            wall_us=500_000,
        )
    )
