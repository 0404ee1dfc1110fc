"""What is printed survives narrow terminals, pipes, and readers that leave."""

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from referee.cli.output import (
    QuietStream,
    console,
    duration,
    fault_text,
    fold,
    plural,
    print_columns,
    print_json,
    print_table,
    table,
)
from referee.cli.run_pages import ProgressReport

HOSTILE = "a\x1b[31mb\x9bc\u202e\nd\U000e0041"


def test_a_reader_that_leaves_is_no_error():
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w") as stream:
        quiet = QuietStream(stream)
        for _ in range(3):
            quiet.write("x" * 100_000)
            quiet.flush()
        assert quiet.closed_by_reader


def test_nothing_is_cut_however_narrow_the_terminal_is(monkeypatch):
    out = console()
    out.file = io.StringIO()
    out.width = 20
    made = table([("bot", "left"), ("mu", "right")])
    made.add_row("A name of many characters that is kept", "25.00")
    print_table(out, made)
    lines = out.file.getvalue().splitlines()
    assert lines[1] == "A name of many characters that is kept 25.00"
    assert len(lines) == 2


def test_brackets_in_a_table_and_a_line_are_no_markup(capfd):
    """A stage of the name "[/x]" ended `standings` with a MarkupError; of "[red]", the name was missing."""
    made = table([("[/x] rank", "left"), ("[red]", "left")])
    made.add_row("[bold]machine", "[/]")
    print_table(console(), made)
    console().print("[bold]it is [/x]")
    assert capfd.readouterr().out.split() == ["[/x]", "rank", "[red]", "[bold]machine", "[/]", "[bold]it", "is", "[/x]"]


@pytest.mark.parametrize("width", [200, 30])
def test_columns_are_as_wide_as_a_terminal_shows_their_cells(monkeypatch, width):
    """The same lines as a table of the library makes, which knows how wide letters are."""
    headings = [("bot", "left"), ("mu", "right"), ("note", "left")]
    rows = [("\u68cb\u5c08\u5bb6", "25.00", "x"), ("e\u0301va", "-3", ""), ("plain", "100.00", "a longer note")]
    out = console()
    out.file, out.width = io.StringIO(), width
    made = table(headings)
    for row in rows:
        made.add_row(*row)
    print_table(out, made)
    terminal = io.StringIO()
    monkeypatch.setattr("sys.stdout", terminal)
    monkeypatch.setattr(terminal, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("NO_COLOR", "1")
    print_columns(headings, rows)
    assert terminal.getvalue() == out.file.getvalue()


def test_a_note_cannot_steer_the_terminal(capfd):
    with ProgressReport("cup", lambda record: None) as report:
        report.note(f"'bob' did not start: {HOSTILE}")
    assert capfd.readouterr().err == "'bob' did not start: a\\x1b[31mb\\x9bc\\u202e\\nd\\U000e0041\n"


def test_a_long_line_is_folded_at_the_width_of_a_terminal(monkeypatch):
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "30")
    assert fold("  7  seat 0: pass()") == ["  7  seat 0: pass()"]
    folded = fold("  7  seat 0: pass()  1.5 ms  note: " + "words " * 20 + "y" * 40, " " * 5)
    assert max(map(len, folded)) <= 30
    assert folded[:2] == ["  7  seat 0: pass()  1.5 ms", "     note: words words words"]
    assert "".join("".join(folded).split()) == "7seat0:pass()1.5msnote:" + "words" * 20 + "y" * 40


def test_in_a_pipe_a_line_stays_whole(monkeypatch):
    monkeypatch.setenv("COLUMNS", "30")
    assert fold("word " * 100) == ["word " * 100]


@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
def test_json_has_no_raw_control_characters_and_loads_as_it_was(monkeypatch, encoding):
    written = io.TextIOWrapper(io.BytesIO(), encoding=encoding, errors="backslashreplace")
    monkeypatch.setattr("sys.stdout", written)
    print_json({"name": "Zoë", "note": HOSTILE})
    text = written.buffer.getvalue().decode(encoding)
    assert all(char.isprintable() or char == "\n" for char in text)
    assert json.loads(text) == {"name": "Zoë", "note": HOSTILE}


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.04, "0.0 s"), (59.94, "59.9 s"), (61, "1 min 1 s"), (3599.4, "59 min 59 s"), (7300, "2 h 1 min")],
)
def test_durations(seconds, text):
    assert duration(seconds) == text


def test_words():
    assert [plural(1, "match"), plural(2, "match"), plural(0, "bot")] == ["1 match", "2 matches", "0 bots"]
    assert fault_text({}) == "-"
    assert fault_text({"crashed": 1, "move_timeout": 2}) == "crashed 1, move_timeout 2"


@pytest.mark.parametrize("words", ["games list --json", "games list", "games show shibuya", "--version"])
def test_output_that_cannot_be_written_is_an_error_and_no_empty_success(words):
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "referee.cli.main", *words.split()],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 3
    assert "error: the output cannot be written: No space left on device" in done.stderr
    assert "next: " in done.stderr
    assert "the command may have done its work" in done.stderr
