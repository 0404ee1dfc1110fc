"""`benchmarks/languages.py` runs as its documentation says and prints its table; figures are not tested."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from referee.process.entry import Entry

ROOT = Path(__file__).resolve().parents[3]


def run(*arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "benchmarks/languages.py", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_it_prints_a_row_for_each_language_asked_for(starter: Callable[..., Entry]) -> None:
    starter("go")
    done = run("--seconds", "0.01", "--rounds", "1", "--starts", "1", "go", "python")
    assert done.returncode == 0, done.stderr
    rows = [line.split("|")[1:-1] for line in done.stdout.splitlines() if line.startswith("|")]
    assert [row[0].strip() for row in rows[2:]] == ["go", "python"]
    assert {len(row) for row in rows} == {len(rows[0])}


def test_it_refuses_an_unknown_language_by_name() -> None:
    done = run("cobol")
    assert done.returncode == 2
    assert "no language cobol" in done.stderr
