"""Toy matches that were recorded without bots, and the commands that show them."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from referee.cli.app import run_command
from referee.games.api import resolve_options, state_hash
from referee.games.keyed import KeyedChance
from referee.games.registry import get_game
from referee.record import Answer, Dropped, FaultLine, Footer, Header, RecordWriter, SeatHeader, SeatStats
from referee.record.format import seed_commitment

SEED = "aa" * 16
NASTY = "\x1b[2Jred\x07 \u202egnp.exe\nnext line"


@dataclass(frozen=True)
class Said:
    stdout: str
    stderr: str


@pytest.fixture
def matches(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Callable[..., Said]:
    """matches('list', code=0) runs `crosstown matches list` on the runs of this test and expects that exit code."""

    def matches(*words: str, code: int = 0) -> Said:
        capsys.readouterr()
        status = run_command(["matches", *words, "--out", str(tmp_path / "runs")])
        said = Said(*capsys.readouterr())
        assert status == code, said
        return said

    return matches


def played(
    folder: Path,
    match_id: str,
    *,
    crash_after: int = 99,
    decisions: int = 999,
    close: bool = True,
    lag_us: int = 0,
    unasked_us: tuple[int, int] = (0, 0),
    **head: Any,
) -> Path:
    """A toy match in which everybody takes the first action; seat 1 may crash, and the record may be cut short.
    `unasked_us`: processor time of seat 0 off turn and between matches."""
    game = get_game("toy")
    options = resolve_options("toy", game.options, {})
    seats = (SeatHeader("00ff00ff00ff00ff", "alpha", "1"), SeatHeader("11ff00ff00ff00ff", f"beta {NASTY}", "2"))
    header = Header(
        match_id, "first", 1, 0, "toy", game.rules_version, options, 2, seats, {}, seed_commitment(SEED), "", "0"
    )
    writer = RecordWriter(folder, replace(header, **head))
    state, chance = game.new_initial_state(2, options), KeyedChance(bytes.fromhex(SEED))
    counts = [0, 0]
    faults: tuple[Any, ...] = ()
    while not state.is_terminal() and sum(counts) < decisions:
        asked = state.decisions()
        if not asked:
            outcome = chance.choose(state.chance_stream(), state.chance_outcomes())
            writer.chance(outcome)
            state.apply_chance(outcome)
        elif sum(counts) >= crash_after:
            writer.dropped(Dropped(1, "other_match", "AAAA"))
            writer.fault(FaultLine(1, "crashed", f"exit code 3 {NASTY}", True))
            faults = (
                None,
                {"reason": "crashed", "detail": NASTY, "stderr": NASTY, "legal": ["pass()"], "exit_code": 3},
            )
            state.withdraw(1)
        else:
            actions = {decision.seat: state.legal_actions(decision.seat)[0] for decision in asked}
            for seat, action in actions.items():
                writer.answer(
                    Answer(seat, game.format_action(action), 1500 + lag_us, 700, lag_us, NASTY if seat else "")
                )
                counts[seat] += 1
            state.apply(actions)
    writer.flush()
    if not close:
        return writer.path
    stats = tuple(SeatStats(count, 1500 * count, 1500 if count else 0, 700 * count) for count in counts)
    stats = (replace(stats[0], off_turn_cpu_us=unasked_us[0], idle_cpu_us=unasked_us[1]), *stats[1:])
    return writer.close(
        Footer(
            "rated",
            "crashed" if faults else "normal",
            "",
            SEED,
            tuple(state.ranking()),
            tuple(state.returns()),
            state_hash(state),
            stats,
            faults,
            sum(counts),
        )
    )


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run with a normal match, one that ended in a crash, and one in progress."""
    folder = tmp_path / "runs" / "first"
    played(folder / "matches", "first-0000")
    played(folder / "matches", "first-0001", crash_after=4)
    played(folder / "matches", "first-0002", decisions=3, close=False)
    return folder


@pytest.fixture
def write() -> Callable[..., Path]:
    return played
