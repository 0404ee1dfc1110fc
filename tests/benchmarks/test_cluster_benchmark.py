"""`benchmarks/cluster.py` carries matches through a real scheduler to simulated machines; figures are not tested."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_simulated_machines_answer_every_match():
    words = ["benchmarks/cluster.py", "scheduler", "--machines", "2", "--slots", "5", "--matches", "20"]
    done = subprocess.run([sys.executable, *words], cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "| 2 | 10 | 20 |" in done.stdout
