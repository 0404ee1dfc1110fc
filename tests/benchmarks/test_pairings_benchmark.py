"""`benchmarks/pairings.py` reads reports of tournaments, pairs their rounds again, and prints what differs."""

import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.pairings import compare, paired, read_trf

ROOT = Path(__file__).resolve().parents[2]

# Four players and two rounds, of which the first player of the second one did not come.
LINES = [
    (1, 1.5, [(3, "w", "1"), (2, "b", "=")]),
    (2, 1.5, [(4, "b", "1"), (1, "w", "=")]),
    (3, 1.0, [(1, "b", "0"), (4, "w", "+")]),
    (4, 0.0, [(2, "w", "0"), (3, "b", "-")]),
]


def report(lines, *more):
    text = ["012 A tournament", "XXR 3", *more]
    for number, points, cells in lines:
        head = f"001 {number:4}      {f'Player {number}':33}{2000 - number:5}{points:32.1f}{number:5}  "
        assert len(head) == 91
        text.append(head + "".join(f"{opponent:4} {colour} {result}  " for opponent, colour, result in cells))
    return "\n".join(text) + "\n"


def test_rounds_are_read_and_paired_as_they_were():
    event = read_trf(report(LINES))
    assert (event.rounds, event.played, len(event.players)) == (3, 2, 4)
    for round_ in range(2):
        ours, theirs = paired(event, round_)
        assert sorted(ours) == sorted(theirs)
    assert len(paired(event, 2)[0]) == 2


def test_what_is_forbidden_or_away_is_not_paired():
    ours, theirs = paired(read_trf(report(LINES, "XXZ 2 3")), 2)
    assert (sorted(map(sorted, ours)), theirs) == ([[1, 4]], [])
    assert paired(read_trf(report(LINES, "XXP 1 4")), 2)[0] == [], "all others have met"


def test_a_difference_is_printed(tmp_path, capsys):
    swapped = [
        (number, points, [(7 - opponent if opponent > 2 else opponent, c, r) for opponent, c, r in cells[:1]])
        for number, points, cells in LINES
    ]
    swapped[2] = (3, 0.0, [(2, "w", "0")])
    swapped[3] = (4, 0.0, [(1, "b", "0")])
    swapped[1] = (2, 1.0, [(3, "b", "1")])
    (tmp_path / "report").write_text(report(swapped))
    program = tmp_path / "program"
    program.write_text(f'#!/bin/sh\nwhile [ "$1" != -o ]; do shift; done\ncp {tmp_path / "report"} "$2"\n')
    program.chmod(0o755)
    assert compare(program, 1, 1, 4) == 1
    assert "1 of them paired otherwise" in capsys.readouterr().out


@pytest.mark.slow
def test_the_next_round_is_printed_as_the_other_program_does(tmp_path):
    file = tmp_path / "cup.trf"
    file.write_text(report(LINES))
    command = [sys.executable, "benchmarks/pairings.py", "--next", str(file)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[0] == "2"
