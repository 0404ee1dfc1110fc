"""The process that plays a ladder is killed again and again: rated matches equal records, and nothing is lost."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from leaderboard.completeness import Verification
from leaderboard.index import load_index
from referee.record.journal import BLOCK
from referee.run.run import Run

ROOT = Path(__file__).resolve().parents[2]
BOT = ROOT / "bots" / "python" / "random"


def ladder(folder: Path) -> Path:
    lines = [
        'data = "kept"',
        "workers = 2",
        "[storage]",
        "pack_after_days = 0.00001",
        "[matchmaking]",
        "idle_below = 0.0",
        "[clock]",
    ]
    lines += ["first_move_s = 20.0", "move_s = 20.0", '[[divisions]]\ngame = "shibuya"']
    lines += ['[[divisions]]\ngame = "shibuya"\nname = "again"']
    for salt in range(3):
        lines += ["[[bots]]", f'path = "{BOT}"', f'name = "r{salt}"', f"options = {{ salt = {salt} }}"]
    path = folder / "LADDER.toml"
    path.write_text("\n".join(lines) + "\n")
    return path


def begin(file: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "referee.cli.ladder_process", "--file", str(file)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE)


def blocks(run: Path) -> list[object]:
    return [line.fields for line in Run(run).journal.events if line.kind == BLOCK]


@pytest.mark.parametrize("kills", [4, pytest.param(20, marks=pytest.mark.long)])
def test_whatever_moment_it_is_killed_at_nothing_is_lost_and_nothing_is_decided_again(tmp_path, kills):
    file, dice = ladder(tmp_path), random.Random(kills)
    runs = [tmp_path / "kept" / "divisions" / name for name in ("shibuya", "again")]
    known: dict[Path, list[object]] = {run: [] for run in runs}
    counted: dict[Path, dict[str, str]] = {run: {} for run in runs}
    for _ in range(kills):
        process = begin(file)
        deadline = time.monotonic() + 60
        while not all(len(blocks(run)) > len(known[run]) for run in runs) and time.monotonic() < deadline:
            assert process.poll() is None, process.communicate()[1]
            time.sleep(0.05)
        time.sleep(dice.uniform(0, 1.5))
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
        for run in runs:
            now = blocks(run)
            assert now[: len(known[run])] == known[run]
            known[run] = now
            digests = dict(Run(run).anchors.digests)
            assert counted[run].items() <= digests.items(), "what counted counts still"
            counted[run] = digests
    process = begin(file)
    status, deadline = tmp_path / "kept" / "runner.json", time.monotonic() + 60
    while json.loads(status.read_text())["pid"] != process.pid:
        assert process.poll() is None, process.communicate()[1]
        assert time.monotonic() < deadline
        time.sleep(0.05)
    time.sleep(dice.uniform(0, 1.5))
    process.send_signal(signal.SIGTERM)
    said = process.communicate(timeout=60)[1]
    assert process.returncode == 0, said
    for run in runs:
        made = Run(run)
        decided = blocks(run)
        assert decided[: len(known[run])] == known[run]
        assert [fields["number"] for fields in decided] == list(range(len(decided)))
        rated = {row.match_id for row in load_index(made.folder).rows}
        assert made.anchors.digests.keys() == rated, "each record counts, and each match that counts has one"
        assert counted[run].keys() <= rated
        assert made.records.packed(), "old records were packed meanwhile"
        records = made.records.paths()
        assert len(records.keys() - rated) <= 2, "what was in play when it was stopped is played again"
        verification = Verification()
        assert {verification.verify(records[match_id]).status for match_id in rated} == {"ok"}
        assert not made.check().wrong
