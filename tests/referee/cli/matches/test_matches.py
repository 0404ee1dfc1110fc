"""`crosstown matches list | show | verify` as a user meets them."""

import gzip
import io
import json
import os
import pty
import re
import select
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from leaderboard.match_list import Filter, list_matches
from referee.cli.match_rows import print_list
from referee.record import Answer, Chance, Header, RecordWriter, SeatHeader, read_record

NASTY = "\x1b[2Jred\x07 \u202egnp.exe\nnext line"


def safe(text: str) -> bool:
    return all(char.isprintable() or char == "\n" for char in text)


def test_list_shows_every_match_with_its_end(matches: Any, run: Path) -> None:
    """VIEW-4: every row says why the match ended."""
    rows = matches("list").stdout.splitlines()[1:]
    assert {row.split()[0] for row in rows} == {"first"}
    assert [row.split()[1] for row in rows] == ["first-0000", "first-0001", "first-0002"]
    assert [row.split()[-4:-2] for row in rows] == [["rated", "normal"], ["rated", "crashed"], ["unfinished", "-"]]
    assert safe("\n".join(rows))


def test_list_as_json(matches: Any, run: Path) -> None:
    rows = json.loads(matches("list", "--json").stdout)
    assert [row["reason"] for row in rows] == ["normal", "crashed", ""]
    assert [row["status"] for row in rows] == ["rated", "rated", "unfinished"]
    assert [seat["rank"] for seat in rows[1]["seats"]] == [1, 2]
    assert [seat["fault"] for seat in rows[1]["seats"]] == ["", "crashed"]
    assert rows[0]["seats"][0]["name"] == "alpha"
    assert rows[0]["seats"][0]["total_us"] == 1500 * rows[0]["seats"][0]["decisions"]


def test_time_that_was_the_machines_is_beside_the_bots(matches: Any, run: Path, write: Any) -> None:
    write(run / "matches", "first-0009", lag_us=66_000_000)
    [row] = [row for row in json.loads(matches("list", "--json").stdout) if row["match"] == "first-0009"]
    seat = row["seats"][0]
    assert (seat["worst_charged_us"], seat["worst_lag_us"], seat["worst_us"]) == (1500, 66_000_000, 66_001_500)
    assert seat["charged_us"] + seat["lag_us"] == seat["total_us"]
    shown = matches("show", "first-0009").stdout
    assert "worst 1.5 ms, worst lag 66000.0 ms" in shown
    assert "1.5 ms (and 66000.0 ms of lag)" in shown


def test_time_of_the_processor_that_a_bot_used_unasked_is_shown_beside_that_of_its_decisions(
    matches: Any, run: Path, write: Any
) -> None:
    write(run / "matches", "first-0009", unasked_us=(12_300, 8_700_400))
    (of_alpha,) = [line for line in matches("show", "first-0009").stdout.splitlines() if "12.3 ms off turn" in line]
    assert of_alpha.startswith("alpha: ")
    assert of_alpha.endswith(" ms, 12.3 ms off turn, 8700.4 ms between its last match and this one")
    write(run / "matches", "first-0010", unasked_us=(999, 0))
    assert "off turn" not in matches("show", "first-0010").stdout


def test_list_names_what_cannot_be_read(matches: Any, run: Path) -> None:
    (run / "matches" / "first-0003.jsonl.gz").write_bytes(b"no")
    assert "unreadable" in matches("list").stdout


def test_records_that_were_set_aside_are_listed_on_request(matches: Any, run: Path, write: Any) -> None:
    write(run / "matches" / "void", "first-0009")
    assert "first-0009" not in matches("list").stdout
    assert "first-0009" in matches("list", "--void").stdout


@pytest.mark.parametrize(
    "options",
    [
        ("--step", "1", "--all"),
        *((*one, "--json") for one in (("--step", "1"), ("--all",), ("--seat", "9"), ("--play",))),
    ],
)
def test_options_of_show_that_exclude_each_other_are_refused(matches: Any, run: Path, options: tuple[str, ...]) -> None:
    """One of them changed nothing, and nothing said so: seat 9 is not there."""
    said = matches("show", "first-0000", *options, code=2)
    assert said.stdout == ""
    assert f"error: {options[0]} and {options[-1]} exclude each other" in said.stderr


def test_verify_says_how_many_are_well(matches: Any, run: Path) -> None:
    assert matches("verify").stdout == "3 records: 2 ok, 0 wrong, 1 unfinished\n"
    assert matches("verify", "--run", str(run)).stdout.startswith("3 records")
    assert matches("verify", "first-0000").stdout == "1 record: 1 ok, 0 wrong\n"
    assert matches("verify", str(run / "matches" / "first-0001.jsonl.gz")).stdout == "1 record: 1 ok, 0 wrong\n"


def test_verify_names_the_first_wrong_line_and_exits_with_1(matches: Any, run: Path) -> None:
    path = run / "matches" / "first-0000.jsonl.gz"
    lines = gzip.decompress(path.read_bytes()).decode().splitlines()
    index = next(index for index, line in enumerate(lines) if "pass()" in line)
    lines[index] = lines[index].replace("pass()", "draw()")
    path.write_bytes(gzip.compress(("\n".join(lines) + "\n").encode()))
    said = matches("verify", code=1).stdout.splitlines()
    assert said[0].startswith(f"{path}: wrong: line {index + 1}: the line was changed")
    assert said[-1] == "3 records: 1 ok, 1 wrong, 1 unfinished"
    found = json.loads(matches("verify", "--json", code=1).stdout)
    assert (found["wrong"], found["records"][0]["line"], found["records"][0]["path"]) == (1, index + 1, str(path))


def test_verify_can_list_every_record(matches: Any, run: Path) -> None:
    lines = matches("verify", "--all").stdout.splitlines()
    assert [line.split(": ")[1] for line in lines[:3]] == ["ok", "ok", "unfinished"]


def test_no_records_is_a_usage_error(matches: Any, tmp_path: Path) -> None:
    for command in ("list", "verify"):
        said = matches(command, code=2)
        assert "no match records in" in said.stderr
        assert "next: start a run" in said.stderr


def test_show_prints_moves_times_notes_and_the_end(matches: Any, run: Path) -> None:
    shown = matches("show", "first-0001").stdout
    assert "match first-0001: Toy, rules 1" in shown
    assert re.search(r"alpha stashes a card of value \d", shown)
    assert "alpha took 1.5 ms" in shown
    assert "note: \\x1b[2Jred\\x07 \\u202egnp.exe\\nnext line" in shown
    assert "next line crashed; leaves, discarding" in shown
    assert "next line: crashed, leaves: exit code 3" in shown
    assert "was dropped (other_match)" in shown
    assert re.search(r"next line crashed after \d+ decisions?; alpha wins", shown)
    assert "ended: crashed (rated)" in shown
    assert "ranking: alpha 1, beta" in shown
    assert "stash(card=" not in shown.partition("the first of them:")[0]
    assert "exit code: 3" in shown
    assert "seat  coins  cards  stash  turns" in shown
    assert safe(shown)


def test_a_long_note_is_cut_and_where_all_of_it_is_said(matches: Any, run: Path, tmp_path: Path) -> None:
    whole = read_record(run / "matches" / "first-0000.jsonl.gz")
    writer = RecordWriter(tmp_path, replace(whole.header, match_id="wordy"))
    for line in whole.lines:
        if isinstance(line, Answer):
            writer.answer(replace(line, note="n" * 3000))
        elif isinstance(line, Chance):
            writer.chance(line.outcome)
    writer.flush()
    shown = matches("show", str(writer.path), "--reveal").stdout
    assert f"note: {'n' * 200}... (2800 more characters; --json has all)\n" in shown
    assert max(map(len, shown.splitlines())) < 400
    document = json.loads(matches("show", str(writer.path), "--reveal", "--json").stdout)
    assert max(len(line.get("note", "")) for line in document["lines"]) == 3000


def test_show_prints_one_position(matches: Any, run: Path) -> None:
    start = matches("show", "first-0000", "--step", "0").stdout
    assert start.startswith("step 0\nthe match begins\n")
    after = matches("show", "first-0000", "--step", "7").stdout
    assert "alpha stashes a card of value" in after
    assert "next line stashes a card of value" in after
    assert "your hand" not in after
    assert "your hand" in matches("show", "first-0000", "--step", "7", "--seat", "1").stdout


def test_show_all_prints_every_position(matches: Any, run: Path) -> None:
    shown = matches("show", "first-0000", "--all").stdout
    steps = [int(number) for number in re.findall(r"^step (\d+)$", shown, re.MULTILINE)]
    assert steps == list(range(len(steps)))
    assert shown.count("seat  coins  cards") == len(steps)


def test_a_cut_record_is_shown_as_far_as_it_goes(matches: Any, run: Path) -> None:
    path = run / "matches" / "first-0002.jsonl"
    path.write_bytes(path.read_bytes()[:-9])
    shown = matches("show", "first-0002", "--reveal").stdout
    assert "alpha stashes a card of value" in shown
    assert shown.rstrip().endswith("unfinished: the record has no footer")


@pytest.mark.parametrize("words", [(), ("--all",), ("--json",)])
def test_of_a_match_that_goes_on_only_what_everybody_may_know_is_shown(matches: Any, run: Path, words: Any) -> None:
    secret = re.compile(r"stash\(card=|stashes a card of value \d")
    assert not secret.search(matches("show", "first-0002", *words).stdout)
    assert secret.search(matches("show", "first-0002", *words, "--reveal").stdout)


def test_the_view_of_one_seat_tells_no_secret_of_another(matches: Any, run: Path) -> None:
    everything = matches("show", "first-0000", "--step", "7").stdout
    assert re.search(r"^beta .* stashes a card of value \d$", everything, re.MULTILINE)
    own = matches("show", "first-0000", "--step", "7", "--seat", "0").stdout
    assert re.search(r"alpha stashes a card of value \d", own)
    assert re.search(r"^beta .* stashes a card$", own, re.MULTILINE)


def test_moves_are_numbered_by_turns_and_what_chance_deals_at_the_start_is_one_line(matches: Any, run: Path) -> None:
    shown = matches("show", "first-0000").stdout.split("\n\n")[1].splitlines()
    assert shown[0] == " step  turn"
    assert shown[1] == "    0        set-up: 6 cards dealt"
    assert [int(turn[1]) for line in shown if (turn := re.match(r" {1,4}\d+ {1,5}(\d+)  ", line))][:3] == [1, 2, 3]


def test_the_hand_of_a_seat_is_not_shown_while_the_match_goes_on(matches: Any, run: Path) -> None:
    said = matches("show", "first-0002", "--step", "3", "--seat", "0", code=2).stderr
    assert "the match is not over: it has no views of seats" in said
    assert "your hand" in matches("show", "first-0002", "--step", "3", "--seat", "0", "--reveal").stdout


def test_a_damaged_record_says_where_it_ends(matches: Any, run: Path) -> None:
    path = run / "matches" / "first-0002.jsonl"
    lines = path.read_text().splitlines()
    lines[4] = "hello"
    path.write_text("\n".join(lines) + "\n")
    assert "damaged: line 5: the line does not end in a chained hash" in matches("show", "first-0002").stdout


def test_a_record_that_does_not_follow_the_rules_says_where(matches: Any, run: Path, tmp_path: Path) -> None:
    writer = RecordWriter(tmp_path, replace(header_of(run), match_id="odd"))
    writer.chance(99)
    writer.flush()
    shown = matches("show", str(writer.path)).stdout
    assert "line 2 cannot be followed: illegal_action: 99 cannot come" in shown


def header_of(run: Path) -> Header:
    return read_record(run / "matches" / "first-0000.jsonl.gz").header


def test_a_game_that_is_not_installed_is_shown_without_boards(matches: Any, run: Path, tmp_path: Path) -> None:
    writer = RecordWriter(tmp_path, replace(header_of(run), match_id="odd", game="checkers"))
    assert "no board: unknown game 'checkers'" in matches("show", str(writer.path)).stdout


def test_show_as_json(matches: Any, run: Path) -> None:
    record = json.loads(matches("show", "first-0001", "--json").stdout)
    assert record["complete"] is True
    assert record["header"]["match_id"] == "first-0001"
    assert record["footer"]["reason"] == "crashed"
    assert {line["kind"] for line in record["lines"]} == {"chance", "answer", "fault", "dropped"}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("show", "nothing"), "no match 'nothing' in"),
        (("show", "first-000"), "'first-000' may be"),
        (("show", "first-0000", "--step", "9999"), "there is no step 9999"),
        (("show", "first-0000", "--seat", "5"), "there is no seat 5"),
        (("show", "none.jsonl.gz"), "cannot read the record none.jsonl.gz"),
        (("show", "first-0000", "--run", "second"), "no run of second under"),
        (("list", "--run", "second.toml"), "second.toml: no such file"),
        (("verify", "second.toml"), "second.toml: no such file"),
        (("verify", "nothing"), "no match 'nothing' in"),
    ],
)
def test_what_does_not_exist_is_named_with_a_next_step(matches: Any, run: Path, words: Any, said: str) -> None:
    stderr = matches(*words, code=2).stderr
    assert said in stderr
    assert "next: " in stderr
    assert "Traceback" not in stderr


def test_a_run_is_found_by_its_name(matches: Any, run: Path) -> None:
    assert "first-0000" in matches("list", "--run", "first").stdout


class Terminal:
    """`crosstown matches show` on a pseudo terminal."""

    def __init__(self, path: Path) -> None:
        self.seen = ""
        self.master, slave = pty.openpty()
        tests = Path(__file__).resolve().parents[3]
        self.process = subprocess.Popen(
            [sys.executable, "-m", "referee.cli.main", "matches", "show", str(path)],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env={**os.environ, "PYTHONPATH": str(tests / "toy_game"), "TERM": "xterm"},
        )
        os.close(slave)

    def until(self, part: str, limit_s: float = 90.0) -> str:
        """What appears up to `part`; what comes after it is left for the next call."""
        end = time.monotonic() + limit_s
        while part not in self.seen:
            assert select.select([self.master], [], [], max(0.0, end - time.monotonic()))[0], self.seen
            self.seen += os.read(self.master, 65536).decode()
        before, _, self.seen = self.seen.partition(part)
        return before

    def press(self, keys: str) -> None:
        os.write(self.master, keys.encode())


def test_keys_step_through_a_match(run: Path) -> None:
    terminal = Terminal(run / "matches" / "first-0000.jsonl.gz")
    try:
        for keys, step in [("", 0), ("n", 1), ("n", 2), ("p", 1), ("\x1b[C", 2), ("\x1b[D", 1), ("g", 0), ("p", 0)]:
            terminal.press(keys)
            terminal.until(f"step {step} of ")
            terminal.until("q quit")
        for key in "j12":
            terminal.press(key)
            terminal.until("jump to step: " if key == "j" else key)
        terminal.press("\r")
        terminal.until("step 12 of ")
        terminal.until("q quit")
        terminal.press("e")
        assert "ended: normal (rated)" in terminal.until("q quit")
        terminal.press("q")
        assert terminal.process.wait(60) == 0
    finally:
        terminal.process.kill()
        terminal.process.wait()
        os.close(terminal.master)


def rewritten(path: Path, folder: Path, *, header: dict[str, Any], footer: dict[str, Any]) -> Path:
    """The same match with other claims in its header and footer, rightly chained: a record may come from anywhere."""
    record = read_record(path)
    assert record.footer is not None
    writer = RecordWriter(folder, replace(record.header, **header))
    for line in record.lines:
        if isinstance(line, Answer):
            writer.answer(line)
        elif isinstance(line, Chance):
            writer.chance(line.outcome)
    return writer.close(replace(record.footer, **footer))


@pytest.mark.parametrize("how", [(), ("--all",), ("--step", "0")])
def test_no_field_of_a_record_steers_the_terminal(
    matches: Callable[..., Any], run: Path, tmp_path: Path, how: tuple[str, ...]
) -> None:
    seats = (SeatHeader(NASTY, "a", "1"), SeatHeader("b", "b", NASTY))
    path = rewritten(
        run / "matches" / "first-0000.jsonl.gz",
        tmp_path / "other",
        header={"game": NASTY, "tournament": NASTY, "created_at": NASTY, "seats": seats},
        footer={"status": NASTY, "reason": NASTY, "detail": NASTY, "trouble": NASTY},
    )
    for text in (matches("show", str(path), *how).stdout, matches("show", str(path), "--json").stdout):
        assert "\x1b" not in text
        assert "\u202e" not in text


def test_a_record_that_its_game_stumbles_over_is_shown_as_far_as_it_goes(
    matches: Callable[..., Any], run: Path, tmp_path: Path
) -> None:
    path = rewritten(
        run / "matches" / "first-0000.jsonl.gz", tmp_path / "other", header={"options": {}}, footer={"detail": "so"}
    )
    said = matches("show", str(path))
    assert "cannot be followed: the rules of toy broke down: KeyError" in said.stdout
    assert "ended: normal (rated): so" in said.stdout


def test_the_list_is_never_cut_however_narrow_the_terminal_is(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    narrow = io.StringIO()
    monkeypatch.setattr("sys.stdout", narrow)
    monkeypatch.setattr(narrow, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "30")
    rows, total = list_matches(sorted((run / "matches").iterdir()), Filter())
    print_list(rows, total, filtered=False, void=False, as_json=False)
    text = narrow.getvalue()
    assert "first-0000 " in text
    assert "\u2026" not in text
    assert all(word in text for word in ("match", "status", "unfinished", "crashed"))


def test_the_last_matches_are_listed_without_what_draws_counts_and_plays(run: Path) -> None:
    program = f"import sys; from referee.cli.app import run_command; run_command(['matches', 'list', {str(run)!r}])"
    command = [sys.executable, "-c", f"{program}; print(*sys.modules)"]
    listed, *_, modules = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    assert listed.split()[:2] == ["run", "match"]
    needless = {
        *("numpy", "rich", "sqlite3", "leaderboard.index", "leaderboard.schedule_view"),
        *("referee.process", "referee.run.decisions", "referee.run.run", "referee.schedule.schedule"),
        *("referee.cli.match_pages", "referee.schedule.formats.swiss", "referee.schedule.formats.knockout"),
    }
    assert not needless & set(modules.split())


@pytest.mark.parametrize("seat", [99, -1])
def test_an_answer_of_a_seat_that_there_is_not_is_shown_all_the_same(
    matches: Callable[..., Any], run: Path, tmp_path: Path, seat: int
) -> None:
    writer = RecordWriter(tmp_path / "other", replace(header_of(run), match_id="odd"))
    writer.answer(Answer(seat, "pass()", 1500))
    writer.flush()
    shown = matches("show", str(writer.path), "--reveal").stdout
    assert f"line 2 cannot be followed: an answer of seat {seat}" in shown
    assert f"seat {seat}: pass()  1.5 ms" in shown
    for name in ("m.html", "m.json", "m.svg"):
        matches("export", str(writer.path), str(tmp_path / name))
    assert json.loads(matches("list", "--run", str(tmp_path / "other"), "--json").stdout)[0]["decisions"] == 1
