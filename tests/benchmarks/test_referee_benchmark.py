"""`benchmarks/referee.py` prints its tables, also that of the parts of a move; figures are not tested."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def test_prints_what_a_move_costs_beside_bare_grpc_and_its_parts() -> None:
    command = [sys.executable, "benchmarks/referee.py", "--seconds", "0.2", "--rounds", "1", "--parts"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stdout.splitlines() if line.startswith("|")]
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines]
    names = [row[0] for row in rows]
    assert names[2:5] == ["bare", "sdk", "table"]
    parts = rows[names.index("part") + 2 :]
    assert parts
    assert sum(float(row[1].rstrip("%")) for row in parts) == pytest.approx(100, abs=2)
