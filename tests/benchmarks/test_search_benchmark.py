"""`benchmarks/search.py` prints its tables, also beside another checkout; figures are not tested."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TINY = ["--seconds", "0.1", "--rounds", "1", "--positions", "1", "--ms", "1", "--blocks", "1"]


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "benchmarks/search.py", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60)


def rows(text: str) -> list[list[str]]:
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines() if line.startswith("|")]


def test_prints_play_outs_and_strength_beside_another_checkout() -> None:
    done = run(*TINY, "--before", str(ROOT), "ticket_to_ride_new_york")
    assert (done.returncode, done.stderr) == (0, "")
    head, _, speeds, strength_head, _, *strengths = rows(done.stdout)
    assert head == ["game", "legal actions", "search", "search before", "gain"]
    assert speeds[0] == "ticket_to_ride_new_york"
    assert len(speeds) == len(head)
    assert strength_head == ["game", "B", "score of A", "95 % interval", "matches", "blocks"]
    assert [row[1] for row in strengths] == ["greedy", "search, 0.5 ms", "search, 2 ms", "search before, 1 ms"]
    assert {tuple(row[4:]) for row in strengths} == {("2", "1")}


def test_refuses_an_unknown_game_by_name() -> None:
    done = run("chequers")
    assert done.returncode != 0
    assert "chequers" in done.stderr
    assert "Traceback" not in done.stderr
