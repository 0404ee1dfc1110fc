"""`crosstown match` with a bot that dials in: what its author is told, and a match over TLS with the Python SDK."""

import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from referee.cli.app import run_command
from referee.record import read_record

ROOT = Path(__file__).resolve().parents[3]
RANDOM = str(ROOT / "bots" / "python" / "random")
LIMIT_S = 120


def by_hand(folder: str, told: str) -> "subprocess.Popen[bytes]":
    """What an author does with the lines that were printed."""
    found = dict(re.findall(r"(CROSSTOWN_[A-Z_]+)=(\S+)", told))
    clean = {name: value for name, value in os.environ.items() if not name.startswith("CROSSTOWN_")}
    return subprocess.Popen([sys.executable, "bot.py"], cwd=folder, env={**clean, **found}, stderr=subprocess.DEVNULL)


def test_a_bot_dials_in_and_plays(tmp_path: Path) -> None:
    seats = ("--seat", "remote", "--seat", "remote", "--first-move-s", "60", "--move-s", "60")
    command = [sys.executable, "-m", "referee.cli.main", "match", "shibuya", *seats]
    with subprocess.Popen(
        [*command, "--listen", "127.0.0.1:0", "--out", str(tmp_path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as referee:
        assert referee.stderr is not None
        told, bots = "", []
        try:
            for line in referee.stderr:
                told += line
                if "starts the bot by hand" in line:
                    bots.append(by_hand(RANDOM, told))
                    told = ""
                    if len(bots) == 2:
                        break
            stdout, stderr = referee.communicate(timeout=LIMIT_S)
            assert [bot.wait(LIMIT_S) for bot in bots] == [0, 0]
        finally:
            referee.kill()
            for bot in bots:
                bot.kill()
                bot.wait()
    assert referee.returncode == 0, stderr
    assert stdout.startswith("normal")
    assert [f"'remote {number}' has connected" in stderr for number in (0, 1)] == [True, True]
    (path,) = (tmp_path / "single" / "matches").iterdir()
    seats_played = read_record(path).header.seats
    assert [(seat.name, seat.sandbox, seat.clock) for seat in seats_played] == [
        (name, "remote", {"margin_s": 0.25}) for name in ("remote 0", "remote 1")
    ]


def test_a_bot_that_does_not_come_in_time_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    listen = ("--listen", "127.0.0.1:0", "--wait-s", "1", "--out", str(tmp_path))
    code = run_command(["match", "shibuya", "--seat", "remote", "--seat", "remote", *listen])
    assert code == 1
    printed = capsys.readouterr().out
    assert "start_failed: remote 0 (seat 1): it did not connect within" in printed
    assert "- remote 0 (seat 1): 0 decisions\n" in printed


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--seat", "remote", "--seat", RANDOM], "give, for instance, --listen 0.0.0.0:7000"),
        (["--seat", "remote", "--seat", RANDOM, "--listen", "7000"], "'7000' is not HOST:PORT"),
        (["--seat", RANDOM, "--seat", RANDOM, "--listen", "127.0.0.1:0"], "give --seat remote"),
        (["--seat", "remote", "--seat", RANDOM, "--listen", "127.0.0.1:0", "--key", "k"], "belong together"),
        (
            ["--seat", "remote", "--seat", RANDOM, "--listen", "127.0.0.1:0", "--key", "no", "--certificate", "no"],
            "no: cannot be read",
        ),
        (["--seat", "remote", "--seat", RANDOM, "--listen", "192.0.2.1:0"], "cannot listen on 192.0.2.1:0"),
    ],
    ids=["no address", "no host", "nobody to come", "half a pair", "no such files", "another machine's address"],
)
def test_what_cannot_be_is_refused(
    words: Sequence[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command(["match", "shibuya", *words, "--out", str(tmp_path)]) == 2
    assert said in capsys.readouterr().err
