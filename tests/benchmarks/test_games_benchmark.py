"""`benchmarks/games.py` runs as its documentation says and prints its tables; figures are not tested."""

import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.blocks import gains
from referee.games.registry import get_game

ROOT = Path(__file__).resolve().parents[2]
TINY = ["--seconds", "0.001", "--rounds", "1", "--decisions", "20", "--blocks", "2", "--no-peers"]


def run(*arguments: str, timeout_s: float = 60) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "benchmarks/games.py", *arguments], cwd=ROOT, capture_output=True, text=True, timeout=timeout_s
    )


def tables(text: str) -> list[list[list[str]]]:
    """Cells of all rows, per table."""
    blocks = [block.splitlines() for block in text.split("\n\n")]
    return [
        [[cell.strip() for cell in row.split("|")[1:-1]] for row in block] for block in blocks if block[0][0] == "|"
    ]


def test_prints_three_tables_with_a_row_for_each_number_of_players() -> None:
    done = run(*TINY, "shibuya")
    assert (done.returncode, done.stderr) == (0, "")
    speeds, parts, worth = tables(done.stdout)
    counts = [str(count) for count in get_game("shibuya").player_counts]
    assert [row[:2] for row in speeds[2:]] == [["shibuya", count] for count in counts]
    assert [row[:2] for row in parts[2:]] == [["shibuya", count] for count in counts]
    assert [row[1:4] for row in worth[2:]] == [
        [count, pair, "2 of 2"] for count in counts for pair in ("random, shy", "greedy, erring")
    ]
    for table in (speeds, parts, worth):
        assert {len(row) for row in table} == {len(table[0])}


def test_names_the_machine_and_absent_peers() -> None:
    done = run("--seconds", "0.001", "--rounds", "1", "--decisions", "0", "--blocks", "0", "shibuya")
    assert done.returncode == 0, done.stderr
    first = done.stdout.splitlines()[0]
    for expected in ("Python 3.", "crosstown ", "load ", "open_spiel ", "rlcard ", "catanatron ", "chess "):
        assert expected in first
    assert len(tables(done.stdout)) == 1


def test_refuses_an_unknown_game_by_name() -> None:
    done = run("chequers")
    assert done.returncode != 0
    assert "chequers" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("blocks", "expected"),
    [
        # The seat decides everything: taking turns is enough, and a block leaves nothing to vary.
        ([[1.0, 0.0], [1.0, 0.0]], (0.0, 0.0)),
        # The seed decides for both alike: a block is worth half as much as two matches apart.
        ([[1.0, 1.0], [0.0, 0.0]], (0.5, 0.25)),
        # Chance only: the population's variance 1/4, the sample's 1/3.
        ([[1.0, 1.0], [0.0, 0.0], [1.0, 0.0], [0.0, 1.0]], (0.75, 0.75)),
        ([[0.5, 0.5], [0.5, 0.5]], (0.0, 0.0)),
    ],
)
def test_gain_is_a_ratio_of_variances(blocks: list[list[float]], expected: tuple[float, float]) -> None:
    assert gains(blocks) == pytest.approx(expected)
