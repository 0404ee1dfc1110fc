"""`benchmarks/growth.py` prints its tables and draws their curves; figures are not tested."""

import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.slow
def test_prints_a_table_and_draws_curves_for_each_thing_that_grows(tmp_path: Path) -> None:
    picture = tmp_path / "growth.svg"
    command = [
        sys.executable,
        "benchmarks/growth.py",
        "--matches",
        "20",
        "40",
        "--bots",
        "4",
        "6",
        "--svg",
        str(picture),
    ]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    heads = [line for line in done.stdout.splitlines() if line.startswith("| CPU ms by ")]
    assert [head.split("|")[1].strip() for head in heads] == [
        f"CPU ms by {what}" for what in ("matches", "bots", "seats")
    ]
    lines = [part for part in ElementTree.parse(picture).iter() if part.tag.endswith("polyline")]
    assert len(lines) == 3 + 2 + 4
