"""The command line as a whole."""

import gc
import os
import re
import subprocess
import sys
from importlib.metadata import version

import pytest
from typer.main import get_command

from leaderboard.store import read_rows
from referee.cli import errors
from referee.cli.app import make_app
from referee.cli.main import _use_utf8, begins_early, main
from referee.tournament import play as running
from referee.tournament.progress import GivenUp
from referee.tournament.runner import Summary


def test_the_version(crosstown):
    printed = crosstown("--version")
    assert (printed.code, printed.out.strip()) == (0, f"crosstown {version('crosstown-arena')}")


@pytest.mark.parametrize("words", [(), ("matches",), ("games",)])
def test_a_command_without_words_says_what_there_is(crosstown, words):
    printed = crosstown(*words)
    assert printed.code == 0
    assert "\nCommands:\n" in printed.out


def test_help_names_every_command_and_exit_code(crosstown):
    printed = crosstown("--help")
    assert printed.code == 0
    for word in ("run", "standings", "matches", "games"):
        assert re.search(rf"^  {word} ", printed.out, re.MULTILINE)
    text = " ".join(printed.out.split())
    for code in errors.ExitCode:
        assert re.search(rf"\b{code.value}\b", text), code
        assert re.search(rf"^ *{code.value} ", errors.__doc__ or "", re.MULTILINE), code


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (("rxyz",), "No such command 'rxyz'"),
        (("run",), "Missing argument"),
        (("run", "x.toml", "--wokers", "2"), "--wokers"),
        (("run", "x.toml", "--workers", "0"), "--workers"),
        (("run", "x.toml", "--workers", "many"), "--workers"),
    ],
)
def test_bad_usage(crosstown, words, what):
    printed = crosstown(*words)
    assert printed.code == 2
    assert printed.err.startswith("error: ")
    assert what in printed.err
    assert printed.err.splitlines()[-1].startswith("next: see: crosstown")


def test_a_mistyped_command_leads_to_the_right_one(crosstown):
    printed = crosstown("runn")
    assert (printed.code, printed.err.splitlines()[-1]) == (2, "next: did you mean: crosstown run")
    assert printed.out == ""


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ('game = "toy', "cup.toml:1: not TOML"),
        ('game = "tuy"', "cup.toml:1: unknown game 'tuy'"),
        ('game = "toy"\nseed = "x"', "cup.toml:2: 'seed' must be an integer"),
        ('game = "toy"\nseed = 1\nblocks = 1\n[[bots]]\npath = "none"', "needs 2 bots, the file has 1"),
    ],
)
def test_bad_input_reaches_the_user_as_one_line_with_a_next_step(crosstown, tmp_path, text, what):
    (tmp_path / "cup.toml").write_text(text + "\n")
    printed = crosstown("run", "cup.toml")
    assert printed.code == 2
    error, step = printed.err.splitlines()
    assert error.startswith("error: ")
    assert what in error
    assert step.startswith("next: ")


def test_debug_shows_where_an_error_came_from(crosstown, tmp_path):
    (tmp_path / "cup.toml").write_text("game = \n")
    printed = crosstown("--debug", "run", "cup.toml")
    assert printed.code == 2
    assert "Traceback" in printed.err
    assert printed.err.splitlines()[-1].startswith("next: ")


def test_ctrl_c_while_the_files_are_read_says_how_to_go_on(crosstown, write_tournament, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    write_tournament()
    monkeypatch.setattr("referee.tournament.entrants.load_tournament", interrupted)
    printed = crosstown("run", "cup.toml")
    assert printed.code == 130
    assert printed.err.splitlines() == ["error: interrupted", "next: run the same command again to continue"]


def test_ctrl_c_while_the_command_line_is_imported_is_no_traceback(monkeypatch, capsys):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(sys, "argv", ["crosstown", "web"])
    monkeypatch.setattr("referee.cli.app.run_command", interrupted)
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 130
    assert capsys.readouterr().err.splitlines()[0] == "error: interrupted"


def test_a_changed_file_is_refused_with_the_difference(crosstown, make_run, write_tournament):
    make_run(seed=1)
    write_tournament(seed=2)
    printed = crosstown("run", "cup.toml")
    assert printed.code == 2
    assert "seed: 1 -> 2" in printed.err
    assert "--new" in printed.err


def test_a_finished_run_prints_its_table_without_playing(crosstown, make_run):
    make_run()
    printed = crosstown("run", "cup.toml")
    assert printed.code == 0, printed.err
    assert "all 4 matches were there already" in printed.err
    assert "<ann>" in printed.out


def test_the_database_of_a_finished_run_is_made_again_from_its_records(crosstown, make_run):
    folder = make_run()
    assert not folder.database.exists()
    assert crosstown("run", "cup.toml", "--quiet").code == 0
    assert [row.place for row in read_rows(folder.database)] == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("words", "command"),
    [
        ((), "crosstown run cup.toml"),
        (("--out", "other runs"), "crosstown run cup.toml --out 'other runs'"),
        (("--out", "other", "--new", "--workers", "2"), "crosstown run cup.toml --out other"),
    ],
)
@pytest.mark.parametrize("stopped", [True, False])
def test_the_command_that_goes_on_finds_the_same_run(crosstown, write_tournament, monkeypatch, words, command, stopped):
    write_tournament()
    summary = Summary(4, 0, 1, 0, (), 0, stopped=stopped, complete=False)
    monkeypatch.setattr(running, "run_session", lambda *_, **__: summary)
    printed = crosstown("run", "cup.toml", *words)
    assert printed.code == (130 if stopped else 1)
    assert any(line.endswith(f": {command}") for line in printed.err.splitlines()), printed.err


def test_a_match_that_stayed_void_names_its_bots_and_counts_seats_from_1(crosstown, write_tournament, monkeypatch):
    write_tournament()
    lost = GivenUp("m7", 0, "start_failed", "seat 0 (ann): gone; seat 1 (bob): gone", ("ann", "bob"))
    summary = Summary(4, 3, 0, 3, (lost,), 0, stopped=False, complete=False)
    monkeypatch.setattr(running, "run_session", lambda *_, **__: summary)
    printed = crosstown("run", "cup.toml")
    assert printed.code == 4
    assert "missing: match m7: start_failed: ann (seat 1): gone; bob (seat 2): gone" in printed.err


def test_quiet_prints_nothing(crosstown, make_run):
    make_run()
    printed = crosstown("run", "cup.toml", "--quiet")
    assert (printed.code, printed.out, printed.err) == (0, "", "")


def test_a_dry_run_estimates_from_matches_played_before(crosstown, make_run):
    make_run()
    printed = crosstown("run", "cup.toml", "--dry-run", "--list", "--workers", "2")
    assert printed.code == 0, printed.err
    lines = printed.out.splitlines()
    assert lines[0] == "cup: toy, round-robin of 2 bots, 2 seats, 2 blocks per group: 4 matches"
    assert lines[1] == "4 matches of the run in runs/cup have been played; 0 are to be played"
    assert lines[2] == "time: about 0.0 s (4 matches played before took 0.50 s each; 2 workers)"
    assert lines[4].split() == ["<ann>", "4", "2/2", "4"]
    assert [line.split("  ")[-1].strip() for line in lines[9:]] == ["<ann> - [b]bob", "[b]bob - <ann>"] * 2


def test_a_dry_run_as_json_lists_every_match(crosstown, write_tournament):
    import json

    write_tournament(blocks=3)
    assert "matches" not in json.loads(crosstown("run", "cup.toml", "--dry-run", "--json").out)
    values = json.loads(crosstown("run", "cup.toml", "--dry-run", "--list", "--json").out)
    assert values["total"] == len(values["matches"]) == 6
    assert values["estimate_s"] is None
    assert [match["place"] for match in values["matches"]] == list(range(6))
    assert values["balance"][0]["by_seat"] == [3, 3]


def test_the_list_of_commands_is_that_of_the_commands_themselves(crosstown):
    """Their modules are imported only when one of them is run, so the list has their summaries once more."""
    shown = crosstown("--help").out.rstrip()
    with get_command(make_app()).make_context("crosstown", [], resilient_parsing=True) as context:
        assert context.get_help().rstrip() == shown


@pytest.mark.parametrize(
    ("words", "begins"),
    [
        (("run", "x.toml"), True),
        (("--debug", "run", "x.toml", "--workers", "2"), True),
        (("run", "x.toml", "--dry-run"), False),
        (("run", "x.toml", "--pin"), False),
        (("run", "x.toml", "--executor=dask"), False),
        (("run", "x.toml", "--scheduler", "tls://host:1"), False),
        (("run", "--help"), False),
        (("standings", "run"), False),
        ((), False),
    ],
)
def test_a_run_that_is_played_here_begins_before_its_command_line_is_read(words, begins):
    assert begins_early(words) is begins


STARTED = """
import sys

def look(event, values):
    if event == "subprocess.Popen":
        words = [str(word) for word in values[1]]
        what = "worker" if "referee.tournament.worker" in words else "sandbox" if "-S" in words else "other"
        slow = sorted({"asyncio", "typer", "referee.process.checkup", "referee.tournament.config"} & sys.modules.keys())
        print(what, *slow, file=sys.stderr)

sys.addaudithook(look)
from referee.cli.main import main
main()
"""


def test_the_first_worker_and_the_sandbox_are_started_before_the_command_line_is_imported(tmp_path):
    command = [sys.executable, "-c", STARTED, "run", "missing.toml"]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    started, wrong = ran.stderr.split("error: ")
    assert started.splitlines() == ["worker", "sandbox referee.process.checkup"]
    assert "no such file" in wrong
    assert ran.returncode == 2


@pytest.mark.parametrize(("command", "seldom"), [("report", True), ("standings", True), ("web", False), ("run", False)])
def test_what_reads_much_and_ends_looks_for_garbage_seldom(
    monkeypatch: pytest.MonkeyPatch, command: str, seldom: bool
) -> None:
    before, seen = gc.get_threshold(), []
    monkeypatch.setattr(sys, "argv", ["crosstown", "--debug", command, "--help"])
    monkeypatch.setattr("referee.cli.app.run_command", lambda *_: seen.append(gc.get_threshold()) or 0)
    try:
        with pytest.raises(SystemExit):
            main()
    finally:
        gc.set_threshold(*before)
    assert [found[0] > before[0] for found in seen] == [seldom]


@pytest.mark.parametrize(("encoding", "again"), [("ascii", True), ("iso8859-1", True), ("utf-8", False)])
def test_a_locale_of_another_encoding_is_not_used(
    monkeypatch: pytest.MonkeyPatch, encoding: str, *, again: bool
) -> None:
    """In Latin-1, a folder with an umlaut in a tournament file did not exist."""
    started: list[list[str]] = []
    monkeypatch.setenv("PYTHONUTF8", "0")
    monkeypatch.setattr(sys, "getfilesystemencoding", lambda: encoding)
    monkeypatch.setattr(os, "execv", lambda _, words: started.append(words))
    _use_utf8()
    assert [words[1:3] for words in started] == [["-X", "utf8"]] * again
