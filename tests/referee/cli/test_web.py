"""`crosstown web` as far as it goes without a browser; the pages are tested in tests/leaderboard/web."""

import os
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

from referee.cli.web import facts_of


def test_it_says_where_it_is_answers_and_ends_with_ctrl_c(make_run: Callable[..., Any], tmp_path: Path) -> None:
    make_run()
    words = [sys.executable, "-m", "referee.cli.main", "web", "--port", "0"]
    with subprocess.Popen(
        words, cwd=tmp_path, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONUNBUFFERED": "1"}
    ) as process:
        try:
            assert process.stdout is not None
            address = process.stdout.readline().strip()
            assert address.startswith("http://127.0.0.1:")
            with urllib.request.urlopen(f"{address}runs/cup", timeout=20) as answer:
                page = answer.read().decode()
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(timeout=20)
    assert process.returncode == 0
    assert "4 of 4 matches" in page
    assert "&lt;ann&gt;" in page
    assert "<ann>" not in page


def test_a_folder_that_is_not_there_is_refused(crosstown: Callable[..., Any]) -> None:
    printed = crosstown("web", "--runs", "nowhere")
    assert printed.code == 2
    assert "nowhere is not a folder" in printed.err


def test_a_port_that_is_taken_is_refused(crosstown: Callable[..., Any], make_run: Callable[..., Any]) -> None:
    make_run()
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        printed = crosstown("web", "--port", str(taken.getsockname()[1]))
    assert printed.code == 3
    assert "cannot listen" in printed.err


def test_a_run_is_told_by_its_journal_but_not_its_seed(make_run: Callable[..., Any]) -> None:
    facts = facts_of(make_run(played=2).path)
    assert (facts.title, facts.total) == ("cup", 4)
    assert [entrant.name for entrant in facts.entrants] == ["<ann>", "[b]bob"]
    assert set(facts.shown) == {"format"}


def test_a_damaged_journal_is_said(make_run: Callable[..., Any]) -> None:
    run = make_run()
    run.journal.write_text("no journal\n")
    assert "the journal cannot be used" in facts_of(run.path).shown
